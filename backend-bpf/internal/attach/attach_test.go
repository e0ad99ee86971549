package attach

import (
	"bufio"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gostap/gostap/tests/patience"
)

func TestUprobesCountExactly(t *testing.T) {
	eachWay(t, func(t *testing.T, multi bool) {
		tg := newTarget(t)
		c := newCounter(t, multi)
		p := tg.start(t)
		var s Set
		defer s.Detach()
		if err := s.Uprobes(&Uprobes{Prog: c.prog(), File: open(t, tg.path), Multi: multi,
			Sites: []Site{tg.site(3), tg.site(1)}}); err != nil {
			t.Fatal(err)
		}
		p.call(t, 1, 1234)
		p.call(t, 3, 77)
		p.call(t, 2, 50)
		late := tg.start(t) // a process that starts later is probed too
		late.call(t, 1, 10)
		for i, want := range map[int]uint64{1: 1244, 2: 0, 3: 77} {
			if got := c.hits(t, i); got != want {
				t.Errorf("f%d: %d hits, want %d", i, got, want)
			}
		}
		if err := s.Detach(); err != nil {
			t.Fatal(err)
		}
		p.call(t, 1, 100)
		if got := c.hits(t, 1); got != 1244 {
			t.Errorf("%d hits after Detach", got)
		}
		if n := s.Links(); n != 0 {
			t.Errorf("%d links after Detach", n)
		}
	})
}

func TestOneProcessOnly(t *testing.T) {
	eachWay(t, func(t *testing.T, multi bool) {
		tg := newTarget(t)
		c := newCounter(t, multi)
		a, b := tg.start(t), tg.start(t)
		var s Set
		defer s.Detach()
		if err := s.Uprobes(&Uprobes{Prog: c.prog(), File: open(t, tg.path), Multi: multi, PID: a.cmd.Process.Pid,
			Sites: []Site{tg.site(5)}}); err != nil {
			t.Fatal(err)
		}
		a.call(t, 5, 40)
		b.call(t, 5, 1000)
		if got := c.hits(t, 5); got != 40 {
			t.Errorf("%d hits, want 40", got)
		}
	})
}

// TestBeforeExec attaches to a process that has yet to become the target, as with -c.
func TestBeforeExec(t *testing.T) {
	eachWay(t, func(t *testing.T, multi bool) {
		tg := newTarget(t)
		c := newCounter(t, multi)
		cmd := exec.Command("/bin/sh", "-c", "read go; exec "+tg.path)
		in, _ := cmd.StdinPipe()
		out, _ := cmd.StdoutPipe()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { cmd.Process.Kill(); cmd.Wait() }()
		var s Set
		defer s.Detach()
		if err := s.Uprobes(&Uprobes{Prog: c.prog(), File: open(t, tg.path), Multi: multi, PID: cmd.Process.Pid,
			Sites: []Site{tg.site(7)}}); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(in)
		p := &process{cmd, in, bufio.NewReader(out)}
		p.call(t, 7, 33)
		if got := c.hits(t, 7); got != 33 {
			t.Errorf("%d hits, want 33", got)
		}
	})
}

func TestReturnProbe(t *testing.T) {
	eachWay(t, func(t *testing.T, multi bool) {
		tg := newTarget(t)
		c := newCounter(t, multi)
		p := tg.start(t)
		var s Set
		defer s.Detach()
		if err := s.Uprobes(&Uprobes{Prog: c.prog(), File: open(t, tg.path), Multi: multi, Return: true,
			Sites: []Site{tg.site(9)}}); err != nil {
			t.Fatal(err)
		}
		p.call(t, 9, 500)
		if got := c.hits(t, 9); got != 500 {
			t.Errorf("%d hits, want 500", got)
		}
	})
}

func TestRefuseGoReturn(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var s Set
	err = s.Uprobes(&Uprobes{Prog: -1, File: open(t, exe), Multi: true, Return: true,
		Sites: []Site{{Offset: 0x1000, Name: "main.main"}}})
	if !errors.Is(err, ErrGoReturn) {
		t.Fatalf("a return probe in a Go program: %v", err)
	}
	if !strings.Contains(err.Error(), "main.main") {
		t.Errorf("the message does not name the function: %v", err)
	}
}

