package tests

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestKeptStacks: stacks that the kernel keeps are printed as print_ubacktrace prints them, also after the program has
// ended, and are the same number only if all of their addresses are: a program that calls a function by each way down a
// tree of calls has as many stacks as there are ways.
func TestKeptStacks(t *testing.T) {
	needRoot(t)
	t.Run("text", func(t *testing.T) {
		path := bin(t, "inlines")
		s := begin(t, "-e", `global kept, same, was
			probe process("`+path+`").function("main.leaf") {
				s = ustack()
				print_ubacktrace() print("=\n") print_ustack(s) printf("=\n%s.\n", ustack())
				kept[s]++
				if (s == was) same++
				was = s
			}
			probe end { foreach (k in kept) printf("%d kept\n%s.\n", kept[k], k) println("same ", same) }`, "-c", path)
		if status := s.end(); status != 0 {
			t.Fatalf("status %d\n%s", status, s.stderr())
		}
		live := map[string]int{}
		hits, kept := 0, 0
		for _, block := range strings.Split(ownLines.ReplaceAllString(s.stdout(), ""), ".\n") {
			first, text, _ := strings.Cut(block, "\n")
			if n, ok := strings.CutSuffix(first, " kept"); ok {
				kept++
				if strconv.Itoa(live[text]) != n || live[text] == 0 {
					t.Errorf("%s of %d hits:\n%s", n, live[text], text)
				}
				continue
			}
			if parts := strings.Split(block, "=\n"); len(parts) == 3 {
				hits++
				if parts[1] != parts[0] || parts[2] != parts[0] {
					t.Errorf("one stack in three forms:\n%s", block)
				}
				live[parts[0]]++
			}
		}
		if hits < 2 || kept != len(live) {
			t.Errorf("%d hits, %d stacks, %d kept\n%s", hits, len(live), kept, s.stdout())
		}
	})
	t.Run("addresses", func(t *testing.T) {
		for _, path := range []string{bin(t, "inlines"), bin(t, "inlines-c")} {
			leaf := "main.leaf"
			if strings.HasSuffix(path, "-c") {
				leaf = "leaf"
			}
			script := `global kept, live, texts, n, k, cut
				probe process("` + path + `").function("` + leaf + `") { live[ubacktrace()]++ kept[ustack()]++ s = ustack() texts[stack_addrs(s)]++ }
				probe kernel.trace("sched_switch") { if (n < 9) { k[kstack()]++ n++ } }
				probe end {
					foreach (s in kept) {
						a = stack_addrs(s)
						if (isinstr(a, "...")) { cut++ continue }
						if (live[a] != kept[s] || texts[a] != kept[s]) println(kept[s], " of ", live[a], ", ", texts[a], ": ", a)
						if (sprint(s) != sprint_ustack(a)) print(s, "=\n", sprint_ustack(a))
						if (sprint(s) != sprint_ustack(s) || sprint(s) != sprint_usyms(s)) print(s, "=\n", sprint_ustack(s))
						i = 0
						for (t = tokenize(a, " "); t != ""; t = tokenize("", " "))
							if (stack_addr(s, i++) != strtol(t, 16)) println(i, " is not ", t)
						try { stack_addr(s, i) println("level ", i) } catch (m) { said = m }
						if (usymname(stack_addr(s, 0)) !~ "leaf") println(usymname(stack_addr(s, 0)))
						all += kept[s]
					}
					foreach (s in k) {
						if (sprint(s) != sprint_stack(stack_addrs(s))) print(s, "=\n", sprint_stack(stack_addrs(s)))
						if (sprint(s) != sprint_stack(s) || sprint(s) != sprint_syms(s)) print(s, "=\n", sprint_stack(s))
					}
					println("all ", all > 1, " ", n, " ", said)
					if (cut) println("cut")
				}`
			var s *session
			var status int
			var out string
			for range 20 { // what has just been mapped is not known at once on a busy machine, and the stack is cut
				s = begin(t, "-D", "MAXSTRINGLEN=4096", "-e", script, "-c", path)
				status, out = s.end(), ownLines.ReplaceAllString(s.stdout(), "")
				if !strings.HasSuffix(out, "cut\n") {
					break
				}
			}
			if status != 0 || !regexp.MustCompile(`^all 1 9 the stack has no level \d+\n$`).MatchString(out) {
				t.Errorf("status %d\n%s\n%s", status, out, s.stderr())
			}
		}
	})
	path := bin(t, "paths")
	script := `global hits probe process("` + path + `").function("main.leaf") { hits[ustack()]++ }
		probe end { foreach (s in hits) println(hits[s]) }`
	t.Run("ways", func(t *testing.T) {
		s := begin(t, "-e", script, "-c", path+" 10 3")
		status, out := s.end(), s.stdout()
		if status != 0 || out != strings.Repeat("3\n", 1<<10) || s.stderr() != "" {
			t.Errorf("status %d, %d stacks: %.100s\n%s", status, strings.Count(out, "\n"), out, s.stderr())
		}
	})
	t.Run("full", func(t *testing.T) {
		s := begin(t, "-e", script, "-D", "MAXMAPENTRIES=40000", "-c", path+" 15 1")
		status := s.end()
		if status != 1 || !strings.Contains(s.stderr(), "no room for another stack: 16384 are kept") {
			t.Errorf("status %d\n%s", status, s.stderr())
		}
	})
	t.Run("kernel", func(t *testing.T) {
		s := begin(t, "-e", `global hits, n
			probe kernel.trace("sched_switch") { hits[kstack()]++ if (n++ == 20) exit() }
			probe end { foreach (s in hits) { m += hits[s] if (sprint(s) !~ "schedule") print("?", s) }
				println(m == n) }`)
		if status := s.end(); status != 0 || s.stdout() != "1\n" {
			t.Errorf("status %d\n%s\n%s", status, s.stdout(), s.stderr())
		}
	})
}

