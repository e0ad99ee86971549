package habits

import "strings"

// Point translates a probe point of bpftrace or DTrace, with which text begins: `kprobe:vfs_read /pid == 1/ { ... }`
// gives `kernel.function("vfs_read")`. It gives "" for what is none.
func Point(text string) string {
	if i := strings.IndexAny(text, " \t\r\n{,"); i >= 0 {
		text = text[:i] // a slash may be of a path, uprobe:/bin/sh:main; behind a blank it begins a condition
	}
	parts := strings.Split(text, ":")
	word := parts[0]
	if p := ofDTrace(word, parts); p != "" {
		return p
	}
	say, ok := ofBpftrace[word]
	if !ok {
		return ""
	}
	if len(parts) == 1 && !alone[word] {
		return ""
	}
	return say(word, parts[1:])
}

// alone are the words that are a point by themselves.
var alone = map[string]bool{"BEGIN": true, "END": true}

// ofBpftrace gives, for the words with which points of bpftrace begin, the point here, of the parts behind the word.
var ofBpftrace = map[string]func(word string, parts []string) string{
	"BEGIN": func(string, []string) string { return "begin" }, "END": func(string, []string) string { return "end" },
	"interval": interval, "i": interval,
	"profile": func(string, []string) string { return "timer.profile" },
	"p":       func(string, []string) string { return "timer.profile" },
	"kprobe":  kernel, "k": kernel, "kretprobe": kernel, "kr": kernel, "fentry": kernel, "fexit": kernel,
	"kfunc":    kernel,
	"kretfunc": kernel, "f": kernel, "fr": kernel,
	"uprobe": program, "u": program, "uretprobe": program, "ur": program,
	"usdt": mark, "U": mark, "tracepoint": event, "t": event, "rawtracepoint": event, "rt": event,
	"software": counter("perf.sw."), "s": counter("perf.sw."), "hardware": counter("perf.hw."),
	"h": counter("perf.hw."),
}

// named gives the nth part, or the word that stands for it if it is missing.
func named(parts []string, n int, word string) string {
	if n < 0 || n >= len(parts) || parts[n] == "" {
		return word
	}
	return parts[n]
}

func interval(_ string, parts []string) string {
	unit, n := named(parts, 0, "s"), named(parts, 1, "1")
	switch unit {
	case "s", "ms", "us", "ns", "hz":
		return "timer." + unit + "(" + n + ")"
	}
	return "timer.s(1)"
}

func kernel(word string, parts []string) string {
	p := `kernel.function("` + named(parts, len(parts)-1, "NAME") + `")`
	if len(parts) > 1 && parts[0] != "vmlinux" {
		p = `module("` + parts[0] + `").function("` + named(parts, len(parts)-1, "NAME") + `")`
	}
	if word == "fr" || word == "kr" || strings.Contains(word, "ret") || word == "fexit" {
		p += ".return"
	}
	return p
}

func program(word string, parts []string) string {
	name := "NAME"
	if len(parts) > 1 && parts[1] != "" {
		name = strings.Join(parts[1:], ":") // names of C++ have colons
	}
	p := `process("` + named(parts, 0, "FILE") + `").function("` + name + `")`
	if word == "ur" || word == "uretprobe" {
		p += ".return"
	}
	return p
}

func mark(_ string, parts []string) string {
	p := `process("` + named(parts, 0, "FILE") + `")`
	if len(parts) > 2 {
		p += `.provider("` + parts[1] + `")`
	}
	name := "NAME"
	if len(parts) > 1 {
		name = named(parts, len(parts)-1, name)
	}
	return p + `.mark("` + name + `")`
}

func event(_ string, parts []string) string {
	system, name := named(parts, 0, "SYSTEM"), named(parts, 1, "NAME")
	if system == "syscalls" {
		if call, ok := strings.CutPrefix(name, "sys_enter_"); ok {
			return "syscall." + call
		}
		if call, ok := strings.CutPrefix(name, "sys_exit_"); ok {
			return "syscall." + call + ".return"
		}
	}
	if len(parts) == 1 && parts[0] != "" {
		return `kernel.trace("` + parts[0] + `")`
	}
	return `kernel.trace("` + system + ":" + name + `")`
}

func counter(family string) func(string, []string) string {
	return func(_ string, parts []string) string {
		return family + strings.ReplaceAll(named(parts, 0, "NAME"), "-", "_")
	}
}

// ofDTrace translates provider:module:function:name.
func ofDTrace(word string, parts []string) string {
	if len(parts) != 4 {
		return ""
	}
	end := ""
	if parts[3] == "return" {
		end = ".return"
	}
	switch name := named(parts, 2, "NAME"); {
	case word == "dtrace":
		return strings.ToLower(parts[3])
	case word == "syscall":
		return "syscall." + name + end
	case word == "fbt" && parts[1] != "" && parts[1] != "kernel" && parts[1] != "vmlinux":
		return `module("` + parts[1] + `").function("` + name + `")` + end
	case word == "fbt":
		return `kernel.function("` + name + `")` + end
	case strings.HasPrefix(word, "pid") && parts[1] != "" && !strings.HasPrefix(parts[1], "a.out"):
		return `process.library("` + parts[1] + `").function("` + name + `")` + end
	case strings.HasPrefix(word, "pid"):
		return `process.function("` + name + `")` + end
	}
	return ""
}
