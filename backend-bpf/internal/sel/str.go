package sel

import (
	"encoding/binary"

	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/maps"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/compiler/ir"
)

// A string is in one of two forms. A small one lies on the stack, padded with zeros to
// its full room: copying, comparing and using it as a key are a few words each, and its
// length is found when it is asked for. A large one lies in the scratch slot behind a
// word with its length; the 8 bytes behind its end are zeros, what follows is not
// defined. Elements of maps are padded like small ones.
//
// Lengths of large strings are loaded from memory at each use. That makes them unknown
// numbers to the verifier, which the code then bounds: loops over strings converge.

// str is a string operand.
type str struct {
	lit    bool
	text   string
	at     mem
	cap    int // most bytes
	padded bool
	lenAt  mem // of a large one: the word with the length
	v      *strVar
}

// strVar is the home of a String register.
type strVar struct {
	cap   int
	small bool
	at    mem
	lenAt mem
}

func (v *strVar) str() str {
	return str{at: v.at, cap: v.cap, padded: v.small, lenAt: v.lenAt, v: v}
}

func literal(s string) str { return str{lit: true, text: s, cap: len(s)} }

// padded is a string of at most n bytes with zeros behind it.
func padded(p mem, n int) str { return str{at: p, cap: n, padded: true} }

// newStr makes a home for a string. Those whose length is not known when they are made are large.
func (g *gen) newStr(n int, simple bool) *strVar {
	size := maps.StringSize(n)
	if simple && size <= g.frame.stackMax && size <= g.frame.stackLeft {
		g.frame.stackLeft -= size
		return &strVar{cap: n, small: true, at: mem{slot: g.f.NewSlot(size)}}
	}
	off := g.area(8 + size + 8)
	return &strVar{cap: n, lenAt: at(g.slotAddr(), off), at: at(g.slotAddr(), off+8)}
}

// tempStr makes a large string for use within the current instruction.
func (g *gen) tempStr(n int) *strVar {
	stack := g.frame.stackMax
	g.frame.stackMax = 0
	p := g.room(16 + maps.StringSize(n))
	g.frame.stackMax = stack
	return &strVar{cap: n, lenAt: p, at: p.plus(8)}
}

