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
	wall  bool // with the time on processors
	pid   int  // of a process that ran already, else 0
	all   map[int64]*timeline
}

func newThreads(n *namer, wall bool, pid int) *threads {
	return &threads{n, wall, pid, map[int64]*timeline{}}
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
		return "in the kernel"
	}
	return "in the kernel: " + strings.TrimSuffix(stack[len(stack)-1].Name(), "_[k]")
}

func (c *threads) finish(end int64) *export.Profile {
	title := "time of threads that they do not run"
	if c.wall {
		title = "time of threads"
	}
	return profileOf(c.all, title, "thread", end, func(state string) bool { return c.wall || state != running })
}
