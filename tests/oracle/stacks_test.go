package oracle

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// Stacks of random programs against what they know of themselves: at the entry of a function, the chain that the Go
// runtime gives (runtime.Callers) or that a C or Rust program keeps by hand, with inlined functions; at moments of
// a clock, in prologues, epilogues and leaves without frames, that each function could have been called by the next
// one, and that the last one is main.

// callGraph is a program of functions f0 (main calls it) to fn, each of which calls some with greater numbers;
// those in inline are inlined.
type callGraph struct {
	*rand.Rand
	calls  [][]int
	inline []bool
	frame  []int // words of an array in it, 0 for none
}

func newCallGraph(seed uint64, n int) *callGraph {
	g := &callGraph{Rand: rand.New(rand.NewPCG(seed, 7)), calls: make([][]int, n), inline: make([]bool, n),
		frame: make([]int, n)}
	for i := range n {
		for to := i + 1; to < n; to++ {
			if to == i+1 || g.IntN(n-i) == 0 && len(g.calls[i]) < 3 {
				g.calls[i] = append(g.calls[i], to)
			}
		}
		g.inline[i] = i > 0 && g.IntN(3) == 0
		g.frame[i] = []int{0, 0, 1, 5, 40, 300}[g.IntN(6)]
	}
	return g
}

const shadowLeafC = `{ fprintf(stderr, "WANT leaf"); for (int i = depth - 1; i >= 0; i--) fprintf(stderr, " f%d", shadow[i]); fprintf(stderr, " main\n"); return x; }`

func (g *callGraph) c(sampled bool) string {
	var b strings.Builder
	b.WriteString("#include <stdio.h>\n#include <time.h>\nvolatile int depth, shadow[999]; volatile long sink;\n")
	if sampled {
		b.WriteString("__attribute__((noinline)) long leaf(long x) { for (int i = 0; i < 50; i++) x += x << 1 ^ i; " +
			"return x; }\n")
	} else {
		b.WriteString("__attribute__((noinline)) long leaf(long x) " + shadowLeafC + "\n")
	}
	for i := range slices.Backward(g.calls) {
		how := "__attribute__((noinline)) "
		if g.inline[i] {
			how = "static inline __attribute__((always_inline)) "
		}
		fmt.Fprintf(&b, "%slong f%d(long x)\n{\n", how, i)
		if !sampled {
			fmt.Fprintf(&b, "\tshadow[depth] = %d; depth++;\n", i)
		}
		if n := g.frame[i]; n > 0 {
			fmt.Fprintf(&b, "\tvolatile long room[%d]; room[x & %d %% %d] = x; x += room[0];\n", n, n, n)
		}
		for _, to := range g.calls[i] {
			fmt.Fprintf(&b, "\tx += f%d(x);\n", to)
		}
		b.WriteString("\tx += leaf(x) + 1;\n")
		if !sampled {
			b.WriteString("\tdepth--;\n")
		}
		b.WriteString("\tsink = x;\n\treturn x;\n}\n")
	}
	if sampled {
		b.WriteString("int main(void) { time_t end = time(0) + 3; do for (int i = 0; i < 20; i++) sink = f0(i); " +
			"while (time(0) < end); return 0; }\n")
	} else {
		b.WriteString("int main(void) { sink = f0(1); return 0; }\n")
	}
	return b.String()
}

func (g *callGraph) golang(sampled bool) string {
	var b strings.Builder
	b.WriteString("package main\n\nimport (\n\t\"os\"\n\t\"runtime\"\n\t\"time\"\n)\n\nvar sink int\nvar _, _, _ = " +
		"os.Args, runtime.GC, time.Now\n\n//go:noinline\nfunc leaf(x int) int {\n")
	if sampled {
		b.WriteString("\tfor i := 0; i < 50; i++ {\n\t\tx += x<<1 ^ i\n\t}\n\treturn x\n}\n")
	} else {
		b.WriteString(`	var pcs [200]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs[:])])
	s := "WANT"
	for {
		f, more := frames.Next()
		s += " " + f.Function
		if !more {
			break
		}
	}
	os.Stderr.WriteString(s + "\n")
	return x
}
`)
	}
	for i, calls := range g.calls {
		b.WriteString("\n")
		if !g.inline[i] {
			b.WriteString("//go:noinline\n")
		}
		fmt.Fprintf(&b, "func f%d(x int) int {\n", i)
		if n := g.frame[i]; n > 0 && !g.inline[i] {
			fmt.Fprintf(&b, "\tvar room [%d]int\n\troom[uint(x)%%%d] = x\n\tx += room[uint(x>>1)%%%d]\n", n, n, n)
		}
		for _, to := range calls {
			fmt.Fprintf(&b, "\tx += f%d(x)\n", to)
		}
		b.WriteString("\tx += leaf(x)\n\treturn x\n}\n")
	}
	if sampled {
		b.WriteString("\nfunc main() {\n\tfor end := time.Now().Add(3 * time.Second); time.Now().Before(end); " +
			"{\n\t\tsink = f0(sink)\n\t}\n}\n")
	} else {
		b.WriteString("\nfunc main() { sink = f0(1) }\n")
	}
	return b.String()
}

