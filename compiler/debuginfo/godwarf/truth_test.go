package godwarf

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/types"
)

// truthProgram writes random functions that use their variables in all ways that move values between registers and the
// frame. With truth it prints, in front of each statement and in its line, the variables that there are.
type truthProgram struct {
	r     *rand.Rand
	lines []string
	in    map[int]string // the functions of the statements, by line
	fn    string
	truth bool
	truthMode
	vars  []truthVar
	next  int // names
	depth int
	loops int
	left  int // statements
}

// truthMode is a kind of programs: variables are assigned to more than once, most statements are calls with several
// results.
type truthMode struct{ again, calls bool }

type truthVar struct{ name, typ string }

const truthHelpers = `package main

import (
	"fmt"
	"os"
	"strings"
)

var calls int

//go:noinline
func one(a int) int { calls++; return a*3 + calls%5 }

//go:noinline
func two(a, b int) (int, int) { calls++; return b - calls%3, a + 1 }

//go:noinline
func get(a int) (string, int) { calls++; return strings.Repeat("x", a&3) + "y", calls % 9 }

//go:noinline
func half(a int) (float64, bool) { calls++; return float64(a) / 2, calls&1 == 0 }

//go:noinline
func list(a int) []int { calls++; return []int{a, calls}[:1+calls&1] }

//go:noinline
func bump(p *int) { *p += 7 }

//go:noinline
func sink(a int) { calls += a & 1 }

//go:noinline
func sinks(a string) { calls += len(a) }

//go:noinline
func sinkf(a float64) { calls += int(a) & 1 }

//go:noinline
func sinkl(a []int) { calls += len(a) }

func small(a, b int) int { if a > b { return a - b }; return one(b) - a }

func rec(line int, args ...any) {
	fmt.Fprint(os.Stdout, line)
	for k := 0; k < len(args); k += 2 {
		switch v := args[k+1].(type) {
		case string:
			fmt.Fprintf(os.Stdout, "\t%s=%q", args[k], v)
		case nil, *box, *fail:
			if s := fmt.Sprint("&", v); strings.HasSuffix(s, "<nil>") { // also of the error
				fmt.Fprintf(os.Stdout, "\t%s=nil", args[k])
			} else if f, ok := v.(*fail); ok {
				fmt.Fprintf(os.Stdout, "\t%s=&{%d}", args[k], f.n)
			} else {
				fmt.Fprintf(os.Stdout, "\t%s=%v", args[k], v)
			}
		default:
			fmt.Fprintf(os.Stdout, "\t%s=%v", args[k], v)
		}
	}
	fmt.Fprintln(os.Stdout)
}
`

func (g *truthProgram) put(format string, args ...any) {
	g.lines = append(g.lines, strings.Repeat("\t", g.depth)+fmt.Sprintf(format, args...))
}

// stmt writes a statement, with the variables in front of it.
func (g *truthProgram) stmt(format string, args ...any) {
	g.left--
	g.in[len(g.lines)+1] = g.fn
	s := fmt.Sprintf(format, args...)
	if g.truth {
		var rec strings.Builder
		for _, v := range g.vars {
			fmt.Fprintf(&rec, ", %q, %s", v.name, v.name)
		}
		s = fmt.Sprintf("rec(%d%s); %s", len(g.lines)+1, rec.String(), s)
	}
	g.put("%s", s)
}

// pick gives a variable of a type, or a constant if there is none.
func (g *truthProgram) pick(typ string) string {
	var of []string
	for _, v := range g.vars {
		if v.typ == typ {
			of = append(of, v.name)
		}
	}
	if len(of) == 0 || typ == "int" && g.r.IntN(8) == 0 {
		return map[string]string{"int": strconv.Itoa(g.r.IntN(50)), "string": `"abc"`, "float64": "2.5", "[]int": "nil",
			"*box": "&box{3}", "error": "nil"}[typ]
	}
	return of[g.r.IntN(len(of))]
}

