package sel

import (
	"slices"

	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/maps"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/place"
	"github.com/gostap/gostap/compiler/types"
)

// Recursive functions are part of the handler's code and have their activations on a stack of
// their own in the scratch slot: the kernel's verifier knows no recursion. A call leaves
// what will be needed behind it in the caller's activation, makes a new one, notes where
// to go on, and jumps to the dispatcher; a return goes back the same way. So the
// dispatcher is the head of one loop, over which nothing lives in registers but the context
// and the scratch slot.

// The first words of an activation: where the caller goes on (the state behind it when there was an error), the
// offset of the caller's activation, and how many calls are around this one.
const (
	actReturn = 0
	actCaller = 8
	actDepth  = 16
	actRegs   = 24
)

// activation is how the activations of a function are laid out.
type activation struct {
	fn          *ir.Func
	longs, strs map[ir.Reg]int
	size        int
	entry       int // state
	fun         fun
	live        *place.Live
}

// fun is what gen knows about the function that it is translating.
type fun struct {
	fn      *ir.Func
	longs   []mach.Reg
	strs    []*strVar
	uses    []int
	defs    []int
	printed []bool
	consts  map[ir.Reg]string
	lazies  map[ir.Reg]*lazy
	blocks  []*mach.Block
	held    []int
}

// subs is what recursive functions need; nil where there are none.
type subs struct {
	g     *gen
	funcs map[string]*activation
	names []string
	act   *activation // of the function that is being translated
	frame int         // bytes of every activation
	count int         // activations on the stack at most
	// Areas of the scratch slot: the stack, and words for the state, the offset of the current activation, a Long
	// result and the lock that is held.
	state, top, result, lock int
	text                     *strVar       // a String result
	fp                       mach.Reg      // address of the current activation
	d                        *mach.Block   // the dispatcher
	heads                    []*mach.Block // by state - 1
	saves, restores          []*mach.Block
}

// lockUnknown is the lock of code in recursive functions: the one that the handler holds.
const lockUnknown = -2

// prepareSubs lays out the activations.
func (g *gen) prepareSubs() {
	if len(g.h.Subs) == 0 {
		return
	}
	s := &subs{g: g, funcs: map[string]*activation{}, fp: g.reg()}
	g.subs = s
	g.subs.act = layoutOf(g.fn)
	g.subs.act.live = place.Liveness(g.fn)
	for name := range g.h.Subs {
		s.names = append(s.names, name)
	}
	slices.Sort(s.names)
	most := 0
	for _, name := range s.names {
		s.funcs[name] = layoutOf(g.h.Subs[name])
		most = max(most, g.h.Subs[name].ResultCap)
	}
	s.frame = g.subs.act.size
	for _, a := range s.funcs {
		s.frame = max(s.frame, a.size)
	}
	s.count = g.u.P.Nesting() + 1
	s.top, s.result, s.lock = g.area(8), g.area(8), g.area(8)
	s.state = g.area(8)
	s.text = g.newStr(most, false)
}

// layoutOf lays out the activations of a function.
func layoutOf(f *ir.Func) *activation {
	a := &activation{fn: f, longs: map[ir.Reg]int{}, strs: map[ir.Reg]int{}, size: actRegs}
	for i, r := range f.Regs {
		if r.Type != types.String {
			a.longs[ir.Reg(i)] = a.size
			a.size += 8
			continue
		}
		a.strs[ir.Reg(i)] = a.size + 8
		a.size += 8 + maps.StringSize(r.Cap) + 8
	}
	return a
}

// newState enters a block that the dispatcher goes to.
func (s *subs) newState(b *mach.Block) int {
	s.heads = append(s.heads, b)
	return len(s.heads)
}

// resume begins a block that the dispatcher goes to, with the current activation's address, and gives its state.
func (s *subs) resume(b *mach.Block) int {
	n := s.newState(b)
	s.arrive(b)
	return n
}

// arrive begins b, which the dispatcher goes to: what registers carry over it and the current activation's address.
func (s *subs) arrive(b *mach.Block) {
	g := s.g
	g.set(b)
	s.restores = append(s.restores, b)
	g.here(g.block())
	s.current(&g.code, s.fp, g.slotAddr())
}

// stackOffset marks the instruction that adds the offset of the stack, which is known when all else in the slot is.
const stackOffset = "stack"

func stackBase(c *code, r mach.Reg) {
	c.emit(mach.Ins{Op: mach.ALUI, Alu: asm.Add, Dst: r, Src: mach.None, Slot: mach.NoSlot, Sym: stackOffset})
}

// placeStack fills in the offset.
func (s *subs) placeStack() {
	if s == nil {
		return
	}
	g := s.g
	off := g.area(s.frame * s.count)
	for _, f := range g.funcs {
		for _, b := range f.Blocks {
			for i := range b.Ins {
				if b.Ins[i].Op == mach.ALUI && b.Ins[i].Sym == stackOffset {
					b.Ins[i].Imm = int64(off)
				}
			}
		}
	}
}

