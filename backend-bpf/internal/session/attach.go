package session

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cilium/ebpf"

	"github.com/gostap/gostap/backend-bpf/internal/attach"
	"github.com/gostap/gostap/backend-bpf/internal/kern"
	"github.com/gostap/gostap/backend-bpf/internal/load"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/probe"
)

// DefaultProfile is the period of timer.profile: 1000 times a second of each CPU.
const DefaultProfile = time.Millisecond

// Attach implements backend.Session.
func (s *Session) Attach(ctx context.Context) (err error) {
	files := map[string]*attach.File{}
	defer func() {
		for _, f := range files {
			f.Close()
		}
		if err != nil {
			s.set.Detach()
			s.report, s.traced = nil, nil
		}
	}()
	start := time.Now()
	n := 0
	for _, a := range s.kernelLast(inOrder(s.plan.Attach)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		n += len(a.Sites)
		if err := s.attachOne(a, files); err != nil {
			return s.at(a, err)
		}
		if a.Prog == plan.ProgFamily {
			if err := s.enterFamily(); err != nil {
				return err
			}
		}
	}
	s.logf(1, "attached %d places with %d links in %v", n, s.set.Links(), time.Since(start).Round(time.Microsecond))
	return nil
}

// inOrder lists what is to be attached so that programs at one place of a program run in the order of the script: the
// kernel runs the one first that came last (kernel/events/uprobes.c, consumer_add). For places in the kernel see kernelLast.
func inOrder(as []plan.Attach) []*plan.Attach {
	var at []int
	out := make([]*plan.Attach, len(as))
	for i := range as {
		out[i] = &as[i]
		switch as[i].Kind {
		case probe.Uprobe, probe.Uretprobe:
			at = append(at, i)
		}
	}
	for i, j := 0, len(at)-1; i < j; i, j = i+1, j-1 {
		out[at[i]], out[at[j]] = out[at[j]], out[at[i]]
	}
	return out
}

// group is the sites of one program that share a link.
type group struct {
	path string
	pid  int
}

func (s *Session) attachOne(a *plan.Attach, files map[string]*attach.File) error {
	prog := s.col.Progs[a.Prog]
	switch {
	case a.Kind == probe.Uprobe || a.Kind == probe.Uretprobe:
		return s.attachUprobes(a, prog, files)
	case a.Kind == probe.Kprobe || a.Kind == probe.Kretprobe:
		return s.attachKernel(a)
	case a.Kind == probe.Profile:
		for _, t := range a.Sites {
			period := t.Site.Period
			if period <= 0 {
				period = DefaultProfile
			}
			if err := s.set.Clock(prog.FD(), uint64(period), t.Cookie); err != nil {
				return err
			}
		}
		return nil
	case a.Table != "":
		return s.enlist(a, prog)
	case a.Kind == probe.ProcessSyscall || a.Kind == probe.ProcessSyscallReturn:
		for _, t := range a.Sites {
			s.report = append(s.report, fmt.Sprintf("%s: %s", pointOf(t.Site), prog.AttachTo))
		}
		// The program finds out by itself which of its sites a hit is for.
		return s.set.Tracing(prog.FD(), uint32(prog.AttachType), prog.AttachTo, 0)
	case prog.Type == ebpf.RawTracepoint, prog.Type == ebpf.Tracing:
		for _, t := range a.Sites {
			var err error
			if prog.Type == ebpf.Tracing {
				err = s.set.Tracing(prog.FD(), uint32(prog.AttachType), prog.AttachTo, t.Cookie)
			} else {
				err = s.set.Tracepoint(prog.FD(), prog.AttachTo, t.Cookie)
			}
			if err != nil {
				return err
			}
			s.report = append(s.report, fmt.Sprintf("%s: %s", pointOf(t.Site), prog.AttachTo))
		}
		return nil
	}
	return fmt.Errorf("the eBPF back end cannot attach %v probes", a.Kind)
}

// enlist enters a program of system calls into the table through which it is gone to. The program that does that is attached
// behind all others.
func (s *Session) enlist(a *plan.Attach, prog *load.Prog) error {
	m := s.col.Maps[a.Table]
	if m == nil {
		return fmt.Errorf("the plan has no map %s", a.Table)
	}
	var key, val [4]byte
	binary.NativeEndian.PutUint32(val[:], uint32(prog.FD()))
	for _, t := range a.Sites {
		binary.NativeEndian.PutUint32(key[:], uint32(t.Site.Syscall))
		if err := kern.Update(m.FD(), key[:], val[:], kern.UpdateAny); err != nil {
			return fmt.Errorf("enter %s into the table of system calls: %w", pointOf(t.Site), err)
		}
		s.report = append(s.report, fmt.Sprintf("%s: %s, by number", pointOf(t.Site), prog.AttachTo))
	}
	return nil
}

