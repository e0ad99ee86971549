package ir

import (
	"slices"

	"github.com/gostap/gostap/compiler/regex"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/compiler/types"
)

// Builder writes the body of one function or handler, block by block. What is emitted
// behind the end of a block is dropped, as it cannot run: code that follows a
// return needs no care.
//
//	b := ir.NewBuilder("")            // a handler
//	n := b.Long("n")
//	b.Mov(n, ir.I(0))
//	head, body, out := b.Block(), b.Block(), b.Block()
//	b.Jump(head)
//	b.SetBlock(head)
//	b.Branch(b.Bin(ir.OpLt, ir.R(n), ir.I(10)), body, out)
//	...
//	f := b.Finish()
type Builder struct {
	// F is the function being written.
	F *Func
	// Pos is given to every instruction and end of block that has none of its own.
	Pos source.Pos
	// OnErr is where instructions that can fail go, NoBlock outside of try.
	OnErr BlockID

	cur   BlockID
	ended []bool // by block: it has its Term
	iters int
}

// NewBuilder begins a function, or a handler when name is empty. Block 0 is current.
func NewBuilder(name string) *Builder {
	b := &Builder{F: &Func{Name: name}, OnErr: NoBlock}
	b.cur = b.Block()
	return b
}

// Continue goes on writing f behind the instructions of block at, whose end is written anew.
func Continue(f *Func, at BlockID) *Builder {
	b := &Builder{F: f, OnErr: NoBlock, cur: at, ended: make([]bool, len(f.Blocks))}
	for i := range b.ended {
		b.ended[i] = BlockID(i) != at
	}
	return b
}

// Reg makes a register. name is that of the script variable, "" for temporaries; cap
// is the most bytes of a String and 0 for a Long.
func (b *Builder) Reg(name string, t types.Type, cap int) Reg {
	if t != types.String {
		cap = 0
	}
	b.F.Regs = append(b.F.Regs, RegInfo{Name: name, Type: t, Cap: cap})
	return Reg(len(b.F.Regs) - 1)
}

// Long makes a Long register.
func (b *Builder) Long(name string) Reg { return b.Reg(name, types.Long, 0) }

// Str makes a String register of at most cap bytes.
func (b *Builder) Str(name string, cap int) Reg { return b.Reg(name, types.String, cap) }

// Param makes a register and appends it to the parameters.
func (b *Builder) Param(name string, t types.Type, cap int) Reg {
	r := b.Reg(name, t, cap)
	b.F.Params = append(b.F.Params, r)
	return r
}

// Result says what the function returns.
func (b *Builder) Result(t types.Type, cap int) { b.F.Result, b.F.ResultCap = t, cap }

// Block makes a block, which does not become the current one.
func (b *Builder) Block() BlockID {
	b.F.Blocks = append(b.F.Blocks, &Block{})
	b.ended = append(b.ended, false)
	return BlockID(len(b.F.Blocks) - 1)
}

// SetBlock makes id the block that is written next.
func (b *Builder) SetBlock(id BlockID) { b.cur = id }

// Ended reports whether the current block has its end, so that what is emitted now is dropped.
func (b *Builder) Ended() bool { return b.ended[b.cur] }

// Emit appends in as it is, except that a missing Pos is filled in. Glob, Iter, OnErr and Dst
// must be set (the zero values mean global 0, block 0 and register 0); Op and the
// methods below set them.
func (b *Builder) Emit(in Instr) {
	if b.Ended() {
		return
	}
	if in.Pos == 0 {
		in.Pos = b.Pos
	}
	in.Args = slices.Clone(in.Args) // passes change operands in place
	blk := b.F.Blocks[b.cur]
	blk.Instrs = append(blk.Instrs, in)
}

// Make is an instruction without a global whose errors go to b.OnErr.
func (b *Builder) Make(op Op, dst Reg, args ...Val) Instr {
	in := Instr{Op: op, Dst: dst, Args: args, Glob: -1, OnErr: NoBlock, Pos: b.Pos}
	if op.CanFail() {
		in.OnErr = b.OnErr
	}
	return in
}

// Op emits Make(op, dst, args...).
func (b *Builder) Op(op Op, dst Reg, args ...Val) { b.Emit(b.Make(op, dst, args...)) }

// Mov sets dst.
func (b *Builder) Mov(dst Reg, v Val) { b.Op(OpMov, dst, v) }

// Bin computes "a op c" into a new Long register and gives that.
func (b *Builder) Bin(op Op, a, c Val) Val {
	r := b.Long("")
	b.Op(op, r, a, c)
	return R(r)
}

