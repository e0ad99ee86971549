package priority

import (
	"testing"

	"golang.org/x/sys/unix"
)

func TestRaise(t *testing.T) {
	policy := func() uint32 {
		t.Helper()
		a, err := unix.SchedGetAttr(0, 0)
		if err != nil {
			t.Fatal(err)
		}
		return a.Policy
	}
	var r Raised
	r.Raise()
	raised := policy()
	changed := r.was != nil
	r.Restore()
	if changed && raised != unix.SCHED_FIFO {
		t.Errorf("policy %d while raised", raised)
	}
	if r.was != nil {
		t.Error("nothing was restored")
	}
	// With the right to it the thread is raised.
	now := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 1}
	r.Raise()
	defer r.Restore()
	if err := unix.SchedSetAttr(0, &now, 0); err == nil && r.was == nil {
		t.Error("the thread may be raised and was not")
	}
}
