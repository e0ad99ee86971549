package family

import (
	"fmt"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/machine/syscalls"
	"github.com/gostap/gostap/compiler/probe"
)

// The library's aliases syscall.NAME stand on __syscall("NAME") and __syscall("NAME").return, which know the call's
// number and arguments and nothing of how they are shown. "NAME" may hold wildcards.
func syscallForms() *form {
	return &form{name: "__syscall", args: bare | str, resolve: syscallSites, kids: []*form{
		{name: "return", args: bare, resolve: syscallSites, kids: []*form{maxactive()}},
		// instead: these sites are for scripts that do not probe the call by its own name.
		{name: "instead", args: bare, resolve: syscallSites,
			kids: []*form{{name: "return", args: bare, resolve: syscallSites, kids: []*form{maxactive()}}}},
	}}
}

// compatCall gives the NAME of stap's syscall.compat_NAME, which are the system calls of 32-bit programs, and whether
// the request is about one.
func compatCall(r probe.Request) (name string, ok bool) {
	if first := r.Comps[0].Name; len(r.Comps) < 2 || first != "syscall" && !strings.HasSuffix(first, "_syscall") {
		return "", false
	}
	name, ok = strings.CutPrefix(r.Comps[1].Name, "compat_")
	return strings.TrimPrefix(name, "sys_"), ok
}

// compat refuses such a point and reports whether it is one.
func (m *match) compat() bool {
	name, ok := compatCall(m.req)
	if ok {
		m.diag.Errorf(diag.Semantic, CodeRefused, m.req.Span, "%s: system calls by way of the 32-bit table are not "+
			"seen by the probes of system calls", m.req.String()).
			Hintf(`put ? behind it to leave it out, or probe kernel.function("__ia32_compat_sys_%s")`, name)
	}
	return ok
}

// maxactive is taken and changes nothing: returns of system calls are all seen.
func maxactive() *form { return &form{name: "maxactive", args: num, resolve: syscallSites} }

// syscallSites resolves __syscall. Without a name it is every call, those without a name too.
func syscallSites(m *match) []*probe.Site {
	c := m.at("__syscall")
	exit := m.has("return")
	suffix := ""
	if exit {
		suffix = ".return"
	}
	var out []*probe.Site
	all := m.env.machine().Calls
	for i := range all {
		if c.Arg != nil && !glob(c.Arg.Str, all[i].Name) {
			continue
		}
		s := m.env.syscallSite(&all[i], exit)
		s.Point = "syscall." + all[i].Name + suffix
		if c.Arg == nil {
			s.Point = "syscall_any" + suffix
		}
		s.Syscall.Instead = m.has("instead")
		out = append(out, s)
	}
	switch {
	case c.Arg == nil:
		s := m.env.syscallSite(nil, exit)
		s.Point, s.Func = "syscall_any"+suffix, "unknown"
		out = append(out, s)
	case len(out) == 0:
		var names []string
		for _, call := range all {
			names = append(names, call.Name)
		}
		d := m.errorf(c, "there is no system call %s", c.Arg.Str)
		if near := diag.Nearest(c.Arg.Str, names, 3); len(near) > 0 {
			d.Hintf("did you mean %s?", strings.Join(near, ", "))
		}
	}
	return out
}

// syscallSite makes the site of a system call; nil stands for all that have no site of their own.
func (e *Env) syscallSite(call *syscalls.Call, exit bool) *probe.Site {
	s := &probe.Site{Kind: probe.ProcessSyscall, Syscall: probe.SyscallPart{Nr: probe.AnySyscall}}
	if exit {
		s.Kind = probe.ProcessSyscallReturn
	}
	if call != nil {
		s.Syscall.Nr, s.Func = call.Nr, call.Name
	}
	// Entries and returns are matched by thread and number.
	s.At.CFA = loc.Constant(int64(s.Syscall.Nr))
	s.Names = &vars{load: func() ([]*debuginfo.Var, error) { return e.syscallArgs(call, exit), nil }}
	s.Syscall.Forgets = forgets(call)
	if exit {
		s.Syscall.Enter = &vars{load: func() ([]*debuginfo.Var, error) { return e.syscallArgs(call, false), nil }}
	}
	return s
}

// forgets reports whether the registers may not hold the arguments any more behind a call; nil is any call.
func forgets(call *syscalls.Call) bool {
	return call == nil || call.Name == "execve" || call.Name == "execveat" || call.Name == "rt_sigreturn"
}

func (e *Env) syscallArgs(call *syscalls.Call, exit bool) []*debuginfo.Var {
	long := e.ctype("long")
	var out []*debuginfo.Var
	add := func(name string, v *debuginfo.Var) {
		v.Name = name
		if exit && forgets(call) && name != "syscall" && name != "return" {
			v.Err = &debuginfo.NotLiveError{Name: name,
				Reason: "a system call that starts a program leaves no arguments behind"}
		}
		v.Place.Writable = true
		out = append(out, v)
	}
	if exit {
		add("return", word("", long, ir.SyscallRet, false))
		out[0].Kind = debuginfo.Result
	}
	if call != nil {
		for i, a := range call.Args() {
			add(a.Name, word("", e.ctype(a.Type), i, false))
		}
	}
	// These are there for each call; where a call is known by name, its own variables are what is listed.
	kind := debuginfo.Param
	if call != nil {
		kind = debuginfo.Local
	}
	nr := word("", long, ir.SyscallNr, false)
	nr.Kind = kind
	add("syscall", nr)
	for i := range 6 {
		v := word("", long, i, false)
		v.Kind = kind
		add(fmt.Sprintf("arg%d", i+1), v)
	}
	return out
}

// processSyscall resolves process(...).syscall and process(...).syscall.return: all calls of the processes that run
// a program, of one process, or of the target.
func processSyscall(m *match) []*probe.Site {
	exit := m.has("return")
	site := func() *probe.Site {
		s := m.env.syscallSite(nil, exit)
		s.Func = "syscall"
		return s
	}
	// Without a path and without a target it is about every process.
	if m.req.Comps[0].Arg == nil && m.env.TargetPath == "" {
		s := site()
		s.Point, s.Program.Target = m.req.String(), m.env.hasTarget()
		return []*probe.Site{s}
	}
	return m.each("", func(f *finder) {
		s := site()
		s.Program.Path, s.Program.PID, s.Program.Target = f.path, f.prog.pid, f.prog.target
		s.Point = `process("` + f.path + `")` + suffix(f.req.Comps[1:])
		f.sites = append(f.sites, s)
	})
}
