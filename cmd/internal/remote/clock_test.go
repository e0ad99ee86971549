package remote

import (
	"bytes"
	"encoding/binary"
	"net"
	"strings"
	"testing"
	"time"
)

// TestClock: a host whose clock is another one is known by how much, within the time that asking takes, and it is told
// once if times of it mislead. Answers to what was never asked are not believed.
func TestClock(t *testing.T) {
	for _, off := range []time.Duration{0, 300 * time.Millisecond, -90 * time.Second, time.Hour} {
		path := stranger(t, func(_ *net.UnixConn, there *conn) {
			for n := 0; n < atOnce; {
				kind, body, err := there.receive()
				if err != nil {
					return
				}
				if b := answer(body); kind == frameAlive && b != nil {
					n++
					binary.BigEndian.PutUint64(b[8:], binary.BigEndian.Uint64(b[8:])+uint64(off))
					there.send(frameAlive, append([]byte{1}, b...)) // no answer
					forged := append([]byte{0x7f}, b[1:]...)
					there.send(frameAlive, forged) // to a question of a later time
					there.send(frameAlive, b)
				}
			}
			there.send(frameExit, []byte{0})
		})
		var errs bytes.Buffer
		var clock Clock
		host := Host{Name: "a", Socket: path, Follow: &Follow{Clock: func(c Clock) { clock = c }, Told: func(Told) {},
			Ended: func(bool, string) {}}}
		status := Run(t.Context(), Options{Hosts: []Host{host}, Out: &errs, Err: &errs})
		if d := clock.Ahead - off; status != 0 || clock.Error <= 0 || max(d, -d) > clock.Error {
			t.Errorf("%v: status %d, %v", off, status, clock)
		}
		if told := strings.Count(errs.String(), "WARNING: its clock is "); (told == 1) != clock.Off() || told > 1 {
			t.Errorf("%v: %s", off, &errs)
		}
	}
	for c, want := range map[Clock]string{
		{Ahead: -3 * time.Second, Error: time.Millisecond}:                 "3s behind, within 1ms",
		{Ahead: 1234567 * time.Nanosecond, Error: 45678 * time.Nanosecond}: "1.23ms ahead, within 45.7µs",
		{}: "the same, within 0s",
	} {
		if got := c.String(); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

// TestBest: the answer that took the shortest time counts, until the clocks can have drifted apart by more.
func TestBest(t *testing.T) {
	c := comparison{begun: time.Now().Add(-time.Hour)}
	reply := func(took, ahead time.Duration) bool {
		asked := time.Since(c.begun) - took
		b := binary.BigEndian.AppendUint64(nil, uint64(asked))
		return c.take(binary.BigEndian.AppendUint64(b, uint64(time.Now().Add(ahead-took/2).UnixNano())))
	}
	if !reply(100*time.Millisecond, 0) || !reply(10*time.Millisecond, 0) || reply(50*time.Millisecond, 0) {
		t.Error(c.best)
	}
	c.at = c.at.Add(-10 * time.Minute) // 60 ms of drift
	if !reply(50*time.Millisecond, time.Second) || c.best.Ahead < 900*time.Millisecond || reply(-time.Second, 0) {
		t.Error(c.best)
	}
}