// ownLines are what the traced programs print.
var ownLines = regexp.MustCompile(`(?m)^ended: .*\n`)

// TestKeptDepths: stacks of all depths are those that the kernel itself walks, at limits around which they are kept in
// another way, cut where the limit says so, and those with more addresses below have them.
func TestKeptDepths(t *testing.T) {
	t.Parallel()
	needRoot(t)
	path := builtGo(t, `package main

//go:noinline
func leaf(n int) int { return n }

//go:noinline
func down(n int) int {
	if n == 0 {
		return leaf(n) + 1
	}
	return down(n-1) + 1
}

func main() {
	sum := 0
	for n := range 90 {
		sum += down(n)
	}
	done := make(chan int)
	go func() {
		for n := range 90 {
			sum += down(n)
		}
		done <- 1
	}()
	<-done
	println("ended: ", sum)
}
`)
	for _, limit := range []int{2, 3, 15, 16, 17, 18, 64, 100} {
		s := begin(t, "-D", "MAXSTRINGLEN=4096", "-D", "MAXBACKTRACE="+strconv.Itoa(limit), "-e", `global kept, live, below
			probe process("`+path+`").function("main.leaf") {
				kept[ustack()]++
				live[ubacktrace()]++
			}
			probe process("`+path+`").function("main.leaf") { below[gostack_created()]++ }
			probe end {
				foreach (s in kept) {
					a = stack_addrs(s)
					if (live[a] != kept[s]) println(kept[s], " of ", live[a], ": ", a)
					delete live[a]
					all += kept[s]
				}
				foreach (a in live) println(live[a], " left of ", a)
				foreach (s in below) whole += below[s]
				println("all ", all, " ", whole)
			}`, "-c", path)
		status := s.end()
		if out := ownLines.ReplaceAllString(s.stdout(), ""); status != 0 || out != "all 180 180\n" {
			t.Errorf("limit %d: status %d\n%s\n%s", limit, status, out, s.stderr())
		}
	}
}
