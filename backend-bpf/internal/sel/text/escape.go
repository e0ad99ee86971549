package text

import (
	"encoding/binary"

	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/backend-bpf/internal/sel/body"
	"github.com/gostap/gostap/backend-bpf/internal/sel/emit"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/textfmt"
)

// Escapes are written without branches, from tables: the verifier walks what is behind a branch once for each way.

// escaped gives c, a byte, as C source writes it between two quote, in the low bytes of word, and how many those are.
func (g *Text) escaped(c mach.Reg, quote byte) (word, n mach.Reg) {
	var table [256 * 8]byte
	for i := range 256 {
		e := textfmt.Escape(table[8*i:8*i], byte(i), quote)
		table[8*i+7] = byte(len(e))
	}
	at := g.BinI(asm.LSh, c, 3)
	g.Alu(asm.Add, at, g.MapVal(plan.MapText, g.TextOf(string(table[:]))))
	return g.Get(at, 0, asm.Word), g.Get(at, 7, asm.Byte)
}

// A row of the table of first bytes: the byte's own escape, and what makes the bytes from it on a character of UTF-8.
const (
	rowWord   = 0  // the escape of the byte alone
	rowSize   = 4  // its length
	rowLow    = 5  // what the second byte must be at least
	rowHigh   = 6  // and at most
	rowMore   = 7  // how many bytes follow
	rowMask   = 8  // of the three bytes behind, these bits
	rowBits   = 12 // must be these
	rowLead   = 16 // the character's highest bits, which the first byte has
	rowShift  = 20 // how far the lower bits of three bytes that follow are to be moved down
	rowLong   = 21 // the length of the escape
	rowDigits = 22 // how far the eight digits are to be moved down
	rowPrefix = 24 // backslash and u or U
	rowBytes  = 32
)

// firstBytes is the table.
func firstBytes(quote byte) string {
	table := make([]byte, 256*rowBytes)
	for i := range 256 {
		r := table[i*rowBytes : (i+1)*rowBytes]
		r[rowSize] = byte(len(textfmt.Escape(r[:0], byte(i), quote)))
		r[rowLow], r[rowHigh] = 0x80, 0xbf
		more := 0
		switch {
		case i >= 0xc2 && i <= 0xdf:
			more = 1
		case i >= 0xe0 && i <= 0xef:
			more = 2
		case i >= 0xf0 && i <= 0xf4:
			more = 3
		default:
			binary.LittleEndian.PutUint32(r[rowBits:], 1) // which nothing masked with 0 is
		}
		switch i {
		case 0xe0: // shorter ones do
			r[rowLow] = 0xa0
		case 0xed: // halves of pairs of UTF-16
			r[rowHigh] = 0x9f
		case 0xf0:
			r[rowLow] = 0x90
		case 0xf4: // beyond the last character
			r[rowHigh] = 0x8f
		}
		r[rowMore] = byte(more)
		if more == 0 {
			continue
		}
		behind := uint32(0xffffff) >> (8 * (3 - more))
		binary.LittleEndian.PutUint32(r[rowMask:], behind&0xc0c0c0)
		binary.LittleEndian.PutUint32(r[rowBits:], behind&0x808080)
		binary.LittleEndian.PutUint32(r[rowLead:], uint32(i)&(0x3f>>more)<<(6*more))
		r[rowShift] = byte(6 * (3 - more))
		r[rowLong], r[rowDigits] = 6, 32
		copy(r[rowPrefix:], `\u`)
		if more == 3 {
			r[rowLong], r[rowDigits] = 10, 0
			copy(r[rowPrefix:], `\U`)
		}
	}
	return string(table)
}

// choose sets a to b where mask is -1, and leaves it where that is 0.
func (g *Text) choose(a, b, mask mach.Reg) {
	g.Alu(asm.Xor, b, a)
	g.Alu(asm.And, b, mask)
	g.Alu(asm.Xor, a, b)
}

