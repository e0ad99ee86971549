package session

import (
	"bufio"
	"context"
	"debug/elf"
	"encoding/binary"
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

	"github.com/gostap/gostap/backend-bpf/internal/attach"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/compiler/backend/traced"
	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/layout"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/compiler/types"
	"github.com/gostap/gostap/runtime/wire"
)

const src = `#include <stdio.h>
volatile long sink;
__attribute__((noinline)) long work(long x) { sink += x; return sink; }
__attribute__((noinline)) long other(long x) { sink -= x; return sink; }
int main(void) {
	long n;
	while (scanf("%ld", &n) == 1) {
		for (long i = 0; i < n; i++) { work(i); other(i); }
		printf("done\n");
		fflush(stdout);
	}
	return 0;
}
`

var target = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "gostap-session")
	if err != nil {
		return "", err
	}
	c, bin := filepath.Join(dir, "t.c"), filepath.Join(dir, "t")
	if err := os.WriteFile(c, []byte(src), 0o666); err != nil {
		return "", err
	}
	if out, err := exec.Command("gcc", "-O1", "-o", bin, c).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%v: %s", err, out)
	}
	return bin, nil
})

// traceable gives the program that is traced; the test needs the right to do so.
func traceable(t testing.TB) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	bin, err := target()
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

func TestMain(m *testing.M) {
	code := m.Run()
	if bin, err := target(); err == nil {
		os.RemoveAll(filepath.Dir(bin))
	}
	os.Exit(code)
}

func offset(t testing.TB, path, sym string) uint64 {
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	syms, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range syms {
		if s.Name != sym {
			continue
		}
		for _, p := range f.Progs {
			if p.Type == elf.PT_LOAD && s.Value >= p.Vaddr && s.Value < p.Vaddr+p.Filesz {
				return s.Value - p.Vaddr + p.Off
			}
		}
	}
	t.Fatalf("no symbol %s", sym)
	return 0
}

// insns is what a code generator would write for: probe { n++; printf("%d %d", cookie, pid) }, if running.
func insns() asm.Instructions {
	const n = wire.HeaderSize + 8 + 16
	return asm.Instructions{
		asm.Mov.Reg(asm.R6, asm.R1),
		asm.LoadMapValue(asm.R7, 0, plan.CtlState).WithReference(plan.MapControl).WithSource(plan.Source{Pos: 1}),
		asm.LoadMem(asm.R1, asm.R7, 0, asm.Word),
		asm.JNE.Imm(asm.R1, int32(wire.Running), "out"),
		asm.LoadMapValue(asm.R8, 0, 0).WithReference(plan.MapScalars).WithSource(plan.Source{Pos: 5}),
		asm.Mov.Imm(asm.R1, 1),
		asm.AddAtomic.Mem(asm.R8, asm.R1, asm.DWord, 0),
		asm.LoadMapPtr(asm.R1, 0).WithReference(plan.MapOutput).WithSource(plan.Source{Pos: 9}),
		asm.Mov.Imm(asm.R2, n), asm.Mov.Imm(asm.R3, 0),
		asm.FnRingbufReserve.Call(),
		asm.JEq.Imm(asm.R0, 0, "lost"),
		asm.Mov.Reg(asm.R9, asm.R0),
		asm.Mov.Imm(asm.R1, int32(wire.Print)), asm.StoreMem(asm.R9, 0, asm.R1, asm.DWord),
		asm.Mov.Imm(asm.R1, 0), asm.StoreMem(asm.R9, 8, asm.R1, asm.DWord),
		asm.Mov.Reg(asm.R1, asm.R6), asm.FnGetAttachCookie.Call(), asm.StoreMem(asm.R9, 16, asm.R0, asm.DWord),
		asm.FnGetCurrentPidTgid.Call(), asm.RSh.Imm(asm.R0, 32), asm.StoreMem(asm.R9, 24, asm.R0, asm.DWord),
		asm.Mov.Reg(asm.R1, asm.R9), asm.Mov.Imm(asm.R2, plan.OutputFlags), asm.FnRingbufSubmit.Call(),
		asm.Ja.Label("out"),
		asm.StoreImm(asm.RFP, -4, int64(ir.LostRing), asm.Word).WithSymbol("lost"),
		asm.LoadMapPtr(asm.R1, 0).WithReference(plan.MapCounters),
		asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, -4), asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "out"),
		asm.Mov.Imm(asm.R1, 1), asm.AddAtomic.Mem(asm.R0, asm.R1, asm.DWord, 0),
		asm.Mov.Imm(asm.R0, 0).WithSymbol("out"), asm.Return(),
	}
}

