package oracle

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// blockedC is a program of threads that wait in libc, each in its own way, below functions without frame pointers; one
// asks for the time in the vdso. It says its process's number and goes on until its input ends.
const blockedC = `#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
volatile long sink;
static int to_reader[2];
__attribute__((noinline)) static void *in_read(void *of)
{
	FILE *f = fdopen(to_reader[0], "r");
	char line[80];
	while (fgets(line, sizeof(line), f)) sink++;
	return of;
}
__attribute__((noinline)) static long in_sleep_inner(long n)
{
	char v[100 + (n & 7)];
	sink += (long)v & 1;
	usleep(500);
	return n + v[0];
}
__attribute__((noinline)) static void *in_sleep(void *of) { for (;;) sink += in_sleep_inner(sink) & 1; return of; }
__attribute__((noinline)) static void *in_wait(void *of)
{
	static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
	pthread_mutex_lock(&m);
	for (;;) {
		struct timespec t;
		clock_gettime(CLOCK_REALTIME, &t);
		if ((t.tv_nsec += 700000) >= 1000000000) { t.tv_nsec -= 1000000000; t.tv_sec++; }
		pthread_cond_timedwait(&c, &m, &t);
	}
	return of;
}
static int compare(const void *a, const void *b) { poll(NULL, 0, 1); return *(const int *)a - *(const int *)b; }
__attribute__((noinline)) static void *in_sort(void *of)
{
	for (;;) {
		int v[3] = { 3, 1, 2 };
		qsort(v, 3, sizeof(int), compare);
		sink += v[0];
		write(to_reader[1], "line\n", 5);
	}
	return of;
}
__attribute__((noinline)) static long now(int n)
{
	struct timespec t;
	char v[40 + (n & 15)];
	sink += (long)v & 1;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_nsec + v[1];
}
__attribute__((noinline)) static void *in_vdso(void *of) { for (;;) sink += now(sink) & 3; return of; }
int main(void)
{
	void *(*all[])(void *) = { in_read, in_sleep, in_wait, in_sort, in_vdso };
	pipe(to_reader);
	for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		pthread_t t;
		pthread_create(&t, NULL, all[i], NULL);
	}
	printf("%d\n", getpid());
	fflush(stdout);
	return getchar() == EOF ? 0 : 1;
}
`

// threadsScript has gdb write "@T thread pc pc..." of each thread of a process that it stops where it is.
const threadsScript = `
import gdb, os
for c in ("pagination off", "width 0", "confirm off", "debuginfod enabled off", "print thread-events off", "backtrace past-main on", "backtrace limit unlimited"):
    gdb.execute("set " + c)
gdb.execute("attach " + os.environ["PID"])
with open(os.environ["ANSWER"], "a") as out:
    for t in gdb.selected_inferior().threads():
        t.switch()
        f, stack = gdb.newest_frame(), []
        while f is not None:
            if f.type() != gdb.INLINE_FRAME and f.type() != gdb.TAILCALL_FRAME:
                stack.append("%x" % f.pc())
            f = f.older()
        out.write("@T %d %s\n" % (t.ptid[1], " ".join(stack)))
gdb.execute("detach")
`

// TestWalkedBlocked: stacks that the kernel keeps of threads that wait in libc, and of one in the vdso, are those that
// gdb finds when it stops the process: libc is built without frame pointers, as the program is.
func TestWalkedBlocked(t *testing.T) {
	needRoot(t)
	need(t, "gdb")
	for _, cc := range []string{"gcc", "clang"} {
		if _, err := exec.LookPath(cc); err != nil {
			continue
		}
		t.Run(cc, func(t *testing.T) {
			dir := t.TempDir()
			must(t, dir, nil, cc, "-O2", "-fomit-frame-pointer", "-g", "-w", "-o", "p",
				write(t, dir, "p.c", blockedC), "-pthread")
			blocked(t, dir)
		})
	}
}