// current sets fp to the address of the current activation.
func (s *subs) current(c *code, fp, slot mach.Reg) {
	off := c.get(slot, s.top, asm.DWord)
	c.f.Keep[off] = true
	over, on := c.cold(), c.block()
	most := int64(s.frame * (s.count - 1))
	c.condI(asm.JGT, off, most, over, on)
	c.set(over)
	c.movI(off, most)
	c.jump(on)
	c.set(on)
	c.mov(fp, slot)
	c.alu(asm.Add, fp, off)
	stackBase(c, fp)
}

// dispatch ends the current block; the code goes on at a state, in a register or constant.
func (s *subs) dispatch(state mach.Reg, n int) {
	g := s.g
	if state == mach.None {
		state = g.imm(int64(n))
	}
	g.storeP(at(g.slotAddr(), s.state), 0, state, asm.DWord)
	s.saves = append(s.saves, g.cur)
	g.jump(s.d)
}

// call calls a recursive function.
func (s *subs) call(b ir.BlockID, i int, in *ir.Instr) {
	g := s.g
	callee := s.funcs[in.Name]
	depth := s.nestCheck(in)
	g.aluI(asm.Add, depth, 1)

	after := s.act.live.After(b, i)
	var failed []ir.Reg
	if in.OnErr != ir.NoBlock {
		failed = s.act.live.Into(in.OnErr)
	}
	for _, r := range after {
		s.keep(r)
	}
	for _, r := range failed {
		if !slices.Contains(after, r) {
			s.keep(r)
		}
	}
	old := g.get(g.slotAddr(), s.top, asm.DWord)
	off := g.tight(old, s.frame*(s.count-2))
	g.aluI(asm.Add, off, int64(s.frame))
	fp := g.bin(asm.Add, g.slotAddr(), off)
	stackBase(&g.code, fp)
	for k, p := range callee.fn.Params {
		if k >= len(in.Args) {
			break
		}
		if o, ok := callee.longs[p]; ok {
			g.storeVal(at(fp, o), in.Args[k])
			continue
		}
		o := callee.strs[p]
		g.assign(&strVar{cap: callee.fn.Regs[p].Cap, lenAt: at(fp, o-8), at: at(fp, o)}, g.strOf(in.Args[k]))
	}
	g.store(fp, actCaller, old, asm.DWord)
	g.store(fp, actDepth, depth, asm.DWord)
	g.store(g.slotAddr(), s.top, off, asm.DWord)
	if g.lock != lockUnknown {
		g.storeI(g.slotAddr(), s.lock, int64(g.lock)+1, asm.DWord)
	}
	// Where to go on: with the result, and in the next state with an error.
	ok, bad := g.block(), g.cold()
	call := g.cur
	lock := g.lock
	n := s.resume(ok)
	for _, r := range after {
		s.recall(r)
	}
	if in.Dst != ir.NoReg {
		if dst := g.longs[in.Dst]; dst != mach.None {
			g.load(dst, g.slotAddr(), s.result, asm.DWord)
		} else if dst := g.strs[in.Dst]; dst != nil {
			g.assign(dst, s.text.str())
		}
	}
	goOn := g.cur
	s.resume(bad)
	for _, r := range failed {
		s.recall(r)
	}
	if in.OnErr != ir.NoBlock {
		g.jump(g.blocks[in.OnErr])
	} else {
		s.escape()
	}
	g.set(call)
	g.storeI(fp, actReturn, int64(n), asm.DWord)
	g.lock = lock
	s.dispatch(mach.None, callee.entry)
	g.set(goOn)
}

// keep stores a Long in the current activation, recall loads it. Strings of recursive functions lie there anyway.
func (s *subs) keep(r ir.Reg) {
	g := s.g
	if l := g.longs[r]; l != mach.None {
		g.store(s.fp, s.place(r), l, asm.DWord)
	}
}

func (s *subs) recall(r ir.Reg) {
	g := s.g
	if l := g.longs[r]; l != mach.None {
		g.load(l, s.fp, s.place(r), asm.DWord)
	}
}

// place gives the offset of a Long in the activation of the function that is being translated.
func (s *subs) place(r ir.Reg) int {
	g := s.g
	off, ok := s.act.longs[r]
	if !ok {
		g.fail("register %d has no place in the activation", r)
	}
	return off
}

// escape goes on with a pending error that the current function does not catch.
func (s *subs) escape() {
	g := s.g
	if g.fun.fn == g.h.Body {
		g.unlock()
		g.jump(g.reporter())
		return
	}
	s.leave(1)
}

// leave returns from a recursive function; extra is 1 with a pending error.
func (s *subs) leave(extra int64) {
	g := s.g
	state := g.get(s.fp, actReturn, asm.DWord)
	if extra != 0 {
		g.aluI(asm.Add, state, extra)
	}
	g.store(g.slotAddr(), s.top, g.get(s.fp, actCaller, asm.DWord), asm.DWord)
	s.dispatch(state, 0)
}

