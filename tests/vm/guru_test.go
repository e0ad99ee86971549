package vm

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// gurus are scripts that change what a program does, run with eBPF. Those with regs need a kernel that lets programs
// write registers; elsewhere they are refused before anything is loaded.
var gurus = []struct {
	name, prog, script string
	regs               bool
	want               []string
}{
	{"argument", "guru", `probe process("%PROG").function("traceme") { $a = 40; printf("%d\n", $a) }`, true,
		[]string{"\ntraceme 42\n", "\n40\n"}},
	{"argument-O0", "guru0", `probe process("%PROG").function("traceme") { $a = 40 }`, true,
		[]string{"\ntraceme 42\n"}},
	{"result", "guru", `probe process("%PROG").function("traceme").return { printf("was %d\n", $return); $return = 7 }`,
		true, []string{"\ntraceme 7\n", "\nwas 3\n"}},
	{"shared-register", "guru", `probe process("%PROG").function("both") { $t->a = 40; $t->b++ }`, true,
		[]string{"\nboth 4003\n"}},
	{"bit-fields", "guru", `probe process("%PROG").function("fields") { $t->high++; $t->mid = 33; printf("%d\n", $t->low++ + 100 * $t->mid) }`, true,
		[]string{"\nfields 2026904\n", "\n-3099\n"}},
	{"width", "guru", `probe process("%PROG").function("wide") { $a = 0x1fb; $b = -1; $c = -3; printf("%d %d %d\n", $a, $b, $c) }`, true,
		[]string{"\nwide 60534997\n", "\n-5 65535 -3\n"}},
	{"order", "guru", `probe process("%PROG").function("traceme") { $a = 40 } probe process("%PROG").function("traceme") { printf("%d\n", $a++) }`, true,
		[]string{"\ntraceme 43\n", "\n40\n"}},
	{"loop", "guru", `probe process("%PROG").function("traceme") { for (i = 0; i < 20; i++) $a += i }`, true,
		[]string{"\ntraceme 193\n"}},
	{"recursion", "guru", `function f(n) { if (n < 2) return 1; return n * f(n - 1) } probe process("%PROG").function("traceme") { $a = f($a + 4) }`, true,
		[]string{"\ntraceme 122\n"}},
	{"text-too", "guru", `probe process("%PROG").function("sum") { println(user_string($s)); $s = &@var("pt")->x }`,
		true, []string{"\na\n", "\nsum 1023406\n"}},
	{"unread", "guru", `probe process("%PROG").function("unused") { $a = 40 }`, true,
		[]string{"\nunused 2\n", "assigning to $a has no effect here: the code behind it does not read register rdi"}},
	{"members", "guru", `probe process("%PROG").function("sum") { $p->x = 40; $p->low = 13; $p->high -= 1; $s[0] = 66; printf("%d %d %d\n", $p->x, $p->low, $p->high) }`,
		false, []string{"\nsum 40025371\n", "\n40 5 3\n"}},
	{"global", "guru", `probe process("%PROG").function("traceme") { @var("shared") = 7 try { @cast(8, "struct point")->x = 1 } catch (m) { println(m) } }`,
		false, []string{"\nshared 7\n", "\nwrite fault at 0x0000000000000008\n"}},
	{"go-argument", "stap", `probe process("%PROG").function("main.traceme") { $a = 40 }`, true,
		[]string{"\nret 42\n"}},
	{"go-result", "stap", `probe process("%PROG").function("main.traceme").return { $return = 7 }`, true,
		[]string{"\nret 7\n"}},
	{"set-arguments", "guru", `probe process("%PROG").function("traceme") { set_int_arg(1, 0x7000000028); println(int_arg(1)) }
probe process("%PROG").function("traceme").return { set_returnval(returnval() + 5) }`, true,
		[]string{"\ntraceme 47\n", "\n40\n"}},
	{"set-memory", "guru", `probe process("%PROG").function("sum") { set_user_string($s, "h") set_user_int(&$p->x, 40) println(user_string_quoted($s), $p->x)
  try { set_user_string(8, "x") } catch (m) { println(m) } set_user_string_arg(8, "x") set_user_string_n($s, 1, "Bad") println(user_string($s)) }`,
		false, []string{"\n\"h\"40\n", "\nwrite fault at 0x0000000000000008\n",
			"WARNING: write fault at 0x0000000000000008\n", "\nB\n"}},
	{"raise", "guru", `probe process("%PROG").function("traceme") { raise(0) try { raise(99) } catch (m) { println(m) } }
probe process("%PROG").function("traceme").return { printk(5, "from a script") }`, false,
		[]string{"\nraise: the kernel did not take signal 99\n", "\nrc 0"}},
	{"no-g", "guru", `probe process("%PROG").function("traceme") { $a = 40 }`, false,
		[]string{"writing to $a needs guru mode"}},
	{"on-host", "guru", `global a probe process("%PROG").function("traceme") { a[1] = 5 foreach (k in a) $a = a[k] }`,
		false, []string{"this changes the traced program, which has to happen in the kernel"}},
}

