package expand

import (
	"sort"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/grammar"
)

type aliasDecl struct {
	name string
	decl *ast.Alias
}

func (a aliasDecl) Dotted() string                { return a.name }
func (a aliasDecl) Decl() (*ast.Alias, diag.List) { return a.decl, nil }

// expandText expands the probes of a script. Requests that begin with "no" do not resolve;
// each of the others has one site.
func expandText(t *testing.T, text string) ([]string, diag.List) {
	t.Helper()
	var fs source.FileSet
	file, ds := grammar.Parse(fs.Add("t.stp", []byte(text)), grammar.Options{Files: &fs})
	if ds.HasErrors() {
		t.Fatal(ds[0].Message)
	}
	var aliases []Alias
	var probes []*ast.Probe
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.Alias:
			for _, n := range d.Names {
				var parts []string
				for _, c := range n.Comps {
					parts = append(parts, c.Name)
				}
				aliases = append(aliases, aliasDecl{strings.Join(parts, "."), d})
			}
		case *ast.Probe:
			probes = append(probes, d)
		}
	}
	env := &Env{
		Aliases: func(string) []Alias { return aliases },
		Resolve: func(r probe.Request) ([]*probe.Site, diag.List) {
			if strings.HasPrefix(r.Comps[0].Name, "no") {
				var l diag.List
				l.Errorf(diag.Semantic, "no-match", r.Span, "no match for %s", r)
				return nil, l
			}
			s := &probe.Site{Point: r.String()}
			if r.Comps[0].Name == "kern" {
				s.Kind = probe.Kprobe
			}
			return []*probe.Site{s}, nil
		},
		Lacks: func(k probe.Kind) *diag.Diagnostic {
			if k != probe.Kprobe {
				return nil
			}
			return &diag.Diagnostic{Message: "no kprobes"}
		},
	}
	var out []string
	var all diag.List
	for _, p := range probes {
		items, ds := env.Probe(p.Points, p.Body)
		all = append(all, ds...)
		for _, it := range items {
			s := it.Req.String()
			var bodies []string
			for _, b := range it.Bodies {
				bodies = append(bodies, body(b))
			}
			s += " {" + strings.Join(bodies, " ") + "}"
			if it.Cond != nil {
				s += " if"
			}
			if it.Sites[0].Alias != it.Req.String() {
				s += " as " + it.Sites[0].Alias
			}
			out = append(out, s)
		}
	}
	return out, all
}

// body names a block by its first call.
func body(b *ast.Block) string {
	name := ""
	ast.Inspect(b, func(n ast.Node) bool {
		if c, ok := n.(*ast.Call); ok && name == "" {
			name = c.Fun.Name
		}
		return true
	})
	return name
}

