package symbols

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
