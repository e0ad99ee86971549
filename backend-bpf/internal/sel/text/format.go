package text

import (
	"strings"

	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/backend-bpf/internal/sel/body"
	"github.com/gostap/gostap/backend-bpf/internal/sel/emit"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/types"
)

// Arg is a value to be formatted.
type Arg struct {
	Num mach.Reg
	str *body.Str
}

// Sprint is OpSprint: the text is needed in the kernel, as a key or to compare with.
func (g *Text) Sprint(in *ir.Instr) {
	f := g.U.P.Formats[in.N]
	for _, p := range f.Pieces {
		if p.Conv == 'b' || p.Conv == 'm' || p.Conv == 'M' {
			g.Refuse(in, "bpf-sprintf", "sprintf with %%%c makes a string inside the kernel, which the eBPF back end "+
				"does not do for this conversion", p.Conv)
			return
		}
	}
	var args []Arg
	var strs []body.Str
	for _, a := range in.Args {
		if a.Kind == ir.ValStr || a.IsReg() && g.Fn.Regs[a.Reg].Type == types.String {
			s := g.flat(g.StrOf(a))
			strs = append(strs, s)
			args = append(args, Arg{str: &s})
			continue
		}
		args = append(args, Arg{Num: g.Long(a)})
	}
	t, done := g.target(in, g.Strs[in.Dst].Cap, strs...)
	g.Format(t, f, args)
	done()
}

// writer appends to a large string. How far it is stands in memory, in the word of the string's length: in a register
// the verifier would follow every length that the text can have so far.
type writer struct {
	g   *Text
	v   *body.StrVar
	end *mach.Block // the text is complete
}

func (w *writer) pos() mach.Reg {
	p := w.g.GetP(w.v.LenAt, 0, asm.DWord)
	w.g.Bound(p, w.v.Cap)
	return p
}

func (w *writer) moveTo(p mach.Reg) { w.g.StoreP(w.v.LenAt, 0, p, asm.DWord) }