// Un computes "op a" into a new Long register and gives that.
func (b *Builder) Un(op Op, a Val) Val {
	r := b.Long("")
	b.Op(op, r, a)
	return R(r)
}

// Load reads size bytes at address a into a new register and gives that.
func (b *Builder) Load(a Val, size int, signed, kernel bool) Val {
	r := b.Long("")
	in := b.Make(OpLoad, r, a)
	in.N, in.Signed, in.Kernel = int64(size), signed, kernel
	b.Emit(in)
	return R(r)
}

// Store writes the low size bytes of v at address a.
func (b *Builder) Store(a, v Val, size int, kernel bool) {
	in := b.Make(OpStore, NoReg, a, v)
	in.N, in.Kernel = int64(size), kernel
	b.Emit(in)
}

// SetReg sets DWARF register n of the probed context.
func (b *Builder) SetReg(n int64, v Val) {
	in := b.Make(OpSetReg, NoReg, v)
	in.N = n
	b.Emit(in)
}

// Named emits op with its Name: OpIntr, OpCall, OpSite.
func (b *Builder) Named(op Op, name string, dst Reg, args ...Val) {
	in := b.Make(op, dst, args...)
	in.Name = name
	b.Emit(in)
}

// Call calls a function, dst may be NoReg.
func (b *Builder) Call(name string, dst Reg, args ...Val) { b.Named(OpCall, name, dst, args...) }

// Intr calls an intrinsic, dst may be NoReg.
func (b *Builder) Intr(name string, dst Reg, args ...Val) { b.Named(OpIntr, name, dst, args...) }

// OnGlobal emits an operation on global g: OpG*, OpM*, OpS* .
func (b *Builder) OnGlobal(op Op, g int, dst Reg, args ...Val) {
	in := b.Make(op, dst, args...)
	in.Glob = g
	b.Emit(in)
}

// Stat emits OpSGet; args are the keys, and for StatVariance the shift.
func (b *Builder) Stat(g int, s Stat, dst Reg, args ...Val) {
	in := b.Make(OpSGet, dst, args...)
	in.Glob, in.N = g, int64(s)
	b.Emit(in)
}

// Bucket emits OpSGet of the counter of one bucket of histogram hist; args are the keys and
// then the bucket's index.
func (b *Builder) Bucket(g, hist int, dst Reg, args ...Val) {
	in := b.Make(OpSGet, dst, args...)
	in.Glob, in.N, in.Iter = g, int64(StatBucket), hist
	b.Emit(in)
}

// IterOpen opens a new iterator over g and gives its number. order is as for OpIterOpen; slice has
// one operand a key or is empty; limit is I(-1) for none.
func (b *Builder) IterOpen(g int, order string, slice []Val, limit Val) int {
	in := b.Make(OpIterOpen, NoReg, append(append([]Val(nil), slice...), limit)...)
	in.Glob, in.Name, in.Iter = g, order, b.iters
	b.iters++
	b.Emit(in)
	return in.Iter
}

// IterNext goes to the next element and gives the register that says whether there is one.
func (b *Builder) IterNext(g, iter int) Val {
	r := b.Long("")
	b.iterOp(OpIterNext, g, iter, 0, r)
	return R(r)
}

// IterKey sets dst to key column n of the element.
func (b *Builder) IterKey(g, iter, n int, dst Reg) { b.iterOp(OpIterKey, g, iter, n, dst) }

// IterVal sets dst to the value of the element.
func (b *Builder) IterVal(g, iter int, dst Reg) { b.iterOp(OpIterVal, g, iter, 0, dst) }

func (b *Builder) iterOp(op Op, g, iter, n int, dst Reg) {
	in := b.Make(op, dst)
	in.Glob, in.Iter, in.N = g, iter, int64(n)
	b.Emit(in)
}

// Match gives whether a matches regex number n of the program, in a new register.
func (b *Builder) Match(n int, a Val) Val {
	r := b.Long("")
	in := b.Make(OpMatch, r, a)
	in.N = int64(n)
	b.Emit(in)
	return R(r)
}

// Print prints format number f of the program.
func (b *Builder) Print(f int, args ...Val) {
	in := b.Make(OpPrint, NoReg, args...)
	in.N = int64(f)
	b.Emit(in)
}

// Sprint sets dst to the text of format number f.
func (b *Builder) Sprint(f int, dst Reg, args ...Val) {
	in := b.Make(OpSprint, dst, args...)
	in.N = int64(f)
	b.Emit(in)
}

