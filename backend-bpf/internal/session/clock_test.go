package session

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"
)

// TestClockOffsetPreempted: waiting for a processor between two clocks does not shift the wall clock.
func TestClockOffsetPreempted(t *testing.T) {
	const apart = 1_700_000_000_000_000_000
	for quiet := range 8 { // the one attempt in which the thread does not wait
		now, n := int64(1000), 0
		offset, off, ok := clockOffset(func(clock int32) (int64, error) {
			now += 40
			if n/3 != quiet && n%3 == 1+n/3%2 {
				now += 7_000_000
			}
			n++
			if clock == unix.CLOCK_REALTIME {
				return now + apart, nil
			}
			return now, nil
		})
		if !ok || offset != apart || off != 40 {
			t.Errorf("%d: %d beside, %d, %v", quiet, offset-apart, off, ok)
		}
	}
	if _, _, ok := clockOffset(func(int32) (int64, error) { return 0, errors.New("no clock") }); ok {
		t.Error("known without clocks")
	}
}
