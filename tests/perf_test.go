package tests

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// TestPerfEvents: page faults of the target and of what it makes, counted one by one, are as many as the kernel's
// tracepoint for faults of programs tells; the clock hits as often as it should; a hit has the registers of what was
// interrupted.
func TestPerfEvents(t *testing.T) {
	needRoot(t)
	s := begin(t, "-e", `global faults, traced, ticks, here
		probe perf.sw.page_faults.sample(1).process { faults[pid() == target()]++ }
		probe kernel.trace("exceptions:page_fault_user") { if (target_set_pid(pid())) traced++ }
		probe perf.type(1).config(1).hz(1000).process { ticks++; if (user_mode() && uaddr() != 0) here++ }
		probe end { printf("%d %d %d %d %d\n", faults[1], faults[0], traced, ticks > 10, here > 0) }`,
		"-c", "for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done; i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done")
	if status := s.end(); status != 0 {
		t.Fatalf("status %d\n%s", status, s.stderr())
	}
	var own, kids, traced, ticks, here int
	if n, _ := fmt.Sscan(s.stdout(), &own, &kids, &traced, &ticks, &here); n != 5 {
		t.Fatal(s.stdout())
	}
	// The kernel itself touches pages of the program: those have no part in the tracepoint.
	if sum := own + kids; own < 1 || kids < 200 || sum < traced*9/10 || sum > traced*13/10 {
		t.Errorf("%d and %d faults, %d at the tracepoint", own, kids, traced)
	}
	if ticks != 1 || here != 1 {
		t.Error(s.stdout())
	}
}

// TestWatchpoint: the kernel's counter of a thread's voluntary context switches is watched; /proc tells how often it
// changed.
func TestWatchpoint(t *testing.T) {
	needRoot(t)
	loop := startProgram(t, exec.Command("/bin/sh", "-c", "while :; do /bin/sleep 0.02; done"), "/bin/sh")
	pid := loop.Process.Pid
	s := begin(t, "-e", fmt.Sprintf(
		`probe kernel.trace("sched_switch") { if ($prev->pid == %d) { printf("0x%%x\n", &$prev->nvcsw) exit() } }`,
		pid))
	if status := s.end(); status != 0 {
		t.Fatal(s.stderr())
	}
	addr := strings.TrimSpace(s.stdout())
	before := loop.switches(t)
	w := begin(t, "-e", `global n, others probe kernel.data($1).length(8).write { if (pid() == $2) n++; else others++ }
		probe end { println(n, " ", others) }`, "-v", addr, fmt.Sprint(pid))
	if !firesWatchpoints(t) {
		if status := w.end(); status != 1 || !strings.Contains(w.stderr(), "error: ") ||
			!strings.Contains(w.stderr(), "this machine has no watchpoints") {
			t.Errorf("the processor fires no watchpoint here, and yet: status %d\n%s", status, w.stderr())
		}
		return
	}
	attached(t, w)
	during := loop.switches(t)
	for at := during; at < during+30; at = loop.switches(t) {
		loop.runsOn(t)
	}
	least := loop.switches(t) - during
	w.signal(syscall.SIGINT)
	if status := w.end(); status != 0 {
		t.Fatal(w.stderr())
	}
	most := loop.switches(t) - before
	var n, others int
	fmt.Sscan(w.stdout(), &n, &others)
	// The session covers all of the time between the inner looks, and a part of that between the outer ones.
	if others != 0 || n > most || n < least {
		t.Errorf("%d writes by the thread, %d by others; the counter rose by %d to %d", n, others, least, most)
	}
}

// firesWatchpoints reports whether a C program that has the kernel watch a variable of its own sees itself write it.
func firesWatchpoints(t *testing.T) bool {
	dir := t.TempDir()
	const source = `
#include <linux/perf_event.h>
#include <linux/hw_breakpoint.h>
#include <sys/syscall.h>
#include <unistd.h>
volatile long word;
int main(void)
{
	struct perf_event_attr a = { .type = PERF_TYPE_BREAKPOINT, .size = sizeof(a), .bp_type = HW_BREAKPOINT_W,
		.bp_addr = (unsigned long)&word, .bp_len = 8 };
	int fd = syscall(SYS_perf_event_open, &a, 0, -1, -1, 0);
	long n = 0;
	word = 1;
	return fd < 0 || read(fd, &n, sizeof(n)) != sizeof(n) ? 3 : n == 1 ? 0 : 2;
}`
	if err := os.WriteFile(dir+"/watch.c", []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-O1", "-o", dir+"/watch", dir+"/watch.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	err := exec.Command(dir + "/watch").Run()
	t.Logf("a program watches itself: %v", err)
	return err == nil
}
