package partition

import (
	"maps"
	"slices"

	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/intrinsic"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/compiler/types"
	"github.com/gostap/gostap/runtime/wire"
)

// A deferred handler is cut in two. The stub, which the kernel runs, does in a row all
// that reads the probed place, whether the handler would come to it or not; what fails is
// noted beside the value. The host's body has the values as parameters, and where it
// comes to a reading that failed it raises the error then.
//
// A reading can move to the stub if what it depends on can: constants, other readings and
// arithmetic on those. Which definition of a register an operand has is known when it has only one, or
// when one stands before the use in the same block.

// reads reports whether in looks at the probed place or at the moment of the hit.
func reads(in *ir.Instr) bool {
	switch in.Op {
	case ir.OpReg, ir.OpTLS, ir.OpBias, ir.OpLoad, ir.OpSite, ir.OpTraceArg:
		return true
	case ir.OpIntr:
		f := in.Builtin()
		if in.Dst == ir.NoReg || f.Later {
			return false
		}
		return f.Const == 0 || in.Args[f.Const-1].Kind == ir.ValStr
	}
	return false
}

// canFail reports whether a reading can raise an error, which is always that of an address.
func canFail(in *ir.Instr) bool {
	if in.Op == ir.OpIntr {
		return in.Builtin().Fails == intrinsic.Faults
	}
	return in.Op == ir.OpLoad
}

// movable reports whether in may run in the stub although it reads nothing.
func movable(in *ir.Instr) bool {
	switch in.Op {
	case ir.OpMov, ir.OpAdd, ir.OpSub, ir.OpMul, ir.OpAnd, ir.OpOr, ir.OpXor, ir.OpShl, ir.OpShr, ir.OpSar, ir.OpNeg,
		ir.OpNot, ir.OpEq, ir.OpNe, ir.OpLt, ir.OpLe, ir.OpGt, ir.OpGe, ir.OpULt:
		return true
	}
	return false
}

type cutter struct {
	src  *ir.Func
	defs []site // the only definition of each register, with a nil block if there are more or none
	stub *ir.Builder
	// moved holds the register of the stub for each instruction that is in it, NoReg for those that cannot be.
	moved map[*ir.Instr]ir.Reg
	vals  map[*ir.Instr]int // index of its Value
	// stacks are the instructions that are in the stub for a stack's text, by the name of the function.
	stacks map[string]*ir.Instr
	// known are the registers that the host's part begins with, by the index of the Value; written those that it
	// changes.
	known   map[ir.Reg]int
	written map[ir.Reg]bool
	// named is set when the host names addresses of the process by itself, whose number is Value pid.
	named bool
	pid   int
	h     *Handler
	o     Options
}

// at is where an instruction stands.
type site struct {
	b *ir.Block
	i int
}

func (a site) instr() *ir.Instr { return &a.b.Instrs[a.i] }

// capture cuts d's handler into h's two parts: behind what the kernel can decide, else at its beginning. It reports
// whether one of that could be done.
func (d *draft) capture(p *ir.Program, h *Handler, o Options, ds *diag.List) bool {
	if d.at != (point{}) {
		var late diag.List
		if cut(p, h, d.whole, d.at, o, &late) {
			ds.AddAll(late)
			return true
		}
		h.Values, h.Faults = nil, false
		var first diag.List
		if cut(p, h, d.whole, point{}, o, &first) {
			ds.AddAll(first)
			return true
		}
		ds.AddAll(late) // what is before the place is in the way of the second attempt only
		return false
	}
	return cut(p, h, d.whole, point{}, o, ds)
}

