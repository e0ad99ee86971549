package cfi

import (
	"bytes"

	arch "github.com/gostap/gostap/compiler/machine"
)

// Packed is what Rules say of the callers of most code, in a word, for a walk that knows only the pc, the stack pointer
// and the frame pointer: bits 0 to 3 a PackedKind, bits 4 to 18 an offset in words of 8 bytes, signed, bits 19 to 31
// where the caller's frame pointer is: 0 where it was, 1 lost, n from 2 on 8*n bytes below the CFA. The return address
// is 8 bytes below the CFA, which is what the caller's stack pointer was before the call.
type Packed uint32

// PackedKind says how the CFA is found.
type PackedKind uint8

// The kinds of Packed.
const (
	// PackUnknown: what is needed to find the caller does not fit, or is not told.
	PackUnknown PackedKind = iota
	// PackSP: the CFA is the stack pointer and the offset.
	PackSP
	// PackFP: it is the frame pointer and the offset.
	PackFP
	// PackLinkage is code of a procedure linkage table: the CFA is the stack pointer and 8, and 8 more where the last 4
	// bits of the pc are the offset's number or more.
	PackLinkage
	// PackLoad is a function that aligned its stack: the CFA is the word at the frame pointer and the offset, and the
	// frame pointer leads to the caller's.
	PackLoad
	// PackSignal is what a signal's handler returns to: all registers are in the record at the stack pointer.
	PackSignal
	// PackOutermost: nothing has called this.
	PackOutermost
	// PackSwitch: the frame pointer leads to a frame on another stack. That is the code's own, or its caller's
	// (Rules.Switch), who then is not known.
	PackSwitch
	// PackInterrupted is PackSP in code that was made to look as if it had been called where its caller was
	// interrupted.
	PackInterrupted
)

// Bits of a Packed.
const (
	PackOffShift = 4
	PackFPShift  = 19
	packOffBits  = PackFPShift - PackOffShift
	packFPBits   = 32 - PackFPShift
	// PackLost is the frame pointer's number of a caller whose frame pointer is lost.
	PackLost = 1
	// PackBelow is that of one whose frame pointer lies below the return address.
	PackBelow = 2
)

// Kind gives the kind.
func (p Packed) Kind() PackedKind { return PackedKind(p & (1<<PackOffShift - 1)) }

// Off gives the offset, in words.
func (p Packed) Off() int64 { return int64(int32(p<<packFPBits) >> (packFPBits + PackOffShift)) }

// FP gives where the caller's frame pointer is.
func (p Packed) FP() int { return int(p >> PackFPShift) }

func pack(k PackedKind, off int64, fp int) Packed {
	if off < -1<<(packOffBits-1) || off >= 1<<(packOffBits-1) {
		return Packed(PackUnknown)
	}
	return Packed(k) | Packed(uint32(off)<<PackOffShift)&(1<<PackFPShift-1) | Packed(fp)<<PackFPShift
}

// PackFrame is what Pack says of code whose CFA is the stack pointer and off bytes, with the caller's frame pointer
// where fp tells (see Packed).
func PackFrame(off int64, fp int) Packed {
	if off%8 != 0 {
		return Packed(PackUnknown)
	}
	return pack(PackSP, off/8, fp)
}

