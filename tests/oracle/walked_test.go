package oracle

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Stacks that the kernel walks by tables against those of gdb, which is stopped at the same places of the same run: at
// entries and lines of random programs of C, C++ and Rust whose functions have no frame pointers.

// walkedScript has gdb write "@S pc pc...", innermost first, at each pc of EVENTS, MOST times at most.
const walkedScript = `
import gdb, os
for c in ("pagination off", "width 0", "confirm off", "debuginfod enabled off", "disable-randomization on", "print thread-events off", "backtrace past-main on", "backtrace limit unlimited"):
    gdb.execute("set " + c)
pcs = [int(l, 16) for l in open(os.environ["EVENTS"])]
out = open(os.environ["ANSWER"], "w")
class Stop(gdb.Breakpoint):
    def stop(self):
        f = gdb.newest_frame()
        stack = []
        while f is not None:
            if f.type() != gdb.INLINE_FRAME and f.type() != gdb.TAILCALL_FRAME:
                stack.append("%x" % f.pc())
            f = f.older()
        out.write("@S %s\n" % " ".join(stack))
        self.count += 1
        if self.count >= int(os.environ["MOST"]):
            self.enabled = False
        return False
for pc in pcs:
    b = Stop("*%#x" % pc)
    b.silent, b.count = True, 0
gdb.execute("set exec-wrapper env -i")
gdb.execute("run > /dev/null 2>&1")
out.write("@END %d\n" % (gdb.selected_inferior().pid == 0))
out.close()
`

// cxx is a program of methods, closures, callbacks of the library and objects that are destroyed, with exceptions on
// the way.
func (g *callGraph) cxx() string {
	var b strings.Builder
	b.WriteString(`#include <algorithm>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>
volatile long sink;
extern "C" __attribute__((noinline)) long leaf(long x) { sink = x; return x * 3 + 1; }
struct Base { virtual long call(long x) = 0; virtual ~Base() {} };
extern Base *all[];
`)
	fmt.Fprintf(&b, "static const int many = %d;\n", len(g.calls))
	for i, calls := range slices.Backward(g.calls) {
		fmt.Fprintf(&b, "struct F%d : Base {\n\tlong call(long x) override {\n", i)
		switch g.IntN(4) {
		case 0:
			fmt.Fprintf(&b, "\t\tstd::vector<long> v(1 + (x & %d), x);\n", 1+g.frame[i])
		case 1:
			b.WriteString("\t\tstd::string v(30 + (x & 7), 'a' + (x & 15));\n")
		default:
			fmt.Fprintf(&b, "\t\tvolatile long v[%d]; v[0] = x;\n", 1+g.frame[i])
		}
		for _, to := range calls {
			switch g.IntN(4) {
			case 0:
				fmt.Fprintf(&b, "\t\tstd::function<long(long)> f%d = [&](long y) { return all[%d]->call(y ^ x) + "+
					"(long)v[0]; };\n\t\tx += f%d(x);\n", to, to, to)
			case 1:
				fmt.Fprintf(&b, "\t\t{ long l[3] = {x & 3, x & 1, 2}; std::sort(l, l + 3, [&](long a, long b) { if "+
					"(a != b) x += all[%d]->call(a); return a < b; }); x += l[0]; }\n", to)
			case 2:
				fmt.Fprintf(&b, "\t\ttry { x += all[%d]->call(x); if (x & 1) throw std::runtime_error(\"odd\"); } "+
					"catch (std::exception &) { x += leaf(x); }\n", to)
			default:
				fmt.Fprintf(&b, "\t\tx += all[%d]->call(x + 1);\n", to)
			}
		}
		b.WriteString("\t\treturn x + leaf(x) + (long)v[0];\n\t}\n};\n")
	}
	b.WriteString("Base *all[many] = {")
	for i := range g.calls {
		fmt.Fprintf(&b, "new F%d, ", i)
	}
	b.WriteString("};\nint main() { for (long i = 0; i < 3; i++) sink = all[0]->call(i); return 0; }\n")
	return b.String()
}