// TestErrorLeavesNothing: one bad place among good ones.
func TestErrorLeavesNothing(t *testing.T) {
	eachWay(t, func(t *testing.T, multi bool) {
		tg := newTarget(t)
		c := newCounter(t, multi)
		p := tg.start(t)
		bad := Site{Offset: 1 << 40, Name: "nowhere"}
		var s Set
		err := s.Uprobes(&Uprobes{Prog: c.prog(), File: open(t, tg.path), Multi: multi,
			Sites: []Site{tg.site(1), bad, tg.site(2)}})
		e, ok := errors.AsType[*Error](err)
		if !ok {
			t.Fatalf("got %v", err)
		}
		if e.Site.Name != "nowhere" || !strings.Contains(err.Error(), "0x10000000000") ||
			!strings.Contains(err.Error(), "past the end") {
			t.Errorf("message: %v", err)
		}
		if s.Links() != 0 {
			t.Errorf("%d links are left", s.Links())
		}
		// On a busy machine the kernel may not have taken the breakpoint out yet.
		for end := patience.Now() + 20*time.Second; ; time.Sleep(50 * time.Millisecond) {
			before := c.hits(t, 1)
			p.call(t, 1, 100)
			got := c.hits(t, 1) - before
			if got == 0 {
				break
			}
			if patience.Now() > end {
				t.Fatalf("%d hits: something is still attached", got)
			}
		}
	})
}

func TestDeadProcess(t *testing.T) {
	eachWay(t, func(t *testing.T, multi bool) {
		tg := newTarget(t)
		c := newCounter(t, multi)
		p := tg.start(t)
		p.cmd.Process.Kill()
		p.cmd.Wait()
		var s Set
		err := s.Uprobes(&Uprobes{Prog: c.prog(), File: open(t, tg.path), Multi: multi, PID: p.cmd.Process.Pid,
			Sites: []Site{tg.site(1)}})
		if err == nil || !strings.Contains(err.Error(), "does not exist any more") {
			t.Errorf("got %v", err)
		}
	})
}

// TestDeletedFile: a program whose file is gone can be probed through /proc.
func TestDeletedFile(t *testing.T) {
	eachWay(t, func(t *testing.T, multi bool) {
		tg := newTarget(t)
		path := filepath.Join(t.TempDir(), "prog")
		copyFile(t, tg.path, path)
		p := startPath(t, path)
		os.Remove(path)
		c := newCounter(t, multi)
		var s Set
		defer s.Detach()
		f := open(t, fmt.Sprintf("/proc/%d/exe", p.cmd.Process.Pid))
		if err := s.Uprobes(&Uprobes{Prog: c.prog(), File: f, Multi: multi, Sites: []Site{tg.site(4)}}); err != nil {
			t.Fatal(err)
		}
		p.call(t, 4, 21)
		if got := c.hits(t, 4); got != 21 {
			t.Errorf("%d hits, want 21", got)
		}
	})
}

// TestRefusedInstruction: no process runs the program, so the kernel by itself would take the probe and never fire it.
func TestRefusedInstruction(t *testing.T) {
	needMulti(t)
	needRoot(t)
	tg := newTarget(t)
	c := newCounter(t, true)
	for name, bad := range map[string]bool{"locked": true, "trap": false, "plain": false} {
		var s Set
		site := Site{Offset: tg.offs[name], Name: name, Check: true}
		err := s.Uprobes(&Uprobes{Prog: c.prog(), File: open(t, tg.path), Multi: true, Sites: []Site{tg.site(1), site}})
		t.Logf("%s: %v", name, err)
		e, ok := errors.AsType[*Error](err)
		if bad != ok || ok && e.Site.Name != name {
			t.Errorf("%s: %v", name, err)
		}
		s.Detach()
	}
}

