package family

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/compiler/probe"
)

// defaultPeriod is how many events there are between two hits where a probe point does not say.
const defaultPeriod = 1_000_000

// perfForms is perf.type(N).config(N)[.sample(N)|.hz(N)][.process[("path")]].
func perfForms() *form {
	counter := &form{name: "counter", args: str,
		refuse: "handlers cannot read counters with @perf: programs of eBPF read those of one thread or one " +
			"processor, none that new threads inherit",
		hint: "count hits: a probe without .counter, with .sample(N), is hit once in N events, and n++ in it counts; " +
			"gettimeofday_ns() at entry and return measures one call"}
	process := &form{name: "process", args: bare | str, resolve: perfEvent, kids: []*form{counter}}
	often := func(name string) *form {
		return &form{name: name, args: num, resolve: perfEvent, kids: []*form{process}}
	}
	config := &form{name: "config", args: num, resolve: perfEvent,
		kids: []*form{often("sample"), often("hz"), process, counter}}
	return &form{name: "perf", args: bare, kids: []*form{{name: "type", args: num, kids: []*form{config}}}}
}

// perfEvent resolves the events that the kernel counts. What type and config mean is the kernel's business.
func perfEvent(m *match) []*probe.Site {
	typ, config := m.at("type"), m.at("config")
	if typ.Arg.Num < 0 || typ.Arg.Num > 1<<32-1 {
		m.errorf(typ, "the type is a number of 32 bits")
		return nil
	}
	s := &probe.Site{Kind: probe.Perf, Perf: probe.PerfEvent{Type: uint32(typ.Arg.Num), Config: uint64(config.Arg.Num),
		Period: defaultPeriod}}
	if s.Perf.Type == unix.PERF_TYPE_BREAKPOINT || s.Perf.Type == unix.PERF_TYPE_TRACEPOINT {
		m.errorf(typ, "watchpoints and tracepoints have probe points of their own").Hintf(
			"use kernel.data or kernel.trace")
		return nil
	}
	if c := m.at("sample"); c != nil {
		if c.Arg.Num <= 0 {
			m.errorf(c, "the number must be positive")
			return nil
		}
		s.Perf.Period = uint64(c.Arg.Num)
	}
	if c := m.at("hz"); c != nil {
		if c.Arg.Num <= 0 {
			m.errorf(c, "the number must be positive")
			return nil
		}
		s.Perf.Period, s.Perf.Hz = 0, uint64(c.Arg.Num)
	}
	if c := m.at("process"); c != nil {
		if !m.perfTarget(c) {
			return nil
		}
		s.Program.Target = true
	}
	return []*probe.Site{s}
}

// perfTarget checks that c names the target: the kernel counts for one process or for all.
func (m *match) perfTarget(c *probe.Comp) bool {
	path := m.env.TargetPath
	if path == "" && !m.env.hasTarget() {
		m.errorf(c, "events are counted for the program of -c or -x, and neither is given").Hintf(
			"give -c COMMAND or -x PID, or leave out .process")
		return false
	}
	if c.Arg == nil {
		return true
	}
	// The name is looked up as process("name") does it.
	named := &match{env: m.env, req: probe.Request{Comps: []probe.Comp{*c}, Span: m.req.Span}}
	progs := named.programs()
	m.diag = append(m.diag, named.diag...)
	for _, p := range progs {
		a, err1 := os.Stat(p.path)
		b, err2 := os.Stat(path)
		if err1 == nil && err2 == nil && os.SameFile(a, b) {
			return true
		}
	}
	if len(progs) > 0 {
		m.errorf(c, "events are counted for the target, which runs %s",
			path).Hintf("give -c COMMAND or -x PID of that program, or leave out .process")
	}
	return false
}
