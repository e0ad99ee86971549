package opt

import (
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/textfmt"
	"github.com/gostap/gostap/compiler/types"
)

// A table of value_text() as a function: values that have names are found by a few comparisons and stand, in runs, in a
// constant table of texts, from which the intrinsic table_text takes one; flags are tested one by one.

const (
	// runGap is the longest gap between two named values that is filled with texts of those between them.
	runGap = 8
	// mostRuns and mostFlags bound what is made of a table; longer ones stay with the host.
	mostRuns  = 500
	mostFlags = 200
)

// spellable reports whether a function can be made of a table.
func spellable(spec string) bool {
	if strings.IndexByte(spec, '\n') >= 0 {
		return false // which ends texts in tables
	}
	if spec == "" || spec[0] != '|' && spec[0] != '=' {
		return true
	}
	t := textfmt.TableOf(spec)
	if t.Flags {
		return len(t.Rows) <= mostFlags && !slices.ContainsFunc(t.Rows, func(r textfmt.Row) bool {
			return r.Name == ""
		})
	}
	rs := runsOf(t)
	return len(rs) <= mostRuns && len(rs.texts(spec)) <= ir.MaxTable
}

// run is a range of values whose texts stand one behind the other.
type run struct{ first, last int64 }

type runs []run

// runsOf finds the runs of the values that t names, in order.
func runsOf(t *textfmt.Table) runs {
	var named []int64
	for _, r := range t.Rows {
		named = append(named, int64(r.Value))
	}
	return runsOver(named)
}

func runsOver(named []int64) (rs runs) {
	slices.Sort(named)
	for _, v := range named {
		if n := len(rs) - 1; n >= 0 && v-rs[n].last >= 0 && v-rs[n].last <= runGap {
			rs[n].last = v
			continue
		}
		rs = append(rs, run{v, v})
	}
	return rs
}

// texts is the table of what spec says of all values in the runs.
func (rs runs) texts(spec string) string {
	var b strings.Builder
	for _, r := range rs {
		for v := r.first; ; v++ {
			b.WriteString(textfmt.Decode(spec, v))
			b.WriteByte('\n')
			if v == r.last || b.Len() > ir.MaxTable {
				break
			}
		}
	}
	return b.String()
}

// valueSpeller makes the function that gives the text of its argument by spec, for p.
func valueSpeller(p *ir.Program, name, spec string) *ir.Func {
	b := ir.NewBuilder(name)
	most := min(textfmt.DecodeCap(spec), max(p.Limits.MaxString-1, 0))
	s := &speller{p: p, b: b, spec: spec, v: ir.R(b.Param("v", types.Long, 0)), most: most}
	b.Result(types.String, most)
	kind := byte(0)
	if spec != "" {
		kind = spec[0]
	}
	switch kind {
	case '|':
		s.flags(textfmt.TableOf(spec))
	case '=':
		t := textfmt.TableOf(spec)
		s.tree(runsOf(t), s.formatted(t.Other))
	case '?':
		below, on := b.Block(), b.Block()
		b.Branch(b.Bin(ir.OpLt, s.v, ir.I(0)), below, on)
		b.SetBlock(below)
		b.Return(ir.S(""))
		b.SetBlock(on)
		s.formatted(spec[1:])()
	case 'r', 'x', 'o':
		below, on := b.Block(), b.Block()
		b.Branch(b.Bin(ir.OpULt, ir.I(-4096), s.v), below, on)
		b.SetBlock(below)
		s.tree(errors(), s.formatted("%d"))
		b.SetBlock(on)
		s.formatted(map[byte]string{'r': "%d", 'x': "0x%x", 'o': "0%o"}[kind])()
	default:
		s.formatted("%d")()
	}
	return b.Finish()
}

// errors are the runs of the negative error numbers with names.
func errors() runs {
	var named []int64
	for n := 1; n < 4096; n++ {
		if textfmt.ErrnoName(n) != "" {
			named = append(named, int64(-n))
		}
	}
	return runsOver(named)
}

// speller is a function that is being made.
type speller struct {
	p    *ir.Program
	b    *ir.Builder
	spec string
	v    ir.Val
	most int // bytes of a text
}

// text makes a string of a format in textfmt's text form.
func (s *speller) text(args []ir.Val, pieces ...ir.Piece) ir.Val {
	r := s.b.Str("", s.most)
	f := &ir.Format{}
	for _, p := range pieces {
		if p.Conv != 0 || p.Lit != "" {
			f.Pieces = append(f.Pieces, p)
		}
	}
	s.b.Sprint(s.p.AddFormat(f), r, args...)
	return ir.R(r)
}

// formatted ends the function with the value in place of the one directive of a format, as textfmt.Decode reads it.
func (s *speller) formatted(format string) func() {
	return func() {
		i := strings.IndexByte(format, '%')
		if i < 0 || strings.TrimPrefix(format[i+1:], "#") == "" {
			s.b.Return(ir.S(format[:min(len(format), s.most)]))
			return
		}
		before, rest := format[:i], format[i+1:]
		rest, alt := strings.CutPrefix(rest, "#")
		conv := ir.Conv('d')
		switch rest[0] {
		case 'x':
			if conv = ir.Conv('x'); alt {
				before += "0x" // of 0 as well
			}
		case 'o':
			if conv = ir.Conv('o'); alt {
				zero, on := s.b.Block(), s.b.Block()
				s.b.Branch(s.v, on, zero)
				s.b.SetBlock(zero)
				s.b.Return(s.text(nil, ir.Literal(before+"0"+rest[1:])))
				s.b.SetBlock(on)
				before += "0"
			}
		case 'u':
			conv = ir.Conv('u')
		}
		s.b.Return(s.text([]ir.Val{s.v}, ir.Literal(before), conv, ir.Literal(rest[1:])))
	}
}