func (g *callGraph) rust(sampled bool) string {
	var b strings.Builder
	b.WriteString("use std::hint::black_box;\n#[allow(dead_code)] static mut DEPTH: usize = 0;\n#[allow(dead_code)] " +
		"static mut SHADOW: [i32; 999] = [0; 999];\n#[no_mangle] #[inline(never)]\npub extern \"C\" fn leaf(mut x: " +
		"i64) -> i64 {\n")
	if sampled {
		b.WriteString("    for i in 0..50 { x = x.wrapping_add((x << 1) ^ black_box(i)); }\n    x\n}\n")
	} else {
		b.WriteString("    unsafe { let mut s = String::from(\"WANT leaf\"); let mut i = DEPTH; while i > 0 { i -= " +
			"1; s.push_str(&format!(\" f{}\", SHADOW[i])); } eprintln!(\"{} main\", s); }\n    x += 1; x\n}\n")
	}
	for i, calls := range g.calls {
		how := "#[inline(never)]"
		if g.inline[i] {
			how = "#[inline(always)]"
		}
		fmt.Fprintf(&b, "#[no_mangle] %s\npub extern \"C\" fn f%d(mut x: i64) -> i64 {\n", how, i)
		if !sampled {
			fmt.Fprintf(&b, "    unsafe { SHADOW[DEPTH] = %d; DEPTH += 1; }\n", i)
		}
		if n := g.frame[i]; n > 0 {
			fmt.Fprintf(&b, "    let mut room = [0i64; %d]; room[x as usize %% %d] = x; x = "+
				"x.wrapping_add(black_box(&mut room)[0]);\n", n, n)
		}
		for _, to := range calls {
			fmt.Fprintf(&b, "    x = x.wrapping_add(f%d(x));\n", to)
		}
		b.WriteString("    x = x.wrapping_add(leaf(x));\n")
		if !sampled {
			b.WriteString("    unsafe { DEPTH -= 1; }\n")
		}
		b.WriteString("    black_box(x)\n}\n")
	}
	if sampled {
		b.WriteString("fn main() { let t = std::time::Instant::now(); let mut x = 0; while t.elapsed().as_secs() < 3 " +
			"{ x = f0(black_box(x)); } black_box(x); }\n")
	} else {
		b.WriteString("fn main() { black_box(f0(black_box(1))); }\n")
	}
	return b.String()
}

// stackBuild is a way to make a program of a source file.
type stackBuild struct {
	name, file string
	source     func(g *callGraph, sampled bool) string
	cmd        []string
	env        []string
	prefix     string // of the names of functions
}

func stackBuilds() []stackBuild {
	c := func(name string, cmd ...string) stackBuild {
		return stackBuild{name: name, file: "p.c", source: (*callGraph).c, cmd: append(cmd, "-g", "-o", "p", "p.c")}
	}
	golang := stackBuild{name: "go", file: "p.go", source: (*callGraph).golang,
		cmd: []string{"go", "build", "-o", "p", "p.go"}, env: []string{"GO111MODULE=off"}, prefix: "main."}
	out := []stackBuild{golang, c("gcc -O2", "gcc", "-O2", "-fomit-frame-pointer")}
	if Full() {
		pie := golang
		pie.name, pie.cmd = "go pie", []string{"go", "build", "-buildmode=pie", "-ldflags=-s -w", "-o", "p", "p.go"}
		out = append(out, pie, c("gcc -O1", "gcc", "-O1"), c("gcc -O3", "gcc", "-O3", "-fomit-frame-pointer"),
			c("clang -O2", "clang", "-O2", "-fomit-frame-pointer"),
			c("gcc .debug_frame", "gcc", "-O2", "-fomit-frame-pointer", "-fno-asynchronous-unwind-tables",
				"-fno-unwind-tables"),
			c("gcc frame pointers", "gcc", "-O2", "-fno-omit-frame-pointer"),
			stackBuild{name: "rust", file: "p.rs", source: (*callGraph).rust,
				cmd: []string{"rustc", "-O", "-g", "-A", "warnings", "-o", "p", "p.rs"}})
	}
	return out
}

// stackBlocks takes the stacks out of what was printed: the names, innermost first, and "..." for one that is cut.
func stackBlocks(out string) (all [][]string) {
	for _, block := range strings.Split(out, "STACK\n")[1:] {
		var names []string
		for _, line := range strings.Split(block, "\n") {
			_, name, ok := strings.Cut(line, " : ")
			if strings.TrimSpace(line) == "..." {
				name, ok = "...", true
			}
			if ok {
				name, _, _ = strings.Cut(name, " ")
				name, _, _ = strings.Cut(name, "+")
				names = append(names, strings.TrimPrefix(name, "p::")) // Rust's names have their crate
			}
		}
		all = append(all, names)
	}
	return all
}

