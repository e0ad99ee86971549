package family

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/kbtf"
	"github.com/gostap/gostap/compiler/probe"
)

// Accesses that a hardware watchpoint sees (HW_BREAKPOINT_W, HW_BREAKPOINT_RW of linux/hw_breakpoint.h).
const (
	accessWrite = 2
	accessBoth  = 3
)

// watchForms is, with N 1 if it is not given, kernel.data(ADDRESS|"name")[.length(N)].{write,rw}.
func watchForms() *form {
	ends := []*form{{name: "write", args: bare, resolve: watchpoint}, {name: "rw", args: bare, resolve: watchpoint}}
	return &form{name: "data", args: num | str, kids: append([]*form{{name: "length", args: num, kids: ends}}, ends...)}
}

// watchpoint resolves accesses to memory of the kernel.
func watchpoint(m *match) []*probe.Site {
	c := m.at("data")
	s := &probe.Site{Kind: probe.Perf, Perf: probe.PerfEvent{Type: unix.PERF_TYPE_BREAKPOINT, Period: 1,
		Access: accessWrite, Len: 1}}
	if m.has("rw") {
		s.Perf.Access = accessBoth
	}
	if !c.Arg.IsString {
		s.Perf.Addr = uint64(c.Arg.Num)
		if s.Perf.Addr < 1<<63 {
			m.errorf(c, "0x%x is not an address of the kernel", s.Perf.Addr)
			return nil
		}
	} else if !m.watchSymbol(c, &s.Perf) {
		return nil
	}
	if l := m.at("length"); l != nil {
		s.Perf.Len = uint64(l.Arg.Num)
		if n := l.Arg.Num; n != 1 && n != 2 && n != 4 && n != 8 {
			m.errorf(l, "the processor watches 1, 2, 4 or 8 bytes")
			return nil
		}
	}
	if s.Perf.Addr%s.Perf.Len != 0 {
		m.errorf(c, "0x%x is not a multiple of %d, and the processor watches aligned bytes only", s.Perf.Addr,
			s.Perf.Len)
		return nil
	}
	return []*probe.Site{s}
}

// watchSymbol finds the address of a variable of the kernel.
func (m *match) watchSymbol(c *probe.Comp, ev *probe.PerfEvent) bool {
	name := c.Arg.Str
	im, err := m.env.Kern().Image("")
	if err != nil {
		m.errorf(c, "%v", err)
		return false
	}
	var gone *debuginfo.NotLiveError
	if _, err := im.Global(name); errors.As(err, &gone) && !gone.Untyped {
		m.errorf(c, "%s: %v", name, gone.Reason)
		return false
	}
	syms, err := m.env.Kern().Symbols()
	if err != nil {
		m.errorf(c, "%v", err)
		return false
	}
	at := syms.Named(name)
	switch {
	case m.env.Kern().Foreign():
		m.errorf(c, "its address in another kernel is known only once that runs")
	case len(at) == 0:
		m.errorf(c, "the kernel has no symbol %q",
			name).Hintf("few kernels list their variables (CONFIG_KALLSYMS_ALL); an address can be given instead")
	case len(at) > 1:
		m.errorf(c, "%d symbols of the kernel are called %q", len(at),
			name).Hintf("give the address of the one that is meant")
	case at[0].Code() && !syms.Data(at[0].Addr):
		m.errorf(c, "%s is a function", name).Hintf("use kernel.function")
	case syms.Hidden():
		m.errorf(c, "the kernel hides the addresses of its symbols from this user").Hintf(
			"it needs root and a kernel.kptr_restrict below 2")
	case at[0].Addr < 1<<63 || between(syms, "__per_cpu_start", "__per_cpu_end", at[0].Addr):
		m.errorf(c, "%s exists once for each CPU", name)
	default:
		ev.Addr = at[0].Addr
		return true
	}
	return false
}

// between reports whether addr lies between two symbols that the linker has set.
func between(syms *kbtf.Symbols, from, to string, addr uint64) bool {
	lo, hi := syms.Named(from), syms.Named(to)
	return len(lo) == 1 && len(hi) == 1 && lo[0].Addr <= addr && addr < hi[0].Addr
}
