package habits

import (
	"path/filepath"
	"slices"
	"strings"
)

// roots are the words that points begin with which need no word probe elsewhere: those that no function has as a name.
var roots = []string{"begin", "end", "error", "never", "init", "process", "kernel", "module", "syscall", "nd_syscall",
	"timer", "perf", "procfs", "netfilter", "lsm", "go", "kprocess", "scheduler", "vfs", "tcp", "signal", "socket"}

// Forgot gives the probe point with which a text begins, of a probe whose word probe was forgotten: of `begin { ... }`
// begin, of `process("app").function("f") { ... }` the whole point. It gives "" for what is none.
func Forgot(text string) string {
	i := strings.IndexFunc(text, func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') })
	if i < 0 || !slices.Contains(roots, text[:i]) {
		return ""
	}
	body := strings.IndexByte(text, '{')
	if body < 0 || strings.Contains(text[:body], "\n\n") {
		return ""
	}
	point := strings.TrimSpace(text[:body])
	switch rest := strings.TrimSpace(point[i:]); {
	case rest == "", rest[0] == '.' && !strings.ContainsAny(rest, ";=}"):
	case rest[0] == '(' && text[:i] != "error" && !strings.ContainsAny(rest, ";=}"):
	default:
		return ""
	}
	return point
}

// languages are those of source text, by the ends of the names of files.
var languages = map[string]string{".go": "Go", ".c": "C", ".h": "C", ".cc": "C++", ".cpp": "C++", ".cxx": "C++",
	".hpp": "C++", ".rs": "Rust"}

// Source names the language of which a file is source text, "" if it is of none that can be traced.
func Source(file string) string { return languages[filepath.Ext(file)] }

// NoSource is the hint for source text that is taken for a script or a program.
func NoSource(file string) string {
	return "it is source text of " + Source(file) + ": build it, and name the program in a script: " +
		`process("./PROGRAM").function("NAME")`
}

// components are what other tools and languages call the parts of probe points.
var components = map[string][]string{
	"ret": {"return"}, "exit": {"return"}, "returns": {"return"}, "leave": {"return"}, "end": {"return"},
	"func": {"function"}, "fn": {"function"}, "method": {"function"}, "symbol": {"function"},
	"probe": {"function", "mark"}, "uprobe": {"function"}, "kprobe": {"function"}, "kfunc": {"function"},
	"line": {"statement"}, "usdt": {"mark"}, "sdt": {"mark"}, "tracepoint": {"trace"}, "tp": {"trace"},
	"event": {"trace"}, "lib": {"library"}, "so": {"library"}, "entry": {"call"}, "enter": {"call"},
	"start": {"begin"}, "stop": {"end"}, "second": {"s"}, "seconds": {"s"}, "secs": {"s"}, "millisecond": {"ms"},
	"milliseconds": {"ms"}, "millis": {"ms"}, "microsecond": {"us"}, "microseconds": {"us"}, "interval": {"s"},
	"nanosecond": {"ns"}, "nanoseconds": {"ns"}, "hertz": {"hz"}, "every": {"s"}, "sample": {"profile"},
}

// Component gives the part of a probe point that is called name elsewhere, one of those that are legal, "" for none.
func Component(name string, legal []string) string {
	for _, c := range components[strings.ToLower(name)] {
		if slices.Contains(legal, c) {
			return c
		}
	}
	return ""
}

// tools are what people know the names of, with what does the same.
var tools = map[string]string{
	"strace": "gostap -C -c CMD counts system calls; each with its arguments: gostap -e 'probe syscall.* " +
		`{ if (pid() == target()) printf("%s(%s)\n", name, argstr) }' -c CMD`,
	"ltrace": `calls of libraries: gostap -e 'probe process("FILE").plt { println($$name) }' -c FILE`,
	"ftrace": "gostap funccount and gostap trace look at functions of the kernel; --emit=ftrace writes a script for " +
		"the kernel's own tracer",
	"perf":   "gostap profile -c CMD or -x PID tells where the time goes",
	"record": "gostap profile -c CMD or -x PID tells where the time goes",
	"report": "gostap profile -c CMD or -x PID tells where the time goes",
	"pprof":  "gostap profile -c CMD or -x PID tells where the time goes",
	"flame":  "gostap profile -c CMD -o FILE.svg draws a flame graph",
	"top":    "gostap tools lists filetop, tcptop, biotop and others; gostap profile -x PID tells where the time goes",
	"gdb":    attach, "dlv": attach, "attach": attach, "debug": attach,
	"exec":  "-c starts a program: gostap SCRIPT -c 'CMD ARGS'",
	"start": "-c starts a program: gostap SCRIPT -c 'CMD ARGS'",
	"list":  list, "ls": list, "probes": list, "functions": list,
	"stap": script, "bpftrace": script, "script": script, "eval": script,
	"version":  "gostap --version",
	"examples": "gostap --help shows examples, gostap tools lists ready scripts",
	"tool":     "gostap tools lists the tools", "test": "gostap --info tells what this kernel allows",
	"check": "gostap --info tells what this kernel allows; gostap -p2 SCRIPT checks a script",
}

const (
	attach = `a running process is named by -x: gostap -x PID -e 'probe process.function("main.*") { println(pp()) }'`
	list   = `gostap -l 'process("./app").function("main.*")' lists probe points, gostap tools the tools`
	script = "a script stands in a file, or behind -e: gostap -e 'SCRIPT'"
)

// Tool gives the hint for the name of a tool or of a command of another tool.
func Tool(name string) string { return tools[name] }

// ToolName gives the name of a tool of which a word is the name elsewhere: opensnoop.bt, execsnoop-bpfcc.
func ToolName(word string) string {
	for _, end := range []string{".bt", "-bpfcc", ".py", ".stp", ".d", ".bpf"} {
		if name, ok := strings.CutSuffix(word, end); ok {
			return name
		}
	}
	return word
}

// results are what a result is called elsewhere, or in the program.
var results = []string{"result", "results", "ret", "retval", "rv", "rc", "res", "err", "error", "returned", "value"}

// Result gives the hint for a variable's name that people give to the result of a function; back says that the probe is
// hit when the function returns.
func Result(name string, back bool) string {
	switch {
	case !slices.Contains(results, strings.TrimPrefix(name, "$")):
		return ""
	case back:
		return "the result of a function is $return, of several results $return[0], $return[1]"
	}
	return "the result of a function is $return, in a probe whose point ends in .return"
}
