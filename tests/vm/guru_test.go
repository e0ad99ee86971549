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
	{"go-error", "faults 200", `global n probe process("%PROG").function("main.serve").return { if (n++ % 8 < 1) { $return[0] = 0; $return[1] = @var("io.EOF") } }`,
		true, []string{"\ncalls 200 failed 25 ended 25 wrong 0\n"}},
	{"skip-go", "faults 8000", `global n, m probe process("%PROG").function("main.serve") { if (n++ % 10 < 1) { m++ skip_function(0, @var("main.ErrInjected")) } }
probe end { printf("%d of %d\n", m, n) }`, true,
		[]string{"\ncalls 8000 failed 800 ended 0 wrong 0\n", "\n800 of 8000\n"}},
	{"skip-c", "guru", `probe process("%PROG").function("sum") { skip_function(77) }`, true, []string{"\nsum 77\n"}},
	{"skip-c-O0", "guru0", `probe process("%PROG").function("sum") { skip_function(77) }`, true, []string{"\nsum 77\n"}},
	{"skip-cpp", "skipped", skipped, true, []string{"\nget 77 odd 1 three 0 0 0 and 7 8 9 pair 0 0 and 5 6 twice 1 " +
		"caught 0\nref 3 half 1.5 object 3 text 40\n"}},
	{"skip-cpp-O0", "skipped0", skipped0, true, []string{"\nget 77 odd 1 three 0 0 0 and 7 8 9 pair 0 0 and 5 6 " +
		"twice 1 caught 1\nref 3 half 1.5 object 3 text 40\n"}},
	{"skip-object", "skipped", `probe process("%PROG").function("ns::Counter::object").call { skip_function() }`, false,
		[]string{"returns a struct Object, whose copying or end is code of the program", "rc 1"}},
	{"skip-constructor", "skipped", `probe process("%PROG").function("Object::Object").call { skip_function() }`, false,
		[]string{"Object::Object is a constructor: ", "rc 1"}},
	{"skip-reference", "skipped", `probe process("%PROG").function("ns::Counter::ref").call { skip_function() }`, false,
		[]string{"the result is of type int & and refers to something, so it is never 0", "rc 1"}},
	{"skip-double", "skipped", `probe process("%PROG").function("ns::Counter::half").call { skip_function() }`, false,
		[]string{"is in a vector register, which cannot be set", "rc 1"}},
	{"override", "guru", `probe kernel.function("__x64_sys_getuid") { override_return(1) }`, false,
		[]string{"having kernel functions return at once: the kernel was built without it", "rc 1"}},
	{"override-other", "guru", `probe kernel.function("vfs_read") { override_return(-5) }`, false,
		[]string{"vfs_read is none of the functions whose callers take any error: system calls", "rc 1"}},
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

// skipped0 leaves out functions of C++: results in one register, in two, in memory of the caller, none; a template.
// skipped has one more, which throws and so has no end that modules could use.
const skipped0 = `global n, m
probe process("%PROG").function("ns::Counter::get").call { skip_function(77) }
probe process("%PROG").function("ns::Counter::odd").call { skip_function(2) }
probe process("%PROG").function("ns::Counter::three").call { if (n++) skip_function(@var("sample")) else skip_function() }
probe process("%PROG").function("ns::Counter::pair").call { if (m++) skip_function(@var("both")) else skip_function() }
probe process("%PROG").function("ns::Counter::add").call { skip_function() }
probe process("%PROG").function("twice<int>").call { skip_function(1) }`

const skipped = skipped0 + `
probe process("%PROG").function("ns::Counter::thrown").call { skip_function(0) }`

