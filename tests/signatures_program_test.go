package tests

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// goType is a random type of the generated program: its spelling, and how to make a value of it.
type goType struct {
	name   string
	leaves int // values in its text
	depth  int // of structures and arrays
	make   string
}

// generator writes a Go program of functions with random signatures, whose callers write down each call's arguments and
// results, and the script that should see the same. What makes and tells values is in fixtures/truth.
type generator struct {
	*rand.Rand
	types        []*goType
	decls, calls strings.Builder
	script       strings.Builder
	// shared are, by how a line begins, the variables in it that are pointers of code that instantiations share.
	shared map[string]map[int]bool
}

// basic lists types with the Go expression that makes a value of the number n.
var basic = []struct{ name, make string }{
	{"bool", "n&1 == 1"},
	{"int8", "int8(n)"},
	{"int16", "int16(n * 77)"},
	{"int32", "int32(n * 0x10001)"},
	{"int64", "int64(n * 0x100000001)"},
	{"int", "-int(n)"},
	{"uint8", "uint8(n * 3)"},
	{"uint16", "uint16(n * 99)"},
	{"uint32", "^uint32(n)"},
	{"uint64", "^uint64(n)"},
	{"uint", "uint(n)"},
	{"uintptr", "uintptr(n << 33)"},
	{"float32", "float32(n) / 4"},
	{"float64", "fraction(n)"},
	{"complex64", "complex(float32(n), 2)"},
	{"complex128", "complex(3, fraction(n))"},
	{"string", `"text"[n%5:] + strconv.FormatUint(n, 36)`},
	{"string", `string([]byte{0, '"', byte(n)})`},
	{"[]int16", "hold(make([]int16, n%4, n%4+n%3))"},
	{"[]string", "hold([]string{strconv.Itoa(int(n))})"},
	{"[]any", "selfSlice(n)"},
	{"[][]byte", `hold([][]byte{[]byte(text(n)), nil})`},
	{"any", "anything(n)"},
	{"any", "anything(n)"},
	{"error", "anyError(n)"},
	{"error", "anyError(n)"},
	{"fmt.Stringer", "fmt.Stringer(time.Duration(n))"},
	{"map[string]int", `hold(map[string]int{"b": -int(n), "a": int(n)})`},
	{"map[string]string", "grown(n, text, text)"},
	{"map[int32]*big", "bigMap(n)"},
	{"map[point]string", "small(n, func(n uint64) point { return point{int16(n), 2} }, text)"},
	{"map[[2]uint8]bool", "small(n, func(n uint64) [2]uint8 { return [2]uint8{byte(n), 1} }, " +
		"func(n uint64) bool { return n%2 == 0 })"},
	{"map[any]any", "small(n, anyKey, anything)"},
	{"map[float64]error", "small(n, fraction, anyError)"},
	{"map[*int64]int8", "small(n, func(n uint64) *int64 { return number(3*n + 1) }, " +
		"func(n uint64) int8 { return int8(n) })"},
	{"map[bool]struct{}", "small(n, func(n uint64) bool { return n%2 == 0 }, " +
		"func(uint64) struct{} { return struct{}{} })"},
	{"map[uint8]map[string]int", "small(n, func(n uint64) uint8 { return byte(n) }, " +
		"func(n uint64) map[string]int { return grown(n, text, func(n uint64) int { return int(n) }) })"},
	{"map[wide]wide", "small(n, func(n uint64) wide { return wide{n} }, func(n uint64) wide { return wide{1: n} })"},
	{"map[int]uint64", "grown(n*7, func(n uint64) int { return -int(n) }, func(n uint64) uint64 { return n })"},
	{"map[color]complex64", "small(n, func(n uint64) color { return color(n) }, " +
		"func(n uint64) complex64 { return complex(1, float32(n)) })"},
	{"chan int", "anyChan(n, func(n uint64) int { return int(n) })"},
	{"chan string", "anyChan(n, text)"},
	{"<-chan point", "(<-chan point)(anyChan(n, func(n uint64) point { return point{int16(n), 3} }))"},
	{"chan<- error", "(chan<- error)(anyChan(n, anyError))"},
	{"chan struct{}", "anyChan(n, func(uint64) struct{} { return struct{}{} })"},
	{"func() int", "anyFunc(n)"},
	{"unsafe.Pointer", "unsafe.Pointer(keep(new(uint64)))"},
	{"*int64", "number(n)"},
	{"***int16", "pointers(n)"},
	{"*any", "hold(&[]any{anything(n)}[0])"},
	{"[]byte", "hold([]byte(strconv.Itoa(int(n))))"},
	{"[2]any", "[2]any{anything(n), nil}"},
	{"time.Duration", "time.Duration(n * 1234567)"},
	{"time.Time", "time.Unix(int64(n), int64(n)).UTC()"},
	{"time.Time", "time.Now()"},
	{"*time.Time", "hold(&[]time.Time{time.Now().Add(time.Duration(n) * time.Hour)}[0])"},
	{"time.Month", "time.Month(n%12 + 1)"},
	{"time.Weekday", "time.Weekday(n % 7)"},
	{"color", "color(n % 4)"},
	{"broken", `broken{text(n), int(n)}`},
	{"tagged", "tagged{text(n), point{int16(n), 4}}"},
	{"*list", "newList(n)"},
	{"*ring", "newRing(n)"},
	{"*tree[string, int]", "newTree(n)"},
	{"box[int]", "box[int]{V: int(n), More: hold(make([]int, n%3))}"},
	{"box[string]", "box[string]{V: text(n)}"},
	{"box[*list]", "box[*list]{V: newList(n)}"},
	{"atomic.Pointer[int64]", "atomicPointer(n)"},
	{"atomic.Value", "atomicValue(n)"},
	{"atomic.Int64", "atomicInt(n)"},
	{"atomic.Uint32", "atomicUint(n)"},
	{"atomic.Bool", "atomicBool(n)"},
	{"sync.Mutex", "mutex(n)"},
	{"sync.RWMutex", "rwMutex(n)"},
	{"sync.WaitGroup", "waitGroup(n)"},
	{"sync.Once", "once(n)"},
	{"url.URL", "newURL(n)"},
	{"*url.URL", "hold(&[]url.URL{newURL(n)}[0])"},
	{"netip.Addr", "netAddr(n)"},
	{"netip.AddrPort", "netip.AddrPortFrom(netAddr(n), uint16(n))"},
	{"context.Context", "newContext(n)"},
}

