// Package partition decides where each handler runs, the kernel or the host, and prepares
// it for there: calls are inlined, copies of registers are seen through, and a
// handler that the kernel cannot run is cut into what must be read at the probed place
// and what the host does with it later.
//
// In: an ir.Program. Out: a Handler for each probe, or diagnostics. The program itself is not
// changed.
package partition

import (
	"errors"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/types"
)

// ErrTooLarge says that a handler grows beyond MaxInstrs when its calls are inlined.
var ErrTooLarge = errors.New("handler is too large once its functions are part of it")

// MaxInstrs is the most instructions of a handler after inlining.
const MaxInstrs = 30000

// NestCheck is the Name of an OpNone that stands where a call was inlined into a recursive function: N is
// how many calls are around it in the function. It raises MaxNesting where those and the function's own depth
// are too many.
const NestCheck = "nest"

// Inline gives a copy of f in which all calls are inlined except those of recursive functions. N of those is
// the number of calls around them in f. Calls deeper than nesting raise MaxNesting.
func Inline(p *ir.Program, f *ir.Func, nesting int) (*ir.Func, error) {
	in := &inliner{p: p, funcs: make(map[string]*ir.Func, len(p.Funcs)), nesting: nesting, recursive: f.Recursive}
	for _, fn := range p.Funcs {
		in.funcs[fn.Name] = fn
	}
	in.out = &ir.Func{Name: f.Name, Pos: f.Pos, Result: f.Result, ResultCap: f.ResultCap, Recursive: f.Recursive}
	in.out.Params = f.Params
	in.out.Regs = append([]ir.RegInfo(nil), f.Regs...)
	for range f.Blocks {
		in.block()
	}
	in.copy(f, frame{block: 0, onErr: ir.NoBlock, ret: ir.NoBlock})
	if in.count > MaxInstrs || in.iters > ir.MaxIters {
		return nil, ErrTooLarge
	}
	return in.out, nil
}

// Subs gives the recursive functions that body calls, and those that they call, each with its other calls inlined.
func Subs(p *ir.Program, body *ir.Func, nesting int) (map[string]*ir.Func, error) {
	subs := map[string]*ir.Func{}
	todo := []*ir.Func{body}
	for len(todo) > 0 {
		f := todo[0]
		todo = todo[1:]
		for _, b := range f.Blocks {
			for i := range b.Instrs {
				in := &b.Instrs[i]
				if in.Op != ir.OpCall || subs[in.Name] != nil {
					continue
				}
				fn := p.Func(in.Name)
				if fn == nil {
					continue
				}
				sub, err := Inline(p, fn, nesting)
				if err != nil {
					return nil, err
				}
				subs[in.Name] = sub
				todo = append(todo, sub)
			}
		}
	}
	return subs, nil
}

type inliner struct {
	p       *ir.Program
	funcs   map[string]*ir.Func
	out     *ir.Func
	nesting int
	count   int
	iters   int // iterators that copies have so far
	// recursive: the depth at which the function runs is known at run time only.
	recursive bool
}

// frame says where a copy of a function goes.
type frame struct {
	reg   ir.Reg     // its register 0 in the copy
	block ir.BlockID // its block 0
	onErr ir.BlockID // where errors that leave it go
	ret   ir.BlockID // where it returns to, NoBlock for the handler itself
	dst   ir.Reg     // receives the result
	iters int        // its iterator 0
	depth int        // calls around it
	call  *ir.Instr  // the one that it stands for, nil for the handler itself
}

func (in *inliner) block() ir.BlockID {
	in.out.Blocks = append(in.out.Blocks, &ir.Block{})
	return ir.BlockID(len(in.out.Blocks) - 1)
}

func (fr frame) val(v ir.Val) ir.Val {
	if v.Kind == ir.ValReg {
		v.Reg += fr.reg
	}
	return v
}

func (fr frame) vals(vs []ir.Val) []ir.Val {
	if vs == nil {
		return nil
	}
	out := make([]ir.Val, len(vs))
	for i, v := range vs {
		out[i] = fr.val(v)
	}
	return out
}

func (fr frame) to(b ir.BlockID) ir.BlockID { return b + fr.block }

func (fr frame) err(b ir.BlockID) ir.BlockID {
	if b == ir.NoBlock {
		return fr.onErr
	}
	return fr.to(b)
}

