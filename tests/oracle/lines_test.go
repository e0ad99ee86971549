package oracle

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// lines writes a C program of random statements, one to a line, that counts how often each line runs.
type lines struct {
	*rand.Rand
	src   strings.Builder
	line  int
	count []int // the lines with a counter
	funcs int
	loops int
}

func (g *lines) emit(format string, args ...any) {
	fmt.Fprintf(&g.src, format+"\n", args...)
	g.line++
}

// counted writes a line, which is one statement, that counts itself.
func (g *lines) counted(format string, args ...any) {
	g.count = append(g.count, g.line+1)
	s, count := fmt.Sprintf(format, args...), fmt.Sprintf("N(%d), ", g.line+1)
	for _, begin := range []string{"if (", "int n = ("} {
		if rest, ok := strings.CutPrefix(s, begin); ok {
			g.emit("%s", "\t"+begin+count+rest)
			return
		}
	}
	g.emit("%s", "\t"+count+s)
}

func (g *lines) expr() string {
	one := func() string { return []string{"x", "y", "z", "7", "b[x & 7]", "3"}[g.IntN(6)] }
	return fmt.Sprintf("%s %s %s", one(), []string{"+", "-", "*", "^", "&"}[g.IntN(5)], one())
}

func (g *lines) block(depth int) {
	for range 2 + g.IntN(3) {
		v := []string{"x", "y", "z"}[g.IntN(3)]
		switch k := g.IntN(9); {
		case k == 0 && depth > 0:
			g.counted("if (__builtin_expect((%s) == %d, 0)) {", g.expr(), g.IntN(5))
			g.block(depth - 1)
			g.counted("oops(%s); }", v)
		case k == 1 && depth > 0:
			g.counted("if ((%s) & 1) {", g.expr())
			g.block(depth - 1)
			g.counted("%s += 1; } else {", v)
			g.block(depth - 1)
			g.counted("%s -= 1; }", v)
		case k == 2 && depth > 0 && g.loops < 2:
			g.loops++
			g.emit("\t{")
			g.counted("int n = (%s) & 3;", g.expr())
			g.emit("\tfor (int i = 0; i < n; i++) {")
			g.block(depth - 1)
			g.emit("\t} }")
			g.loops--
		case k == 3 && g.funcs > 0:
			g.counted("%s += f%d(%s, y & 7);", v, g.IntN(g.funcs), g.expr())
		case k == 4:
			g.counted("b[%s & 7] = %s;", v, g.expr())
		case k == 5 && depth > 0:
			g.counted("if (__builtin_expect(x == %d, 0)) goto out;", g.IntN(50))
		default:
			g.counted("%s = %s;", v, g.expr())
		}
	}
}

func (g *lines) program(funcs int) string {
	g.emit("#include <stdio.h>")
	g.emit("long c[2000]; unsigned b[8]; volatile unsigned sink;")
	g.emit("#define N(l) c[l]++")
	g.emit("__attribute__((cold, noinline)) void oops(unsigned n) { sink += n; }")
	for n := range funcs {
		g.funcs = n
		g.emit("%s unsigned f%d(unsigned x, unsigned y)",
			[]string{"__attribute__((noinline))", "static __attribute__((noinline))", "static inline",
				"static"}[g.IntN(4)], n)
		g.emit("{")
		g.emit("\tunsigned z = x + y;")
		g.block(3)
		g.emit("out:")
		g.counted("sink += z;")
		g.emit("\treturn x ^ y ^ z;")
		g.emit("}")
	}
	g.emit("int main(void)")
	g.emit("{")
	for n := range funcs {
		g.emit("\tfor (unsigned i = 0; i < 30; i++) sink += f%d(i * 7, i);", n)
	}
	g.emit("\tfor (int i = 0; i < 2000; i++) if (c[i]) printf(\"LINE %%d %%ld\\n\", i, c[i]);")
	g.emit("}")
	return g.src.String()
}