// handmade is a plan with one probe at work() and other().
func handmade(t testing.TB, path string) *plan.Plan {
	files := &source.FileSet{}
	f := files.Add("test.stp", []byte("probe x { n++; print(n) }\n"))
	work := &probe.Site{Kind: probe.Uprobe, Program: probe.ProgramPart{Path: path, Offset: offset(t, path, "work")},
		Point: "process.function(work)", Func: "work"}
	other := &probe.Site{Kind: probe.Uprobe, Program: probe.ProgramPart{Path: path, Offset: offset(t, path, "other")},
		Point: "process.function(other)", Func: "other"}
	p := &ir.Program{
		Globals: []*ir.Global{{Name: "n", Type: types.Long, InitInt: 7, Class: -1}},
		Probes:  []*ir.Probe{{Name: "x", Pos: f.Pos(0), Cond: -1, Sites: []*probe.Site{work, other}}},
		Limits:  layout.Default(), Files: files,
	}
	first := make([]byte, 64)
	first[0] = 7
	return &plan.Plan{
		Program: p,
		Spec: &ebpf.CollectionSpec{
			Maps: map[string]*ebpf.MapSpec{
				plan.MapOutput: {Type: ebpf.RingBuf, MaxEntries: 1 << 20},
				plan.MapControl: {Type: ebpf.Array, KeySize: 4, ValueSize: plan.CtlSize, MaxEntries: 1,
					Flags: 1 << 10},
				plan.MapCounters: {Type: ebpf.Array, KeySize: 4, ValueSize: 8, MaxEntries: uint32(plan.CounterRow),
					Flags: 1 << 10},
				plan.MapScalars: {Type: ebpf.Array, KeySize: 4, ValueSize: 64, MaxEntries: 1, Flags: 1 << 10,
					Contents: []ebpf.MapKV{{Key: uint32(0), Value: first}}},
			},
			Programs: map[string]*ebpf.ProgramSpec{"x": {Type: ebpf.Kprobe, Instructions: insns(), License: "GPL"}},
		},
		Globals: []plan.GlobalLayout{{Map: plan.MapScalars, ValueSize: 8, SeqOff: -1}},
		Attach: []plan.Attach{{Prog: "x", Kind: probe.Uprobe,
			Sites: []plan.Target{{Site: work, Cookie: 11}, {Site: other, Cookie: 22}}}},
		Schema: &wire.Schema{Sites: []wire.Site{{Args: []wire.Arg{{}, {}}}}},
	}
}

type process struct {
	*exec.Cmd
	in  io.Writer
	out *bufio.Reader
}

func start(t testing.TB, path string) *process {
	t.Helper()
	c := exec.Command(path)
	in, _ := c.StdinPipe()
	out, _ := c.StdoutPipe()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	return &process{c, in, bufio.NewReader(out)}
}

func (p *process) run(t testing.TB, n int) {
	t.Helper()
	fmt.Fprintln(p.in, n)
	if _, err := p.out.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
}

