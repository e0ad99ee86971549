package cgen

import (
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/ir/irtest"
)

// TestVectors: vector registers are read where a program is stopped, and refused where there is none.
func TestVectors(t *testing.T) {
	const body = " long r0\nb0:\n r0 = reg 19\n print \"%d\"(r0)\n end\n}"
	const nowhere = "at places of programs only"
	for site, want := range map[string]string{"uprobe path=\"/a\" offset=16": "",
		"uretprobe path=\"/a\" offset=16": "", "kprobe path=\"kernel\" offset=16": nowhere,
		"tracepoint event=\"a:b\"": nowhere} {
		u, ds := Generate(irtest.Parse(t, "probe \"p\" {\n site "+site+"\n"+body),
			Options{Name: "m"})
		switch {
		case want == "" && (ds.HasErrors() || !strings.Contains(u.C, "= gs_vector(2);")):
			t.Errorf("%s: %v\n%s", site, ds, u.C)
		case want != "" && (!ds.HasErrors() || !strings.Contains(ds[0].Message, want)):
			t.Errorf("%s: want %q, got %v", site, want, ds)
		}
	}
}