// TestGuru changes registers and memory of programs with eBPF.
func TestGuru(t *testing.T) {
	if miss := Missing(); len(miss) > 0 {
		t.Skipf("not installed: %s", strings.Join(miss, ", "))
	}
	dir := guruPrograms(t)
	command := "export GOSTAP_DEBUG=1\n"
	for _, s := range gurus {
		prog, args, _ := strings.Cut(filepath.Join(dir, s.prog), " ")
		g := " -g"
		if s.name == "no-g" {
			g = ""
		}
		command += "echo '== " + s.name + "'; " + dir + "/gostap" + g + " -e '" +
			strings.ReplaceAll(s.script, "%PROG", prog) + "' -c '" + prog + " " + args + "' 2>&1; echo rc $?\n"
	}
	faults := filepath.Join(dir, "faults")
	command += "echo '== inject'; " + dir + "/gostap inject " + faults + ":main.serve 'main.deep()' --return " +
		"'0, io.EOF' --one-in 5 -c '" + faults + " 400' 2>&1; echo rc $?\n"
	gostap := dir + "/gostap patch "
	guru := filepath.Join(dir, "guru")
	command += "echo '== patch'; " + gostap + "--new " + faults + " main.serve | sed 's/# skip.*/if (n++ % 5 < 1) " +
		"skip_function(0, @var(\"io.EOF\"))/; 1s/.*/global n/' >/tmp/p; " + gostap + "/tmp/p --dry-run 2>&1; " +
		gostap + "/tmp/p -c '" + faults + " 400' 2>&1; echo rc $?\n" +
		"echo '== patch-memory'; " + gostap + "--new " + guru + " sum | sed 's/# skip.*/$p->x = 40/' >/tmp/p; " +
		gostap + "/tmp/p -c " + guru + " 2>&1; echo rc $?\n"
	command += killed(faults, dir+"/gostap -g -e '"+strings.ReplaceAll(fault, "%PROG", faults)+"'")
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
			if part := part(res, "inject"); regs && !strings.Contains(part, "calls 400 failed 80 ended 80 wrong 0\n") ||
				regs && !strings.Contains(part, "80 of 400 calls failed\nrc 0") {
				t.Errorf("inject: %s", part)
			}
			patches := map[string][]string{"patch-memory": {"\nsum 40", "sum, entry: 1 hits\nall is as it was\nrc 0\n"},
				"patch": {"main.serve at 0x", "this kernel lets programs read the registers", "rc 1\n"}}
			if regs {
				patches["patch"] = []string{"main.serve at 0x", "nothing was changed\n", "is changed, probes: 1\n",
					"calls 400 failed 80 ended 80 wrong 0\n", "main.serve, entry: 400 hits\nall is as it was\nrc 0\n"}
			}
			for name, want := range patches {
				for _, w := range want {
					if part := part(res, name); !strings.Contains("\n"+part, w) {
						t.Errorf("%s: no %q in\n%s", name, w, part)
					}
				}
			}
			if regs {
				afterKill(t, res)
			}
		})
	}
}

// overrides are scripts by which kernel functions fail.
var overrides = []struct {
	name, run, script string
	want              []string
}{
	{"user", "/bin/id", `probe kernel.function("__x64_sys_getuid") { if (execname() == "id") { println(ppfunc()) override_return(1337) } }`,
		[]string{"\nuid=1337 gid=0", "\n__x64_sys_getuid\n"}},
	{"among_many", "/bin/id -u", `global n probe kernel.function("__x64_sys_get*") { n++ }
probe kernel.function("__x64_sys_getuid"), kernel.function("__x64_sys_geteuid") { if (execname() == "id") override_return(7) }
probe end { println(n > 1) }`, []string{"\n7\n", "\n1\n"}},
}

// fault leaves out one call in four of a program that is served meanwhile.
const fault = `global n probe process("%PROG").function("main.serve") { if (n++ % 4 < 1) skip_function(0, @var("main.ErrInjected")) }`

// killed is a command that kills the tracer while calls fail by it. The program goes on until none fails any more.
func killed(prog, tracer string) string {
	return "echo '== killed'; rm -f /tmp/hit; " + prog + " 800 /tmp/hit & p=$!; " + tracer +
		" -x $p >/tmp/said 2>&1 & g=$!; while [ ! -e /tmp/hit ] && kill -0 $g; do sleep 0.1; done; " +
		"kill -9 $g || { cat /tmp/said; kill $p; }; wait $p; " +
		"echo rc $?\n"
}

