package oracle

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// cargs writes a C or C++ program of functions with random arguments that tell each number in them, and the script that tells the same at
// the functions' entries and at lines of their bodies.
type cargs struct {
	*rand.Rand
	plus        bool // C++
	src, script strings.Builder
	line        int
	structs     []cstruct
	calls       string
}

type cstruct struct {
	name  string
	union bool
	leafs []cleaf
}

// cleaf is a number in a type: how C gets at it behind a name, and how the script does.
type cleaf struct{ c, script string }

func (g *cargs) emit(format string, args ...any) {
	s := fmt.Sprintf(format+"\n", args...)
	g.line += strings.Count(s, "\n")
	g.src.WriteString(s)
}

func (g *cargs) one(s ...string) string { return s[g.IntN(len(s))] }

func (g *cargs) newStruct() {
	s := cstruct{name: fmt.Sprintf("s%d", len(g.structs)), union: g.IntN(6) == 0}
	kind := "struct"
	if s.union {
		kind = "union"
	}
	var b strings.Builder
	for i := range 1 + g.IntN(4) {
		f := fmt.Sprintf("m%d", i)
		if s.union && i > 0 {
			fmt.Fprintf(&b, " short %s;", f)
			continue
		}
		leaf := cleaf{"." + f, "->" + f}
		switch g.IntN(8) {
		case 0:
			fmt.Fprintf(&b, " %s %s : %d;", g.one("int", "unsigned", "long"), f, 1+g.IntN(20))
		case 1:
			fmt.Fprintf(&b, " %s %s[3];", g.one("char", "short", "int"), f)
			leaf.c, leaf.script = leaf.c+"[1]", leaf.script+"[1]"
		case 2:
			fmt.Fprintf(&b, " %s %s;", g.one("double", "float"), f)
			continue
		default:
			fmt.Fprintf(&b, " %s %s;", g.one("char", "unsigned char", "short", "int", "unsigned", "long", "long"), f)
		}
		s.leafs = append(s.leafs, leaf)
	}
	g.emit("typedef %s %s {%s } %s;", kind, s.name, b.String(), s.name)
	g.structs = append(g.structs, s)
}

// function writes function n, calls of it and its probes.
func (g *cargs) function(n int) {
	var params, args, leafs, exprs []string
	for i := range 1 + g.IntN(11) {
		p := fmt.Sprintf("p%d", i)
		add := func(c, script string) { leafs, exprs = append(leafs, c), append(exprs, script) }
		switch k := g.IntN(12); {
		case k < 3 && len(g.structs) > 0:
			s := g.structs[g.IntN(len(g.structs))]
			how := g.IntN(3)
			if how == 2 && !g.plus {
				how = 1
			}
			params = append(params, []string{s.name + " " + p, s.name + " *" + p, "const " + s.name + " &" + p}[how])
			args = append(args, []string{"fill_%s(k + %d)", "keep_%s(k + %d)", "*keep_%s(k + %d)"}[how])
			args[len(args)-1] = fmt.Sprintf(args[len(args)-1], s.name, i)
			for _, l := range s.leafs {
				c := p + l.c
				if how == 1 {
					c = "(*" + p + ")" + l.c
				}
				add(c, "$"+p+l.script)
			}
		case k == 3:
			params, args = append(params, g.one("double ", "float ")+p), append(args, "k * 0.5")
		case k == 4:
			params, args = append(params, "int *"+p), append(args, fmt.Sprintf("keep(k * %d)", i+2))
			add("*"+p, "$"+p+"[0]")
		case k == 5:
			params, args = append(params, "enum color "+p), append(args, "(k & 1 ? red : blue)")
			add(p, "$"+p)
		case k == 6 && g.IntN(2) == 0:
			params, args = append(params, "long double "+p), append(args, "k * 0.25L")
		default:
			params = append(params, g.one("char ", "signed char ", "unsigned char ", "short ", "unsigned short ", "int ", "unsigned ", "long ", "unsigned long ", "_Bool ")+p)
			if g.plus {
				params[len(params)-1] = strings.Replace(params[len(params)-1], "_Bool", "bool", 1)
			}
			args = append(args, fmt.Sprintf("k * %d - %d", 3+i*g.IntN(90), g.IntN(200)))
			add(p, "$"+p)
		}
	}
	static := g.one("", "", "static ")
	g.emit("%s__attribute__((noinline)) long f%d(%s)", static, n, strings.Join(params, ", "))
	g.emit("{")
	if g.IntN(3) == 0 {
		g.emit("\tvolatile char room[%d]; room[3] = 1; sink += room[3];", 8+g.IntN(300))
	}
	g.emit("\tsink += %d;", n)
	lines := []int{g.line}
	for i, c := range leafs {
		g.emit("\ttell(%d, %d, (long)(%s));", n, i, c)
		if i == len(leafs)/2 {
			lines = append(lines, g.line)
			g.emit("\tsink += lots(%d, 2, 3, 4, 5, 6, 7, 8, sink);", n)
		}
	}
	g.emit("\treturn sink;")
	g.emit("}")
	g.calls += fmt.Sprintf("\tfor (int k = 1; k < 4; k++) sink += f%d(%s);\n", n, strings.Join(args, ", "))
	probes := []string{fmt.Sprintf("process(@1).function(\"f%d\").call", n)}
	for _, l := range lines {
		probes = append(probes, fmt.Sprintf("process(@1).statement(\"f%d@args.c*:%d\") ?", n, l))
	}
	for place, p := range probes {
		fmt.Fprintf(&g.script, "probe %s {\n", p)
		for i, e := range exprs {
			fmt.Fprintf(&g.script, "\tif (@defined(%s)) printf(\"GOT %d %d %d %%d\\n\", %s) else printf(\"GOT %d %d %d ?\\n\")\n", e, place, n, i, e, place, n, i)
		}
		g.script.WriteString("}\n")
	}
}

