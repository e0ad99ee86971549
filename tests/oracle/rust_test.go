package oracle

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// rustArgs writes a Rust program of functions with random arguments and results that tell each number in them, and the
// script that tells the same at their entries and returns.
type rustArgs struct {
	*rand.Rand
	src, script strings.Builder
}

// rustKind is a type: how one is made from the number k, and the numbers in it, for Rust and for the script.
type rustKind struct {
	typ, make string
	leafs     [][2]string
}

var rustKinds = []rustKind{
	{"i8", "k as i8", [][2]string{{"V", "$V"}}},
	{"u8", "(k * 7) as u8", [][2]string{{"V", "$V"}}},
	{"i16", "-k as i16", [][2]string{{"V", "$V"}}},
	{"u16", "(k * 900) as u16", [][2]string{{"V", "$V"}}},
	{"i32", "-k as i32", [][2]string{{"V", "$V"}}},
	{"u32", "!(k as u32)", [][2]string{{"V", "$V"}}},
	{"i64", "-k", [][2]string{{"V", "$V"}}},
	{"u64", "!(k as u64)", [][2]string{{"V", "$V"}}},
	{"usize", "k as usize", [][2]string{{"V", "$V"}}},
	{"bool", "k & 1 == 1", [][2]string{{"V", "$V"}}},
	{"char", "['a', 'é', '€', '𝄞'][(k & 3) as usize]", [][2]string{{"V as u32", "$V"}}},
	{"Color", "if k & 1 == 1 { Color::Red } else { Color::Blue }", [][2]string{{"V", "$V"}}},
	{"&'static i32", "&NUMS[(k & 7) as usize]", [][2]string{{"*V", "$V[0]"}}},
	{"&'static str", "&\"some text to cut\"[..(k & 15) as usize]", [][2]string{{"V.len()", "$V->length"}}},
	{"&'static [i32]", "&NUMS[(k & 3) as usize..]",
		[][2]string{{"V.len()", "$V->length"}, {"V[1]", "$V->data_ptr[1]"}}},
	{"&'static Pt", "&PTS[(k & 1) as usize]", [][2]string{{"V.x", "$V->x"}, {"V.y", "$V->y"}}},
	{"Box<i64>", "Box::new(k)", [][2]string{{"*V", "$V[0]"}}},
	{"String", "String::from(&\"some text to cut\"[..(k & 15) as usize])", [][2]string{{"V.len()", "$V->vec->len"}}},
	{"Vec<i32>", "NUMS[(k & 3) as usize..].to_vec()", [][2]string{{"V.len()", "$V->len"}}},
	{"Pt", "Pt { x: k as i32, y: -k }", [][2]string{{"V.x", "$V->x"}, {"V.y", "$V->y"}}},
	{"Small", "Small { a: k as u8, b: -k as i16 }", [][2]string{{"V.a", "$V->a"}, {"V.b", "$V->b"}}},
	{"New", "New(k as i32)", [][2]string{{"V.0", "$V->__0"}}},
	{"Big", "Big { a: [k as i32; 8], n: k as u64 }", [][2]string{{"V.a[3]", "$V->a[3]"}, {"V.n", "$V->n"}}},
	{"(i32, u8)", "(k as i32, 3)", [][2]string{{"V.0", "$V->__0"}, {"V.1", "$V->__1"}}},
	{"(i64, i64)", "(k, -k)", [][2]string{{"V.0", "$V->__0"}, {"V.1", "$V->__1"}}},
	{"(i64, i64, u8)", "(k, -k, 7)", [][2]string{{"V.0", "$V->__0"}, {"V.2", "$V->__2"}}},
	{"[u8; 3]", "[k as u8, 2, 3]", [][2]string{{"V[0]", "$V[0]"}, {"V[2]", "$V[2]"}}},
	{"[i64; 4]", "[k, 2, 3, -k]", [][2]string{{"V[0]", "$V[0]"}, {"V[3]", "$V[3]"}}},
	{"f64", "k as f64", nil},
	{"u128", "k as u128", nil},
	{"()", "()", nil},
	{"Option<i32>", "if k & 1 == 1 { Some(5) } else { None }", nil},
	{"Option<Box<i64>>", "if k & 1 == 1 { Some(Box::new(k)) } else { None }", nil},
	{"Result<u8, String>", "if k & 1 == 1 { Ok(5) } else { Err(String::new()) }", nil},
	{"Shape", "if k & 1 == 1 { Shape::Unit } else { Shape::Rect { w: k, h: 3 } }", nil},
	{"&'static dyn Fn(i64) -> i64", "&|x| x + 1", nil},
}