// target gives a variable to assign to, often a new one. op is how to.
func (g *truthProgram) target(typ string) (name, op string) {
	name = g.pick(typ)
	if g.again && name[0] >= 'a' && name != "nil" && g.r.IntN(3) > 0 {
		return name, "="
	}
	g.next++
	return fmt.Sprintf("%c%d", 'a'+g.r.IntN(4), g.next), ":="
}

func (g *truthProgram) declare(name, op, typ string) {
	if op == ":=" {
		g.put("_ = %s", name)
		g.vars = append(g.vars, truthVar{name, typ})
	}
}

func (g *truthProgram) assign(typ, format string, args ...any) {
	name, op := g.target(typ)
	g.stmt("%s %s %s", name, op, fmt.Sprintf(format, args...))
	g.declare(name, op, typ)
}

func (g *truthProgram) pair(ta, tb, format string, args ...any) {
	g.next += 2
	a, b := fmt.Sprintf("e%d", g.next-1), fmt.Sprintf("f%d", g.next)
	g.stmt("%s, %s := %s", a, b, fmt.Sprintf(format, args...))
	g.put("_, _ = %s, %s", a, b)
	g.vars = append(g.vars, truthVar{a, ta}, truthVar{b, tb})
}

func (g *truthProgram) block(n int) {
	have := len(g.vars)
	g.depth++
	for range n {
		if g.left > 0 {
			g.one()
		}
	}
	g.depth--
	g.vars = g.vars[:have]
}

func (g *truthProgram) one() {
	i := func() string { return g.pick("int") }
	if g.calls && g.r.IntN(2) == 0 {
		g.call(i)
		return
	}
	switch g.r.IntN(26) {
	case 0, 1, 2:
		g.assign("int", "one(%s)", i())
	case 3, 4:
		g.assign("int", "%s %s %s", i(), []string{"+", "-", "*", "^", "&"}[g.r.IntN(5)], i())
	case 5:
		g.assign("int", "%d", g.r.IntN(99))
	case 6, 7, 8:
		g.stmt("sink(%s)", i())
	case 9:
		g.pair("int", "int", "two(%s, %s)", i(), i())
	case 10:
		g.pair("string", "int", "get(%s)", i())
	case 11:
		g.pair("float64", "bool", "half(%s)", i())
	case 12:
		g.assign("[]int", "list(%s)", i())
	case 13:
		g.stmt("sinks(%s)", g.pick("string"))
	case 14:
		g.stmt("sinkf(%s)", g.pick("float64"))
	case 15:
		g.stmt("sinkl(%s)", g.pick("[]int"))
	case 16:
		g.assign("int", "len(%s) + %s", g.pick("string"), i())
	case 17:
		g.assign("string", "%s[%s&1:]", `("z" + `+g.pick("string")+`)`, i())
	case 18:
		if a, b := i(), i(); g.again && a > "a" && b > "a" {
			g.stmt("%s, %s = %s, %s", a, b, b, a)
		}
	case 19: // kept for a while
		if a := i(); g.again && a > "a" {
			g.next++
			t := fmt.Sprintf("g%d", g.next)
			g.stmt("%s := %s", t, a)
			g.put("_ = %s", t)
			g.vars = append(g.vars, truthVar{t, "int"})
			g.stmt("%s = %d", a, g.r.IntN(9))
			g.stmt("sink(%s)", []string{a, "5", i()}[g.r.IntN(3)])
			g.stmt("%s = %s", a, t)
			g.stmt("sink(%s)", a)
		}
	case 20:
		if a := i(); g.again && a > "a" && g.r.IntN(3) == 0 {
			g.stmt("bump(&%s)", a)
		}
	case 21:
		g.assign("int", "small(%s, %s)", i(), i())
	case 22, 23:
		g.put("if %s&%d == 0 {", i(), 1+g.r.IntN(3))
		g.block(1 + g.r.IntN(4))
		if g.r.IntN(2) == 0 {
			g.put("} else {")
			g.block(1 + g.r.IntN(4))
		}
		g.put("}")
	case 24, 25:
		if g.loops < 2 {
			g.loops++
			g.next++
			n := fmt.Sprintf("n%d", g.next)
			g.put("for %s := 0; %s < %d; %s++ {", n, n, 1+g.r.IntN(4), n)
			g.vars = append(g.vars, truthVar{n, "loop"})
			g.block(2 + g.r.IntN(5))
			if g.r.IntN(3) == 0 {
				g.put("\tif %s&7 == 1 {", i())
				g.put("\t\t%s", []string{"break", "continue"}[g.r.IntN(2)])
				g.put("\t}")
			}
			g.vars = g.vars[:len(g.vars)-1]
			g.put("}")
			g.loops--
		}
	}
}

