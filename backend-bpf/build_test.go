package bpf

import (
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/backend"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/diag/diagtest"
	"github.com/gostap/gostap/compiler/ir"
)

// TestRefused: programs that no script becomes, but which a mistake elsewhere could make, are refused.
func TestRefused(t *testing.T) {
	refusal := func(text string, code diag.Code, words string) {
		t.Helper()
		p, err := ir.ParseText(text)
		if err != nil {
			t.Fatal(err)
		}
		_, ds := New().Build(t.Context(), p, backend.BuildOptions{Name: "x"})
		if d := diagtest.Find(t, ds, code); !strings.Contains(d.Message, words) {
			t.Error(d.Message)
		}
	}
	const uprobe = "probe \"x\" {\n  site uprobe path=\"/bin/true\" offset=0x1000\n  long r0\nb0:\n"
	refusal(uprobe+"  r0 = mov 1\n  setreg 7, r0\n  end\n}\n", "bpf", "register 7 cannot be set")
	keys := strings.TrimSuffix(strings.Repeat("string 8000, ", 9), ", ")
	args := strings.TrimSuffix(strings.Repeat(`"", `, 9), ", ")
	refusal("global a long ["+keys+"]\n"+uprobe+"  madd @a["+args+"], 1\n  end\n}\n", "bpf-map", `key of array "a"`)
}

// TestScope: packets, and hierarchies whose controllers the kernel does not know, cannot be kept to control groups.
func TestScope(t *testing.T) {
	for _, c := range []struct{ site, controller, want string }{
		{"netfilter event=\"2:1:0\"", "", "packets are not of"},
		{"uprobe path=\"/bin/true\" offset=0x1000", "nothing", "which of its controllers nothing is"},
		{"uprobe path=\"/bin/true\" offset=0x1000", "", ""},
		{"uprobe path=\"/bin/true\" offset=0x1000", "memory", ""},
	} {
		p, err := ir.ParseText("probe \"x\" {\n  site " + c.site + "\n  long r0\nb0:\n  r0 = mov 1\n  end\n}\n")
		if err != nil {
			t.Fatal(err)
		}
		_, ds := New().Build(t.Context(), p, backend.BuildOptions{Name: "x",
			Scope: &backend.Scope{Controller: c.controller}})
		if c.want == "" {
			if ds.HasErrors() {
				t.Errorf("%s: %v", c.controller, ds)
			}
		} else if d := diagtest.Find(t, ds, backend.CodeScope); !strings.Contains(d.Message, c.want) || d.Hint != "" {
			t.Errorf("%s, hint %q", d.Message, d.Hint)
		}
	}
}
