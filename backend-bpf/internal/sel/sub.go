package sel

import (
	"slices"

	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/maps"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/backend-bpf/internal/sel/body"
	"github.com/gostap/gostap/backend-bpf/internal/sel/emit"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/partition"
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
	fun         body.Func
	live        *partition.Live
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
	text                     *body.StrVar  // a String result
	fp                       mach.Reg      // address of the current activation
	d                        *mach.Block   // the dispatcher
	heads                    []*mach.Block // by state - 1
	saves, restores          []*mach.Block
}

// lockUnknown is the lock of code in recursive functions: the one that the handler holds.
const lockUnknown = -2

// prepareSubs lays out the activations.
func (g *gen) prepareSubs() {
	if len(g.H.Subs) == 0 {
		return
	}
	s := &subs{g: g, funcs: map[string]*activation{}, fp: g.Reg()}
	g.subs = s
	g.subs.act = layoutOf(g.Fn)
	g.subs.act.live = partition.Liveness(g.Fn)
	for name := range g.H.Subs {
		s.names = append(s.names, name)
	}
	slices.Sort(s.names)
	most := 0
	for _, name := range s.names {
		s.funcs[name] = layoutOf(g.H.Subs[name])
		most = max(most, g.H.Subs[name].ResultCap)
	}
	s.frame = g.subs.act.size
	for _, a := range s.funcs {
		s.frame = max(s.frame, a.size)
	}
	s.count = g.U.P.Nesting() + 1
	s.top, s.result, s.lock = g.Area(8), g.Area(8), g.Area(8)
	s.state = g.Area(8)
	s.text = g.str.NewStr(most, false)
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
	g.Set(b)
	s.restores = append(s.restores, b)
	g.Here(g.Block())
	s.current(&g.Code, s.fp, g.SlotAddr())
}

// stackOffset marks the instruction that adds the offset of the stack, which is known when all else in the slot is.
const stackOffset = "stack"

func stackBase(c *emit.Code, r mach.Reg) {
	c.Emit(mach.Ins{Op: mach.ALUI, Alu: asm.Add, Dst: r, Src: mach.None, Slot: mach.NoSlot, Sym: stackOffset})
}

