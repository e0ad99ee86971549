package symbols

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gostap/gostap/compiler/debuginfo/kbtf"
)

const kallsyms = `0000000000000000 A fixed_percpu_data
ffffffff81000000 T _stext
ffffffff81000000 T _text
ffffffff81000100 t helper
ffffffff81000100 T vfs_thing
ffffffff81000100 d data_there
ffffffff81000200 T __ia32_leaf
ffffffff81000200 T leaf
ffffffff81800000 D some_data
ffffffff82000000 B _end
ffffffffc0000000 t mod_init	[alpha]
ffffffffc0000040 T mod_go	[alpha]
ffffffffc0100000 t other	[beta]
ffffffffc0200000 t bpf_prog_1_x	[bpf]
`

func names(t *testing.T, text string) *Table {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kallsyms")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return &Table{KernelFiles: kbtf.Config{Map: path}}
}

func TestKernelName(t *testing.T) {
	tab := names(t, kallsyms)
	tab.KernelName(0xffffffff81000000, false)
	tab.kernel.modules = parseModules(
		"alpha 8192 0 - Live 0xffffffffc0000000\nbeta 4096 1 alpha, Live 0xffffffffc0100000\nbad line\n")
	for _, c := range []struct {
		addr uint64
		ret  bool
		want string
	}{
		{0xffffffff81000100, false, "vfs_thing+0x0/0x100 [kernel]"},
		{0xffffffff81000201, false, "leaf+0x1/0x7ffe00 [kernel]"},
		{0xffffffff81000200, true, "vfs_thing+0x100/0x100 [kernel]"}, // behind a call that does not return
		{0xffffffff81800008, false, "some_data+0x8/0x800000 [kernel]"},
		{0xffffffff82000000, false, "0xffffffff82000000"},
		{0xffffffffc0000041, false, "mod_go+0x1/0x1fc0 [alpha]"},
		{0xffffffffc0002000, false, "0xffffffffc0002000"}, // behind the module
		{0xffffffffc0100010, false, "other+0x10/0x1000 [beta]"},
		{0xffffffffc0200010, false, "bpf_prog_1_x+0x10 [bpf]"},
		{0xffffffffc0280000, false, "0xffffffffc0280000"},
		{0xffffffff80000000, false, "0xffffffff80000000"},
		{0x1000, false, "0x1000"},
		{0, true, "0x0"},
		{1 << 63, true, "0x8000000000000000"},
	} {
		if got := tab.KernelName(c.addr, c.ret).Text(true); got != c.want {
			t.Errorf("%x %v: %s, want %s", c.addr, c.ret, got, c.want)
		}
	}
	if got := tab.KernelName(0xffffffff81000104, false).Text(false); got != "vfs_thing" {
		t.Errorf("symname: %s", got)
	}
	want := " 0xffffffff81000110 : vfs_thing+0x10/0x100 [kernel]\n 0xffffffff81000200 : vfs_thing+0x100/0x100 " +
		"[kernel]\n 0x7 : 0x7\n"
	if got := tab.KernelBacktrace([]uint64{0xffffffff81000110, 0xffffffff81000200, 7}); got != want {
		t.Errorf("backtrace:\n%s", got)
	}
}

// TestKernelCode: a table of code alone does not say where the kernel ends; the list is not read for each name.
func TestKernelCode(t *testing.T) {
	code := strings.Replace(kallsyms, "ffffffff82000000 B _end\n", "", 1)
	for _, text := range []string{code, code[:strings.Index(code, "ffffffffc0")]} {
		tab := names(t, text)
		for range 5 {
			if got := tab.KernelName(0xffffffff81000104, false).Text(true); got != "vfs_thing+0x4/0x100 [kernel]" {
				t.Errorf("got %s", got)
			}
		}
		if tab.kernel.looked != 1 {
			t.Errorf("the list was read %d times", tab.kernel.looked)
		}
	}
}