// TestStacksAtEntry: every stack at the entry of leaf is the one that the program says.
func TestStacksAtEntry(t *testing.T) {
	needRoot(t)
	var all Figures
	least := 0
	for _, b := range stackBuilds() {
		var f Figures
		for _, seed := range Seeds(1, 12) {
			dir := t.TempDir()
			write(t, dir, b.file, b.source(newCallGraph(seed, 14), false))
			if err := try(dir, b.env, b.cmd[0], b.cmd[1:]...); err != nil {
				f.Note(b.name+" does not build here", 1)
				continue
			}
			least += 10
			out, errs, err := trace(t, dir, nil, "-s", "64", "-D", "MAXBACKTRACE=60", "-e",
				`probe process("./p").function("`+b.prefix+`leaf") { print("STACK\n") print_ubacktrace() }`, "-c",
				"./p")
			if err != nil {
				t.Fatalf("%s, seed %d: %v\n%s", b.name, seed, err, errs)
			}
			var want [][]string
			for _, line := range strings.Split(errs, "\n") {
				if said, ok := strings.CutPrefix(line, "WANT "); ok {
					want = append(want, strings.Fields(said))
				}
			}
			got := stackBlocks(out)
			if len(got) != len(want) {
				f.Wrong("%s, seed %d: %d stacks, the program has %d", b.name, seed, len(got), len(want))
				continue
			}
			for i := range got {
				// Below main there is what starts the program, of which only the Go runtime tells.
				switch n := min(len(want[i]), len(got[i])); {
				case slices.Equal(got[i][:n], want[i]):
					f.Equal(1)
				case slices.Contains(got[i], "..."):
					f.Refused(b.name + ": the stack is cut")
				default:
					f.Wrong("%s, seed %d, hit %d:\n got %v\nwant %v", b.name, seed, i, got[i], want[i])
				}
			}
		}
		t.Logf("%s: %s", b.name, &f)
		all.Add(&f)
	}
	all.Report(t, least)
}

// TestStacksSampled: at every moment of a clock the functions of a stack can have called each other, down to main.
func TestStacksSampled(t *testing.T) {
	needRoot(t)
	var all Figures
	for _, b := range stackBuilds() {
		var f Figures
		for _, seed := range Seeds(1, 3) {
			g := newCallGraph(seed, 12)
			dir := t.TempDir()
			write(t, dir, b.file, b.source(g, true))
			if err := try(dir, b.env, b.cmd[0], b.cmd[1:]...); err != nil {
				f.Note(b.name+" does not build here", 1)
				continue
			}
			out, errs, err := trace(t, dir, nil, "-s", "64", "-D", "MAXBACKTRACE=60", "-e",
				`probe perf.type(1).config(1).hz(1000).process { if (pid() == target()) { print("STACK\n") print_ubacktrace() } }`, "-c", "./p")
			if err != nil {
				t.Fatalf("%s, seed %d: %v\n%s", b.name, seed, err, errs)
			}
			edges := map[string]bool{"f0 main": true}
			for i, calls := range g.calls {
				edges[fmt.Sprintf("leaf f%d", i)] = true
				for _, to := range calls {
					edges[fmt.Sprintf("f%d f%d", to, i)] = true
				}
			}
			for _, names := range stackBlocks(out) {
				compareSample(&f, b, seed, edges, names)
			}
		}
		t.Logf("%s: %s", b.name, &f)
		all.Add(&f)
	}
	all.Report(t, 500)
}

// compareSample looks at the part of a stack that is the program's own.
func compareSample(f *Figures, b stackBuild, seed uint64, edges map[string]bool, names []string) {
	var own []string
	foreign := 0 // callees that are not the program's
	end := len(names)
	for i, name := range names {
		name, of := strings.CutPrefix(name, b.prefix)
		mine := of && (name == "main" || name == "leaf" || len(name) > 1 && name[0] == 'f' && name[1] >= '0' &&
			name[1] <= '9')
		switch {
		case mine && len(own) == 0:
			foreign = i
			own = append(own, name)
		case mine && own[len(own)-1] != "main":
			own = append(own, name)
		case len(own) > 0:
			end = min(end, i)
		}
	}
	cut := slices.Contains(names, "...")
	switch {
	case len(own) == 0 && cut:
		f.Note("cut, before the program's functions or in the dynamic linker", 1)
		return
	case len(own) == 0:
		f.Note("outside of the program's functions", 1)
		return
	case own[len(own)-1] != "main" && cut:
		f.Refused(b.name + ": the stack is cut")
		return
	case own[len(own)-1] != "main" || end < foreign+len(own):
		f.Wrong("%s, seed %d: %v does not come from main", b.name, seed, names)
		return
	}
	for i := 1; i < len(own); i++ {
		// What time.Now, the clock or the scheduler do is called by any of them.
		if !edges[own[i-1]+" "+own[i]] {
			f.Wrong("%s, seed %d: %s is not called by %s: %v", b.name, seed, own[i-1], own[i], names)
			return
		}
	}
	f.Equal(1)
}