// truthSource writes the program of a seed. in has the function of each line with a statement that is tried.
func truthSource(seed uint64, mode truthMode, truth bool) (src string, in map[int]string) {
	const funcs = 25
	g := &truthProgram{r: rand.New(rand.NewPCG(seed, 7)), truth: truth, truthMode: mode,
		lines: strings.Split(truthHelpers+truthCallHelpers, "\n"), in: map[int]string{}}
	for k := range funcs {
		g.fn = fmt.Sprintf("main.f%d", k)
		g.put("//go:noinline")
		g.put("func f%d(p int, q string, r float64) int {", k)
		g.vars = []truthVar{{"p", "int"}, {"q", "string"}, {"r", "float64"}}
		g.depth, g.left = 1, 20+g.r.IntN(30)
		for g.left > 0 {
			g.one()
		}
		g.stmt("return %s", g.pick("int"))
		g.depth = 0
		g.put("}")
	}
	g.put("func main() {")
	for k := range funcs {
		g.put("\tfor k := range 3 { sink(f%d(k*5, os.Args[0][:k], float64(k))) }", k)
	}
	g.put("\tfmt.Sprint()")
	g.put("}")
	return strings.Join(g.lines, "\n") + "\n", g.in
}

// truthCount counts variables at sites that have a place and that do not, and the values at hits.
// Carried are those of the right ones that no location list has, Lost those that are told not to be known.
type truthCount struct{ Placed, Refused, Right, Wrong, Carried, Lost int }

const lost = "?"

// TestTruth holds variables of optimised programs against what the same programs print: all must be right.
// GODWARF_TEST_TRUTH is a number of programs, or a list of them ("3,7"), GODWARF_TEST_KEEP a directory in which they
// are left and found again; GOTOOLCHAIN says which release of Go builds them.
func TestTruth(t *testing.T) {
	seeds := []uint64{0}
	if s := os.Getenv("GODWARF_TEST_TRUTH"); s != "" {
		seeds = nil
		for f := range strings.SplitSeq(s, ",") {
			n, err := strconv.ParseUint(f, 10, 32)
			if err != nil {
				t.Fatal(err)
			}
			seeds = append(seeds, n)
		}
		if n := seeds[0]; len(seeds) == 1 {
			for seeds = nil; n > 0; n-- {
				seeds = append(seeds, n-1)
			}
		}
	}
	for name, mode := range map[string]truthMode{
		"once": {}, "again": {again: true}, "calls": {again: true, calls: true},
	} {
		t.Run(name, func(t *testing.T) {
			var sum truthCount
			for _, seed := range seeds {
				truthTest(t, seed, mode, &sum)
			}
			t.Logf("%+v", sum)
			if sum.Right == 0 || mode.calls && sum.Carried == 0 {
				t.Error("nothing was compared")
			}
		})
	}
}

// truthBuild builds the program of a seed.
func truthBuild(t *testing.T, seed uint64, mode truthMode, truth bool) (path string, in map[int]string) {
	dir := t.TempDir()
	src, in := truthSource(seed, mode, truth)
	if keep := os.Getenv("GODWARF_TEST_KEEP"); keep != "" {
		dir = filepath.Join(keep, fmt.Sprintf("%s-%d-%t%t-%t", os.Getenv("GOTOOLCHAIN"), seed,
			mode.again, mode.calls, truth))
		if _, err := os.Stat(filepath.Join(dir, "prog")); err == nil {
			return filepath.Join(dir, "prog"), in
		}
		os.MkdirAll(dir, 0o777)
	}
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(src), 0o644); err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, "prog")
	cmd := exec.Command("go", "build", "-o", path, "main.go")
	cmd.Dir = dir
	if b, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("seed %d: %v\n%s", seed, err, b)
	}
	return path, in
}

