package oracle

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// results writes a C program, which C++ takes as well, of functions that return numbers and structs in all ways: made
// there, read from memory, constants, arguments, what another function returned, and by a jump to that function. Their
// callers use what they return, or do not. Built with -DTELL the functions tell what they return.
type results struct {
	*rand.Rand
	src, script strings.Builder
	kinds       []resultKind
	funcs       [][2]int // kind, and how often it was called from elsewhere
}

// resultKind is a type: how one is made from the number v, and the numbers in it, for C and for the script.
type resultKind struct {
	typ, make string
	leafs     [][2]string
}

var resultKinds = []resultKind{
	{"int", "(int)(v)", [][2]string{{"V", "$return"}}},
	{"long", "(long)(v)", [][2]string{{"V", "$return"}}},
	{"char", "(char)(v)", [][2]string{{"V", "$return"}}},
	{"ushort", "(unsigned short)(v)", [][2]string{{"V", "$return"}}},
	{"flag", "(flag)((v) & 1)", [][2]string{{"V", "$return"}}},
	{"color", "((v) & 1 ? red : blue)", [][2]string{{"V", "$return"}}},
	{"intp", "&cells[(v) & 7]", [][2]string{{"*V", "$return[0]"}}},
	{"pair", "mk_pair(v)", [][2]string{{"V.a", "$return->a"}, {"V.b", "$return->b"}}},
	{"two", "mk_two(v)", [][2]string{{"V.a", "$return->a"}, {"V.b", "$return->b"}}},
	{"mixed", "mk_mixed(v)", [][2]string{{"V.a", "$return->a"}}},
	{"bits", "mk_bits(v)", [][2]string{{"V.a", "$return->a"}, {"V.b", "$return->b"}}},
	{"three", "mk_three(v)", [][2]string{{"V.a", "$return->a"}, {"V.c", "$return->c"}}},
	{"arr", "mk_arr(v)", [][2]string{{"V.a[1]", "$return->a[1]"}}},
	{"real", "(double)(v)", [][2]string{{"V", "$return"}}},
}

const resultsHead = `#include <stdio.h>
#include <stdlib.h>
typedef unsigned short ushort; typedef _Bool_ flag; typedef int *intp; typedef double real;
typedef enum { red = 3, blue = -7 } color;
typedef struct { int a, b; } pair;
typedef struct { long a, b; } two;
typedef struct { double d; long a; } mixed;
typedef struct { int a : 5; unsigned b : 11; } bits;
typedef struct { long a, b, c; } three;
typedef struct { short a[3]; } arr;
#define NI static __attribute__((noinline))
volatile long sink;
int cells[8] = {10, 11, 12, 13, 14, 15, 16, 17};
static inline pair mk_pair(long v) { pair r = {(int)v, (int)-v}; return r; }
static inline two mk_two(long v) { two r = {v, v * 3}; return r; }
static inline mixed mk_mixed(long v) { mixed r = {(double)v, v + 1}; return r; }
static inline bits mk_bits(long v) { bits r; r.a = v & 15; r.b = v & 1023; return r; }
static inline three mk_three(long v) { three r = {v, v + 1, v + 2}; return r; }
static inline arr mk_arr(long v) { arr r = {{1, (short)v, 3}}; return r; }
__attribute__((noinline)) void tell(int f, int leaf, long v) { printf("TOLD %d %d %ld\n", f, leaf, v); }
#ifdef TELL
#define RET(f, T, e) do { T r_ = (e); tell_##T(f, r_); return r_; } while (0)
#else
#define RET(f, T, e) return (e)
#endif
`

func (g *results) emit(format string, args ...any) { fmt.Fprintf(&g.src, format+"\n", args...) }

// callee is a function of the same kind that was written before.
func (g *results) callee(kind int) string {
	var some []int
	for n, f := range g.funcs {
		if f[0] == kind && n < len(g.funcs)-1 {
			some = append(some, n)
		}
	}
	if len(some) == 0 {
		return ""
	}
	return fmt.Sprintf("f%d", some[g.IntN(len(some))])
}

func (g *results) function(kind int) {
	n := len(g.funcs)
	g.funcs = append(g.funcs, [2]int{kind, 0})
	k := g.kinds[kind]
	static := "NI"
	if g.IntN(4) == 0 {
		static = "__attribute__((noinline))"
	}
	g.emit("%s %s f%d(long x)\n{\n\tsink += %d;", static, k.typ, n, n)
	ret := func(e string) string { return fmt.Sprintf("RET(%d, %s, %s);", n, k.typ, e) }
	made := func(e string) string { return strings.ReplaceAll(k.make, "v", "("+e+")") }
	if strings.HasPrefix(k.make, "mk_") {
		made = func(e string) string { return "mk_" + k.typ + "(" + e + ")" }
	}
	way := func() string {
		c := g.callee(kind)
		switch w := g.IntN(12); {
		case c != "" && w < 3:
			return ret(fmt.Sprintf("%s(x + %d)", c, g.IntN(5)))
		case c != "" && w == 3:
			return fmt.Sprintf("%s r = %s(x * 2); sink += 1; %s", k.typ, c, ret("r"))
		case c != "" && w == 4:
			return ret(fmt.Sprintf("(sink & 1 ? %s : via_%s)(x)", c, k.typ))
		case c != "" && w == 5:
			return ret(fmt.Sprintf("via_%s(x)", k.typ))
		case w == 6:
			return ret(made("sink"))
		case w == 7:
			return ret(fmt.Sprintf("some_%s[x & 3]", k.typ))
		case w == 8:
			return ret(made(fmt.Sprint(g.IntN(100))))
		case w == 9:
			return ret(made("x"))
		case w == 10:
			return fmt.Sprintf("long s = 0; for (int i = 0; i < (x & 3); i++) s += cells[i]; %s", ret(made("s")))
		}
		return ret(made(fmt.Sprintf("x * %d + %d", 3+g.IntN(9), g.IntN(100))))
	}
	for i := range g.IntN(3) {
		g.emit("\tif ((x >> %d & 1) == %d) { %s }", i, g.IntN(2), way())
	}
	g.emit("\t%s\n}", way())
	fmt.Fprintf(&g.script, "probe process(@1).function(\"f%d\").return {\n", n)
	for i, l := range k.leafs {
		const text = "\tif (@defined(%[1]s)) printf(\"GOT %[2]d %[3]d %%d\\n\", %[1]s) else printf(\"GOT %[2]d %[3]d " +
			"?\\n\")\n"
		fmt.Fprintf(&g.script, text, l[1], n, i)
	}
	g.script.WriteString("}\n")
}

