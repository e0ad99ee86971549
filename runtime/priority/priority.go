// Package priority has a thread of the tracer run before ordinary ones while it holds a lock that handlers in the
// kernel wait for: on a busy machine it would else be put aside for milliseconds, and hits would be lost.
//
// In: the thread that calls. Out: its place in the kernel's scheduling.
package priority

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// Patience is how long the host waits for a lock. A handler in the kernel that does not get one gives its hit up after
// a few tries, since it is in the traced program's way. The host is in nobody's way, and an end handler that is skipped
// would lose everything; a holder can have been put aside by the scheduler.
const Patience = 2 * time.Second

// Raised is a thread that may run before others. The zero value is one that does not.
type Raised struct {
	was *unix.SchedAttr // how it was scheduled before, nil if that was not changed
}

// Raise ties the caller to its thread and has that run before all ordinary ones until Restore. Without the right to it
// (CAP_SYS_NICE), or where the thread is no ordinary one already, only the former.
func (r *Raised) Raise() {
	runtime.LockOSThread()
	if was, err := unix.SchedGetAttr(0, 0); err == nil && was.Policy == unix.SCHED_NORMAL {
		now := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Flags: unix.SCHED_FLAG_RESET_ON_FORK,
			Priority: 1}
		if unix.SchedSetAttr(0, &now, 0) == nil {
			r.was = was
		}
	}
}

// Restore takes Raise back.
func (r *Raised) Restore() {
	if r.was != nil {
		unix.SchedSetAttr(0, r.was, 0) // to what it was is always allowed
		r.was = nil
	}
	runtime.UnlockOSThread()
}
