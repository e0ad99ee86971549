package tests

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestFirstStacks: the stacks of a program of which the tracer has not heard yet are whole as far as its own code goes:
// the tracer is stopped while the program starts, runs and ends. They are taken at a system call, where the kernel
// cannot be asked what is mapped, and are the calls that the program's source has.
func TestFirstStacks(t *testing.T) {
	needRoot(t)
	dir := t.TempDir()
	source := filepath.Join(dir, "first.c")
	// Frames of a size that only .eh_frame tells.
	const code = `#include <unistd.h>
#include <sys/syscall.h>
__attribute__((noinline)) long leaf(long n) { volatile char b[100]; b[n] = 1; return syscall(SYS_getpriority, 77, n) + b[n]; }
__attribute__((noinline)) long middle(long n) { volatile char b[300]; b[n] = 1; return leaf(n + 1) + b[n]; }
int main(void) { for (long i = 0; i < 20; i++) middle(i); return 0; }
`
	if err := os.WriteFile(source, []byte(code), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, flags := range [][]string{{"-static"}, {"-static-pie"}, {"-no-pie", "-static"}} {
		name, prog := strings.Join(flags, " "), filepath.Join(dir, "first")
		args := append([]string{"-O2", "-g", "-fomit-frame-pointer", "-o", prog, source}, flags...)
		if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		s := begin(t, "-v", "-e", `probe kernel.trace("sys_enter") {
				if (execname() == "first" && $id == 140) print(ustack(), "--\n")
			}
			probe process("`+prog+`").function("middle") { next }`)
		attached(t, s)
		s.signal(syscall.SIGSTOP)
		if err := exec.Command(prog).Run(); err != nil {
			t.Error(err)
		}
		s.signal(syscall.SIGCONT)
		s.signal(syscall.SIGINT)
		if status := s.end(); status != 0 {
			t.Fatalf("status %d\n%s", status, s.stderr())
		}
		stacks := strings.Split(s.stdout(), "--\n")
		if len(stacks) != 21 {
			t.Errorf("%s: %d stacks:\n%s\n%s", name, len(stacks)-1, s.stdout(), s.stderr())
		}
		for _, stack := range stacks[:len(stacks)-1] {
			at := 0
			for _, f := range []string{"syscall+", "leaf", "middle", "main+", "_start+"} {
				i := strings.Index(stack[at:], " : "+f)
				if i < 0 {
					t.Errorf("%s: no %s in\n%s", name, f, stack)
					break
				}
				at += i
			}
			if strings.Contains(stack, " ...") {
				t.Errorf("%s: a stack is cut:\n%s", name, stack)
			}
		}
	}
}
