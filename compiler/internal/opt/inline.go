package opt

import (
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/softfloat"
	"github.com/gostap/gostap/compiler/types"
)

// What is inlined: functions that are called from one place, small ones, and larger ones that give a
// string, since that mostly goes into a print and then need not be made at all. A caller does not
// grow beyond inlineCaller instructions by it.
const (
	inlineSmall  = 24
	inlineText   = 120
	inlineCaller = 2000
	// The arithmetic of floats has no branches, and a call of it many ways back, each of which the kernel's verifier
	// walks.
	inlineFloats = 20000
	// inlineAll is how many instructions may be added to a whole program, with as many again as it has.
	inlineAll = 200000
)

// InlineCalls puts the bodies of functions in place of calls, so that what the caller knows of the
// arguments reaches them and a sprint that is returned can go where it is printed. Recursive
// functions stay, and those with a try of their own, since the error that is pending in the
// caller must outlive the call. Cost: linear in the size of what comes out.
func InlineCalls(p *ir.Program) {
	if len(p.Funcs) == 0 {
		return
	}
	in := &inliner{p: p, byName: map[string]*ir.Func{}, calls: map[string]int{}, done: map[*ir.Func]bool{}}
	for _, f := range p.Funcs {
		in.byName[f.Name] = f
	}
	eachFunc(p, func(f *ir.Func) {
		eachInstr(f, func(i *ir.Instr) {
			in.room++
			if i.Op == ir.OpCall {
				in.calls[i.Name]++
			}
		})
	})
	in.room += inlineAll
	eachFunc(p, in.fn)
	unusedFuncs(p)
}

type inliner struct {
	p      *ir.Program
	byName map[string]*ir.Func
	calls  map[string]int
	done   map[*ir.Func]bool
	room   int // instructions that may still be added
}

// fn inlines in f, after having done so in what it calls.
func (n *inliner) fn(f *ir.Func) {
	if n.done[f] {
		return
	}
	n.done[f] = true
	size := 0
	eachInstr(f, func(i *ir.Instr) {
		size++
		if c := n.byName[i.Name]; i.Op == ir.OpCall && c != nil {
			n.fn(c)
		}
	})
	iters := numIters(f)
	for b := 0; b < len(f.Blocks); b++ { // the blocks that are added are looked at as well, and have calls that stay
		for i := range f.Blocks[b].Instrs {
			call := f.Blocks[b].Instrs[i]
			if call.Op != ir.OpCall {
				continue
			}
			callee := n.byName[call.Name]
			if callee == nil || callee == f || !n.worth(callee) {
				continue
			}
			grow, more := numInstrs(callee), numIters(callee)
			limit := inlineCaller
			if softfloat.Is(callee.Name) {
				limit = inlineFloats
			}
			if size+grow > limit || grow > n.room || iters+more > ir.MaxIters {
				continue
			}
			inlineAt(n.p, f, b, i, callee, iters)
			size += grow
			n.room -= grow
			iters += more
			break // the rest of the block is in a new one
		}
	}
}

func (n *inliner) worth(c *ir.Func) bool {
	most := inlineSmall
	if c.Result == types.String {
		most = inlineText
	}
	if c.Recursive || n.calls[c.Name] > 1 && numInstrs(c) > most && !softfloat.Is(c.Name) {
		return false
	}
	for _, b := range c.Blocks {
		if b.Term.Kind == ir.TermFail && b.Term.OnErr != ir.NoBlock {
			return false
		}
		for i := range b.Instrs {
			if b.Instrs[i].Op.CanFail() && b.Instrs[i].OnErr != ir.NoBlock {
				return false
			}
		}
	}
	return true
}

func numInstrs(f *ir.Func) int {
	n := 0
	for _, b := range f.Blocks {
		n += len(b.Instrs) + 1
	}
	return n
}

// numIters is one more than the highest iterator of f.
func numIters(f *ir.Func) int {
	n := 0
	eachInstr(f, func(in *ir.Instr) {
		if in.Op == ir.OpIterOpen {
			n = max(n, in.Iter+1)
		}
	})
	return n
}

// inlineAt replaces instruction i of block b by the body of callee.
func inlineAt(p *ir.Program, f *ir.Func, b, i int, callee *ir.Func, iters int) {
	blk := f.Blocks[b]
	call := blk.Instrs[i]
	reg0 := ir.Reg(len(f.Regs))
	f.Regs = append(f.Regs, callee.Regs...)
	rest := &ir.Block{Instrs: append([]ir.Instr(nil), blk.Instrs[i+1:]...), Term: blk.Term}
	blk.Instrs = blk.Instrs[:i:i]
	restID := ir.BlockID(len(f.Blocks))
	f.Blocks = append(f.Blocks, rest)
	block0 := ir.BlockID(len(f.Blocks))

	mov := func(dst ir.Reg, v ir.Val, pos *ir.Instr) ir.Instr {
		return ir.Instr{Op: ir.OpMov, Dst: dst, Args: []ir.Val{v}, Glob: -1, OnErr: ir.NoBlock, Pos: pos.Pos}
	}
	for j, r := range callee.Params {
		blk.Instrs = append(blk.Instrs, mov(reg0+r, call.Args[j], &call))
	}
	blk.Term = ir.Term{Kind: ir.TermJump, Then: block0, OnErr: ir.NoBlock, Pos: call.Pos}

	shift := func(v *ir.Val) { v.Reg += reg0 }
	vals := func(vs []ir.Val) []ir.Val {
		vs = append([]ir.Val(nil), vs...)
		uses(vs, shift)
		return vs
	}
	// A string result is cut to the function's own measure before that of the call's register.
	result := call.Dst
	if result != ir.NoReg && callee.Result == types.String && callee.ResultCap < f.Regs[result].Cap {
		result = ir.Reg(len(f.Regs))
		f.Regs = append(f.Regs, ir.RegInfo{Type: types.String, Cap: callee.ResultCap})
		rest.Instrs = append([]ir.Instr{mov(call.Dst, ir.R(result), &call)}, rest.Instrs...)
	}
	for _, src := range callee.Blocks {
		dst := &ir.Block{Instrs: append([]ir.Instr(nil), src.Instrs...), Term: src.Term}
		for j := range dst.Instrs {
			in := &dst.Instrs[j]
			in.Args = vals(in.Args)
			in.Via = p.Through(in, &call)
			if in.Dst != ir.NoReg {
				in.Dst += reg0
			}
			if in.Op.OnLoop() {
				in.Iter += iters
			}
			if in.Op.CanFail() {
				in.OnErr = call.OnErr
			}
		}
		t := &dst.Term
		t.Args = vals(t.Args)
		if t.Cond.Kind == ir.ValReg {
			shift(&t.Cond)
		}
		switch t.Kind {
		case ir.TermJump:
			t.Then += block0
		case ir.TermBranch:
			t.Then += block0
			t.Else += block0
		case ir.TermFail:
			t.OnErr = call.OnErr
		case ir.TermReturn:
			if result != ir.NoReg {
				dst.Instrs = append(dst.Instrs, mov(result, t.Cond, &call))
			}
			*t = ir.Term{Kind: ir.TermJump, Then: restID, OnErr: ir.NoBlock, Pos: t.Pos}
		}
		f.Blocks = append(f.Blocks, dst)
	}
}
