package tests

import (
	"strings"
	"testing"
)

// TestSavedStacks: a stack that is kept as text, as a value or as a key of an array, becomes the lines that are
// printed of the stack itself: callers by their calls, with the functions that are inlined there, the program's own
// place as it is.
func TestSavedStacks(t *testing.T) {
	needRoot(t)
	for name, want := range map[string][]string{
		"inlines": {
			"leaf: main.leaf main.mid main.outer main.main",
			"leaf: main.leaf main.last main.main",
			"fail: main.fail main.last main.main",
			"name: main.outer main.outer+",
			"name: main.last main.last+",
		},
		"inlines-c": {"leaf: leaf mid outer main", "leaf: leaf fail last main", "name: outer outer+",
			"name: fail fail+"},
	} {
		t.Run(name, func(t *testing.T) {
			path := bin(t, name)
			leaf, fail := `process("`+path+`").function("leaf")`, `process("`+path+`").function("fail")`
			if name == "inlines" {
				leaf, fail = strings.Replace(leaf, "leaf", "main.leaf", 1),
					strings.Replace(fail, "fail", "main.fail", 1)
			}
			s := begin(t, "-e", `global kept, from
				probe `+leaf+` {
					print("leaf:\n") print_ubacktrace() print("saved:\n") print_usyms(ubacktrace())
					print("text:\n", sprint_ustack(ubacktrace()), "brief:\n") print_ubacktrace_brief()
					printf("name: %s %s\n", usymname(ustack(1)), usymdata(ustack(1)))
					if (usymname(ustack(1)) . " " . sprintf("0x%x", ustack(1)) != caller()) println("caller: ", caller())
				}
				probe `+fail+` { print("fail:\n") print_ubacktrace() }
				probe `+leaf+` { kept[ubacktrace()]++; from[ustack(1)]++ }
				probe end { foreach (k in kept) { print("end:\n") print_ustack(k) } foreach (a in from) println("from: ", usymname(a)) }`,
				"-D", "MAXSTRINGLEN=4096", "-c", path)
			if status := s.end(); status != 0 {
				t.Fatalf("status %d\n%s", status, s.stderr())
			}
			// The blocks of the output, by their first lines.
			blocks := map[string][]string{}
			kind, names := "", map[string]bool{}
			for _, line := range strings.Split(s.stdout(), "\n") {
				switch {
				case strings.HasPrefix(line, " "):
					blocks[kind][len(blocks[kind])-1] += line + "\n"
				case strings.HasSuffix(line, ":"):
					kind = line
					blocks[kind] = append(blocks[kind], "")
				case strings.HasPrefix(line, "name: "):
					names[strings.SplitAfter(line, "+")[0]] = true
				case strings.HasPrefix(line, "caller: "), strings.HasPrefix(line, "from: main.mid"),
					strings.HasPrefix(line, "from: main.after"):
					t.Error(line)
				}
			}
			brief := map[string]bool{}
			for i, direct := range blocks["leaf:"] {
				for _, other := range []string{"saved:", "text:"} {
					if got := blocks[other][i]; got != direct {
						t.Errorf("hit %d\n%s%s%s", i, direct, other, got)
					}
				}
				if got := functions(direct); got != strings.Join(strings.Fields(blocks["brief:"][i]), " ") {
					t.Errorf("hit %d: %s\nbrief: %s", i, got, blocks["brief:"][i])
				}
				brief["leaf: "+functions(direct)] = true
			}
			for _, b := range blocks["fail:"] {
				brief["fail: "+functions(b)] = true
			}
			for _, b := range blocks["end:"] {
				if !strings.Contains(strings.Join(blocks["leaf:"], "\n"), b) {
					t.Errorf("at the end\n%s", b)
				}
			}
			if len(blocks["end:"]) != 2 {
				t.Errorf("%d stacks were kept", len(blocks["end:"]))
			}
			for _, w := range want {
				found := names[w]
				for b := range brief {
					found = found || strings.HasPrefix(b, w+" ") || b == w
				}
				if !found {
					t.Errorf("%s is not there: %v %v", w, brief, names)
				}
			}
			if t.Failed() {
				t.Log(s.stdout())
			}
		})
	}
}

// functions are the names in the lines of a stack.
func functions(stack string) string {
	var out []string
	for _, line := range strings.Split(strings.TrimSuffix(stack, "\n"), "\n") {
		_, name, _ := strings.Cut(line, " : ")
		name, _, _ = strings.Cut(name, " ")
		name, _, _ = strings.Cut(name, "+")
		out = append(out, name)
	}
	return strings.Join(out, " ")
}

// TestSavedKernelStacks is the same for the kernel: the lines of a stack that was kept are those of the stack itself.
func TestSavedKernelStacks(t *testing.T) {
	needRoot(t)
	s := begin(t, "-e", `global n
		probe kernel.trace("sched_switch") { if (n++ < 50) { print_backtrace() print("=\n") print_syms(backtrace()) print("=\n", sprint_stack(backtrace()), "-\n") } else exit() }`, "-D", "MAXSTRINGLEN=4096")
	if status := s.end(); status != 0 {
		t.Fatalf("status %d\n%s", status, s.stderr())
	}
	hits := strings.Split(s.stdout(), "-\n")
	if len(hits) < 40 {
		t.Errorf("%d hits", len(hits))
	}
	for _, hit := range hits {
		p := strings.Split(hit, "=\n")
		for i := range p {
			// the first line is the tracer's own program, which asks at three places
			_, p[i], _ = strings.Cut(p[i], "\n")
		}
		if len(p) == 3 && (p[0] != p[1] || p[0] != p[2]) {
			t.Errorf("%s", hit)
			break
		}
	}
}