// TestKernelKept: what an earlier run kept names addresses of the kernel itself; all symbols are read for others.
func TestKernelKept(t *testing.T) {
	dir := t.TempDir()
	write := func(path, text string) {
		t.Helper()
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("sys/kernel/random/boot_id", "01234567-89ab-cdef-0123-456789abcdef\n")
	write("cache/there", "")
	write("kallsyms", kallsyms)
	named := func(addr uint64) (*Table, string) {
		tab := &Table{KernelFiles: kbtf.Config{Proc: dir, Cache: filepath.Join(dir, "cache")}}
		return tab, tab.KernelName(addr, false).Text(true)
	}
	if _, got := named(0xffffffff81000104); got != "vfs_thing+0x4/0x100 [kernel]" {
		t.Errorf("first: %s", got)
	}
	write("kallsyms", strings.ReplaceAll(kallsyms, "vfs_thing", "vfs_other")+"ffffffffc0200100 t bpf_prog_2_y\t[bpf]\n")
	tab, got := named(0xffffffff81000104)
	if got != "vfs_thing+0x4/0x100 [kernel]" || tab.kernel.looked != 0 {
		t.Errorf("kept: %s, all were read %d times", got, tab.kernel.looked)
	}
	if got := tab.KernelName(0xffffffffc0200108, false).Func; got != "bpf_prog_2_y" || tab.kernel.looked == 0 {
		t.Errorf("of no kernel itself: %s", got)
	}
	if got := tab.KernelName(0xffffffff81000104, false).Func; got != "vfs_other" {
		t.Errorf("all: %s", got)
	}
	// What is kept has names where the list hides its addresses now: that others have none is told.
	write("kallsyms", "0000000000000000 T _stext\n0000000000000000 T vfs_thing\n")
	tab, _ = named(0xffffffff81000104)
	var warned []string
	tab.Warn = func(s string) { warned = append(warned, s) }
	for range 3 {
		if got := tab.KernelName(0xffffffffc0200108, false).Func; got != "" {
			t.Errorf("of a hidden list: %s", got)
		}
	}
	if got := tab.KernelName(0xffffffff81000104, false).Func; got != "vfs_thing" || len(warned) != 1 {
		t.Errorf("kept: %s, warnings: %q", got, warned)
	}
}

// BenchmarkKernelName is what the first name of a session costs, with what an earlier one kept, against reading all.
func BenchmarkKernelName(b *testing.B) {
	syms, err := kbtf.New(kbtf.Config{}).Symbols()
	if err != nil || syms.Hidden() {
		b.Skip("the kernel does not tell its addresses")
	}
	addr, cache := syms.Named("vfs_read")[0].Addr, b.TempDir()
	var took [2]time.Duration
	for i := range 2 * (b.N + 1) {
		tab := &Table{}
		if i%2 == 0 {
			tab.KernelFiles.Cache = cache
		}
		start := time.Now()
		if name := tab.KernelName(addr, false).Func; name != "vfs_read" {
			b.Fatal(name)
		}
		if i > 1 {
			took[i%2] += time.Since(start)
		}
	}
	b.ReportMetric(took[0].Seconds()*1e3/float64(b.N), "kept-ms")
	b.ReportMetric(float64(took[0])/float64(took[1]), "of-reading")
}

// TestKernelMade: code that the kernel made itself keeps its name where others come and go beside it.
func TestKernelMade(t *testing.T) {
	tab := names(t, kallsyms+"ffffffffc0300000 t bpf_prog_2_y\t[bpf]\nffffffffc0300100 t bpf_prog_3_z\t[bpf]\n")
	const first, second = 0xffffffffc0200010, 0xffffffffc0300010
	was := [2]string{tab.KernelName(first, true).Text(true), tab.KernelName(second, false).Text(true)}
	if want := [2]string{"bpf_prog_1_x+0x10 [bpf]", "bpf_prog_2_y+0x10/0x100 [bpf]"}; was != want {
		t.Errorf("%q, want %q", was, want)
	}
	text := kallsyms + "ffffffffc0200100 t bpf_prog_4_a\t[bpf]\nffffffffc0300000 t bpf_prog_5_b\t[bpf]\n"
	if err := os.WriteFile(tab.KernelFiles.Map, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if f := tab.KernelName(0xffffffffc0200110, false); f.Func != "bpf_prog_4_a" {
		t.Errorf("what is new is %q", f.Func)
	}
	if now := [2]string{tab.KernelName(first, true).Text(true), tab.KernelName(second, false).Text(true)}; now != was {
		t.Errorf("%q, and was %q", now, was)
	}
}

// TestKernelHidden: without the right to see them all addresses are 0.
func TestKernelHidden(t *testing.T) {
	for text, why := range map[string]string{
		"0000000000000000 T _stext\n0000000000000000 T vfs_thing\n": "hides its addresses",
		"rubbish": "not a symbol table"} {
		tab := names(t, text)
		var warned []string
		tab.Warn = func(s string) { warned = append(warned, s) }
		for range 3 {
			if got := tab.KernelName(0xffffffff81000100, false).Text(true); got != "0xffffffff81000100" {
				t.Errorf("got %s", got)
			}
		}
		if len(warned) != 1 || !strings.Contains(warned[0], why) {
			t.Errorf("warnings: %q", warned)
		}
	}
}

// TestKernelAll names every function of the running kernel by its address.
func TestKernelAll(t *testing.T) {
	if _, err := os.Stat("/proc/kallsyms"); err != nil {
		t.Skip(err)
	}
	tab := &Table{}
	syms, err := kbtf.New(kbtf.Config{}).Symbols()
	if err != nil {
		t.Fatal(err)
	}
	if syms.Hidden() {
		t.Skip("the kernel hides its addresses")
	}
	n, bad := 0, ""
	syms.Each(func(s kbtf.Symbol) bool {
		if s.Type == 'T' && s.Module == "" {
			f := tab.KernelName(s.Addr, false)
			if f.Off != 0 || f.Func == "" {
				bad = fmt.Sprintf("%s at %x is %+v", s.Name, s.Addr, f)
			}
			n++
		}
		return bad == ""
	})
	if bad != "" || n < 1000 {
		t.Errorf("of %d functions: %s", n, bad)
	}
}

func FuzzModules(f *testing.F) {
	f.Add("alpha 8192 0 - Live 0xffffffffc0000000\n", uint64(0xffffffffc0000000))
	f.Fuzz(func(t *testing.T, text string, addr uint64) {
		k := kernelNames{modules: parseModules(text)}
		k.module(addr)
	})
}
