package interp

import (
	"math"

	"github.com/gostap/gostap/compiler/intrinsic"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/compiler/types"
	"github.com/gostap/gostap/runtime/wire"
)

// Functions are decoded once: blocks become one list of insts, jumps and error exits indexes into
// it, operands slots of the frame. Longs and strings have slots of their own; constants are in slots
// behind the registers, so that reading an operand never branches.

// Ends of blocks are operations behind those of ir.
const (
	opJump ir.Op = 200 + iota
	opBranch
	opReturn
	opEnd
	opFail
	opSkip
)

// arg is an operand of an operation that takes both types.
type arg struct {
	slot      int32
	str, star bool
	// cap is what a string is cut to: of the key column or parameter.
	cap int32
}

type inst struct {
	op        ir.Op
	dstStr    bool
	signed    bool
	kernel    bool
	captured  bool // an intrinsic whose value may have been captured
	scalar    bool
	mem       bool // the format has %m or %M
	star      bool // a key is *
	dst       int32
	a, b      int32 // slots of the first two operands
	cap       int32 // of dst
	valCap    int32 // of the value stored
	glob      int32
	iter      int32
	onErr     int32 // inst to go on at, -1: leave the function
	then, els int32
	n         int64
	name      string
	args      []arg // all operands, or those behind the keys
	keys      []arg
	fn        *fn
	call      builtin
	format    *ir.Format
	order     ir.Order
	code      ir.Code
	cause     ir.Cause
	pos       source.Pos
	src       *ir.Instr
	view      *viewPlan // of OpLock: go on with copies
}

// fn is a decoded function.
type fn struct {
	name       string
	code       []inst
	params     []arg // slots of the parameters
	ints, strs int   // slots of registers
	intConst   []int64
	strConst   []string
	iters      int
	result     types.Type
	resultCap  int
}

func (f *fn) intSlots() int { return f.ints + len(f.intConst) }
func (f *fn) strSlots() int { return f.strs + len(f.strConst) }

// decoder turns one ir.Func into a fn.
type decoder struct {
	m     *Machine
	p     *ir.Program
	src   *ir.Func
	f     *fn
	slots []arg // of each register
	ints  map[int64]int32
	strs  map[string]int32
	start []int32 // first inst of each block
	funcs map[string]*fn
}

func (m *Machine) decode(funcs map[string]*fn, f *fn, src *ir.Func) {
	d := &decoder{m: m, p: m.p, src: src, f: f, ints: map[int64]int32{}, strs: map[string]int32{}, funcs: funcs}
	f.name, f.result, f.resultCap = src.Name, src.Result, src.ResultCap
	d.slots = make([]arg, len(src.Regs))
	for i, r := range src.Regs {
		if r.Type == types.String {
			d.slots[i] = arg{slot: int32(f.strs), str: true, cap: int32(r.Cap)}
			f.strs++
		} else {
			d.slots[i] = arg{slot: int32(f.ints)}
			f.ints++
		}
	}
	for _, r := range src.Params {
		f.params = append(f.params, d.slots[r])
	}
	n := int32(0)
	for _, b := range src.Blocks {
		d.start = append(d.start, n)
		n += int32(len(b.Instrs)) + 1
	}
	f.code = make([]inst, 0, n)
	for _, b := range src.Blocks {
		for i := range b.Instrs {
			f.code = append(f.code, d.instr(&b.Instrs[i]))
		}
		f.code = append(f.code, d.term(&b.Term))
	}
}

func (d *decoder) block(b ir.BlockID) int32 {
	if b == ir.NoBlock {
		return -1
	}
	return d.start[b]
}

func (d *decoder) arg(v ir.Val) arg {
	switch v.Kind {
	case ir.ValReg:
		return d.slots[v.Reg]
	case ir.ValInt:
		s, ok := d.ints[v.Int]
		if !ok {
			s = int32(d.f.ints + len(d.f.intConst))
			d.f.intConst = append(d.f.intConst, v.Int)
			d.ints[v.Int] = s
		}
		return arg{slot: s}
	case ir.ValStr:
		s, ok := d.strs[v.Str]
		if !ok {
			s = int32(d.f.strs + len(d.f.strConst))
			d.f.strConst = append(d.f.strConst, v.Str)
			d.strs[v.Str] = s
		}
		return arg{slot: s, str: true, cap: int32(len(v.Str))}
	}
	return arg{star: true}
}

