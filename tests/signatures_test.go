package tests

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// goType is a random type of the generated program: its spelling, and how to make a value of it and write it as "$x$$"
// does.
type goType struct {
	name   string
	leaves int // values in its text
	depth  int // of structures and arrays
	format string
	make   string
	kinds  []string // of itself and of what is in it, in order
}

// generator writes a Go program of functions with random signatures, whose callers write down each call's arguments and
// results, and the script that should see the same.
type generator struct {
	*rand.Rand
	types        []*goType
	decls, calls strings.Builder
	script       strings.Builder
	columns      map[string][][]string // by how a line begins: the kinds of each variable in it
}

func (g *generator) one(s ...string) string { return s[g.IntN(len(s))] }

// basic lists types with the Go expression that makes a value of the number n, and the one that writes the value v.
var basic = []struct{ name, make, format string }{
	{"bool", "n&1 == 1", "truth(v)"},
	{"int8", "int8(n)", "strconv.FormatInt(int64(v), 10)"},
	{"int16", "int16(n * 77)", "strconv.FormatInt(int64(v), 10)"},
	{"int32", "int32(n * 0x10001)", "strconv.FormatInt(int64(v), 10)"},
	{"int64", "int64(n * 0x100000001)", "strconv.FormatInt(int64(v), 10)"},
	{"int", "-int(n)", "strconv.FormatInt(int64(v), 10)"},
	{"uint8", "uint8(n * 3)", "strconv.FormatUint(uint64(v), 10)"},
	{"uint16", "uint16(n * 99)", "strconv.FormatUint(uint64(v), 10)"},
	{"uint32", "^uint32(n)", "strconv.FormatUint(uint64(v), 10)"},
	{"uint64", "^uint64(n)", "strconv.FormatUint(uint64(v), 10)"},
	{"uint", "uint(n)", "strconv.FormatUint(uint64(v), 10)"},
	{"uintptr", "uintptr(n << 33)", "strconv.FormatUint(uint64(v), 10)"},
	// What is in ~ may be a vector register's, which nobody sees.
	{"float32", "float32(n) / 4", `"~" + strconv.FormatFloat(float64(v), 'g', -1, 32) + "~"`},
	{"float64", "float64(n) / 8", `"~" + strconv.FormatFloat(v, 'g', -1, 64) + "~"`},
	{"complex64", "complex(float32(n), 2)",
		`"~" + strings.ReplaceAll(fmt.Sprint(v), "+Inf", "Inf") + "~"`},
	{"complex128", "complex(3, float64(n))",
		`"~" + strings.ReplaceAll(fmt.Sprint(v), "+Inf", "Inf") + "~"`},
	{"string", `"text"[n%5:] + strconv.FormatUint(n, 36)`, `"\"" + v + "\""`},
	{"[]int16", "hold(make([]int16, n%4, n%4+n%3))",
		"sliceText(fmt.Sprint(v), v == nil)"},
	{"[]string", "hold([]string{strconv.Itoa(int(n))})",
		`sliceText(fmt.Sprintf("%q", v), v == nil)`},
	{"any", "anything(n)", "dynamic(v)"},
	{"error", "anyError(n)", "dynamic(v)"},
	{"map[string]int", "hold(map[string]int{\"b\": -int(n), \"a\": int(n)})", "mapText(v)"},
	{"map[int32]*big", "bigMap(n)", "bigText(v)"},
	{"chan int", "anyChan(n)", "chanText(v)"},
	{"func() int", "anyFunc(n)", "funcText(v)"},
	{"unsafe.Pointer", "unsafe.Pointer(keep(new(uint64)))", "word(unsafe.Pointer(&v))"},
	{"*int64", "number(n)", "numberText(v)"},
	{"[]byte", "hold([]byte(strconv.Itoa(int(n))))", "sliceText(strconv.Quote(string(v)), v == nil)"},
	{"time.Duration", "time.Duration(n * 1234567)", "v.String()"},
	{"time.Time", "time.Unix(int64(n), int64(n)).UTC()", "v.Format(time.RFC3339Nano)"},
	{"*list", "newList(n)", "listText(v)"},
	{"atomic.Pointer[int64]", "atomicPointer(n)", "numberText(v.Load())"},
	{"time.Month", "time.Month(n%12 + 1)", "v.String()"},
	{"url.URL", `url.URL{Scheme: "https", Host: "h" + strconv.Itoa(int(n)), Path: "/a b"[:n%5], RawQuery: "q=1"[:n%4]}`,
		"strconv.Quote(v.String())"},
	{"sync.Mutex", "mutex(n)", "mutexText(&v)"},
	{"atomic.Int64", "atomicInt(n)", "strconv.FormatInt(v.Load(), 10)"},
	{"atomic.Bool", "atomicBool(n)", "strconv.FormatBool(v.Load())"},
	{"netip.Addr", "netAddr(n)", "v.String()"},
}