// The place that is refused is found among many that are not.
func TestRefusedAmongMany(t *testing.T) {
	needMulti(t)
	needRoot(t)
	tg := newTarget(t)
	c := newCounter(t, true)
	names := slices.Sorted(maps.Keys(tg.offs))
	if !slices.Contains(names, "locked") || len(names) < 4 {
		t.Fatalf("the program has %v", names)
	}
	var sites []Site
	for _, name := range names {
		sites = append(sites, Site{Offset: tg.offs[name], Name: name, Check: true})
	}
	var s Set
	defer s.Detach()
	err := s.Uprobes(&Uprobes{Prog: c.prog(), File: open(t, tg.path), Multi: true, Sites: sites})
	if e, ok := errors.AsType[*Error](err); !ok || e.Site.Name != "locked" {
		t.Errorf("%v", err)
	}
}

// TestSemaphore: the kernel raises a USDT semaphore while a probe is attached.
func TestSemaphore(t *testing.T) {
	eachWay(t, func(t *testing.T, multi bool) {
		dir := t.TempDir()
		src := filepath.Join(dir, "s.c")
		os.WriteFile(src, []byte(`#include <stdio.h>
struct { unsigned short sem, other; } s __attribute__((section(".probes"))) = {0, 1};
__attribute__((noinline)) void f(void) { asm volatile("nop"); }
int main(void) { int c; while ((c = getchar()) != EOF) { f(); printf("%d\n", s.sem); fflush(stdout); } }
`), 0o666)
		bin := filepath.Join(dir, "s")
		if _, err := exec.LookPath("gcc"); err != nil {
			t.Skip(err)
		}
		if out, err := exec.Command("gcc", "-O1", "-o", bin, src).CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
		offs := offsets(t, bin)
		p := startPath(t, bin)
		ask := func() string {
			fmt.Fprint(p.in, "x")
			l, err := p.out.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			return strings.TrimSpace(l)
		}
		if got := ask(); got != "0" {
			t.Fatalf("semaphore is %s before", got)
		}
		c := newCounter(t, multi)
		var s Set
		defer s.Detach()
		// A second place without a semaphore in the same link.
		sites := []Site{{Offset: offs["f"], RefCtr: offs["s"], Cookie: 1}, {Offset: offs["main"], Cookie: 2}}
		if err := s.Uprobes(&Uprobes{Prog: c.prog(), File: open(t, bin), Multi: multi, Sites: sites}); err != nil {
			t.Fatal(err)
		}
		if got := ask(); got != "1" {
			t.Errorf("semaphore is %s while attached", got)
		}
		if n := c.hits(t, 1); n != 1 {
			t.Errorf("%d hits", n)
		}
		s.Detach()
		if got := ask(); got != "0" {
			t.Errorf("semaphore is %s after", got)
		}
	})
}

// TestOtherMountNamespace probes a program that this process can only see through /proc.
func TestOtherMountNamespace(t *testing.T) {
	eachWay(t, func(t *testing.T, multi bool) {
		tg := newTarget(t)
		dir := t.TempDir()
		cmd := exec.Command("unshare", "-m", "sh", "-c",
			`mount -t tmpfs none "$1" && cp "$2" "$1/prog" && exec "$1/prog"`, "sh", dir, tg.path)
		in, _ := cmd.StdinPipe()
		out, _ := cmd.StdoutPipe()
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Skip(err)
		}
		defer func() { cmd.Process.Kill(); cmd.Wait() }()
		p := &process{cmd, in, bufio.NewReader(out)}
		p.call(t, 0, 1)
		if _, err := os.Stat(dir + "/prog"); err == nil {
			t.Fatal("the file is visible here")
		}
		c := newCounter(t, multi)
		var s Set
		defer s.Detach()
		f := open(t, fmt.Sprintf("/proc/%d/root%s/prog", cmd.Process.Pid, dir))
		if err := s.Uprobes(&Uprobes{Prog: c.prog(), File: f, Multi: multi, Sites: []Site{tg.site(8)}}); err != nil {
			t.Fatal(err)
		}
		p.call(t, 8, 17)
		if got := c.hits(t, 8); got != 17 {
			t.Errorf("%d hits, want 17", got)
		}
	})
}