// cut does that at a place.
func cut(p *ir.Program, h *Handler, w whole, at point, o Options, ds *diag.List) bool {
	pr := p.Probes[h.Probe]
	kernel, last, body := at.split(w.body)
	c := &cutter{src: body, defs: single(body), stub: ir.Continue(kernel, last), moved: map[*ir.Instr]ir.Reg{},
		vals: map[*ir.Instr]int{}, stacks: map[string]*ir.Instr{}, h: h, o: o}
	// What the kernel's part has worked out.
	c.known, c.written = map[ir.Reg]int{}, map[ir.Reg]bool{}
	for _, b := range body.Blocks {
		for i := range b.Instrs {
			c.written[b.Instrs[i].Dst] = true
		}
	}
	for _, r := range Liveness(body).Into(0) {
		c.known[r] = len(h.Values)
		c.defs[r] = site{} // that it comes with a value is one definition more
		h.Values = append(h.Values, Value{Reg: r, Fault: ir.NoReg})
	}
	ok, late := true, false
	for _, b := range order(body) {
		for i := range body.Blocks[b].Instrs {
			in := &body.Blocks[b].Instrs[i]
			if in.Op == ir.OpCall && !c.called(p, in, w, ds) {
				ok = false
			}
			if !reads(in) || in.Dst == ir.NoReg {
				continue
			}
			if c.move(site{body.Blocks[b], i}) != ir.NoReg {
				continue
			}
			if in.Op == ir.OpIntr && in.Builtin().Of != "" {
				c.named = true // the host can name addresses when it knows the process
				continue
			}
			user, inner := p.Blame(pr, in.Pos, in.Via)
			if readsKernel(in) {
				// Kernel memory is there for the host as well, only later.
				if !late {
					late = true
					d := ds.Warnf(diag.Build, "late-read", source.At(user),
						"this kernel memory is read after the hit, when it may have changed: where it is depends on "+
							"something that only the host knows").Within(inner)
					because(d, p, pr, w).
						Hintf("take the value before, in a variable%s", o.elsewhere())
				}
				continue
			}
			ok = false
			d := ds.Errorf(diag.Build, "bpf-deferred", source.At(user),
				"this is read at the probed place, but where it is depends on something that only the host "+
					"knows").Within(inner)
			because(d, p, pr, w).
				Hintf("take the value before, in a variable%s", o.elsewhere())
		}
	}
	if c.named {
		c.pid = len(h.Values)
		r := c.stub.Long("")
		c.stub.Intr("pid", r)
		h.Values = append(h.Values, Value{Reg: r, Fault: ir.NoReg})
	}
	for _, v := range h.Values {
		h.Faults = h.Faults || v.Fault != ir.NoReg
	}
	h.HostBody = c.host()
	h.Body = c.stub.Finish()
	h.Subs = nil
	if at != (point{}) {
		h.Subs = w.subs
	}
	return ok
}

// called checks that a recursive function, which the host runs as it is, reads nothing at the probed place.
func (c *cutter) called(p *ir.Program, call *ir.Instr, w whole, ds *diag.List) bool {
	subs, err := Subs(p, &ir.Func{Blocks: []*ir.Block{{Instrs: []ir.Instr{*call}}}}, p.Nesting())
	if err != nil {
		return false
	}
	for name, f := range subs {
		for _, b := range f.Blocks {
			for i := range b.Instrs {
				if in := &b.Instrs[i]; reads(in) {
					pr := p.Probes[c.h.Probe]
					at, inner := p.Blame(pr, in.Pos, in.Via)
					d := ds.Errorf(diag.Build, "bpf-deferred", source.At(at),
						"the recursive function %s reads this at the probed place, but the host runs it", name).
						Within(inner)
					because(d, p, pr, w).
						Hintf("pass the value as an argument%s", c.o.elsewhere())
					return false
				}
			}
		}
	}
	return true
}

// single finds the registers with one definition.
func single(f *ir.Func) []site {
	defs := make([]site, len(f.Regs))
	n := make([]int, len(f.Regs))
	for _, r := range f.Params {
		n[r]++
	}
	for _, b := range f.Blocks {
		for i := range b.Instrs {
			if d := b.Instrs[i].Dst; d != ir.NoReg {
				defs[d] = site{b, i}
				n[d]++
			}
		}
	}
	for i := range defs {
		if n[i] != 1 {
			defs[i] = site{}
		}
	}
	return defs
}

// def finds the definition of r that the instruction at p sees.
func (c *cutter) def(p site, r ir.Reg) site {
	for i := p.i - 1; i >= 0; i-- {
		if p.b.Instrs[i].Dst == r {
			return site{p.b, i}
		}
	}
	return c.defs[r]
}

// order lists the blocks that can be reached so that a block comes before those behind it, loops aside.
func order(f *ir.Func) []ir.BlockID {
	post := f.PostOrder()
	slices.Reverse(post)
	return post
}