// escapedNext is escaped for the character that the four bytes of next begin with: its escape in word and the low
// bytes of rest, n bytes, and how many more bytes of next it is.
func (g *Text) escapedNext(next mach.Reg, quote byte) (word, rest, n, more mach.Reg) {
	row := g.BinI(asm.And, next, 0xff)
	g.AluI(asm.LSh, row, 5)
	g.Alu(asm.Add, row, g.MapVal(plan.MapText, g.TextOf(firstBytes(quote))))
	behind := g.BinI(asm.RSh, next, 8)
	second := g.BinI(asm.And, behind, 0xff)
	// good is -1 where the bytes behind are those of a character, else 0.
	good := g.Bin(asm.And, behind, g.Get(row, rowMask, asm.Word))
	g.Alu(asm.Xor, good, g.Get(row, rowBits, asm.Word))
	under := g.Bin(asm.Sub, second, g.Get(row, rowLow, asm.Byte))
	over := g.Bin(asm.Sub, g.Get(row, rowHigh, asm.Byte), second)
	g.Alu(asm.Or, under, over)
	g.AluI(asm.RSh, under, 63)
	g.Alu(asm.Or, good, under)
	g.AluI(asm.Sub, good, 1)
	g.AluI(asm.ArSh, good, 63)
	// The character's number.
	c := g.BinI(asm.And, behind, 0x3f)
	g.AluI(asm.LSh, c, 6)
	for shift := range 2 {
		b := g.BinI(asm.RSh, behind, int64(8*(shift+1)))
		g.AluI(asm.And, b, 0x3f)
		g.Alu(asm.Or, c, b)
		if shift == 0 {
			g.AluI(asm.LSh, c, 6)
		}
	}
	g.Alu(asm.RSh, c, g.Get(row, rowShift, asm.Byte))
	g.Alu(asm.Or, c, g.Get(row, rowLead, asm.Word))
	// Its eight digits: each half byte in a byte of its own, the highest in the lowest byte; then as text.
	for i, mask := range []int64{0x0000ffff0000ffff, 0x00ff00ff00ff00ff, 0x0f0f0f0f0f0f0f0f} {
		high := g.BinI(asm.LSh, c, int64(16>>i))
		g.Alu(asm.Or, c, high)
		g.Alu(asm.And, c, g.Imm(mask))
	}
	g.Swap(c, asm.DWord)
	letters := g.Bin(asm.Add, c, g.Imm(0x0606060606060606))
	g.AluI(asm.RSh, letters, 4)
	g.Alu(asm.And, letters, g.Imm(0x0101010101010101))
	g.AluI(asm.Mul, letters, 'A'-'9'-1)
	g.Alu(asm.Add, c, letters)
	g.Alu(asm.Add, c, g.Imm(0x3030303030303030))
	g.Alu(asm.RSh, c, g.Get(row, rowDigits, asm.Byte))
	rest = g.BinI(asm.RSh, c, 48)
	g.AluI(asm.LSh, c, 16)
	g.Alu(asm.Or, c, g.Get(row, rowPrefix, asm.Half))
	// That, or the byte alone.
	word, n = g.Get(row, rowWord, asm.Word), g.Get(row, rowSize, asm.Byte)
	g.choose(word, c, good)
	g.choose(n, g.Get(row, rowLong, asm.Byte), good)
	return word, rest, n, g.Bin(asm.And, g.Get(row, rowMore, asm.Byte), good)
}

// Quote is text_str(s) and string_quoted(s).
func (g *Text) Quote(in *ir.Instr, quoted bool) {
	s := g.flat(g.StrOf(in.Args[0]))
	size := g.U.P.Limits.MaxString - 1
	t, done := g.target(in, size, s)
	g.quoteInto(t, s, g.Imm(int64(size)), quoted)
	done()
}

// quoting is where a text stands that is being escaped: i is how much of the string is done, o how long the text is,
// and most what that may become. keep, in quotes, is the last o that left room for the dots: limit is how far o may go
// without them, and most once keep is known. Each register that a loop changes costs as much as three instructions.
type quoting struct {
	i, o, keep, limit, most mach.Reg
	quoted                  bool
}

// quoteInto escapes s into t, at most room bytes and whole escapes only. quoted puts quotation marks around it, and
// "..." behind those where something was left out.
func (g *Text) quoteInto(t *body.StrVar, s body.Str, room mach.Reg, quoted bool) {
	q := quoting{i: g.Imm(0), o: g.Imm(0), keep: g.Imm(1), most: g.Copy(room), quoted: quoted}
	if quoted {
		g.StoreP(t.At, 0, g.Imm('"'), asm.Byte)
		g.MovI(q.o, 1)
		g.AluI(asm.Sub, q.most, 1)
	}
	q.limit = g.Copy(q.most)
	if quoted {
		g.AluI(asm.Sub, q.limit, 3)
	}
	some, n := g.Imm(0), g.Length(s)
	g.AluI(asm.Add, n, 7)
	g.AluI(asm.RSh, n, 3)
	g.loop(n, s.Cap/8+1, func(i mach.Reg, next *mach.Block) {
		g.Alu(asm.Or, some, g.bytes(s, g.BinI(asm.LSh, i, 3), asm.DWord))
	})
	plain, wide, over, closed, full, end := g.Block(), g.Block(), g.Block(), g.Block(), g.Block(), g.Block()
	g.Alu(asm.And, some, g.Imm(-0x7f7f7f7f7f7f7f80)) // 0x80 in each byte
	g.CondI(asm.JEq, some, 0, plain, wide)
	// Most strings have ASCII only, which takes half the time.
	g.Set(plain)
	g.loopFrom(q.i, g.Length(s), s.Cap, func(i mach.Reg, next *mach.Block) {
		word, k := g.escaped(g.bytes(s, i, asm.Byte), '"')
		after := g.Bin(asm.Add, q.o, k)
		g.Unless(asm.JSGT, after, q.limit, over)
		g.put(t, q.o, word, asm.DWord)
		g.Mov(q.o, after)
	})
	g.Jump(closed)
	g.Set(over)
	if quoted {
		g.Mov(q.keep, q.o)
		g.Mov(q.limit, q.most)
		g.Jump(wide)
	} else {
		g.Jump(full)
	}
	g.Set(wide)
	g.quoteWide(t, q, s, full)
	g.Here(closed)
	if quoted {
		g.put(t, q.o, g.Imm('"'), asm.Byte)
		g.AluI(asm.Add, q.o, 1)
	}
	g.Jump(end)
	g.Set(full)
	if quoted {
		g.put(t, q.keep, g.Imm(int64('"')|'.'<<8|'.'<<16|'.'<<24), asm.Word)
		g.Mov(q.o, q.keep)
		g.AluI(asm.Add, q.o, 4)
	}
	g.Jump(end)
	g.Set(end)
	g.finish(t, q.o)
}