const signatureHead = `package main

import (
	"fmt"
	"os"
	"errors"
	"io/fs"
	"net/netip"
	"net/url"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

func mutex(n uint64) (m sync.Mutex) {
	if n%2 == 0 {
		m.Lock()
	}
	return m
}

func mutexText(m *sync.Mutex) string {
	if m.TryLock() {
		m.Unlock()
		return "{unlocked}"
	}
	return "{locked}"
}

func atomicInt(n uint64) (a atomic.Int64) {
	a.Store(-int64(n))
	return a
}

func atomicBool(n uint64) (a atomic.Bool) {
	a.Store(n%2 == 0)
	return a
}

func atomicPointer(n uint64) (a atomic.Pointer[int64]) {
	a.Store(number(n))
	return a
}

func netAddr(n uint64) (a netip.Addr) {
	switch n % 4 {
	case 0:
		return a
	case 1:
		return netip.AddrFrom4([4]byte{10, byte(n >> 8), byte(n), 1})
	case 2:
		return netip.AddrFrom16([16]byte{0x20, 1, 0xd, 0xb8, 15: byte(n)})
	}
	return netip.MustParseAddr("fe80::1%eth" + strconv.Itoa(int(n)))
}

var _ = []any{url.URL{}, netip.Addr{}, mutex, atomicInt}

type failure uint64

func (f *failure) Error() string { return "failure" }

type broken struct {
	Key  string
	Code int
}

func (b broken) Error() string { return "broken" }

type color uint8

type big struct {
	ID   int
	Rest [3]uint64
}

type list struct {
	V    int
	Next *list
}

// anything makes values of several types, dynamic the text of them.
func anything(n uint64) any {
	switch n % 9 {
	case 0:
		return nil
	case 1:
		return int(n)
	case 2:
		return "s" + strconv.Itoa(int(n))
	case 3:
		return color(n)
	case 4:
		return broken{"k", int(n)}
	case 5:
		return keep(&broken{"p", int(n)})
	case 6:
		return []int{int(n), 2}
	case 7:
		return n%2 == 0
	}
	return keep(new(int))
}

func anyError(n uint64) error {
	switch n % 8 {
	case 0:
		return nil
	case 1:
		return errors.New("plain " + strconv.Itoa(int(n)))
	case 2:
		return fmt.Errorf("wrap %d: %w", n, broken{"w", 1})
	case 3:
		return &fs.PathError{Op: "open", Path: "/x", Err: syscall.ENOENT}
	case 4:
		return syscall.Errno(n%30 + 1)
	case 5:
		return broken{"e", int(n)}
	case 6:
		return keep(&broken{"q", int(n)})
	}
	return keep(new(failure))
}

func dynamic(v any) string {
	switch v := v.(type) {
	case nil:
		return "nil"
	case string:
		return strconv.Quote(v)
	case bool:
		return strconv.FormatBool(v)
	case color:
		return fmt.Sprintf("main.color(%d)", v)
	case broken:
		return fmt.Sprintf("main.broken{Key:%q, Code:%d}", v.Key, v.Code)
	case *broken:
		return fmt.Sprintf("&main.broken{Key:%q, Code:%d}", v.Key, v.Code)
	case *failure:
		return fmt.Sprintf("*main.failure(&%d)", *v)
	case *int:
		return fmt.Sprintf("*int(&%d)", *v)
	case syscall.Errno, *fs.PathError:
		return fmt.Sprintf("%T(%q)", v, v)
	}
	if e, ok := v.(error); ok {
		s := fmt.Sprintf("%T(%q", v, e.Error())
		if w := errors.Unwrap(e); w != nil {
			s += " <- " + dynamic(w)
		}
		return s + ")"
	}
	return fmt.Sprintf("%T(%v)", v, v)
}

func sliceText(s string, isNil bool) string {
	if isNil {
		return "nil"
	}
	return s
}

func mapText(m map[string]int) string {
	if m == nil {
		return "nil"
	}
	var s []string
	for k, v := range m {
		s = append(s, fmt.Sprintf("%q:%d", k, v))
	}
	sort.Strings(s)
	return "map[" + strings.Join(s, " ") + "]"
}

func bigMap(n uint64) map[int32]*big {
	if n%5 == 0 {
		return nil
	}
	m := hold(map[int32]*big{})
	for i := range n % 30 {
		m[int32(i)-3] = &big{int(n), [3]uint64{i, n, 7}}
	}
	for i := range n % 30 {
		if i%3 == 1 {
			delete(m, int32(i)-3)
		}
	}
	return m
}

func bigText(m map[int32]*big) string {
	if m == nil {
		return "nil"
	}
	var s []string
	for k := int32(-3); k < 40; k++ {
		if v := m[k]; v != nil {
			s = append(s, fmt.Sprintf("%d:&{ID:%d, Rest:%v}", k, v.ID, v.Rest))
		}
	}
	return "map[" + strings.Join(s, " ") + "]"
}

func anyChan(n uint64) chan int {
	if n%4 == 0 {
		return nil
	}
	c := hold(make(chan int, n%4))
	for i := range n % 6 {
		if i > n%4 {
			<-c
		}
		if len(c) < cap(c) {
			c <- int(n + i)
		}
	}
	if len(c) == 0 && n%3 == 1 {
		close(c)
	}
	return c
}

func chanText(c chan int) string {
	if c == nil {
		return "nil"
	}
	var s []string
	closed, n := false, len(c)
	for range n {
		v := <-c
		s = append(s, strconv.Itoa(v))
	}
	select {
	case _, ok := <-c:
		closed = !ok
	default:
	}
	for _, v := range s {
		if !closed {
			x, _ := strconv.Atoi(v)
			c <- x
		}
	}
	text := fmt.Sprintf("chan(%d/%d", n, cap(c))
	if closed {
		text += ", closed"
	}
	text += ")"
	if n > 0 {
		text += "[" + strings.Join(s, " ") + "]"
	}
	return text
}

func one() int { return 1 }

func anyFunc(n uint64) func() int {
	if n%2 == 0 {
		return nil
	}
	return one
}

func funcText(f func() int) string {
	if f == nil {
		return "nil"
	}
	return "main.one"
}

func number(n uint64) *int64 {
	if n%3 == 0 {
		return nil
	}
	p := keep(new(int64))
	*p = -int64(n)
	return p
}

func numberText(p *int64) string {
	if p == nil {
		return "nil"
	}
	return "&" + strconv.FormatInt(*p, 10)
}

func newList(n uint64) *list {
	l := keep(&list{int(n), &list{1, nil}})
	if n%2 == 0 {
		l.Next.Next = l
	}
	return l
}

func listText(l *list) string {
	if l == nil {
		return "nil"
	}
	end := "nil"
	if l.Next.Next != nil {
		end = fmt.Sprintf("&{...%p}", l)
	}
	return fmt.Sprintf("&{V:%d, Next:&{V:1, Next:%s}}", l.V, end)
}

var (
	counter uint64
	told    strings.Builder
	kept    []any
	depth   int
)

func next() uint64 { counter++; return counter }

func keep[T any](p *T) *T { kept = append(kept, p); return p }

func hold[T any](v T) T { kept = append(kept, v); return v } // what it points to is on the heap, and stays where it is

func truth(b bool) string {
	return strconv.FormatBool(b)
}

func word(p unsafe.Pointer) string {
	if *(*uintptr)(p) == 0 {
		return "nil"
	}
	return fmt.Sprintf("0x%x", *(*uintptr)(p))
}

//go:noinline
func use(n int) (sum int) {
	var b [300]byte
	if n > 0 {
		sum = use(n - 1)
	}
	for i := range b {
		sum += int(b[i])
	}
	return sum
}

var _ = strconv.Itoa
`

