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
