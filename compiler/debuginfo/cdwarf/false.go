package cdwarf

import (
	"debug/dwarf"
	"fmt"
	"slices"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/dw"
	"github.com/gostap/gostap/compiler/debuginfo/dwexpr"
	"github.com/gostap/gostap/compiler/debuginfo/dwtype"
	"github.com/gostap/gostap/compiler/debuginfo/sysv"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/machine/insn"
	"github.com/gostap/gostap/compiler/types"
)

// What compilers say about places is not always true. Here is what is known to go wrong, and can be told.
//
// gcc follows numbers and pointers through optimised code by their values, but structs and unions by the registers that
// its internal code still calls by their names. When it shifts such a register to get at a member, it takes that for
// an assignment to the struct: the list of locations goes on as if nothing had happened. So a struct in a register is
// believed only if the register holds, on all ways to the place, an unchanged copy of what the caller, the memory or
// a call has given.
//
// LLVM up to version 15 loses a load where it has moved a value from a register to the stack: the address of the slot
// is then said to be the value (see dw.Env.Spill), or the slot to be the object whose address is in the slot.

// maxFollowed is how many instructions are looked at to find where what is in a register comes from.
const maxFollowed = 20000

// untrue says why the location that the debug information gives for a variable at s, with place pl, is not believed,
// "" if it is.
func (im reader) untrue(fn *function, s debuginfo.Site, sv dw.ScopeVar, pl loc.Place, expr []byte) string {
	t := pl.Type
	if t == nil || t.Kind != types.Struct && t.Kind != types.Union && t.Kind != types.Array {
		return ""
	}
	if !byGNU(fn.u) {
		base := im.entered().baseOf(fn).reg
		passed := sv.In == fn.tree && sv.Tag == dwarf.TagFormalParameter && im.passing(fn, sv, t) == dwtype.ByReference
		if passed && im.inFrame(expr, base, true) || t.Size > 8 && !sysv.HasVector(t, 0) && im.inFrame(expr, base,
			false) ||
			im.astray(fn, s, sv, pl) {
			return "the debug information takes the slot of the stack that has its address for the object itself, " +
				"an error of LLVM"
		}
		return ""
	}
	for _, r := range dwexpr.InRegisters(im.m, expr, t.Size) {
		if s.PC == fn.Entry || members(t, r.Off, r.Off+r.Size) < 2 {
			continue // members that gcc has made variables of are followed by their values
		}
		if at, ok := im.copied(fn, s.PC, r.Reg, r.Size); !ok {
			return fmt.Sprintf("the debug information has it in register %s, which the instruction at %#x may have "+
				"changed", im.m.RegName(uint64(r.Reg)), at)
		}
	}
	return ""
}

// astray reports whether a parameter, of a language of which it is not known how it hands such over, is said to be
// among what the caller has put on the stack. Rust puts the address there of what needs more than a register or two.
func (im reader) astray(fn *function, s debuginfo.Site, sv dw.ScopeVar, pl loc.Place) bool {
	if !pl.InMemory || pl.Type.Size <= 8 || sv.Tag != dwarf.TagFormalParameter || isCpp(fn.u) {
		return false
	}
	base, off, ok := addressed(pl.Addr)
	from, above, known := addressed(s.CFA)
	return ok && known && base == from && off >= above && im.passing(fn, sv.Tree, pl.Type) == dwtype.PassingUnknown
}

// inFrame reports whether expr is an address in the stack by the register base of the frame, as it is: so LLVM finds
// what it has moved there from a register. What is there by its nature it finds by DW_OP_fbreg, or, in a frame that is
// aligned to more than 16 bytes, by the stack pointer beside the base; all takes these in too.
func (im reader) inFrame(expr []byte, base int, all bool) bool {
	const fbreg = 0x91
	if len(expr) < 2 {
		return false
	}
	if o := int(expr[0]); (base < 0 || o != 0x70+base) && !(all && (o == fbreg || o == 0x70+im.m.SP)) {
		return false
	}
	for i, b := range expr[1:] {
		if b < 0x80 {
			return i == len(expr)-2 // the offset's last byte, and nothing behind it
		}
	}
	return false
}

// members counts the numbers and pointers in bytes lo to hi of t. Bit-fields, and what is in unions, count twice, and
// counting ends at 2.
func members(t *types.Ctype, lo, hi int64) (n int) {
	switch {
	case t == nil || t.Kind == types.Union:
		return 2
	case t.Kind == types.Array && !t.Vector:
		e := t.Elem()
		if e == nil || e.Size <= 0 {
			return 2
		}
		for off := max(lo, 0) / e.Size * e.Size; off < min(hi, t.Size) && n < 2; off += e.Size {
			n += members(e, lo-off, hi-off)
		}
	case t.Kind == types.Struct:
		for _, f := range t.Fields() {
			switch {
			case f.BitSize > 0 || f.Type == nil:
				return 2
			case f.Off < hi && lo < f.Off+f.Type.Size && n < 2:
				n += members(f.Type, lo-f.Off, hi-f.Off)
			}
		}
	default:
		return 1
	}
	return n
}

// copied reports whether size bytes of reg hold at pc of fn, whatever way led there, an unchanged copy of what was in a
// register when fn was entered, in memory, or in a register behind a call. If not, at is an instruction that may have
// changed it.
func (im reader) copied(fn *function, pc uint64, reg int, size int64) (at uint64, ok bool) {
	f := im.lined().flowOf(fn)
	if !f.ok {
		return fn.Entry, false
	}
	type state struct {
		pc  uint64
		reg int
	}
	todo, seen := []state{{pc, reg}}, map[state]bool{}
	for len(todo) > 0 {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[s] {
			continue
		}
		if seen[s] = true; len(seen) > maxFollowed {
			return s.pc, false
		}
		from := f.from[s.pc]
		if len(from) == 0 && s.pc != fn.Entry { // by a table of jumps, or by an exception
			if from = im.computed(f); len(from) == 0 {
				return s.pc, false
			}
		}
		for _, p := range from {
			b, err := im.f.Bytes(p, 16)
			if err != nil {
				return p, false
			}
			switch use, src := im.m.Code.Into(b, s.reg, size); use {
			case insn.Keeps:
				todo = append(todo, state{p, s.reg})
			case insn.Copies:
				todo = append(todo, state{p, src})
			case insn.Changes:
				return p, false
			}
		}
	}
	return 0, true
}

// computed are the jumps in f whose targets are worked out.
func (im reader) computed(f *flow) (out []uint64) {
	for pc, to := range f.to {
		if len(to) > 0 {
			continue
		}
		if b, err := im.f.Bytes(pc, 16); err == nil {
			if in, err := insn.Decode(im.m.Code, b); err == nil && in.Kind == insn.IndirectJump {
				out = append(out, pc)
			}
		}
	}
	slices.Sort(out)
	return out
}