// newType makes a type of the types that there are.
func (g *generator) newType() {
	id := len(g.types)
	name := fmt.Sprintf("T%d", id)
	t := &goType{name: name, make: fmt.Sprintf("make%d(next())", id), format: fmt.Sprintf("text%d", id)}
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
		t.kinds = append([]string{"array"}, slices.Repeat(e.kinds, n)...)
		if n == 0 {
			t.leaves = 1
		}
		fmt.Fprintf(d, "type %s [%d]%s\n\nfunc make%d(n uint64) (v %s) {\n\tfor i := range v {\n\t\tv[i] = "+
			"%s\n\t}\n\treturn v\n}\n\n", name, n, e.name, id, name, e.make)
		fmt.Fprintf(d, "func text%d(v %s) string {\n\tvar s []string\n\tfor _, e := range v {\n\t\ts = append(s, "+
			"%s(e))\n\t}\n\treturn \"[\" + strings.Join(s, \" \") + \"]\"\n}\n\n", id, name, e.format)
	default:
		var fields, set, text []string
		t.kinds = []string{"structure"}
		for i := range g.IntN(6) {
			e := small(5)
			if t.leaves+e.leaves > 24 {
				break
			}
			t.leaves += e.leaves
			t.kinds = append(t.kinds, e.kinds...)
			t.depth = max(t.depth, e.depth)
			f := fmt.Sprintf("A%d", i)
			switch {
			case g.IntN(12) == 0:
				fields = append(fields, "\t_ "+g.one("int8", "int32", "int64", "[3]byte"))
				text = append(text, "")
				fields, text = fields[:len(fields)-1], text[:len(text)-1]
			case strings.HasPrefix(e.name, "T") && g.IntN(4) == 0 &&
				!strings.Contains(strings.Join(fields, "\n"), e.name+"\n"):
				f = e.name
				fields = append(fields, "\t"+e.name+"\n")
				set = append(set, fmt.Sprintf("\tv.%s = %s\n", f, e.make))
				text = append(text, fmt.Sprintf("\"%s:\" + %s(v.%s)", f, e.format, f))
				continue
			}
			fields = append(fields, fmt.Sprintf("\t%s %s\n", f, e.name))
			set = append(set, fmt.Sprintf("\tv.%s = %s\n", f, e.make))
			text = append(text, fmt.Sprintf("\"%s:\" + %s(v.%s)", f, e.format, f))
		}
		t.depth++
		t.leaves = max(t.leaves, 1)
		fmt.Fprintf(d, "type %s struct {\n%s}\n\nfunc make%d(n uint64) (v %s) {\n%s\treturn v\n}\n\n", name,
			strings.Join(fields, ""), id, name, strings.Join(set, ""))
		if len(text) == 0 {
			text = []string{`""`}
		}
		fmt.Fprintf(d, "func text%d(v %s) string {\n\treturn \"{\" + %s + \"}\"\n}\n\n", id, name,
			strings.Join(text, ` + ", " + `))
		if g.IntN(2) == 0 { // and a pointer to it
			p := &goType{name: "*" + name, leaves: t.leaves, depth: 9, make: fmt.Sprintf("keep(point%d())", id),
				format: fmt.Sprintf("behind%d", id), kinds: append([]string{"pointer"}, t.kinds...)}
			fmt.Fprintf(d, "func point%d() *%s { v := %s; return &v }\n\nfunc behind%[1]d(p *%[2]s) string { return "+
				"\"&\" + text%[1]d(*p) }\n\n", id, name, t.make)
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
		prog, script = fmt.Sprintf("\ttold.WriteString(\"%s F%d\"", mark, n), fmt.Sprintf("printf(\"%s F%d", mark, n)
		args, line := "", fmt.Sprintf("%s F%d", mark, n)
		for i, a := range as {
			if a.name == "_" {
				continue
			}
			g.columns[line] = append(g.columns[line], a.t.kinds)
			prog += fmt.Sprintf(" + \" | \" + %s(%s)", a.t.format, of(i))
			script += " | %s"
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
				kinds := g.columns[line]
				format := fmt.Sprintf(" + \" | \" + %s(%s)", a.t.format, of(i))
				prog = strings.TrimSuffix(prog, format)
				prog += fmt.Sprintf(" + \" | \" + word(unsafe.Pointer(&%s))", of(i))
				kinds[len(kinds)-1] = []string{"pointer"}
			}
		}
		return prog + " + \"\\n\")\n", script + "\\n\"" + args + ")"
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
	prog, script, args := fmt.Sprintf("told.WriteString(\"L F%d\"", n), fmt.Sprintf("printf(\"L F%d", n), ""
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
		prog += fmt.Sprintf(" + \" | \" + %s(l%d)", t.format, i)
		script += " | %s"
		args += fmt.Sprintf(", @defined($l%d$$) ? $l%[1]d$$ : \"gone\"", i)
		key := fmt.Sprintf("L F%d", n)
		g.columns[key] = append(g.columns[key], t.kinds)
	}
	prog += " + \" | \" + strconv.Itoa(i)"
	args += ", @defined($i$$) ? $i$$ : \"gone\""
	line := 1000 * (n + 1)
	fmt.Fprintf(d, "\tfor i := range 3 {\n%s//line loc.go:%d\n\t\t%s + \"\\n\")\n\t}\n", strings.Join(set, ""), line,
		prog)
	fmt.Fprintf(&g.script, "probe process(@1).statement(\"%s@loc.go:%d\") { %s | %%s\\n\"%s) }\n", probe, line, script,
		args)
}

