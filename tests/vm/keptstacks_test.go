package vm

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// kept are scripts that keep stacks, with the arguments of their programs and what they say. %PROG is the program.
var kept = []struct {
	name, fixture, args, script string
	want                        []string
}{
	{"keptvalues", "values", "", `global n probe process("%PROG").function("main.get") { n[ustack()]++ }
		probe process("%PROG").function("main.take") { n[ustack()]++ }
		probe end { foreach (s in n) println(n[s], " hits at\n", s) }`,
		[]string{"8 hits at\n 0x", "1 hits at\n 0x", " : main.get+0x", " : main.take+0x", "runtime.main", "rc 0"}},
	{"keptways", "paths", " 10 3", `global hits, same, was, all
		probe process("%PROG").function("main.leaf") { s = ustack() hits[s]++ if (s == was) same++ was = s }
		probe end { foreach (s in hits) if (hits[s] == 3) all++
			println(all, " stacks, same ", same) }`, []string{"1024 stacks, same 0\n", "rc 0"}},
	{"keptfull", "paths", " 15 1", `global kept, refused, why
		probe process("%PROG").function("main.leaf") { try { s = ustack() if (s == ustack()) kept++ } catch (m) { refused++ why = m } }
		probe end { println(kept, " kept, ", refused, " refused: ", why) }`,
		[]string{"16384 kept, 16384 refused: no room for another stack: 16384 are kept\n", "rc 0"}},
	{"kepttext", "inlines", "", `global kept, was
		probe process("%PROG").function("main.leaf") { s = ustack() if (s != was) print("HIT\n", sprint_ubacktrace(), "=\n", s, "END\n") was = s kept[s]++ }
		probe end { foreach (s in kept) n += kept[s] > 0 println("hit ", n > 0) }`, []string{"hit 1\n", "rc 0"}},
	{"keptgo", "gostacks", " /dev/null", `global wrong, own, left
		probe process("%PROG").function("main.here") { if (gostack() == ustack()) own++ else wrong++ }
		probe process("%PROG").function("runtime.traceback1") { k[gostack_created()]++ left++ } global k
		probe end { foreach (s in k) if (sprint(s) =~ "main.system" && sprint(s) =~ "main.start.func1") print(s)
			println("own ", own, " left ", left > 18, " wrong ", wrong + 0) }`,
		[]string{" : runtime.systemstack_switch+0x", " : main.all+0x", " created by the go statement at\n 0x",
			" : main.start+0x", "own 9 left 1 wrong 0\n", "rc 0"}},
	{"kepttables", "unframed", " 20", `global whole
		probe process("%PROG").function("leaf") { s = ustack() print("HIT\n") print_ubacktrace() print("=\n", s, "END\n") whole++ }
		probe end { println("whole ", whole > 100) }`, []string{"whole 1\n", "rc 0"}},
	{"keptkernel", "grow", "", `global hits, n, m
		probe kernel.trace("sched:sched_switch") { if (n < 21) { hits[kstack()]++ n++ } }
		probe end { foreach (s in hits) { m += hits[s] if (sprint(s) !~ "schedule") print("?", s) }
			println("kernel ", m == n && n == 21) }`, []string{"kernel 1\n", "rc 0"}},
}

// sameTexts finds hits that printed one stack in two forms, and fails where they differ. The host has 8 kB of the
// stack, and what was walked by tables may be cut where a page could not be read.
func sameTexts(t *testing.T, out string, tables bool) {
	t.Helper()
	n, same, deep := 0, 0, 0
	for _, hit := range strings.Split(strings.ReplaceAll(out, "\r", ""), "HIT\n")[1:] {
		hit, _, _ = strings.Cut(hit, "END\n")
		want, got, ok := strings.Cut(hit, "=\n")
		n++
		top, short := strings.CutSuffix(want, " ...\n")
		whole, cut := strings.CutSuffix(got, " ...\n")
		if got == want {
			same++
		}
		if got == want && strings.Contains(got, "handler") && strings.Contains(got, "start_thread") {
			deep++
		}
		if !ok || want == "" || got != want && !(tables && (short && strings.HasPrefix(got, top) ||
			cut && strings.HasPrefix(want, whole))) {
			t.Errorf("a stack in two forms:\n%s", hit)
		}
	}
	t.Logf("%d of %d stacks are the same, %d of them whole through a handler of signals", same, n, deep)
	if n == 0 || same < n*3/4 || tables && deep == 0 {
		t.Errorf("too few are the same\n%.2000s", out)
	}
}