// copy writes the blocks of f, which have been made.
func (in *inliner) copy(f *ir.Func, fr frame) {
	in.iters = max(in.iters, fr.iters+itersOf(f))
	for i, b := range f.Blocks {
		cur := in.out.Blocks[fr.block+ir.BlockID(i)]
		for j := range b.Instrs {
			src := b.Instrs[j]
			src.Args = fr.vals(src.Args)
			if fr.call != nil {
				src.Via = in.p.Through(&src, fr.call)
			}
			if src.Dst != ir.NoReg {
				src.Dst += fr.reg
			}
			src.OnErr = fr.err(src.OnErr)
			if src.Op.OnLoop() {
				src.Iter += fr.iters
			}
			in.count++
			callee := in.funcs[src.Name]
			if src.Op != ir.OpCall || callee == nil || callee.Recursive {
				if src.Op == ir.OpCall {
					src.N = int64(fr.depth)
				}
				cur.Instrs = append(cur.Instrs, src)
				continue
			}
			if in.count > MaxInstrs {
				return
			}
			cur = in.call(cur, callee, &src, fr.depth)
		}
		cur.Term = fr.term(b.Term)
		if b.Term.Kind == ir.TermReturn && fr.ret != ir.NoBlock {
			if fr.dst != ir.NoReg && b.Term.Cond.Kind != ir.ValNone {
				in.result(cur, f, fr, fr.val(b.Term.Cond))
			}
			cur.Term = ir.Term{Kind: ir.TermJump, Then: fr.ret, OnErr: fr.onErr, Pos: b.Term.Pos}
		}
	}
}

func (fr frame) term(t ir.Term) ir.Term {
	t.Cond, t.Args = fr.val(t.Cond), fr.vals(t.Args)
	switch t.Kind {
	case ir.TermJump:
		t.Then = fr.to(t.Then)
	case ir.TermBranch:
		t.Then, t.Else = fr.to(t.Then), fr.to(t.Else)
	}
	t.OnErr = fr.err(t.OnErr)
	return t
}

// result moves a function's result to where the caller wants it, cut to what the function returns.
func (in *inliner) result(cur *ir.Block, f *ir.Func, fr frame, v ir.Val) {
	mv := func(dst ir.Reg, v ir.Val) {
		cur.Instrs = append(cur.Instrs, ir.Instr{Op: ir.OpMov, Dst: dst, Args: []ir.Val{v}, Glob: -1, OnErr: ir.NoBlock,
			Pos: fr.call.Pos, Via: fr.call.Via})
		in.count++
	}
	if f.Result == types.String && f.ResultCap < in.out.Regs[fr.dst].Cap {
		t := in.reg(ir.RegInfo{Type: types.String, Cap: f.ResultCap})
		mv(t, v)
		v = ir.R(t)
	}
	mv(fr.dst, v)
}

func (in *inliner) reg(r ir.RegInfo) ir.Reg {
	in.out.Regs = append(in.out.Regs, r)
	return ir.Reg(len(in.out.Regs) - 1)
}

// call puts a copy of callee in place of the call src and gives the block that goes on behind it.
func (in *inliner) call(cur *ir.Block, callee *ir.Func, src *ir.Instr, depth int) *ir.Block {
	if depth >= in.nesting {
		cur.Term = ir.Term{Kind: ir.TermFail, Code: ir.ErrMaxNesting, OnErr: src.OnErr, Pos: src.Pos}
		return in.out.Blocks[in.block()] // what follows is not reached
	}
	if in.recursive {
		cur.Instrs = append(cur.Instrs, ir.Instr{Op: ir.OpNone, Name: NestCheck, N: int64(depth), Dst: ir.NoReg,
			Glob: -1, OnErr: src.OnErr, Pos: src.Pos})
	}
	fr := frame{reg: ir.Reg(len(in.out.Regs)), block: ir.BlockID(len(in.out.Blocks)), onErr: src.OnErr, dst: src.Dst,
		iters: in.iters, depth: depth + 1, call: src}
	in.out.Regs = append(in.out.Regs, callee.Regs...)
	for range callee.Blocks {
		in.block()
	}
	fr.ret = in.block()
	for i, prm := range callee.Params {
		if i < len(src.Args) {
			cur.Instrs = append(cur.Instrs, ir.Instr{Op: ir.OpMov, Dst: prm + fr.reg, Args: []ir.Val{src.Args[i]},
				Glob: -1, OnErr: ir.NoBlock, Pos: src.Pos})
			in.count++
		}
	}
	cur.Term = ir.Term{Kind: ir.TermJump, Then: fr.block, OnErr: src.OnErr, Pos: src.Pos}
	in.copy(callee, fr)
	return in.out.Blocks[fr.ret]
}

func itersOf(f *ir.Func) int {
	n := 0
	for _, b := range f.Blocks {
		for i := range b.Instrs {
			if b.Instrs[i].Op.OnLoop() {
				n = max(n, b.Instrs[i].Iter+1)
			}
		}
	}
	return n
}
