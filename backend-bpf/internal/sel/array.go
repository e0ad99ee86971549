package sel

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/maps"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/types"
)

// Flags and results of map updates.
const (
	updateAny   = 0
	updateNew   = 1
	errnoExists = -17
)

// key builds the key of an array element.
func (g *gen) key(i int, vals []ir.Val) mem {
	gl := &g.u.Layout.Globals[i]
	decl := g.u.P.Globals[i]
	p := g.room(gl.KeySize)
	for n, col := range gl.Keys {
		if decl.Keys[n].Type == types.String {
			g.pad(p.plus(col.Off), col.Size, decl.Keys[n].Cap, g.strOf(vals[n]))
			continue
		}
		g.storeVal(p.plus(col.Off), vals[n])
	}
	return p
}

// storeVal writes a Long operand.
func (g *gen) storeVal(p mem, v ir.Val) {
	if v.Kind == ir.ValInt {
		g.storeIP(p, 0, v.Int, asm.DWord)
		return
	}
	g.storeP(p, 0, g.long(v), asm.DWord)
}

func (g *gen) lookup(i int, key mem) mach.Reg {
	return g.call(asm.FnMapLookupElem, aMap(g.u.Layout.Globals[i].Map), g.argP(key))
}

// sequence gives the number of an insertion.
func (g *gen) sequence(p mem) {
	n := g.imm(1)
	g.atomic(asm.FetchAdd, g.mapVal(plan.MapControl, 0), plan.CtlSeq, n, asm.DWord)
	g.aluI(asm.Add, n, 1)
	g.storeP(p, 0, n, asm.DWord)
}

// insert enters a new element with the value that fill writes; found is gone to with the element in
// elem when another CPU entered it first, onward when it is in. Where the array wraps, the oldest element makes
// room; handlers that do that at the same time may make room for each other and evict one more. One that others have been ahead
// of several times evicts some of the older half.
func (g *gen) insert(in *ir.Instr, key mem, elem mach.Reg, fill func() arg, found, onward *mach.Block) {
	gl := &g.u.Layout.Globals[in.Glob]
	wrap := maps.EvictsOldest(g.u.P.Globals[in.Glob])
	full := g.cold()
	val := fill()
	tries := 2
	if wrap {
		tries = 5
	}
	for i := range tries {
		r := g.call(asm.FnMapUpdateElem, aMap(gl.Map), g.argP(key), val, aImm(updateNew))
		other, exists, again := g.cold(), g.cold(), g.cold()
		g.condInt(asm.JEq, r, 0, onward, other)
		g.condInt(asm.JEq, r, errnoExists, exists, full)
		if wrap {
			g.makeRoom(in.Glob, i)
			g.jump(again)
			full = g.cold()
		}
		g.set(exists)
		g.mov(elem, g.lookup(in.Glob, key))
		g.condI(asm.JNE, elem, 0, found, again)
		g.set(again)
	}
	// Entered and deleted by others, or filled up by others, time and again between two instructions of ours.
	g.raise(ir.ErrScratch, mach.None, mach.None, in.OnErr)
	g.set(full)
	g.raise(ir.ErrMapFull, g.imm(int64(in.Glob)), mach.None, in.OnErr)
}

// longElem gives the value of a new element: its insertion number, if it has one, and the Long.
func (g *gen) longElem(i int, v ir.Val) func() arg {
	return func() arg {
		gl := &g.u.Layout.Globals[i]
		p := g.room(gl.ValueOff + 8)
		if gl.SeqOff >= 0 {
			g.sequence(p.plus(gl.SeqOff))
		}
		g.storeVal(p.plus(gl.ValueOff), v)
		return g.argP(p)
	}
}

func split(in *ir.Instr) (keys []ir.Val, v ir.Val) {
	n := len(in.Args) - 1
	return in.Args[:n], in.Args[n]
}

// mapGet reads an element; a missing one is 0 or "".
func (g *gen) mapGet(in *ir.Instr) {
	gl := &g.u.Layout.Globals[in.Glob]
	v := g.lookup(in.Glob, g.key(in.Glob, in.Args))
	have, none, done := g.block(), g.block(), g.block()
	g.condI(asm.JEq, v, 0, none, have)
	if g.u.P.Globals[in.Glob].Type == types.String {
		dst := g.strs[in.Dst]
		g.assign(dst, padded(at(v, gl.ValueOff), g.u.P.Globals[in.Glob].Cap))
		g.jump(done)
		g.set(none)
		g.assign(dst, literal(""))
	} else {
		dst := g.longs[in.Dst]
		g.load(dst, v, gl.ValueOff, asm.DWord)
		g.jump(done)
		g.set(none)
		g.oneOf(dst, 0)
	}
	g.here(done)
}