// strOf gives a String operand.
func (g *gen) strOf(v ir.Val) str {
	switch v.Kind {
	case ir.ValStr:
		return literal(v.Str)
	case ir.ValReg:
		if text, ok := g.consts[v.Reg]; ok {
			return literal(text)
		}
		if sv := g.strs[v.Reg]; sv != nil {
			return sv.str()
		}
	}
	g.fail("operand is not a string")
	return literal("")
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

// textOf puts text into the map of constants and gives its offset.
func (g *gen) textOf(text string) int {
	u := g.u
	if o, ok := u.textAt[text]; ok {
		return o
	}
	if u.textAt == nil {
		u.textAt = map[string]int{}
	}
	o := len(u.text)
	u.text = append(u.text, text...)
	u.text = append(u.text, make([]byte, 8-len(text)%8)...)
	u.textAt[text] = o
	return o
}

// shortText is the longest constant that is written with immediate stores.
const shortText = 64

// clamp makes r at most n, and lets the verifier know: by a comparison, which kernels before 6.13 forget when
// r goes to the stack and comes back, and by a mask, which may say a little less but stays.
func (g *gen) clamp(r mach.Reg, n int) {
	over, on := g.cold(), g.block()
	g.condI(asm.JGT, r, int64(n), over, on)
	g.set(over)
	g.movI(r, int64(n))
	g.jump(on)
	g.set(on)
	g.bound(r, n)
}

// bound tells the verifier of a number that is at most n that it is less than the next power of two. Scratch slots have
// as much room behind their end.
func (g *gen) bound(r mach.Reg, n int) { g.aluI(asm.And, r, int64(mask(n))) }

// mask is the smallest number of the form 2^k-1 that is not below n.
func mask(n int) int {
	m := 1
	for m < n {
		m = m*2 + 1
	}
	return m
}

// tight gives a copy of r that is at most n, for memory with nothing behind it.
func (g *gen) tight(r mach.Reg, n int) mach.Reg {
	t := g.copy(r)
	g.f.Keep[t] = true
	over, on := g.cold(), g.block()
	g.condI(asm.JGT, t, int64(n), over, on)
	g.set(over)
	g.movI(t, int64(n))
	g.jump(on)
	g.set(on)
	return t
}

// atMost makes r the smaller of r and n.
func (g *gen) atMost(r, n mach.Reg) {
	over, on := g.block(), g.block()
	g.cond(asm.JGT, r, n, over, on)
	g.set(over)
	g.mov(r, n)
	g.jump(on)
	g.set(on)
}

// length gives the length of s in a register that may be changed, at most s.cap.
func (g *gen) length(s str) mach.Reg {
	switch {
	case s.lit:
		return g.imm(int64(len(s.text)))
	case s.padded:
		return g.lengthPadded(s)
	}
	n := g.getP(s.lenAt, 0, asm.DWord)
	g.bound(n, s.cap)
	return n
}

// lengthPadded finds the end of a padded string: the first word whose last byte is zero holds it, and its
// bytes are counted by halving.
func (g *gen) lengthPadded(s str) mach.Reg {
	n := maps.StringSize(s.cap) / 8
	w, length := g.reg(), g.reg()
	done := g.block()
	for i := range n {
		g.loadP(w, s.at, 8*i, asm.DWord)
		g.movI(length, int64(8*i))
		if i == n-1 {
			g.jump(done)
			break
		}
		g.unlessI(asm.JEq, g.binI(asm.RSh, w, 56), 0, done)
	}
	g.set(done)
	for _, half := range []int64{32, 16, 8, 0} {
		// nz is 1 where anything is left above the lower half.
		nz := g.binI(asm.RSh, w, half)
		t := g.copy(nz)
		g.neg(t)
		g.alu(asm.Or, nz, t)
		g.aluI(asm.RSh, nz, 63)
		if half == 0 {
			g.alu(asm.Add, length, nz)
			break
		}
		step := g.binI(asm.LSh, nz, log2(half))
		g.alu(asm.RSh, w, step)
		g.aluI(asm.RSh, step, 3)
		g.alu(asm.Add, length, step)
	}
	return length
}

func log2(n int64) int64 {
	k := int64(0)
	for ; n > 1; n >>= 1 {
		k++
	}
	return k
}

// copyBytes copies n bytes (at most a number that the verifier knows) from one address to another.
func (g *gen) copyBytes(dst arg, n mach.Reg, src arg) {
	g.call(asm.FnProbeReadKernel, dst, aReg(n), src)
}

// bytesOf gives the address of the bytes of s.
func (g *gen) bytesOf(s str) arg {
	if s.lit {
		return aMapVal(plan.MapText, g.textOf(s.text))
	}
	return g.argP(s.at)
}

// finish makes the bytes of v a large string of n bytes: it writes the length and the zeros behind the end.
func (g *gen) finish(v *strVar, n mach.Reg) {
	g.bound(n, v.cap)
	g.storeP(v.lenAt, 0, n, asm.DWord)
	end := g.bin(asm.Add, g.addrP(v.at), n)
	g.storeI(end, 0, 0, asm.DWord)
}

// assign sets dst to s, cut to what dst holds.
func (g *gen) assign(dst *strVar, s str) {
	if s.v == dst {
		return
	}
	if s.lit && len(s.text) > dst.cap {
		s = literal(s.text[:dst.cap])
	}
	if dst.small {
		g.pad(dst.at, maps.StringSize(dst.cap), dst.cap, s)
		return
	}
	switch {
	case s.lit && len(s.text) <= shortText:
		ws := words(s.text)
		for i, w := range ws {
			g.storeIP(dst.at, 8*i, w, asm.DWord)
		}
		g.storeIP(dst.at, 8*len(ws), 0, asm.DWord)
		g.storeIP(dst.lenAt, 0, int64(len(s.text)), asm.DWord)
	case s.padded && s.cap <= dst.cap && maps.StringSize(s.cap) <= shortText:
		n := maps.StringSize(s.cap)
		g.copyWords(dst.at, s.at, n)
		g.storeIP(dst.at, n, 0, asm.DWord)
		// The copy is measured, not the source: that may change.
		g.storeP(dst.lenAt, 0, g.lengthPadded(padded(dst.at, s.cap)), asm.DWord)
	case s.padded:
		n := g.call(asm.FnProbeReadKernelStr, g.argP(dst.at), aImm(int64(dst.cap)+1), g.argP(s.at))
		g.strResult(dst, n)
	default:
		n := g.length(s)
		if s.cap > dst.cap {
			g.clamp(n, dst.cap)
		}
		g.copyBytes(g.argP(dst.at), n, g.bytesOf(s))
		g.finish(dst, n)
	}
}

// strResult finishes a large string that one of the _str helpers has read: r is its length with the NUL.
func (g *gen) strResult(dst *strVar, r mach.Reg) {
	g.finish(dst, g.binI(asm.Sub, r, 1))
}

// copyWords copies n bytes, a multiple of 8.
func (g *gen) copyWords(dst, src mem, n int) {
	for i := 0; i < n; i += 8 {
		g.storeP(dst, i, g.getP(src, i, asm.DWord), asm.DWord)
	}
}

// pad writes s to p, cut to n bytes and padded with zeros to size.
func (g *gen) pad(p mem, size, n int, s str) {
	if s.lit {
		text := s.text
		if len(text) > n {
			text = text[:n]
		}
		if len(text) <= shortText {
			ws := words(text)
			for i, w := range ws {
				g.storeIP(p, 8*i, w, asm.DWord)
			}
			g.zero(p.plus(8*len(ws)), size-8*len(ws))
			return
		}
		s = literal(text)
	}
	if s.padded && size <= 2*shortText {
		m := min(maps.StringSize(s.cap), size)
		g.copyWords(p, s.at, m)
		if s.cap > n {
			// The last word may hold more than n bytes.
			last := n / 8 * 8
			w := g.getP(p, last, asm.DWord)
			keep := int64(1)<<(8*uint(n-last)) - 1
			g.alu(asm.And, w, g.imm(keep))
			g.storeP(p, last, w, asm.DWord)
		}
		g.zero(p.plus(m), size-m)
		return
	}
	g.zero(p, size)
	if s.padded {
		g.call(asm.FnProbeReadKernelStr, g.argP(p), aImm(int64(n)+1), g.argP(s.at))
		return
	}
	m := g.length(s)
	if p.slot != mach.NoSlot || p.base != g.frame.scratch {
		m = g.tight(m, n)
	} else if s.cap > n {
		g.clamp(m, n)
	}
	g.copyBytes(g.argP(p), m, g.bytesOf(s))
}

// zero clears n bytes, a multiple of 8.
func (g *gen) zero(p mem, n int) {
	const most = 24 * 8
	if n > most {
		g.u.zeros = max(g.u.zeros, n)
		g.call(asm.FnProbeReadKernel, g.argP(p), aImm(int64(n)), aMapVal(plan.MapZero, 0))
		return
	}
	for i := 0; i < n; i += 8 {
		g.storeIP(p, i, 0, asm.DWord)
	}
}

// concat sets dst to a followed by b.
func (g *gen) concat(dst *strVar, a, b str) {
	if b.v == dst && a.v != dst {
		t := g.tempStr(dst.cap)
		g.concat(t, a, b)
		g.assign(dst, t.str())
		return
	}
	if dst.small {
		t := g.tempStr(dst.cap)
		g.concat(t, a, b)
		g.assign(dst, t.str())
		return
	}
	g.assign(dst, a)
	if b.lit && b.text == "" {
		return
	}
	la := g.length(dst.str())
	lb := g.length(b)
	left := g.imm(int64(dst.cap))
	g.alu(asm.Sub, left, la)
	g.atMost(lb, left)
	g.bound(lb, min(dst.cap, b.cap))
	end := g.bin(asm.Add, g.addrP(dst.at), la)
	g.copyBytes(aReg(end), lb, g.bytesOf(b))
	g.alu(asm.Add, la, lb)
	g.finish(dst, la)
}