func TestExpand(t *testing.T) {
	tests := []struct{ name, script, want string }{
		{"plain", `probe begin, end { b() }`, "begin {b}\nend {b}"},
		{"braces", `probe a.{x,y}.{p,q} { b() }`, "a.x.p {b}\na.x.q {b}\na.y.p {b}\na.y.q {b}"},
		{"braces with arguments", `probe process("p").{function("f"), statement("g@h:1")} { b() }`,
			`process("p").function("f") {b}` + "\n" + `process("p").statement("g@h:1") {b}`},
		{"prologue", `probe al = x { pro() } probe al { b() }`, "x {pro b} as al"},
		{"epilogue", `probe al += x { epi() } probe al { b() }`, "x {b epi} as al"},
		{"both", `probe al = x { pro() }, { epi() } probe al { b() }`, "x {pro b epi} as al"},
		{"nested", `probe inner = x { p2() }, { e2() } probe out = inner { p1() }, { e1() } probe out { b() }`,
			"x {p2 p1 b e1 e2} as out"},
		{"suffix", `probe al = process("p").function("f") { p() } probe al.return { b() }`,
			`process("p").function("f").return {p b} as al.return`},
		{"two names", `probe a1 = a2 = x { p() } probe a2 { b() }`, "x {p b} as a2"},
		{"several points", `probe al = x, y { p() } probe al { b() }`, "x {p b} as al\ny {p b} as al"},
		{"longer name first", `probe al = x { p() } probe al.return = y { q() } probe al.return { b() }`,
			"y {q b} as al.return"},
		{"shorter name", `probe al = x { p() } probe al.return = y { q() } probe al { b() }`, "x {p b} as al"},
		{"wildcard", `probe s.open = x { p() } probe s.close = y { q() } probe s.open.return = z { r() } probe s.* { b() }`,
			"x {p b} as s.open\ny {q b} as s.close"},
		{"wildcard and suffix", `probe s.open = x { p() } probe s.close = y { q() } probe s.open.return = z { r() } probe s.*.return { b() }`,
			"y.return {q b} as s.close.return\nz {r b} as s.open.return"},
		{"deep wildcard", `probe s.open = x { p() } probe s.open.return = z { r() } probe s.** { b() }`,
			"x {p b} as s.open\nz {r b} as s.open.return"},
		{"deep wildcard and more", `probe a.b.c.d = x { p() } probe a.**.d { b() }`, "x {p b} as a.b.c.d"},
		{"deep wildcard and suffix", `probe a.b.c = x { p() } probe a.**.d { b() }`, "x.d {p b} as a.b.c.d"},
		{"wildcard skips what is absent", `probe s.a = nothing { p() } probe s.b = y { q() } probe s.* { b() }`,
			"y {q b} as s.b"},
		{"optional", `probe nothing ?, x { b() }`, "x {b}"},
		{"sufficient", `probe nothing !, x !, y { b() }`, "x {b}"},
		{"sufficient in alias", `probe al = nothing !, x !, y { p() } probe al { b() }`, "x {p b} as al"},
		{"optional alias", `probe al = nothing { p() } probe al ?, x { b() }`, "x {b}"},
		{"optional inside of alias", `probe al = nothing ?, y { p() } probe al { b() }`, "y {p b} as al"},
		{"condition", `probe x if (g) { b() }`, "x {b} if"},
		{"condition of alias", `probe al = x if (g) { p() } probe al { b() }`, "x {p b} if as al"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ds := expandText(t, tt.script)
			if ds.HasErrors() {
				t.Fatalf("error: %s", ds[0].Message)
			}
			want := strings.Split(tt.want, "\n")
			if strings.Contains(tt.name, "wildcard") {
				sort.Strings(got)
				sort.Strings(want)
			}
			if strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

func TestExpandErrors(t *testing.T) {
	tests := []struct{ name, script, want string }{
		{"not there", `probe nothing { b() }`, "no match for nothing"},
		{"behind an alias", `probe al = nothing { p() } probe al { b() }`, "no match for nothing"},
		{"loop", `probe a = b { p() } probe b = a { p() } probe a { b() }`, "the alias a stands for itself"},
		{"self", `probe a = a.x { p() } probe a { b() }`, "the alias a stands for itself"},
		{"no such wildcard", `probe q.* { b() }`, ""},
		{"first component", `probe q* { b() }`, "no probe point or alias has a name like q*"},
		{"wildcard finds nothing", `probe s.a = nothing { p() } probe s.* { b() }`,
			"no match for s.*: nothing that it stands for is there"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ds := expandText(t, tt.script)
			if tt.want == "" {
				if ds.HasErrors() {
					t.Errorf("error %s", ds[0].Message)
				}
				return
			}
			if !ds.HasErrors() {
				t.Fatalf("no error, but %q", got)
			}
			if ds[0].Message != tt.want {
				t.Errorf("got %q, want %q", ds[0].Message, tt.want)
			}
		})
	}
}

func TestTooMany(t *testing.T) {
	_, ds := expandText(t, "probe "+strings.TrimSuffix(strings.Repeat("{a,b,c,d,e,f,g,h}.", 8), ".")+" { b() }")
	if !ds.HasErrors() || ds[0].Code != CodeTooMany {
		t.Errorf("got %v", ds)
	}
}

func TestGlob(t *testing.T) {
	for _, tt := range []struct {
		pat, s string
		want   bool
	}{
		{"a", "a", true}, {"a*", "abc", true}, {"a*", "a.b", false}, {"a**", "a.b", true}, {"*", "", true},
		{"*.b", "a.b", true},
		{"*b*", "abc", true}, {"**.z", "x.y.z", true}, {"a", "b", false}, {"", "", true}, {"", "a", false},
		{strings.Repeat("*a", 40) + "b", strings.Repeat("a", 60), false},
	} {
		if got := glob(tt.pat, tt.s); got != tt.want {
			t.Errorf("glob(%q, %q) = %v", tt.pat, tt.s, got)
		}
	}
}

// TestLacking: what the kernel cannot do is left out where the script says so with ? or !, or a wildcard found it;
// elsewhere the point stays, to be refused with the kernel's reason.
func TestLacking(t *testing.T) {
	const aliases = "probe a.b = kern.x {} probe a.c = begin {} probe w.b = kern.x {} probe alt = kern.x !, begin {} " +
		"probe all = kern.x !, kern.y {} "
	for script, want := range map[string]string{
		`probe kern.x {}`:                "kern.x {}",
		`probe kern.x ? {}`:              "",
		`probe kern.x ?, begin {}`:       "begin {}",
		`probe kern.x !, begin, end {}`:  "begin {} end {}",
		`probe kern.{x, y} ?, begin {}`:  "begin {}",
		`probe {kern.x ?, begin} {}`:     "begin {}",
		`probe a.b {}`:                   "kern.x { } as a.b",
		`probe a.b ? {}`:                 "",
		`probe a.* {}`:                   "begin { } as a.c",
		`probe w.* {}`:                   "error: no kprobes",
		`probe alt {}`:                   "begin { } as alt",
		`probe all {}`:                   "kern.y { } as all",
		`probe all ? {}`:                 "",
		`probe kern.x ?, nosuch {}`:      "error: no match for nosuch",
		`probe kern.x ? {} probe nos {}`: "error: no match for nos",
	} {
		got, ds := expandText(t, aliases+script)
		text := strings.Join(got, " ")
		if len(ds) > 0 {
			text = "error: " + ds[0].Message
		}
		if text != want {
			t.Errorf("%s: got %q, want %q", script, text, want)
		}
	}
}