// placeStack fills in the offset.
func (s *subs) placeStack() {
	if s == nil {
		return
	}
	g := s.g
	off := g.Area(s.frame * s.count)
	for _, f := range g.Funcs {
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
func (s *subs) current(c *emit.Code, fp, slot mach.Reg) {
	off := c.Get(slot, s.top, asm.DWord)
	c.F.Keep[off] = true
	over, on := c.Cold(), c.Block()
	most := int64(s.frame * (s.count - 1))
	c.CondI(asm.JGT, off, most, over, on)
	c.Set(over)
	c.MovI(off, most)
	c.Jump(on)
	c.Set(on)
	c.Mov(fp, slot)
	c.Alu(asm.Add, fp, off)
	stackBase(c, fp)
}

// dispatch ends the current block; the code goes on at a state, in a register or constant.
func (s *subs) dispatch(state mach.Reg, n int) {
	g := s.g
	if state == mach.None {
		state = g.Imm(int64(n))
	}
	g.StoreP(emit.At(g.SlotAddr(), s.state), 0, state, asm.DWord)
	s.saves = append(s.saves, g.Cur)
	g.Jump(s.d)
}

// call calls a recursive function.
func (s *subs) call(b ir.BlockID, i int, in *ir.Instr) {
	g := s.g
	callee := s.funcs[in.Name]
	depth := s.nestCheck(in)
	g.AluI(asm.Add, depth, 1)

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
	old := g.Get(g.SlotAddr(), s.top, asm.DWord)
	off := g.Tight(old, s.frame*(s.count-2))
	g.AluI(asm.Add, off, int64(s.frame))
	fp := g.Bin(asm.Add, g.SlotAddr(), off)
	stackBase(&g.Code, fp)
	for k, p := range callee.fn.Params {
		if k >= len(in.Args) {
			break
		}
		if o, ok := callee.longs[p]; ok {
			g.StoreVal(emit.At(fp, o), in.Args[k])
			continue
		}
		o := callee.strs[p]
		g.str.Assign(&body.StrVar{Cap: callee.fn.Regs[p].Cap, LenAt: emit.At(fp, o-8), At: emit.At(fp, o)},
			g.StrOf(in.Args[k]))
	}
	g.Store(fp, actCaller, old, asm.DWord)
	g.Store(fp, actDepth, depth, asm.DWord)
	g.Store(g.SlotAddr(), s.top, off, asm.DWord)
	if g.Lock != lockUnknown {
		g.StoreI(g.SlotAddr(), s.lock, int64(g.Lock)+1, asm.DWord)
	}
	// Where to go on: with the result, and in the next state with an error.
	ok, bad := g.Block(), g.Cold()
	call := g.Cur
	lock := g.Lock
	n := s.resume(ok)
	for _, r := range after {
		s.recall(r)
	}
	if in.Dst != ir.NoReg {
		if dst := g.Longs[in.Dst]; dst != mach.None {
			g.Load(dst, g.SlotAddr(), s.result, asm.DWord)
		} else if dst := g.Strs[in.Dst]; dst != nil {
			g.str.Assign(dst, s.text.Str())
		}
	}
	goOn := g.Cur
	s.resume(bad)
	for _, r := range failed {
		s.recall(r)
	}
	if in.OnErr != ir.NoBlock {
		g.Jump(g.Blocks[in.OnErr])
	} else {
		s.escape()
	}
	g.Set(call)
	g.StoreI(fp, actReturn, int64(n), asm.DWord)
	g.Lock = lock
	s.dispatch(mach.None, callee.entry)
	g.Set(goOn)
}

// keep stores a Long in the current activation, recall loads it. Strings of recursive functions lie there anyway.
func (s *subs) keep(r ir.Reg) {
	g := s.g
	if l := g.Longs[r]; l != mach.None {
		g.Store(s.fp, s.place(r), l, asm.DWord)
	}
}

func (s *subs) recall(r ir.Reg) {
	g := s.g
	if l := g.Longs[r]; l != mach.None {
		g.Load(l, s.fp, s.place(r), asm.DWord)
	}
}

// place gives the offset of a Long in the activation of the function that is being translated.
func (s *subs) place(r ir.Reg) int {
	g := s.g
	off, ok := s.act.longs[r]
	if !ok {
		g.Fail("register %d has no place in the activation", r)
	}
	return off
}

// escape goes on with a pending error that the current function does not catch.
func (s *subs) escape() {
	g := s.g
	if g.Func.Fn == g.H.Body {
		g.unlock()
		g.Jump(g.reporter())
		return
	}
	s.leave(1)
}

// leave returns from a recursive function; extra is 1 with a pending error.
func (s *subs) leave(extra int64) {
	g := s.g
	state := g.Get(s.fp, actReturn, asm.DWord)
	if extra != 0 {
		g.AluI(asm.Add, state, extra)
	}
	g.Store(g.SlotAddr(), s.top, g.Get(s.fp, actCaller, asm.DWord), asm.DWord)
	s.dispatch(state, 0)
}

// giveBack ends a block of a recursive function that returns.
func (s *subs) giveBack(v ir.Val) {
	g := s.g
	switch {
	case v.Kind == ir.ValNone:
	case isStringVal(g.Func.Fn, v):
		text := g.StrOf(v)
		if n := g.Func.Fn.ResultCap; text.Cap > n {
			t := g.str.TempStr(n)
			g.str.Assign(t, text)
			text = t.Str()
		}
		g.str.Assign(s.text, text)
	default:
		g.StoreVal(emit.At(g.SlotAddr(), s.result), v)
	}
	s.leave(0)
}

func isStringVal(f *ir.Func, v ir.Val) bool {
	return v.Kind == ir.ValStr || v.IsReg() && f.Regs[v.Reg].Type == types.String
}

// nestCheck fails where calls would nest too deeply: before a call of a recursive function, and where one was inlined
// into it. It gives how many calls are around the place; the handler's own activation has depth 0.
func (s *subs) nestCheck(in *ir.Instr) mach.Reg {
	g := s.g
	deep := g.Cold()
	depth := g.Get(s.fp, actDepth, asm.DWord)
	g.AluI(asm.Add, depth, in.N)
	g.UnlessI(asm.JSGE, depth, int64(g.U.P.Nesting()), deep)
	on := g.Cur
	g.Set(deep)
	g.Raise(ir.ErrMaxNesting, mach.None, mach.None, in.OnErr)
	g.Set(on)
	return depth
}

// write translates the recursive functions.
func (s *subs) write() {
	if s == nil {
		return
	}
	g := s.g
	handler, act := g.Func, s.act
	for _, name := range s.names {
		a := s.funcs[name]
		g.Func, s.act = a.fun, a
		g.Lock = lockUnknown
		s.arrive(s.heads[a.entry-1])
		for _, p := range a.fn.Params {
			s.recall(p)
		}
		g.Jump(g.Blocks[0])
		g.writeBlocks()
	}
	g.Func, s.act = handler, act
	g.Lock = -1
}

// enter makes the states of the functions, so that calls can name them.
func (s *subs) enter() {
	if s == nil {
		return
	}
	g := s.g
	s.d = g.Block()
	for _, name := range s.names {
		a := s.funcs[name]
		a.entry = s.newState(g.Block())
		a.fun = g.newFun(a.fn)
		a.live = partition.Liveness(a.fn)
		for i := range a.fun.Held {
			a.fun.Held[i] = lockUnknown
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
	if g.Prescan.Budget {
		pin(g.budget)
	}
	pin(g.hook.SiteNum)
	if g.Faults.Codes != nil {
		pin(g.Faults.Code)
		pin(g.Faults.A)
		pin(g.Faults.B)
	}
	for _, r := range pinned {
		off := g.Area(8)
		for _, b := range s.saves {
			g.Set(b)
			term := b.Term
			g.Store(g.SlotAddr(), off, r, asm.DWord)
			b.Term = term
		}
		for _, b := range s.restores {
			g.Set(b)
			g.Load(r, g.SlotAddr(), off, asm.DWord)
		}
	}
	g.Set(s.d)
	st := g.Get(g.SlotAddr(), s.state, asm.DWord)
	for n, b := range s.heads {
		g.CondI(asm.JEq, st, int64(n)+1, b, g.Block())
	}
	g.Jump(g.end) // cannot be
}

// setup begins the stack with the handler's activation.
func (s *subs) setup() {
	if s == nil {
		return
	}
	g := s.g
	g.StoreI(g.SlotAddr(), s.top, 0, asm.DWord)
	g.Mov(s.fp, g.SlotAddr())
	stackBase(&g.Code, s.fp)
	g.StoreI(s.fp, actDepth, 0, asm.DWord)
	if g.Faults.Codes != nil {
		g.MovI(g.Faults.Code, 0)
		g.MovI(g.Faults.A, 0)
		g.MovI(g.Faults.B, 0)
	}
}

// unlockUnknown releases the lock that the handler held when it called.
func (s *subs) unlockUnknown() {
	g := s.g
	held := g.Get(g.SlotAddr(), s.lock, asm.DWord)
	done := g.Cold()
	for class := range g.U.P.Locks {
		this, next := g.Cold(), g.Cold()
		g.CondI(asm.JEq, held, int64(class)+1, this, next)
		g.Set(this)
		g.StoreI(g.MapVal(plan.MapControl, plan.CtlLocks+4*class), 0, 0, asm.Word)
		g.Jump(done)
		g.Set(next)
	}
	g.Here(done)
}
