package compiler

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/tools/txtar"
)

// cpuTime is how long this process has run on a CPU.
func cpuTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// FuzzCompile feeds scripts to all passes. What compiles must verify after every pass; nothing may
// panic, and a script without a program must have an error.
func FuzzCompile(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.txtar")
	for _, file := range files {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, s := range ar.Files {
			if strings.HasSuffix(s.Name, ".stp") {
				f.Add(string(s.Data))
			}
		}
	}
	for _, s := range []string{
		`global a, s probe process("/bin/app").function("main.(*Server).Handle").return { a[$path, $n] += $s->ports[$n] s <<< @entry(gettimeofday_us()) foreach ([p, n-] in a limit 3) println(p, @hist_log(s)[n]) }`,
		`function f(x) { if (x) next return g(x) } function g:long(x) { try { return f(x - 1) / x } catch (m) { warn(m) } } probe timer.ms(3) if (z > 1) { println(f(z++)) } global z`,
		`probe process("/bin/app").function("*") ?, begin { printf("%s %*d %.*s\n", $$vars$, 3, @defined($a) && $a ? $a : 1, 2, pp()) next }`,
		`probe process("/bin/trace").function("visit") { n = $n->next while (n) { n = @cast(n, "node")->next println(@cast(n, "node")[0]$$, &@cast(n, "node")->in) } }`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, script string) {
		// A pass that does not come to an end is as bad as a panic. What counts is the time on the CPU: on a machine
		// that has much else to do, a second of it can take a minute.
		before := cpuTime()
		late := time.AfterFunc(10*time.Minute, func() { panic("compiling takes too long: " + script) })
		defer late.Stop()
		defer func() {
			if d := cpuTime() - before; d > 5*time.Second {
				t.Errorf("compiling took %v: %s", d, script)
			}
		}()
		o := options(script)
		for _, o.Unoptimised = range []bool{true, false} {
			r, ds := Compile(context.Background(), o)
			for _, d := range ds {
				if strings.Contains(d.Message, "internal error") {
					t.Errorf("%s\n%s", d.Message, script)
				}
			}
			if r.Program == nil && !ds.HasErrors() {
				t.Error("no program and no error")
			}
			r.Close()
		}
	})
}
