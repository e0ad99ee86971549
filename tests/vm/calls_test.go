package vm

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// callScript changes arguments and results of system calls, what pointers lead to, and a call that waits.
const callScript = `probe syscall.read {
  if (execname() == "calls" && $count == 6) { $count -= 3; $buf += 1; println($count, " ", int_arg(3)) }
}
probe syscall.read.return { if (pid() == target()) println("returned ", $return, " ", $count) }
probe syscall.lseek { if (execname() == "calls") set_int_arg(1, 98) }
probe syscall.lseek.return { if (execname() == "calls" && int_arg(1) == 98) $return = -75 }
probe syscall.getppid.return { if (execname() == "calls") set_returnval(4711) }
probe syscall.dup { if (execname() == "calls") $fildes = 1 }
probe syscall.execve {
  if (user_string($filename, "") == "/bin/nothing") set_user_string($filename, "/bin/echo")
}
probe process.syscall { if ($syscall == 57 || $syscall == 56) try { $arg1 = 0 } catch (m) { println(m) } }
`

// TestChangedCalls has a module change system calls. The registers are the program's own again when a call returns,
// also when the session is over by then.
func TestChangedCalls(t *testing.T) {
	each(t, func(t *testing.T, k *Kernel, b *bench) {
		dir := t.TempDir()
		kdir, err := k.BuildDir()
		if err != nil {
			t.Fatal(err)
		}
		facts, err := k.Facts(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		gostap, calls := filepath.Join(dir, "gostap"), filepath.Join(dir, "calls")
		if err := goBuild(gostap, "../../cmd/gostap"); err != nil {
			t.Fatal(err)
		}
		gcc := exec.Command("gcc", "-O2", "-static", "-o", calls, "testdata/calls/calls.c")
		if out, err := gcc.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		build := exec.Command(gostap, "-g", "-p4", "-m", "calls", "--runtime=kernel", "-r", kdir,
			"--kernel-btf", facts.BTF, "--kernel-map", facts.Kallsyms, "-e", callScript)
		build.Dir, build.Env = dir, append(os.Environ(), "XDG_CACHE_HOME="+filepath.Join(dir, "cache"))
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("build calls.ko: %v\n%s", err, out)
		}
		run := gostap + " run " + dir + "/calls.ko "
		command := run + "-c " + calls + " 2>&1; echo rc $?\n" +
			"mkfifo /tmp/in; " + run + ">/tmp/said 2>&1 & g=$!\n" +
			"(exec 9>/tmp/in; while [ ! -e /tmp/over ]; do sleep 0.1; done; echo abcdefgh >&9) &\n" +
			calls + " wait </tmp/in & c=$!\n" +
			"while ! grep -q '^3 3' /tmp/said && kill -0 $g; do sleep 0.1; done\n" +
			"kill $g; wait $g; touch /tmp/over; wait $c\n"
		res := guest(t, k, Options{Files: map[string]string{dir: dir}, Command: command})
		for _, w := range []string{"\n3 3\n", "\nreturned 3 3\n", "\nread 3 0abc456789 same 1\n",
			"\nlseek -75 same 1\n",
			"\ngetppid 4711 same 1\n", "\ndup ok same 1\n", "\nran\n", "\nrc 0\n", "\nwaited 3 0abc456789 same 1"} {
			if !strings.Contains("\n"+res.Output, w) {
				t.Errorf("no %q in\n%s", w, res.Output)
			}
		}
	})
}