func (s *Session) attachUprobes(a *plan.Attach, prog *load.Prog, files map[string]*attach.File) error {
	var order []group
	sites := map[group][]attach.Site{}
	for _, t := range a.Sites {
		st := t.Site
		g := group{st.Path, st.PID}
		// The target's children may run the file as well, so the link is not limited to the target.
		if st.Target && s.cfg.Target == 0 {
			return fmt.Errorf("%s: there is no target process; name it with -c or -x", pointOf(st))
		}
		if a.Kind == probe.Uretprobe && st.Go() {
			return fmt.Errorf("%s: %w", pointOf(st), attach.ErrGoReturn)
		}
		f, err := s.open(st, files)
		if err != nil {
			return err
		}
		if sites[g] == nil {
			order = append(order, g)
		}
		sites[g] = append(sites[g], attach.Site{Offset: st.Offset, RefCtr: st.RefCtr, Cookie: t.Cookie, Name: nameOf(st),
			Check: !st.At.Insn.Emulated() && st.At.Insn != debuginfo.InsnRet})
		if s.traced == nil {
			s.traced = map[string]tracedFile{}
		}
		s.traced[st.Path] = tracedFile{id: f.ID(), noExec: f.NoExec(), all: g.pid == 0 || s.traced[st.Path].all}
		s.report = append(s.report, fmt.Sprintf("%s: %s at %#x of %s, %s", pointOf(st), a.Kind, st.Offset, st.Path, cost(st)))
	}
	for _, g := range order {
		u := &attach.Uprobes{Prog: prog.FD(), File: files[g.path], PID: g.pid, Return: a.Kind == probe.Uretprobe, Multi: s.multi[a.Prog], Sites: sites[g]}
		if err := s.set.Uprobes(u); err != nil {
			return err
		}
	}
	return nil
}

// tracedFile is a file that has probes.
type tracedFile struct {
	id     attach.FileID
	noExec bool
	all    bool // some probes are not limited to one process
}

// Warnings implements backend.Warner.
func (s *Session) Warnings() []string {
	out := s.set.Warnings()
	for _, path := range slices.Sorted(maps.Keys(s.traced)) {
		f := s.traced[path]
		if f.noExec {
			out = append(out, fmt.Sprintf("%s lies on a mount from which nothing can be run (noexec): its probes cannot fire", path))
		}
		if strings.HasPrefix(path, "/proc/") || !f.all {
			continue // the path goes with the process
		}
		if now, err := attach.Stat(path); errors.Is(err, fs.ErrNotExist) {
			out = append(out, fmt.Sprintf("%s was deleted while it was traced", path))
		} else if err == nil && !now.SameFile(f.id) {
			out = append(out, fmt.Sprintf("%s was replaced while it was traced: processes that started after that were not seen", path))
		} else if err == nil && now != f.id {
			out = append(out, fmt.Sprintf("%s was written to while it was traced", path))
		}
	}
	return out
}

// open opens a site's file and makes sure that it is the one that was resolved.
func (s *Session) open(st *probe.Site, files map[string]*attach.File) (*attach.File, error) {
	if f := files[st.Path]; f != nil {
		return f, nil
	}
	want := s.cfg.Files[st.Path]
	if im, ok := st.Image.(debuginfo.Identified); ok {
		want = attach.FileID(im.FileID())
	}
	f, err := attach.OpenFile(st.Path, want)
	if err != nil {
		return nil, err
	}
	files[st.Path] = f
	return f, nil
}

func pointOf(st *probe.Site) string {
	if st.Point != "" {
		return st.Point
	}
	return st.Kind.String()
}

func nameOf(st *probe.Site) string {
	if st.Func != "" {
		return st.Func
	}
	return st.Point
}

// cost says what a hit costs besides its handler.
func cost(st *probe.Site) string {
	in := st.At.Insn
	switch {
	case in == debuginfo.InsnUnknown:
		return "instruction not classified"
	case in == debuginfo.InsnNop5:
		return "nop5: the cheapest, where the kernel turns it into a call"
	case in.Emulated():
		return in.String() + ": emulated by the kernel"
	}
	return in.String() + ": about ten times the cost of an emulated instruction"
}
