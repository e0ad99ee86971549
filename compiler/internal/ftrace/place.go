package ftrace

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo/tracefs"
	"github.com/gostap/gostap/compiler/probe"
)

// base makes the event at h's site, without arguments; nil, with an error, if there is none.
func (h *handler) base() *event {
	s, at := h.site, pointOf(h.probe)
	e := &event{probe: h.probe, site: s, group: group}
	name := s.Func
	switch s.Kind {
	case probe.Kprobe, probe.Kretprobe:
		e.kind, e.place = 'p', s.Place()
		if s.Kind == probe.Kretprobe {
			e.kind = 'r'
		}
		if name == "" {
			name = s.Kernel.Symbol
		}
	case probe.Uprobe, probe.Uretprobe:
		if strings.ContainsAny(s.Program.Path, ": \t\n") {
			h.no(at, "cannot name the file %q: the kernel ends it at the first space or colon", s.Program.Path)
			return nil
		}
		e.kind, e.place = 'p', fmt.Sprintf("%s:%#x", s.Program.Path, s.Program.Offset)
		if s.Program.RefCtr != 0 {
			e.place += fmt.Sprintf("(%#x)", s.Program.RefCtr)
		}
		if s.Kind == probe.Uretprobe {
			e.kind = 'r'
		}
	case probe.Tracepoint:
		system, event, _ := strings.Cut(s.Event, ":")
		if len(h.probe.Info.Targets) == 0 {
			e.kind, e.group, e.name = 'e', system, event
			return h.known(e)
		}
		if h.Perf {
			h.no(at, "defines no probes at tracepoints, which their arguments take").
				Hintf("without $variables the event %s is used as it is; --emit=ftrace can", s.Event)
			return nil
		}
		if !h.Tprobes {
			h.no(at, "has no probes at tracepoints in this kernel, which its arguments take").
				Hintf("Linux 6.5 and newer have them; without $variables the event %s is used as it is", s.Event)
			return nil
		}
		e.kind, e.place, name = 't', event, event
	case probe.ProcessSyscall, probe.ProcessSyscallReturn:
		return h.syscall(e)
	default:
		d := h.no(at, "has no event for %s", s.Title())
		switch s.Kind {
		case probe.Timer:
			d.Hintf("the trace file can be read at any time; each line has its time")
		case probe.Profile:
			d.Hintf("perf record samples what runs, and so does gostap profile")
		}
		return nil
	}
	if name == "" {
		name = h.probe.Req.Comps[len(h.probe.Req.Comps)-1].Name
	}
	if s.IsReturn() && !(h.Perf && e.kind == 'r') { // perf adds __return by itself
		name += "_return"
	}
	e.name = name
	return h.made(e)
}

func (h *handler) made(e *event) *event {
	h.proto = e
	return e
}

// syscall finds the kernel's event of a system call.
func (h *handler) syscall(e *event) *event {
	s, at := h.site, pointOf(h.probe)
	e.kind, e.group = 'e', "syscalls"
	prefix := "sys_enter_"
	if s.Kind == probe.ProcessSyscallReturn {
		prefix = "sys_exit_"
	}
	if s.Program.Path != "" {
		h.no(at, "cannot limit %s to one program", s.Title()).Hintf("syscall.NAME means that of all programs")
		return nil
	}
	if s.Syscall.Nr == probe.AnySyscall {
		e.group, e.name = "raw_syscalls", strings.TrimSuffix(prefix, "_")
		return h.known(e)
	}
	c := h.Machine.Calls.ByNumber(s.Syscall.Nr)
	if c == nil {
		h.no(at, "has no event for system call %d", s.Syscall.Nr)
		return nil
	}
	e.name = prefix + c.Name
	if c.Traced != "" {
		e.name = prefix + c.Traced
	}
	return h.known(e)
}

// known reads the fields of an event that the kernel has.
func (h *handler) known(e *event) *event {
	at := pointOf(h.probe)
	fields, err := h.Format(e.group, e.name)
	switch {
	case errors.Is(err, tracefs.ErrNone):
		h.no(at, "cannot be asked for the fields of %s:%s here: %v", e.group, e.name, err)
		return nil
	case err != nil:
		h.no(at, "has no event %s:%s", e.group, e.name)
		return nil
	}
	e.fields = fields
	return h.made(e)
}

// event makes another event at h's site.
func (h *handler) event() *event {
	e := *h.proto
	if e.kind != 'e' {
		e.name = h.unique(e.name)
	}
	for _, o := range h.writer.events {
		if e.kind == 'e' && o.path() == e.path() {
			h.no(pointOf(h.probe), "has one event %s, and two handlers of the script want it", e.path()).
				Hintf("put them into one probe")
			break
		}
	}
	e.shown = true
	h.events = append(h.events, &e)
	h.writer.events = append(h.writer.events, &e)
	return &e
}

// moment is when a site is reached.
type moment uint8

const (
	atEvents moment = iota
	atBegin
	atEnd
	never
)

func when(s *probe.Site) moment {
	switch s.Kind {
	case probe.Begin:
		return atBegin
	case probe.End, probe.ErrorEnd:
		return atEnd
	case probe.Never:
		return never
	}
	return atEvents
}

// callBegins and callReturns tell the two ends of a system call.
func callBegins(s *probe.Site) bool  { return s.Kind == probe.ProcessSyscall }
func callReturns(s *probe.Site) bool { return s.Kind == probe.ProcessSyscallReturn }
