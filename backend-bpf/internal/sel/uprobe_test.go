package sel_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/ringbuf"

	"github.com/gostap/gostap/backend-bpf/internal/maps"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/backend-bpf/internal/sel"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/irtest"
	"github.com/gostap/gostap/compiler/partition"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/runtime/wire"
)

// probed is a position-independent program with what a handler may want to look at.
const probed = `
#include <string.h>
#include <stdio.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <asm/prctl.h>
struct pair { int a; short b; };
int statics = 4711;
__thread int local = 33;
__attribute__((noinline)) long first(long n, struct pair *p, const char *s, long len) { asm volatile("" ::: "memory"); return n + 1; }
__attribute__((noinline)) long second(long n, struct pair *p, const char *s, long len) { asm volatile("" ::: "memory"); return n + 2; }
int main(void) {
	struct pair p = {-5, -7};
	char *page = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(page + 4096, 4096);
	memset(page, 'x', 4096);
	memcpy(page + 4096 - 5, "edge!", 5);
	local = 34;
	unsigned long fs = 0;
	syscall(SYS_arch_prctl, ARCH_GET_FS, &fs);
	printf("%d %lx %lx %lx\n", getpid(), (unsigned long)first, fs, (unsigned long)page);
	fflush(stdout);
	first(1, &p, "hello, world", 5);
	second(2, &p, page + 4096 - 5, 5);
	second(3, (struct pair *)16, (char *)32, 10);
	first(4, &p, "a long text that needs more room than a small string has, so that it lies in scratch memory", 1000);
	return 0;
}
`

// bench is a handler at real probes.
type bench struct {
	*machine
	bin  string
	syms map[string]uint64
	args [][]string // of each record: the arguments as text
	recs []wire.Header
}

func compile(t testing.TB, src string, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	c, out := filepath.Join(dir, "t.c"), filepath.Join(dir, "t")
	if err := os.WriteFile(c, []byte(src), 0o644); err != nil {
		t.Fatal(err)
	}
	if b, err := exec.Command("gcc",
		append(flags, "-O1", "-pie", "-fPIE", "-o", out, c)...).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, b)
	}
	return out
}

// newBench translates a program in IR text; %name% is the address of a function in the file. Sites with a func
// attribute are attached to it.
func newBench(t *testing.T, text string, feat sel.Features) *bench {
	t.Helper()
	needRoot(t)
	b := &bench{bin: compile(t, probed), syms: map[string]uint64{}}
	f, err := elf.Open(b.bin)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	syms, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range syms {
		b.syms[s.Name] = s.Value
		text = strings.ReplaceAll(text, "%"+s.Name+"%", fmt.Sprintf("0x%x", s.Value))
	}
	p := irtest.Parse(t, text)
	b.machine = loadUprobes(t, p, feat)
	ex, err := link.OpenExecutable(b.bin)
	if err != nil {
		t.Fatal(err)
	}
	for i, pr := range p.Probes {
		if attachEvent(t, b, i, pr.Sites[0]) {
			continue
		}
		for k, s := range pr.Sites {
			o := &link.UprobeOptions{Cookie: b.cookies[i][k]}
			attach := ex.Uprobe
			if s.Kind == probe.Uretprobe {
				attach = ex.Uretprobe
			}
			l, err := attach(s.Func, b.coll.Programs[fmt.Sprintf("p%d", i)], o)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { l.Close() })
		}
	}
	return b
}

