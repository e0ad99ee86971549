package attach

import (
	"bufio"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/backend-bpf/internal/features"
	"github.com/gostap/gostap/backend-bpf/internal/kern"
	"github.com/gostap/gostap/backend-bpf/internal/load"
)

func needRoot(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root: attaches BPF programs")
	}
}

const many = 1000

// target is a C program with the functions f0..f999 that calls "f<a> <n> times" on request.
type target struct {
	path string
	offs map[string]uint64
}

// buildTarget makes it, unless GOSTAP_TEST_TARGET names one that was made elsewhere (for machines without a compiler).
var buildTarget = sync.OnceValues(func() (string, error) {
	if p := os.Getenv("GOSTAP_TEST_TARGET"); p != "" {
		return p, nil
	}
	dir, err := os.MkdirTemp("", "gostap-attach")
	if err != nil {
		return "", err
	}
	var src strings.Builder
	src.WriteString("#include <stdio.h>\n#include <stdlib.h>\nvolatile long sink;\n")
	for i := range many {
		fmt.Fprintf(&src, "__attribute__((noinline)) void f%d(long x) { sink += x + %d; }\n", i, i)
	}
	src.WriteString("void (*tab[])(long) = {")
	for i := range many {
		fmt.Fprintf(&src, "f%d,", i)
	}
	src.WriteString(`};
__attribute__((noinline)) void odd(void) {
	asm volatile(".globl locked\nlocked: lock incq %0\n.globl trap\ntrap: ud2\n.globl plain\nplain: addq $1, %0" : "+m"(sink));
}
int main(int argc, char **argv) {
	if (argc > 5) odd();
	long a, n;
	while (scanf("%ld %ld", &a, &n) == 2) {
		for (long i = 0; i < n; i++) tab[a](i);
		printf("done\n");
		fflush(stdout);
	}
	return 0;
}
`)
	c := filepath.Join(dir, "t.c")
	if err := os.WriteFile(c, []byte(src.String()), 0o666); err != nil {
		return "", err
	}
	bin := filepath.Join(dir, "t")
	if out, err := exec.Command("gcc", "-O1", "-fno-omit-frame-pointer", "-o", bin, c).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%v: %s", err, out)
	}
	return bin, nil
})

func TestMain(m *testing.M) {
	if os.Getenv("GOSTAP_TEST_CHILD") != "" {
		childMain()
		return
	}
	code := m.Run()
	if bin, err := buildTarget(); err == nil && os.Getenv("GOSTAP_TEST_TARGET") == "" {
		os.RemoveAll(filepath.Dir(bin))
	}
	os.Exit(code)
}

func newTarget(t testing.TB) *target {
	t.Helper()
	bin, err := buildTarget()
	if err != nil {
		t.Fatal(err)
	}
	return &target{path: bin, offs: offsets(t, bin)}
}

// offsets gives the file offsets of a binary's functions.
func offsets(t testing.TB, path string) map[string]uint64 {
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	syms, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]uint64{}
	for _, s := range syms {
		for _, p := range f.Progs {
			if p.Type == elf.PT_LOAD && s.Value >= p.Vaddr && s.Value < p.Vaddr+p.Filesz {
				out[s.Name] = s.Value - p.Vaddr + p.Off
			}
		}
	}
	return out
}

func (tg *target) site(i int) Site {
	name := fmt.Sprintf("f%d", i)
	return Site{Offset: tg.offs[name], Cookie: uint64(i), Name: name}
}

// process is a running target.
type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func (tg *target) start(t testing.TB) *process {
	t.Helper()
	return startPath(t, tg.path)
}

func startPath(t testing.TB, path string) *process {
	t.Helper()
	c := exec.Command(path)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	return &process{c, in, bufio.NewReader(out)}
}

func (p *process) call(t testing.TB, f, n int) {
	t.Helper()
	fmt.Fprintf(p.in, "%d %d\n", f, n)
	if _, err := p.out.ReadString('\n'); err != nil {
		t.Fatalf("target died: %v", err)
	}
}

// counter is a program that counts its runs by cookie.
type counter struct{ col *load.Collection }

// countInsns counts in the array "hits", indexed by the attach cookie.
func countInsns() asm.Instructions {
	return asm.Instructions{
		asm.FnGetAttachCookie.Call(), // the context is in r1
		asm.StoreMem(asm.RFP, -4, asm.R0, asm.Word),
		asm.LoadMapPtr(asm.R1, 0).WithReference("hits"),
		asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, -4),
		asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "out"),
		asm.Mov.Imm(asm.R1, 1),
		asm.AddAtomic.Mem(asm.R0, asm.R1, asm.DWord, 0),
		asm.Mov.Imm(asm.R0, 0).WithSymbol("out"),
		asm.Return(),
	}
}

