package oracle

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// classes writes a C++ program of random classes and of functions that take them: bases (several, virtual ones),
// bit-fields, unions and structs without a name, members that are references, enumerations with a scope, functions
// that are virtual and reached through thunks, templates, lambdas with captures, namespaces.
type classes struct {
	*rand.Rand
	src   strings.Builder
	all   []cxxClass
	calls strings.Builder
}

type cxxClass struct {
	name    string   // with its scopes
	short   string   // without
	numbers []string // members that are numbers, its own and of bases, by the names that C++ finds them by
	set     string   // statements that give each of its own a value, by k
	virtual bool     // it has a virtual function vN of its own
	n       int
}

const classesHead = `#include <cstdio>
#include <cstring>
volatile long sink;
__attribute__((noinline)) long use(long v) { sink += v; return v; }
enum class hue : short { red = 3, blue = -7 };
static int store[64];
struct empty {};
`

// lambdaLines is how many lines behind its first a lambda ends.
const lambdaLines = 4

func (g *classes) emit(format string, args ...any) { fmt.Fprintf(&g.src, format+"\n", args...) }

func (g *classes) one(s ...string) string { return s[g.IntN(len(s))] }

// fields writes members of class n and how they are set.
func (g *classes) fields(c *cxxClass, count int) string {
	var b strings.Builder
	add := func(name, value string) {
		c.numbers = append(c.numbers, name)
		c.set += fmt.Sprintf(" %s = %s;", name, value)
	}
	for i := range count {
		m := fmt.Sprintf("m%d_%d", c.n, i)
		v := fmt.Sprintf("k * %d + %d", g.IntN(90)-40, g.IntN(200)-100)
		switch g.IntN(10) {
		case 0:
			fmt.Fprintf(&b, " %s %s : %d;", g.one("int", "unsigned", "long", "short"), m, 2+g.IntN(14))
			add(m, v)
		case 1:
			fmt.Fprintf(&b, " union { int %[1]su; unsigned char %[1]sc[4]; };", m)
			add(m+"u", v)
		case 2:
			fmt.Fprintf(&b, " struct { short %[1]sx; struct { char %[1]sy; }; };", m)
			add(m+"x", v)
			add(m+"y", v)
		case 3:
			fmt.Fprintf(&b, " int &%s = store[%d];", m, g.IntN(64))
			add(m, v)
		case 4:
			fmt.Fprintf(&b, " hue %s = hue::blue;", m)
		case 5:
			fmt.Fprintf(&b, " %s %s[3] = {1, 2, 3};", g.one("char", "short", "int", "long"), m)
			add(m+"[1]", v)
		case 6:
			fmt.Fprintf(&b, " %s %s = 1;", g.one("double", "float"), m)
		case 7:
			fmt.Fprintf(&b, " bool %s;", m)
			add(m, "k & 1")
		default:
			fmt.Fprintf(&b, " %s %s;", g.one("char", "unsigned char", "short", "int", "unsigned", "long", "long"), m)
			add(m, v)
		}
	}
	return b.String()
}

