package features

import (
	"os"
	"testing"
	"time"
)

// TestPreempted reads the count of preemption in a program at a tracepoint. Whatever the kernel's version says about
// it, the number is there.
func TestPreempted(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	start := time.Now()
	n, err := preemptCount()
	if err != nil {
		t.Skip(err)
	}
	t.Logf("%d, in %v", n, time.Since(start))
	if old := !newEnough(release()[:1]); old != (n > 0) {
		t.Errorf("Linux %s: preemption is off %d times", release(), n)
	}
	for _, v := range []string{"", "x.y", "6.18.44-fc", "5.10.0"} {
		if preempted(v) == nil {
			t.Errorf("%q: preempted", v)
		}
	}
}
