package oracle

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// closures writes a Go program whose function literals capture variables of all kinds, by value and by reference, and
// tell each number in them: literals in literals, bodies of loops over functions, deferred ones, ones that run in a
// goroutine, within generic functions, and method values.
type closures struct {
	*rand.Rand
	src    strings.Builder
	line   int
	lines  []int // of first statements
	vars   int
	script map[string][]string // the expressions for the numbers in a variable, by its name
	names  []string            // of the variables, in order
}

// captured is a kind of variable: how one is made from the number k, and the numbers in it, for Go and for the script.
type captured struct {
	typ, make string
	leafs     [][2]string
}

var capturedKinds = []captured{
	{"int", "k", [][2]string{{"V", "$V"}}},
	{"uint8", "uint8(k)", [][2]string{{"V", "$V"}}},
	{"int32", "int32(-k)", [][2]string{{"V", "$V"}}},
	{"bool", "k&1 == 1", [][2]string{{"num(V)", "$V"}}},
	{"string", "text[k%7:k%7+k%5+1]", [][2]string{{"len(V)", "$V->len"}, {"V[0]", "$V[0]"}}},
	{"[]int", "[]int{k, k+1, k+2}[:1+k%3]", [][2]string{{"len(V)", "$V->len"}, {"V[0]", "$V[0]"}}},
	{"*int", "ptr(k)", [][2]string{{"*V", "user_int64($V)"}}},
	{"one", "one{k}", [][2]string{{"V.A", "$V->A"}}},
	{"onep", "onep{ptr(k)}", [][2]string{{"*V.P", "user_int64($V->P)"}}},
	{"two", "two{k, text[:k%9+1]}", [][2]string{{"V.A", "$V->A"}, {"len(V.B)", "$V->B->len"}}},
	{"four", "four{uint8(k), k+1, int16(k+2), -k}",
		[][2]string{{"V.A", "$V->A"}, {"V.B", "$V->B"}, {"V.C", "$V->C"}, {"V.D", "$V->D"}}},
	{"five", "five{uint8(k), int32(k+1), [3]int16{1, int16(k), 3}, k+2, ptr(k+3)}",
		[][2]string{{"V.A", "$V->A"}, {"V.B", "$V->B"}, {"V.C[1]", "$V->C[1]"}, {"V.D", "$V->D"},
			{"*V.E", "user_int64($V->E)"}}},
	{"pfive", "pfive{ptr(k), k, k+1, k+2, k+3}",
		[][2]string{{"*V.P", "user_int64($V->P)"}, {"V.A", "$V->A"}, {"V.D", "$V->D"}}},
	{"deep", "deep{inner{two{k, text[:k%9+1]}, k+5}}", [][2]string{{"V.I.T.A", "$V->I->T->A"}, {"V.I.N", "$V->I->N"}}},
	{"big", "big{0: k, 15: k+15}", [][2]string{{"V[0]", "$V[0]"}, {"V[15]", "$V[15]"}}},
	{"huge", "huge{0: k, 16: k+16}", [][2]string{{"V[0]", "$V[0]"}, {"V[16]", "$V[16]"}}},
	{"[1]int", "[1]int{k}", [][2]string{{"V[0]", "$V[0]"}}},
	{"[3]int32", "[3]int32{int32(k), 2, int32(-k)}", [][2]string{{"V[0]", "$V[0]"}, {"V[2]", "$V[2]"}}},
	{"[2]*int", "[2]*int{ptr(k), ptr(k+1)}", [][2]string{{"*V[1]", "user_int64($V[1])"}}},
	{"[2]string", "[2]string{text[:k%4+1], text[:k%7]}",
		[][2]string{{"len(V[0])", "$V[0]->len"}, {"len(V[1])", "$V[1]->len"}}},
	{"iface", "iface{k, nil, errors.New(\"e\")}", [][2]string{{"V.A", "$V->A"}}},
	{"floats", "floats{float64(k), k, float32(k)}", [][2]string{{"V.A", "$V->A"}}},
	{"any", "any(k)", nil},
	{"error", "errors.New(text[:k%9+1])", nil},
	{"map[string]int", "map[string]int{text[:k%9+1]: k}", nil},
	{"func() int", "func() int { return k }", nil},
	{"float64", "float64(k)", nil},
}

const closuresHead = `package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
)

type (
	one    struct{ A int }
	onep   struct{ P *int }
	two    struct { A int; B string }
	four   struct { A uint8; B int; C int16; D int }
	five   struct { A uint8; B int32; C [3]int16; D int; E *int }
	pfive  struct { P *int; A, B, C, D int }
	inner  struct { T two; N int }
	deep   struct { I inner }
	big    [16]int
	huge   [17]int
	iface  struct { A int; B any; C error }
	floats struct { F float64; A int; G float32 }
)

const text = "some text to cut from"

var kept func(int) int

//go:noinline
func ptr(k int) *int { return &k }

func num(b bool) int { if b { return 1 }; return 0 }

//go:noinline
func tell(v string, leaf, n int) {
	var pc [1]uintptr
	runtime.Callers(2, pc[:])
	f, _ := runtime.CallersFrames(pc[:]).Next()
	fmt.Fprintln(os.Stdout, "TOLD", f.Function, v, leaf, n)
}

//go:noinline
func call(f func(int) int, k int) int { return f(k) }

//go:noinline
func seq(yield func(int) bool) { for i := range [3]int{} { if !yield(i + 40) { return } } }

//go:noinline
func drop(...any) {}

func (v four) Val(k int) int   { tell("v", 0, int(v.A)); tell("v", 1, v.B); return k }
func (v *five) Ref(k int) int  { tell("v", 4, int(v.A)); return k }
func (v big) Val(k int) int    { tell("v", 5, v[15]); return k }

`