// loadUprobes is newMachine for programs that stay uprobe programs.
func loadUprobes(t testing.TB, p *ir.Program, feat sel.Features) *machine {
	t.Helper()
	lay, err := maps.New(p, all(p), maps.Options{CPUs: 2})
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{t: t, p: p, lay: lay, halves: map[uint16][]byte{}, specs: map[string]*ebpf.ProgramSpec{}}
	m.u = &sel.Unit{Shared: sel.Shared{P: p, Layout: lay, Feat: feat, CPUs: 2, Schema: &wire.Schema{}, CanStop: true,
		Name: "diff", Types: kernelTypes{}}}
	hs, ds := partition.Decide(t.Context(), p, partition.Options{Translates: sel.Translates})
	if len(ds) > 0 {
		t.Fatalf("%s", ds[0].Message)
	}
	spec := &ebpf.CollectionSpec{Programs: map[string]*ebpf.ProgramSpec{}}
	for i, h := range hs {
		name := fmt.Sprintf("p%d", i)
		res, err := m.u.Handler(&sel.Handler{Handler: h, Name: name, Capture: len(m.u.Schema.Captures)})
		if err != nil {
			t.Fatal(err)
		}
		if h.Where == partition.Deferred {
			m.u.Schema.Captures = append(m.u.Schema.Captures, h.Record(res.Args))
		}
		for k := range res.Spec.Instructions {
			res.Spec.Instructions[k] = res.Spec.Instructions[k].WithSource(nil)
		}
		spec.Programs[name] = res.Spec
		m.cookies = append(m.cookies, res.Cookies)
	}
	if len(m.u.Diags) > 0 {
		t.Fatalf("%s", m.u.Diags[0].Message)
	}
	spec.Maps = m.u.Maps(1 << 20)
	for k, s := range lay.Maps {
		spec.Maps[k] = s
	}
	if m.coll, err = ebpf.NewCollection(spec); err != nil {
		t.Fatalf("%+v", err)
	}
	t.Cleanup(m.coll.Close)
	m.ownStacks(feat)
	if m.rd, err = ringbuf.NewReader(m.coll.Maps[plan.MapOutput]); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.rd.Close() })
	m.control(func(c []byte) { binary.LittleEndian.PutUint32(c[plan.CtlState:], uint32(wire.Running)) })
	return m
}

func all(p *ir.Program) []bool {
	out := make([]bool, len(p.Globals))
	for i := range out {
		out[i] = true
	}
	return out
}

// control changes the control structure.
func (m *machine) control(change func([]byte)) {
	var c []byte
	mp := m.coll.Maps[plan.MapControl]
	if err := mp.Lookup(uint32(0), &c); err != nil {
		m.t.Fatal(err)
	}
	change(c)
	if err := mp.Put(uint32(0), c); err != nil {
		m.t.Fatal(err)
	}
}

// hit runs the program and collects the records. What the program says about itself is returned.
func (b *bench) hit() (pid int, first, fs, page uint64) {
	b.t.Helper()
	cmd := exec.Command(b.bin)
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil {
		b.t.Fatal(err)
	}
	if _, err := fmt.Sscanf(out.String(), "%d %x %x %x", &pid, &first, &fs, &page); err != nil {
		b.t.Fatal(err)
	}
	var d wire.Decoder
	text := func(args []wire.Value, faults bool) {
		var s []string
		for _, a := range args {
			v := fmt.Sprint(a.Int)
			switch a.Kind {
			case wire.Text, wire.Mem:
				v = string(a.Bytes)
			case wire.Sym:
				v = fmt.Sprintf("sym %x %d", uint64(a.Int), a.Tgid)
			case wire.Stack, wire.RawStack:
				if a.Kind == wire.RawStack {
					// The direct caller, whose address frame pointers do not lead to here, is on top of the memory that
					// was sent.
					if len(a.Bytes) < 8 || len(a.Bytes)%8 != 0 || a.Regs[16] != a.Stack[0] {
						b.t.Errorf("%d bytes, pc %x, stack %x", len(a.Bytes), a.Regs[16], a.Stack)
					}
					a.Stack = append(a.Stack, binary.LittleEndian.Uint64(a.Bytes))
				}
				v = fmt.Sprintf("stack %d %d", len(a.Stack), a.Tgid)
				if len(a.Stack) > 1 {
					v += fmt.Sprintf(" %x %x", a.Stack[0], a.Stack[1])
				}
			}
			if faults && a.Fault != 0 {
				v = ir.Code(a.Fault).String()
			}
			s = append(s, v)
		}
		b.args = append(b.args, s)
	}
	for {
		b.rd.SetDeadline(time.Now().Add(-time.Second))
		rec, err := b.rd.Read()
		if err != nil {
			return
		}
		h, body, err := wire.ParseHeader(rec.RawSample)
		if err != nil {
			b.t.Fatal(err)
		}
		b.recs = append(b.recs, h)
		switch h.Kind {
		case wire.Print:
			err = d.Print(body, b.u.Schema, func(_ int, args []wire.Value) error { text(args, false); return nil })
		case wire.Deferred:
			var vals []wire.Value
			if _, vals, err = d.Deferred(body, b.u.Schema); err == nil {
				text(vals, true)
			}
		case wire.Error:
			var e wire.ErrorBody
			if e, err = d.ParseError(body); err == nil {
				b.args = append(b.args, []string{fmt.Sprintf("error %s %d", ir.Code(e.Code), e.Args[0].Int)})
			}
		}
		if err != nil {
			b.t.Fatal(err)
		}
	}
}