// program gives the source and the script for a seed, and the kinds of the variables in the lines that both write.
func program(seed uint64) (source, script string, columns map[string][][]string) {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 7)), columns: map[string][][]string{}}
	for i, b := range basic {
		if v := os.Getenv("GOSTAP_TOOLCHAIN"); b.name == "netip.Addr" && v != "" && v < "go1.23" {
			continue // shown by its members there
		}
		id := 1000 + i
		g.types = append(g.types, &goType{name: b.name, leaves: 3, make: fmt.Sprintf("make%d(next())", id),
			format: fmt.Sprintf("text%d", id), kinds: []string{kindOf(b.name)}})
		fmt.Fprintf(&g.decls, "func make%d(n uint64) %s { return %s }\n\nfunc text%[1]d(v %[2]s) string { return "+
			"%[4]s }\n\n", id, b.name, b.make, b.format)
	}
	for range 20 {
		g.newType()
	}
	const funcs = 24
	for i := range funcs {
		g.function(i, funcs)
	}
	var main strings.Builder
	main.WriteString("func main() {\n\tuse(0)\n")
	for i := range funcs {
		fmt.Fprintf(&main, "\tdepth = 0\n\tcall%d()\n", i)
	}
	main.WriteString("\tos.Stdout.WriteString(told.String())\n}\n")
	return strings.Replace(signatureHead, "var _ =", "var name = \"x\"\n\nvar _ =", 1) + g.decls.String() +
		g.calls.String() + main.String(), g.script.String(), g.columns
}

