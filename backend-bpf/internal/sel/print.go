package sel

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/maps"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/textfmt"
	"github.com/gostap/gostap/compiler/types"
	"github.com/gostap/gostap/runtime/wire"
)

// field is one argument on its way into a record.
type field struct {
	wire.Arg
	// size is the most bytes it takes; fixed says that it always takes that many.
	size  int
	fixed bool
	put   func(r *record)
}

// print sends the arguments of a print statement; the host makes the text.
func (g *gen) print(in *ir.Instr) { g.send(wire.Print, int(in.N), g.fields(in)) }

// fields prepares the arguments of a print statement.
func (g *gen) fields(in *ir.Instr) []field {
	var out []field
	i := 0
	for n := range g.u.P.Formats[in.N].Pieces {
		p := &g.u.P.Formats[in.N].Pieces[n]
		if p.Conv == 0 {
			continue
		}
		prec := ir.I(int64(p.Prec))
		if p.WidthArg {
			out = append(out, g.field(in.Args[i]))
			i++
		}
		if p.PrecArg {
			prec = in.Args[i]
			out = append(out, g.field(prec))
			i++
		}
		if p.Conv == 'm' || p.Conv == 'M' {
			out = append(out, g.memField(p, prec, in.Args[i]))
		} else {
			out = append(out, g.field(in.Args[i]))
		}
		i++
	}
	return out
}

// field prepares one value.
func (g *gen) field(v ir.Val) field {
	switch {
	case v.Kind == ir.ValStr:
		return field{Arg: wire.Arg{Kind: wire.Const, Names: &wire.Names{List: [][]byte{[]byte(v.Str)}}}, fixed: true, put: func(*record) {}}
	case v.Kind == ir.ValInt:
		return field{Arg: wire.Arg{Kind: wire.Int}, size: 8, fixed: true, put: func(r *record) { r.word(v.Int) }}
	case g.fn.Regs[v.Reg].Type != types.String:
		return field{Arg: wire.Arg{Kind: wire.Int}, size: 8, fixed: true, put: func(r *record) { r.reg(g.long(v)) }}
	case g.lazies[v.Reg] != nil:
		return g.lazyField(g.lazies[v.Reg])
	}
	return g.textField(g.strOf(v))
}

// textField prepares a string: a small one in its full room, a large one with what it has.
func (g *gen) textField(s str) field {
	if s.lit {
		return g.field(ir.S(s.text))
	}
	size := maps.StringSize(s.cap)
	if s.padded {
		return field{Arg: wire.Arg{Kind: wire.Text}, size: 8 + size, fixed: true, put: func(r *record) {
			r.word(int64(size) | int64(size)<<32) // the decoder strips the zeros
			g.copyWords(r.at(0), s.at, size)
			r.off += size
		}}
	}
	size = sentSize(s.cap)
	return field{Arg: wire.Arg{Kind: wire.Text}, size: 8 + size, put: func(r *record) {
		n := g.length(s)
		room := g.lengthWord(r, n, mach.None)
		g.copyBytes(g.argP(r.at(0)), n, g.bytesOf(s))
		r.grow(room, size)
	}}
}

// sentSize is the room for the bytes of a large string of at most n in a record: as much as the verifier takes the
// string for, which knows its length by a mask. Room by n itself would be enough for what is sent, and too little
// for what several strings in one record could be.
func sentSize(n int) int { return (mask(n) + 7) &^ 7 }

// lengthWord writes the length and room of n bytes, with the bits of more in the length, and gives the room.
func (g *gen) lengthWord(r *record, n, more mach.Reg) mach.Reg {
	room := g.binI(asm.Add, n, 7)
	g.aluI(asm.And, room, ^7)
	w := g.binI(asm.LSh, room, 32)
	g.alu(asm.Or, w, n)
	if more != mach.None {
		g.alu(asm.Or, w, more)
	}
	r.reg(w)
	return room
}