func (b *bench) want(want [][]string) {
	b.t.Helper()
	if !reflect.DeepEqual(b.args, want) {
		b.t.Errorf("got  %q\nwant %q", b.args, want)
	}
}

func modes(t *testing.T, fn func(t *testing.T, feat sel.Features)) {
	for _, may := range forms() {
		t.Run(fmt.Sprintf("may_goto=%v", may), func(t *testing.T) { fn(t, sel.Features{MayGoto: may, FuncIP: true}) })
	}
}

// TestStrings reads strings of the traced program, also where it ends at the edge of its memory.
func TestStrings(t *testing.T) {
	modes(t, func(t *testing.T, feat sel.Features) {
		b := newBench(t, `
limits MAXERRORS=10
probe "strings" {
  site uprobe func="first"
  site uprobe func="second"
  long r0, r1
  string r2 511, r3 15, r4 40, r5 15
b0:
  r0 = reg 1
  r1 = reg 2
  r2 = intr user_string2(r0, "<none>")
  r3 = intr user_string_n2(r0, r1, "-")
  r4 = intr user_string_n(r0, r1) !b2
  jump b1
b1:
  r5 = intr user_string_n(r0, 0)
  print "%s %s %s %s\n"(r2, r3, r4, r5)
  r2 = intr user_string(r0)
  end
b2:
  r4 = errmsg
  jump b1
}
`, feat)
		_, _, _, page := b.hit()
		long := "a long text that needs more room than a small string has, so that it lies in scratch memory"
		b.want([][]string{
			{"hello, world", "hello", "hello", ""},
			{"<none>", "edge!", "edge!", ""}, // a C string would go on behind the end of memory
			{fmt.Sprintf("error memory %d", page+4096-5)},
			{"<none>", "-", "read fault at 0x0000000000000020", ""},
			{"error memory 32"},
			{long, long[:15], long[:40], ""},
		})
	})
}

// TestContext reads registers, memory, the place of the program and of the thread, and what belongs to the site.
func TestContext(t *testing.T) {
	b := newBench(t, `
global seen long [string 30] size 10
probe "context" {
  site uprobe func="first" pc=%first% point="P1" alias="A"
  site uprobe func="second" pc=%second% point="P2"
  long r0, r1, r2, r3, r4, r5, r6, r7, r11
  string r8 30, r9 30, r10 30
b0:
  r0 = reg 5
  r1 = bias
  r2 = add r1, %statics%
  r3 = load4s r2
  r4 = tls
  r5 = reg 4
  r6 = load2s r5 !b1
  r7 = site pc
  r8 = site ppfunc
  r9 = site pp
  r10 = site pn
  r11 = site id
  madd @seen[r8], 1
  print "%d %d %d %d %d %s %s %s %d %#.3m\n"(r0, r3, r4, r6, r7, r8, r9, r10, r11, r5)
  end
b1:
  print "no %d\n"(r0)
  end
}
`, sel.Features{MayGoto: forms()[0]})
	_, first, fs, _ := b.hit()
	second := first - b.syms["first"] + b.syms["second"]
	mem := string([]byte{0xfb, 0xff, 0xff})
	line := func(n int, at uint64, f, pp, pn string, id int) []string {
		return []string{fmt.Sprint(n), "4711", fmt.Sprint(fs), "-5", fmt.Sprint(at), f, pp, pn, fmt.Sprint(id), mem}
	}
	b.want([][]string{line(1, first, "first", "P1", "A", 0), line(2, second, "second", "P2", "P2", 1), {"3"},
		line(4, first, "first", "P1", "A", 0)})
	if got := b.state(); got != `seen: ["first"]=2; ["second"]=1`+"\n" {
		t.Errorf("got %s", got)
	}
}

