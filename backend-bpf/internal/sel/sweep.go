package sel

import (
	"fmt"

	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/types"
)

// sweepKind says what is done with the elements that match a pattern.
type sweepKind uint8

const (
	sweepDelete sweepKind = iota
	sweepHas
)

// sweep goes over all elements of an array whose key matches in's pattern (all, if it has none) with
// bpf_for_each_map_elem.
func (g *gen) sweep(in *ir.Instr, kind sweepKind) {
	gl := &g.u.Layout.Globals[in.Glob]
	decl := g.u.P.Globals[in.Glob]
	keys := in.Args
	if in.Op == ir.OpMClear {
		keys = nil
	}
	ctx, pattern, far := g.eachArea(gl.KeySize)
	for n, k := range keys {
		if k.Kind == ir.ValStar {
			continue
		}
		col := gl.Keys[n]
		if decl.Keys[n].Type == types.String {
			g.pad(pattern.plus(col.Off), col.Size, decl.Keys[n].Cap, g.strOf(k))
		} else {
			g.storeVal(pattern.plus(col.Off), k)
		}
	}
	g.storeIS(ctx, 0, 0, asm.DWord)
	g.storeIS(ctx, 0, 0, asm.Byte) // the verifier must not take the 0 for a constant
	fn := g.sweeper(in.Glob, keys, kind, far)
	g.call(asm.FnForEachMapElem, aMap(gl.Map), aFunc(fn), aSlot(ctx, 0), aImm(0))
	if kind == sweepHas {
		g.loadS(g.longs[in.Dst], ctx, 0, asm.DWord)
	}
}

// eachArea makes what a callback of bpf_for_each_map_elem is given, on the stack: a word for its answer, then room for a key, or
// the key's address (far) where it is too large for the stack.
func (g *gen) eachArea(keySize int) (ctx mach.Slot, key mem, far bool) {
	if keySize > g.frame.stackMax {
		ctx, key = g.temp(16), g.room(keySize)
		g.storeS(ctx, 8, g.addrP(key), asm.DWord)
		return ctx, key, true
	}
	ctx = g.temp(8 + keySize)
	return ctx, mem{slot: ctx, off: 8}, false
}

// sweeper writes the callback: long (map, key, value, ctx).
func (g *gen) sweeper(glob int, keys []ir.Val, kind sweepKind, far bool) string {
	gl := &g.u.Layout.Globals[glob]
	f := mach.New(fmt.Sprintf("%s_each%d", g.f.Name, len(g.funcs)))
	f.Params, f.Callback = 4, true
	g.funcs = append(g.funcs, f)
	c := code{f: f, pos: g.pos, lock: -1}
	c.set(c.block())
	m, key, ctx := c.copy(mach.R1), c.copy(mach.R2), c.copy(mach.R4)
	pattern, off := ctx, 8
	if far {
		pattern, off = c.get(ctx, 8, asm.DWord), 0
	}
	out := c.block()
	for n, k := range keys {
		if k.Kind == ir.ValStar {
			continue
		}
		for i := gl.Keys[n].Off; i < gl.Keys[n].Off+gl.Keys[n].Size; i += 8 {
			c.unless(asm.JNE, c.get(key, i, asm.DWord), c.get(pattern, off+i, asm.DWord), out)
		}
	}
	ret := int64(0)
	switch kind {
	case sweepDelete:
		c.call(asm.FnMapDeleteElem, aReg(m), aReg(key))
	case sweepHas:
		c.storeI(ctx, 0, 1, asm.DWord)
		c.storeI(ctx, 0, 1, asm.Byte)
		ret = 1 // enough
	}
	c.ret(ret)
	c.set(out)
	c.ret(0)
	return f.Name
}

// makeRoom makes room for a new element in a full array with "%", for the n-th time from 0 that a handler found none.
func (g *gen) makeRoom(glob, n int) {
	if n < 2 {
		g.evict(glob)
		return
	}
	g.thin(glob)
}

// thinned is the most elements that thin removes.
const thinned = 8

// thin removes some elements of the older half, whichever come first. Handlers on several processors that all look for the one that is the oldest
// find the same one, and whose removal comes late has no room; here each gets some of its own.
func (g *gen) thin(glob int) {
	gl, size := &g.u.Layout.Globals[glob], g.u.P.Globals[glob].Size
	ctx := g.temp(16)
	g.storeS(ctx, 0, g.binI(asm.Sub, g.get(g.mapVal(plan.MapControl, plan.CtlSeq), 0, asm.DWord), int64(size/2)), asm.DWord)
	g.storeIS(ctx, 8, 0, asm.DWord)
	g.storeIS(ctx, 8, 0, asm.Byte) // the verifier must not take the number for a constant
	g.call(asm.FnForEachMapElem, aMap(gl.Map), aFunc(g.thinner(glob)), aSlot(ctx, 0), aImm(0))
}

