package cgen

import (
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/ir/irtest"
)

// TestKeptStack: a module goes by frame pointers where they lead to callers for sure, and by tables elsewhere in
// programs; where it cannot ask what is mapped it refuses.
func TestKeptStack(t *testing.T) {
	for _, c := range []struct {
		site     string
		inGo     bool
		walks    bool
		refusing string
	}{
		{`uprobe path="/a" offset=16`, true, false, ""},
		{`uprobe path="/a" offset=16`, false, true, ""},
		{`profile`, false, false, "walks stacks of programs in probes of programs only"},
	} {
		p := irtest.Parse(t, `probe "p" {
 site `+c.site+`
 long r0
b0:
 r0 = intr ustack_kept()
 print "%d"(r0)
 end
}`)
		if c.inGo {
			p.Probes[0].Sites[0].Image, p.Probes[0].Sites[0].At.Func = goImage{}, &debuginfo.Func{}
		}
		u, ds := Generate(p, Options{Name: "test"})
		said := ""
		for _, d := range ds {
			said += d.Message
		}
		switch {
		case c.refusing != "":
			if !strings.Contains(said, c.refusing) {
				t.Errorf("%s: %q", c.site, said)
			}
		case ds.HasErrors(), u.Keeps != p.Limits.MaxBacktrace, u.Walks != c.walks:
			t.Errorf("%s in Go %v: keeps %d, walks %v %s", c.site, c.inGo, u.Keeps, u.Walks, said)
		}
	}
}