// class writes one class with its functions.
func (g *classes) class(n int) {
	c := cxxClass{n: n, short: fmt.Sprintf("c%d", n)}
	// Class number 1 has two bases and 2 a virtual one, so that there are always thunks; 3 is small and trivial.
	var bases []string
	inherited := map[int]bool{}
	for i, old := range g.all {
		want := g.IntN(4) == 0
		if n == 2 {
			want = true
		}
		if !want || n == 3 || len(inherited) == 2 || g.derived(old, inherited) {
			continue
		}
		inherited[i] = true
		bases = append(bases, g.one("", "", "virtual ")+old.name)
		c.numbers = append(c.numbers, old.numbers...)
	}
	if g.IntN(5) == 0 {
		bases = append(bases, "empty")
	}
	count := 1 + g.IntN(5)
	if n == 3 {
		count = 2
	}
	fields := g.fields(&c, count)
	head := ""
	if len(bases) > 0 {
		head = " : " + strings.Join(bases, ", ")
	}
	space := ""
	switch n % 3 {
	case 1:
		space = "outer"
	case 2:
		space = "outer::inner"
	}
	c.name = c.short
	open, shut := "", ""
	if space != "" {
		c.name = space + "::" + c.short
		for _, s := range strings.Split(space, "::") {
			open, shut = open+"namespace "+s+" { ", shut+" }"
		}
	}
	g.emit("%sstruct %s%s {%s", open, c.short, head, fields)
	set := ""
	for i := range g.all {
		if inherited[i] {
			set += fmt.Sprintf(" %s::set%d(k + %d);", g.all[i].name, g.all[i].n, i)
		}
	}
	g.emit("\tvoid set%d(int k) {%s%s }", n, set, c.set)
	kind := g.IntN(5)
	if n < 2 {
		kind = 0
	}
	if n == 3 {
		kind = 4
	}
	switch kind {
	case 0, 1:
		c.virtual = true
		g.emit("\tvirtual long v%d(int a);", n)
	case 2:
		g.emit("\t%[1]s() {} %[1]s(const %[1]s &o) { memcpy((void *)this, (const void *)&o, sizeof *this); }", c.short)
	case 3:
		g.emit("\t~%s() { sink += 1; }", c.short)
	}
	var over []cxxClass
	for i := range g.all {
		if inherited[i] && g.all[i].virtual {
			over = append(over, g.all[i])
			g.emit("\tlong v%d(int a) override;", g.all[i].n)
		}
	}
	g.emit("\t__attribute__((noinline)) long plain%d(int a, %s &o);", n, c.short)
	g.emit("\tstatic long fixed%d(%s *p, long b);", n, c.short)
	g.emit("};%s", shut)
	g.all = append(g.all, c)
	for _, v := range append(over, c) {
		if v.virtual {
			g.emit("__attribute__((noinline)) long %s::v%d(int a)\n{", c.name, v.n)
			g.body(c, "this->", "a")
			g.emit("}")
		}
	}
	g.emit("long %s::plain%d(int a, %s &o)\n{", c.name, n, c.short)
	g.body(c, "o.", "a")
	g.emit("}")
	g.emit("__attribute__((noinline)) long %s::fixed%d(%s *p, long b)\n{", c.name, n, c.short)
	g.body(c, "p->", "b")
	g.emit("}")
	fmt.Fprintf(&g.calls, "\t\t{\n\t\t\t%[1]s o, *p = &o;\n\t\t\to.set%[2]d(k);\n"+
		"\t\t\tsink += o.plain%[2]d(k + 1, *p);\n\t\t\tsink += %[1]s::fixed%[2]d(p, k - 9);\n", c.name, n)
	for _, v := range over {
		fmt.Fprintf(&g.calls, "\t\t\tsink += call%d(p, k);\n", v.n)
	}
	if c.virtual {
		g.emit("__attribute__((noinline)) long call%d(%s *p, int k) { return p->v%d(k + 3); }", n, c.name, n)
		fmt.Fprintf(&g.calls, "\t\t\tsink += call%d(p, k);\n", n)
	}
	g.calls.WriteString("\t\t}\n")
}

// derived reports whether old has a base or is a base of one in set: names would be ambiguous.
func (g *classes) derived(old cxxClass, set map[int]bool) bool {
	has := map[string]bool{}
	for i := range set {
		for _, m := range g.all[i].numbers {
			has[m] = true
		}
	}
	for _, m := range old.numbers {
		if has[m] {
			return true
		}
	}
	return false
}

// body writes statements that use numbers behind of, and a parameter that is a number; it ends with a return.
func (g *classes) body(c cxxClass, of, param string) {
	number := func() string {
		if len(c.numbers) == 0 || g.IntN(4) == 0 {
			return param
		}
		return of + g.one(c.numbers...)
	}
	g.emit("\tlong l0 = %s + 3;", number())
	g.emit("\tint l1 = use(l0) * %d;", 1+g.IntN(9))
	switch g.IntN(4) {
	case 0:
		g.emit("\tfor (int i = 0; i < 2; i++) {")
		g.emit("\t\tshort l0 = i * 5 + %s;", number())
		g.emit("\t\tsink += l0;")
		g.emit("\t\tl1 += use(l0 + i);")
		g.emit("\t}")
	case 1:
		g.emit("\tauto lam = [l0, &l1](int z)%s -> long {", g.one("", " __attribute__((noinline))"))
		g.emit("\t\tlong q = z * 3 + l0;")
		g.emit("\t\tl1 += use(q);")
		g.emit("\t\treturn q + l1;")
		g.emit("\t};")
		g.emit("\tsink += lam(l0 & 15);")
		g.emit("\tl0 += lam(%s);", param)
	case 2:
		g.emit("\tif (%s & 1) {", number())
		g.emit("\t\tunsigned char low = %s;", number())
		g.emit("\t\tl1 ^= use(low);")
		g.emit("\t}")
	}
	g.emit("\tl0 += %s;", number())
	g.emit("\tsink += l0;")
	g.emit("\treturn use(l0 ^ l1) + %s;", number())
}

