package array

import (
	"fmt"

	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/backend-bpf/internal/sel/emit"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/types"
)

// matchingKind says what is done with the elements that match a pattern.
type matchingKind uint8

const (
	deleteMatching matchingKind = iota
	hasMatching
)

// matching goes over all elements of an array whose key matches in's pattern (all, if it has none) with
// bpf_for_each_map_elem.
func (g *Arrays) matching(in *ir.Instr, kind matchingKind) {
	gl := &g.U.Layout.Globals[in.Glob]
	decl := g.U.P.Globals[in.Glob]
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
			g.str.Pad(pattern.Plus(col.Off), col.Size, decl.Keys[n].Cap, g.StrOf(k))
		} else {
			g.StoreVal(pattern.Plus(col.Off), k)
		}
	}
	g.StoreIS(ctx, 0, 0, asm.DWord)
	g.StoreIS(ctx, 0, 0, asm.Byte) // the verifier must not take the 0 for a constant
	fn := g.matchingFunc(in.Glob, keys, kind, far)
	g.Call(asm.FnForEachMapElem, emit.Map(gl.Map), emit.Fn(fn), emit.OnStack(ctx, 0), emit.Const(0))
	if kind == hasMatching {
		g.LoadS(g.Longs[in.Dst], ctx, 0, asm.DWord)
	}
}

// eachArea makes what a callback of bpf_for_each_map_elem is given, on the stack: a word for its answer, then room for
// a key, or the key's address (far) where it is too large for the stack.
func (g *Arrays) eachArea(keySize int) (ctx mach.Slot, key emit.Mem, far bool) {
	if keySize > g.Frame.StackMax {
		ctx, key = g.Temp(16), g.Room(keySize)
		g.StoreS(ctx, 8, g.AddrP(key), asm.DWord)
		return ctx, key, true
	}
	ctx = g.Temp(8 + keySize)
	return ctx, emit.Mem{Slot: ctx, Off: 8}, false
}

// matchingFunc writes the callback: long (map, key, value, ctx).
func (g *Arrays) matchingFunc(glob int, keys []ir.Val, kind matchingKind, far bool) string {
	gl := &g.U.Layout.Globals[glob]
	f := mach.New(fmt.Sprintf("%s_each%d", g.F.Name, len(g.Funcs)))
	f.Params, f.Callback = 4, true
	g.Funcs = append(g.Funcs, f)
	c := emit.Code{F: f, Pos: g.Pos, Lock: -1}
	c.Set(c.Block())
	m, key, ctx := c.Copy(mach.R1), c.Copy(mach.R2), c.Copy(mach.R4)
	pattern, off := ctx, 8
	if far {
		pattern, off = c.Get(ctx, 8, asm.DWord), 0
	}
	out := c.Block()
	for n, k := range keys {
		if k.Kind == ir.ValStar {
			continue
		}
		for i := gl.Keys[n].Off; i < gl.Keys[n].Off+gl.Keys[n].Size; i += 8 {
			c.Unless(asm.JNE, c.Get(key, i, asm.DWord), c.Get(pattern, off+i, asm.DWord), out)
		}
	}
	ret := int64(0)
	switch kind {
	case deleteMatching:
		c.Call(asm.FnMapDeleteElem, emit.InReg(m), emit.InReg(key))
	case hasMatching:
		c.StoreI(ctx, 0, 1, asm.DWord)
		c.StoreI(ctx, 0, 1, asm.Byte)
		ret = 1 // enough
	}
	c.Ret(ret)
	c.Set(out)
	c.Ret(0)
	return f.Name
}

// makeRoom makes room for a new element in a full array with "%", for the n-th time from 0 that a handler found none.
func (g *Arrays) makeRoom(glob, n int) {
	if n < 2 {
		g.evict(glob)
		return
	}
	g.thin(glob)
}

// thinned is the most elements that thin removes.
const thinned = 8

// thin removes some elements of the older half, whichever come first. Handlers on several processors that all look for
// the one that is the oldest find the same one, and whose removal comes late has no room; here each gets some of its
// own.
func (g *Arrays) thin(glob int) {
	gl, size := &g.U.Layout.Globals[glob], g.U.P.Globals[glob].Size
	ctx := g.Temp(16)
	g.StoreS(ctx, 0, g.BinI(asm.Sub, g.Get(g.MapVal(plan.MapControl, plan.CtlSeq), 0, asm.DWord), int64(size/2)),
		asm.DWord)
	g.StoreIS(ctx, 8, 0, asm.DWord)
	g.StoreIS(ctx, 8, 0, asm.Byte) // the verifier must not take the number for a constant
	g.Call(asm.FnForEachMapElem, emit.Map(gl.Map), emit.Fn(g.thinner(glob)), emit.OnStack(ctx, 0), emit.Const(0))
}