func (g *results) program(funcs int) string {
	used := map[int]bool{}
	for range 3 {
		used[g.IntN(len(resultKinds))] = true
	}
	for i, k := range resultKinds {
		if used[i] {
			g.kinds = append(g.kinds, k)
		}
	}
	g.src.WriteString(resultsHead)
	for _, k := range g.kinds {
		g.emit("%s some_%s[4]; %s (*volatile via_%s)(long);", k.typ, k.typ, k.typ, k.typ)
		g.emit("static inline void tell_%s(int f, %s r) {", k.typ, k.typ)
		for i, l := range k.leafs {
			g.emit("\ttell(f, %d, (long)%s);", i, strings.ReplaceAll(l[0], "V", "r"))
		}
		g.emit("}")
	}
	for i := range funcs {
		g.function(i % len(g.kinds))
	}
	g.emit("__attribute__((noreturn, noinline)) void leave(int x) { sink += x; exit(x); }")
	g.emit("int main(void)\n{")
	for i, k := range g.kinds {
		g.emit("\tvia_%s = f%d;\n\tfor (long v = 0; v < 4; v++) some_%s[v] = %s;", k.typ, i, k.typ,
			strings.ReplaceAll(k.make, "(v)", "(v * 5)"))
	}
	g.emit("\tfor (long k = 0; k < 6; k++) {")
	for n, f := range g.funcs {
		k := g.kinds[f[0]]
		if g.IntN(2) == 0 {
			g.emit("\t\tf%d(k);", n)
		} else {
			g.emit("\t\t{ %s r = f%d(k + %d); sink += (long)%s; }", k.typ, n, g.IntN(4),
				strings.ReplaceAll(k.leafs[0][0], "V", "r"))
		}
	}
	g.emit("\t}\n\tleave(0);\n}")
	return g.src.String()
}

// TestResults: what functions of C and C++ return is what they tell when they are built to tell it, however they are
// left; where they are left by a jump, there is no result yet.
func TestResults(t *testing.T) {
	needRoot(t)
	var all Figures
	for _, seed := range Seeds(2, 20) {
		g := &results{Rand: rand.New(rand.NewPCG(seed, 12))}
		source := g.program(16)
		for _, plus := range []bool{false, true} {
			dir, name, flag := t.TempDir(), "results.c", "_Bool"
			if plus {
				name, flag = "results.cc", "bool"
			}
			write(t, dir, name, strings.Replace(source, "_Bool_", flag, 1))
			write(t, dir, "results.stp", g.script.String())
			said := ""
			for _, b := range argBuilds(t, plus) {
				if !Full() && (plus && b.flags[0] != "-O2" || len(b.flags) > 1) {
					continue
				}
				if said == "" {
					must(t, dir, nil, b.cc, "-O0", "-w", "-DTELL", "-o", "tells", name)
					said = must(t, dir, nil, "./tells")
				}
				must(t, dir, nil, b.cc, append(append([]string{}, b.flags...), "-w", "-g", "-o", "results", name)...)
				out, errs, err := trace(t, dir, nil, "-w", "results.stp", "./results", "-c", "./results")
				if err != nil {
					t.Fatalf("seed %d %s: %v\n%s", seed, b, err, errs)
				}
				compareResults(&all, fmt.Sprintf("seed %d %s", seed, b), b.cc, said, out)
			}
		}
	}
	all.Report(t, 300)
}

// compareResults holds what was seen at the returns against what the functions tell, in order.
func compareResults(f *Figures, name, cc, said, out string) {
	values := func(text, word string) map[string][]string {
		m := map[string][]string{}
		for line := range strings.Lines(text) {
			if w := strings.Fields(line); len(w) == 4 && w[0] == word {
				m[w[1]+" "+w[2]] = append(m[w[1]+" "+w[2]], w[3])
			}
		}
		return m
	}
	want := values(said, "TOLD")
	for leaf, got := range values(out, "GOT") {
		if len(got) != len(want[leaf]) {
			f.Wrong("%s: function and number %s: %d returns, it were %d", name, leaf, len(got), len(want[leaf]))
			continue
		}
		for i, v := range got {
			switch {
			case v == "?":
				f.Refused("results, built by " + cc)
			case v != want[leaf][i]:
				f.Wrong("%s: function and number %s, return %d: %s, it is %s", name, leaf, i, v, want[leaf][i])
			default:
				f.Equal(1)
			}
		}
	}
}