func (g *cargs) program(funcs int) string {
	g.emit("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\nenum color { red = 3, blue = -7 };\nvolatile long sink;")
	g.emit("__attribute__((noinline)) void tell(int f, int i, long v) { printf(\"TOLD %%d %%d %%ld\\n\", f, i, v); }")
	g.emit("__attribute__((noinline)) int *keep(int v) { int *p = (int *)malloc(sizeof *p); *p = v; return p; }")
	g.emit("__attribute__((noinline)) long lots(int a, long b, int c, long d, int e, int f, long g, int h, long i) { return a + b + c + d + e + f + g + h + i; }")
	for range 5 {
		g.newStruct()
	}
	for _, s := range g.structs {
		g.emit("static %s fill_%s(int k) { %s v; memset(&v, 0, sizeof v); for (unsigned i = 0; i < sizeof v; i++) ((unsigned char *)&v)[i] = k * 37 + i * 11; return v; }", s.name, s.name, s.name)
		g.emit("static %s *keep_%s(int k) { %s *p = (%s *)malloc(sizeof *p); *p = fill_%s(k); return p; }", s.name, s.name, s.name, s.name, s.name)
	}
	for n := range funcs {
		g.function(n)
	}
	return g.src.String() + "int main(void)\n{\n" + g.calls + "}\n"
}

// TestArguments: arguments of C and C++ functions are what the functions tell, at entries and at lines.
func TestArguments(t *testing.T) {
	needRoot(t)
	var all Figures
	for _, seed := range Seeds(1, 12) {
		for _, plus := range []bool{false, true} {
			g := &cargs{Rand: rand.New(rand.NewPCG(seed, 4)), plus: plus}
			source, name := g.program(6), "args.c"
			if plus {
				name = "args.cc"
			}
			dir := t.TempDir()
			write(t, dir, name, source)
			write(t, dir, "args.stp", g.script.String())
			for _, b := range argBuilds(t, plus) {
				if !Full() && plus && b.flags[0] != "-O2" {
					continue
				}
				must(t, dir, nil, b.cc, append(append([]string{}, b.flags...), "-w", "-g", "-o", "args", name)...)
				out, errs, err := trace(t, dir, nil, "-w", "args.stp", "./args", "-c", "./args")
				if err != nil {
					t.Fatalf("seed %d %s: %v\n%s", seed, b, err, errs)
				}
				compareArguments(&all, fmt.Sprintf("seed %d %s", seed, b), out)
			}
		}
	}
	all.Report(t, 100)
}

// argBuilds are cBuilds with other kinds of frames.
func argBuilds(t *testing.T, plus bool) (out []cBuild) {
	for _, b := range cBuilds(t) {
		if plus {
			b.cc = map[string]string{"gcc": "g++", "clang": "clang++"}[b.cc]
		}
		out = append(out, b)
		switch {
		case b.flags[0] == "-O0":
			out = append(out, cBuild{b.cc, []string{"-O0", "-fomit-frame-pointer"}})
		case b.flags[0] == "-O2" && Full():
			out = append(out, cBuild{b.cc, []string{"-O2", "-fno-omit-frame-pointer"}}, cBuild{b.cc, []string{"-O2", "-no-pie", "-fno-pie", "-gdwarf-4"}})
		}
	}
	return out
}

// compareArguments holds what was seen at each place against what the functions told, in order.
func compareArguments(f *Figures, name, out string) {
	said, got := map[string][]string{}, map[string][]string{}
	for line := range strings.Lines(out) {
		switch w := strings.Fields(line); {
		case len(w) == 4 && w[0] == "TOLD":
			said[w[1]+" "+w[2]] = append(said[w[1]+" "+w[2]], w[3])
		case len(w) == 5 && w[0] == "GOT":
			k := strings.Join(w[1:4], " ")
			got[k] = append(got[k], w[4])
		}
	}
	places := [...]string{"the entry", "the first line", "a line in the middle"}
	for k, values := range got {
		place, leaf, _ := strings.Cut(k, " ")
		where := places[place[0]-'0']
		want := said[leaf]
		if len(values) != len(want) {
			f.Note(fmt.Sprintf("hits at %s that are not those of the calls", where), 1)
			continue
		}
		for i, v := range values {
			switch {
			case v == "?":
				f.Refused("at " + where)
			case v != want[i]:
				f.Wrong("%s: function and number %s at %s: %s, it is %s", name, leaf, where, v, want[i])
			default:
				f.Equal(1)
			}
		}
	}
}
