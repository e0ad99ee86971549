package oracle

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// cargs writes a C or C++ program of functions with random arguments that tell each number in them, and the script
// that tells the same at the functions' entries and at lines of their bodies.
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
	alone bool // nothing is derived from it or holds it: it cannot be copied
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
		f := fmt.Sprintf("m%d_%d", len(g.structs), i)
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
			fmt.Fprintf(&b, " %s %s;", g.one("double", "float", "float", "long double", "__int128", "_Complex float",
				"_Complex double"), f)
			continue
		default:
			fmt.Fprintf(&b, " %s %s;", g.one("char", "unsigned char", "short", "int", "unsigned", "long", "long"), f)
		}
		s.leafs = append(s.leafs, leaf)
	}
	g.emit("typedef %s %s {%s } %s;", kind, s.name, b.String(), s.name)
	g.structs = append(g.structs, s)
}

// newClass writes a class with bases, members and functions that decide how it is passed.
func (g *cargs) newClass() {
	s := cstruct{name: fmt.Sprintf("c%d", len(g.structs))}
	var bases []string
	var b strings.Builder
	if g.IntN(3) == 0 {
		bases = append(bases, "empty")
	}
	for i, old := range g.structs {
		if old.alone || g.IntN(4) > 0 {
			continue
		}
		leafs := old.leafs
		if g.IntN(3) > 0 && !old.union {
			bases = append(bases, old.name)
		} else {
			fmt.Fprintf(&b, " %s of%d;", old.name, i)
			leafs = nil
			for _, l := range old.leafs {
				leafs = append(leafs, cleaf{fmt.Sprintf(".of%d%s", i, l.c), fmt.Sprintf("->of%d%s", i, l.script)})
			}
		}
		s.leafs = append(s.leafs, leafs...)
		break
	}
	for i := range g.IntN(3) {
		f := fmt.Sprintf("m%d_%d", len(g.structs), i)
		fmt.Fprintf(&b, " %s %s;", g.one("char", "short", "int", "long"), f)
		s.leafs = append(s.leafs, cleaf{"." + f, "->" + f})
	}
	n := s.name
	whole := " memcpy((void *)this, (const void *)&o, sizeof *this); sink += 1; }"
	more := [...]string{
		"", "", fmt.Sprintf(" %s(const %s &) = default;", n, n), fmt.Sprintf(" ~%s() = default;", n),
		fmt.Sprintf(" %s(const %s &o) {%s", n, n, whole), fmt.Sprintf(" ~%s() { sink += 1; }", n),
		" virtual long v() { return sink; }", fmt.Sprintf(" template<class T> %s(const T &o, int) { sink += 1; }", n),
		fmt.Sprintf(" %s(const %s &o, int k = 3) {%s", n, n, whole),
		fmt.Sprintf(" explicit %s(%s &&) = default;", n, n),
		fmt.Sprintf(" %s(const %s &) = delete; %s(%s &&) = default;", n, n, n, n),
		fmt.Sprintf(" %s(%s &&o) {%s", n, n, whole),
	}
	how := g.IntN(len(more))
	if how == 9 {
		how = 1 // an explicit one cannot be passed at all
	}
	s.alone = how >= 9
	for i, base := range bases {
		bases[i] = []string{": ", ", "}[min(i, 1)] + base
	}
	g.emit("struct %s %s {%s %s() {}%s };", n, strings.Join(bases, ""), b.String(), n, more[how])
	var set strings.Builder
	for i, l := range s.leafs {
		fmt.Fprintf(&set, " v%s = k * %d + %d;", l.c, 7+i, i)
	}
	g.emit("static %s fill_%s(int k) { %s v;%s return v; }", n, n, n, set.String())
	g.emit("static %s *keep_%s(int k) { return new %s(fill_%s(k)); }", n, n, n, n)
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
			params = append(params, g.one("char ", "signed char ", "unsigned char ", "short ", "unsigned short ",
				"int ", "unsigned ", "long ", "unsigned long ", "_Bool ")+p)
			if g.plus {
				params[len(params)-1] = strings.Replace(params[len(params)-1], "_Bool", "bool", 1)
			}
			args = append(args, fmt.Sprintf("k * %d - %d", 3+i*g.IntN(90), g.IntN(200)))
			add(p, "$"+p)
		}
	}
	static, result := g.one("", "", "static "), cstruct{name: "long", leafs: []cleaf{{}}}
	if g.IntN(2) == 0 {
		result = g.structs[g.IntN(len(g.structs))]
	}
	g.emit("%s__attribute__((noinline)) %s f%d(%s)", static, result.name, n, strings.Join(params, ", "))
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
	if result.name == "long" {
		g.emit("\tlong r = sink;")
	} else {
		g.emit("\t%s r = fill_%s(sink);", result.name, result.name)
	}
	fmt.Fprintf(&g.script, "probe process(@1).function(\"f%d\").return {\n", n)
	for i, l := range result.leafs {
		e, leaf := "$return"+l.script, len(leafs)+i
		g.emit("\ttell(%d, %d, (long)(r%s));", n, leaf, l.c)
		g.got(e, 3, n, leaf)
	}
	g.script.WriteString("}\n")
	g.emit("\treturn r;")
	g.emit("}")
	g.calls += fmt.Sprintf("\tfor (int k = 1; k < 4; k++) f%d(%s);\n", n, strings.Join(args, ", "))
	probes := []string{fmt.Sprintf("process(@1).function(\"f%d\").call", n)}
	for _, l := range lines {
		probes = append(probes, fmt.Sprintf("process(@1).statement(\"f%d@args.c*:%d\") ?", n, l))
	}
	for place, p := range probes {
		fmt.Fprintf(&g.script, "probe %s {\n", p)
		for i, e := range exprs {
			g.got(e, place, n, i)
		}
		g.script.WriteString("}\n")
	}
}

