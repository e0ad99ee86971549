package sel

import (
	"fmt"

	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
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

// evict removes the oldest element of an array with "%": the one with the smallest number. All of them are looked
// at, some 15 ns each; only an insertion into an array that is full comes here.
func (g *gen) evict(glob int) {
	gl := &g.u.Layout.Globals[glob]
	ctx, oldest, far := g.eachArea(gl.KeySize)
	g.zero(oldest, gl.KeySize)
	g.storeIS(ctx, 0, -1, asm.DWord)
	g.storeIS(ctx, 0, 0xff, asm.Byte) // the verifier must not take the number for a constant
	g.call(asm.FnForEachMapElem, aMap(gl.Map), aFunc(g.oldest(glob, far)), aSlot(ctx, 0), aImm(0))
	g.call(asm.FnMapDeleteElem, aMap(gl.Map), g.argP(oldest))
}

// oldest writes the callback, once for each array.
func (g *gen) oldest(glob int, far bool) string {
	gl := &g.u.Layout.Globals[glob]
	name := fmt.Sprintf("%s_oldest%d", g.h.Name, glob)
	for _, f := range g.funcs {
		if f.Name == name {
			return name
		}
	}
	f := mach.New(name)
	f.Params, f.Callback = 4, true
	g.funcs = append(g.funcs, f)
	c := code{f: f, pos: g.pos, lock: -1}
	c.set(c.block())
	key, ctx := c.copy(mach.R2), c.copy(mach.R4)
	seq := c.get(mach.R3, gl.SeqOff, asm.DWord)
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