func (g *closures) emit(depth int, format string, args ...any) {
	s := strings.Repeat("\t", depth) + fmt.Sprintf(format, args...) + "\n"
	g.line += strings.Count(s, "\n")
	g.src.WriteString(s)
}

// variable is one that literals may capture.
type variable struct {
	name string
	kind captured
	ref  bool // it is assigned to
	last bool // it is assigned to behind the literals, too
}

func (g *closures) declare(depth int, k string) variable {
	v := variable{name: fmt.Sprintf("v%d", g.vars), kind: capturedKinds[g.IntN(len(capturedKinds))],
		ref: g.IntN(2) == 0}
	g.vars++
	g.emit(depth, "%s := func(k int) %s { return %s }(%s + %d)", v.name, v.kind.typ, v.kind.make, k, g.IntN(50))
	v.last = v.ref && g.IntN(2) == 0
	g.names = append(g.names, v.name)
	for _, l := range v.kind.leafs {
		g.script[v.name] = append(g.script[v.name], strings.ReplaceAll(l[1], "V", v.name))
	}
	return v
}

// body writes what a function literal does: it tells numbers of the variables, has literals of its own, and assigns.
func (g *closures) body(depth int, vars []variable, k string, nest int) {
	first := true
	g.emit(depth, "_ = %s", k)
	for _, v := range vars {
		if g.IntN(3) == 0 {
			continue
		}
		for i, l := range v.kind.leafs {
			if i > 0 && g.IntN(4) == 0 {
				continue
			}
			g.emit(depth, "tell(%q, %d, int(%s))", v.name, i, strings.ReplaceAll(l[0], "V", v.name))
			if first {
				g.lines, first = append(g.lines, g.line), false
			}
		}
		if len(v.kind.leafs) == 0 {
			g.emit(depth, "drop(%s)", v.name)
		}
	}
	if nest > 0 {
		own := append([]variable{}, vars...)
		own = append(own, g.declare(depth, k))
		g.literals(depth, own, k, nest-1)
		g.emit(depth, "drop(%s)", own[len(own)-1].name)
	}
	for _, v := range vars {
		if v.ref && g.IntN(2) == 0 {
			g.emit(depth, "%s = func(k int) %s { return %s }(%s + %d)", v.name, v.kind.typ, v.kind.make, k, g.IntN(50))
		}
	}
}

// literals writes one to three function literals and their calls.
func (g *closures) literals(depth int, vars []variable, k string, nest int) {
	for range 1 + g.IntN(3) {
		some := make([]variable, 0, len(vars))
		for _, v := range vars {
			if g.IntN(3) > 0 {
				some = append(some, v)
			}
		}
		inner := fmt.Sprintf("k%d", g.line)
		literal := func(head, tail string, args ...any) {
			tail = fmt.Sprintf(tail, args...)
			g.emit(depth, "%s", head)
			g.body(depth+1, some, inner, nest)
			g.emit(depth, "%s", tail)
		}
		head := fmt.Sprintf("func(%s int)", inner)
		tabs := strings.Repeat("\t", depth)
		switch g.IntN(6) {
		case 0:
			literal("call("+head+" int {", "\treturn %s\n%s}, %s+%d)", inner, tabs, k, g.IntN(9))
		case 1:
			literal("kept = "+head+" int {", "\treturn %s\n%s}", inner, tabs)
			g.emit(depth, "kept(%s + %d)", k, g.IntN(9))
			g.emit(depth, "kept(%s + %d)", k, g.IntN(9))
		case 2:
			literal(fmt.Sprintf("for %s := range seq {", inner), "}")
		case 3:
			g.emit(depth, "func() {")
			depth++
			literal("defer "+head+" {", "}(%s + %d)", k, g.IntN(9))
			depth--
			g.emit(depth, "\tdrop()\n%s}()", tabs)
		case 4:
			g.emit(depth, "if done := make(chan int); true {")
			depth++
			literal("go "+head+" {", "\tdone <- 1\n\t%s}(%s + %d)", tabs, k, g.IntN(9))
			depth--
			g.emit(depth, "\t<-done\n%s}", tabs)
		default:
			literal(head+" {", "}(%s + %d)", k, g.IntN(9))
		}
	}
}

