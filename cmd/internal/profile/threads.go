package profile

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/gostap/gostap"
	"github.com/gostap/gostap/runtime/export"
)

// threads follows the threads of processes through the kernel's scheduler.
type threads struct {
	names  *namer
	what   string
	pid    int // of a process that ran already, else 0
	all    map[int64]*timeline
	ended  map[int64]*timeline // by negative numbers: those whose number another thread has by now
	groups cgroups
	procs  map[int64]string // the names of processes
	missed int64
}

func newThreads(n *namer, what string, pid int) *threads {
	return &threads{names: n, what: what, pid: pid, all: map[int64]*timeline{}, ended: map[int64]*timeline{},
		groups: cgroups{}, procs: map[int64]string{}}
}

func (c *threads) event(a []gostap.Value) {
	switch a[0].Int {
	case codeBegin:
		if c.pid != 0 {
			c.before("/proc/"+strconv.Itoa(c.pid), a[2].Int)
		}
		return
	case codeCgroup:
		c.groups[a[1].Int] = a[2].Text
		return
	case codeExec:
		c.names.exec(a[1].Int)
		c.procs[a[1].Int] = a[2].Text
		return
	case codeMissed:
		c.missed += a[1].Int
		return
	case codeFork:
		if t := c.all[a[1].Int]; t != nil { // the number of one that has ended
			t.name = c.procs[t.process]
			c.ended[-int64(len(c.ended))-1] = t
			delete(c.all, a[1].Int)
			delete(c.procs, a[1].Int)
		}
		return
	case codeOut, codeIn, codeWake:
	case codeExit:
		if a[3].Int != 0 {
			return // the last thread lives to the end
		}
	default:
		return
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
		c.procs[a[4].Int] = a[7].Text
		c.belongs(t, a[4].Int, a[5].Int, a[3].Int)
		stack := c.names.of(a[4].Int, a[9])
		if a[2].Int != 0 {
			t.set(runnable, a[3].Int, stack)
			return
		}
		k := c.names.kernel(a[8])
		t.set(cmp.Or(syscallOf(k), kernelReason(k)), a[3].Int, stack)
	case codeIn:
		c.belongs(t, a[3].Int, a[4].Int, a[2].Int)
		t.set(running, a[2].Int, nil)
	case codeWake:
		c.belongs(t, a[3].Int, a[4].Int, a[2].Int)
		if t.state != running { // one that has not left its processor yet goes on there
			t.set(runnable, a[2].Int, t.stack)
		}
	}
}

// belongs notes the process and the control group of a thread.
func (c *threads) belongs(t *timeline, pid, group, now int64) {
	t.process = pid
	if l := c.groups.label(group); len(t.labels) != 1 || t.labels[0] != l {
		t.flush(now)
		t.labels = []export.Label{l}
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
	for id, t := range c.ended {
		c.all[id] = t
	}
	for _, t := range c.all {
		t.flush(end)
		if name := cmp.Or(t.name, c.procs[t.process]); name != "" {
			for _, s := range t.sums {
				s.Labels = with(s.Labels, processLabel(name, t.process))
			}
		}
	}
	p := profileOf(c.all, title, "thread", end, func(state string) bool { return ofThreads(c.what, state) })
	if c.missed > 0 {
		p.Notes = append(p.Notes, notFollowed(c.missed))
	}
	return p
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