// move puts an instruction into the stub, and what it depends on, and gives its register there, NoReg if that
// is not possible.
func (c *cutter) move(p site) ir.Reg {
	in := p.instr()
	if r, ok := c.moved[in]; ok {
		return r
	}
	c.moved[in] = ir.NoReg
	if !reads(in) && !movable(in) {
		return ir.NoReg
	}
	if in.Op == ir.OpIntr && in.Builtin().Text.Kind == wire.Stack {
		// The stack is the same one all through the handler.
		if same := c.stacks[in.Name]; same != nil {
			c.moved[in], c.vals[in] = c.moved[same], c.vals[same]
			return c.moved[in]
		}
		c.stacks[in.Name] = in
	}
	n := *in
	n.Args = append([]ir.Val(nil), in.Args...)
	for i, a := range n.Args {
		if !a.IsReg() {
			continue
		}
		d := c.def(p, a.Reg)
		if _, known := c.known[a.Reg]; known && d.b == nil && !c.written[a.Reg] {
			continue // the kernel's part has it
		}
		if d.b == nil {
			return ir.NoReg
		}
		r := c.move(d)
		if r == ir.NoReg {
			return r
		}
		n.Args[i] = ir.R(r)
	}
	b := c.stub
	info := c.src.Regs[in.Dst]
	n.Dst = b.Reg(info.Name, info.Type, info.Cap)
	c.moved[in] = n.Dst
	if !reads(in) {
		b.Emit(n)
		return n.Dst
	}
	v := Value{Reg: n.Dst, Fault: ir.NoReg}
	if canFail(in) {
		v.Fault = b.Long("")
		b.Mov(v.Fault, ir.I(0))
		bad, on := b.Block(), b.Block()
		n.OnErr = bad
		b.Emit(n)
		b.Jump(on)
		b.SetBlock(bad)
		b.Mov(v.Fault, ir.I(int64(ir.ErrMemory)))
		if info.Type == types.String {
			b.Mov(n.Dst, ir.S(""))
		} else {
			b.Mov(n.Dst, ir.I(0))
		}
		b.Jump(on)
		b.SetBlock(on)
	} else {
		n.OnErr = ir.NoBlock
		b.Emit(n)
	}
	c.vals[in] = len(c.h.Values)
	c.h.Values = append(c.h.Values, v)
	return n.Dst
}

// host writes the body for the host.
func (c *cutter) host() *ir.Func {
	src := c.src
	out := &ir.Func{Pos: src.Pos, Regs: append([]ir.RegInfo(nil), src.Regs...)}
	// The parameters are registers of their own behind those of the handler.
	param := make([]ir.Reg, len(c.h.Values))
	fault := make([]ir.Reg, len(c.h.Values))
	for i, v := range c.h.Values {
		param[i] = ir.Reg(len(out.Regs))
		out.Regs = append(out.Regs, c.stub.F.Regs[v.Reg])
		out.Params = append(out.Params, param[i])
		fault[i] = ir.NoReg
		if c.h.Faults {
			fault[i] = ir.Reg(len(out.Regs))
			out.Regs = append(out.Regs, ir.RegInfo{Type: types.Long})
			out.Params = append(out.Params, fault[i])
		}
	}
	for _, b := range src.Blocks {
		out.Blocks = append(out.Blocks, &ir.Block{Term: b.Term})
	}
	for _, r := range slices.Sorted(maps.Keys(c.known)) {
		out.Blocks[0].Instrs = append(out.Blocks[0].Instrs,
			ir.Instr{Op: ir.OpMov, Dst: r, Args: []ir.Val{ir.R(param[c.known[r]])}, Glob: -1, OnErr: ir.NoBlock,
				Pos: src.Pos})
	}
	for id, b := range src.Blocks {
		cur := out.Blocks[id]
		for i := range b.Instrs {
			in := &b.Instrs[i]
			n, ok := c.vals[in]
			if !ok && c.named && in.Op == ir.OpIntr && in.Builtin().Of != "" {
				of := *in
				of.Name, of.Args = in.Builtin().Of, []ir.Val{in.Args[0], ir.R(param[c.pid])}
				cur.Instrs = append(cur.Instrs, of)
				continue
			}
			if !ok {
				cur.Instrs = append(cur.Instrs, *in)
				continue
			}
			if c.h.Values[n].Fault != ir.NoReg {
				bad, on := ir.BlockID(len(out.Blocks)), ir.BlockID(len(out.Blocks)+1)
				var args []ir.Val
				if len(in.Args) > 0 && !isString(src, in.Args[0]) {
					args = in.Args[:1]
				}
				out.Blocks = append(out.Blocks,
					&ir.Block{Term: ir.Term{Kind: ir.TermFail, Code: ir.ErrMemory, Args: args, OnErr: in.OnErr,
						Pos: in.Pos}},
					&ir.Block{Term: cur.Term})
				cur.Term = ir.Term{Kind: ir.TermBranch, Cond: ir.R(fault[n]), Then: bad, Else: on, OnErr: ir.NoBlock,
					Pos: in.Pos}
				cur = out.Blocks[on]
			}
			cur.Instrs = append(cur.Instrs, ir.Instr{Op: ir.OpMov, Dst: in.Dst, Args: []ir.Val{ir.R(param[n])},
				Glob: -1, OnErr: ir.NoBlock, Pos: in.Pos})
		}
	}
	return out
}

func isString(f *ir.Func, v ir.Val) bool {
	return v.Kind == ir.ValStr || v.IsReg() && f.Regs[v.Reg].Type == types.String
}