func (g *closures) program(funcs int) (source, script string) {
	g.script = map[string][]string{}
	g.line = strings.Count(closuresHead, "\n")
	main := ""
	for n := range funcs {
		generic := ""
		if g.IntN(4) == 0 {
			generic = "[T any]"
		}
		g.emit(0, "//go:noinline")
		g.emit(0, "func f%d%s(k int%s) {", n, generic, map[bool]string{true: ", t T"}[generic != ""])
		var vars []variable
		for range 2 + g.IntN(4) {
			vars = append(vars, g.declare(1, "k"))
		}
		g.literals(1, vars, "k", 2)
		for _, v := range vars {
			if v.last {
				g.emit(1, "%s = func(k int) %s { return %s }(k)", v.name, v.kind.typ, v.kind.make)
			}
			g.emit(1, "drop(%s)", v.name)
		}
		g.emit(0, "}")
		args := "k"
		if generic != "" {
			args = []string{"k, k", "k, text", "k, [3]int{k}"}[g.IntN(3)]
		}
		main += fmt.Sprintf("\t\tf%d(%s)\n", n, args)
	}
	g.emit(0, "func main() {")
	g.emit(0, "\tfor k := 5; k < 12; k += 3 {\n%s\t\ta, b, c := four{uint8(k), k, 3, k}, five{A: uint8(k)}, big{15: k}",
		main)
	g.emit(0, "\t\tcall(a.Val, k)\n\t\tcall(b.Ref, k)\n\t\tkept = c.Val\n\t\tkept(k)\n\t}\n}")
	var s strings.Builder
	const text = "\tif (@defined(%[1]s)) printf(\"GOT %[2]d %%s %[3]s %[4]d %%d\\n\", ppfunc(), %[1]s)" +
		" else printf(\"OPEN %[2]d %%s %[3]s %[4]d\\n\", ppfunc())\n"
	leafs := func(place int) {
		for _, v := range g.names {
			for i, e := range g.script[v] {
				fmt.Fprintf(&s, text, e, place, v, i)
			}
		}
	}
	s.WriteString("probe process(@1).function(\"main.f[0-9]*\").call {\n")
	leafs(0)
	s.WriteString("}\n")
	for _, l := range g.lines {
		fmt.Fprintf(&s, "probe process(@1).statement(\"*@main.go:%d\") ? {\n", l)
		leafs(1)
		s.WriteString("}\n")
	}
	return closuresHead + g.src.String(), s.String()
}

// TestGoClosures: what closures capture is what they tell, at their entries and at their first lines, and what Delve
// reads there.
func TestGoClosures(t *testing.T) {
	needRoot(t)
	var all Figures
	for _, seed := range Seeds(1, 12) {
		g := &closures{Rand: rand.New(rand.NewPCG(seed, 11))}
		source, script := g.program(3)
		dir := goModule(t, source)
		write(t, dir, "go.mod", "module random\n\ngo 1.23\n")
		write(t, dir, "closures.stp", script)
		for _, b := range goBuilds() {
			out := filepath.Join(dir, "prog")
			os.Remove(out)
			old := b.toolchain != "" && b.toolchain < "go1.23" // no loops over functions
			if b.stripped || old || !b.build(t, dir, out) {
				continue
			}
			env := []string{"GOMAXPROCS=1"}
			stdout, stderr, err := trace(t, dir, env, "-D", "MAXACTION=100000", "closures.stp", "./prog", "-c",
				"./prog")
			name := fmt.Sprintf("seed %d %s", seed, b)
			if err != nil {
				t.Fatalf("%s: %v\n%s", name, err, stderr)
			}
			compareClosures(&all, name, stdout)
			f, _ := againstDelve(t, dir, []string{out}, []string{`function("main.f[0-9]*").call`}, true)
			all.Add(f)
		}
	}
	all.Report(t, 100)
}

// compareClosures holds what was seen at each place of each literal against what it told, in order. A variable that
// it does not tell there is not compared.
func compareClosures(f *Figures, name, out string) {
	said, got := map[string][]string{}, map[string][]string{}
	open := map[string]int{}
	for line := range strings.Lines(out) {
		switch w := strings.Fields(line); {
		case len(w) == 5 && w[0] == "TOLD":
			k := strings.Join(w[1:4], " ")
			said[k] = append(said[k], w[4])
		case len(w) == 6 && w[0] == "GOT":
			k := strings.Join(w[1:5], " ")
			got[k] = append(got[k], w[5])
		case len(w) == 5 && w[0] == "OPEN":
			open[strings.Join(w[1:], " ")]++
		}
	}
	places := [...]string{"the entry", "the first line"}
	for leaf, want := range said {
		for place, where := range places {
			k := fmt.Sprint(place, " ", leaf)
			values := got[k]
			switch {
			case len(values) == 0 && open[k] == len(want):
				for range want {
					f.Refused("at " + where)
				}
			case len(values) == 0 && open[k] == 0:
				f.Note("literals that were inlined, or have no such line", 1)
			case len(values) != len(want):
				f.Note("literals that run more often than they tell at "+where, 1)
			default:
				for i, v := range values {
					if v != want[i] {
						f.Wrong("%s: %s at %s: %s, it is %s", name, leaf, where, v, want[i])
					} else {
						f.Equal(1)
					}
				}
			}
		}
	}
}