// TestLines: a line of C is hit as often as it runs, in functions, their cold parts and their inlined copies.
func TestLines(t *testing.T) {
	needRoot(t)
	var f Figures
	for _, seed := range Seeds(1, 10) {
		g := &lines{Rand: rand.New(rand.NewPCG(seed, 3))}
		dir := t.TempDir()
		write(t, dir, "lines.c", g.program(5))
		var script strings.Builder
		script.WriteString("global n\n")
		for _, l := range g.count {
			fmt.Fprintf(&script, "probe process(@1).statement(\"*@lines.c:%d\") ? { n[%d, uaddr()]++ }\n", l, l)
		}
		script.WriteString("probe end { foreach ([l, pc] in n) printf(\"HIT %d %d\\n\", l, n[l, pc]) }\n")
		write(t, dir, "lines.stp", script.String())
		for _, b := range cBuilds(t) {
			must(t, dir, nil, b.cc, append(append([]string{}, b.flags...), "-w", "-g", "-o", "lines", "lines.c")...)
			out, errs, err := trace(t, dir, nil, "-w", "-D", "MAXMAPENTRIES=20000", "lines.stp", "./lines", "-c",
				"./lines")
			if err != nil {
				t.Fatalf("seed %d %s: %v\n%s", seed, b, err, errs)
			}
			said, places := told(out, "LINE "), map[string][]int{}
			hits := map[string]string{}
			for line := range strings.Lines(out) {
				var l, n int
				if k, _ := fmt.Sscanf(line, "HIT %d %d", &l, &n); k == 2 {
					places[fmt.Sprint(l)] = append(places[fmt.Sprint(l)], n)
				}
			}
			for l, list := range places {
				sum := 0
				for _, n := range list {
					sum += n
				}
				hits[l] = fmt.Sprint(sum)
			}
			var differ []string
			for line, n := range said {
				if hits[line] == n {
					f.Equal(1)
				} else {
					differ = append(differ, line)
				}
			}
			gdb := gdbHits(t, dir, "./lines", differ)
			for _, line := range differ {
				switch {
				case b.flags[0] != "-O0" && gdb[line] != "" && gdb[line] != said[line]:
					// The line table does not tell where runs of the line begin.
					f.Note(b.String()+": lines that gdb does not count right either", 1)
				case b.cc == "clang" && b.flags[0] != "-O0" && surplus(places[line], said[line]):
					// Stores that were moved behind a loop, for one: the line table has them as it has a run of the
					// line that follows the loop, and LLVM writes both for loops. gdb takes the first address of a
					// block alone, which is right here, and wrong where the other is a run.
					f.Note(b.String()+": lines with a place that is no run, of which the line table does not tell", 1)
				case hits[line] == "":
					f.Refused("no code has the line, at " + b.String())
				default:
					f.Wrong("seed %d %s: line %s ran %s times, %s were seen (%s by gdb)", seed, b, line, said[line],
						hits[line], gdb[line])
				}
			}
		}
	}
	f.Report(t, 20)
}

// surplus reports whether all of places but one were hit as often as the line was said to run.
func surplus(places []int, said string) bool {
	sum := 0
	for _, n := range places {
		sum += n
	}
	return slices.ContainsFunc(places, func(n int) bool { return n < sum && fmt.Sprint(sum-n) == said })
}

// cBuild is a way to build a C or C++ program.
type cBuild struct {
	cc    string
	flags []string
}

func (b cBuild) String() string { return b.cc + " " + strings.Join(b.flags, " ") }

// gdbHits is how often gdb's breakpoints at lines of lines.c are hit; nothing without gdb.
func gdbHits(t *testing.T, dir, bin string, at []string) map[string]string {
	if len(at) == 0 || try(dir, nil, "gdb", "--version") != nil {
		return nil
	}
	script := "import gdb\ngdb.execute('set debuginfod enabled off')\nall = []\nfor l in (" + strings.Join(at, ", ") +
		`,):
    try:
        b = gdb.Breakpoint("lines.c:%d" % l, internal=True)
        b.silent, b.ignore_count = True, 1000000000
        all.append((l, b))
    except Exception:
        pass
gdb.execute("run > /dev/null")
for l, b in all:
    print("GDB %d %d" % (l, b.hit_count))
`
	return told(must(t, dir, nil, "gdb", "-nx", "-batch", "-x", write(t, dir, "hits.py", script), bin), "GDB ")
}

// cBuilds are the ways that a comparison goes through.
func cBuilds(t *testing.T) (out []cBuild) {
	levels := []string{"-O0", "-O2"}
	if Full() {
		levels = []string{"-O0", "-Og", "-O1", "-O2", "-O3", "-Os"}
	}
	for _, cc := range []string{"gcc", "clang"} {
		if err := try(".", nil, cc, "--version"); err != nil {
			t.Logf("%s is not installed", cc)
			continue
		}
		for _, l := range levels {
			out = append(out, cBuild{cc, []string{l}})
		}
	}
	return out
}
