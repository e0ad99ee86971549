package sel

import (
	"strings"

	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/types"
)

// fmtArg is a value to be formatted.
type fmtArg struct {
	num mach.Reg
	str *str
}

// sprint is OpSprint: the text is needed in the kernel, as a key or to compare with.
func (g *gen) sprint(in *ir.Instr) {
	f := g.u.P.Formats[in.N]
	for _, p := range f.Pieces {
		if p.Conv == 'b' || p.Conv == 'm' || p.Conv == 'M' {
			g.refuse(in, "bpf-sprintf", "sprintf with %%%c makes a string inside the kernel, which the eBPF back end does not do for this conversion", p.Conv)
			return
		}
	}
	var args []fmtArg
	var strs []str
	for _, a := range in.Args {
		if a.Kind == ir.ValStr || a.IsReg() && g.fn.Regs[a.Reg].Type == types.String {
			s := g.flat(g.strOf(a))
			strs = append(strs, s)
			args = append(args, fmtArg{str: &s})
			continue
		}
		args = append(args, fmtArg{num: g.long(a)})
	}
	t, done := g.target(in, g.strs[in.Dst].cap, strs...)
	g.format(t, f, args)
	done()
}

// writer appends to a large string. How far it is stands in memory, in the word of the string's length: in a register
// the verifier would follow every length that the text can have so far.
type writer struct {
	g   *gen
	v   *strVar
	end *mach.Block // the text is complete
}

func (w *writer) pos() mach.Reg {
	p := w.g.getP(w.v.lenAt, 0, asm.DWord)
	w.g.bound(p, w.v.cap)
	return p
}

func (w *writer) moveTo(p mach.Reg) { w.g.storeP(w.v.lenAt, 0, p, asm.DWord) }

// format sets v to a formatted text, as package textfmt writes it.
func (g *gen) format(v *strVar, f *ir.Format, args []fmtArg) {
	dst := v
	if v.small {
		dst = g.tempStr(v.cap)
	}
	w := &writer{g: g, v: dst, end: g.block()}
	g.storeIP(dst.lenAt, 0, 0, asm.DWord)
	next := func() fmtArg {
		if len(args) == 0 {
			return fmtArg{num: g.imm(0)}
		}
		a := args[0]
		args = args[1:]
		return a
	}
	for i := range f.Pieces {
		p := &f.Pieces[i]
		if p.Conv == 0 {
			w.literal(p.Lit)
			continue
		}
		width, prec := number(p.Width), number(p.Prec)
		if p.WidthArg {
			width = w.field(next().num)
		}
		if p.PrecArg {
			prec = w.field(next().num)
		}
		a := next()
		switch p.Conv {
		case 's':
			w.string(p, width, prec, *a.str)
			if p.Zero {
				// The 0 flag puts a NUL behind the string, which ends a text of the language.
				g.jump(w.end)
				g.set(g.cold())
			}
		case 'c':
			w.char(p, width, a.num)
		default:
			w.number(p, width, prec, a.num)
		}
	}
	g.here(w.end)
	g.finish(dst, w.pos())
	if dst != v {
		g.assign(v, dst.str())
	}
}

// num is a width or precision: a constant (-1 for none), or in a register.
type num struct {
	imm int64
	reg mach.Reg
}

func number(n int) num { return num{imm: int64(min(n, ir.MaxField)), reg: mach.None} }

func (n num) none() bool { return n.reg == mach.None && n.imm < 0 }

func (w *writer) field(r mach.Reg) num {
	c := w.g.copy(r)
	w.g.fieldWidth(c)
	return num{reg: c}
}

// get gives n in a register of its own; none is 0.
func (w *writer) get(n num) mach.Reg {
	if n.reg != mach.None {
		return w.g.copy(n.reg)
	}
	return w.g.imm(max(n.imm, 0))
}

