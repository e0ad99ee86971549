package oracle

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// foreignGen makes a random program of values that says each of them, in a function that has it as its argument.
type foreignGen struct {
	*rand.Rand
	decls, calls strings.Builder
	types        int
}

func (g *foreignGen) pick(list ...string) string { return list[g.IntN(len(list))] }

// rust makes a type, nested up to depth deep, and a value of it; key: one that keys of maps can have.
func (g *foreignGen) rust(depth int, key bool) (typ, val string) {
	if depth <= 0 || key || g.IntN(4) == 0 {
		return g.rustLeaf(key)
	}
	t, v := g.rust(depth-1, false)
	same := func(n int) string { // n values of the type of v, if they may be copied: the same text again
		return strings.TrimSuffix(strings.Repeat(v+", ", n), ", ")
	}
	n := g.IntN(4)
	switch g.IntN(20) {
	case 0:
		return "Vec<" + t + ">", "vec![" + same(n) + "]"
	case 1:
		return fmt.Sprintf("[%s; %d]", t, n+1), "[" + same(n+1) + "]"
	case 2:
		return "Option<" + t + ">", g.pick("None", "Some("+v+")")
	case 3:
		u, w := g.rust(depth-1, false)
		return "Result<" + t + ", " + u + ">", g.pick("Ok("+v+")", "Err("+w+")")
	case 4:
		return "Box<" + t + ">", "Box::new(" + v + ")"
	case 5:
		return "Rc<" + t + ">", "Rc::new(" + v + ")"
	case 6:
		return "Arc<" + t + ">", "Arc::new(" + v + ")"
	case 7:
		return "RefCell<" + t + ">", "RefCell::new(" + v + ")"
	case 8:
		return "Mutex<" + t + ">", "Mutex::new(" + v + ")"
	case 9, 10:
		k, kv := g.rustLeaf(true)
		return "HashMap<" + k + ", " + t + ">", g.pick("HashMap::new()", "HashMap::from([("+kv+", "+v+")])")
	case 11:
		k, kv := g.rustLeaf(true)
		if g.IntN(2) == 0 {
			return "BTreeMap<" + k + ", " + t + ">", g.pick("BTreeMap::new()", "BTreeMap::from([("+kv+", "+v+")])")
		}
		return "HashSet<" + k + ">", g.pick("HashSet::new()", "HashSet::from(["+kv+"])")
	case 12:
		return "VecDeque<" + t + ">", "VecDeque::from(vec![" + same(n) + "])"
	case 13:
		u, w := g.rust(depth-1, false)
		return "(" + t + ", " + u + ")", "(" + v + ", " + w + ")"
	case 14:
		return "(" + t + ",)", "(" + v + ",)"
	case 15, 16:
		name := fmt.Sprintf("S%d", g.types)
		g.types++
		u, w := g.rust(depth-1, false)
		if g.IntN(2) == 0 {
			fmt.Fprintf(&g.decls, "#[derive(Debug)] struct %s { a: %s, b: %s }\n", name, t, u)
			return name, name + " { a: " + v + ", b: " + w + " }"
		}
		fmt.Fprintf(&g.decls, "#[derive(Debug)] struct %s(%s, %s);\n", name, t, u)
		return name, name + "(" + v + ", " + w + ")"
	}
	name := fmt.Sprintf("E%d", g.types)
	g.types++
	u, w := g.rust(depth-1, false)
	repr := g.pick("", "", "#[repr(u8)] ", "#[repr(i32)] ")
	fmt.Fprintf(&g.decls, "#[derive(Debug)] %senum %s { Zero, One(%s), Two { x: %s, y: %s }, Three }\n", repr, name, t,
		u, t)
	return name, name + "::" + g.pick("Zero", "One("+v+")", "Two { x: "+w+", y: "+v+" }", "Three")
}

// rustLeaf makes a type that has no others in it.
func (g *foreignGen) rustLeaf(key bool) (typ, val string) {
	n := g.IntN(256)
	i := g.IntN(11)
	if !key {
		i = g.IntN(20)
	}
	switch i {
	case 0:
		return "u8", fmt.Sprint(n, "u8")
	case 1:
		return "i16", fmt.Sprintf("(%di16)", -n)
	case 2:
		return "u32", fmt.Sprint(n*70000, "u32")
	case 3:
		return "i64", fmt.Sprintf("(%di64)", -n<<40)
	case 4:
		return "usize", fmt.Sprint(n, "usize")
	case 5:
		return "bool", g.pick("true", "false")
	case 6:
		return "char", "'" + g.pick("a", `\n`, "\u00e9", "\u20ac", `\'`, `\u{7f}`) + "'"
	case 7, 8:
		return "String", fmt.Sprintf("String::from(%s)",
			g.pick(`""`, `"x"`, `"\t\"q\" \u{e9}\u{1F600}"`, `"a longer text"`))
	case 9:
		return "&'static str", g.pick(`""`, `"str"`, `"\0\\"`)
	case 10:
		return "i128", fmt.Sprintf("(%di128 << 70)", n-128)
	case 11:
		return "f64", g.pick("0.0", "1.5", "-2.0", "1e300", "1e-7", "f64::NAN", "(1.0/3.0)")
	case 12:
		return "f32", g.pick("0.0", "0.1", "-1e20")
	case 13:
		return "()", "()"
	case 14:
		return "Duration", fmt.Sprintf("Duration::from_nanos(%d)", g.Uint64N(1<<(g.IntN(50)+1)))
	case 15:
		return "NonZeroU16", fmt.Sprintf("NonZeroU16::new(%d).unwrap()", n+1)
	case 16:
		return "Option<NonZeroU64>", fmt.Sprintf("NonZeroU64::new(%d)", g.IntN(2))
	case 17:
		return "AtomicI32", fmt.Sprintf("AtomicI32::new(%d)", -n)
	case 18:
		return "PathBuf", `PathBuf::from("/a/b c")`
	}
	return "&'static [u16]", "&[1, 2, 3][" + g.pick("..", "1..2", "3..") + "]"
}

