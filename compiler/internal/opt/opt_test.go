package opt

import (
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/irgen"
)

var update = flag.Bool("update", false, "rewrite the out sections of testdata")

// TestPasses runs each file of testdata, PASS.CASE.txtar, through the pass it is named for ("run" is all of
// them) and compares what comes out.
func TestPasses(t *testing.T) {
	passes := map[string]func(*ir.Program){"run": func(p *ir.Program) { Run(p, Options{}) }}
	tested := map[string]bool{}
	for _, pass := range Passes {
		passes[pass.Name] = pass.Run
	}
	files, _ := filepath.Glob("testdata/*.txtar")
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		pass, _, _ := strings.Cut(name, ".")
		tested[pass] = true
		t.Run(name, func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			p, err := ir.ParseText(string(ar.Files[0].Data))
			if err != nil {
				t.Fatal(err)
			}
			if err := ir.Verify(p); err != nil {
				t.Fatal(err)
			}
			run := passes[pass]
			if run == nil {
				t.Fatalf("no pass %q", pass)
			}
			if pass == "insert-locks" {
				InferSharing(p)
			}
			run(p)
			if err := ir.Verify(p); err != nil {
				t.Fatalf("%v\n%s", err, p)
			}
			got := p.String()
			if *update {
				ar.Files = append(ar.Files[:1], txtar.File{Name: "out", Data: []byte(got)})
				if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if len(ar.Files) < 2 || got != string(ar.Files[1].Data) {
				t.Errorf("got\n%s", got)
			}
		})
	}
	for pass := range passes {
		if !tested[pass] {
			t.Errorf("no test of pass %s", pass)
		}
	}
}

// check optimises a random program and demands that it verifies after each pass, and says and leaves
// what it did before.
func check(t *testing.T, a, b uint64, off bool) {
	p := irgen.Program(rand.New(rand.NewPCG(a, b)))
	text := p.String()
	before, err := irgen.Run(p, 3, irgen.Context{All: true})
	if err != nil {
		t.Fatal(err)
	}
	last := text
	compare := func(pass string) {
		if err := ir.Verify(p); err != nil {
			t.Fatalf("after %s: %v\n%s\n--- from\n%s", pass, err, p, last)
		}
		now := p.String()
		if now == last {
			return
		}
		after, err := irgen.Run(p, 3, irgen.Context{All: true})
		if err != nil {
			t.Fatal(err)
		}
		if after.Text != before.Text {
			t.Fatalf("after %s: said\n%s\n--- before\n%s\n--- program\n%s\n--- from\n%s", pass, after.Text, before.Text,
				now, last)
		}
		for name, val := range after.Globals {
			if val != before.Globals[name] {
				t.Fatalf("after %s: %s holds\n%s\n--- before\n%s\n--- program\n%s\n--- from\n%s", pass, name, val,
					before.Globals[name], now, last)
			}
		}
		last = now
	}
	Run(p, Options{Off: off, After: compare})
}

func TestRandomPrograms(t *testing.T) {
	n := uint64(1500)
	if testing.Short() {
		n = 200
	}
	for i := range n {
		check(t, i, 7, i%5 == 0)
	}
}

func FuzzRandomPrograms(f *testing.F) {
	f.Add(uint64(1), uint64(2), false)
	f.Fuzz(check)
}