func (d *decoder) args(vs []ir.Val) []arg {
	var out []arg
	for _, v := range vs {
		out = append(out, d.arg(v))
	}
	return out
}

func (d *decoder) instr(src *ir.Instr) inst {
	in := inst{op: src.Op, dst: -1, glob: int32(src.Glob), iter: int32(src.Iter), onErr: -1, n: src.N, name: src.Name,
		signed: src.Signed, kernel: src.Kernel, pos: src.Pos, src: src}
	if src.Op.CanFail() {
		in.onErr = d.block(src.OnErr)
	}
	if src.Dst != ir.NoReg {
		s := d.slots[src.Dst]
		in.dst, in.dstStr, in.cap = s.slot, s.str, s.cap
	}
	in.args = d.args(src.Args)
	for i, a := range in.args {
		switch i {
		case 0:
			in.a = a.slot
		case 1:
			in.b = a.slot
		}
	}
	switch {
	case src.Op.OnGlobal() && !src.Op.OnLoop():
		g := d.p.Globals[src.Glob]
		in.scalar, in.valCap = !g.IsArray(), int32(g.Cap)
		if src.Op != ir.OpMClear {
			d.keys(&in, g, len(g.Keys))
		}
	case src.Op.OnLoop():
		d.f.iters = max(d.f.iters, src.Iter+1)
		if src.Op == ir.OpIterOpen {
			in.order, _ = ir.ParseOrder(src.Name)
			limit := len(src.Args) - 1
			none := src.Args[limit] == ir.I(-1)
			d.keys(&in, d.p.Globals[src.Glob], limit)
			if none {
				in.args = nil
			}
		}
	case src.Op == ir.OpPrint || src.Op == ir.OpSprint:
		in.format = d.p.Formats[src.N]
		for _, p := range in.format.Pieces {
			in.mem = in.mem || p.Conv == 'm' || p.Conv == 'M'
		}
	case src.Op == ir.OpCall:
		in.fn = d.funcs[src.Name]
	case src.Op == ir.OpIntr:
		f := intrinsic.Lookup(src.Name)
		in.call, in.captured = builtins[src.Name], !f.Later
		if f.Result == types.String {
			in.valCap = int32(d.m.maxStr)
			if f.Cap > 0 {
				in.valCap = min(in.valCap, int32(f.Cap))
			}
			// Printed as a whole; strings that it is copied to cut it.
			if f.Text.Lazy == wire.KeptStack || f.Text.Lazy == wire.KeptFolded {
				in.valCap, in.cap = math.MaxInt32, math.MaxInt32
			}
		}
	}
	return in
}

// keys splits the first n operands off as keys of g.
func (d *decoder) keys(in *inst, g *ir.Global, n int) {
	in.keys, in.args = in.args[:n], in.args[n:]
	for i := range in.keys {
		in.keys[i].cap = int32(g.Keys[i].Cap)
		in.star = in.star || in.keys[i].star
	}
	if len(in.args) > 0 {
		in.a = in.args[0].slot
	}
}

func (d *decoder) term(t *ir.Term) inst {
	in := inst{dst: -1, onErr: -1, pos: t.Pos, code: t.Code, cause: t.Cause}
	switch t.Kind {
	case ir.TermJump:
		in.op, in.then = opJump, d.start[t.Then]
	case ir.TermBranch:
		in.op, in.then, in.els = opBranch, d.start[t.Then], d.start[t.Else]
		in.a = d.arg(t.Cond).slot
	case ir.TermReturn:
		in.op = opReturn
		if t.Cond.Kind != ir.ValNone {
			in.args = []arg{d.arg(t.Cond)}
		}
	case ir.TermEnd:
		in.op = opEnd
	case ir.TermFail:
		in.op, in.args, in.onErr = opFail, d.args(t.Args), d.block(t.OnErr)
	case ir.TermSkip:
		in.op = opSkip
	}
	return in
}