// sameValue reports whether got is the text that want means, where what is in ~ may be ? instead, and which of those
// are shown.
func sameValue(got, want string) (shown []bool, same bool) {
	for i, piece := range strings.Split(want, "~") {
		if i%2 == 1 && strings.HasPrefix(got, "?") {
			got, shown = got[1:], append(shown, false)
			continue
		}
		rest, ok := strings.CutPrefix(got, piece)
		if !ok {
			return shown, false
		}
		if got = rest; i%2 == 1 {
			shown = append(shown, true)
		}
	}
	return shown, got == ""
}

// TestSignatures: functions with random parameters and results, written and called by a random program. What gostap
// shows of them at entries and returns, and, without optimisation, of local variables at a line in between, is what
// their callers write down. GOSTAP_SEEDS says how many programs (1), GOSTAP_SEED with which one to begin, GOSTAP_BUILDS
// how else to build them ("-race;-buildmode=pie,-ldflags=-w"), GOSTAP_TOOLCHAIN with which Go ("go1.22.12").
func TestSignatures(t *testing.T) {
	needRoot(t)
	seeds, first := 1, uint64(1)
	if n, err := strconv.Atoi(os.Getenv("GOSTAP_SEEDS")); err == nil {
		seeds = n
	}
	if n, err := strconv.ParseUint(os.Getenv("GOSTAP_SEED"), 10, 64); err == nil {
		first = n
	}
	dir, kinds := t.TempDir(), kindTable{}
	for seed := first; seed < first+uint64(seeds); seed++ {
		source, script, columns := program(seed)
		src := filepath.Join(dir, "main.go")
		if err := os.WriteFile(src, []byte(source), 0o644); err != nil {
			t.Fatal(err)
		}
		builds := [][]string{nil, {"-gcflags=-N -l"}, {"-buildmode=pie"}}
		if other := os.Getenv("GOSTAP_BUILDS"); other != "" {
			builds = nil
			for _, flags := range strings.Split(other, ";") {
				builds = append(builds, strings.Split(flags, ","))
			}
		}
		for _, flags := range builds {
			t.Run(fmt.Sprint(seed, flags), func(t *testing.T) {
				prog := filepath.Join(dir, "prog")
				build := exec.Command("go", append(append([]string{"build", "-o", prog}, flags...), src)...)
				build.Dir = dir
				if v := os.Getenv("GOSTAP_TOOLCHAIN"); v != "" {
					build.Env = append(os.Environ(), "GOTOOLCHAIN="+v)
				}
				if msg, err := build.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, msg)
				}
				out := filepath.Join(dir, "out")
				s := begin(t, "-e", script, prog, "-c", prog+" > "+out)
				status := s.end()
				if status != 0 || s.stderr() != "" {
					t.Errorf("status %d\n%s", status, s.stderr())
				}
				want, err := os.ReadFile(out)
				if err != nil || len(want) < 1000 {
					t.Fatalf("the program wrote %d bytes, %v", len(want), err)
				}
				got := s.stdout()
				a, b := strings.Split(got, "\n"), strings.Split(string(want), "\n")
				gone, before := 0, *kinds.of("float")
				same := func(got, want string) bool {
					g, w := strings.Split(got, " | "), strings.Split(want, " | ")
					if len(g) != len(w) || g[0] != w[0] {
						return false
					}
					cols, all := append(columns[w[0]], []string{"integer"}), true // the last one of a line: i
					for i := 1; i < len(g); i++ {
						shown, ok := sameValue(g[i], w[i])
						switch of := cols[i-1]; {
						case g[i] == "gone":
							kinds.of(of[0]).gone++
							if !strings.HasPrefix(w[i], "~") {
								gone++
							}
						case !ok:
							kinds.of(of[0]).wrong++
							all = false
						default:
							kinds.column(of, shown)
						}
					}
					return all
				}
				whole := slices.Contains(flags, "-gcflags=-N -l")
				if !whole {
					// Optimised code may come by a line on several ways, of which a site is one, and before what stands
					// above it.
					isLine := func(l string) bool { return strings.HasPrefix(l, "L ") }
					a, b = slices.DeleteFunc(a, isLine), slices.DeleteFunc(b, isLine)
				}
				shown := 0
				for i := range min(len(a), len(b)) {
					if !same(a[i], b[i]) {
						t.Errorf("line %d\n got %s\nwant %s", i, a[i], b[i])
						if shown++; shown > 5 {
							break
						}
					}
				}
				if len(a) != len(b) {
					t.Errorf("%d lines of %d", len(a), len(b))
				}
				if kinds.of("float").equal == before.equal && seed == 1 {
					t.Error("no fraction was shown")
				}
				if gone > 0 && whole {
					t.Errorf("%d variables are not there without optimisation", gone)
				}
			})
		}
	}
	t.Logf("values by their kinds:\n%s", kinds)
}
