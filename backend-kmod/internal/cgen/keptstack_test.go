package cgen

import (
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/ir/irtest"
)

// TestKeptStack: a module keeps stacks of programs where frame pointers lead to callers for sure, and refuses others.
func TestKeptStack(t *testing.T) {
	for _, inGo := range []bool{true, false} {
		p := irtest.Parse(t, `probe "p" {
 site uprobe path="/a" offset=16
 long r0
b0:
 r0 = intr ustack_kept()
 print "%d"(r0)
 end
}`)
		if inGo {
			p.Probes[0].Sites[0].Image, p.Probes[0].Sites[0].At.Func = goImage{}, &debuginfo.Func{}
		}
		u, ds := Generate(p, Options{Name: "test"})
		said := ""
		for _, d := range ds {
			said += d.Message
		}
		switch {
		case inGo && (ds.HasErrors() || u.Keeps != p.Limits.MaxBacktrace):
			t.Errorf("in Go: %s", said)
		case !inGo && !strings.Contains(said, "in code of Go only"):
			t.Errorf("elsewhere: %q", said)
		}
	}
}
