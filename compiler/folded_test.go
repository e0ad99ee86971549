package compiler

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo/open"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/diag/diagtest"
	"github.com/gostap/gostap/compiler/layout"
)

// TestFolded: of functions that do the same the compiler describes one. A wildcard leaves the others out where
// variables are asked for, and by their names they are refused with the reason.
func TestFolded(t *testing.T) {
	dir := t.TempDir()
	src, prog := filepath.Join(dir, "x.c"), filepath.Join(dir, "prog")
	os.WriteFile(src, []byte("static void shut_a(void *p) { (void)p; }\nstatic void shut_b(void *p) { (void)p; }\n"+
		"struct m { void (*a)(void *); void (*b)(void *); } table = { shut_a, shut_b };\nint main(int c, char **v) { "+
		"table.a(v); table.b(v); return 0; }\n"), 0o644)
	if out, err := exec.Command("gcc", "-g", "-O2", "-fipa-icf", "-o", prog, src).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	compile := func(point, body string) (*Result, diag.List) {
		o := Options{Scripts: []Script{{Name: "x.stp",
			Text: []byte("probe process(\"" + prog + "\")." + point + " { " + body + " }")}}, Limits: layout.Default(),
			Runtime: "bpf", Open: open.Open}
		res, ds := Compile(context.Background(), o)
		t.Cleanup(res.Close)
		return res, ds
	}
	folded := ""
	var ds diag.List
	for _, name := range []string{"shut_a", "shut_b"} {
		if _, l := compile(`function("`+name+`")`, "println($p)"); l.HasErrors() {
			folded, ds = name, l
		}
	}
	if folded == "" {
		t.Skip("this compiler describes both of two functions that do the same")
	}
	d := diagtest.Find(t, ds, "no-dwarf")
	if len(d.Notes) == 0 || !strings.Contains(d.Notes[0].Text, "(identical code folding)") {
		t.Errorf("%s: %+v", folded, d)
	}
	for _, point := range []string{`function("shut*")`, `function("*")`} {
		res, ds := compile(point, "println($$vars)")
		w := diagtest.Find(t, ds, "left-out")
		if ds.HasErrors() || res.Program == nil || !strings.Contains(w.Message, folded) || len(w.Notes) == 0 ||
			!strings.Contains(w.Notes[0].Text, "folding") {
			t.Errorf("%s: %v", point, ds)
		}
		if n := len(res.Program.Probes); n == 0 {
			t.Error("no probes")
		}
	}
	// Without variables it is probed as others are.
	if res, ds := compile(`function("shut*")`, "println(ppfunc())"); len(ds) != 0 ||
		len(res.Program.Probes[0].Sites) != 2 {
		t.Errorf("without variables: %v", ds)
	}
}
