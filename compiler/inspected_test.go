package compiler

import (
	"context"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/layout"
)

// TestInspected: a program that is read as values keeps its globals, its prints one by one, and all of their arguments.
func TestInspected(t *testing.T) {
	const script = `global n, unread
probe begin { n++ unread = 3 printf("%d ", 5) printf("%s %d\n", sprintf("<%d>", pid()), n) exit() }`
	prints := func(inspected bool) (formats []string, args []int, globals string) {
		res, ds := Compile(context.Background(),
			Options{Limits: layout.Default(), NoAutoPrint: true, Inspected: inspected, Verify: true,
				Scripts: []Script{{Name: "s", Text: []byte(script)}}})
		defer res.Close()
		if ds.HasErrors() {
			t.Fatal(ds[0].Message)
		}
		for _, b := range res.Program.Probes[0].Handler.Blocks {
			for _, in := range b.Instrs {
				if in.Op == ir.OpPrint {
					f := res.Program.Formats[in.N]
					if f.IsHeaded() != inspected {
						t.Errorf("the head of %q", f)
					}
					formats, args = append(formats, f.Headless().String()), append(args, len(in.Args))
				}
			}
		}
		for _, g := range res.Program.Globals {
			globals += g.Name + " "
		}
		return formats, args, globals
	}
	formats, args, globals := prints(true)
	if strings.Join(formats, "|") != "%d |%s %d\n" || args[0] != ir.HeadArgs+1 || args[1] != ir.HeadArgs+2 ||
		globals != "n unread " {
		t.Errorf("inspected: %q %d, globals %s", formats, args, globals)
	}
	if formats, args, globals := prints(false); len(formats) != 1 || args[0] != 2 || globals != "n " {
		t.Errorf("otherwise: %q %d, globals %s", formats, args, globals)
	}
}