// functions writes functions that take and return classes in all ways, and templates.
func (g *classes) functions() {
	for i, c := range g.all {
		number := "1"
		if len(c.numbers) > 0 {
			number = "x." + g.one(c.numbers...)
		}
		how := g.one("", "&", "const &", "&&")
		param := c.name + " " + how + "x"
		if how == "const &" {
			param = "const " + c.name + " &x"
		}
		static := g.one("", "static ")
		g.emit("%s__attribute__((noinline)) %s give%d(int k)\n{\n\t%s r;\n\tr.set%d(k);\n\tuse(k);\n\treturn r;\n}",
			static, c.name, i, c.name, c.n)
		more := g.one("long b", "short b", "bool b", "hue b", "unsigned char b")
		g.emit("%s__attribute__((noinline)) int take%d(%s, %s, const int &c)\n{", static, i, param, more)
		g.emit("\tint t = %s + c;\n\tuse(t);\n\tsink += (long)b;\n\treturn use(t + %s) + c;\n}", number, number)
		g.emit("template<class T> __attribute__((noinline)) T generic%d(T a, %s &x)\n{", i, c.name)
		g.emit("\tT t = a;\n\tt += %s;\n\tuse(t);\n\treturn t + a;\n}", number)
		give := fmt.Sprintf("g%d", i)
		if how == "&&" {
			give = fmt.Sprintf("static_cast<%s &&>(g%d)", c.name, i)
		}
		b := "k * 77"
		if strings.HasPrefix(more, "hue") {
			b = "hue::red"
		}
		fmt.Fprintf(&g.calls, "\t\t{\n\t\t\t%s g%d = give%d(k);\n\t\t\tsink += take%d(%s, %s, k);\n", c.name, i, i, i,
			give, b)
		fmt.Fprintf(&g.calls, "\t\t\tsink += generic%[1]d<%[2]s>(k, g%[1]d);\n\t\t}\n", i, g.one("int", "long",
			"unsigned char", "short"))
	}
}

func (g *classes) program(n int) string {
	g.src.WriteString(classesHead)
	for i := range n {
		g.class(i)
	}
	g.functions()
	return g.src.String() + "int main()\n{\n\tfor (int k = 1; k < 3; k++) {\n" + g.calls.String() + "\t}\n}\n"
}

// TestCxxGdb: variables of C++ at lines and entries, and results, are what gdb reads at the same addresses.
func TestCxxGdb(t *testing.T) {
	needRoot(t)
	need(t, "gdb")
	need(t, "setarch")
	var all Figures
	for _, seed := range Seeds(1, 8) {
		g := &classes{Rand: rand.New(rand.NewPCG(seed, 21))}
		classes := 4
		if Full() {
			classes = 6
		}
		source := g.program(classes)
		for _, b := range cBuilds(t) {
			if !Full() && b.flags[0] == "-O0" {
				continue
			}
			b.cc = map[string]string{"gcc": "g++", "clang": "clang++"}[b.cc]
			what := fmt.Sprintf("seed %d %s", seed, b)
			t.Run(strings.ReplaceAll(what, " ", "_"), func(t *testing.T) {
				dir := t.TempDir()
				write(t, dir, "classes.cc", source)
				args := append([]string{"-w", "-g", "-no-pie", "-fno-pie", "-o", "prog"}, b.flags...)
				if b.cc == "g++" {
					args = append(args, "-gno-variable-location-views") // gdb does not know them
				}
				must(t, dir, nil, b.cc, append(args, "classes.cc")...)
				var f Figures
				againstWalk(t, &f, what, dir, "prog", "classes.cc", b.flags[0] != "-O0", lambdaToCome)
				t.Logf("%s: %s", what, &f)
				all.Add(&f)
			})
		}
	}
	all.Report(t, 300)
}

// lambdaToCome tells the captures of a lambda on the lines of its own expression: without optimisation the object is
// made when the last of them is come to, and gdb shows what was on the stack before, as far as a pointer there leads.
func lambdaToCome(_ string, v walkValue) string {
	if strings.HasPrefix(v.expr, "$lam->") && v.lines <= lambdaLines {
		return "captures of a lambda that is yet to be made"
	}
	return ""
}