// Format sets v to a formatted text, as package textfmt writes it.
func (g *Text) Format(v *body.StrVar, f *ir.Format, args []Arg) {
	dst := v
	if v.Small {
		dst = g.TempStr(v.Cap)
	}
	w := &writer{g: g, v: dst, end: g.Block()}
	g.StoreIP(dst.LenAt, 0, 0, asm.DWord)
	next := func() Arg {
		if len(args) == 0 {
			return Arg{Num: g.Imm(0)}
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
			width = w.field(next().Num)
		}
		if p.PrecArg {
			prec = w.field(next().Num)
		}
		a := next()
		switch p.Conv {
		case 's':
			w.string(p, width, prec, *a.str)
			if p.Zero {
				// The 0 flag puts a NUL behind the string, which ends a text of the language.
				g.Jump(w.end)
				g.Set(g.Cold())
			}
		case 'c':
			w.char(p, width, a.Num)
		default:
			w.number(p, width, prec, a.Num)
		}
	}
	g.Here(w.end)
	g.finish(dst, w.pos())
	if dst != v {
		g.Assign(v, dst.Str())
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
	c := w.g.Copy(r)
	w.g.FieldWidth(c)
	return num{reg: c}
}

// get gives n in a register of its own; none is 0.
func (w *writer) get(n num) mach.Reg {
	if n.reg != mach.None {
		return w.g.Copy(n.reg)
	}
	return w.g.Imm(max(n.imm, 0))
}

// append adds n bytes, at most most, from an address.
func (w *writer) append(from emit.Arg, n mach.Reg, most int) {
	g := w.g
	pos := w.pos()
	left := g.Imm(int64(w.v.Cap))
	g.Alu(asm.Sub, left, pos)
	m := g.Copy(n)
	g.AtMost(m, left)
	m = g.Tight(m, min(most, w.v.Cap))
	g.CopyBytes(emit.InReg(g.Bin(asm.Add, g.AddrP(w.v.At), pos)), m, from)
	g.Alu(asm.Add, pos, m)
	w.moveTo(pos)
}

func (w *writer) literal(s string) {
	if s != "" {
		w.append(emit.MapVal(plan.MapText, w.g.TextOf(s)), w.g.Imm(int64(len(s))), len(s))
	}
}

// fill adds n (signed) copies of a byte.
func (w *writer) fill(c string, n mach.Reg) {
	g := w.g
	none := g.Block()
	g.UnlessI(asm.JSLE, n, 0, none)
	run := w.v.Cap
	w.append(emit.MapVal(plan.MapText, g.TextOf(strings.Repeat(c, run))), n, run)
	g.Here(none)
}

// byte adds the low byte of c if n is 1, nothing if it is 0.
func (w *writer) byte(c, n mach.Reg) {
	g := w.g
	pos := w.pos()
	g.Store(g.Bin(asm.Add, g.AddrP(w.v.At), pos), 0, c, asm.Byte)
	g.Alu(asm.Add, pos, n)
	g.Clamp(pos, w.v.Cap)
	w.moveTo(pos)
}

func (w *writer) string(p *ir.Piece, width, prec num, s body.Str) {
	g := w.g
	n := g.Length(s)
	if !prec.none() {
		g.AtMost(n, w.get(prec))
	}
	w.padded(p, width, n, func() { w.append(g.BytesOf(s), n, s.Cap) })
}

// padded puts spaces around what put writes, n bytes.
func (w *writer) padded(p *ir.Piece, width num, n mach.Reg, put func()) {
	g := w.g
	if width.none() {
		put()
		return
	}
	space := w.get(width)
	g.Alu(asm.Sub, space, n)
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
		word, n := g.escaped(g.BinI(asm.And, c, 0xff), '\'')
		w.padded(p, width, n, func() {
			pos := w.pos()
			g.Store(g.Bin(asm.Add, g.AddrP(w.v.At), pos), 0, word, asm.Word)
			g.Alu(asm.Add, pos, n)
			g.Clamp(pos, w.v.Cap)
			w.moveTo(pos)
		})
		return
	}
	one := g.Imm(1)
	w.padded(p, width, one, func() {
		g.UnlessI(asm.JEq, g.BinI(asm.And, c, 0xff), 0, w.end)
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
	buf := g.TempBuffer(room + 8)
	n := g.Imm(0)
	// from is the address of the first digit so far. The verifier wants addresses to grow.
	from := func() mach.Reg {
		p := g.Imm(room)
		g.Alu(asm.Sub, p, n)
		g.AluI(asm.And, p, 31)
		g.Alu(asm.Add, p, buf)
		return p
	}
	head, done := g.Block(), g.Block()
	g.Here(head)
	g.Short(head)
	g.UnlessI(asm.JGE, n, int64(digits), done)
	d := g.Copy(u)
	if base == 10 {
		g.AluI(asm.Mod, d, base)
		g.AluI(asm.Div, u, base)
	} else {
		g.AluI(asm.And, d, base-1)
		g.AluI(asm.RSh, u, emit.Log2(base))
	}
	if base == 16 {
		letter := g.BinI(asm.Add, d, 6) // 16 and more from 10 on
		g.AluI(asm.RSh, letter, 4)
		if p.Conv == 'X' {
			g.AluI(asm.Mul, letter, 'A'-'0'-10)
		} else {
			g.AluI(asm.Mul, letter, 'a'-'0'-10)
		}
		g.Alu(asm.Add, d, letter)
	}
	g.AluI(asm.Add, d, '0')
	g.AluI(asm.Add, n, 1)
	g.Store(from(), 0, d, asm.Byte)
	g.CondI(asm.JEq, u, 0, done, head)
	g.Set(done)
	g.Launder(n)
	g.Clamp(n, digits)
	text := func() { w.append(emit.InReg(from()), n, digits) }
	if width.none() && prec.none() {
		w.sign(sign, signs)
		w.literal(prefix)
		text()
		return
	}
	// As textfmt: precision counts digits, what is left of the width is padding.
	zeros := w.get(prec)
	enough := g.Block()
	g.Alu(asm.Sub, zeros, n)
	g.UnlessI(asm.JSGE, zeros, 0, enough)
	g.MovI(zeros, 0)
	g.Here(enough)
	space := w.get(width)
	g.Alu(asm.Sub, space, zeros)
	g.Alu(asm.Sub, space, n)
	if signs != mach.None {
		g.Alu(asm.Sub, space, signs)
	}
	if prefix != "" {
		g.AluI(asm.Sub, space, int64(len(prefix)))
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

// signed gives the magnitude of a number that is to be converted, the character in front of it, and how many of that
// there are: 1 or 0, or None for a conversion without signs. There is no branch: what the verifier knows on one of two
// ways, a sign or none, would make it walk all that follows twice.
func (w *writer) signed(p *ir.Piece, v mach.Reg) (u, sign, signs mach.Reg) {
	g := w.g
	if p.Conv != 'd' && p.Conv != 'i' {
		return g.Copy(v), mach.None, mach.None
	}
	u, neg := g.Magnitude(v)
	other := int64('-')
	switch {
	case p.Plus:
		other = '+'
	case p.Space:
		other = ' '
	default:
		return u, g.Imm('-'), g.BinI(asm.And, neg, 1)
	}
	g.AluI(asm.And, neg, '-'-other)
	g.AluI(asm.Add, neg, other)
	return u, neg, g.Imm(1)
}

// sign writes what signed gave.
func (w *writer) sign(c, n mach.Reg) {
	if n != mach.None {
		w.byte(c, n)
	}
}