// giveBack ends a block of a recursive function that returns.
func (s *subs) giveBack(v ir.Val) {
	g := s.g
	switch {
	case v.Kind == ir.ValNone:
	case isStringVal(g.fun.fn, v):
		text := g.strOf(v)
		if n := g.fun.fn.ResultCap; text.cap > n {
			t := g.tempStr(n)
			g.assign(t, text)
			text = t.str()
		}
		g.assign(s.text, text)
	default:
		g.storeVal(at(g.slotAddr(), s.result), v)
	}
	s.leave(0)
}

func isStringVal(f *ir.Func, v ir.Val) bool {
	return v.Kind == ir.ValStr || v.IsReg() && f.Regs[v.Reg].Type == types.String
}

// nestCheck fails where calls would nest too deeply: before a call of a recursive function, and where one was inlined into it. It gives
// how many calls are around the place; the handler's own activation has depth 0.
func (s *subs) nestCheck(in *ir.Instr) mach.Reg {
	g := s.g
	deep := g.cold()
	depth := g.get(s.fp, actDepth, asm.DWord)
	g.aluI(asm.Add, depth, in.N)
	g.unlessI(asm.JSGE, depth, int64(g.u.P.Nesting()), deep)
	on := g.cur
	g.set(deep)
	g.raise(ir.ErrMaxNesting, mach.None, mach.None, in.OnErr)
	g.set(on)
	return depth
}

// write translates the recursive functions.
func (s *subs) write() {
	if s == nil {
		return
	}
	g := s.g
	handler, act := g.fun, s.act
	for _, name := range s.names {
		a := s.funcs[name]
		g.fun, s.act = a.fun, a
		g.lock = lockUnknown
		s.arrive(s.heads[a.entry-1])
		for _, p := range a.fn.Params {
			s.recall(p)
		}
		g.jump(g.blocks[0])
		g.writeBlocks()
	}
	g.fun, s.act = handler, act
	g.lock = -1
}

// enter makes the states of the functions, so that calls can name them.
func (s *subs) enter() {
	if s == nil {
		return
	}
	g := s.g
	s.d = g.block()
	for _, name := range s.names {
		a := s.funcs[name]
		a.entry = s.newState(g.block())
		a.fun = g.newFun(a.fn)
		a.live = place.Liveness(a.fn)
		for i := range a.fun.held {
			a.fun.held[i] = lockUnknown
		}
	}
}

// dispatcher writes the block that every call and return goes through, and what those carry in registers.
func (s *subs) dispatcher() {
	if s == nil {
		return
	}
	g := s.g
	var pinned []mach.Reg
	pin := func(r mach.Reg) {
		if r != mach.None {
			pinned = append(pinned, r)
		}
	}
	if g.look.budget {
		pin(g.budget)
	}
	pin(g.siteNum)
	if g.faults.codes != nil {
		pin(g.faults.code)
		pin(g.faults.a)
		pin(g.faults.b)
	}
	for _, r := range pinned {
		off := g.area(8)
		for _, b := range s.saves {
			g.set(b)
			term := b.Term
			g.store(g.slotAddr(), off, r, asm.DWord)
			b.Term = term
		}
		for _, b := range s.restores {
			g.set(b)
			g.load(r, g.slotAddr(), off, asm.DWord)
		}
	}
	g.set(s.d)
	st := g.get(g.slotAddr(), s.state, asm.DWord)
	for n, b := range s.heads {
		g.condI(asm.JEq, st, int64(n)+1, b, g.block())
	}
	g.jump(g.end) // cannot be
}

// setup begins the stack with the handler's activation.
func (s *subs) setup() {
	if s == nil {
		return
	}
	g := s.g
	g.storeI(g.slotAddr(), s.top, 0, asm.DWord)
	g.mov(s.fp, g.slotAddr())
	stackBase(&g.code, s.fp)
	g.storeI(s.fp, actDepth, 0, asm.DWord)
	if g.faults.codes != nil {
		g.movI(g.faults.code, 0)
		g.movI(g.faults.a, 0)
		g.movI(g.faults.b, 0)
	}
}

// unlockUnknown releases the lock that the handler held when it called.
func (s *subs) unlockUnknown() {
	g := s.g
	held := g.get(g.slotAddr(), s.lock, asm.DWord)
	done := g.cold()
	for class := range g.u.P.Locks {
		this, next := g.cold(), g.cold()
		g.condI(asm.JEq, held, int64(class)+1, this, next)
		g.set(this)
		g.storeI(g.mapVal(plan.MapControl, plan.CtlLocks+4*class), 0, 0, asm.Word)
		g.jump(done)
		g.set(next)
	}
	g.here(done)
}
