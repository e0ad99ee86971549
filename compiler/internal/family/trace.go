package family

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/kbtf"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/probe"
)

// trace resolves kernel.trace("[system:]name"). Names come from tracefs, or from BTF alone where that cannot be read;
// BTF has no systems. The events of the system syscalls are no tracepoints of their own: they become sites of system
// calls.
func trace(m *match) []*probe.Site {
	c := m.at("trace")
	system, name, ok := strings.Cut(c.Arg.Str, ":")
	if !ok {
		system, name = "*", c.Arg.Str
	}
	if name == "" || system == "" || strings.ContainsAny(c.Arg.Str, " \t/") {
		m.errorf(c, "it is [system:]name, with * for any text")
		return nil
	}
	if strings.Contains(system+name, "*") && !(system == "*" && !strings.Contains(name, "*")) {
		return m.traces(c, system, name)
	}
	return m.oneTrace(c, system, name)
}

// oneTrace finds an event by its name; system may be "*".
func (m *match) oneTrace(c *probe.Comp, system, name string) []*probe.Site {
	fs := m.env.events()
	if fs != nil && system == "*" {
		all, _ := fs.Events()
		for _, ev := range all {
			if s, n, _ := strings.Cut(ev, ":"); n == name && m.exists(n) {
				system = s
				break
			}
		}
	}
	switch {
	case system == "syscalls":
		if s := m.syscallEvent(name); s != nil {
			return []*probe.Site{s}
		}
	case system != "*" && fs != nil && !fs.Has(system, name):
	case m.exists(name):
		return []*probe.Site{m.tracepoint(system, name)}
	case system != "*" && fs != nil:
		m.errorf(c, "the event %s:%s is no tracepoint", system, name)
		return nil
	}
	var all []string
	if fs != nil {
		all, _ = fs.Events()
	}
	all = append(all, m.tracepoints()...)
	for i, ev := range all {
		if system == "*" {
			all[i] = ev[strings.IndexByte(ev, ':')+1:]
		}
	}
	slices.Sort(all)
	want := name
	if system != "*" {
		want = system + ":" + name
	}
	d := m.errorf(c, "this kernel has no tracepoint %s", want)
	if near := diag.Nearest(want, slices.Compact(all), 3); len(near) > 0 {
		d.Hintf("did you mean %s?", strings.Join(near, ", "))
	}
	return nil
}

// traces finds the events that match. Tracepoints without an event have no system: "*" takes them too.
func (m *match) traces(c *probe.Comp, system, name string) []*probe.Site {
	known := map[string]bool{}
	for _, n := range m.tracepoints() {
		known[n] = true
	}
	var sites []*probe.Site
	seen := map[string]bool{}
	left := 0
	if fs := m.env.events(); fs != nil {
		all, _ := fs.Events()
		for _, ev := range all {
			s, n, _ := strings.Cut(ev, ":")
			seen[n] = true
			switch {
			case !glob(system, s) || !glob(name, n):
			case s == "syscalls":
				if st := m.syscallEvent(n); st != nil {
					sites = append(sites, st)
				}
			case len(known) > 0 && !known[n]:
				left++ // events that were made by hand, or of modules without type information
			default:
				sites = append(sites, m.tracepoint(s, n))
			}
		}
	}
	for n := range known {
		if system == "*" && !seen[n] && glob(name, n) {
			sites = append(sites, m.tracepoint("*", n))
		}
	}
	slices.SortFunc(sites, func(a, b *probe.Site) int { return strings.Compare(a.Point, b.Point) })
	if len(sites) == 0 {
		m.errorf(c, "this kernel has no tracepoint like that")
	} else if left > 0 {
		m.warnf("%s: %d events are left out: they are no tracepoints that the kernel's types describe", m.req, left)
	}
	return sites
}

// tracepoints lists the tracepoints of the kernel and of its modules, from BTF.
func (m *match) tracepoints() []string {
	if m.env.points != nil {
		return m.env.points
	}
	k := m.env.Kern()
	var out []string
	each := func(s *kbtf.Scope, err error) {
		if err != nil {
			return
		}
		for _, n := range s.TypedefNames("btf_trace_*") {
			out = append(out, strings.TrimPrefix(n, "btf_trace_"))
		}
	}
	each(k.Kernel())
	for _, mod := range k.Modules() {
		each(k.Module(mod))
	}
	slices.Sort(out)
	m.env.points = slices.Compact(out)
	return m.env.points
}

// exists reports whether the kernel or a module has the tracepoint. Without type information all are taken to be there;
// attaching finds out.
func (m *match) exists(name string) bool {
	s, err := m.env.Kern().Kernel()
	if errors.Is(err, kbtf.ErrNoBTF) {
		return m.env.events() != nil
	}
	if err == nil {
		if _, err = s.TypedefProto("btf_trace_" + name); err == nil {
			return true
		}
	}
	return slices.Contains(m.tracepoints(), name)
}

func (m *match) tracepoint(system, name string) *probe.Site {
	event := name
	if system != "*" {
		event = system + ":" + name
	}
	env := m.env
	return &probe.Site{
		Kind: probe.Tracepoint, Event: event, Func: name, Point: `kernel.trace("` + event + `")`,
		Names: &vars{load: func() ([]*debuginfo.Var, error) { return env.traceArgs(name) }},
	}
}

// traceArgs reads the arguments of a tracepoint.
func (e *Env) traceArgs(name string) ([]*debuginfo.Var, error) {
	k := e.Kern()
	scopes := func(yield func(*kbtf.Scope) bool) {
		if s, err := k.Kernel(); err == nil && !yield(s) {
			return
		}
		for _, mod := range k.Modules() {
			if s, err := k.Module(mod); err == nil && !yield(s) {
				return
			}
		}
	}
	var err error
	for s := range scopes {
		var p *kbtf.Proto
		if p, err = s.TracepointProto(name); err != nil {
			continue
		}
		return words(p), nil
	}
	if err == nil {
		err = kbtf.ErrNoBTF
	}
	return nil, fmt.Errorf("the arguments of tracepoint %s are not known: %w", name, err)
}

// words makes variables of a tracepoint's parameters, the first of which is the tracer's own.
func words(p *kbtf.Proto) []*debuginfo.Var {
	var out []*debuginfo.Var
	for i, par := range p.Params {
		if i == 0 {
			continue
		}
		if par.Name == "" {
			par.Name = fmt.Sprintf("arg%d", i)
		}
		if i > ir.MaxTraceArgs {
			break
		}
		out = append(out, word(par.Name, par.Type, i-1, true))
	}
	return out
}

// syscallEvent makes the site of syscalls:sys_enter_NAME or sys_exit_NAME, nil if there is no such call.
func (m *match) syscallEvent(event string) *probe.Site {
	name, enter := strings.CutPrefix(event, "sys_enter_")
	name, exit := strings.CutPrefix(name, "sys_exit_")
	call := m.env.machine().Calls.ByName(name)
	if call == nil || enter == exit {
		return nil
	}
	s := m.env.syscallSite(call, exit)
	s.Point, s.Func = `kernel.trace("syscalls:`+event+`")`, event
	if exit {
		// The event itself has the result alone, by another name.
		vs := s.Names.Vars()
		for _, v := range vs {
			if v.Name == "return" {
				r := *v
				r.Name = "ret"
				s.Names = &vars{done: true, all: append([]*debuginfo.Var{&r}, vs...)}
			}
		}
	}
	return s
}