// TestKeptStacks: eBPF and modules of each kernel keep stacks that are keys of arrays, values and equal or not.
func TestKeptStacks(t *testing.T) {
	each(t, func(t *testing.T, k *Kernel, b *bench) {
		kdir, err := k.BuildDir()
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		cache, run := filepath.Join(dir, "cache"), filepath.Join(b.dir, "kmodrun")
		bpf, module := "", ""
		for _, s := range kept {
			prog := filepath.Join(dir, s.fixture)
			if !exists(prog) {
				cmd := exec.Command("go", "build", "-o", prog, "../fixtures/"+s.fixture)
				if c := "../fixtures/" + s.fixture + "/" + s.fixture + ".c"; exists(c) {
					cmd = exec.Command("gcc", "-static", "-g", "-O2", "-fomit-frame-pointer", "-pthread", "-o", prog, c)
				}
				cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
			}
			text := strings.ReplaceAll(s.script, "%PROG", prog)
			out, err := exec.Command(run, "-v", "-r", kdir, "-cache", cache, "-name", s.name, "-c", prog+s.args,
				"-build", "-e", text).CombinedOutput()
			if err != nil {
				t.Fatalf("build %s: %v\n%s", s.name, err, out)
			}
			if gccWarning.Match(out) {
				t.Errorf("%s: gcc warns:\n%s", s.name, out)
			}
			module += "echo '== " + s.name + "'; " + run + " -cache " + cache + " -name " + s.name + " -c '" + prog +
				s.args + "' -e '" + text + "'; echo rc $?\n"
			bpf += "echo '== bpf " + s.name + "'; " + run + " -bpf -c '" + prog + s.args + "' -e '" + text +
				"' 2>&1; echo rc $?\n"
		}
		res := guest(t, k, Options{Files: map[string]string{dir: dir, run: run}, Command: module + bpf})
		for _, s := range kept {
			for _, name := range []string{s.name, "bpf " + s.name} {
				part := part(res, name)
				for _, w := range s.want {
					if !strings.Contains("\n"+part, w) {
						t.Errorf("%s: no %q in\n%s", name, w, part)
					}
				}
				if s.name == "kepttext" || s.name == "kepttables" {
					sameTexts(t, part, s.name == "kepttables")
				}
			}
		}
	})
}

// TestWalkedStacks: each kernel walks stacks of code without frame pointers as the host does.
func TestWalkedStacks(t *testing.T) {
	each(t, func(t *testing.T, k *Kernel, _ *bench) {
		dir := t.TempDir()
		prog := filepath.Join(dir, "unframed")
		cmd := exec.Command("gcc", "-static", "-g", "-O2", "-fomit-frame-pointer", "-pthread", "-o", prog,
			"../fixtures/unframed/unframed.c")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if err := goBuild(filepath.Join(dir, "gostap"), "../../cmd/gostap"); err != nil {
			t.Fatal(err)
		}
		handler := `{ print("HIT\n") print_ubacktrace() print("=\n", ustack()) }`
		run := dir + "/gostap -s 64 -D MAXBACKTRACE=60 -e "
		res := guest(t, k, Options{Files: map[string]string{dir: dir}, Command: run + `'probe process("` + prog +
			`").function("leaf") ` + handler + "' -c " + prog + " 2>&1; " + run +
			"'probe timer.profile { if (pid() == target()) " + handler + " }' -c '" + prog + " 500' 2>&1\n"})
		same, deep := 0, false
		for _, hit := range strings.Split(res.Output, "HIT\n")[1:] {
			want, got, _ := strings.Cut(hit, "=\n")
			got = strings.ReplaceAll(got, "\r", "")
			want = strings.ReplaceAll(want, "\r", "")
			whole, cut := strings.CutSuffix(got, " ...\n")
			top, short := strings.CutSuffix(want, " ...\n")
			switch {
			case got == want:
				same++
				deep = deep || strings.Contains(got, "handler") && strings.Contains(got, "start_thread")
			case short && strings.HasPrefix(got, top), cut && strings.HasPrefix(want, whole), got == "" && short:
			default:
				t.Errorf("two stacks of one hit:\n%s\nof the kernel:\n%s", want, got)
			}
		}
		if same < 150 || !deep {
			t.Errorf("%d stacks are the same\n%.4000s", same, res.Output)
		}
	})
}