// TestGuru changes registers and memory of programs with eBPF.
func TestGuru(t *testing.T) {
	if miss := Missing(); len(miss) > 0 {
		t.Skipf("not installed: %s", strings.Join(miss, ", "))
	}
	dir := guruPrograms(t)
	command := "export GOSTAP_DEBUG=1\n"
	for _, s := range gurus {
		prog := filepath.Join(dir, s.prog)
		g := " -g"
		if s.name == "no-g" {
			g = ""
		}
		command += "echo '== " + s.name + "'; " + dir + "/gostap" + g + " -e '" +
			strings.ReplaceAll(s.script, "%PROG", prog) + "' -c " + prog + " 2>&1; echo rc $?\n"
	}
	// Linux 6.1 writes memory only, the newest one registers, too.
	for release, regs := range map[string]bool{"6.1.0-56-cloud-amd64": false, "7.3.4+deb13-cloud-amd64": true} {
		t.Run(release, func(t *testing.T) {
			k, err := Get(release)
			if err != nil && regs {
				t.Skip(err) // backports come and go
			} else if err != nil {
				t.Fatal(err)
			}
			res := guest(t, k, Options{Files: map[string]string{dir: dir}, Command: command})
			for _, s := range gurus {
				part := part(res, s.name)
				want := s.want
				if s.regs && !regs {
					want = []string{"changing registers of the traced program: this kernel lets programs read the " +
						"registers", "rc 1"}
				}
				for _, w := range want {
					if !strings.Contains("\n"+part, w) {
						t.Errorf("%s: no %q in\n%s", s.name, w, part)
					}
				}
			}
		})
	}
}

// guruPrograms builds gostap and what it changes.
func guruPrograms(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	build := func(name string, args ...string) {
		t.Helper()
		cmd := exec.Command(args[0], append(args[1:], "-o", filepath.Join(dir, name))...)
		if args[0] == "go" {
			cmd = exec.Command("go", "build", "-o", filepath.Join(dir, name), args[1])
			cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("build %s: %v\n%s", name, err, out)
		}
	}
	build("gostap", "go", "../../cmd/gostap")
	build("stap", "go", "../fixtures/stap")
	build("guru", "gcc", "-g", "-O2", "-static", "testdata/guru/guru.c")
	build("guru0", "gcc", "-g", "-O0", "-static", "testdata/guru/guru.c")
	return dir
}

// TestGuruModule does some of the same with modules, on a kernel where eBPF cannot.
func TestGuruModule(t *testing.T) {
	each(t, func(t *testing.T, k *Kernel, b *bench) {
		kdir, err := k.BuildDir()
		if err != nil {
			t.Fatal(err)
		}
		dir := guruPrograms(t)
		cache := filepath.Join(dir, "cache")
		run := filepath.Join(b.dir, "kmodrun")
		command := ""
		var done []int
		for i, s := range gurus {
			prog := filepath.Join(dir, s.prog)
			text := strings.ReplaceAll(s.script, "%PROG", prog)
			switch s.name {
			case "result", "shared-register", "bit-fields", "width", "recursion", "members", "global", "go-result",
				"set-arguments", "set-memory", "raise":
			default:
				continue
			}
			args := []string{"-cache", cache, "-name", strings.ReplaceAll(s.name, "-", "_"), "-c", prog}
			out, err := exec.Command(run, append(args, "-r", kdir, "-build", "-e", text)...).CombinedOutput()
			if err != nil {
				t.Errorf("build %s: %v\n%s", s.name, err, out)
				continue
			}
			done = append(done, i)
			command += "echo '== " + s.name + "'; " + run + " " + strings.Join(args, " ") + " -e '" + text +
				"' 2>&1; echo rc $?\n"
		}
		res := guest(t, k, Options{Files: map[string]string{run: run, dir: dir}, Command: command})
		for _, i := range done {
			part := part(res, gurus[i].name)
			for _, w := range gurus[i].want {
				if !strings.Contains("\n"+part, w) {
					t.Errorf("%s: no %q in\n%s", gurus[i].name, w, part)
				}
			}
		}
	})
}