// PrintHist prints histogram hist of aggregate g.
func (b *Builder) PrintHist(g, hist int, keys ...Val) {
	in := b.Make(OpPrintHist, NoReg, keys...)
	in.Glob, in.N = g, int64(hist)
	b.Emit(in)
}

// SprintHist sets dst to the text of histogram hist of aggregate g.
func (b *Builder) SprintHist(g, hist int, dst Reg, keys ...Val) {
	in := b.Make(OpSprintHist, dst, keys...)
	in.Glob, in.N = g, int64(hist)
	b.Emit(in)
}

// Budget takes n statements off the action budget.
func (b *Builder) Budget(n int) {
	in := b.Make(OpBudget, NoReg)
	in.N = int64(n)
	b.Emit(in)
}

// Jump ends the current block; so do the next ones.
func (b *Builder) Jump(to BlockID) { b.end(Term{Kind: TermJump, Then: to}) }

// Branch goes to then if cond is not 0, else to els.
func (b *Builder) Branch(cond Val, then, els BlockID) {
	b.end(Term{Kind: TermBranch, Cond: cond, Then: then, Else: els})
}

// Return leaves a function; v is Val{} when it has no result.
func (b *Builder) Return(v Val) { b.end(Term{Kind: TermReturn, Cond: v}) }

// End ends the handler.
func (b *Builder) End() { b.end(Term{Kind: TermEnd}) }

// Fail raises an error.
func (b *Builder) Fail(c Code, args ...Val) { b.end(Term{Kind: TermFail, Code: c, Args: args}) }

// Skip ends the handler and counts the hit as skipped.
func (b *Builder) Skip(c Cause) { b.end(Term{Kind: TermSkip, Cause: c}) }

func (b *Builder) end(t Term) {
	if b.Ended() {
		return
	}
	t.Pos, t.OnErr, t.Args = b.Pos, NoBlock, slices.Clone(t.Args)
	if t.Kind == TermFail {
		t.OnErr = b.OnErr
	}
	b.F.Blocks[b.cur].Term = t
	b.ended[b.cur] = true
}

// Finish gives the function. Blocks without an end get one: the handler is done, or the function
// returns 0, "" or nothing.
func (b *Builder) Finish() *Func {
	for i, ended := range b.ended {
		if ended {
			continue
		}
		b.cur = BlockID(i)
		switch {
		case b.F.Name == "":
			b.End()
		case b.F.Result == types.Long:
			b.Return(I(0))
		case b.F.Result == types.String:
			b.Return(S(""))
		default:
			b.Return(Val{})
		}
	}
	return b.F
}

// AddFormat gives the number of format f in p, entering it if there is none like it.
func (p *Program) AddFormat(f *Format) int {
	// Those that came by other ways, or went, are not where they are thought to be, and then only share less.
	key := f.String()
	if i, ok := p.formatAt[key]; ok && i < len(p.Formats) && p.Formats[i].Equal(f) {
		return i
	}
	if p.formatAt == nil {
		p.formatAt = map[string]int{}
		for i, o := range p.Formats {
			if k := o.String(); p.formatAt[k] == 0 {
				p.formatAt[k] = i
			}
		}
		return p.AddFormat(f)
	}
	p.Formats = append(p.Formats, f)
	p.formatAt[key] = len(p.Formats) - 1
	return len(p.Formats) - 1
}

// AddRegex gives the number of the pattern in p, compiling and entering it if it is not there. The
// error is a *regex.Error.
func (p *Program) AddRegex(pattern string) (int, error) {
	for i, r := range p.Regexes {
		if r.Pattern == pattern {
			return i, nil
		}
	}
	r, err := regex.Compile(pattern)
	if err != nil {
		return 0, err
	}
	p.Regexes = append(p.Regexes, r)
	return len(p.Regexes) - 1, nil
}

// OpenCalls is the name of the array, an Internal one, of calls that are under way and have a return probe; the
// values are the processes that make them.
const OpenCalls = "open__calls"

// AddGlobal enters g and gives its index. Class is set to -1.
func (p *Program) AddGlobal(g *Global) int {
	g.Class = -1
	p.Globals = append(p.Globals, g)
	return len(p.Globals) - 1
}

// Func finds a function by name, nil if there is none.
func (p *Program) Func(name string) *Func {
	for _, f := range p.Funcs {
		if f.Name == name {
			return f
		}
	}
	return nil
}
