package ftrace

import (
	"fmt"
	"strings"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/probe"
)

// fetched is what the kernel can read for an event: an expression in its syntax (kprobetrace.rst, "Synopsis of
// kprobe_events") and the bits of it that count.
type fetched struct {
	fetch  string
	size   int // bits
	signed bool
	// at and in are for a bit field: its first bit in what is fetched, and how much that is. in is 0 for others.
	at, in int
}

// typ is the type of an argument that shows f in decimal, or in hexadecimal.
func (f fetched) typ(hex bool) string {
	switch {
	case f.in > 0:
		return fmt.Sprintf("b%d@%d/%d", f.size, f.at, f.in)
	case hex:
		return fmt.Sprintf("x%d", f.size)
	case f.signed:
		return fmt.Sprintf("s%d", f.size)
	}
	return fmt.Sprintf("u%d", f.size)
}

// reader reads location programs.
type reader struct {
	h *handler
	p loc.Prog
}

// number gives what p computes.
func (h *handler) number(p loc.Prog) (fetched, string) {
	r := reader{h, p}
	if p.Empty() {
		return fetched{}, "is in no register and at no address that could be named"
	}
	last := p.Steps[p.Last()]
	switch last.Op {
	case loc.Bits:
		inner := fetched{size: 64}
		var why string
		if a := p.Steps[last.A]; a.Op == loc.Deref && !a.Signed {
			inner.size = 8 * a.Size
			inner.fetch, why = r.load(a)
		} else {
			inner.fetch, why = r.word(last.A)
		}
		if why != "" {
			return fetched{}, why
		}
		whole := last.N == 0 && (last.Size == 8 || last.Size == 16 || last.Size == 32 || last.Size == 64)
		switch {
		case whole && last.Size <= inner.size:
			return fetched{fetch: inner.fetch, size: last.Size, signed: last.Signed}, ""
		case last.Signed:
			return fetched{}, "is a field of bits with a sign, and fields of bits are read without"
		case int(last.N)+last.Size > inner.size:
			return fetched{}, "has no type that the kernel knows"
		}
		return fetched{fetch: inner.fetch, size: last.Size, at: int(last.N), in: inner.size}, ""
	case loc.Deref:
		text, why := r.load(last)
		return fetched{fetch: text, size: 8 * last.Size, signed: last.Signed || last.Size == 8}, why
	}
	text, why := r.word(p.Last())
	return fetched{fetch: text, size: 64, signed: true}, why
}

// text gives the text of C at the address that p computes.
func (h *handler) text(p loc.Prog, kernel bool) (fetch, why string) {
	if p.Empty() {
		return "", "is at no address"
	}
	return reader{h, p}.deref(p.Last(), kernel)
}

// load reads memory.
func (r reader) load(s loc.Step) (string, string) { return r.deref(s.A, s.Kernel) }

// deref is what lies at the address that step i computes.
func (r reader) deref(i int, kernel bool) (string, string) {
	off := int64(0)
	for {
		s := r.p.Steps[i]
		a, b := loc.Step{}, loc.Step{}
		if s.Op == loc.Add || s.Op == loc.Sub {
			a, b = r.p.Steps[s.A], r.p.Steps[s.B]
		}
		switch {
		case s.Op == loc.Add && b.Op == loc.Const:
			off, i = off+b.N, s.A
			continue
		case s.Op == loc.Add && a.Op == loc.Const:
			off, i = off+a.N, s.B
			continue
		case s.Op == loc.Sub && b.Op == loc.Const:
			off, i = off-b.N, s.A
			continue
		case s.Op == loc.Const:
			return fmt.Sprintf("@%#x", uint64(s.N+off)), ""
		case s.Op == loc.Image:
			return fmt.Sprintf("@+%#x", r.fileOffset(off)), ""
		}
		break
	}
	base, why := r.word(i)
	if why != "" {
		return "", why
	}
	space := ""
	if !kernel && r.h.site.Kind.InKernel() {
		space = "u"
	}
	sign := "+"
	if off < 0 {
		sign, off = "-", -off
	}
	return fmt.Sprintf("%s%s%d(%s)", sign, space, off, base), ""
}

// fileOffset is what the kernel takes for the address addr of the probed file: it adds that to where the code's first
// byte would be mapped.
func (r reader) fileOffset(addr int64) int64 {
	return addr - int64(r.h.site.At.PC) + int64(r.h.site.Program.Offset)
}

// word gives all 64 bits that step i computes.
func (r reader) word(i int) (string, string) {
	s := r.p.Steps[i]
	switch s.Op {
	case loc.Reg:
		m := r.h.Machine
		if r.h.site.Kind.Trampoline() && int(s.N) == m.C.Results[0] {
			return "$retval", ""
		}
		if int(s.N) >= len(m.Registers) {
			return "", "is in a register that the kernel does not keep for it"
		}
		return "%" + m.Registers[s.N].Field, ""
	case loc.Const:
		return fmt.Sprintf("\\%d", s.N), ""
	case loc.Deref:
		if s.Size != 8 {
			return "", fmt.Sprintf("goes through %d bits of memory, and the kernel goes through whole words", 8*s.Size)
		}
		return r.load(s)
	case loc.TraceArg:
		return r.traceArg(int(s.N))
	case loc.TLS:
		return "", "belongs to one thread (thread-local storage)"
	case loc.Arg:
		return "", "depends on a value of the script"
	}
	return "", "has to be computed, and the kernel only reads registers and memory"
}

// traceArg is an argument of a tracepoint or a system call.
func (r reader) traceArg(n int) (string, string) {
	if r.h.proto.kind == 't' {
		return fmt.Sprintf("$arg%d", n+1), ""
	}
	return "", "is no field of the event"
}

// field finds the field of an event of the kernel's own that has the value of p, which name calls.
func (h *handler) field(p loc.Prog) (name, why string) {
	none := "is no field of the event " + h.proto.group + ":" + h.proto.name
	steps := p.Steps
	if len(steps) == 0 || steps[0].Op != loc.TraceArg || len(steps) > 2 || len(steps) == 2 && steps[1].Op != loc.Bits {
		return "", none
	}
	var args []string
	ret := ""
	for _, f := range h.proto.fields {
		switch {
		case strings.HasPrefix(f.Name, "__"): // the number; texts of arguments, in newer kernels
		case f.Name == "ret":
			ret = f.Name
		default:
			args = append(args, f.Name)
		}
	}
	n := int(steps[0].N)
	switch {
	case callReturns(h.site) && n == ir.SyscallRet && ret != "":
		return ret, ""
	case callBegins(h.site) && h.site.Syscall.Nr != probe.AnySyscall && n < len(args):
		return args[n], ""
	}
	return "", none
}
