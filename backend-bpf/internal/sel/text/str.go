// Package text writes the code for strings: copying, comparing, searching, formatting and quoting them, reading them
// from memory, and matching patterns.
//
// In: body.Strs, formats, patterns. Out: code that leaves its result in a body.StrVar or a register.
package text

import (
	"encoding/binary"

	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/maps"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/backend-bpf/internal/sel/body"
	"github.com/gostap/gostap/backend-bpf/internal/sel/emit"
	"github.com/gostap/gostap/compiler/ir"
)

// Text writes what handlers do with strings.
type Text struct{ *body.Body }

// New gives the Text of a handler.
func New(b *body.Body) *Text { return &Text{b} }

// A string is in one of two forms. A small one lies on the stack, padded with zeros to
// its full room: copying, comparing and using it as a key are a few words each, and its
// length is found when it is asked for. A large one lies in the scratch slot behind a
// word with its length; the 8 bytes behind its end are zeros, what follows is not
// defined. Elements of maps are padded like small ones.
//
// Lengths of large strings are loaded from memory at each use. That makes them unknown
// numbers to the verifier, which the code then bounds: loops over strings converge.

// NewStr makes a home for a string. Those whose length is not known when they are made are large.
func (g *Text) NewStr(n int, simple bool) *body.StrVar {
	size := maps.StringSize(n)
	if simple && size <= g.Frame.StackMax && size <= g.Frame.StackLeft {
		g.Frame.StackLeft -= size
		return &body.StrVar{Cap: n, Small: true, At: emit.Mem{Slot: g.F.NewSlot(size)}}
	}
	off := g.Area(8 + size + 8)
	return &body.StrVar{Cap: n, LenAt: emit.At(g.SlotAddr(), off), At: emit.At(g.SlotAddr(), off+8)}
}

// TempStr makes a large string for use within the current instruction.
func (g *Text) TempStr(n int) *body.StrVar {
	stack := g.Frame.StackMax
	g.Frame.StackMax = 0
	p := g.Room(16 + maps.StringSize(n))
	g.Frame.StackMax = stack
	return &body.StrVar{Cap: n, LenAt: p, At: p.Plus(8)}
}

