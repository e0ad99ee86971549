package sema

import (
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/internal/expand"
	"github.com/gostap/gostap/compiler/internal/load"
	"github.com/gostap/gostap/compiler/layout"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/compiler/types"
	"github.com/gostap/gostap/grammar"
)

// analyzed is a script after all passes of the package.
type analyzed struct {
	files *source.FileSet
	lib   *load.Library
	prog  *elab.Program
	diags diag.List
}

// analyze runs a script through the front end. Aliases are expanded; every point that
// is left resolves to one site. Target variables resolve by their name: $str... is a string,
// $missing... does not resolve, all others are numbers.
func analyze(t testing.TB, name, text string, o Options) *analyzed {
	t.Helper()
	a := &analyzed{files: new(source.FileSet)}
	cond := grammar.Conditions{Kernel: "6.18.0", Arch: "x86_64", Runtime: "bpf"}
	var ds diag.List
	a.lib, ds = load.New(load.Options{Files: a.files, Cond: cond})
	a.diags = append(a.diags, ds...)
	tree, ds := grammar.Parse(a.files.Add(name, []byte(text)),
		grammar.Options{Files: a.files, Cond: cond, Macros: a.lib.Macros()})
	a.diags = append(a.diags, ds...)
	if a.diags.HasErrors() {
		return a
	}
	a.diags = append(a.diags, a.lib.AddScript(tree)...)
	a.prog = &elab.Program{Files: a.files, Limits: layout.Default()}
	env := &expand.Env{
		Aliases: func(first string) (out []expand.Alias) {
			for _, al := range a.lib.Aliases(first) {
				out = append(out, al)
			}
			return out
		},
		Resolve: func(probe.Request) ([]*probe.Site, diag.List) { return []*probe.Site{{Kind: probe.Begin}}, nil },
	}
	handlers := func(p *ast.Probe) ([]*elab.Probe, diag.List) {
		items, ds := env.Probe(p.Points, p.Body)
		var eps []*elab.Probe
		for _, it := range items {
			ep := &elab.Probe{Decl: p, Req: it.Req, Bodies: it.Bodies, Cond: it.Cond, Sites: it.Sites}
			ep.Info.Init()
			for _, b := range it.Bodies {
				fakeTargets(&ep.Info, b)
			}
			eps = append(eps, ep)
		}
		return eps, ds
	}
	for _, p := range a.lib.UserProbes() {
		eps, ds := handlers(p)
		a.diags = append(a.diags, ds...)
		a.prog.Probes = append(a.prog.Probes, eps...)
	}
	o.Expand = handlers
	if o.Resolve == nil {
		o.Resolve = func(f *elab.Func) diag.List {
			ast.Inspect(f.Decl.Body, func(n ast.Node) bool {
				if tg, ok := n.(*ast.Target); ok && tg.Base != nil {
					f.Info.Targets[tg] = &elab.Target{Type: types.Long, Args: castArgs(tg)}
					return false
				}
				return true
			})
			return nil
		}
	}
	a.diags = append(a.diags, Analyze(a.prog, a.lib, o)...)
	return a
}

// castArgs are the pointers and indexes in a target expression.
func castArgs(t *ast.Target) []ast.Expr {
	var args []ast.Expr
	if op, ok := t.Base.(*ast.AtOp); ok && op.Name == "@cast" {
		args = append(args, op.Args[0])
	}
	for _, s := range t.Path {
		if s.Index != nil {
			args = append(args, s.Index)
		}
	}
	return args
}

func fakeTargets(in *elab.Info, body ast.Node) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Unary:
			if _, ok := n.X.(*ast.Target); ok && n.Op == "&" {
				in.Targets[n] = &elab.Target{Type: types.Long}
				return false
			}
		case *ast.AtOp:
			if n.Name == "@entry" {
				in.Targets[n] = &elab.Target{AtEntry: true, Inner: n.Args[0]}
			}
		case *ast.Target:
			tg := &elab.Target{Type: types.Long, Args: castArgs(n)}
			if strings.HasPrefix(n.Name, "$str") || strings.HasPrefix(n.Name, "$$") {
				tg.Type = types.String
			}
			if strings.HasPrefix(n.Name, "$missing") {
				tg.Err = &diag.Diagnostic{Phase: diag.Semantic, Code: "no-variable", Span: n.Span, Message: n.Name +
					" does not exist"}
			}
			in.Targets[n] = tg
			for _, a := range tg.Args {
				fakeTargets(in, a)
			}
			return false
		}
		return true
	})
}

func (a *analyzed) text() string {
	var b strings.Builder
	(&diag.Printer{W: &b, Files: a.files}).Print(a.diags)
	return b.String()
}

func TestFirst(t *testing.T) {
	a := analyze(t, "x.stp", `
global n, names[100], s
function fact(k) { if (k < 2) return 1; return k * fact(k - 1) }
probe begin {
	n = fact(5)
	names[pid(), execname()] = "x" . sprint(n)
	s <<< n
	foreach ([p, e] in names- limit 5) printf("%d %s %s\n", p, e, names[p, e])
	println(@avg(s), $x, $strname)
	print(@hist_log(s))
	if (@defined($missing1)) println($missing1->foo) else println("none")
}`, Options{})
	if len(a.diags) > 0 {
		t.Fatal(a.text())
	}
	for _, g := range a.prog.Globals {
		t.Log(g.Name, g.Type, g.Keys, g.Stat, g.Read, g.Written)
	}
	for _, f := range a.prog.Funcs {
		t.Log(f.Name, f.Result, f.Intrinsic != nil)
	}
}

// BenchmarkAnalyze: what analysis costs beyond reading the script. The library's
// declarations are parsed anew each time, as in a fresh process.
func BenchmarkAnalyze(b *testing.B) {
	for _, s := range []struct{ name, text string }{
		{"println", `probe begin { println("hi") exit() }`},
		{"process", `probe begin { printf("%s %d %s\n", execname(), pid(), user_string($x)) }`},
		{"indent", `probe begin { printf("%s -> %s\n", thread_indent(1), ppfunc()) }`},
		{"histogram", `global t, s probe begin { t[tid()] = gettimeofday_ns() } probe end { s <<< gettimeofday_ns() - t[tid()] print(@hist_log(s)) }`},
	} {
		b.Run(s.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if a := analyze(b, "x.stp", s.text, Options{}); a.diags.HasErrors() {
					b.Fatal(a.text())
				}
			}
		})
		b.Run(s.name+"/parse-only", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				files := new(source.FileSet)
				_, ds := grammar.Parse(files.Add("x.stp", []byte(s.text)), grammar.Options{Files: files})
				if ds.HasErrors() {
					b.Fatal(ds)
				}
			}
		})
	}
}