// mapSet writes an element. Numbers are stored where they lie; strings replace the whole element, so
// that nobody reads half of one.
func (g *gen) mapSet(in *ir.Instr) {
	keys, v := split(in)
	gl := &g.u.Layout.Globals[in.Glob]
	decl := g.u.P.Globals[in.Glob]
	key := g.key(in.Glob, keys)
	if decl.Type == types.String {
		g.mapSetStr(in, key, v)
		return
	}
	elem := g.lookup(in.Glob, key)
	slow, found, done := g.cold(), g.block(), g.block()
	g.condI(asm.JEq, elem, 0, slow, found)
	g.storeVal(at(elem, gl.ValueOff), v)
	g.jump(done)
	g.set(slow)
	g.insert(in, key, elem, g.longElem(in.Glob, v), found, done)
	g.set(done)
}

func (g *gen) mapSetStr(in *ir.Instr, key mem, v ir.Val) {
	gl := &g.u.Layout.Globals[in.Glob]
	val := g.room(gl.ValueOff + gl.ValueSize)
	g.pad(val.plus(gl.ValueOff), gl.ValueSize, g.u.P.Globals[in.Glob].Cap, g.strOf(v))
	if gl.SeqOff >= 0 {
		elem := g.lookup(in.Glob, key)
		fresh, put := g.cold(), g.block()
		g.unlessI(asm.JEq, elem, 0, fresh)
		g.storeP(val, gl.SeqOff, g.get(elem, gl.SeqOff, asm.DWord), asm.DWord)
		g.jump(put)
		g.set(fresh)
		g.sequence(val.plus(gl.SeqOff))
		g.here(put)
	}
	full, done := g.cold(), g.block()
	tries := 1
	if maps.EvictsOldest(g.u.P.Globals[in.Glob]) {
		tries = 5
	}
	for i := range tries {
		r := g.call(asm.FnMapUpdateElem, aMap(gl.Map), g.argP(key), g.argP(val), aImm(updateAny))
		g.condInt(asm.JEq, r, 0, done, full)
		if i < tries-1 {
			g.makeRoom(in.Glob, i)
			full = g.cold()
		}
	}
	g.set(full)
	g.raise(ir.ErrMapFull, g.imm(int64(in.Glob)), mach.None, in.OnErr)
	g.set(done)
}

// mapAdd adds to an element where it lies; a missing one is entered.
func (g *gen) mapAdd(in *ir.Instr) {
	keys, v := split(in)
	gl := &g.u.Layout.Globals[in.Glob]
	wanted := in.Dst != ir.NoReg && g.uses[in.Dst] > 0
	key := g.key(in.Glob, keys)
	elem := g.lookup(in.Glob, key)
	slow, found, entered, done := g.cold(), g.block(), g.cold(), g.block()
	g.condI(asm.JEq, elem, 0, slow, found)
	if wanted {
		old := g.reg()
		g.into(old, v)
		g.atomic(asm.FetchAdd, elem, gl.ValueOff, old, asm.DWord)
		g.mov(g.longs[in.Dst], old)
	} else {
		g.atomic(asm.AddAtomic, elem, gl.ValueOff, g.long(v), asm.DWord)
	}
	g.jump(done)
	g.set(slow)
	g.insert(in, key, elem, g.longElem(in.Glob, v), found, entered)
	g.set(entered)
	if wanted {
		g.movI(g.longs[in.Dst], 0)
	}
	g.here(done)
}

// mapHas asks for an element.
func (g *gen) mapHas(in *ir.Instr) {
	dst := g.longs[in.Dst]
	if stars(in.Args) {
		g.sweep(in, sweepHas)
		return
	}
	v := g.lookup(in.Glob, g.key(in.Glob, in.Args))
	yes, no, done := g.block(), g.block(), g.block()
	g.condI(asm.JEq, v, 0, no, yes)
	g.movI(dst, 1)
	g.jump(done)
	g.set(no)
	g.movI(dst, 0)
	g.here(done)
}

// mapDel deletes an element; a missing one is no error.
func (g *gen) mapDel(in *ir.Instr) {
	if stars(in.Args) {
		g.sweep(in, sweepDelete)
		return
	}
	g.call(asm.FnMapDeleteElem, aMap(g.u.Layout.Globals[in.Glob].Map), g.argP(g.key(in.Glob, in.Args)))
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
