package tests

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	backendbpf "github.com/gostap/gostap/backend-bpf"
	backendkmod "github.com/gostap/gostap/backend-kmod"
	"github.com/gostap/gostap/compiler"
	"github.com/gostap/gostap/compiler/backend"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/layout"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/grammar"
	"github.com/gostap/gostap/tapsets"
)

// functionHead is a function of the library with its result and parameters.
var functionHead = regexp.MustCompile(`^[^(]*?(:(?:long|string))?\s*\(([^)]*)\)`)

// libraryCalls gives a handler for each public function of the library: one that needs the result in the kernel.
func libraryCalls(t *testing.T) (calls []string) {
	for _, f := range tapsets.Files {
		text, err := tapsets.FS.ReadFile(f.Name)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range f.Entries {
			if e.Kind != grammar.FunctionEntry || e.Private {
				continue
			}
			m := functionHead.FindStringSubmatch(string(text[e.Off:e.End]))
			if m == nil {
				t.Fatalf("%s:%d: what kind of function is this?", f.Name, e.Line)
			}
			var args []string
			for _, p := range strings.Split(m[2], ",") {
				switch {
				case strings.HasSuffix(p, ":long"):
					args = append(args, "one") // no constant, with which much is worked out before
				case p != "":
					args = append(args, "text")
				}
			}
			call := fmt.Sprintf("%s(%s)", e.Names[0], strings.Join(args, ", "))
			if m[1] != "" {
				call = "seen[sprint(" + call + ")]++"
			}
			calls = append(calls, call)
		}
	}
	return calls
}

// TestBlame: whatever is refused or warned of inside of the library's functions, the first place that is named is
// the user's call, the one on the line of the function that it is about, and no note is there twice.
func TestBlame(t *testing.T) {
	calls := libraryCalls(t)
	if len(calls) < 300 {
		t.Fatalf("only %d functions", len(calls))
	}
	prog := bin(t, "trace")
	backends := []backend.Backend{backendbpf.New(), backendkmod.NewFor(backendkmod.Options{})}
	told, within := 0, 0
	for _, where := range []struct{ point, before string }{
		{fmt.Sprintf("process(%q).function(\"main\").return", prog), "foreach (k in seen) one += seen[k]; "},
		{"netfilter.ipv4.forward", ""},
		{"timer.profile", "seen[sprint(matched(0))]++; "},
	} {
		check := func(r *compiler.Result, ds diag.List, who string) (bad map[int]bool) {
			bad = map[int]bool{}
			for _, d := range ds {
				told++
				if f := r.Files.File(d.Span.From); f == nil || f.Library || r.Files.Position(d.Span.From).Line < 2 {
					var b bytes.Buffer
					(&diag.Printer{W: &b, Files: r.Files}).One(d)
					t.Errorf("%s, %s: not at a line of the user's:\n%s", where.point, who, b.String())
					continue
				}
				notes := map[diag.Note]bool{}
				for _, n := range d.Notes {
					if notes[n] {
						t.Errorf("%s, %s: a note twice: %s", where.point, who, d.Message)
					}
					notes[n] = true
					if n.Text == diag.WithinText {
						within++
					}
				}
				if d.Severity == diag.Error {
					bad[r.Files.Position(d.Span.From).Line] = true
				}
			}
			return bad
		}
		skip := map[int]bool{}
		for round := 0; ; round++ {
			script := "global seen, one = 1, text = \"t\"\n"
			for i, c := range calls {
				if !skip[i+2] {
					script += fmt.Sprintf("probe %s { %s%s }", where.point, where.before, c)
				}
				script += "\n"
			}
			r, ds := compiler.Compile(context.Background(), compiler.Options{
				Scripts: []compiler.Script{{Name: "t.stp", Text: []byte(script)}}, Limits: layout.Default(),
				Kernel: "6.18.0", Runtime: "bpf", Guru: true,
				KernelFiles: madeUpKernel(t), Include: []string{filepath.Join("translate", "lib")},
			})
			bad := check(r, ds, "compiler")
			if r.Program == nil {
				r.Close()
				if len(bad) == 0 || round > 20 {
					var b bytes.Buffer
					(&diag.Printer{W: &b, Files: r.Files}).Print(ds)
					t.Fatalf("%s: %s", where.point, b.String())
				}
				for l := range bad {
					skip[l] = true
				}
				continue
			}
			for _, b := range backends {
				_, ds := b.Build(context.Background(), r.Program, backend.BuildOptions{Name: "blame", Guru: true})
				check(r, ds, b.Name())
			}
			r.Close()
			break
		}
		t.Logf("%s: %d of %d functions compile", where.point, len(calls)-len(skip), len(calls))
	}
	if told < 1000 || within < 500 {
		t.Errorf("only %d messages, %d of them from inside of the library", told, within)
	}
	t.Logf("%d messages, %d of them from inside of the library", told, within)
}

// TestBlameInner: of two calls of a function the one that is refused is named, also where the user's own functions
// are between.
func TestBlameInner(t *testing.T) {
	const script = `global a
function mine() { return 1 + strlen(cmdline_str()) }
probe process(@1).function("main") {
	c = cmdline_str()
	a[c]++
	foreach (k in a) { println(cmdline_str()); mine() }
}`
	r, ds := compiler.Compile(context.Background(), compiler.Options{
		Scripts: []compiler.Script{{Name: "t.stp", Text: []byte(script)}}, Args: []string{bin(t, "trace")},
		Limits: layout.Default(), Runtime: "bpf",
	})
	defer r.Close()
	if r.Program == nil {
		t.Fatal(ds[0].Message)
	}
	_, ds = backendbpf.New().Build(context.Background(), r.Program, backend.BuildOptions{Name: "blame"})
	at := map[string]bool{}
	for _, d := range ds {
		p := r.Files.Position(d.Span.From)
		at[fmt.Sprintf("%d:%d", p.Line, p.Col)] = true
	}
	if len(at) != 2 || !at["2:37"] || !at["6:29"] {
		t.Errorf("the errors are at %v", at)
	}
	if user, inner := new(ir.Program).Blame(nil, 3, 0); user != 3 || inner != source.NoPos {
		t.Errorf("a program without files: %v, %v", user, inner)
	}
}
