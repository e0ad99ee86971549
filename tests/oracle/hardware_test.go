package oracle

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// hardware has a child stop at a hardware breakpoint, and says whether it did.
const hardware = `#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) int met(int n) { asm volatile(""); return n + 1; }
int main(void)
{
	int status;
	pid_t child = fork();

	if (!child) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		_exit(met(1));
	}
	waitpid(child, &status, 0);
	ptrace(PTRACE_POKEUSER, child, offsetof(struct user, u_debugreg[0]), (void *)met);
	ptrace(PTRACE_POKEUSER, child, offsetof(struct user, u_debugreg[7]), (void *)1L);
	ptrace(PTRACE_CONT, child, 0, 0);
	waitpid(child, &status, 0);
	puts(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP ? "stopped" : "passed");
	kill(child, SIGKILL);
	return 0;
}
`

// hardwareStops says whether threads stop at hardware breakpoints here: some virtual machines take them, and nobody
// ever stops.
var hardwareStops = sync.OnceValues(func() (bool, error) {
	dir, err := os.MkdirTemp(workDir, "hardware-")
	if err != nil {
		return false, err
	}
	source, bin := filepath.Join(dir, "hardware.c"), filepath.Join(dir, "hardware")
	if err := os.WriteFile(source, []byte(hardware), 0o644); err != nil {
		return false, err
	}
	if err := exec.Command("gcc", "-O1", "-o", bin, source).Run(); err != nil {
		return false, err
	}
	out, err := exec.Command(bin).Output()
	return strings.TrimSpace(string(out)) == "stopped", err
})

// needHardwareStops skips a test that cannot do without.
func needHardwareStops(t *testing.T) {
	t.Helper()
	switch ok, err := hardwareStops(); {
	case err != nil:
		t.Fatal(err)
	case !ok:
		t.Skip("this machine takes hardware breakpoints and never stops at them")
	}
}