// got has the script print one number, of function n at a place.
func (g *cargs) got(e string, place, n, leaf int) {
	const text = "\tif (@defined(%[1]s)) printf(\"GOT %[2]d %[3]d %[4]d %%d\\n\", %[1]s) else printf(\"GOT %[2]d " +
		"%[3]d %[4]d ?\\n\")\n"
	fmt.Fprintf(&g.script, text, e, place, n, leaf)
}

func (g *cargs) program(funcs int) string {
	g.emit("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\nenum color { red = 3, blue = -7 " +
		"};\nvolatile long sink;")
	g.emit("__attribute__((noinline)) void tell(int f, int i, long v) { printf(\"TOLD %%d %%d %%ld\\n\", f, i, v); }")
	g.emit("__attribute__((noinline)) int *keep(int v) { int *p = (int *)malloc(sizeof *p); *p = v; return p; }")
	g.emit("__attribute__((noinline)) long lots(int a, long b, int c, long d, int e, int f, long g, int h, long i) { " +
		"return a + b + c + d + e + f + g + h + i; }")
	for range 5 {
		g.newStruct()
	}
	for _, s := range g.structs {
		g.emit("static %s fill_%s(int k) { %s v; memset(&v, 0, sizeof v); for (unsigned i = 0; i < sizeof v; i++) "+
			"((unsigned char *)&v)[i] = k * 37 + i * 11; return v; }", s.name, s.name, s.name)
		g.emit("static %s *keep_%s(int k) { %s *p = (%s *)malloc(sizeof *p); *p = fill_%s(k); return p; }", s.name,
			s.name, s.name, s.name, s.name)
	}
	if g.plus {
		g.emit("struct empty { };")
		for range 8 {
			g.newClass()
		}
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
	t.Run("builds", func(t *testing.T) { argumentsOf(t, &all) }) // ends when all of them have
	all.Report(t, 100)
}

// argumentsOf compares in all builds, a few of them at the same time: most of it is waiting for compilers.
func argumentsOf(t *testing.T, all *Figures) {
	for _, seed := range Seeds(1, 12) {
		for _, plus := range []bool{false, true} {
			g := &cargs{Rand: rand.New(rand.NewPCG(seed, 4)), plus: plus}
			source, name := g.program(6), "args.c"
			if plus {
				name = "args.cc"
			}
			for _, b := range argBuilds(t, plus) {
				if !Full() && plus && b.flags[0] != "-O2" {
					continue
				}
				what := fmt.Sprintf("seed %d %s", seed, b)
				t.Run(what, func(t *testing.T) {
					t.Parallel()
					dir := t.TempDir()
					write(t, dir, name, source)
					write(t, dir, "args.stp", g.script.String())
					must(t, dir, nil, b.cc, append(append([]string{}, b.flags...), "-w", "-g", "-o", "args", name)...)
					out, errs, err := trace(t, dir, nil, "-w", "args.stp", "./args", "-c", "./args")
					if err != nil {
						t.Fatalf("%v\n%s", err, errs)
					}
					compareArguments(all, what, out)
				})
			}
		}
	}
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
			out = append(out, cBuild{b.cc, []string{"-O2", "-fno-omit-frame-pointer"}},
				cBuild{b.cc, []string{"-O2", "-no-pie", "-fno-pie", "-gdwarf-4"}})
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
	places := [...]string{"the entry", "the first line", "a line in the middle", "the return"}
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
