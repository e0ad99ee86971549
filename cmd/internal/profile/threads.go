package profile

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/gostap/gostap"
	"github.com/gostap/gostap/runtime/export"
)

// threads follows the threads of a process through the kernel's scheduler.
type threads struct {
	names *namer
	what  string
	pid   int // of a process that ran already, else 0
	all   map[int64]*timeline
}

func newThreads(n *namer, what string, pid int) *threads {
	return &threads{n, what, pid, map[int64]*timeline{}}
}

func (c *threads) event(a []gostap.Value) {
	if a[0].Int == codeBegin && c.pid != 0 {
		c.before("/proc/"+strconv.Itoa(c.pid), a[2].Int)
	}
	if (a[0].Int < codeOut || a[0].Int > codeWake) && a[0].Int != codeExit {
		return
	}
	if a[0].Int == codeExit && a[3].Int != 0 {
		return // the last thread lives to the end
	}
	id := a[1].Int
	t := c.all[id]
	if t == nil {
		t = &timeline{}
		c.all[id] = t
	}
	if t.ended {
		return
	}
	switch a[0].Int {
	case codeExit:
		t.flush(a[2].Int)
		t.state, t.ended = "", true
	case codeOut:
		t.label = fmt.Sprintf("%s/%d", a[6].Text, id)
		stack := c.names.user(a[5])
		if a[2].Int != 0 {
			t.set(runnable, a[3].Int, stack)
			return
		}
		k := c.names.kernel(a[4])
		t.set(cmp.Or(syscallOf(k), kernelReason(k)), a[3].Int, stack)
	case codeIn:
		t.set(running, a[2].Int, nil)
	case codeWake:
		if t.state != running { // one that has not left its processor yet goes on there
			t.set(runnable, a[2].Int, t.stack)
		}
	}
}

// kernelReason is what is told of a thread that waits in the kernel outside of a system call.
func kernelReason(stack []export.Frame) string {
	if len(stack) == 0 {
		return inKernel
	}
	return inKernel + ": " + strings.TrimSuffix(stack[len(stack)-1].Name(), "_[k]")
}

func (c *threads) finish(end int64) *export.Profile {
	title := "time of threads in " + c.what
	switch c.what {
	case "off":
		title = "time of threads that they do not run"
	case "wall":
		title = "time of threads"
	}
	return profileOf(c.all, title, "thread", end, func(state string) bool { return ofThreads(c.what, state) })
}

// ofThreads reports whether a state of threads belongs to what is measured. Locks of C, C++ and Rust, and what waits
// for others as they do, wait in the system call futex.
func ofThreads(what, state string) bool {
	for w := range strings.SplitSeq(what, ",") {
		switch w {
		case "wall":
			return true
		case "off":
			return state != running
		case "lock":
			if strings.HasPrefix(state, "futex") {
				return true
			}
		case "syscall":
			if state != running && state != runnable && state != pageFault && !strings.HasPrefix(state, inKernel) {
				return true
			}
		}
	}
	return false
}

// States of threads in the kernel outside of a system call.
const (
	pageFault = "page fault"
	inKernel  = "in the kernel"
)