// tree ends the function with the text of a value in the runs, or with other.
func (s *speller) tree(rs runs, other func()) {
	b := s.b
	if len(rs) == 0 {
		other()
		return
	}
	table := rs.texts(s.spec)
	at := b.Long("at")
	found, not := b.Block(), b.Block()
	start := make([]int64, len(rs))
	for i := 1; i < len(rs); i++ {
		start[i] = start[i-1] + rs[i-1].last - rs[i-1].first + 1
	}
	var find func(lo, hi int)
	find = func(lo, hi int) {
		if hi-lo > 1 {
			mid := (lo + hi) / 2
			left, right := b.Block(), b.Block()
			b.Branch(b.Bin(ir.OpLt, s.v, ir.I(rs[mid].first)), left, right)
			b.SetBlock(left)
			find(lo, mid)
			b.SetBlock(right)
			find(mid, hi)
			return
		}
		r := rs[lo]
		in := b.Block()
		if r.first == r.last {
			b.Branch(b.Bin(ir.OpEq, s.v, ir.I(r.first)), in, not)
			b.SetBlock(in)
			b.Mov(at, ir.I(start[lo]))
		} else {
			off := b.Bin(ir.OpSub, s.v, ir.I(r.first))
			b.Branch(b.Bin(ir.OpULt, off, ir.I(r.last-r.first+1)), in, not)
			b.SetBlock(in)
			b.Op(ir.OpAdd, at, off, ir.I(start[lo]))
		}
		b.Jump(found)
	}
	find(0, len(rs))
	b.SetBlock(found)
	r := b.Str("", s.most)
	b.Intr("table_text", r, ir.R(at), ir.S(table))
	b.Return(ir.R(r))
	b.SetBlock(not)
	other()
}

// flags ends the function with the names of the flags that are set. There are two chains of tests: one as long as none
// was found, where the text is empty, and one behind the first.
func (s *speller) flags(t *textfmt.Table) {
	b := s.b
	text, left := b.Str("text", s.most), b.Long("left")
	b.Mov(text, ir.S(""))
	b.Mov(left, s.v)
	cut := func(text string) ir.Val { return ir.S(text[:min(len(text), s.most)]) }
	var rows []textfmt.Row
	for _, r := range t.Rows {
		if r.Mask != 0 && r.Value&^r.Mask == 0 {
			rows = append(rows, r)
		}
	}
	none, some := make([]ir.BlockID, len(rows)+1), make([]ir.BlockID, len(rows)+1)
	for i := range none {
		none[i] = b.Block()
		if i > 0 {
			some[i] = b.Block()
		}
	}
	b.Jump(none[0])
	before := uint64(0) // the bits of the masks so far
	for i, r := range rows {
		mask, value := ir.I(int64(r.Mask)), ir.I(int64(r.Value))
		b.SetBlock(none[i])
		first := b.Block()
		b.Branch(b.Bin(ir.OpEq, b.Bin(ir.OpAnd, s.v, mask), value), first, none[i+1])
		b.SetBlock(first)
		b.Mov(text, cut(r.Name))
		b.Op(ir.OpAnd, left, ir.R(left), ir.I(int64(^r.Mask)))
		b.Jump(some[i+1])
		overlap := before&r.Mask != 0
		before |= r.Mask
		if i == 0 {
			continue
		}
		b.SetBlock(some[i])
		further := b.Block()
		cond := b.Bin(ir.OpEq, b.Bin(ir.OpAnd, s.v, mask), value)
		if r.Value != 0 && overlap {
			cond = b.Bin(ir.OpAnd, cond, b.Bin(ir.OpNe, b.Bin(ir.OpAnd, ir.R(left), mask), ir.I(0)))
		}
		b.Branch(cond, further, some[i+1])
		b.SetBlock(further)
		b.Op(ir.OpCat, text, ir.R(text), cut("|"+r.Name))
		b.Op(ir.OpAnd, left, ir.R(left), ir.I(int64(^r.Mask)))
		b.Jump(some[i+1])
	}
	number := func(zero ir.Val, pieces []ir.Piece, args ...ir.Val) {
		done, more := b.Block(), b.Block()
		b.Branch(ir.R(left), more, done)
		b.SetBlock(done)
		b.Return(zero)
		b.SetBlock(more)
		b.Return(s.text(args, pieces...))
	}
	b.SetBlock(none[len(rows)])
	number(cut(t.Other), []ir.Piece{ir.Literal("0x"), ir.Conv('x')}, ir.R(left))
	if len(rows) == 0 {
		return
	}
	b.SetBlock(some[len(rows)])
	number(ir.R(text), []ir.Piece{ir.Conv('s'), ir.Literal("|0x"), ir.Conv('x')}, ir.R(text), ir.R(left))
}