// Pack says what r does of the caller's pc, stack pointer and frame pointer; PackUnknown where that does not fit.
func (r *Rules) Pack() Packed {
	m := r.Machine
	switch {
	case r.Outermost:
		return Packed(PackOutermost)
	case r.Switch:
		return Packed(PackSwitch)
	case r.Trampoline:
		if signalRecord(r) {
			return Packed(PackSignal)
		}
		return Packed(PackUnknown)
	}
	if ra := r.Regs[m.IP]; ra.Kind != Offset || ra.Off != -8 {
		return Packed(PackUnknown)
	}
	if r.Regs[m.SP].Kind == Undefined && r.CFA.Kind == Register && int(r.CFA.Reg) == m.FP && r.CFA.Off == 16 &&
		r.Regs[m.FP].Kind == Offset && r.Regs[m.FP].Off == -16 {
		return Packed(PackSwitch) // it has a frame of its own, which is on the other stack
	}
	if sp := r.Regs[m.SP]; sp.Kind != ValOffset || sp.Off != 0 {
		return Packed(PackUnknown)
	}
	saved := r.Regs[m.FP]
	if r.CFA.Kind == ValExpr {
		off, ok := loaded(r.CFA.Expr, m.FP)
		if ok && saved.Kind == Expr && bytes.Equal(saved.Expr, []byte{breg + byte(m.FP), 0}) {
			return pack(PackLoad, off, 0)
		}
	}
	fp := PackLost
	switch saved.Kind {
	case Same:
		fp = 0
	case Offset:
		if n := -saved.Off / 8; saved.Off%8 == 0 && n >= 2 && n < 1<<packFPBits {
			fp = int(n)
		}
	}
	if r.Signal {
		if r.CFA.Kind == Register && int(r.CFA.Reg) == m.SP && r.CFA.Off%8 == 0 {
			return pack(PackInterrupted, r.CFA.Off/8, fp)
		}
		return Packed(PackUnknown)
	}
	switch c := r.CFA; {
	case c.Kind == ValExpr:
		if least, ok := linkage(c.Expr, m); ok {
			return pack(PackLinkage, least, fp)
		}
	case c.Kind != Register || c.Off%8 != 0:
	case int(c.Reg) == m.SP:
		return pack(PackSP, c.Off/8, fp)
	case int(c.Reg) == m.FP:
		return pack(PackFP, c.Off/8, fp)
	}
	return Packed(PackUnknown)
}

// breg is DW_OP_breg0.
const breg = 0x70

// loaded takes the offset in words out of an expression for the word at a register and an offset.
func loaded(e []byte, reg int) (off int64, ok bool) {
	if len(e) < 3 || e[0] != breg+byte(reg) || e[len(e)-1] != 0x06 {
		return 0, false
	}
	off, n := sleb(e[1:])
	return off / 8, n == len(e)-2 && off%8 == 0
}

// linkage takes the number out of the expression that linkers write of procedure linkage tables: the stack pointer and
// 8, and 8 more where the last 4 bits of the pc are that number or more.
func linkage(e []byte, m *arch.Machine) (least int64, ok bool) {
	const lit = 0x30
	want := []byte{breg + byte(m.SP), 8, breg + byte(m.IP), 0, lit + 15, 0x1a, 0, 0x2a, lit + 3, 0x24, 0x22}
	if len(e) != len(want) || e[6] < lit || e[6] > lit+15 {
		return 0, false
	}
	want[6] = e[6]
	return int64(e[6] - lit), bytes.Equal(e, want)
}

// signalRecord reports whether the registers are where the kernel puts them for a handler: it tries.
func signalRecord(r *Rules) bool {
	m := r.Machine
	const base, size = 0x10000, 512
	mem := Memory{Base: base, Bytes: make([]byte, size)}
	for i := range mem.Bytes {
		mem.Bytes[i] = byte(i/8 + i%8<<6) // each word another one
	}
	var regs, out Regs
	regs.Set(m.SP, base)
	regs.Set(m.IP, base)
	if err := r.Caller(&regs, &mem, &out); err != nil {
		return false
	}
	for _, n := range []int{m.IP, m.SP, m.FP} {
		want, err := mem.Read(base+uint64(m.Sigframe[n]), 8)
		got, err2 := out.Get(n)
		if err != nil || err2 != nil || got != want {
			return false
		}
	}
	return true
}

// Row is what holds from PC on, to the next row's.
type Row struct {
	PC   uint64
	Rule Packed
}

// Rows lists what is to know of the code of e, from its beginning to its end.
func (e *Entry) Rows() (out []Row, err error) {
	m := machine{e: e, loc: e.Begin}
	if err := m.run(e.Initial, ^uint64(0)); err != nil {
		return nil, err
	}
	m.initial = m.row.regs
	m.loc = e.Begin
	var r Rules
	m.each = func() {
		p := Packed(PackUnknown)
		if m.rules(m.loc, &r) == nil {
			p = r.Pack()
		}
		if n := len(out); n > 0 && out[n-1].PC >= m.loc { // addresses that go back
			out[n-1].Rule = Packed(PackUnknown)
		} else if n == 0 || out[n-1].Rule != p {
			out = append(out, Row{m.loc, p})
		}
	}
	if err := m.run(e.Insns, e.End-1); err != nil {
		return nil, err
	}
	m.each()
	return out, nil
}