// afterKill checks how the program of killed went on.
func afterKill(t *testing.T, res *Result) {
	t.Helper()
	if part := part(res, "killed"); !strings.Contains(part, " wrong 0\nrc 0") || strings.Contains(part, "failed 0 ") {
		t.Errorf("after the tracer was killed:\n%s", part)
	}
}

// guruPrograms builds gostap and what it changes.
func guruPrograms(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	build := func(name string, args ...string) {
		t.Helper()
		if args[0] == "go" {
			if err := goBuild(filepath.Join(dir, name), args[1]); err != nil {
				t.Fatal(err)
			}
			return
		}
		cmd := exec.Command(args[0], append(args[1:], "-o", filepath.Join(dir, name))...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("build %s: %v\n%s", name, err, out)
		}
	}
	build("gostap", "go", "../../cmd/gostap")
	build("stap", "go", "../fixtures/stap")
	build("faults", "go", "./testdata/faults")
	build("guru", "gcc", "-g", "-O2", "-static", "testdata/guru/guru.c")
	build("skipped", "g++", "-g", "-O2", "-static", "testdata/guru/skipped.cc")
	build("skipped0", "g++", "-g", "-O0", "-static", "testdata/guru/skipped.cc")
	build("guru0", "gcc", "-g", "-O0", "-static", "testdata/guru/guru.c")
	return dir
}