// thinner writes the callback, once for each array.
func (g *gen) thinner(glob int) string {
	gl, size := &g.u.Layout.Globals[glob], g.u.P.Globals[glob].Size
	name := fmt.Sprintf("%s_thin%d", g.h.Name, glob)
	c := g.callback(name, 4)
	if c == nil {
		return name
	}
	m, key, ctx := c.copy(mach.R1), c.copy(mach.R2), c.copy(mach.R4)
	out, enough := c.block(), c.block()
	c.unless(asm.JGT, c.get(mach.R3, gl.SeqOff, asm.DWord), c.get(ctx, 0, asm.DWord), out)
	c.unlessI(asm.JNE, c.call(asm.FnMapDeleteElem, aReg(m), aReg(key)), 0, out)
	n := c.binI(asm.Add, c.get(ctx, 8, asm.DWord), 1)
	c.store(ctx, 8, n, asm.DWord)
	c.store(ctx, 8, n, asm.Byte)
	c.unlessI(asm.JGE, n, int64(max(1, min(thinned, size/8))), enough)
	c.jump(out)
	c.set(enough)
	c.ret(1)
	c.set(out)
	c.ret(0)
	return name
}

// evict removes the oldest element of an array with "%": the one with the smallest number. A look at all of them takes some 15 ns for
// each, so one look also notes those that come next (GlobalLayout.Old). Only an insertion into an array that is full comes here. A
// handler that finds another at the notes goes without.
func (g *gen) evict(glob int) {
	gl := &g.u.Layout.Globals[glob]
	if gl.Old == "" {
		g.evictByLook(glob, false)
		return
	}
	alone, done := g.block(), g.block()
	busy := g.imm(1)
	g.atomic(asm.Xchg, g.mapVal(gl.Old, plan.OldBusy), 0, busy, asm.DWord)
	free := g.block()
	g.condI(asm.JEq, busy, 0, free, alone)
	g.set(alone)
	g.evictByLook(glob, false)
	g.jump(done)
	g.set(free)
	look, end := g.block(), g.block()
	const tries = 2 // of slots that were filled; what they tell of may have been deleted
	for range tries {
		next := g.block()
		// Not a loop of this function: one that is made of steps would lose what lies on the stack, such as the new element's key.
		g.call(asm.FnLoop, aImm(int64(gl.OldSlots)), aFunc(g.filled(glob)), aImm(0), aImm(0))
		i := g.get(g.mapVal(gl.Old, plan.OldNext), 0, asm.DWord)
		g.unlessI(asm.JGE, i, int64(gl.OldSlots), look)
		g.store(g.mapVal(gl.Old, plan.OldNext), 0, g.binI(asm.Add, i, 1), asm.DWord)
		seq := g.bin(asm.Add, i, g.get(g.mapVal(gl.Old, plan.OldBase), 0, asm.DWord))
		p := oldSlot(&g.code, gl, i)
		elem := g.call(asm.FnMapLookupElem, aMap(gl.Map), g.argP(at(p, 8)))
		g.unlessI(asm.JEq, elem, 0, next)
		g.unless(asm.JNE, g.get(elem, gl.SeqOff, asm.DWord), seq, next)
		g.store(g.mapVal(gl.Old, plan.OldLast), 0, seq, asm.DWord)
		g.call(asm.FnMapDeleteElem, aMap(gl.Map), g.argP(at(p, 8)))
		g.jump(end)
		g.set(next)
	}
	g.here(look)
	base := g.binI(asm.Add, g.get(g.mapVal(gl.Old, plan.OldLast), 0, asm.DWord), 1)
	g.store(g.mapVal(gl.Old, plan.OldBase), 0, base, asm.DWord)
	g.storeI(g.mapVal(gl.Old, plan.OldNext), 0, 0, asm.DWord)
	oldest := g.evictByLook(glob, true)
	g.store(g.mapVal(gl.Old, plan.OldLast), 0, oldest, asm.DWord)
	g.here(end)
	g.storeI(g.mapVal(gl.Old, plan.OldBusy), 0, 0, asm.DWord)
	g.here(done)
}