// thinner writes the callback, once for each array.
func (g *Arrays) thinner(glob int) string {
	gl, size := &g.U.Layout.Globals[glob], g.U.P.Globals[glob].Size
	name := fmt.Sprintf("%s_thin%d", g.H.Name, glob)
	c := g.callback(name, 4)
	if c == nil {
		return name
	}
	m, key, ctx := c.Copy(mach.R1), c.Copy(mach.R2), c.Copy(mach.R4)
	out, enough := c.Block(), c.Block()
	c.Unless(asm.JGT, c.Get(mach.R3, gl.SeqOff, asm.DWord), c.Get(ctx, 0, asm.DWord), out)
	c.UnlessI(asm.JNE, c.Call(asm.FnMapDeleteElem, emit.InReg(m), emit.InReg(key)), 0, out)
	n := c.BinI(asm.Add, c.Get(ctx, 8, asm.DWord), 1)
	c.Store(ctx, 8, n, asm.DWord)
	c.Store(ctx, 8, n, asm.Byte)
	c.UnlessI(asm.JGE, n, int64(max(1, min(thinned, size/8))), enough)
	c.Jump(out)
	c.Set(enough)
	c.Ret(1)
	c.Set(out)
	c.Ret(0)
	return name
}

// evict removes the oldest element of an array with "%": the one with the smallest number. A look at all of them takes
// some 15 ns for each, so one look also notes those that come next (GlobalLayout.Old). Only an insertion into an array
// that is full comes here. A handler that finds another at the notes goes without.
func (g *Arrays) evict(glob int) {
	gl := &g.U.Layout.Globals[glob]
	if gl.Old == "" {
		g.evictByLook(glob, false)
		return
	}
	alone, done := g.Block(), g.Block()
	busy := g.Imm(1)
	g.Atomic(asm.Xchg, g.MapVal(gl.Old, plan.OldBusy), 0, busy, asm.DWord)
	free := g.Block()
	g.CondI(asm.JEq, busy, 0, free, alone)
	g.Set(alone)
	g.evictByLook(glob, false)
	g.Jump(done)
	g.Set(free)
	look, end := g.Block(), g.Block()
	const tries = 2 // of slots that were filled; what they tell of may have been deleted
	for range tries {
		next := g.Block()
		// Not a loop of this function: one that is made of steps would lose what lies on the stack, such as the new
		// element's key.
		g.Call(asm.FnLoop, emit.Const(int64(gl.OldSlots)), emit.Fn(g.filled(glob)), emit.Const(0), emit.Const(0))
		i := g.Get(g.MapVal(gl.Old, plan.OldNext), 0, asm.DWord)
		g.UnlessI(asm.JGE, i, int64(gl.OldSlots), look)
		g.Store(g.MapVal(gl.Old, plan.OldNext), 0, g.BinI(asm.Add, i, 1), asm.DWord)
		seq := g.Bin(asm.Add, i, g.Get(g.MapVal(gl.Old, plan.OldBase), 0, asm.DWord))
		p := oldSlot(&g.Code, gl, i)
		elem := g.Call(asm.FnMapLookupElem, emit.Map(gl.Map), g.ArgP(emit.At(p, 8)))
		g.UnlessI(asm.JEq, elem, 0, next)
		g.Unless(asm.JNE, g.Get(elem, gl.SeqOff, asm.DWord), seq, next)
		g.Store(g.MapVal(gl.Old, plan.OldLast), 0, seq, asm.DWord)
		g.Call(asm.FnMapDeleteElem, emit.Map(gl.Map), g.ArgP(emit.At(p, 8)))
		g.Jump(end)
		g.Set(next)
	}
	g.Here(look)
	base := g.BinI(asm.Add, g.Get(g.MapVal(gl.Old, plan.OldLast), 0, asm.DWord), 1)
	g.Store(g.MapVal(gl.Old, plan.OldBase), 0, base, asm.DWord)
	g.StoreI(g.MapVal(gl.Old, plan.OldNext), 0, 0, asm.DWord)
	oldest := g.evictByLook(glob, true)
	g.Store(g.MapVal(gl.Old, plan.OldLast), 0, oldest, asm.DWord)
	g.Here(end)
	g.StoreI(g.MapVal(gl.Old, plan.OldBusy), 0, 0, asm.DWord)
	g.Here(done)
}

