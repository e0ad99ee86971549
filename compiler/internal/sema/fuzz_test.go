package sema

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime is how long this process has run on a CPU: the clock on the wall also counts what others do.
func cpuTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// FuzzAnalyze: no script makes the passes panic, and a script without errors has a type
// for every variable.
func FuzzAnalyze(f *testing.F) {
	for _, dir := range []string{"ok", "ko", "warn"} {
		for _, c := range chunks(f, dir) {
			f.Add(c.text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4096 {
			return
		}
		begin := cpuTime()
		defer func() {
			if d := cpuTime() - begin; d > 2*time.Second {
				t.Errorf("took %v", d)
			}
		}()
		a := analyze(t, "x.stp", text, Options{Guru: true})
		if a.prog == nil || a.diags.HasErrors() {
			return
		}
		dump(a.prog)
		AutoPrint(a.prog)
		for _, g := range a.prog.Globals {
			if g.Type == 0 || g.Type == bad || g.Arity < 0 {
				t.Errorf("global %s has type %v and %d keys", g.Name, g.Type, g.Arity)
			}
		}
		for _, pr := range a.prog.Probes {
			for _, l := range pr.Info.Locals {
				if l.Type == 0 || l.Type == bad {
					t.Errorf("local %s has type %v", l.Name, l.Type)
				}
			}
		}
		for _, fn := range a.prog.Funcs {
			for _, l := range fn.Info.Locals {
				if l.Type == 0 || l.Type == bad {
					t.Errorf("local %s of %s has type %v", l.Name, fn.Name, l.Type)
				}
			}
		}
	})
}