func setup(t testing.TB, change func(*Config)) (*Session, *process, string) {
	t.Helper()
	bin := traceable(t)
	id, err := traced.Stat(bin)
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{Plan: handmade(t, bin), Files: map[string]debuginfo.FileID{bin: id}}
	cfg.Logf = t.Logf
	cfg.Verbose = 2
	if change != nil {
		change(&cfg)
	}
	s, err := Load(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, start(t, bin), bin
}

func TestSession(t *testing.T) {
	for _, noMulti := range []bool{false, true} {
		t.Run(fmt.Sprint("nomulti=", noMulti), func(t *testing.T) {
			s, p, _ := setup(t, func(c *Config) { c.NoMulti = noMulti })
			if err := s.Attach(t.Context()); err != nil {
				t.Fatal(err)
			}
			p.run(t, 10) // not running yet: handlers do nothing
			if s.State() != wire.Starting {
				t.Errorf("state %v", s.State())
			}
			s.SetState(wire.Running)
			if v, _, err := s.Store().Get(0, nil); v.Int != 7 || err != nil {
				t.Errorf("n is %v before, %v", v, err)
			}
			done := make(chan struct{})
			go func() { p.run(t, 5000); close(done) }()
			var d wire.Decoder
			got := map[int64]int{}
			var last int64
			for n := 0; n < 10000; {
				err := s.Read(time.Now().Add(5*time.Minute), func(rec []byte) error {
					_, body, err := wire.ParseHeader(rec)
					if err != nil {
						return err
					}
					return d.Print(body, s.Schema(), func(_ int, a []wire.Value) error {
						if a[1].Int != int64(p.Process.Pid) {
							return fmt.Errorf("process %d", a[1].Int)
						}
						if a[0].Int == last {
							return fmt.Errorf("%d twice: out of order", last)
						}
						last = a[0].Int
						got[last]++
						n++
						return nil
					})
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			<-done
			if got[11] != 5000 || got[22] != 5000 {
				t.Errorf("records by cookie: %v", got)
			}
			if v, _, _ := s.Store().Get(0, nil); v.Int != 10007 {
				t.Errorf("n is %d, want 10007", v.Int)
			}
			c, err := s.Counters()
			if err != nil {
				t.Fatal(err)
			}
			for i, n := range c.ByCause {
				if n != 0 {
					t.Errorf("%v: %d", ir.Cause(i), n)
				}
			}
			s.SetState(wire.Stopping)
			s.SetState(wire.Running)
			if s.State() != wire.Stopping {
				t.Errorf("a session that stopped runs again")
			}
			if err := s.Detach(); err != nil {
				t.Fatal(err)
			}
			p.run(t, 10)
			rep := strings.Join(s.Report(), "\n")
			t.Log(rep)
			for _, want := range []string{"process.function(work)", "process.function(other)", "uprobe"} {
				if !strings.Contains(rep, want) {
					t.Errorf("the report lacks %s:\n%s", want, rep)
				}
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			s.Close()
		})
	}
}

// TestLostRecords: a buffer that nobody reads fills, and what was lost is counted to the last one.
func TestLostRecords(t *testing.T) {
	s, p, _ := setup(t, func(c *Config) { c.BufferMB = 1 })
	if err := s.Attach(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.SetState(wire.Running)
	const calls = 20000
	p.run(t, calls)
	n := uint64(0)
	for {
		before := n
		if err := s.Read(time.Now().Add(10*time.Millisecond), func([]byte) error { n++; return nil }); err != nil {
			t.Fatal(err)
		}
		if n == before {
			break
		}
	}
	c, err := s.Counters()
	if err != nil {
		t.Fatal(err)
	}
	if lost := c.ByCause[ir.LostRing]; lost == 0 || n+lost != 2*calls {
		t.Errorf("%d records read, %d lost, want %d in all", n, lost, 2*calls)
	}
}

func TestWake(t *testing.T) {
	s, _, _ := setup(t, nil)
	go func() { time.Sleep(10 * time.Millisecond); s.Wake() }()
	start := time.Now()
	if err := s.Read(start.Add(time.Minute), func([]byte) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(start); d > 30*time.Second {
		t.Errorf("took %v", d)
	}
	start = time.Now()
	s.Read(start.Add(1200*time.Millisecond), func([]byte) error { return nil })
	if d := time.Since(start); d < 1200*time.Millisecond || d > 10*time.Minute {
		t.Errorf("a deadline of 1.2 s took %v", d)
	}
}

func TestTargetProcess(t *testing.T) {
	s, p, bin := setup(t, func(c *Config) {
		for _, a := range c.Plan.Attach[0].Sites {
			a.Site.Program.Target = true
		}
	})
	if err := s.Attach(t.Context()); err == nil || !strings.Contains(err.Error(), "-c or -x") {
		t.Errorf("without a target: %v", err)
	}
	if err := s.SetTarget(p.Process.Pid); err != nil {
		t.Fatal(err)
	}
	// The program's own filter knows the target's family; the link of one process is limited by the kernel.
	for _, a := range s.plan.Attach[0].Sites {
		a.Site.Program.Target, a.Site.Program.PID = false, p.Process.Pid
	}
	if err := s.Attach(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.SetState(wire.Running)
	start(t, bin).run(t, 100)
	p.run(t, 30)
	if v, _, _ := s.Store().Get(0, nil); v.Int != 67 {
		t.Errorf("n is %d, want 67", v.Int)
	}
	dead := exec.Command("/bin/true")
	dead.Run()
	if err := s.SetTarget(dead.Process.Pid); err == nil {
		t.Error("a dead target was taken")
	}
}

// TestClockOffset: handlers' time becomes wall-clock time.
func TestClockOffset(t *testing.T) {
	s, _, _ := setup(t, nil)
	off := int64(s.dword(plan.CtlBootOffset).Load())
	b, err := os.ReadFile("/proc/uptime")
	if err != nil {
		t.Fatal(err)
	}
	var up float64
	fmt.Sscan(string(b), &up)
	want := time.Now().UnixNano() - int64(up*1e9)
	if d := time.Duration(off - want); d < -30*time.Second || d > 30*time.Second {
		t.Errorf("offset is %v off", d)
	}
	if binary.LittleEndian.Uint64(s.control[plan.CtlPidNSIno:]) == 0 {
		t.Error("no process namespace")
	}
}

// BenchmarkStart: from a plan to attached probes, and away again.
func BenchmarkStart(b *testing.B) {
	bin, err := target()
	if err != nil {
		b.Fatal(err)
	}
	pl := handmade(b, bin)
	var up, down time.Duration
	for b.Loop() {
		attach.Warm()
		time.Sleep(12 * time.Millisecond) // compiling
		t0 := time.Now()
		s, err := Load(context.Background(), Config{Plan: pl})
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Attach(context.Background()); err != nil {
			b.Fatal(err)
		}
		t1 := time.Now()
		s.Close()
		up += t1.Sub(t0)
		down += time.Since(t1)
	}
	b.ReportMetric(float64(up.Microseconds())/float64(b.N), "us-up")
	b.ReportMetric(float64(down.Microseconds())/float64(b.N), "us-down")
}

// TestReplacedWhileTraced: nothing fails, but the user hears of it.
func TestReplacedWhileTraced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prog")
	s, _, _ := setup(t, func(c *Config) {
		b, _ := os.ReadFile(c.Plan.Attach[0].Sites[0].Site.Program.Path)
		if err := os.WriteFile(path, b, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, a := range c.Plan.Attach[0].Sites {
			a.Site.Program.Path = path
		}
	})
	if err := s.Attach(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.SetState(wire.Running)
	p := start(t, path)
	p.run(t, 10)
	if w := s.Warnings(); len(w) != 0 {
		t.Errorf("warnings: %q", w)
	}
	b, _ := os.ReadFile(path)
	os.WriteFile(path+".new", b, 0o755)
	os.Rename(path+".new", path)
	start(t, path).run(t, 100)
	p.run(t, 10)
	if v, _, _ := s.Store().Get(0, nil); v.Int != 7+40 {
		t.Errorf("n is %d, want 47: the old process goes on being traced, the new file is not", v.Int)
	}
	if w := s.Warnings(); len(w) != 1 || !strings.Contains(w[0], "was replaced while it was traced") {
		t.Errorf("warnings: %q", w)
	}
	os.Remove(path)
	if w := s.Warnings(); len(w) != 1 || !strings.Contains(w[0], "was deleted") {
		t.Errorf("warnings: %q", w)
	}
}