// signatureHead begins the generated file.
const signatureHead = `package main

import (
	"context"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

var _ = []any{context.Background, fmt.Sprint, netip.Addr{}, url.URL{}, strconv.Itoa, new(sync.Mutex), new(atomic.Bool),
	time.Now, unsafe.Pointer(nil)}

`

// newType makes a type of the types that there are.
func (g *generator) newType() {
	id := len(g.types)
	name := fmt.Sprintf("T%d", id)
	t := &goType{name: name, make: fmt.Sprintf("make%d(next())", id)}
	d := &g.decls
	small := func(leaves int) *goType {
		for {
			if e := g.types[g.IntN(len(g.types))]; e.leaves <= leaves && e.depth < 3 {
				return e
			}
		}
	}
	switch g.IntN(4) {
	case 0: // array
		n := g.IntN(4)
		if g.IntN(3) == 0 {
			n = 1
		}
		e := small(6)
		t.leaves, t.depth = n*e.leaves, e.depth+1
		if n == 0 {
			t.leaves = 1
		}
		fmt.Fprintf(d, "type %s [%d]%s\n\nfunc make%d(n uint64) (v %s) {\n\tfor i := range v {\n\t\tv[i] = "+
			"%s\n\t}\n\treturn v\n}\n\n", name, n, e.name, id, name, e.make)
	default:
		var fields, set []string
		for i := range g.IntN(6) {
			e := small(5)
			if t.leaves+e.leaves > 24 {
				break
			}
			t.leaves += e.leaves
			t.depth = max(t.depth, e.depth)
			f := fmt.Sprintf("A%d", i)
			if strings.HasPrefix(e.name, "T") && g.IntN(4) == 0 &&
				!strings.Contains(strings.Join(fields, "\n"), e.name+"\n") {
				f = e.name
				fields = append(fields, "\t"+e.name+"\n")
				set = append(set, fmt.Sprintf("\tv.%s = %s\n", f, e.make))
				continue
			}
			fields = append(fields, fmt.Sprintf("\t%s %s\n", f, e.name))
			set = append(set, fmt.Sprintf("\tv.%s = %s\n", f, e.make))
		}
		t.depth++
		t.leaves = max(t.leaves, 1)
		fmt.Fprintf(d, "type %s struct {\n%s}\n\nfunc make%d(n uint64) (v %s) {\n%s\treturn v\n}\n\n", name,
			strings.Join(fields, ""), id, name, strings.Join(set, ""))
		if g.IntN(2) == 0 { // and a pointer to it
			p := &goType{name: "*" + name, leaves: t.leaves, depth: 9, make: fmt.Sprintf("keep(point%d())", id)}
			fmt.Fprintf(d, "func point%d() *%s { v := %s; return &v }\n\n", id, name, t.make)
			defer func() { g.types = append(g.types, p) }()
		}
	}
	g.types = append(g.types, t)
}

