package compiler

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/open"
	"github.com/gostap/gostap/compiler/diag/diagtest"
	"github.com/gostap/gostap/compiler/layout"
)

// TestChanged writes to a program after it was opened: nothing that was found holds then.
func TestChanged(t *testing.T) {
	dir := t.TempDir()
	src, prog := filepath.Join(dir, "x.c"), filepath.Join(dir, "prog")
	os.WriteFile(src, []byte("int f(int a) { return a + 1; }\nint main(void) { return f(2); }\n"), 0o644)
	if out, err := exec.Command("gcc", "-g", "-o", prog, src).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	good, err := os.ReadFile(prog)
	if err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func() error{
		"cut":       func() error { return os.Truncate(prog, 0) },
		"half":      func() error { return os.Truncate(prog, int64(len(good)/2)) },
		"rewritten": func() error { return os.WriteFile(prog, append(good, 0), 0o755) },
	} {
		for _, script := range []string{`probe process("` + prog + `").function("f") { println($a) }`,
			`probe process("` + prog + `").function("*") { println(pp()) }`} {
			if err := os.WriteFile(prog, good, 0o755); err != nil {
				t.Fatal(err)
			}
			o := Options{Scripts: []Script{{Name: "x.stp", Text: []byte(script)}}, Limits: layout.Default(),
				Runtime: "bpf", Open: func(path string) (debuginfo.Image, error) {
					im, err := open.Open(path)
					if err == nil {
						err = spoil()
					}
					return im, err
				}}
			res, ds := Compile(context.Background(), o)
			if res.Program != nil || len(ds) != 1 {
				t.Errorf("%s: %v", name, ds)
			}
			diagtest.Find(t, ds, codeChanged)
			res.Close()
			if err := os.WriteFile(prog, good, 0o755); err != nil {
				t.Fatal(err)
			}
			lines, res, ds := List(context.Background(), `process("`+prog+`").function("*")`, o,
				ListOptions{Vars: true})
			diagtest.Find(t, ds, codeChanged)
			if lines != nil {
				t.Errorf("%s: lists %v", name, lines)
			}
			res.Close()
		}
	}
}
