package symbols

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo/kbtf"
)

// kernelNames names addresses of the kernel. Its own symbols are read when the first name is asked for; an earlier run
// may have kept them. The list of all, which takes the kernel a tenth of a second, is read with the first address that
// is not of the kernel itself, and once more when one lies in a module that was not there then.
type kernelNames struct {
	syms    *kbtf.Symbols
	modules []module
	lo, end uint64 // of the kernel itself, 0 if not known
	read    bool
	told    bool // what stands in the way
	looked  int  // how often the list of all was read
	// made are addresses in code that the kernel made itself (BPF), by what they were called first: such code and its
	// neighbours come and go, and an address has one name in all texts.
	made map[madeAddr]KernelFrame
}

type madeAddr struct {
	addr uint64
	ret  bool
}

// module is a loaded module's place in memory, as /proc/modules tells it.
type module struct {
	name     string
	lo, size uint64
}

// KernelFrame is a named address of the kernel.
type KernelFrame struct {
	Addr uint64
	// Func is "" if nothing is known; Off is the distance from its beginning, Size what lies between that and the next
	// symbol, 0 if there is none. Module is "kernel" or the module's name.
	Func, Module string
	Off, Size    uint64
}

// InKernel reports whether an address is one of the kernel: in the upper half of the address space.
func InKernel(addr uint64) bool { return int64(addr) < 0 }

// maxReads bounds how often the kernel's symbols are read again.
const maxReads = 4

// KernelName names an address of the kernel. ret says that it is a return address, so that the call before it is meant.
func (t *Table) KernelName(addr uint64, ret bool) (fr KernelFrame) {
	fr.Addr = addr
	if !InKernel(addr) {
		return fr
	}
	at := addr
	if ret {
		at--
	}
	k := &t.kernel
	switch {
	case !k.read && t.KernelFiles.Cache != "":
		t.readKernel((*kbtf.Kernel).OwnSymbols)
	case !k.read:
		t.readAll()
	}
	if k.looked == 0 && k.syms != nil && (k.lo == 0 || at < k.lo || at >= k.end) {
		t.readAll()
	}
	if k.syms == nil {
		return fr
	}
	made := at >= k.end && k.module(at) == nil
	if made {
		if was, ok := k.made[madeAddr{addr, ret}]; ok {
			return was
		}
		if k.looked < maxReads {
			t.readAll()
			made = k.module(at) == nil
		}
	}
	name, start, end, mod := k.find(at)
	if name == "" {
		return fr
	}
	if made {
		if end-start > generated { // what is next to it says nothing
			end = 0
		}
		defer func() {
			if k.made == nil || len(k.made) >= maxNames {
				k.made = map[madeAddr]KernelFrame{}
			}
			k.made[madeAddr{addr, ret}] = fr
		}()
	}
	fr.Func, fr.Module, fr.Off = name, mod, addr-start
	if end > start {
		fr.Size = end - start
	}
	return fr
}

// readKernel reads the kernel's symbols. What stands in the way is told once.
func (t *Table) readKernel(read func(*kbtf.Kernel) (*kbtf.Symbols, error)) {
	k := &t.kernel
	k.read = true
	syms, err := read(kbtf.New(t.KernelFiles))
	why := ""
	switch {
	case err != nil:
		why = err.Error()
	case syms.Hidden():
		why = "the kernel hides its addresses (kernel.kptr_restrict, or no CAP_SYSLOG)"
	}
	if why != "" {
		if !k.told && t.Warn != nil {
			k.told = true
			t.Warn("addresses of the kernel are shown without names: " + why)
		}
		return
	}
	k.syms = syms
	k.lo, k.end = syms.Addr("_stext"), syms.Addr("_end")
	// A table of code alone (without CONFIG_KALLSYMS_ALL) does not say where the kernel ends.
	if last, _ := syms.At(math.MaxUint64); k.end == 0 && len(last) > 0 && last[0].Module == "" {
		k.end = last[0].Addr + 1
	} else if k.end == 0 {
		syms.Each(func(s kbtf.Symbol) bool {
			if s.Module == "" {
				k.end = max(k.end, s.Addr+1)
			}
			return s.Module == ""
		})
	}
}

// readAll reads all symbols, and where the modules lie.
func (t *Table) readAll() {
	k := &t.kernel
	k.looked++
	t.readKernel((*kbtf.Kernel).Symbols)
	if b, err := os.ReadFile("/proc/modules"); err == nil && t.KernelFiles.Map == "" {
		k.modules = parseModules(string(b))
	}
}

// parseModules reads lines such as "ext4 983040 1 - Live 0xffffffffc0400000".
func parseModules(text string) []module {
	var out []module
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 6 {
			continue
		}
		size, err1 := strconv.ParseUint(f[1], 10, 64)
		lo, err2 := strconv.ParseUint(strings.TrimPrefix(f[5], "0x"), 16, 64)
		if err1 == nil && err2 == nil {
			out = append(out, module{f[0], lo, size})
		}
	}
	return out
}

func (k *kernelNames) module(addr uint64) *module {
	for i := range k.modules {
		if m := &k.modules[i]; addr-m.lo < m.size {
			return m
		}
	}
	return nil
}

// generated is the most bytes of a program or trampoline that the kernel made itself.
const generated = 64 << 10

// find gives the symbol that holds addr, "" if that is not sure.
func (k *kernelNames) find(addr uint64) (name string, start, end uint64, mod string) {
	at, end := k.syms.At(addr)
	best := -1
	for i, s := range at {
		if best < 0 || rank(s) > rank(at[best]) {
			best = i
		}
	}
	if best < 0 {
		return "", 0, 0, ""
	}
	s := at[best]
	switch m := k.module(addr); {
	case s.Module == "" && (k.end == 0 || addr < k.end):
		return s.Name, s.Addr, end, "kernel"
	case s.Module == "":
	case s.Module == "bpf", strings.HasPrefix(s.Module, "__builtin__"):
		if addr-s.Addr < generated {
			return s.Name, s.Addr, end, s.Module
		}
	case m != nil && m.name == s.Module, len(k.modules) == 0 && addr-s.Addr < generated:
		if m != nil && end > m.lo+m.size {
			end = m.lo + m.size
		}
		return s.Name, s.Addr, end, s.Module
	}
	return "", 0, 0, ""
}

// rank orders several names of one address: functions first, those that other files see before the others.
func rank(s kbtf.Symbol) int {
	n := 0
	if s.Code() {
		n += 4
	}
	if s.Global() {
		n += 2
	}
	// System calls without arguments have one body for both kinds of programs.
	if strings.HasPrefix(s.Name, "__ia32_") {
		n--
	}
	return n
}

// Text gives what symname shows, and with data what symdata does: name+offset/size [module].
func (f KernelFrame) Text(data bool) string {
	switch {
	case f.Func == "":
		return fmt.Sprintf("0x%x", f.Addr)
	case !data:
		return f.Func
	case f.Size == 0:
		return fmt.Sprintf("%s+0x%x [%s]", f.Func, f.Off, f.Module)
	}
	return fmt.Sprintf("%s+0x%x/0x%x [%s]", f.Func, f.Off, f.Size, f.Module)
}

// KernelBacktrace writes a stack of the kernel one function a line, innermost first:
//
//	0xffffffff8134a350 : do_sys_openat2+0x0/0x3f0 [kernel]
func (t *Table) KernelBacktrace(stack []uint64) string {
	var b strings.Builder
	for i, addr := range stack {
		fmt.Fprintf(&b, " 0x%x : %s\n", addr, t.KernelName(addr, i > 0).Text(true))
	}
	return b.String()
}
