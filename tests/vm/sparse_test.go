package vm

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gostap/gostap/runtime/kmod"
)

// everything uses most of the runtime.
const everything = `global s, last, n, txt
probe process("%[1]s").function("main.quick") {
	s[$a] <<< $b
	last[$a, $b] = execname()
	n++
	txt = user_string2($a, "x")
	if (txt =~ "a.*b") printf("%%s %%d %%s %%m\n", txt, $b, ubacktrace(), $a)
	foreach (i in s+) n += @count(s[i]) + @variance(s[i])
	try { println(user_int32($a)) $a = 1 } catch (m) { println(m, strpos(m, "a")) }
	delete last[1, 2]
	if ([0, *] in last) delete last
}
probe process("%[1]s").begin { println(pid()) }
probe process("%[1]s").end { println(sprintf("%%5d|%%-8s|%%x|%%c", n, txt, n, n)) }
probe kernel.function("vfs_read").return { n++ }
probe kernel.trace("sched_process_exec") { n += 2 }
probe netfilter.hook("NF_INET_LOCAL_IN").pf("NFPROTO_IPV4") { n += $hooknum }
probe timer.profile { n++ }
probe process("%[1]s").function("main.plus") { id = speculation() speculate(id, "x") commit(id) }
probe process("%[1]s").function("main.leaf") { n = stap_twice(n) }
function stap_twice:long(v) %%{ STAP_RETURN(STAP_ARG_v * 2); %%}
probe end { foreach (k in s) n += @count(s[k]) print(@hist_log(s[1])) }`

// TestSparse: gcc with more warnings than the kernel uses, and sparse (address spaces, locks, byte order), have
// nothing to say about a module that uses most of the runtime.
func TestSparse(t *testing.T) {
	if _, err := exec.LookPath("sparse"); err != nil {
		t.Skip("sparse is not installed")
	}
	each(t, func(t *testing.T, k *Kernel, b *bench) {
		kdir, err := k.BuildDir()
		if err != nil {
			t.Fatal(err)
		}
		if wanted := kdir + "/scripts/checker-valid.sh"; usesCheckerValid(kdir) && !exists(wanted) {
			t.Skipf("the makefile of these headers runs a script that their package lacks: %s", wanted)
		}
		dir := t.TempDir()
		if err := os.CopyFS(dir, kmod.Headers); err != nil {
			t.Fatal(err)
		}
		script := fmt.Sprintf(everything, b.prog)
		c, err := exec.Command(filepath.Join(b.dir, "kmodrun"), "-r", kdir, "-c", b.prog, "-p3", "-e",
			script).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, c)
		}
		os.WriteFile(dir+"/module.c", c, 0o644)
		// What is left out says nothing about mistakes: the runtime has functions that not every module uses.
		os.WriteFile(dir+"/Makefile", []byte("obj-m := module.o\nccflags-y := -Wall -Wextra -Wno-unused-parameter "+
			"-Wno-sign-compare -Wno-type-limits -Wno-missing-field-initializers"+defines(t, kdir)+"\n"), 0o644)
		out, err := exec.Command("make", "-s", "-C", kdir, "M="+dir, "C=2", "CHECK=sparse",
			"CONFIG_DEBUG_INFO_BTF_MODULES=", "CONFIG_DEBUG_INFO=", "modules").CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for _, line := range strings.Split(string(out), "\n") {
			if strings.HasPrefix(line, dir) &&
				(strings.Contains(line, "warning:") || strings.Contains(line, "error:")) {
				t.Error(line)
			}
		}
	})
}

// usesCheckerValid says that the kernel's makefile looks by a script whether a checker works.
func usesCheckerValid(kdir string) bool {
	b, _ := os.ReadFile(kdir + "/Makefile")
	_, rest, _ := strings.Cut(string(b), "include ")
	top, _, _ := strings.Cut(rest, "\n")
	all, _ := os.ReadFile(strings.TrimSpace(top))
	return strings.Contains(string(b)+string(all), "checker-valid.sh")
}

// defines are what a build defines for a kernel that exports certain symbols.
func defines(t *testing.T, kdir string) string {
	b, err := os.ReadFile(kdir + "/Module.symvers")
	if err != nil {
		t.Fatal(err)
	}
	out := ""
	for symbol, define := range map[string]string{"uprobe_unregister_nosync": "GS_UPROBE_HANDLE",
		"hrtimer_setup": "GS_HRTIMER_SETUP", "ftrace_set_filter_ips": "GS_FTRACE_IPS"} {
		if strings.Contains(string(b), "\t"+symbol+"\t") {
			out += " -D" + define
		}
	}
	return out
}