// TestLazy sends what the host makes texts of.
func TestLazy(t *testing.T) {
	b := newBench(t, `
probe "lazy" {
  site uprobe func="first" pc=%first%
  long r0
  string r1 100, r2 100, r3 100
b0:
  r0 = intr uaddr()
  r1 = intr usymname(r0)
  r2 = intr sprint_ubacktrace()
  r3 = intr ctime(r0)
  print "%s %s %s\n"(r1, r2, r3)
  end
}
`, sel.Features{MayGoto: forms()[0]})
	pid, first, _, _ := b.hit()
	if len(b.args) != 2 {
		t.Fatalf("got %q", b.args)
	}
	for _, a := range b.args {
		if want := fmt.Sprintf("sym %x %d", first, pid); a[0] != want {
			t.Errorf("got %s, want %s", a[0], want)
		}
		if want := fmt.Sprintf(" %d %x ", pid, first); !strings.Contains(a[1], want) ||
			strings.HasPrefix(a[1], "stack 1 ") {
			t.Errorf("got %s, want %s in it and callers", a[1], want)
		}
		if want := fmt.Sprint(first); a[2] != want {
			t.Errorf("got %s, want %s", a[2], want)
		}
	}
}

// TestDeferred sends what a handler for the host needs, with what could not be read.
func TestDeferred(t *testing.T) {
	modes(t, func(t *testing.T, feat sel.Features) {
		b := newBench(t, `
global a long [long] size 10
probe "deferred" {
  site uprobe func="first"
  site uprobe func="second"
  long r0, r1, r2, r3, r5, r6, r7
  string r4 511
b0:
  iteropen i0 @a
  r0 = reg 5
  r1 = reg 4
  r2 = load4s r1
  r3 = reg 1
  r4 = intr user_string_n(r3, 8)
  jump b1
b1:
  r5 = iternext i0 @a
  branch r5, b2, b3
b2:
  r6 = add r1, 4
  r7 = load2s r6
  print "%d %d %s %d\n"(r0, r2, r4, r7)
  jump b1
b3:
  end
}
`, feat)
		b.hit()
		var got [][]string
		for _, a := range b.args {
			got = append(got, []string{a[0], a[2], a[4], a[5]})
		}
		want := [][]string{{"1", "-5", "hello, w", "-7"}, {"2", "-5", "memory", "-7"},
			{"3", "memory", "memory", "memory"}, {"4", "-5", "a long t", "-7"}}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	})
}

// TestFilter leaves out other processes.
func TestFilter(t *testing.T) {
	const text = `
probe "target" {
  site uprobe func="first" target=1
b0:
  print "hit\n"()
  end
}
`
	b := newBench(t, text, sel.Features{MayGoto: forms()[0]})
	b.hit()
	b.want(nil)
	// The target is set to a process that does not exist yet: hits come only if numbers repeat, so the shell's own is
	// taken.
	cmd := exec.Command("sh", "-c", "read x; exec "+b.bin)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	b.control(func(c []byte) { binary.LittleEndian.PutUint32(c[plan.CtlTarget:], uint32(cmd.Process.Pid)) })
	fmt.Fprintln(in, "go")
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	b.hit()
	if len(b.args) != 2 {
		t.Errorf("%d hits of the target", len(b.args))
	}
}

// TestState: handlers do nothing once the session ends.
func TestState(t *testing.T) {
	b := newBench(t, `
global n long
probe "exit" {
  site uprobe func="first"
b0:
  gadd @n, 1
  intr exit()
  gadd @n, 10
  end
}
`, sel.Features{MayGoto: forms()[0]})
	b.hit()
	if len(b.recs) != 1 || b.recs[0].Kind != wire.Exit {
		t.Errorf("got %+v", b.recs)
	}
	if got := b.state(); got != "n: 11\n" {
		t.Errorf("got %s", got)
	}
}

// TestLost counts what finds no room in the ring buffer.
func TestLost(t *testing.T) {
	b := newBench(t, `
probe "much" {
  site uprobe func="first"
  long r0, r1
b0:
  r0 = mov 0
  jump b1
b1:
  budget 1
  r1 = lt r0, 900
  branch r1, b2, b3
b2:
  print "%d %d %d %d %d %d %d %d %d\n"(r0, r0, r0, r0, r0, r0, r0, r0, r0)
  r0 = add r0, 1
  jump b1
b3:
  end
}
`, sel.Features{MayGoto: forms()[0]})
	for range 12 { // 24 runs of 72 kilobytes and more, for a buffer of a megabyte
		if err := exec.Command(b.bin).Run(); err != nil {
			t.Fatal(err)
		}
	}
	if b.counter(ir.LostRing) == 0 {
		t.Error("nothing was lost")
	}
	b.hit()
	if len(b.args) < 9000 {
		t.Errorf("%d entries came through", len(b.args))
	}
}
