package habits

import "testing"

// TestPoint: each kind of point of bpftrace and DTrace, whole, short, cut off, and what only looks like one.
func TestPoint(t *testing.T) {
	for text, want := range map[string]string{
		"BEGIN { x }": "begin", "END": "end", "BEGIN": "begin",
		"kprobe:vfs_read { @ = count(); }":     `kernel.function("vfs_read")`,
		"kprobe:vfs_read/pid==1/ { }":          `kernel.function("vfs_read/pid==1/")`,
		"kprobe:vfs_read /pid == 1/ {}":        `kernel.function("vfs_read")`,
		"k:vfs_*":                              `kernel.function("vfs_*")`,
		"kretprobe:vfs_read":                   `kernel.function("vfs_read").return`,
		"kr:vfs_read":                          `kernel.function("vfs_read").return`,
		"kprobe:ext4:ext4_sync":                `module("ext4").function("ext4_sync")`,
		"fexit:vmlinux:vfs_read":               `kernel.function("vfs_read").return`,
		"kfunc:vfs_read":                       `kernel.function("vfs_read")`,
		"kprobe:":                              `kernel.function("NAME")`,
		"uprobe:/bin/sh:main {":                `process("/bin/sh").function("main")`,
		"uprobe:./a:ns::f,uprobe:./a:g":        `process("./a").function("ns::f")`,
		"uprobe:./a":                           `process("./a").function("NAME")`,
		"uretprobe:./a:f":                      `process("./a").function("f").return`,
		"usdt:./a:lib:hit":                     `process("./a").provider("lib").mark("hit")`,
		"usdt:./a:hit":                         `process("./a").mark("hit")`,
		"tracepoint:sched:sched_switch":        `kernel.trace("sched:sched_switch")`,
		"t:sched:sched_switch":                 `kernel.trace("sched:sched_switch")`,
		"tracepoint:syscalls:sys_enter_openat": `syscall.openat`,
		"tracepoint:syscalls:sys_exit_openat":  `syscall.openat.return`,
		"rawtracepoint:sched_switch":           `kernel.trace("sched_switch")`,
		"interval:ms:50":                       `timer.ms(50)`,
		"interval:s:1":                         `timer.s(1)`,
		"profile:hz:99":                        `timer.profile`,
		"software:page-faults:1":               `perf.sw.page_faults`,
		"hardware:cache-misses:100":            `perf.hw.cache_misses`,
		"syscall::read:entry":                  `syscall.read`,
		"syscall::read:return":                 `syscall.read.return`,
		"fbt::vfs_read:entry":                  `kernel.function("vfs_read")`,
		"fbt:ext4:ext4_sync:return":            `module("ext4").function("ext4_sync").return`,
		"pid$target::malloc:entry":             `process.function("malloc")`,
		"pid123:libc.so.6:malloc:return":       `process.library("libc.so.6").function("malloc").return`,
		"dtrace:::BEGIN":                       `begin`,
		"kprobe":                               "", "t": "", "s = 1": "", "begin": "", "x:y": "", "": "", ":": "",
		"a:b:c:d": "", "f(x)": "", "p ? 1 : 2": "",
	} {
		if got := Point(text); got != want {
			t.Errorf("%q gives %q, not %q", text, got, want)
		}
	}
}

// FuzzPoint: no text is too odd to be looked at.
func FuzzPoint(f *testing.F) {
	for _, s := range []string{"kprobe:a", "usdt::::", "fbt:::", "interval::", "t:", "pid::::", "syscall:::"} {
		f.Add(s)
	}
	f.Fuzz(func(_ *testing.T, s string) { Point(s); At("", s); At(s, s); Function(s); Variable(s) })
}

// TestForgot: probes whose word probe was forgotten, and texts that are none.
func TestForgot(t *testing.T) {
	for text, want := range map[string]string{
		"begin { x }": "begin", "end{ x }": "end", "error { }": "error", "begin(-1) { }": "begin(-1)",
		`process("./app").function("f") { println($a) }`: `process("./app").function("f")`,
		"timer.s(1) { }":            "timer.s(1)",
		"syscall.* , timer.s(1) {}": "syscall.* , timer.s(1)", "begin = 1 {": "", `error("x") {`: "", "begins { }": "", "begin": "", "": "",
		"process(a = 1; b) {": "", "kernel.x = 1 }\nprobe begin {": "",
	} {
		if got := Forgot(text); got != want {
			t.Errorf("%q gives %q, not %q", text, got, want)
		}
	}
	for _, c := range []struct{ name, legal, want string }{{"ret", "return", "return"}, {"probe", "mark", "mark"},
		{"Func", "function", "function"}, {"ret", "call", ""}, {"return", "return", ""}} {
		if got := Component(c.name, []string{c.legal}); got != c.want {
			t.Errorf("%s gives %q", c.name, got)
		}
	}
}
