package output

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/maps"
	"github.com/gostap/gostap/backend-bpf/internal/sel/body"
	"github.com/gostap/gostap/backend-bpf/internal/sel/emit"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/textfmt"
	"github.com/gostap/gostap/compiler/types"
	"github.com/gostap/gostap/runtime/wire"
)

// Field is one argument on its way into a record.
type Field struct {
	wire.Arg
	// size is the most bytes it takes; fixed says that it always takes that many.
	size  int
	fixed bool
	put   func(r *Record)
}

// Print sends the arguments of a print statement; the host makes the text.
func (g *Output) Print(in *ir.Instr) { g.Send(wire.Print, int(in.N), g.fields(in)) }

// fields prepares the arguments of a print statement.
func (g *Output) fields(in *ir.Instr) []Field {
	var out []Field
	i := 0
	for n := range g.U.P.Formats[in.N].Pieces {
		p := &g.U.P.Formats[in.N].Pieces[n]
		if p.Conv == 0 {
			continue
		}
		prec := ir.I(int64(p.Prec))
		if p.WidthArg {
			out = append(out, g.Field(in.Args[i]))
			i++
		}
		if p.PrecArg {
			prec = in.Args[i]
			out = append(out, g.Field(prec))
			i++
		}
		if p.Conv == 'm' || p.Conv == 'M' {
			out = append(out, g.memField(p, prec, in.Args[i]))
		} else {
			out = append(out, g.Field(in.Args[i]))
		}
		i++
	}
	return out
}

// Field prepares one value.
func (g *Output) Field(v ir.Val) Field {
	switch {
	case v.Kind == ir.ValStr:
		return Field{Arg: wire.Arg{Kind: wire.Const, Names: &wire.Names{List: [][]byte{[]byte(v.Str)}}}, fixed: true,
			put: func(*Record) {}}
	case v.Kind == ir.ValInt:
		return Field{Arg: wire.Arg{Kind: wire.Int}, size: 8, fixed: true, put: func(r *Record) { r.Word(v.Int) }}
	case g.Fn.Regs[v.Reg].Type != types.String:
		return Field{Arg: wire.Arg{Kind: wire.Int}, size: 8, fixed: true, put: func(r *Record) { r.Reg(g.Long(v)) }}
	case g.Lazies[v.Reg] != nil:
		return g.lazyField(g.Lazies[v.Reg])
	}
	return g.textField(g.StrOf(v))
}

// textField prepares a string: a small one in its full room, a large one with what it has.
func (g *Output) textField(s body.Str) Field {
	if s.Lit {
		return g.Field(ir.S(s.Text))
	}
	size := maps.StringSize(s.Cap)
	if s.Padded {
		return Field{Arg: wire.Arg{Kind: wire.Text}, size: 8 + size, fixed: true, put: func(r *Record) {
			r.Word(int64(size) | int64(size)<<32) // the decoder strips the zeros
			g.CopyWords(r.At(0), s.At, size)
			r.off += size
		}}
	}
	size = SentSize(s.Cap)
	return Field{Arg: wire.Arg{Kind: wire.Text}, size: 8 + size, put: func(r *Record) {
		n := g.str.Length(s)
		room := g.LengthWord(r, n, mach.None)
		g.str.CopyBytes(g.ArgP(r.At(0)), n, g.str.BytesOf(s))
		r.Grow(room, size)
	}}
}

// SentSize is the room for the bytes of a large string of at most n in a record: as much as the verifier takes the
// string for, which knows its length by a mask. Room by n itself would be enough for what is sent, and too little
// for what several strings in one record could be.
func SentSize(n int) int { return (emit.Mask(n) + 7) &^ 7 }

// LengthWord writes the length and room of n bytes, with the bits of more in the length, and gives the room.
func (g *Output) LengthWord(r *Record, n, more mach.Reg) mach.Reg {
	room := g.BinI(asm.Add, n, 7)
	g.AluI(asm.And, room, ^7)
	w := g.BinI(asm.LSh, room, 32)
	g.Alu(asm.Or, w, n)
	if more != mach.None {
		g.Alu(asm.Or, w, more)
	}
	r.Reg(w)
	return room
}

