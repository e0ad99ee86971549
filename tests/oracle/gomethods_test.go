package oracle

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// methods writes a Go program whose methods are called in every way that Go has: directly, through interfaces that
// hold values and pointers, promoted from embedded fields of values and pointers, as method values and expressions,
// by reflect, go and defer, with type arguments, on nil pointers. Each call tells its number, a field of the
// receiver and an argument.
type methods struct {
	*rand.Rand
	decls, calls, script strings.Builder
	n                    int
}

func (g *methods) one(s ...string) string { return s[g.IntN(len(s))] }

const methodsHead = `package main

import (
	"fmt"
	"os"
	"reflect"
	"sync"
)

var (
	lock sync.Mutex
	wg   sync.WaitGroup
	kept []any
	next int
)

//go:noinline
func tell(m, a, k int) {
	lock.Lock()
	fmt.Fprintln(os.Stdout, "TOLD", m, a, k)
	lock.Unlock()
	if k < 0 {
		wg.Done()
	}
}

//go:noinline
func apply(f func(string, int) int, s string, k int) int { return f(s, k) }

//go:noinline
func keep(v any) { kept = append(kept, v) }

func num() int { next++; return next }

func recovered(f func()) {
	defer func() { recover() }()
	f()
}

`

// base declares a type with one method and gives its name.
func (g *methods) base() (name, value string) {
	n := g.n
	g.n++
	name = fmt.Sprintf("T%d", n)
	star, field, expr := "", "r.A", "$r->A"
	args, inst := "", ""
	switch g.IntN(6) {
	case 0:
		fmt.Fprintf(&g.decls, "type %s int\n\n", name)
		value, field, expr = name+"(num())", "int(r)", "$r"
	case 1:
		fmt.Fprintf(&g.decls, "type %s []int\n\n", name)
		value, field, expr = name+"(make([]int, num()))", "len(r)", "$r->len"
	case 2:
		fmt.Fprintf(&g.decls, "type %s[V any] struct { V V; A int; B %s }\n\n", name, g.one("string", "[3]int", "byte"))
		args, inst = "[V]", g.one("[int]", "[string]", "[[2]int32]", "[*int]")
		value = name + inst + "{A: num()}"
	default:
		fields := ""
		for i := range g.IntN(5) {
			fields += fmt.Sprintf("F%d %s; ", i, g.one("int", "string", "byte", "float64", "[]int", "[2]int64", "any",
				"int32"))
		}
		after := ""
		for i := range g.IntN(3) {
			after += fmt.Sprintf("; G%d %s", i, g.one("int", "string", "byte", "float32", "[4]int", "bool"))
		}
		fmt.Fprintf(&g.decls, "type %s struct { %sA int%s }\n\n", name, fields, after)
		value = name + "{A: num()}"
	}
	if g.IntN(3) == 0 {
		star = "*"
		if field != "r.A" {
			field = strings.Replace(field, "(r)", "(*r)", 1)
			expr = "user_int64($r)"
		}
		if field == "len(*r)" {
			expr = "user_int64($r+8)"
		}
	}
	if g.IntN(5) == 0 {
		g.decls.WriteString("//go:noinline\n")
	}
	fmt.Fprintf(&g.decls, "func (r %s%s%s) M%d(s string, k int) int { tell(%d, %s+len(s)-1, k); return k*3 + %s }\n\n",
		star, name, args, n, n, field, field)
	pattern := fmt.Sprintf("main.%s.M%d", name, n)
	if star != "" {
		pattern = fmt.Sprintf("main.(*%s).M%d", name, n)
	}
	fmt.Fprintf(&g.decls, "type I%d interface { M%d(string, int) int }\n\n//go:noinline\nfunc via%d(i I%d, s string, "+
		"k int) int { return i.M%d(s, k) }\n\n", n, n, n, n, n)
	fmt.Fprintf(&g.script, "probe process(@1).function(\"%s\") { count[%d]++ }\n", pattern, n)
	fmt.Fprintf(&g.script, "%%( $2 >= 1 %%? probe process(@1).function(\"%s\") { if (@defined(%s) && @defined($k)) "+
		"printf(\"GOT %d %%d %%d\\n\", %s, $k) } %%)\n", pattern,
		strings.TrimSuffix(strings.TrimPrefix(strings.TrimSuffix(expr, "+8)"), "user_int64("), ")"), n, expr)
	fmt.Fprintf(&g.script, "probe process(@1).statement(\"%s@main.go:+0\") { lines[%d]++ }\n", pattern, n)
	fmt.Fprintf(&g.script, "probe process(@1).function(\"%s\").call ? { calls[%d]++ }\n", pattern, n)
	fmt.Fprintf(&g.script, "probe process(@1).function(\"%s\").return ? { returns[%d]++ }\n", pattern, n)
	fmt.Fprintf(&g.script, "%%( $2 == 2 %%? probe process(@1).function(\"%s\").return ? { printf(\"RET %d %%d "+
		"%%d\\n\", $return - @entry($k) * 3, @entry($k)) } %%)\n", pattern, n)
	g.uses(n, name+inst, value, star != "")
	return name + inst, value
}