// printed runs a program with truth: the values of the variables by line, for each time that it was run.
func printed(t *testing.T, path string) map[int][]map[string]string {
	out, err := exec.Command(path).Output()
	if err != nil {
		t.Fatal(err)
	}
	truth := map[int][]map[string]string{}
	for l := range strings.Lines(string(out)) {
		fields := strings.Split(strings.TrimSuffix(l, "\n"), "\t")
		line, err := strconv.Atoi(fields[0])
		if err != nil {
			t.Fatal(err)
		}
		vals := map[string]string{}
		for _, f := range fields[1:] {
			name, val, _ := strings.Cut(f, "=")
			vals[name] = val
		}
		truth[line] = append(truth[line], vals)
	}
	return truth
}

func truthTest(t *testing.T, seed uint64, mode truthMode, sum *truthCount) {
	truthful, _ := truthBuild(t, seed, mode, true)
	truth := printed(t, truthful)
	path, in := truthBuild(t, seed, mode, false)
	im, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer im.Close()
	listed, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer listed.Close()
	listed.lists = true
	type seen struct {
		line    int
		v       *debuginfo.Var
		carried bool
		vals    []string
	}
	var all []*seen
	hooks := map[uint64]func(*thread){}
	for line, fn := range in {
		sites, err := im.LineSites(debuginfo.LineQuery{Func: fn, Line: line})
		if err != nil || len(sites) != 1 || sites[0].Kind != debuginfo.AtLine || len(truth[line]) == 0 {
			continue
		}
		vars, err := im.Vars(sites[0])
		if err != nil {
			t.Fatal(err)
		}
		inLists, err := listed.Vars(sites[0])
		if err != nil {
			t.Fatal(err)
		}
		var here []*seen
		for _, x := range vars {
			if _, ok := truth[line][0][x.Name]; !ok {
				continue
			}
			if x.Err != nil || slices.ContainsFunc(x.Place.Pieces, func(p loc.Piece) bool { return p.Lost }) {
				sum.Refused++
				continue
			}
			sum.Placed++
			lost := func(y *debuginfo.Var) bool { return y.Name == x.Name && y.Err != nil }
			here = append(here, &seen{line: line, v: x, carried: slices.ContainsFunc(inLists, lost)})
		}
		all = append(all, here...)
		hooks[sites[0].PC] = func(th *thread) {
			for _, w := range here {
				w.vals = append(w.vals, th.perhaps(w.v))
			}
		}
	}
	run(t, im, hooks)
	for _, w := range all {
		if len(w.vals) != len(truth[w.line]) {
			continue // the site stands for a part of the line only
		}
		for k, got := range w.vals {
			if want := truth[w.line][k][w.v.Name]; got == lost {
				sum.Lost++
			} else if got == want {
				sum.Right++
				if w.carried {
					sum.Carried++
				}
			} else {
				sum.Wrong++
				t.Errorf("seed %d, line %d, time %d: %s=%s, want %s", seed, w.line, k, w.v.Name, got, want)
			}
		}
	}
}

// perhaps is show of a variable that may have the parts of two values.
func (th *thread) perhaps(v *debuginfo.Var) string {
	th.lost = false
	b := th.bytes(v.Place)
	if th.lost {
		return lost
	}
	if v.Type.Kind == types.GoString || v.Type.Kind == types.GoSlice {
		addr, n := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
		last := make([]byte, 1)
		if n > 1<<16 {
			return "too long"
		} else if _, err := th.mem.ReadAt(last, int64(addr+n)-1); n > 0 && err != nil {
			return "unreadable"
		}
	}
	if v.Type.Kind == types.Pointer || v.Type.Kind == types.GoInterface {
		return th.number(b)
	}
	return th.value(b, v.Type, 0)
}