const rustHead = `#![allow(warnings)]
use std::hint::black_box;
#[derive(Clone, Copy)] pub enum Color { Red = 3, Blue = -7 }
#[derive(Clone)] pub enum Shape { Unit, Rect { w: i64, h: u8 } }
#[derive(Clone, Copy)] pub struct Pt { x: i32, y: i64 }
#[derive(Clone, Copy)] pub struct Small { a: u8, b: i16 }
#[derive(Clone, Copy)] pub struct New(i32);
#[derive(Clone, Copy)] pub struct Big { a: [i32; 8], n: u64 }
static NUMS: [i32; 8] = [10, 11, 12, 13, 14, 15, 16, 17];
static PTS: [Pt; 2] = [Pt { x: 4, y: -5 }, Pt { x: -6, y: 7 }];
#[inline(never)] fn tell(f: i32, i: i32, v: i64) { println!("TOLD {} {} {}", f, i, v); }
`

func (g *rustArgs) function(n int) (calls string) {
	var params, args, leafs, exprs []string
	for i := range 1 + g.IntN(8) {
		k, p := rustKinds[g.IntN(len(rustKinds))], fmt.Sprintf("p%d", i)
		params = append(params, p+": "+k.typ)
		args = append(args, strings.ReplaceAll("{ let k = k + N; M }", "N", fmt.Sprint(i)))
		args[i] = strings.Replace(args[i], "M", k.make, 1)
		for _, l := range k.leafs {
			leafs = append(leafs, strings.ReplaceAll(l[0], "V", p))
			exprs = append(exprs, strings.ReplaceAll(l[1], "V", p))
		}
	}
	result := rustKinds[g.IntN(len(rustKinds))]
	fmt.Fprintf(&g.src, "#[inline(never)] %sfn f%d(%s) -> %s {\n", []string{"pub ", ""}[g.IntN(2)], n,
		strings.Join(params, ", "), result.typ)
	for i, l := range leafs {
		fmt.Fprintf(&g.src, "\ttell(%d, %d, (%s) as i64);\n", n, i, l)
	}
	fmt.Fprintf(&g.src, "\tlet r: %s = { let k = black_box(%d); %s };\n", result.typ, g.IntN(100), result.make)
	const text = "\tif (@defined(%[1]s)) printf(\"GOT %[2]d %[3]d %[4]d %%d\\n\", %[1]s) else printf(\"GOT %[2]d " +
		"%[3]d %[4]d ?\\n\")\n"
	fmt.Fprintf(&g.script, "probe process(@1).function(\"args::f%d\").return {\n", n)
	for i, l := range result.leafs {
		fmt.Fprintf(&g.src, "\ttell(%d, %d, (%s) as i64);\n", n, len(leafs)+i, strings.ReplaceAll(l[0], "V", "r"))
		fmt.Fprintf(&g.script, text, strings.ReplaceAll(l[1], "$V", "$return"), 3, n, len(leafs)+i)
	}
	g.src.WriteString("\tr\n}\n")
	fmt.Fprintf(&g.script, "}\nprobe process(@1).function(\"args::f%d\").call {\n", n)
	for i, e := range exprs {
		fmt.Fprintf(&g.script, text, e, 0, n, i)
	}
	g.script.WriteString("}\n")
	use := []string{"", "black_box(", "black_box(&"}[g.IntN(3)]
	end := strings.Repeat(")", strings.Count(use, "("))
	return fmt.Sprintf("\t\t%sf%d(%s)%s;\n", use, n, strings.Join(args, ", "), end)
}

// TestRust: arguments and results of Rust functions are what the functions tell.
func TestRust(t *testing.T) {
	needRoot(t)
	need(t, "rustc") // it is no part of what the tests install: it has half a gigabyte
	var all Figures
	for _, seed := range Seeds(2, 12) {
		g := &rustArgs{Rand: rand.New(rand.NewPCG(seed, 13))}
		g.src.WriteString(rustHead)
		calls := ""
		for n := range 12 {
			calls += g.function(n)
		}
		g.src.WriteString("fn main() {\n\tfor k in 3..6i64 {\n" + calls + "\t}\n}\n")
		dir := t.TempDir()
		write(t, dir, "args.rs", g.src.String())
		write(t, dir, "args.stp", g.script.String())
		levels := []string{"0", "2"}
		if Full() {
			levels = []string{"0", "1", "2", "3", "s"}
		}
		for _, level := range levels {
			must(t, dir, nil, "rustc", "-g", "-Copt-level="+level, "-o", "args", "args.rs")
			out, errs, err := trace(t, dir, nil, "-w", "args.stp", "./args", "-c", "./args")
			if err != nil {
				t.Fatalf("seed %d opt-level %s: %v\n%s", seed, level, err, errs)
			}
			var f Figures
			compareArguments(&f, fmt.Sprintf("seed %d opt-level %s", seed, level), out)
			t.Logf("seed %d opt-level %s: %s", seed, level, &f)
			all.Add(&f)
		}
	}
	all.Report(t, 100)
}