// TestWalkedGdb: each stack is gdb's.
func TestWalkedGdb(t *testing.T) {
	needRoot(t)
	need(t, "gdb")
	least, most, builds := 200, 3, stackBuilds()
	if Full() {
		least, most = 10000, 12
	}
	builds = append(builds, stackBuild{name: "g++ -O2", file: "p.cc",
		source: func(g *callGraph, _ bool) string { return g.cxx() },
		cmd:    []string{"g++", "-O2", "-fomit-frame-pointer", "-g", "-o", "p", "p.cc"}})
	if Full() {
		builds = append(builds, stackBuild{name: "clang++ -O2", file: "p.cc",
			source: func(g *callGraph, _ bool) string { return g.cxx() },
			cmd:    []string{"clang++", "-O2", "-fomit-frame-pointer", "-g", "-o", "p", "p.cc"}})
	}
	var all Figures
	for _, b := range builds {
		if b.prefix != "" { // Go
			continue
		}
		f := &Figures{}
		for _, seed := range Seeds(1, 6) {
			dir := t.TempDir()
			write(t, dir, b.file, b.source(newCallGraph(seed, 14), false))
			if err := try(dir, b.env, b.cmd[0], b.cmd[1:]...); err != nil {
				f.Note(b.name+" does not build here", 1)
				continue
			}
			walkedAgainstGdb(t, f, fmt.Sprintf("%s, seed %d", b.name, seed), dir, b.file, most)
		}
		t.Logf("%s: %s", b.name, f)
		all.Add(f)
	}
	all.Report(t, least)
}

func walkedAgainstGdb(t *testing.T, f *Figures, name, dir, file string, most int) {
	bin := filepath.Join(dir, "p")
	run := write(t, dir, "run", fmt.Sprintf(sameSpace, bin))
	if err := os.Chmod(run, 0o755); err != nil {
		t.Fatal(err)
	}
	// A place may be that of several lines, and is met more often then.
	script := fmt.Sprintf(`global n probe process(%q).statement("*@%s:*") ?, process(%q).function("leaf") {
		if (n[uaddr()]++ < %d) { printf("@S %%x\n", uaddr()) print(ustack()) } }`, bin, file, bin, 4*most)
	out, errs, err := trace(t, dir, nil, "-w", "--no-global-var-display", "-s", "64", "-D", "MAXBACKTRACE=60", "-D",
		"MAXMAPENTRIES=100000", "-e", script, "-c", run)
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, errs)
	}
	got := map[uint64][]string{}
	var pcs []uint64
	for _, block := range strings.Split(out, "@S ")[1:] {
		first, rest, _ := strings.Cut(block, "\n")
		pc, err := strconv.ParseUint(first, 16, 64)
		if err != nil {
			t.Fatalf("%s: %q", name, first)
		}
		if got[pc] == nil {
			pcs = append(pcs, pc)
		}
		var stack []string
		for line := range strings.Lines(rest) {
			w := strings.Fields(line)
			switch {
			case len(w) == 1 && w[0] == "...":
				stack = append(stack, "...")
			case len(w) > 1 && w[1] == ":" && !strings.Contains(line, "(inlined)"):
				stack = append(stack, strings.TrimPrefix(w[0], "0x"))
			}
		}
		got[pc] = append(got[pc], strings.Join(stack, " "))
	}
	var events strings.Builder
	for _, pc := range pcs {
		fmt.Fprintf(&events, "%x\n", pc)
	}
	env := []string{"EVENTS=" + write(t, dir, "events", events.String()), "ANSWER=" + filepath.Join(dir, "answer"),
		fmt.Sprint("MOST=", most)}
	said := must(t, dir, env, "gdb", "-nx", "-batch", "-x", write(t, dir, "stop.py", walkedScript), bin)
	text, err := os.ReadFile(filepath.Join(dir, "answer"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(string(text), "@END 1\n") {
		t.Errorf("%s: the program did not end under gdb: the script stopped it\n%s", name, said)
	}
	want := map[uint64][]string{}
	for line := range strings.Lines(string(text)) {
		if stack, ok := strings.CutPrefix(strings.TrimSpace(line), "@S "); ok {
			first, _, _ := strings.Cut(stack, " ")
			pc, _ := strconv.ParseUint(first, 16, 64)
			want[pc] = append(want[pc], stack)
		}
	}
	for _, pc := range pcs {
		have := slices.Compact(got[pc])
		for i, stack := range slices.Compact(want[pc]) {
			switch {
			case i >= len(have):
				f.Wrong("%s: gdb stops at %x %d times, %d hits", name, pc, len(want[pc]), len(have))
			case have[i] == stack:
				f.Equal(1)
			case strings.HasSuffix(have[i], " ...") && strings.HasPrefix(stack, strings.TrimSuffix(have[i], "...")):
				f.Refused("the stack is cut")
			default:
				f.Wrong("%s: at %x, hit %d\n got %s\nwant %s", name, pc, i, have[i], stack)
			}
		}
	}
}
