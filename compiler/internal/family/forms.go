package family

import (
	"strings"
	"sync"
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
	}
	for _, name := range kernelAliases {
		roots = append(roots, &form{name: name, args: bare | num | str, refuse: "stap's aliases for probes in the kernel are not available in this version"})
	}
	for _, r := range absent {
		roots = append(roots, &form{name: r.name, args: bare | num | str, refuse: r.why, hint: r.hint})
	}
	return roots
})

// kernelAliases begin the names of aliases in stap's library that stand for probes in the kernel.
var kernelAliases = []string{
	"vfs", "vm", "scheduler", "socket", "tcp", "udp", "tcpmib", "ipmib", "linuxmib", "ioblock", "ioblock_trace", "ioscheduler", "ioscheduler_trace",
	"iosyscall", "signal", "nfs", "nfsd", "sunrpc", "netdev", "scsi", "kprocess", "irq_handler", "softirq", "workqueue", "tty", "sock", "mm", "stap",
	"generic", "lock", "syscallgroup", "sysfs", "task", "networking", "io",
}

// absent are families of the language that this version does not have.
var absent = []struct{ name, why, hint string }{
	{"module", "probes in kernel modules are not available in this version", "process probes, timers, begin and end are"},
	{"kprobe", "probes in the kernel are not available in this version", "process probes, timers, begin and end are"},
	{"perf", "performance-counter probes are not available in this version", ""},
	{"procfs", "procfs files need the kernel-module back end, which is not available in this version", ""},
	{"netfilter", "netfilter probes need the kernel-module back end, which is not available in this version", ""},
	{"lsm", "security-module probes are not available in this version", ""},
	{"java", "Java probes are not available in this version", ""},
	{"python2", "Python probes are not available in this version", ""},
	{"python3", "Python probes are not available in this version", ""},
	{"debuginfod", "downloading debug information is not available in this version", `name the file: process("path")`},
}

func timers() *form {
	every := func(name string) *form {
		return &form{name: name, args: num, resolve: timer, kids: []*form{{name: "randomize", args: num, resolve: timer}}}
	}
	t := &form{name: "timer", args: bare}
	for _, u := range units {
		t.kids = append(t.kids, every(u.name))
	}
	t.kids = append(t.kids,
		&form{name: "hz", args: num, resolve: timer},
		&form{name: "profile", args: bare, resolve: profile, kids: []*form{{name: "tick", args: bare, resolve: profile}}})
	return t
}

func processes() *form {
	const later = "not available in this version"
	return &form{name: "process", args: bare | num | str, kids: []*form{
		{name: "function", args: num | str, resolve: functions, kids: []*form{
			{name: "call", args: bare, resolve: functions},
			{name: "inline", args: bare, resolve: functions},
			{name: "exported", args: bare, resolve: functions},
			{name: "return", args: bare, resolve: functions, kids: []*form{{name: "maxactive", args: num, resolve: functions}}},
			{name: "callee", args: str, refuse: "probes by call chain are " + later, hint: "probe the called function and test the caller in the handler"},
			{name: "callees", args: bare | num, refuse: "probes by call chain are " + later, hint: "probe the called functions and test the caller in the handler"},
			{name: "label", args: str, refuse: "probes at labels are " + later, hint: "use .statement with the label's line"},
		}},
		{name: "statement", args: num | str, resolve: statements, kids: []*form{
			{name: "nearest", args: bare, resolve: statements},
			{name: "absolute", args: bare, resolve: statements},
		}},
		{name: "begin", args: bare, resolve: lifetime},
		{name: "end", args: bare, resolve: lifetime},
		{name: "thread", args: bare, kids: []*form{
			{name: "begin", args: bare, resolve: lifetime},
			{name: "end", args: bare, resolve: lifetime},
		}},
		{name: "mark", args: str, refuse: "statically defined marks are " + later},
		{name: "provider", args: str, refuse: "statically defined marks are " + later},
		{name: "library", args: str, refuse: "naming a library through its program is " + later, hint: `name the library's file: process("/path/lib.so").function("f")`},
		{name: "plt", args: bare | str, refuse: "probes on calls through the PLT are " + later, hint: `probe the function in its library: process("/path/lib.so").function("f")`},
		{name: "syscall", args: bare, resolve: processSyscall, kids: []*form{{name: "return", args: bare, resolve: processSyscall}}},
		{name: "insn", args: bare, refuse: "single-step probes are " + later},
		{name: "data", args: num | str, refuse: "hardware watchpoints are " + later},
	}}
}

// Names lists the forms that this version has, with the kinds of their arguments.
func Names() []string {
	var out []string
	var walk func(f *form, prefix string)
	walk = func(f *form, prefix string) {
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
				walk(k, here+".")
			}
		}
	}
	for _, f := range families() {
		walk(f, "")
	}
	return out
}