// memField prepares the bytes that %m and %M show. Memory that cannot be read is no bytes.
func (g *Output) memField(p *ir.Piece, prec, addr ir.Val) Field {
	arg := wire.Arg{Kind: wire.Mem}
	if prec.Kind == ir.ValInt {
		n := min(textfmt.MemSize(int(prec.Int)), textfmt.MaxMem)
		room := (n + 7) &^ 7
		return Field{Arg: arg, size: 8 + room, fixed: true, put: func(r *Record) {
			g.StoreIP(r.At(0), 0, int64(n)|int64(room)<<32, asm.DWord)
			bad, on := g.Cold(), g.Block()
			g.ReadMem(!p.Alt, g.ArgP(r.At(8)), emit.Const(int64(n)), g.Long(addr), bad)
			g.Jump(on)
			g.Set(bad)
			g.StoreIP(r.At(0), 0, 0, asm.Word)
			g.Jump(on)
			g.Set(on)
			r.off += 8 + room
		}}
	}
	return Field{Arg: arg, size: 8 + textfmt.MaxMem, put: func(r *Record) {
		n := g.Copy(g.Long(prec))
		g.str.FieldWidth(n)
		g.AtLeast(n, 1)
		n = g.Tight(n, textfmt.MaxMem)
		bad, on := g.Cold(), g.Block()
		g.ReadMem(!p.Alt, g.ArgP(r.At(8)), emit.InReg(n), g.Long(addr), bad)
		g.Jump(on)
		g.Set(bad)
		g.MovI(n, 0)
		g.Jump(on)
		g.Set(on)
		r.Grow(g.LengthWord(r, n, mach.None), textfmt.MaxMem)
	}}
}

// Send writes one entry, as a record of its own or into the gathered output.
func (g *Output) Send(kind wire.Kind, format int, fields []Field) {
	site := wire.Site{Format: format}
	size, fixed := 8, true
	for _, f := range fields {
		site.Args = append(site.Args, f.Arg)
		size += f.size
		fixed = fixed && f.fixed
	}
	id := int64(g.addSite(site))
	put := func(r *Record) {
		r.Word(id)
		for _, f := range fields {
			f.put(r)
		}
	}
	done := g.Block()
	if kind != wire.Print {
		g.PrintFirst()
	}
	switch {
	case kind == wire.Print && g.gathers():
		r := g.gather(size)
		put(r)
		r.done()
	case fixed && size+wire.HeaderSize <= directMax:
		r := g.Reserve(size+wire.HeaderSize, done)
		r.Header(kind, 0)
		put(r)
		r.Submit()
	default:
		g.ViaScratch(size+wire.HeaderSize, func(r *Record) {
			r.Header(kind, 0)
			put(r)
		})
	}
	g.Here(done)
}

// ViaScratch writes a record of at most n bytes in scratch memory and sends it.
func (g *Output) ViaScratch(n int, put func(r *Record)) {
	stack := g.Frame.StackMax
	g.Frame.StackMax = 0
	p := g.Room(n)
	g.Frame.StackMax = stack
	from := g.AddrP(p)
	r := &Record{g: g, base: from, dyn: mach.None}
	put(r)
	g.output(emit.InReg(from), r.size())
}

// Deferred sends what the host's part of the handler works with.
func (g *Output) Deferred() {
	g.PrintFirst()
	size, fixed := wire.HeaderSize+8, true
	var fields []Field
	for _, v := range g.H.Values {
		f := g.Field(ir.R(v.Reg))
		g.Sent = append(g.Sent, f.Arg)
		if g.H.Faults {
			code := Field{size: 8, fixed: true, put: func(r *Record) { r.Word(0) }}
			if v.Fault != ir.NoReg {
				code = g.Field(ir.R(v.Fault))
			}
			fields = append(fields, code)
		}
		fields = append(fields, f)
	}
	for _, f := range fields {
		size += f.size
		fixed = fixed && f.fixed
	}
	put := func(r *Record) {
		r.Header(wire.Deferred, 0)
		r.Word(int64(g.H.Capture))
		for _, f := range fields {
			f.put(r)
		}
	}
	done := g.Block()
	if fixed && size <= directMax {
		r := g.Reserve(size, done)
		put(r)
		r.Submit()
	} else {
		g.ViaScratch(size, put)
	}
	g.Here(done)
}