// patches are commands that run a description by a module, for a command and for a process whose memory is looked at.
// The modules are built here: they are those of the script that the description becomes, from the cache of the guest.
func patches(t *testing.T, dir, kdir, cache string) string {
	t.Helper()
	gostap, faults := filepath.Join(dir, "gostap"), filepath.Join(dir, "faults")
	sh := `cd "$0"; export XDG_CACHE_HOME="$1"; ./gostap patch --new "$0/faults" main.serve | sed '1s/.*/global n/` +
		`;s/# skip.*/if (n++ % 5 < 1) skip_function(0, @var("io.EOF"))/' >p && mkdir script && ` +
		`./gostap patch p --print -c x >script/p && cd script && ` +
		`../gostap -g -p4 -m p --runtime=kernel -r "$2" -c "$0/faults" p`
	if out, err := exec.Command("sh", "-c", sh, dir, cache, kdir).CombinedOutput(); err != nil {
		t.Fatalf("build the module of a description: %v\n%s", err, out)
	}
	run := "XDG_CACHE_HOME=" + cache + " " + gostap + " patch p --runtime=kernel "
	return "cd " + dir + "\necho '== patch'; " + run + "-c '" + faults + " 400' 2>&1; echo rc $?\n" +
		"echo '== patch-dry'; " + run + "-c '" + faults + "' --dry-run 2>&1\n" +
		"echo '== patch-pid'; rm -f /tmp/hit; " + faults + " 400 /tmp/hit >/tmp/went & p=$!; " + run +
		"-x $p >/tmp/hits 2>/tmp/said & g=$!; while [ ! -e /tmp/hit ] && kill -0 $g; do sleep 0.1; done; " +
		"kill -INT $g; wait $g; r=$?; wait $p; cat /tmp/went /tmp/hits /tmp/said; echo rc $r\n"
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
			prog, progArgs, _ := strings.Cut(filepath.Join(dir, s.prog), " ")
			text := strings.ReplaceAll(s.script, "%PROG", prog)
			switch s.name {
			case "result", "shared-register", "bit-fields", "width", "recursion", "members", "global", "go-result",
				"set-arguments", "set-memory", "raise", "skip-go", "skip-c-O0", "skip-cpp-O0":
			default:
				continue
			}
			args := []string{"-cache", cache, "-name", strings.ReplaceAll(s.name, "-", "_")}
			traced := strings.TrimSpace(prog + " " + progArgs)
			out, err := exec.Command(run, append(args, "-c", traced, "-r", kdir, "-build", "-e",
				text)...).CombinedOutput()
			if err != nil {
				t.Errorf("build %s: %v\n%s", s.name, err, out)
				continue
			}
			done = append(done, i)
			command += "echo '== " + s.name + "'; " + run + " " + strings.Join(args, " ") + " -c '" + traced +
				"' -e '" + text + "' 2>&1; echo rc $?\n"
		}
		faults := filepath.Join(dir, "faults")
		build := exec.Command(filepath.Join(dir, "gostap"), "-g", "-p4", "-m", "faults", "--runtime=kernel", "-r",
			kdir, "-e", strings.ReplaceAll(fault, "%PROG", faults))
		build.Dir, build.Env = dir, append(os.Environ(), "XDG_CACHE_HOME="+cache)
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("build faults.ko: %v\n%s", err, out)
		}
		facts, err := k.Facts(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range overrides {
			args := []string{"-cache", cache, "-name", s.name}
			out, err := exec.Command(run, append(args, "-kernel-btf", facts.BTF, "-kernel-map", facts.Kallsyms,
				"-r", kdir, "-build", "-e", s.script)...).CombinedOutput()
			if err != nil || gccWarning.Match(out) {
				t.Errorf("build %s: %v\n%s", s.name, err, out)
			}
			command += "echo '== " + s.name + "'; " + run + " " + strings.Join(args, " ") + " -c '" + s.run + "' -e '" +
				s.script + "' 2>&1; echo rc $?; id -u\n"
		}
		// gostap inject: of mount's own calls one fails, those of others do not.
		build = exec.Command(filepath.Join(dir, "gostap"), "inject", "kmalloc", "__x64_sys_mount()", "-p4", "-m",
			"nomem", "--runtime=kernel", "-r", kdir, "--kernel-btf", facts.BTF, "--kernel-map", facts.Kallsyms)
		build.Dir, build.Env = dir, append(os.Environ(), "XDG_CACHE_HOME="+cache)
		symbols, err := os.ReadFile(facts.Kallsyms)
		if err != nil {
			t.Fatal(err)
		}
		fails := strings.Contains(string(symbols), " should_failslab\n")
		if out, err := build.CombinedOutput(); fails && err != nil {
			t.Errorf("build nomem.ko: %v\n%s", err, out)
		} else if !fails && !strings.Contains(string(out), "only where they are built with CONFIG_FAILSLAB") {
			t.Errorf("inject kmalloc in a kernel that has no such place: %s", out)
		}
		command += "echo '== inject'; mkdir /tmp/m; " + dir + "/gostap run " + dir +
			"/nomem.ko -c '/bin/mount -t tmpfs none /tmp/m' 2>&1; mount -t tmpfs none /tmp/m && echo mounted\n"
		command += patches(t, dir, kdir, cache)
		command += killed(faults, dir+"/gostap run "+dir+"/faults.ko") + dir +
			"/gostap --cleanup; lsmod | grep faults\n"
		res := guest(t, k, Options{Files: map[string]string{run: run, dir: dir}, Command: command})
		for _, i := range done {
			part := part(res, gurus[i].name)
			for _, w := range gurus[i].want {
				if !strings.Contains("\n"+part, w) {
					t.Errorf("%s: no %q in\n%s", gurus[i].name, w, part)
				}
			}
		}
		for name, want := range map[string]string{
			"patch": "is changed, probes: 1\ncalls 400 failed 80 ended 80 wrong 0\nmain.serve, entry: 400 hits\n" +
				"all is as it was\nrc 0\n",
			"patch-pid": " is changed, probes: 1\nall is as it was\nrc 0\n",
			"patch-dry": "would be changed at 0x",
		} {
			if part := part(res, name); !strings.Contains(part, want) || strings.Contains(part, " wrong 1") {
				t.Errorf("%s: no %q in\n%s", name, want, part)
			}
		}
		if part := part(res, "inject"); fails && !strings.Contains(part, "Cannot allocate memory\n") ||
			fails && !strings.Contains(part, " calls failed\n") || !strings.Contains(part, "\nmounted\n") {
			t.Errorf("inject: %s", part)
		}
		for _, s := range overrides {
			for _, w := range append(s.want, "rc 0\n0\n") {
				if part := part(res, s.name); !strings.Contains("\n"+part, w) {
					t.Errorf("%s: no %q in\n%s", s.name, w, part)
				}
			}
		}
		if afterKill(t, res); strings.Contains(part(res, "killed"), "faults ") {
			t.Errorf("the module is there still:\n%s", part(res, "killed"))
		}
	})
}