// uses writes calls of method n of a type.
func (g *methods) uses(n int, typ, value string, pointer bool) {
	c := &g.calls
	fmt.Fprintf(c, "\t{\n\t\tv := %s\n\t\tp := &v\n\t\t_, _ = v, p\n", value)
	recv, star := "v", ""
	if pointer {
		recv, star = "p", "*"
	}
	for _, use := range []string{
		fmt.Sprintf("via%d(%s, \"a\", num())", n, recv),
		fmt.Sprintf("via%d(p, \"b\", num())", n),
		fmt.Sprintf("v.M%d(\"c\", num())", n),
		fmt.Sprintf("apply(v.M%d, \"d\", num())", n),
		fmt.Sprintf("apply(I%d(p).M%d, \"e\", num())", n, n),
		fmt.Sprintf("func() { f := (%s%s).M%d; keep(f); f(%s, \"f\", num()) }()", star, typ, n, recv),
		fmt.Sprintf("reflect.ValueOf(p).MethodByName(\"M%d\").Call([]reflect.Value{reflect.ValueOf(\"g\"), "+
			"reflect.ValueOf(num())})", n),
		fmt.Sprintf("func() { defer v.M%d(\"h\", num()); defer %s.M%d(\"i\", num()) }()", n, recv, n),
		fmt.Sprintf("for range 3 { wg.Add(1); func() { go func() { defer wg.Done(); via%d(p, \"j\", num()) }(); "+
			"wg.Wait() }() }", n),
		fmt.Sprintf("wg.Add(1); go v.M%d(\"k\", -num())", n),
		fmt.Sprintf("recovered(func() { var np *%s; via%d(np, \"l\", num()) })", typ, n),
	} {
		if strings.Contains(use, "var np") && (pointer || g.IntN(2) == 0) {
			continue
		}
		if g.IntN(4) > 0 {
			fmt.Fprintf(c, "\t\t%s\n", use)
		}
	}
	// Promoted, through values and pointers, one to three deep.
	inner, make := typ, "v"
	if g.IntN(3) == 0 {
		inner, make = "*"+typ, "&v"
	}
	for depth := range 1 + g.IntN(3) {
		outer := fmt.Sprintf("O%d_%d", n, depth)
		before := g.one("", "X int; ", "X string; Y byte; ", "X [3]int; ")
		fmt.Fprintf(&g.decls, "type %s struct { %s%s; Z int }\n\n", outer, before, inner)
		field := strings.TrimPrefix(strings.SplitN(inner, "[", 2)[0], "*")
		fmt.Fprintf(c, "\t\tw%d := %s{%s: %s}\n", depth, outer, field, make)
		fmt.Fprintf(c, "\t\tvia%d(&w%d, \"m\", num())\n", n, depth)
		if !pointer || strings.HasPrefix(inner, "*") && depth == 0 {
			fmt.Fprintf(c, "\t\tvia%d(w%d, \"n\", num())\n", n, depth)
			fmt.Fprintf(c, "\t\trecovered(func() { var np *%s; via%d(np, \"o\", num()) })\n", outer, n)
		}
		fmt.Fprintf(c, "\t\tapply(w%d.M%d, \"p\", num())\n", depth, n)
		inner, make = outer, fmt.Sprintf("w%d", depth)
		if g.IntN(3) == 0 {
			inner, make = "*"+outer, "&"+make
		}
	}
	c.WriteString("\t}\n")
}

func (g *methods) program(types int) (source, script string) {
	g.script.WriteString("global count, lines, calls, returns\n")
	for range types {
		g.base()
	}
	g.script.WriteString("probe end {\n\tforeach (n in count) printf(\"COUNT %d %d\\n\", n, count[n])\n\tforeach (n " +
		"in lines) printf(\"LINES %d %d\\n\", n, lines[n])\n\tforeach (n in calls) printf(\"CALLS %d %d\\n\", n, " +
		"calls[n])\n\tforeach (n in returns) printf(\"RETURNS %d %d\\n\", n, returns[n])\n}\n")
	return methodsHead + g.decls.String() + "func main() {\n\tfor range 3 {\n" + g.calls.String() +
		"\t}\n\twg.Wait()\n}\n", g.script.String()
}

// goBuild is a way to build a Go program.
type goBuild struct {
	toolchain string // "" for the installed one
	args      []string
	env       []string
	stripped  bool
}

func (b goBuild) String() string {
	s := strings.Join(append([]string{b.toolchain}, b.args...), " ")
	return strings.Trim(strings.ReplaceAll(s, " ", "_"), "_")
}

// goBuilds are the ways to build that a comparison goes through. Other toolchains are Go modules.
func goBuilds() []goBuild {
	plain, bare := goBuild{}, goBuild{args: []string{"-ldflags=-s -w"}, stripped: true}
	if !Full() {
		return []goBuild{plain, bare}
	}
	all := []goBuild{plain, bare, {args: []string{"-gcflags=all=-N -l"}}, {args: []string{"-buildmode=pie"}},
		{args: []string{"-race"}, env: []string{"CGO_ENABLED=1"}}}
	for _, v := range goVersions() {
		all = append(all, goBuild{toolchain: v},
			goBuild{toolchain: v, args: []string{"-ldflags=-s -w"}, stripped: true})
	}
	return all
}

