// Package snapshot writes the code that copies what values of a traced program lead to: in front of each instruction
// that makes text of values (the intrinsic "snapshot"), a walk along a plan's table.
//
// In: a handler as a back end is about to translate it, with its calls inlined. Out: the handler with the walk, which
// is IR like all else, so that back ends need to know the few operations on the copied bytes only.
package snapshot

import (
	_ "embed"
	"encoding/binary"
	"strings"
	"sync"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/shape"
)

// The sizes of a snapshot, in bytes: all of it, the longest piece, and the numbers that the walk keeps.
const (
	Bytes    = 8192
	Piece    = 2048
	Numbers  = 512
	PieceTop = 16 // address and length in front of each piece
)

// mostSteps bounds the leaves and objects that a walk looks at.
const mostSteps = 1000

// walkText is a function in the text form of programs, made from walk.stp.
//
//go:embed walk.ir
var walkText string

// walk is walkText, parsed. Nobody may change it.
var walk = sync.OnceValue(func() *ir.Func {
	p, err := ir.ParseText(walkText)
	if err != nil {
		panic("walk.ir: " + err.Error())
	}
	return p.Funcs[0]
})

// Has reports whether f makes text of values.
func Has(f *ir.Func) bool {
	for _, b := range f.Blocks {
		for i := range b.Instrs {
			if is(&b.Instrs[i]) {
				return true
			}
		}
	}
	return false
}

// Of reports whether a built-in function has to do with snapshots.
func Of(name string) bool { return name == "snapshot" || strings.HasPrefix(name, "snap_") }

func is(in *ir.Instr) bool { return in.Op == ir.OpIntr && in.Name == "snapshot" && in.Dst != ir.NoReg }

// Expand gives f with the walks. Their instructions, and those that make the text, have in N which snapshot they are
// for, from 0; count is how many there are. f itself is not changed.
func Expand(f *ir.Func) (out *ir.Func, count int) {
	if f == nil || !Has(f) {
		return f, 0
	}
	out = f.Clone()
	for i := range f.Blocks {
		cur := out.Blocks[i]
		for {
			at := next(cur)
			if at < 0 {
				break
			}
			rest := &ir.Block{Instrs: append([]ir.Instr(nil), cur.Instrs[at:]...), Term: cur.Term}
			in := &rest.Instrs[0]
			in.N = int64(count) + 1 // while it is looked for
			cur.Instrs = append([]ir.Instr(nil), cur.Instrs[:at]...)
			e := expander{out: out, area: int64(count), at: in}
			e.begin(cur, rest)
			count++
			cur = rest
		}
	}
	for _, b := range out.Blocks {
		for i := range b.Instrs {
			if is(&b.Instrs[i]) {
				b.Instrs[i].N--
			}
		}
	}
	return out, count
}

// next finds the first instruction of b that has no walk yet, -1 if there is none.
func next(b *ir.Block) int {
	for i := range b.Instrs {
		if is(&b.Instrs[i]) && b.Instrs[i].N == 0 {
			return i
		}
	}
	return -1
}

type expander struct {
	out  *ir.Func
	area int64
	at   *ir.Instr
}

func (e *expander) block(b *ir.Block) ir.BlockID {
	e.out.Blocks = append(e.out.Blocks, b)
	return ir.BlockID(len(e.out.Blocks) - 1)
}

// begin lets cur put down the words and go on, by way of the walk if there is one, to rest.
func (e *expander) begin(cur, rest *ir.Block) {
	to := e.block(rest)
	in := e.at
	words := in.Args[1:]
	emit := func(name string, args ...ir.Val) {
		cur.Instrs = append(cur.Instrs, ir.Instr{Op: ir.OpIntr, Name: name, Dst: ir.NoReg, Args: args, Glob: -1,
			N: e.area, OnErr: ir.NoBlock, Pos: in.Pos, Via: in.Via})
	}
	emit("snap_root", ir.I(-1), ir.I(int64(len(words))))
	for i, w := range words {
		emit("snap_root", ir.I(int64(i)), w)
	}
	plan, err := shape.Parse(in.Args[0].Str)
	var table []uint64
	if err == nil {
		table = plan.Table()
	}
	if err != nil || !shape.Leads(table) {
		cur.Term = ir.Term{Kind: ir.TermJump, Then: to, OnErr: ir.NoBlock, Pos: in.Pos}
		return
	}
	bytes := make([]byte, 0, 8*len(table))
	for _, v := range table {
		bytes = binary.LittleEndian.AppendUint64(bytes, v)
	}
	args := []uint64{table[shape.TableFlag], table[shape.TableDepth], table[shape.TableElems], table[shape.TableStr],
		table[shape.TableSwiss], table[shape.TableRoots], mostSteps}
	w := walk()
	reg, first := ir.Reg(len(e.out.Regs)), ir.BlockID(len(e.out.Blocks))
	e.out.Regs = append(e.out.Regs, w.Regs...)
	// What never changes takes no room on the stack.
	fixed := map[ir.Reg]int64{}
	for i, p := range w.Params {
		fixed[p] = int64(args[i])
	}
	for _, b := range w.Blocks {
		for i := range b.Instrs {
			delete(fixed, b.Instrs[i].Dst)
		}
		if b.Term.Cond.IsReg() {
			delete(fixed, b.Term.Cond.Reg)
		}
	}
	for i, p := range w.Params {
		if _, ok := fixed[p]; ok {
			continue
		}
		cur.Instrs = append(cur.Instrs, ir.Instr{Op: ir.OpMov, Dst: p + reg, Args: []ir.Val{ir.I(int64(args[i]))},
			Glob: -1, OnErr: ir.NoBlock, Pos: in.Pos})
	}
	cur.Term = ir.Term{Kind: ir.TermJump, Then: first, OnErr: ir.NoBlock, Pos: in.Pos}
	id := func(b ir.BlockID) ir.BlockID {
		if b == ir.NoBlock {
			return to
		}
		return b + first
	}
	val := func(v ir.Val) ir.Val {
		if v.IsReg() {
			if n, ok := fixed[v.Reg]; ok {
				return ir.I(n)
			}
			v.Reg += reg
		}
		return v
	}
	vals := func(vs []ir.Val) (out []ir.Val) {
		for _, v := range vs {
			out = append(out, val(v))
		}
		return out
	}
	for _, b := range w.Blocks {
		n := &ir.Block{Term: b.Term}
		for _, src := range b.Instrs {
			src.Args = vals(src.Args)
			if src.Dst != ir.NoReg {
				src.Dst += reg
			}
			src.OnErr, src.Pos, src.Via = id(src.OnErr), in.Pos, in.Via
			if src.Op == ir.OpIntr {
				src.N = e.area
				if src.Name == "snap_table" {
					src.Args[1] = ir.S(string(bytes))
				}
			}
			n.Instrs = append(n.Instrs, src)
		}
		t := &n.Term
		t.Cond, t.Args, t.Pos = val(t.Cond), vals(t.Args), in.Pos
		switch t.Kind {
		case ir.TermJump:
			t.Then = id(t.Then)
		case ir.TermBranch:
			t.Then, t.Else = id(t.Then), id(t.Else)
		case ir.TermReturn, ir.TermFail:
			*t = ir.Term{Kind: ir.TermJump, Then: to, Pos: in.Pos}
		}
		t.OnErr = ir.NoBlock
		e.out.Blocks = append(e.out.Blocks, n)
	}
}