// append adds n bytes, at most most, from an address.
func (w *writer) append(from arg, n mach.Reg, most int) {
	g := w.g
	pos := w.pos()
	left := g.imm(int64(w.v.cap))
	g.alu(asm.Sub, left, pos)
	m := g.copy(n)
	g.atMost(m, left)
	m = g.tight(m, min(most, w.v.cap))
	g.copyBytes(aReg(g.bin(asm.Add, g.addrP(w.v.at), pos)), m, from)
	g.alu(asm.Add, pos, m)
	w.moveTo(pos)
}

func (w *writer) literal(s string) {
	if s != "" {
		w.append(aMapVal(plan.MapText, w.g.textOf(s)), w.g.imm(int64(len(s))), len(s))
	}
}

// fill adds n (signed) copies of a byte.
func (w *writer) fill(c string, n mach.Reg) {
	g := w.g
	none := g.block()
	g.unlessI(asm.JSLE, n, 0, none)
	run := w.v.cap
	w.append(aMapVal(plan.MapText, g.textOf(strings.Repeat(c, run))), n, run)
	g.here(none)
}

// byte adds the low byte of c if n is 1, nothing if it is 0.
func (w *writer) byte(c, n mach.Reg) {
	g := w.g
	pos := w.pos()
	g.store(g.bin(asm.Add, g.addrP(w.v.at), pos), 0, c, asm.Byte)
	g.alu(asm.Add, pos, n)
	g.clamp(pos, w.v.cap)
	w.moveTo(pos)
}

func (w *writer) string(p *ir.Piece, width, prec num, s str) {
	g := w.g
	n := g.length(s)
	if !prec.none() {
		g.atMost(n, w.get(prec))
	}
	w.padded(p, width, n, func() { w.append(g.bytesOf(s), n, s.cap) })
}

// padded puts spaces around what put writes, n bytes.
func (w *writer) padded(p *ir.Piece, width num, n mach.Reg, put func()) {
	g := w.g
	if width.none() {
		put()
		return
	}
	space := w.get(width)
	g.alu(asm.Sub, space, n)
	if !p.Minus {
		w.fill(" ", space)
	}
	put()
	if p.Minus {
		w.fill(" ", space)
	}
}

func (w *writer) char(p *ir.Piece, width num, c mach.Reg) {
	g := w.g
	if p.Alt {
		word, n := g.escaped(g.binI(asm.And, c, 0xff), '\'')
		w.padded(p, width, n, func() {
			pos := w.pos()
			g.store(g.bin(asm.Add, g.addrP(w.v.at), pos), 0, word, asm.Word)
			g.alu(asm.Add, pos, n)
			g.clamp(pos, w.v.cap)
			w.moveTo(pos)
		})
		return
	}
	one := g.imm(1)
	w.padded(p, width, one, func() {
		g.unlessI(asm.JEq, g.binI(asm.And, c, 0xff), 0, w.end)
		w.byte(c, one)
	})
}