// quoteWide goes on with a string that has bytes that are no ASCII, or that comes to the end of the room: full is where
// to go when there is none left. It has registers of its own, so that it takes none from the loop for the others.
func (g *Text) quoteWide(t *body.StrVar, to quoting, s body.Str, full *mach.Block) {
	q, none, done := to, g.Block(), g.Block()
	for _, r := range []*mach.Reg{&q.i, &q.o, &q.keep, &q.limit, &q.most} {
		*r = g.Copy(*r)
	}
	skip := g.Imm(0) // how many bytes belong to the escape that was written before
	g.loopFrom(q.i, g.Length(s), s.Cap, func(i mach.Reg, next *mach.Block) {
		word, rest, k, more := g.escapedNext(g.bytes(s, i, asm.Word), '"')
		g.AluI(asm.Sub, skip, 1)
		first := g.BinI(asm.ArSh, skip, 63) // -1 where a character begins
		g.Alu(asm.And, k, first)
		g.choose(skip, more, first)
		after := g.Bin(asm.Add, q.o, k)
		over, last, fits := g.Cold(), g.Cold(), g.Block()
		g.Cond(asm.JSGT, after, q.limit, over, fits)
		g.Set(over)
		g.Cond(asm.JEq, q.limit, q.most, none, last)
		g.Set(last)
		g.Mov(q.keep, q.o)
		g.Mov(q.limit, q.most)
		g.Cond(asm.JSGT, after, q.most, none, fits)
		g.Set(fits)
		g.put(t, q.o, word, asm.DWord)
		// Only the longest escape goes on behind 8 bytes; t has no more room than that behind its end.
		longer := g.BinI(asm.And, k, 8)
		p := g.BinI(asm.And, q.o, int64(emit.Mask(t.Cap)))
		g.Alu(asm.Add, p, longer)
		g.Alu(asm.Add, p, t.At.Base)
		g.AluI(asm.RSh, longer, 3)
		g.Neg(longer)
		g.choose(word, rest, longer)
		g.Store(p, t.At.Off, word, asm.Half)
		g.Mov(q.o, after)
	})
	g.Mov(to.o, q.o)
	g.Jump(done)
	g.Set(none)
	g.Mov(to.o, q.o)
	g.Mov(to.keep, q.keep)
	g.Jump(full)
	g.Set(done)
}

// TextStrN is text_strn(s, n, quoted): at most n bytes of text, as much as a string holds for n <= 0.
func (g *Text) TextStrN(in *ir.Instr) {
	s := g.flat(g.StrOf(in.Args[0]))
	size := g.U.P.Limits.MaxString - 1
	t, done := g.target(in, size, s)
	room, quoted := g.Copy(g.Long(in.Args[1])), g.Long(in.Args[2])
	all, within, marks, plain, end := g.Block(), g.Block(), g.Block(), g.Block(), g.Block()
	g.UnlessI(asm.JSLE, room, 0, all)
	g.CondI(asm.JSGT, room, int64(size), all, within)
	g.Set(all)
	g.MovI(room, int64(size))
	g.Here(within)
	g.CondI(asm.JNE, quoted, 0, marks, plain)
	g.Set(marks)
	g.AtLeast(room, int64(len(`""...`)))
	g.quoteInto(t, s, room, true)
	g.Jump(end)
	g.Set(plain)
	g.quoteInto(t, s, room, false)
	g.Here(end)
	done()
}
