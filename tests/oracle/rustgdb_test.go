package oracle

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
)

// rustLocals writes a Rust program of functions with arguments and variables of the kinds of rustKinds, in blocks,
// loops, closures, methods, behind trait objects and with type parameters.
type rustLocals struct {
	*rand.Rand
	src strings.Builder
}

const rustLocalsHead = `
#[inline(never)] fn keep<T>(v: &T) { black_box(v); }
pub trait Area { fn area(&self, k: i64) -> i64; }
#[inline(never)] fn through(a: &dyn Area, k: i64) -> i64 { let n = a.area(k + 1); keep(&n); n + 2 }
`

func (g *rustLocals) emit(format string, args ...any) { fmt.Fprintf(&g.src, format+"\n", args...) }

func (g *rustLocals) kind() rustKind { return rustKinds[g.IntN(len(rustKinds))] }

// made is an expression that makes a value of k.
func (g *rustLocals) made(k rustKind) string {
	return fmt.Sprintf("{ let k = k + %d; %s }", g.IntN(9), k.make)
}

// body writes statements; k is the number that they work with.
func (g *rustLocals) body(tabs string, depth int) {
	for range 1 + g.IntN(2) {
		k := g.kind()
		name := fmt.Sprintf("v%d", g.IntN(3))
		g.emit("%slet %s: %s = %s;", tabs, name, k.typ, g.made(k))
		g.emit("%skeep(&%s);", tabs, name)
		if depth == 0 {
			continue
		}
		switch g.IntN(5) {
		case 0:
			g.emit("%sfor i in 0..2i64 {\n%s\tlet k = k + i;", tabs, tabs)
			g.body(tabs+"\t", depth-1)
			g.emit("%s}", tabs)
		case 1:
			g.emit("%sif k & %d == 0 {", tabs, 1+g.IntN(3))
			g.body(tabs+"\t", depth-1)
			g.emit("%s}", tabs)
		case 2:
			g.emit("%slet add = |x: i64| -> i64 {\n%s\tlet y = x * 3 + k;\n%s\tkeep(&%s);\n%s\ty + 1\n%s};", tabs, tabs,
				tabs, name, tabs, tabs)
			g.emit("%slet k = add(k) & 7;\n%skeep(&k);", tabs, tabs)
		}
	}
}

func (g *rustLocals) program(n int) string {
	g.src.WriteString(rustHead)
	g.src.WriteString(rustLocalsHead)
	calls := ""
	for i := range n {
		var params, args []string
		for j := range 1 + g.IntN(4) {
			k := g.kind()
			params = append(params, fmt.Sprintf("p%d: %s", j, k.typ))
			args = append(args, g.made(k))
		}
		result := g.kind()
		generic, extra := "", ""
		if i%4 == 3 {
			generic, extra = "<T: Copy>", ", t: T"
		}
		g.emit("#[inline(never)] fn f%d%s(k: i64, %s%s) -> %s {", i, generic, strings.Join(params, ", "), extra,
			result.typ)
		g.body("\t", 2)
		for j := range params {
			g.emit("\tkeep(&p%d);", j)
		}
		if extra != "" {
			g.emit("\tkeep(&t);")
		}
		g.emit("\tlet r: %s = %s;\n\tkeep(&r);\n\tr\n}", result.typ, g.made(result))
		all := "k, " + strings.Join(args, ", ")
		for _, t := range map[bool][]string{true: {", 7u8", ", (k, 3i16)"}, false: {""}}[extra != ""] {
			calls += fmt.Sprintf("\t\tkeep(&f%d(%s%s));\n", i, all, t)
		}
	}
	for i, self := range []string{"Pt { x: k as i32, y: -k }", "Small { a: 3, b: k as i16 }", "New(k as i32)"} {
		name, _, _ := strings.Cut(strings.ReplaceAll(self, "(", " "), " ")
		number := []string{"self.y", "self.b as i64", "self.0 as i64"}[i]
		g.emit("impl Area for %s {\n\tfn area(&self, k: i64) -> i64 {", name)
		g.emit("\t\tlet a = %s * k;\n\t\tkeep(&a);", number)
		g.body("\t\t", 1)
		g.emit("\t\ta + k\n\t}\n}")
		g.emit("impl %s {\n\t#[inline(never)] fn whole(self, k: i64) -> i64 {", name)
		g.emit("\t\tlet a = %s + k;\n\t\tkeep(&a);", number)
		g.emit("\t\ta\n\t}\n}")
		calls += fmt.Sprintf("\t\tkeep(&through(black_box(&%[1]s), k));\n\t\tkeep(&black_box(%[1]s).whole(k));\n", self)
	}
	return g.src.String() + "fn main() {\n\tfor k in 3..6i64 {\n\t\tlet k = black_box(k);\n" + calls + "\t}\n}\n"
}

// oldBlackBox is what std::hint::black_box was before it was stable, in Rust 1.66.
const oldBlackBox = `#[inline(always)] fn black_box<T>(x: T) -> T { ` +
	`unsafe { std::arch::asm!("/* {0} */", in(reg) &x, options(nostack, preserves_flags)); } x }`

// rustCompilers are that of the path, and in the full form that of the distribution too.
func rustCompilers(t *testing.T) []string {
	first := need(t, "rustc")
	const other = "/usr/bin/rustc"
	if _, err := exec.LookPath(other); err == nil && Full() && first != other {
		return []string{first, other}
	}
	return []string{first}
}

// TestRustGdb: variables of Rust at lines and entries, and results, are what gdb reads at the same addresses.
func TestRustGdb(t *testing.T) {
	needRoot(t)
	need(t, "gdb")
	need(t, "setarch")
	compilers := rustCompilers(t)
	var all Figures
	for _, seed := range Seeds(1, 6) {
		g := &rustLocals{Rand: rand.New(rand.NewPCG(seed, 22))}
		functions, levels := 5, []string{"2"}
		if Full() {
			functions, levels = 10, []string{"0", "1", "2", "3", "s"}
		}
		source := g.program(functions)
		for _, rustc := range compilers {
			for _, level := range levels {
				what := fmt.Sprintf("seed %d %s %s", seed, rustc, level)
				t.Run(strings.NewReplacer(" ", "_", "/", "_").Replace(what), func(t *testing.T) {
					dir := t.TempDir()
					text := source
					if rustc != compilers[0] {
						text = strings.Replace(text, "use std::hint::black_box;", oldBlackBox, 1)
					}
					write(t, dir, "locals.rs", text)
					must(t, dir, nil, rustc, "-g", "-Copt-level="+level, "-Crelocation-model=static",
						"-Ccodegen-units=1", "-o", "prog", "locals.rs")
					var f Figures
					againstWalk(t, &f, what, dir, "prog", "locals.rs", level != "0", rustUnlike)
					t.Logf("%s: %s", what, &f)
					all.Add(&f)
				})
			}
		}
	}
	all.Report(t, 200)
}

// rustUnlike tells what gdb has other rules for than Rust.
func rustUnlike(_ string, v walkValue) string {
	switch {
	case v.kind == "result" && v.expr != "$return" && v.expr != "$return[0]":
		return "results with members, which gdb takes to be returned as those of C"
	case v.size > 8:
		return "numbers of 16 bytes"
	}
	return ""
}