// oldSlot gives the address of slot i of the notes.
func oldSlot(c *code, gl *plan.GlobalLayout, i mach.Reg) mach.Reg {
	slot := c.binI(asm.And, i, int64(gl.OldSlots-1))
	c.aluI(asm.Mul, slot, int64(gl.OldSlot()))
	p := c.mapVal(gl.Old, plan.OldHead)
	c.alu(asm.Add, p, slot)
	return p
}

// callback begins a function of the given name that the kernel calls, nil if the handler has it already.
func (g *gen) callback(name string, params int) *code {
	for _, f := range g.funcs {
		if f.Name == name {
			return nil
		}
	}
	f := mach.New(name)
	f.Params, f.Callback = params, true
	g.funcs = append(g.funcs, f)
	c := &code{f: f, pos: g.pos, lock: -1}
	c.set(c.block())
	return c
}

// filled writes the callback of bpf_loop that goes on to the next slot of the notes that was filled by the last look.
func (g *gen) filled(glob int) string {
	gl := &g.u.Layout.Globals[glob]
	name := fmt.Sprintf("%s_filled%d", g.h.Name, glob)
	c := g.callback(name, 2)
	if c == nil {
		return name
	}
	out := c.block()
	i := c.get(c.mapVal(gl.Old, plan.OldNext), 0, asm.DWord)
	c.unlessI(asm.JGE, i, int64(gl.OldSlots), out)
	seq := c.bin(asm.Add, i, c.get(c.mapVal(gl.Old, plan.OldBase), 0, asm.DWord))
	c.unless(asm.JEq, c.get(oldSlot(c, gl, i), 0, asm.DWord), seq, out)
	c.store(c.mapVal(gl.Old, plan.OldNext), 0, c.binI(asm.Add, i, 1), asm.DWord)
	c.ret(0)
	c.set(out)
	c.ret(1)
	return name
}

// evictByLook looks at all elements and removes the oldest, whose number it gives. note has those that come next noted.
func (g *gen) evictByLook(glob int, note bool) mach.Reg {
	gl := &g.u.Layout.Globals[glob]
	ctx, oldest, far := g.eachArea(gl.KeySize)
	g.zero(oldest, gl.KeySize)
	g.storeIS(ctx, 0, -1, asm.DWord)
	g.storeIS(ctx, 0, 0xff, asm.Byte) // the verifier must not take the number for a constant
	g.call(asm.FnForEachMapElem, aMap(gl.Map), aFunc(g.oldest(glob, far, note)), aSlot(ctx, 0), aImm(0))
	seq := g.getS(ctx, 0, asm.DWord)
	g.call(asm.FnMapDeleteElem, aMap(gl.Map), g.argP(oldest))
	return seq
}

// oldest writes the callback, once for each array and use.
func (g *gen) oldest(glob int, far, note bool) string {
	gl := &g.u.Layout.Globals[glob]
	name := fmt.Sprintf("%s_oldest%d", g.h.Name, glob)
	if note {
		name += "n"
	}
	c := g.callback(name, 4)
	if c == nil {
		return name
	}
	key, ctx := c.copy(mach.R2), c.copy(mach.R4)
	seq := c.get(mach.R3, gl.SeqOff, asm.DWord)
	if note {
		skip := c.block()
		i := c.bin(asm.Sub, seq, c.get(c.mapVal(gl.Old, plan.OldBase), 0, asm.DWord))
		c.unlessI(asm.JGE, i, int64(gl.OldSlots), skip)
		p := oldSlot(c, gl, i)
		c.store(p, 0, seq, asm.DWord)
		for n := 0; n < gl.KeySize; n += 8 {
			c.store(p, 8+n, c.get(key, n, asm.DWord), asm.DWord)
		}
		c.here(skip)
	}
	out := c.block()
	c.unless(asm.JGE, seq, c.get(ctx, 0, asm.DWord), out)
	c.store(ctx, 0, seq, asm.DWord)
	c.store(ctx, 0, seq, asm.Byte)
	to, off := ctx, 8
	if far {
		to, off = c.get(ctx, 8, asm.DWord), 0
	}
	for i := 0; i < gl.KeySize; i += 8 {
		w := c.get(key, i, asm.DWord)
		c.store(to, off+i, w, asm.DWord)
		if !far {
			c.store(to, off+i, w, asm.Byte)
		}
	}
	c.here(out)
	c.ret(0)
	return name
}