// function writes function n, its caller and its probes.
func (g *generator) function(n, all int) {
	pick := func() *goType { return g.types[g.IntN(len(g.types))] }
	type arg struct {
		name  string
		t     *goType
		shape string // the type parameter that stands for t
	}
	var params, results []arg
	for i := range g.IntN(12) {
		params = append(params, arg{name: fmt.Sprintf("p%d", i), t: pick()})
	}
	if g.IntN(5) == 0 && len(params) > 0 {
		params[g.IntN(len(params))].name = "_"
	}
	for i := range g.IntN(7) {
		results = append(results, arg{name: fmt.Sprintf("r%d", i), t: pick()})
	}
	named := g.IntN(2) == 0
	list := func(as []arg, names bool) string {
		var s []string
		for _, a := range as {
			t := a.t.name
			if a.shape != "" {
				t = a.shape
			}
			if names {
				t = a.name + " " + t
			}
			s = append(s, t)
		}
		return strings.Join(s, ", ")
	}
	name, head, on := fmt.Sprintf("F%d", n), "", ""
	probe, shape, captured := "main."+name, "", []arg(nil)
	switch g.IntN(6) {
	case 0: // generic: some of the parameters are of its type parameters
		var vars []string
		shapes := map[*goType]string{}
		for i := range params {
			// Code that instantiations share knows the form of a type, not its name.
			bare := !strings.Contains(params[i].t.name, ".") || params[i].t.name == "unsafe.Pointer"
			if t := params[i].t; t.depth < 9 && bare && g.IntN(2) == 0 {
				if shapes[t] == "" {
					shapes[t] = fmt.Sprintf("P%d", len(vars))
					vars = append(vars, shapes[t]+" any")
				}
				params[i].shape = shapes[t]
			}
		}
		if len(vars) > 0 {
			shape = "[" + strings.Join(vars, ", ") + "]"
			probe += "[...]"
		}
	case 1: // a closure
		for i := range 1 + g.IntN(4) {
			captured = append(captured, arg{name: fmt.Sprintf("c%d", i), t: pick()})
		}
		probe += ".func1"
	}
	if shape == "" && captured == nil && g.IntN(3) == 0 { // a method
		for {
			t := pick()
			if base := strings.TrimPrefix(t.name, "*"); strings.HasPrefix(base, "T") {
				head, on = fmt.Sprintf("(p99 %s) ", t.name), "a99."
				probe = "main." + t.name + "." + name
				if base != t.name {
					probe = "main.(" + t.name + ")." + name
				}
				params = append([]arg{{name: "p99", t: t}}, params...)
				break
			}
		}
	}
	rest := params
	if head != "" {
		rest = params[1:]
	}
	d, c, s := &g.decls, &g.calls, &g.script
	signature := fmt.Sprintf("(%s) (%s)", list(rest, true), list(results, named))
	if captured != nil {
		fmt.Fprintf(d, "//go:noinline\nfunc %s(%s) func(%s) (%s) {\n", name, list(captured, true), list(rest, false),
			list(results, false))
		if g.IntN(2) == 0 { // assigned again, so that it is captured by reference
			fmt.Fprintf(d, "\tif depth < 0 {\n\t\t%s = %s\n\t}\n", captured[0].name, captured[0].t.make)
		}
		fmt.Fprintf(d, "\treturn func%s {\n", signature)
		for _, a := range captured {
			fmt.Fprintf(d, "\tif depth < 0 {\n\t\thold(%s)\n\t}\n", a.name)
		}
	} else {
		fmt.Fprintf(d, "//go:noinline\nfunc %s%s%s%s {\n", head, name, shape, signature)
	}
	value := func(a arg) string { // a result: a parameter of its type, or a new value
		for _, p := range params {
			if p.t == a.t && p.name != "_" && p.shape == "" && g.IntN(3) > 0 {
				return p.name
			}
		}
		return a.t.make
	}
	var values, assigns []string
	for _, r := range results {
		v := value(r)
		values = append(values, v)
		assigns = append(assigns, fmt.Sprintf("\t%s = %s\n", r.name, v))
	}
	inner := ""
	if n+1 < all {
		inner = fmt.Sprintf("\tcall%d()\n", n+1+g.IntN(all-n-1))
	}
	ret := "\treturn " + strings.Join(values, ", ") + "\n"
	if shape == "" && g.IntN(2) == 0 {
		g.locals(n, probe)
	}
	switch g.IntN(6) {
	case 0:
		fmt.Fprintf(d, "\tuse(%d)\n%s", g.IntN(20), ret)
	case 1:
		fmt.Fprintf(d, "%s\tif next()%%3 == 0 {\n\t%s\t}\n\tuse(3)\n%[2]s", inner, ret)
	case 2:
		if named {
			fmt.Fprintf(d, "\tdefer func() {\n%s\t}()\n%s%s", strings.Join(assigns, ""), inner, ret)
		} else {
			fmt.Fprintf(d, "\tdefer use(2)\n%s%s", inner, ret)
		}
	case 3:
		if named {
			fmt.Fprintf(d, "\tdefer func() {\n\t\trecover()\n%s\t}()\n\tuse(1)\n\tpanic(name)\n",
				strings.Join(assigns, ""))
		} else {
			d.WriteString(ret)
		}
	case 4:
		fmt.Fprintf(d, "\tfor i := range 3 {\n\t\tif depth += i; depth > 1<<40 {\n\t\t\tbreak\n\t\t}\n\t}\n%s", ret)
	default:
		d.WriteString(ret)
	}
	if captured != nil {
		d.WriteString("}\n")
	}
	d.WriteString("}\n\n")

	text := func(mark string, as []arg, of func(int) string) (prog, script string) {
		line := fmt.Sprintf("%s F%d", mark, n)
		prog, script = fmt.Sprintf("\ttell(%q", line), fmt.Sprintf("printf(\"%s", line)
		args := ""
		for i, a := range as {
			if a.name == "_" {
				continue
			}
			prog += fmt.Sprintf(" + \"\\t\" + show(%s)", of(i))
			script += "\\t%s"
			switch {
			case strings.HasPrefix(a.name, "c"): // what is not used may be gone
				args += fmt.Sprintf(", @defined($%s$$) ? $%[1]s$$ : \"gone\"", a.name)
			case mark == "E" || named:
				args += ", $" + a.name + "$$"
			case len(as) == 1:
				args += ", $return$$"
			default:
				args += ", $return[" + strconv.Itoa(i) + "]$$"
			}
			if a.shape != "" && strings.HasPrefix(a.t.name, "*") { // what the shared code knows of it
				if g.shared[line] == nil {
					g.shared[line] = map[int]bool{}
				}
				g.shared[line][strings.Count(script, "%s")] = true
			}
		}
		return prog + ")\n", script + "\\n\"" + args + ")"
	}
	fmt.Fprintf(c, "func call%d() {\n\tif depth++; depth > 400 {\n\t\treturn\n\t}\n", n)
	var given, got, caught []string
	for _, p := range captured {
		fmt.Fprintf(c, "\t%s := %s\n", p.name, p.t.make)
		caught = append(caught, p.name)
	}
	if captured != nil {
		fmt.Fprintf(c, "\tf := hold(F%d(%s))\n", n, strings.Join(caught, ", "))
		name = "f"
	}
	for i, p := range params {
		v := fmt.Sprintf("a%d", i)
		if i == 0 && head != "" {
			v = "a99"
		} else {
			given = append(given, v)
		}
		fmt.Fprintf(c, "\t%s := %s\n", v, p.t.make)
	}
	prog, script := text("E", append(params[:len(params):len(params)], captured...), func(i int) string {
		switch {
		case i == 0 && head != "":
			return "a99"
		case i >= len(params):
			return captured[i-len(params)].name
		}
		return fmt.Sprintf("a%d", i)
	})
	c.WriteString(prog)
	fmt.Fprintf(s, "probe process(@1).function(%q) { %s }\n", probe, script)
	for i := range results {
		got = append(got, fmt.Sprintf("g%d", i))
	}
	call := fmt.Sprintf("%s%s(%s)", on, name, strings.Join(given, ", "))
	if len(got) > 0 {
		call = strings.Join(got, ", ") + " := " + call
	}
	prog, script = text("R", results, func(i int) string { return fmt.Sprintf("g%d", i) })
	fmt.Fprintf(c, "\t%s\n%s}\n\n", call, prog)
	fmt.Fprintf(s, "probe process(@1).function(%q).return { %s }\n", probe, script)
}

