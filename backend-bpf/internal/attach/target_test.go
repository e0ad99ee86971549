package attach

import (
	"bufio"
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
	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/backend-bpf/internal/features"
	"github.com/gostap/gostap/backend-bpf/internal/kern"
	"github.com/gostap/gostap/backend-bpf/internal/load"
	"github.com/gostap/gostap/compiler/backend/traced"
	"github.com/gostap/gostap/compiler/debuginfo"
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
		Maps: map[string]*ebpf.MapSpec{"hits": {Type: ebpf.Array, KeySize: 4, ValueSize: 8, MaxEntries: many}},
		Programs: map[string]*ebpf.ProgramSpec{"count": {Type: typ, AttachType: at, AttachTo: to,
			Instructions: countInsns(), License: "GPL"}},
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
	id, err := traced.Stat(path)
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
		Maps: map[string]*ebpf.MapSpec{"hits": {Type: ebpf.Array, KeySize: 4, ValueSize: 8, MaxEntries: many}},
		Programs: map[string]*ebpf.ProgramSpec{"count": {Type: ebpf.Kprobe, AttachType: at, Instructions: countInsns(),
			License: "GPL"}},
	}, load.Options{})
	fail(err)
	f, err := OpenFile(os.Getenv("GOSTAP_TEST_PATH"), debuginfo.FileID{})
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
