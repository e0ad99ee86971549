package tests

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// TestGoStackCut: of a goroutine whose frames cannot be reached, since a signal's handler has no tables and goes on on
// another stack, the stack is there, and cut.
func TestGoStackCut(t *testing.T) {
	t.Parallel()
	needRoot(t)
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module app\n\ngo 1.25\n", "main.go": `package main

/*
#cgo CFLAGS: -O2 -fno-asynchronous-unwind-tables -fno-unwind-tables -fomit-frame-pointer
#include <signal.h>
extern volatile int handled;
void install(void);
void calls(void);
*/
import "C"

import "syscall"

//export raises
func raises() { // the thread is in a call of C, and runs a goroutine
	syscall.Tgkill(syscall.Getpid(), syscall.Gettid(), syscall.SIGWINCH)
	for C.handled == 0 {
	}
}

func main() {
	C.install()
	C.calls()
}
`, "c.c": `#include <signal.h>
volatile int handled;
extern void raises(void);
void work(int n) { handled = n; }
char other[8192];
void *saved;
void handler(int n);
__asm__(".text\nhandler: mov %rsp, saved(%rip)\n lea other+8192(%rip), %rsp\n"
	"call work\n mov saved(%rip), %rsp\n ret\n");
void install(void) {
	struct sigaction a = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
	sigaction(SIGWINCH, &a, 0);
}
void calls(void) { raises(); }
`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command("go", "build", "-o", "app", ".")
	build.Dir, build.Env = dir, append(os.Environ(), "CGO_ENABLED=1", "CGO_CFLAGS_ALLOW=.*")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s := begin(t, "-e", `global own
		probe process.function("work") { own = gostack() }
		probe process.function("work") { print(gostack_created()) }
		probe end { printf("[%s][%s][%s]\n", own, stack_addrs(own), stack_folded(own)) }`,
		"-c", filepath.Join(dir, "app"))
	if status := s.end(); status != 0 {
		t.Fatalf("status %d\n%s", status, s.stderr())
	}
	if out := s.stdout(); !regexp.MustCompile(`^ \.\.\.\n created by the go statement at\n 0x[0-9a-f]+ : runtime\..*\n` +
		`\[ \.\.\.\n\]\[\.\.\.\]\[\.\.\.\]\n$`).MatchString(out) {
		t.Errorf("%s", out)
	}
}
