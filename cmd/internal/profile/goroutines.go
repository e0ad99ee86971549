package profile

import (
	"fmt"
	"strings"

	"github.com/gostap/gostap"
	"github.com/gostap/gostap/runtime/export"
)

// goroutines follows goroutines through Go's scheduler.
type goroutines struct {
	names   *namer
	what    string
	all     map[int64]*timeline
	reasons map[int64]string
	step    map[int64][]export.Frame // where a goroutine is that lets others go first
	funcs   map[int64][]export.Frame // by the address that goroutines begin at
	first   int64
	sets    sets
}

func newGoroutines(n *namer, what string) *goroutines {
	return &goroutines{names: n, what: what, all: map[int64]*timeline{}, reasons: map[int64]string{}, sets: sets{},
		step: map[int64][]export.Frame{}, funcs: map[int64][]export.Frame{}}
}

func (c *goroutines) event(a []gostap.Value) {
	switch a[0].Int {
	case codeBegin:
		c.first = a[2].Int
		return
	case codeReason:
		c.reasons[a[1].Int] = a[2].Text
		return
	case codeLabels:
		c.sets.add(a[1].Int, a[2].Text)
		return
	}
	id := a[1].Int
	if id == 0 || (a[0].Int < codePark || a[0].Int > codeMade) && a[0].Int != codeLabel {
		return // 0: a thread's own, which schedules
	}
	t := c.all[id]
	if t == nil {
		t = &timeline{label: fmt.Sprint(id)}
		c.all[id] = t
	}
	switch a[0].Int {
	case codeLabel:
		t.flush(a[2].Int)
		t.labels = c.sets.get(a[3].Int)
	case codePark:
		t.set(c.reason(a[2].Int), a[3].Int, c.names.user(a[4]))
	case codeRun:
		t.set(running, a[2].Int, c.began(a[3].Int))
	case codeReady:
		if t.state == "" && c.first > 0 { // it has waited since before the beginning
			t.set(c.reason(a[3].Int), c.first, nil)
		}
		t.set(runnable, a[2].Int, t.stack)
	case codeStep:
		c.step[id] = c.names.user(a[3])
	case codeYield:
		t.set(runnable, a[2].Int, c.step[id])
		delete(c.step, id)
	case codeEnter:
		stack := c.names.user(a[3])
		t.set(goSyscall(stack), a[2].Int, stack)
	case codeLeave:
		t.set(running, a[2].Int, nil)
	case codeMade:
		t.set(runnable, a[2].Int, c.names.user(a[3]))
	case codeEnd:
		t.flush(a[2].Int)
		t.state = ""
	}
}

// reason is the text of a reason to wait.
func (c *goroutines) reason(n int64) string {
	if t := c.reasons[n]; t != "" {
		return t
	}
	return fmt.Sprintf("wait reason %d", n)
}

// began is the function that a goroutine began with, as a stack.
func (c *goroutines) began(pc int64) []export.Frame {
	f, ok := c.funcs[pc]
	if !ok {
		f = c.names.at(uint64(pc), false)
		c.funcs[pc] = f
	}
	return f
}

// goSyscall is what a goroutine does that has left Go: the system call by name where a function of packages syscall,
// unix or runtime/internal/syscall names it, else "syscall" or "cgo".
func goSyscall(stack []export.Frame) string {
	for _, f := range stack {
		switch name := f.Func; {
		case name == "runtime.cgocall":
			return "cgo"
		case strings.HasPrefix(name, "runtime."), strings.HasPrefix(name, "internal/runtime/"):
		case strings.HasPrefix(name, "syscall."), strings.HasPrefix(name, "golang.org/x/sys/unix."):
			call := name[strings.LastIndexByte(name, '.')+1:]
			switch call {
			case "Syscall", "Syscall6", "RawSyscall", "RawSyscall6", "rawSyscallNoError", "rawVforkSyscall":
				continue
			}
			return "syscall " + strings.ToLower(call)
		default:
			return "syscall"
		}
	}
	return "syscall"
}

func (c *goroutines) finish(end int64) *export.Profile {
	p := profileOf(c.all, titles[c.what], "goroutine", end, func(state string) bool { return wanted(c.what, state) })
	if p.Title == "" {
		p.Title = "time of goroutines in " + c.what
	}
	return p
}

var titles = map[string]string{"wall": "time of goroutines", "off": "time of goroutines that they do not run"}

// wanted reports whether a state belongs to what is measured.
func wanted(what, state string) bool {
	switch what {
	case "wall":
		return true
	case "off":
		return state != running
	}
	for w := range strings.SplitSeq(what, ",") {
		switch w {
		case "syscall":
			if strings.HasPrefix(state, "syscall") || state == "cgo" || state == "IO wait" {
				return true
			}
		case "chan":
			if strings.HasPrefix(state, "chan ") || strings.HasPrefix(state, "select") {
				return true
			}
		case "lock":
			if strings.HasPrefix(state, "sync.") || strings.HasPrefix(state, "semacquire") {
				return true
			}
		case "gc":
			if strings.HasPrefix(state, "GC ") || strings.HasPrefix(state, "garbage collection") {
				return true
			}
		}
	}
	return false
}