// build builds the Go program in dir; false, with a line in the log, where that toolchain cannot be had.
func (b goBuild) build(t *testing.T, dir, out string) bool {
	t.Helper()
	env := append([]string{"CGO_ENABLED=0"}, b.env...)
	if b.toolchain != "" {
		env = append(env, "GOTOOLCHAIN="+b.toolchain)
		if err := try(dir, env, "go", "version"); err != nil {
			t.Logf("%s cannot be had: %v", b.toolchain, err)
			return false
		}
	} else {
		env = append(env, "GOTOOLCHAIN=local")
	}
	must(t, dir, env, "go", append(append([]string{"build", "-o", out}, b.args...), ".")...)
	return true
}

// goModule makes a module of one file that every toolchain takes.
func goModule(t *testing.T, source string) string {
	dir := t.TempDir()
	write(t, dir, "go.mod", "module random\n\ngo 1.20\n")
	// "for range n" is of 1.22.
	source = strings.ReplaceAll(source, "for range 3 {", "for range [3]int{} {")
	write(t, dir, "main.go", source)
	return dir
}

// TestGoMethods: methods are entered and left as often as they say, however they are called, with the receivers and
// arguments and results that they tell.
func TestGoMethods(t *testing.T) {
	needRoot(t)
	var all Figures
	for _, seed := range Seeds(1, 12) {
		g := &methods{Rand: rand.New(rand.NewPCG(seed, 8))}
		source, script := g.program(8)
		dir := goModule(t, source)
		write(t, dir, "methods.stp", script)
		for _, b := range goBuilds() {
			out := filepath.Join(dir, "prog")
			os.Remove(out)
			if !b.build(t, dir, out) {
				continue
			}
			name := fmt.Sprintf("seed %d %s", seed, b)
			values := "2"
			switch {
			case b.stripped:
				values = "0"
			case strings.HasPrefix(b.toolchain, "go1.20"):
				values = "1" // its arguments are not all described
			}
			stdout, stderr, err := trace(t, dir, nil, "-D", "MAXACTION=100000", "methods.stp", "./prog", values, "-c",
				"./prog")
			if err != nil {
				t.Fatalf("%s: %v\n%s", name, err, stderr)
			}
			compareMethods(&all, name, stdout, stderr, !b.stripped)
		}
	}
	all.Report(t, 100)
}

// compareMethods holds what the probes saw against what the methods told.
func compareMethods(f *Figures, name, stdout, stderr string, values bool) {
	said := map[string]int{}  // calls by method
	lines := map[string]int{} // "method field k"
	got := map[string][]string{}
	count := map[string]map[string]string{"COUNT": {}, "LINES": {}, "CALLS": {}, "RETURNS": {}}
	for line := range strings.Lines(stdout) {
		w := strings.Fields(line)
		switch {
		case len(w) == 4 && w[0] == "TOLD":
			said[w[1]]++
			lines[strings.Join(w[1:], " ")]++
		case len(w) == 4 && (w[0] == "GOT" || w[0] == "RET"):
			got[w[0]] = append(got[w[0]], strings.Join(w[1:], " "))
		case len(w) == 3 && count[w[0]] != nil:
			count[w[0]][w[1]] = w[2]
		}
	}
	for m, n := range said {
		if have := count["COUNT"][m]; have != fmt.Sprint(n) {
			f.Wrong("%s: method %s was called %d times, %s were seen", name, m, n, have)
		} else {
			f.Equal(1)
		}
		if have := count["LINES"][m]; have != fmt.Sprint(n) {
			f.Wrong("%s: the line of method %s ran %d times, %s were seen", name, m, n, have)
		} else {
			f.Equal(1)
		}
		if c, r := count["CALLS"][m], count["RETURNS"][m]; c != r {
			f.Wrong("%s: method %s: %s calls, %s returns", name, m, c, r)
		} else {
			f.Equal(1)
		}
	}
	if !values {
		return
	}
	for kind, texts := range got {
		left := map[string]int{}
		for k, n := range lines {
			left[k] = n
		}
		for _, s := range texts {
			if left[s] == 0 {
				f.Wrong("%s: %s %s is not among what the method told", name, kind, s)
				continue
			}
			left[s]--
			f.Equal(1)
		}
		for _, n := range left {
			for range n {
				f.Refused(kind + " at an inlined copy (" + kind + ")")
			}
		}
	}
	if n := strings.Count(stderr, "WARNING"); n > 0 {
		f.Note("warnings of gostap", n)
	}
}

// goVersions are the other toolchains of the full form; GOSTAP_GO names some of them.
func goVersions() []string {
	if s := os.Getenv("GOSTAP_GO"); s != "" {
		return strings.Fields(s)
	}
	return []string{"go1.20.14", "go1.21.13", "go1.22.12", "go1.23.12", "go1.24.13", "go1.25.5"}
}