func loadCounter(t testing.TB, typ ebpf.ProgramType, at ebpf.AttachType, to string) *counter {
	t.Helper()
	col, err := load.Load(&ebpf.CollectionSpec{
		Maps:     map[string]*ebpf.MapSpec{"hits": {Type: ebpf.Array, KeySize: 4, ValueSize: 8, MaxEntries: many}},
		Programs: map[string]*ebpf.ProgramSpec{"count": {Type: typ, AttachType: at, AttachTo: to, Instructions: countInsns(), License: "GPL"}},
	}, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(col.Close)
	return &counter{col}
}

func newCounter(t testing.TB, multi bool) *counter {
	at := ebpf.AttachNone
	if multi {
		at = ebpf.AttachTraceUprobeMulti
	}
	return loadCounter(t, ebpf.Kprobe, at, "")
}

func (c *counter) prog() int { return c.col.Progs["count"].FD() }

func (c *counter) hits(t testing.TB, i int) uint64 {
	t.Helper()
	var k [4]byte
	var v [8]byte
	binary.NativeEndian.PutUint32(k[:], uint32(i))
	if err := kern.Lookup(c.col.Maps["hits"].FD(), k[:], v[:]); err != nil {
		t.Fatal(err)
	}
	return binary.NativeEndian.Uint64(v[:])
}

func open(t testing.TB, path string) *File {
	t.Helper()
	id, err := Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := OpenFile(path, id)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f
}

func needMulti(t testing.TB) {
	t.Helper()
	if err := features.Probe(features.UprobeMulti); err != nil {
		t.Skip(err)
	}
}

func eachWay(t *testing.T, f func(t *testing.T, multi bool)) {
	needRoot(t)
	t.Run("multi", func(t *testing.T) { needMulti(t); f(t, true) })
	t.Run("pmu", func(t *testing.T) { f(t, false) })
}

func TestUprobesCountExactly(t *testing.T) {
	eachWay(t, func(t *testing.T, multi bool) {
		tg := newTarget(t)
		c := newCounter(t, multi)
		p := tg.start(t)
		var s Set
		defer s.Detach()
		if err := s.Uprobes(&Uprobes{Prog: c.prog(), File: open(t, tg.path), Multi: multi, Sites: []Site{tg.site(3), tg.site(1)}}); err != nil {
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
		if err := s.Uprobes(&Uprobes{Prog: c.prog(), File: open(t, tg.path), Multi: multi, PID: a.cmd.Process.Pid, Sites: []Site{tg.site(5)}}); err != nil {
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
		if err := s.Uprobes(&Uprobes{Prog: c.prog(), File: open(t, tg.path), Multi: multi, PID: cmd.Process.Pid, Sites: []Site{tg.site(7)}}); err != nil {
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
		if err := s.Uprobes(&Uprobes{Prog: c.prog(), File: open(t, tg.path), Multi: multi, Return: true, Sites: []Site{tg.site(9)}}); err != nil {
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
	err = s.Uprobes(&Uprobes{Prog: -1, File: open(t, exe), Multi: true, Return: true, Sites: []Site{{Offset: 0x1000, Name: "main.main"}}})
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
		err := s.Uprobes(&Uprobes{Prog: c.prog(), File: open(t, tg.path), Multi: multi, Sites: []Site{tg.site(1), bad, tg.site(2)}})
		e, ok := errors.AsType[*Error](err)
		if !ok {
			t.Fatalf("got %v", err)
		}
		if e.Site.Name != "nowhere" || !strings.Contains(err.Error(), "0x10000000000") || !strings.Contains(err.Error(), "past the end") {
			t.Errorf("message: %v", err)
		}
		if s.Links() != 0 {
			t.Errorf("%d links are left", s.Links())
		}
		p.call(t, 1, 100)
		if got := c.hits(t, 1); got != 0 {
			t.Errorf("%d hits: something is still attached", got)
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
		err := s.Uprobes(&Uprobes{Prog: c.prog(), File: open(t, tg.path), Multi: multi, PID: p.cmd.Process.Pid, Sites: []Site{tg.site(1)}})
		if err == nil || !strings.Contains(err.Error(), "does not exist any more") {
			t.Errorf("got %v", err)
		}
	})
}

func TestReplacedFile(t *testing.T) {
	tg := newTarget(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "prog")
	copyFile(t, tg.path, path)
	id, err := Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if f, err := OpenFile(path, id); err != nil {
		t.Fatal(err)
	} else {
		f.Close()
	}
	os.Remove(path)
	if _, err := OpenFile(path, id); err == nil || !strings.Contains(err.Error(), "does not exist any more") {
		t.Errorf("removed: %v", err)
	}
	copyFile(t, tg.path, path+".new")
	os.Rename(path+".new", path)
	if _, err := OpenFile(path, id); !errors.Is(err, ErrReplaced) {
		t.Errorf("replaced: %v", err)
	}
	id, _ = Stat(path)
	later := time.Now().Add(time.Hour)
	os.Chtimes(path, later, later)
	if _, err := OpenFile(path, id); !errors.Is(err, ErrReplaced) {
		t.Errorf("touched: %v", err)
	}
	if _, err := OpenFile(dir, FileID{}); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a directory: %v", err)
	}
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

func copyFile(t testing.TB, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, b, 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestTracepoints(t *testing.T) {
	needRoot(t)
	run := func(t *testing.T, c *counter, attach func(s *Set) error) {
		var s Set
		defer s.Detach()
		if err := attach(&s); err != nil {
			t.Fatal(err)
		}
		before := c.hits(t, 0)
		for range 20 {
			if err := exec.Command("/bin/true").Run(); err != nil {
				t.Fatal(err)
			}
		}
		if got := c.hits(t, 0) - before; got < 20 {
			t.Errorf("%d hits for 20 programs", got)
		}
		s.Detach()
		before = c.hits(t, 0)
		exec.Command("/bin/true").Run()
		if got := c.hits(t, 0); got != before {
			t.Errorf("%d hits after Detach", got-before)
		}
	}
	// The counter asks for its cookie, which raw tracepoints have from 6.10 on.
	if err := features.Probe(features.RawTPCookie); err != nil {
		t.Skip(err)
	}
	t.Run("raw", func(t *testing.T) {
		c := loadCounter(t, ebpf.RawTracepoint, ebpf.AttachNone, "")
		run(t, c, func(s *Set) error { return s.Tracepoint(c.prog(), "sched_process_exec", 0) })
	})
	t.Run("btf", func(t *testing.T) {
		c := loadCounter(t, ebpf.Tracing, ebpf.AttachTraceRawTp, "sched_process_exec")
		run(t, c, func(s *Set) error { return s.Tracing(c.prog(), kern.AttachTraceRawTP, "sched_process_exec", 0) })
	})
	t.Run("missing", func(t *testing.T) {
		c := loadCounter(t, ebpf.RawTracepoint, ebpf.AttachNone, "")
		var s Set
		if err := s.Tracepoint(c.prog(), "no_such_thing", 0); err == nil || !strings.Contains(err.Error(), "no such tracepoint") {
			t.Errorf("got %v", err)
		}
	})
}

func TestClock(t *testing.T) {
	needRoot(t)
	c := loadCounter(t, ebpf.PerfEvent, ebpf.AttachNone, "")
	var s Set
	defer s.Detach()
	if err := s.Clock(c.prog(), uint64(time.Millisecond), 3); err != nil {
		t.Fatal(err)
	}
	end := time.Now().Add(200 * time.Millisecond)
	for time.Now().Before(end) {
	}
	if got := c.hits(t, 3); got < 20 || got > 2000 {
		t.Errorf("%d ticks of a busy CPU in 200 ms at 1 ms", got)
	}
	s.Detach()
	got := c.hits(t, 3)
	time.Sleep(20 * time.Millisecond)
	if now := c.hits(t, 3); now != got {
		t.Errorf("%d ticks after Detach", now-got)
	}
}

// TestManySites is a yardstick: 1000 places attached and detached in less than 0.2 s.
func TestManySites(t *testing.T) {
	needMulti(t)
	needRoot(t)
	tg := newTarget(t)
	p := tg.start(t)
	sites := make([]Site, many)
	for i := range sites {
		sites[i] = tg.site(i)
	}
	best := time.Hour
	for range 5 {
		c := newCounter(t, true)
		var s Set
		start := time.Now()
		if err := s.Uprobes(&Uprobes{Prog: c.prog(), File: open(t, tg.path), Multi: true, Sites: sites}); err != nil {
			t.Fatal(err)
		}
		attached := time.Since(start)
		p.call(t, 999, 5)
		p.call(t, 0, 6)
		if a, b := c.hits(t, 999), c.hits(t, 0); a != 5 || b != 6 {
			t.Errorf("%d and %d hits, want 5 and 6", a, b)
		}
		mid := time.Now()
		s.Detach()
		gone := time.Since(mid)
		t.Logf("1000 sites: attached in %v, detached in %v", attached, gone)
		best = min(best, attached+gone)
	}
	if best > 200*time.Millisecond {
		t.Errorf("1000 sites took %v", best)
	}
}

// TestPerfDetachDoesNotWait: without uprobe_multi the kernel takes 0.1 s for each place, but not of our time.
func TestPerfDetachDoesNotWait(t *testing.T) {
	needRoot(t)
	tg := newTarget(t)
	p := tg.start(t)
	c := newCounter(t, false)
	sites := make([]Site, 20)
	for i := range sites {
		sites[i] = tg.site(i)
	}
	var s Set
	start := time.Now()
	if err := s.Uprobes(&Uprobes{Prog: c.prog(), File: open(t, tg.path), Sites: sites}); err != nil {
		t.Fatal(err)
	}
	attached := time.Since(start)
	p.call(t, 3, 7)
	start = time.Now()
	if err := s.Detach(); err != nil {
		t.Fatal(err)
	}
	gone := time.Since(start)
	t.Logf("20 sites: attached in %v, detached in %v", attached, gone)
	if gone > 600*time.Millisecond {
		t.Errorf("detaching took %v", gone)
	}
	// The kernel finishes by itself.
	start = time.Now()
	for deadline := start.Add(20 * time.Second); closing(t); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("perf events are still there after 20 s")
		}
	}
	t.Logf("the kernel was done after %v", time.Since(start))
	n := c.hits(t, 3)
	if n < 7 {
		t.Errorf("%d hits, want 7", n)
	}
	p.call(t, 3, 100)
	if got := c.hits(t, 3); got != n {
		t.Errorf("%d hits after the end", got-n)
	}
}

// closing reports whether a child that closes descriptors is under way.
func closing(t testing.TB) bool {
	for {
		var ws unix.WaitStatus
		pid, err := unix.Wait4(-1, &ws, unix.WNOHANG|unix.WCLONE, nil)
		if err != nil {
			return false
		}
		if pid == 0 {
			return true
		}
	}
}

// links lists the ids of all BPF links of the system.
func links(t testing.TB) string {
	out, err := exec.Command("bpftool", "-j", "link", "list").Output()
	if err != nil {
		t.Skipf("bpftool: %v", err)
	}
	return string(out)
}

// TestKilled kills a process that has probes attached.
func TestKilled(t *testing.T) {
	eachWay(t, func(t *testing.T, multi bool) {
		tg := newTarget(t)
		p := tg.start(t)
		exe, _ := os.Executable()
		cmd := exec.Command(exe)
		cmd.Env = append(os.Environ(), "GOSTAP_TEST_CHILD="+fmt.Sprint(multi), fmt.Sprintf("GOSTAP_TEST_PATH=%s", tg.path),
			fmt.Sprintf("GOSTAP_TEST_OFFS=%d,%d,%d", tg.offs["f1"], tg.offs["f2"], tg.offs["f3"]))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var id int
		if _, err := fmt.Fscanf(out, "attached %d\n", &id); err != nil {
			t.Fatalf("the child did not attach: %v", err)
		}
		mine := fmt.Sprintf(`"prog_id":%d}`, id)
		p.call(t, 1, 10)
		if during := links(t); strings.Count(during, mine) == 0 {
			t.Errorf("the child had no links of program %d: %s", id, during)
		}
		cmd.Process.Signal(unix.SIGKILL)
		cmd.Wait()
		p.call(t, 1, 10) // the target lives on
		if after := links(t); strings.Contains(after, mine) {
			t.Errorf("links of the dead process: %s", after)
		}
	})
}

// childMain attaches, says so and waits to be killed.
func childMain() {
	fail := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
	}
	multi := os.Getenv("GOSTAP_TEST_CHILD") == "true"
	at := ebpf.AttachNone
	if multi {
		at = ebpf.AttachTraceUprobeMulti
	}
	col, err := load.Load(&ebpf.CollectionSpec{
		Maps:     map[string]*ebpf.MapSpec{"hits": {Type: ebpf.Array, KeySize: 4, ValueSize: 8, MaxEntries: many}},
		Programs: map[string]*ebpf.ProgramSpec{"count": {Type: ebpf.Kprobe, AttachType: at, Instructions: countInsns(), License: "GPL"}},
	}, load.Options{})
	fail(err)
	f, err := OpenFile(os.Getenv("GOSTAP_TEST_PATH"), FileID{})
	fail(err)
	u := &Uprobes{Prog: col.Progs["count"].FD(), File: f, Multi: multi}
	for i, o := range strings.Split(os.Getenv("GOSTAP_TEST_OFFS"), ",") {
		var off uint64
		fmt.Sscan(o, &off)
		u.Sites = append(u.Sites, Site{Offset: off, Cookie: uint64(i)})
	}
	var s Set
	fail(s.Uprobes(u))
	info, err := kern.ProgInfo(u.Prog)
	fail(err)
	fmt.Println("attached", info.ID)
	time.Sleep(time.Hour)
}

func TestParseCPUs(t *testing.T) {
	for in, want := range map[string]string{"0": "[0]", "0-3": "[0 1 2 3]", "0-1,4,6-7": "[0 1 4 6 7]"} {
		got, err := parseCPUs(in)
		if err != nil || fmt.Sprint(got) != want {
			t.Errorf("%q: %v, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "x", "3-1", "-1", "0-99999999", "1,"} {
		if got, err := parseCPUs(in); err == nil {
			t.Errorf("%q: %v", in, got)
		}
	}
}

// TestWarm: the first probe does not wait for what Warm has waited for, and nothing of it stays.
func TestWarm(t *testing.T) {
	needMulti(t)
	needRoot(t)
	tg := newTarget(t)
	c := newCounter(t, true)
	attachOne := func() time.Duration {
		time.Sleep(100 * time.Millisecond) // let the system cool down
		cool := Warm()
		time.Sleep(35 * time.Millisecond) // compiling
		f := open(t, tg.path)
		var s Set
		defer s.Detach()
		start := time.Now()
		if err := s.Uprobes(&Uprobes{Prog: c.prog(), File: f, Multi: true, Sites: []Site{tg.site(1)}}); err != nil {
			t.Fatal(err)
		}
		d := time.Since(start)
		cool()
		return d
	}
	best := time.Hour
	for range 5 {
		best = min(best, attachOne())
	}
	t.Logf("attached in %v", best)
	if best > 4*time.Millisecond {
		t.Errorf("attaching took %v", best)
	}
	// Without a taker.
	cool := Warm()
	time.Sleep(20 * time.Millisecond)
	cool()
	cool()
	if warm.links != nil {
		t.Error("links are left")
	}
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
		cmd := exec.Command("unshare", "-m", "sh", "-c", `mount -t tmpfs none "$1" && cp "$2" "$1/prog" && exec "$1/prog"`, "sh", dir, tg.path)
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

// TestNoExec: a file on a mount from which nothing runs is noticed.
func TestNoExec(t *testing.T) {
	needRoot(t)
	if f := open(t, newTarget(t).path); f.NoExec() {
		t.Error("the target cannot be run")
	}
	dir := t.TempDir()
	if err := unix.Mount("none", dir, "tmpfs", unix.MS_NOEXEC, ""); err != nil {
		t.Skip(err)
	}
	defer unix.Unmount(dir, unix.MNT_DETACH)
	copyFile(t, newTarget(t).path, dir+"/prog")
	if f := open(t, dir+"/prog"); !f.NoExec() {
		t.Error("a mount without execution is not noticed")
	}
}

// TestDescriptorLimit: perf events take two descriptors each; running out of them is told and undone.
func TestDescriptorLimit(t *testing.T) {
	needRoot(t)
	tg := newTarget(t)
	c := newCounter(t, false)
	f := open(t, tg.path)
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &old); err != nil {
		t.Fatal(err)
	}
	ents, _ := os.ReadDir("/proc/self/fd")
	low := old
	low.Cur = uint64(len(ents) + 30)
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &low); err != nil {
		t.Fatal(err)
	}
	sites := make([]Site, 40)
	for i := range sites {
		sites[i] = tg.site(i)
	}
	var s Set
	err := s.Uprobes(&Uprobes{Prog: c.prog(), File: f, Sites: sites})
	unix.Setrlimit(unix.RLIMIT_NOFILE, &old)
	if err == nil || !strings.Contains(err.Error(), "too many open files") {
		t.Errorf("got %v", err)
	}
	if s.Links() != 0 || len(s.perfs) != 0 {
		t.Error("something is left")
	}
}

func TestGaps(t *testing.T) {
	for _, c := range []struct {
		keep []int
		want string
	}{
		{nil, "[{0 4294967295}]"},
		{[]int{5}, "[{0 4} {6 4294967295}]"},
		{[]int{9, 0, 1, 7}, "[{2 6} {8 8} {10 4294967295}]"},
	} {
		if got := fmt.Sprint(gaps(c.keep)); got != c.want {
			t.Errorf("%v: %s, want %s", c.keep, got, c.want)
		}
	}
}