// oldSlot gives the address of slot i of the notes.
func oldSlot(c *emit.Code, gl *plan.GlobalLayout, i mach.Reg) mach.Reg {
	slot := c.BinI(asm.And, i, int64(gl.OldSlots-1))
	c.AluI(asm.Mul, slot, int64(gl.OldSlot()))
	p := c.MapVal(gl.Old, plan.OldHead)
	c.Alu(asm.Add, p, slot)
	return p
}

// callback begins a function of the given name that the kernel calls, nil if the handler has it already.
func (g *Arrays) callback(name string, params int) *emit.Code {
	for _, f := range g.Funcs {
		if f.Name == name {
			return nil
		}
	}
	f := mach.New(name)
	f.Params, f.Callback = params, true
	g.Funcs = append(g.Funcs, f)
	c := &emit.Code{F: f, Pos: g.Pos, Lock: -1}
	c.Set(c.Block())
	return c
}

// filled writes the callback of bpf_loop that goes on to the next slot of the notes that was filled by the last look.
func (g *Arrays) filled(glob int) string {
	gl := &g.U.Layout.Globals[glob]
	name := fmt.Sprintf("%s_filled%d", g.H.Name, glob)
	c := g.callback(name, 2)
	if c == nil {
		return name
	}
	out := c.Block()
	i := c.Get(c.MapVal(gl.Old, plan.OldNext), 0, asm.DWord)
	c.UnlessI(asm.JGE, i, int64(gl.OldSlots), out)
	seq := c.Bin(asm.Add, i, c.Get(c.MapVal(gl.Old, plan.OldBase), 0, asm.DWord))
	c.Unless(asm.JEq, c.Get(oldSlot(c, gl, i), 0, asm.DWord), seq, out)
	c.Store(c.MapVal(gl.Old, plan.OldNext), 0, c.BinI(asm.Add, i, 1), asm.DWord)
	c.Ret(0)
	c.Set(out)
	c.Ret(1)
	return name
}

// evictByLook looks at all elements and removes the oldest, whose number it gives. note has those that come next noted.
func (g *Arrays) evictByLook(glob int, note bool) mach.Reg {
	gl := &g.U.Layout.Globals[glob]
	ctx, oldest, far := g.eachArea(gl.KeySize)
	g.Zero(oldest, gl.KeySize)
	g.StoreIS(ctx, 0, -1, asm.DWord)
	g.StoreIS(ctx, 0, 0xff, asm.Byte) // the verifier must not take the number for a constant
	g.Call(asm.FnForEachMapElem, emit.Map(gl.Map), emit.Fn(g.oldest(glob, far, note)), emit.OnStack(ctx, 0),
		emit.Const(0))
	seq := g.GetS(ctx, 0, asm.DWord)
	g.Call(asm.FnMapDeleteElem, emit.Map(gl.Map), g.ArgP(oldest))
	return seq
}

// oldest writes the callback, once for each array and use.
func (g *Arrays) oldest(glob int, far, note bool) string {
	gl := &g.U.Layout.Globals[glob]
	name := fmt.Sprintf("%s_oldest%d", g.H.Name, glob)
	if note {
		name += "n"
	}
	c := g.callback(name, 4)
	if c == nil {
		return name
	}
	key, ctx := c.Copy(mach.R2), c.Copy(mach.R4)
	seq := c.Get(mach.R3, gl.SeqOff, asm.DWord)
	if note {
		skip := c.Block()
		i := c.Bin(asm.Sub, seq, c.Get(c.MapVal(gl.Old, plan.OldBase), 0, asm.DWord))
		c.UnlessI(asm.JGE, i, int64(gl.OldSlots), skip)
		p := oldSlot(c, gl, i)
		c.Store(p, 0, seq, asm.DWord)
		for n := 0; n < gl.KeySize; n += 8 {
			c.Store(p, 8+n, c.Get(key, n, asm.DWord), asm.DWord)
		}
		c.Here(skip)
	}
	out := c.Block()
	c.Unless(asm.JGE, seq, c.Get(ctx, 0, asm.DWord), out)
	c.Store(ctx, 0, seq, asm.DWord)
	c.Store(ctx, 0, seq, asm.Byte)
	to, off := ctx, 8
	if far {
		to, off = c.Get(ctx, 8, asm.DWord), 0
	}
	for i := 0; i < gl.KeySize; i += 8 {
		w := c.Get(key, i, asm.DWord)
		c.Store(to, off+i, w, asm.DWord)
		if !far {
			c.Store(to, off+i, w, asm.Byte)
		}
	}
	c.Here(out)
	c.Ret(0)
	return name
}
