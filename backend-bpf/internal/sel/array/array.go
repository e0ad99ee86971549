// Package array writes the code for globals, which lie in maps of the kernel: scalars, arrays and statistics.
//
// In: instructions on globals, with their layout (package maps). Out: code that reads and changes them.
package array

import (
	"github.com/cilium/ebpf/asm"
	"github.com/gostap/gostap/backend-bpf/internal/sel/text"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/maps"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/backend-bpf/internal/sel/body"
	"github.com/gostap/gostap/backend-bpf/internal/sel/emit"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/types"
)

// Arrays writes what handlers do with globals.
type Arrays struct {
	*body.Body
	str *text.Text
}

// New gives the Arrays of a handler.
func New(b *body.Body, str *text.Text) *Arrays { return &Arrays{b, str} }

// key builds the key of an array element.
func (g *Arrays) key(i int, vals []ir.Val) emit.Mem {
	gl := &g.U.Layout.Globals[i]
	decl := g.U.P.Globals[i]
	p := g.Room(gl.KeySize)
	for n, col := range gl.Keys {
		if decl.Keys[n].Type == types.String {
			g.str.Pad(p.Plus(col.Off), col.Size, decl.Keys[n].Cap, g.StrOf(vals[n]))
			continue
		}
		g.StoreVal(p.Plus(col.Off), vals[n])
	}
	return p
}

func (g *Arrays) lookup(i int, key emit.Mem) mach.Reg {
	return g.Call(asm.FnMapLookupElem, emit.Map(g.U.Layout.Globals[i].Map), g.ArgP(key))
}

// sequence gives the number of an insertion.
func (g *Arrays) sequence(p emit.Mem) {
	n := g.Imm(1)
	g.Atomic(asm.FetchAdd, g.MapVal(plan.MapControl, 0), plan.CtlSeq, n, asm.DWord)
	g.AluI(asm.Add, n, 1)
	g.StoreP(p, 0, n, asm.DWord)
}

// insert enters a new element with the value that fill writes; found is gone to with the element in
// elem when another CPU entered it first, onward when it is in. Where the array wraps, the oldest element makes
// room; handlers that do that at the same time may make room for each other and evict one more. One that others have
// been ahead of several times evicts some of the older half.
func (g *Arrays) insert(in *ir.Instr, key emit.Mem, elem mach.Reg, fill func() emit.Arg, found, onward *mach.Block) {
	gl := &g.U.Layout.Globals[in.Glob]
	wrap := maps.EvictsOldest(g.U.P.Globals[in.Glob])
	full := g.Cold()
	val := fill()
	tries := 2
	if wrap {
		tries = 5
	}
	for i := range tries {
		r := g.Call(asm.FnMapUpdateElem, emit.Map(gl.Map), g.ArgP(key), val, emit.Const(emit.UpdateNew))
		other, exists, again := g.Cold(), g.Cold(), g.Cold()
		g.CondInt(asm.JEq, r, 0, onward, other)
		g.CondInt(asm.JEq, r, emit.ErrnoExists, exists, full)
		if wrap {
			g.makeRoom(in.Glob, i)
			g.Jump(again)
			full = g.Cold()
		}
		g.Set(exists)
		g.Mov(elem, g.lookup(in.Glob, key))
		g.CondI(asm.JNE, elem, 0, found, again)
		g.Set(again)
	}
	// Entered and deleted by others, or filled up by others, time and again between two instructions of ours.
	g.Raise(ir.ErrScratch, mach.None, mach.None, in.OnErr)
	g.Set(full)
	g.Raise(ir.ErrMapFull, g.Imm(int64(in.Glob)), mach.None, in.OnErr)
}

// longElem gives the value of a new element: its insertion number, if it has one, and the Long.
func (g *Arrays) longElem(i int, v ir.Val) func() emit.Arg {
	return func() emit.Arg {
		gl := &g.U.Layout.Globals[i]
		p := g.Room(gl.ValueOff + 8)
		if gl.SeqOff >= 0 {
			g.sequence(p.Plus(gl.SeqOff))
		}
		g.StoreVal(p.Plus(gl.ValueOff), v)
		return g.ArgP(p)
	}
}

func split(in *ir.Instr) (keys []ir.Val, v ir.Val) {
	n := len(in.Args) - 1
	return in.Args[:n], in.Args[n]
}

// MapGet reads an element; a missing one is 0 or "".
func (g *Arrays) MapGet(in *ir.Instr) {
	gl := &g.U.Layout.Globals[in.Glob]
	v := g.lookup(in.Glob, g.key(in.Glob, in.Args))
	have, none, done := g.Block(), g.Block(), g.Block()
	g.CondI(asm.JEq, v, 0, none, have)
	if g.U.P.Globals[in.Glob].Type == types.String {
		dst := g.Strs[in.Dst]
		g.str.Assign(dst, body.Padded(emit.At(v, gl.ValueOff), g.U.P.Globals[in.Glob].Cap))
		g.Jump(done)
		g.Set(none)
		g.str.Assign(dst, body.Literal(""))
	} else {
		dst := g.Longs[in.Dst]
		g.Load(dst, v, gl.ValueOff, asm.DWord)
		g.Jump(done)
		g.Set(none)
		g.OneOf(dst, 0)
	}
	g.Here(done)
}