const rustValues = `#![allow(warnings)]
use std::{cell::*, collections::*, fmt::Debug, num::*, path::PathBuf, rc::Rc, sync::atomic::*, sync::*, time::Duration};
#[inline(never)]
fn said_by_itself<T: Debug>(v: &T) { println!("{:?}", v); }
#[inline(never)]
fn opaque<'a, T>(v: &&'a T) -> &'a T { unsafe { std::ptr::read_volatile(v) } }
fn say<T: Debug>(v: T) { said_by_itself(opaque(&&v)); }
`

// TestForeignValues: what gostap shows of values of random types of Rust and C++ is what the program writes of them.
func TestForeignValues(t *testing.T) {
	needRoot(t)
	var all Figures
	for _, seed := range Seeds(2, 40) {
		for _, lang := range []string{"rust", "c++"} {
			g := &foreignGen{Rand: rand.New(rand.NewPCG(seed, 77))}
			dir := t.TempDir()
			var builds [][]string
			if lang == "rust" {
				for range 60 {
					typ, val := g.rust(1+g.IntN(4), false)
					fmt.Fprintf(&g.calls, "\tsay::<%s>(%s);\n", typ, val)
				}
				write(t, dir, "v.rs", rustValues+g.decls.String()+"fn main() {\n"+g.calls.String()+"}\n")
				for _, tool := range []string{"rustc", "/usr/bin/rustc"} {
					for _, level := range []string{"0", "2"} {
						builds = append(builds, []string{tool, "-g", "-Copt-level=" + level, "-o", "v", "v.rs"})
					}
				}
			} else {
				for range 60 {
					typ, val := g.cplus(1+g.IntN(4), false)
					fmt.Fprintf(&g.calls, "\tsay<%s>(%s);\n", typ, val)
				}
				write(t, dir, "v.cpp", cplusValues+g.decls.String()+"int main() {\n"+g.calls.String()+"}\n")
				// clang leaves out types that are in a library or never made, unless it is asked.
				for _, tool := range [][]string{{"g++", "-g"}, {"clang++", "-g", "-fstandalone-debug"},
					{"g++", "-g", "-D_GLIBCXX_USE_CXX11_ABI=0"}} {
					for _, level := range []string{"-O0", "-O2"} {
						builds = append(builds, append(slices.Clone(tool), "-std=c++17", level, "-o", "v", "v.cpp"))
					}
				}
			}
			for _, b := range builds {
				if _, err := exec.LookPath(b[0]); err != nil {
					continue
				}
				must(t, dir, nil, b[0], b[1:]...)
				var f Figures
				saidValues(t, &f, dir, fmt.Sprint("seed ", seed, " ", b))
				t.Logf("seed %d %v: %s", seed, b, &f)
				all.Add(&f)
			}
		}
	}
	all.Report(t, 200)
}

// saidValues compares the values that dir's program v says with what is shown of them.
func saidValues(t *testing.T, f *Figures, dir, what string) {
	said := filepath.Join(dir, "said")
	out, errs, err := trace(t, dir, nil, "-D", "MAXVALUEDEPTH=16", "-e",
		`probe process("./v").function("said_by_itself*") { println($v$$) }`, "-c", "./v >"+said)
	if err != nil {
		t.Fatalf("%s: %v\n%s", what, err, errs)
	}
	want, err := os.ReadFile(said)
	if err != nil {
		t.Fatal(err)
	}
	w, g := bytes.Split(want, []byte("\n")), strings.Split(out, "\n")
	if len(w) != len(g) {
		f.Wrong("%s: %d values, not %d\n%s", what, len(g), len(w), errs)
		return
	}
	for i := range w {
		if string(w[i]) == g[i] {
			f.Equal(1)
			continue
		}
		if strings.Contains(g[i], "_M_") {
			f.Refused("shown by its members: not all of the type is described")
			continue
		}
		f.Wrong("%s line %d\n got %s\nwant %s", what, i+1, g[i], w[i])
	}
}
