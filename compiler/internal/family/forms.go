package family

import (
	"strings"
	"sync"

	"github.com/gostap/gostap/compiler/probe"
)

// families is the tree of all forms, built when first asked for.
var families = sync.OnceValue(func() []*form {
	roots := []*form{
		{name: "begin", args: bare | num, resolve: session},
		{name: "end", args: bare | num, resolve: session},
		{name: "error", args: bare | num, resolve: session},
		{name: "never", args: bare, resolve: session},
		timers(),
		{name: "__input", args: bare, kids: []*form{ // behind the library's aliases input.char and input.line
			{name: "char", args: bare, resolve: input},
			{name: "line", args: bare, resolve: input},
		}},
		processes(),
		kernelForms(),
		syscallForms(),
		procfsForms(),
		perfForms(),
		netfilterForms(),
		lsmForms(),
	}
	roots = append(roots, kernels()...)
	for _, name := range kernelAliases {
		roots = append(roots, &form{name: name, args: bare | num | str,
			refuse: "the library has no alias of this name for a probe in the kernel"})
	}
	for _, r := range absent {
		roots = append(roots, &form{name: r.name, args: bare | num | str, refuse: r.why, hint: r.hint})
	}
	return roots
})

// kernelAliases begin the names of aliases in stap's library that stand for probes in the kernel.
var kernelAliases = []string{
	"vfs", "vm", "scheduler", "socket", "tcp", "udp", "tcpmib", "ipmib", "linuxmib", "ioblock", "ioblock_trace",
	"ioscheduler", "ioscheduler_trace",
	"iosyscall", "signal", "nfs", "nfsd", "sunrpc", "netdev", "scsi", "kprocess", "irq_handler", "softirq", "workqueue",
	"tty", "sock", "mm", "stap",
	"generic", "lock", "syscallgroup", "sysfs", "task", "networking", "io",
}

// absent are families of the language that this version does not have.
var absent = []struct{ name, why, hint string }{
	{"java", "Java probes are not available in this version", "programs in Go and C can be probed"},
	{"python2", "Python probes are not available in this version",
		"the functions of the interpreter itself can be probed"},
	{"python3", "Python probes are not available in this version",
		"the functions of the interpreter itself can be probed"},
	{"debuginfod", "downloading debug information is not available in this version", `name the file: process("path")`},
}

func timers() *form {
	every := func(name string) *form {
		return &form{name: name, args: num, resolve: timer,
			kids: []*form{{name: "randomize", args: num, resolve: timer}}}
	}
	t := &form{name: "timer", args: bare}
	for _, u := range units {
		t.kids = append(t.kids, every(u.name))
	}
	t.kids = append(t.kids,
		&form{name: "hz", args: num, resolve: timer},
		&form{name: "profile", args: bare, resolve: profile,
			kids: []*form{{name: "tick", args: bare, resolve: profile}}})
	return t
}

// later ends the reasons for what may come.
const later = "not available in this version"

// ofFunction is what may follow function(...). maxactive is what may follow its return.
func ofFunction(resolve func(*match) []*probe.Site, maxactive *form) []*form {
	return []*form{
		{name: "call", args: bare, resolve: resolve},
		{name: "inline", args: bare, resolve: resolve},
		{name: "exported", args: bare, resolve: resolve},
		{name: "return", args: bare, resolve: resolve, kids: []*form{maxactive}},
		{name: "callee", args: str, resolve: resolve,
			kids: []*form{{name: "call", args: bare, resolve: resolve},
				{name: "return", args: bare, resolve: resolve}}},
		{name: "callees", args: bare | num, resolve: resolve},
		{name: "label", args: str, resolve: resolve},
	}
}

// inFile is what may follow process(...) and library(...): places in the file's code.
func inFile() []*form {
	return []*form{
		{name: "function", args: num | str, resolve: functions, kids: ofFunction(functions,
			&form{name: "maxactive", args: num, refuse: "the returns of programs need no room that is kept for them",
				hint: "leave it out; it is for functions of the kernel"})},
		{name: "statement", args: num | str, resolve: statements, kids: []*form{
			{name: "nearest", args: bare, resolve: statements},
			{name: "absolute", args: bare, resolve: statements, kids: []*form{
				{name: "return", args: bare,
					refuse: "an address without its function has no return that could be found",
					hint:   "use .function(address).return"},
			}},
		}},
		{name: "mark", args: str, resolve: marks},
		{name: "provider", args: str, kids: []*form{{name: "mark", args: str, resolve: marks}}},
		{name: "plt", args: bare | str, resolve: stubs, kids: []*form{{name: "return", args: bare, resolve: stubs}}},
	}
}

func processes() *form {
	return &form{name: "process", args: bare | num | str, kids: append(inFile(), []*form{
		{name: "begin", args: bare, resolve: lifetime},
		{name: "end", args: bare, resolve: lifetime},
		{name: "thread", args: bare, kids: []*form{
			{name: "begin", args: bare, resolve: lifetime},
			{name: "end", args: bare, resolve: lifetime},
		}},
		{name: "library", args: str, kids: inFile()},
		{name: "syscall", args: bare, resolve: processSyscall,
			kids: []*form{{name: "return", args: bare, resolve: processSyscall}}},
		{name: "insn", args: bare, refuse: "single-step probes are " + later,
			hint: "use .statement with an address or a line"},
		{name: "data", args: num | str, refuse: "hardware watchpoints are " + later,
			hint: "probe the functions that change the variable"},
	}...)}
}

// unprivileged reports whether users of the group stapusr may use a probe point that begins with comps.
func unprivileged(comps []probe.Comp) bool {
	second := ""
	if len(comps) > 1 {
		second = comps[1].Name
	}
	switch comps[0].Name {
	case "begin", "end", "error", "never":
		return true
	case "timer":
		return second != "profile" && second != "hz"
	case "process":
		return second != "insn" && second != "data"
	}
	return false
}

// Names lists the forms that this version has, with the kinds of their arguments: those that a user of the
// group privilege may use, all if it is "".
func Names(privilege string) []string {
	var out []string
	var walk func(f *form, prefix string, comps []probe.Comp)
	walk = func(f *form, prefix string, comps []probe.Comp) {
		comps = append(comps[:len(comps):len(comps)], probe.Comp{Name: f.name})
		if privilege == "stapusr" && !unprivileged(comps) {
			return
		}
		if f.refuse != "" || strings.HasPrefix(f.name, "__") {
			return
		}
		for _, a := range []struct {
			t    takes
			text string
		}{{bare, ""}, {num, "(number)"}, {str, "(string)"}} {
			if f.args&a.t == 0 {
				continue
			}
			here := prefix + f.name + a.text
			if f.resolve != nil {
				out = append(out, here)
			}
			for _, k := range f.kids {
				walk(k, here+".", comps)
			}
		}
	}
	for _, f := range families() {
		walk(f, "", nil)
	}
	return out
}