func blocked(t *testing.T, dir string) {
	prog := exec.Command(filepath.Join(dir, "p"))
	stdin, err := prog.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := prog.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := prog.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		stdin.Close()
		prog.Wait()
	}()
	pid, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid = strings.TrimSpace(pid)
	const calls = "read,clock_nanosleep,futex,poll"
	out, errs, err := trace(t, dir, nil, "-w", "--no-global-var-display", "-D", "MAXBACKTRACE=40", "-x", pid, "-e",
		`global k, n, ticks
		probe syscall.{`+calls+`} { if (pid() == target() && n < 2000) { k[tid(), ustack()]++ n++ } }
		probe timer.profile {
			if (pid() == target() && user_mode()) { k[tid(), ustack()]++ if (ticks++ > 300 && n >= 2000) exit() }
		}
		probe end { foreach ([t, s] in k) print("@T ", t, "\n", s) }`)
	if err != nil {
		t.Fatalf("%v\n%s", err, errs)
	}
	kept := map[string]map[string]bool{} // by thread, then by what lies behind the first address
	vdso := mapped(t, pid, "[vdso]")
	cut, inVDSO := 0, 0
	for _, block := range strings.Split(out, "@T ")[1:] {
		tid, rest, _ := strings.Cut(block, "\n")
		var stack []string
		whole := true
		for line := range strings.Lines(rest) {
			w := strings.Fields(line)
			switch {
			case len(w) == 1 && w[0] == "...":
				whole = false
			case len(w) > 1 && w[1] == ":" && !strings.Contains(line, "(inlined)"):
				stack = append(stack, strings.TrimPrefix(w[0], "0x"))
			}
		}
		if !whole || len(stack) == 0 {
			cut++
			continue
		}
		if kept[tid] == nil {
			kept[tid] = map[string]bool{}
		}
		kept[tid][key(stack, vdso)] = true
		if within(stack[0], vdso) {
			inVDSO++
		}
	}
	answer := filepath.Join(dir, "answer")
	for range 6 {
		must(t, dir, []string{"PID=" + pid, "ANSWER=" + answer}, "gdb", "-nx", "-batch", "-x",
			write(t, dir, "threads.py", threadsScript))
	}
	text, err := os.ReadFile(answer)
	if err != nil {
		t.Fatal(err)
	}
	same, sameVDSO := map[string]bool{}, 0
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		tid, stack := f[1], f[2:]
		if tid == pid {
			continue // it has made no call meanwhile
		}
		k := key(stack, vdso)
		switch in := within(stack[0], vdso); {
		case kept[tid][k] && in:
			sameVDSO++
		case kept[tid][k]:
			same[tid] = true
		case in, blockedAt(kept[tid], stack[0]):
			t.Errorf("thread %s is at %s: gdb's stack %s is none of\n%s", tid, stack[0], k,
				strings.Join(keys(kept[tid]), "\n"))
		}
	}
	t.Logf("%d threads are the same, %d of gdb's stacks in the vdso, %d of ours; %d cut", len(same), sameVDSO, inVDSO,
		cut)
	if len(same) < 4 || sameVDSO == 0 || inVDSO == 0 {
		t.Errorf("too little was compared: %s\n%.3000s", text, out)
	}
}

// key is a stack without the place in the vdso, where a thread is at another one each time.
func key(stack []string, vdso [2]uint64) string {
	if within(stack[0], vdso) {
		stack = append([]string{"vdso"}, stack[1:]...)
		for len(stack) > 1 && within(stack[1], vdso) {
			stack = slices.Delete(stack, 1, 2)
		}
	}
	return strings.Join(stack, " ")
}

// blockedAt tells whether a thread was seen at a place in a system call.
func blockedAt(kept map[string]bool, pc string) bool {
	for k := range kept {
		if first, _, _ := strings.Cut(k, " "); first == pc {
			return true
		}
	}
	return false
}

func keys(m map[string]bool) (out []string) {
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func within(pc string, r [2]uint64) bool {
	n, err := strconv.ParseUint(pc, 16, 64)
	return err == nil && n >= r[0] && n < r[1]
}

// mapped gives where something is mapped in a process.
func mapped(t *testing.T, pid, name string) (r [2]uint64) {
	t.Helper()
	text, err := os.ReadFile("/proc/" + pid + "/maps")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasSuffix(strings.TrimSpace(line), name) {
			if _, err := fmt.Sscanf(line, "%x-%x", &r[0], &r[1]); err != nil {
				t.Fatal(err)
			}
		}
	}
	return r
}