// MapSet writes an element. Numbers are stored where they lie; strings replace the whole element, so
// that nobody reads half of one.
func (g *Arrays) MapSet(in *ir.Instr) {
	keys, v := split(in)
	gl := &g.U.Layout.Globals[in.Glob]
	decl := g.U.P.Globals[in.Glob]
	key := g.key(in.Glob, keys)
	if decl.Type == types.String {
		g.mapSetStr(in, key, v)
		return
	}
	elem := g.lookup(in.Glob, key)
	slow, found, done := g.Cold(), g.Block(), g.Block()
	g.CondI(asm.JEq, elem, 0, slow, found)
	g.StoreVal(emit.At(elem, gl.ValueOff), v)
	g.Jump(done)
	g.Set(slow)
	g.insert(in, key, elem, g.longElem(in.Glob, v), found, done)
	g.Set(done)
}

func (g *Arrays) mapSetStr(in *ir.Instr, key emit.Mem, v ir.Val) {
	gl := &g.U.Layout.Globals[in.Glob]
	val := g.Room(gl.ValueOff + gl.ValueSize)
	g.str.Pad(val.Plus(gl.ValueOff), gl.ValueSize, g.U.P.Globals[in.Glob].Cap, g.StrOf(v))
	if gl.SeqOff >= 0 {
		elem := g.lookup(in.Glob, key)
		fresh, put := g.Cold(), g.Block()
		g.UnlessI(asm.JEq, elem, 0, fresh)
		g.StoreP(val, gl.SeqOff, g.Get(elem, gl.SeqOff, asm.DWord), asm.DWord)
		g.Jump(put)
		g.Set(fresh)
		g.sequence(val.Plus(gl.SeqOff))
		g.Here(put)
	}
	full, done := g.Cold(), g.Block()
	tries := 1
	if maps.EvictsOldest(g.U.P.Globals[in.Glob]) {
		tries = 5
	}
	for i := range tries {
		r := g.Call(asm.FnMapUpdateElem, emit.Map(gl.Map), g.ArgP(key), g.ArgP(val), emit.Const(emit.UpdateAny))
		g.CondInt(asm.JEq, r, 0, done, full)
		if i < tries-1 {
			g.makeRoom(in.Glob, i)
			full = g.Cold()
		}
	}
	g.Set(full)
	g.Raise(ir.ErrMapFull, g.Imm(int64(in.Glob)), mach.None, in.OnErr)
	g.Set(done)
}

// MapAdd adds to an element where it lies; a missing one is entered.
func (g *Arrays) MapAdd(in *ir.Instr) {
	keys, v := split(in)
	gl := &g.U.Layout.Globals[in.Glob]
	wanted := in.Dst != ir.NoReg && g.Uses[in.Dst] > 0
	key := g.key(in.Glob, keys)
	elem := g.lookup(in.Glob, key)
	slow, found, entered, done := g.Cold(), g.Block(), g.Cold(), g.Block()
	g.CondI(asm.JEq, elem, 0, slow, found)
	if wanted {
		old := g.Reg()
		g.Into(old, v)
		g.Atomic(asm.FetchAdd, elem, gl.ValueOff, old, asm.DWord)
		g.Mov(g.Longs[in.Dst], old)
	} else {
		g.Atomic(asm.AddAtomic, elem, gl.ValueOff, g.Long(v), asm.DWord)
	}
	g.Jump(done)
	g.Set(slow)
	g.insert(in, key, elem, g.longElem(in.Glob, v), found, entered)
	g.Set(entered)
	if wanted {
		g.MovI(g.Longs[in.Dst], 0)
	}
	g.Here(done)
}

// MapHas asks for an element.
func (g *Arrays) MapHas(in *ir.Instr) {
	dst := g.Longs[in.Dst]
	if stars(in.Args) {
		g.matching(in, hasMatching)
		return
	}
	v := g.lookup(in.Glob, g.key(in.Glob, in.Args))
	yes, no, done := g.Block(), g.Block(), g.Block()
	g.CondI(asm.JEq, v, 0, no, yes)
	g.MovI(dst, 1)
	g.Jump(done)
	g.Set(no)
	g.MovI(dst, 0)
	g.Here(done)
}

// MapDel deletes an element; a missing one is no error.
func (g *Arrays) MapDel(in *ir.Instr) {
	if stars(in.Args) {
		g.matching(in, deleteMatching)
		return
	}
	g.Call(asm.FnMapDeleteElem, emit.Map(g.U.Layout.Globals[in.Glob].Map), g.ArgP(g.key(in.Glob, in.Args)))
}

// stars reports whether a key is a pattern.
func stars(keys []ir.Val) bool {
	for _, k := range keys {
		if k.Kind == ir.ValStar {
			return true
		}
	}
	return false
}