// memField prepares the bytes that %m and %M show. Memory that cannot be read is no bytes.
func (g *gen) memField(p *ir.Piece, prec, addr ir.Val) field {
	arg := wire.Arg{Kind: wire.Mem}
	if prec.Kind == ir.ValInt {
		n := min(textfmt.MemSize(int(prec.Int)), textfmt.MaxMem)
		room := (n + 7) &^ 7
		return field{Arg: arg, size: 8 + room, fixed: true, put: func(r *record) {
			g.storeIP(r.at(0), 0, int64(n)|int64(room)<<32, asm.DWord)
			bad, on := g.cold(), g.block()
			g.readMem(!p.Alt, g.argP(r.at(8)), aImm(int64(n)), g.long(addr), bad)
			g.jump(on)
			g.set(bad)
			g.storeIP(r.at(0), 0, 0, asm.Word)
			g.jump(on)
			g.set(on)
			r.off += 8 + room
		}}
	}
	return field{Arg: arg, size: 8 + textfmt.MaxMem, put: func(r *record) {
		n := g.copy(g.long(prec))
		g.fieldWidth(n)
		g.atLeast(n, 1)
		n = g.tight(n, textfmt.MaxMem)
		bad, on := g.cold(), g.block()
		g.readMem(!p.Alt, g.argP(r.at(8)), aReg(n), g.long(addr), bad)
		g.jump(on)
		g.set(bad)
		g.movI(n, 0)
		g.jump(on)
		g.set(on)
		r.grow(g.lengthWord(r, n, mach.None), textfmt.MaxMem)
	}}
}

// fieldWidth makes n what a width or precision from an argument means: as C's int, from 0 to ir.MaxField.
func (g *gen) fieldWidth(n mach.Reg) {
	g.aluI(asm.LSh, n, 32)
	g.aluI(asm.ArSh, n, 32)
	neg, on := g.cold(), g.block()
	g.condI(asm.JSLT, n, 0, neg, on)
	g.set(neg)
	g.movI(n, 0)
	g.jump(on)
	g.set(on)
	g.clamp(n, ir.MaxField)
}

// atLeast makes r the greater of r and n, unsigned.
func (g *gen) atLeast(r mach.Reg, n int64) {
	low, on := g.block(), g.block()
	g.condI(asm.JLT, r, n, low, on)
	g.set(low)
	g.movI(r, n)
	g.jump(on)
	g.set(on)
}

// send writes one entry, as a record of its own or into the gathered output.
func (g *gen) send(kind wire.Kind, format int, fields []field) {
	site := wire.Site{Format: format}
	size, fixed := 8, true
	for _, f := range fields {
		site.Args = append(site.Args, f.Arg)
		size += f.size
		fixed = fixed && f.fixed
	}
	id := int64(g.addSite(site))
	put := func(r *record) {
		r.word(id)
		for _, f := range fields {
			f.put(r)
		}
	}
	done := g.block()
	if kind != wire.Print {
		g.printFirst()
	}
	switch {
	case kind == wire.Print && g.gathers():
		r := g.gather(size)
		put(r)
		r.done()
	case fixed && size+wire.HeaderSize <= directMax:
		r := g.reserve(size+wire.HeaderSize, done)
		r.header(kind, 0)
		put(r)
		r.submit()
	default:
		g.viaScratch(size+wire.HeaderSize, func(r *record) {
			r.header(kind, 0)
			put(r)
		})
	}
	g.here(done)
}

// viaScratch writes a record of at most n bytes in scratch memory and sends it.
func (g *gen) viaScratch(n int, put func(r *record)) {
	stack := g.frame.stackMax
	g.frame.stackMax = 0
	p := g.room(n)
	g.frame.stackMax = stack
	from := g.addrP(p)
	r := &record{g: g, base: from, dyn: mach.None}
	put(r)
	g.output(aReg(from), r.size())
}

// addSite enters a print statement into the schema.
func (g *gen) addSite(s wire.Site) int {
	g.u.Schema.Sites = append(g.u.Schema.Sites, s)
	return len(g.u.Schema.Sites) - 1
}

// deferred sends what the host's part of the handler works with.
func (g *gen) deferred() {
	g.printFirst()
	size, fixed := wire.HeaderSize+8, true
	var fields []field
	for _, v := range g.h.Values {
		f := g.field(ir.R(v.Reg))
		g.sent = append(g.sent, f.Arg)
		if g.h.Faults {
			code := field{size: 8, fixed: true, put: func(r *record) { r.word(0) }}
			if v.Fault != ir.NoReg {
				code = g.field(ir.R(v.Fault))
			}
			fields = append(fields, code)
		}
		fields = append(fields, f)
	}
	for _, f := range fields {
		size += f.size
		fixed = fixed && f.fixed
	}
	put := func(r *record) {
		r.header(wire.Deferred, 0)
		r.word(int64(g.h.Capture))
		for _, f := range fields {
			f.put(r)
		}
	}
	done := g.block()
	if fixed && size <= directMax {
		r := g.reserve(size, done)
		put(r)
		r.submit()
	} else {
		g.viaScratch(size, put)
	}
	g.here(done)
}