// locals writes local variables that change in a loop of function n, which the probe point names, and a line that
// writes down what they are.
func (g *generator) locals(n int, probe string) {
	d := &g.decls
	prog, script, args := fmt.Sprintf("tell(\"L F%d\"", n), fmt.Sprintf("printf(\"L F%d", n), ""
	var set []string
	for i := range 1 + g.IntN(4) {
		t := g.types[g.IntN(len(g.types))]
		fmt.Fprintf(d, "\tvar l%d %s\n", i, t.name)
		change := fmt.Sprintf("l%d = %s", i, t.make)
		if strings.HasPrefix(t.name, "*T") && g.IntN(2) == 0 {
			fmt.Fprintf(d, "\tl%d = %s\n", i, t.make)
			change = fmt.Sprintf("*l%d = *%s", i, t.make)
		}
		if i > 0 && g.IntN(3) == 0 {
			change = "if i == 1 {\n\t\t\t" + change + "\n\t\t}"
			if strings.HasPrefix(t.name, "*") {
				change += fmt.Sprintf(" else if l%d == nil {\n\t\t\tl%[1]d = %s\n\t\t}", i, t.make)
			}
		}
		set = append(set, "\t\t"+change+"\n")
		prog += fmt.Sprintf(" + \"\\t\" + show(l%d)", i)
		script += "\\t%s"
		args += fmt.Sprintf(", @defined($l%d$$) ? $l%[1]d$$ : \"gone\"", i)
	}
	prog += " + \"\\t\" + show(i)"
	args += ", @defined($i$$) ? $i$$ : \"gone\""
	line := 1000 * (n + 1)
	fmt.Fprintf(d, "\tfor i := range 3 {\n%s//line loc.go:%d\n\t\t%s)\n\t}\n", strings.Join(set, ""), line,
		prog)
	fmt.Fprintf(&g.script, "probe process(@1).statement(\"%s@loc.go:%d\") { %s\\t%%s\\n\"%s) }\n", probe, line, script,
		args)
}

// program gives the source and the script for a seed, and the pointers of shared code in the lines that both write.
// rounds is how often the program calls all its functions.
func program(seed uint64, rounds int) (source, script string, shared map[string]map[int]bool) {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 7)), shared: map[string]map[int]bool{}}
	for i, b := range basic {
		id := 1000 + i
		g.types = append(g.types, &goType{name: b.name, leaves: 3, make: fmt.Sprintf("make%d(next())", id)})
		fmt.Fprintf(&g.decls, "func make%d(n uint64) %s { return %s }\n\n", id, b.name, b.make)
	}
	for range 20 {
		g.newType()
	}
	const funcs = 24
	for i := range funcs {
		g.function(i, funcs)
	}
	var main strings.Builder
	fmt.Fprintf(&main, "func main() {\n\tuse(0)\n\tfor range %d {\n", rounds)
	for i := range funcs {
		fmt.Fprintf(&main, "\t\tdepth = 0\n\t\tcall%d()\n", i)
	}
	main.WriteString("\t}\n\tos.Stdout.WriteString(told.String())\n}\n")
	return signatureHead + g.decls.String() + g.calls.String() + main.String(), g.script.String(), g.shared
}