// words cuts text into zero-padded words; there is always one that ends in a NUL.
func words(text string) []int64 {
	b := make([]byte, len(text)/8*8+8)
	copy(b, text)
	out := make([]int64, len(b)/8)
	for i := range out {
		out[i] = int64(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return out
}

// shortText is the longest constant that is written with immediate stores.
const shortText = 64

// Length gives the length of s in a register that may be changed, at most s.cap.
func (g *Text) Length(s body.Str) mach.Reg {
	switch {
	case s.Lit:
		return g.Imm(int64(len(s.Text)))
	case s.Padded:
		return g.lengthPadded(s)
	}
	n := g.GetP(s.LenAt, 0, asm.DWord)
	g.Bound(n, s.Cap)
	return n
}

// lengthPadded finds the end of a padded string: the first word whose last byte is zero holds it, and its
// bytes are counted by halving.
func (g *Text) lengthPadded(s body.Str) mach.Reg {
	n := maps.StringSize(s.Cap) / 8
	w, length := g.Reg(), g.Reg()
	done := g.Block()
	for i := range n {
		g.LoadP(w, s.At, 8*i, asm.DWord)
		g.MovI(length, int64(8*i))
		if i == n-1 {
			g.Jump(done)
			break
		}
		g.UnlessI(asm.JEq, g.BinI(asm.RSh, w, 56), 0, done)
	}
	g.Set(done)
	for _, half := range []int64{32, 16, 8, 0} {
		// nz is 1 where anything is left above the lower half.
		nz := g.BinI(asm.RSh, w, half)
		t := g.Copy(nz)
		g.Neg(t)
		g.Alu(asm.Or, nz, t)
		g.AluI(asm.RSh, nz, 63)
		if half == 0 {
			g.Alu(asm.Add, length, nz)
			break
		}
		step := g.BinI(asm.LSh, nz, emit.Log2(half))
		g.Alu(asm.RSh, w, step)
		g.AluI(asm.RSh, step, 3)
		g.Alu(asm.Add, length, step)
	}
	return length
}

// CopyBytes copies n bytes (at most a number that the verifier knows) from one address to another.
func (g *Text) CopyBytes(dst emit.Arg, n mach.Reg, src emit.Arg) {
	g.Call(asm.FnProbeReadKernel, dst, emit.InReg(n), src)
}

// BytesOf gives the address of the bytes of s.
func (g *Text) BytesOf(s body.Str) emit.Arg {
	if s.Lit {
		return emit.MapVal(plan.MapText, g.TextOf(s.Text))
	}
	return g.ArgP(s.At)
}

// finish makes the bytes of v a large string of n bytes: it writes the length and the zeros behind the end.
func (g *Text) finish(v *body.StrVar, n mach.Reg) {
	g.Bound(n, v.Cap)
	g.StoreP(v.LenAt, 0, n, asm.DWord)
	end := g.Bin(asm.Add, g.AddrP(v.At), n)
	g.StoreI(end, 0, 0, asm.DWord)
}

// Assign sets dst to s, cut to what dst holds.
func (g *Text) Assign(dst *body.StrVar, s body.Str) {
	if s.V == dst {
		return
	}
	if s.Lit && len(s.Text) > dst.Cap {
		s = body.Literal(s.Text[:dst.Cap])
	}
	if dst.Small {
		g.Pad(dst.At, maps.StringSize(dst.Cap), dst.Cap, s)
		return
	}
	switch {
	case s.Lit && len(s.Text) <= shortText:
		ws := words(s.Text)
		for i, w := range ws {
			g.StoreIP(dst.At, 8*i, w, asm.DWord)
		}
		g.StoreIP(dst.At, 8*len(ws), 0, asm.DWord)
		g.StoreIP(dst.LenAt, 0, int64(len(s.Text)), asm.DWord)
	case s.Padded && s.Cap <= dst.Cap && maps.StringSize(s.Cap) <= shortText:
		n := maps.StringSize(s.Cap)
		g.CopyWords(dst.At, s.At, n)
		g.StoreIP(dst.At, n, 0, asm.DWord)
		// The copy is measured, not the source: that may change.
		g.StoreP(dst.LenAt, 0, g.lengthPadded(body.Padded(dst.At, s.Cap)), asm.DWord)
	case s.Padded:
		n := g.Call(asm.FnProbeReadKernelStr, g.ArgP(dst.At), emit.Const(int64(dst.Cap)+1), g.ArgP(s.At))
		g.strResult(dst, n)
	default:
		n := g.Length(s)
		if s.Cap > dst.Cap {
			g.Clamp(n, dst.Cap)
		}
		g.CopyBytes(g.ArgP(dst.At), n, g.BytesOf(s))
		g.finish(dst, n)
	}
}

// strResult finishes a large string that one of the _str helpers has read: r is its length with the NUL.
func (g *Text) strResult(dst *body.StrVar, r mach.Reg) {
	g.finish(dst, g.BinI(asm.Sub, r, 1))
}

// Pad writes s to p, cut to n bytes and padded with zeros to size.
func (g *Text) Pad(p emit.Mem, size, n int, s body.Str) {
	if s.Lit {
		text := s.Text
		if len(text) > n {
			text = text[:n]
		}
		if len(text) <= shortText {
			ws := words(text)
			for i, w := range ws {
				g.StoreIP(p, 8*i, w, asm.DWord)
			}
			g.Zero(p.Plus(8*len(ws)), size-8*len(ws))
			return
		}
		s = body.Literal(text)
	}
	if s.Padded && size <= 2*shortText {
		m := min(maps.StringSize(s.Cap), size)
		g.CopyWords(p, s.At, m)
		if s.Cap > n {
			// The last word may hold more than n bytes.
			last := n / 8 * 8
			w := g.GetP(p, last, asm.DWord)
			keep := int64(1)<<(8*uint(n-last)) - 1
			g.Alu(asm.And, w, g.Imm(keep))
			g.StoreP(p, last, w, asm.DWord)
		}
		g.Zero(p.Plus(m), size-m)
		return
	}
	g.Zero(p, size)
	if s.Padded {
		g.Call(asm.FnProbeReadKernelStr, g.ArgP(p), emit.Const(int64(n)+1), g.ArgP(s.At))
		return
	}
	m := g.Length(s)
	if p.Slot != mach.NoSlot || p.Base != g.Frame.Scratch {
		m = g.Tight(m, n)
	} else if s.Cap > n {
		g.Clamp(m, n)
	}
	g.CopyBytes(g.ArgP(p), m, g.BytesOf(s))
}

// Concat sets dst to a followed by b.
func (g *Text) Concat(dst *body.StrVar, a, b body.Str) {
	if b.V == dst && a.V != dst {
		t := g.TempStr(dst.Cap)
		g.Concat(t, a, b)
		g.Assign(dst, t.Str())
		return
	}
	if dst.Small {
		t := g.TempStr(dst.Cap)
		g.Concat(t, a, b)
		g.Assign(dst, t.Str())
		return
	}
	g.Assign(dst, a)
	if b.Lit && b.Text == "" {
		return
	}
	la := g.Length(dst.Str())
	lb := g.Length(b)
	left := g.Imm(int64(dst.Cap))
	g.Alu(asm.Sub, left, la)
	g.AtMost(lb, left)
	g.Bound(lb, min(dst.Cap, b.Cap))
	end := g.Bin(asm.Add, g.AddrP(dst.At), la)
	g.CopyBytes(emit.InReg(end), lb, g.BytesOf(b))
	g.Alu(asm.Add, la, lb)
	g.finish(dst, la)
}

// RaiseText ends the current block with an error whose argument is a text.
func (g *Text) RaiseText(c ir.Code, s body.Str, to ir.BlockID) {
	if g.Faults.Text == nil {
		n := g.U.P.Limits.MaxString - 1
		g.Faults.Text = g.NewStr(n, false)
	}
	g.Assign(g.Faults.Text, s)
	g.Raise(c, mach.None, mach.None, to)
}

// ThrowText raises the error of a text that is in's argument.
func (g *Text) ThrowText(in *ir.Instr, c ir.Code) {
	g.RaiseText(c, g.StrOf(in.Args[0]), in.OnErr)
	g.Set(g.Cold())
}

// FieldWidth makes n what a width or precision from an argument means: as C's int, from 0 to ir.MaxField.
func (g *Text) FieldWidth(n mach.Reg) {
	g.AluI(asm.LSh, n, 32)
	g.AluI(asm.ArSh, n, 32)
	neg, on := g.Cold(), g.Block()
	g.CondI(asm.JSLT, n, 0, neg, on)
	g.Set(neg)
	g.MovI(n, 0)
	g.Jump(on)
	g.Set(on)
	g.Clamp(n, ir.MaxField)
}