// number converts by dividing: the digits are written from the end of a buffer of 24 bytes.
func (w *writer) number(p *ir.Piece, width, prec num, v mach.Reg) {
	g := w.g
	base, digits := int64(10), 20
	switch p.Conv {
	case 'o':
		base, digits = 8, 22
	case 'x', 'X', 'p':
		base, digits = 16, 16
	}
	u, sign, signs := w.signed(p, v)
	prefix := ""
	if p.Alt || p.Conv == 'p' {
		switch {
		case base == 8:
			prefix = "0"
		case p.Conv == 'X':
			prefix = "0X"
		case base == 16:
			prefix = "0x"
		}
	}
	const room = 24
	buf := g.tempBuffer(room + 8)
	n := g.imm(0)
	// from is the address of the first digit so far. The verifier wants addresses to grow.
	from := func() mach.Reg {
		p := g.imm(room)
		g.alu(asm.Sub, p, n)
		g.aluI(asm.And, p, 31)
		g.alu(asm.Add, p, buf)
		return p
	}
	head, done := g.block(), g.block()
	g.here(head)
	g.short(head)
	g.unlessI(asm.JGE, n, int64(digits), done)
	d := g.copy(u)
	if base == 10 {
		g.aluI(asm.Mod, d, base)
		g.aluI(asm.Div, u, base)
	} else {
		g.aluI(asm.And, d, base-1)
		g.aluI(asm.RSh, u, log2(base))
	}
	if base == 16 {
		letter := g.binI(asm.Add, d, 6) // 16 and more from 10 on
		g.aluI(asm.RSh, letter, 4)
		if p.Conv == 'X' {
			g.aluI(asm.Mul, letter, 'A'-'0'-10)
		} else {
			g.aluI(asm.Mul, letter, 'a'-'0'-10)
		}
		g.alu(asm.Add, d, letter)
	}
	g.aluI(asm.Add, d, '0')
	g.aluI(asm.Add, n, 1)
	g.store(from(), 0, d, asm.Byte)
	g.condI(asm.JEq, u, 0, done, head)
	g.set(done)
	g.launder(n)
	g.clamp(n, digits)
	text := func() { w.append(aReg(from()), n, digits) }
	if width.none() && prec.none() {
		w.sign(sign, signs)
		w.literal(prefix)
		text()
		return
	}
	// As textfmt: precision counts digits, what is left of the width is padding.
	zeros := w.get(prec)
	enough := g.block()
	g.alu(asm.Sub, zeros, n)
	g.unlessI(asm.JSGE, zeros, 0, enough)
	g.movI(zeros, 0)
	g.here(enough)
	space := w.get(width)
	g.alu(asm.Sub, space, zeros)
	g.alu(asm.Sub, space, n)
	if signs != mach.None {
		g.alu(asm.Sub, space, signs)
	}
	if prefix != "" {
		g.aluI(asm.Sub, space, int64(len(prefix)))
	}
	zero := p.Zero && !p.Minus
	if !zero && !p.Minus {
		w.fill(" ", space)
	}
	w.sign(sign, signs)
	w.literal(prefix)
	if zero {
		w.fill("0", space)
	}
	w.fill("0", zeros)
	text()
	if p.Minus {
		w.fill(" ", space)
	}
}

// signed gives the magnitude of a number that is to be converted, the character in front of it, and how many of that there
// are: 1 or 0, or None for a conversion without signs. There is no branch: what the verifier knows on one of two ways, a
// sign or none, would make it walk all that follows twice.
func (w *writer) signed(p *ir.Piece, v mach.Reg) (u, sign, signs mach.Reg) {
	g := w.g
	if p.Conv != 'd' && p.Conv != 'i' {
		return g.copy(v), mach.None, mach.None
	}
	u, neg := g.magnitude(v)
	other := int64('-')
	switch {
	case p.Plus:
		other = '+'
	case p.Space:
		other = ' '
	default:
		return u, g.imm('-'), g.binI(asm.And, neg, 1)
	}
	g.aluI(asm.And, neg, '-'-other)
	g.aluI(asm.Add, neg, other)
	return u, neg, g.imm(1)
}

// sign writes what signed gave.
func (w *writer) sign(c, n mach.Reg) {
	if n != mach.None {
		w.byte(c, n)
	}
}

// tempBuffer gives the address of n bytes of scratch memory for use within the current instruction.
func (g *gen) tempBuffer(n int) mach.Reg {
	stack := g.frame.stackMax
	g.frame.stackMax = 0
	p := g.room(n)
	g.frame.stackMax = stack
	return g.addrP(p)
}

// launder makes the verifier forget what it knows about r: a word of which one byte is written again has no
// known value when it is loaded. Loops that end in many places go on in one state then.
func (g *gen) launder(r mach.Reg) {
	s := g.temp(8)
	g.storeS(s, 0, r, asm.DWord)
	g.storeS(s, 0, r, asm.Byte)
	g.loadS(r, s, 0, asm.DWord)
}
