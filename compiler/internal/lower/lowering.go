package lower

import (
	"fmt"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/source"
)

// call is a call of a function of which the compiler makes other instructions: the built-in function's name, how the
// script calls it, and its arguments.
type call struct {
	name, called string
	args         []ir.Val
	sp           source.Span
}

// lowering is how such a function is translated, and what has to be known of the site for it.
type lowering struct {
	need  need
	write func(f builtins, c *call) ir.Val
}

// lowerings are those functions, by the names of their rows. A test walks the rows.
var lowerings map[string]lowering

func init() {
	lowerings = map[string]lowering{
		"pp":        {0, func(f builtins, c *call) ir.Val { return f.siteText(c.name) }},
		"ppfunc":    {0, func(f builtins, c *call) ir.Val { return f.siteText(c.name) }},
		"pn":        {0, func(f builtins, c *call) ir.Val { return f.siteText(c.name) }},
		"probefunc": {needFunc, builtins.probefunc},

		"trunc": {0, func(f builtins, c *call) ir.Val { return f.soft("trunc", c.args[0]) }},

		"max_string_len": {0, func(f builtins, _ *call) ir.Val { return ir.I(int64(f.maxStr() + 1)) }},
		"probe_type":     {needKind, func(f builtins, _ *call) ir.Val { return ir.S(f.text(f.ctx.kind.String())) }},
		"on_host":        {needKind, func(f builtins, _ *call) ir.Val { return known(f.ctx.kind.OnHost()) }},
		"registers_valid": {needKind, func(f builtins,
			_ *call) ir.Val {
			return known(f.ctx.kind.Code() != probe.NoCode)
		}},
		"user_mode":   {needKind, func(f builtins, _ *call) ir.Val { return f.userMode() }},
		"ustack_sure": {needStack, func(f builtins, _ *call) ir.Val { return ir.I(f.ctx.levels) }},

		"go_g":           {needGo, builtins.goroutine},
		"goid":           ofG(8, true, func(g *debuginfo.Goroutine) int64 { return g.GoID }),
		"go_parent_goid": ofG(8, true, func(g *debuginfo.Goroutine) int64 { return g.ParentGoID }),
		"go_pc":          ofG(8, true, func(g *debuginfo.Goroutine) int64 { return g.GoPC }),
		"go_startpc":     ofG(8, true, func(g *debuginfo.Goroutine) int64 { return g.StartPC }),
		"go_status":      ofG(4, false, func(g *debuginfo.Goroutine) int64 { return g.Status }),
		"go_waitreason":  ofG(1, false, func(g *debuginfo.Goroutine) int64 { return g.WaitReason }),

		"gostack":         {needGo, func(f builtins, c *call) ir.Val { return f.gostack(c, false) }},
		"gostack_created": {needGo, func(f builtins, c *call) ir.Val { return f.gostack(c, true) }},

		"stack_number":   {0, func(_ builtins, c *call) ir.Val { return c.args[0] }}, // that is what a stack is
		"stack_numbered": {0, func(_ builtins, c *call) ir.Val { return c.args[0] }},

		"int_arg":       getArg(width{bits: 32, signed: true, inC: true}),
		"uint_arg":      getArg(width{bits: 32, inC: true}),
		"s32_arg":       getArg(width{bits: 32, signed: true}),
		"u32_arg":       getArg(width{bits: 32}),
		"long_arg":      getArg(width{}),
		"ulong_arg":     getArg(width{}),
		"longlong_arg":  getArg(width{}),
		"ulonglong_arg": getArg(width{}),
		"pointer_arg":   getArg(width{}),
		"s64_arg":       getArg(width{}),
		"u64_arg":       getArg(width{}),
		"returnval":     {needArgs | needResult, func(f builtins, c *call) ir.Val { return f.returnval(c.sp) }},

		"set_int_arg":   setArg(width{bits: 32, signed: true, inC: true}),
		"set_uint_arg":  setArg(width{bits: 32, inC: true}),
		"set_s32_arg":   setArg(width{bits: 32, signed: true}),
		"set_u32_arg":   setArg(width{bits: 32}),
		"set_long_arg":  setArg(width{}),
		"set_ulong_arg": setArg(width{}),
		"set_s64_arg":   setArg(width{}),
		"set_u64_arg":   setArg(width{}),
		"set_returnval": {needArgs, builtins.setReturnval},

		"skip_function": {0, func(f builtins, c *call) ir.Val {
			f.wrongContext(c.sp, "%s() is a statement of a probe, not of a function or of an expression", c.called)
			return ir.Val{}
		}},

		"set_user_int8":    store(1, false),
		"set_user_int16":   store(2, false),
		"set_user_int32":   store(4, false),
		"set_user_int64":   store(8, false),
		"set_kernel_int8":  store(1, true),
		"set_kernel_int16": store(2, true),
		"set_kernel_int32": store(4, true),
		"set_kernel_int64": store(8, true),
	}
}

// probefunc is the name of the probed function, or of the one that the program or the kernel has returned to where
// the kernel's return probe fires.
func (f builtins) probefunc(c *call) ir.Val {
	r := ir.NoReg
	switch {
	case f.ctx.uretprobe && !f.ctx.ret.Empty():
		// The kernel's return probe fires in the caller: its function is the probed one there.
		r = f.b.Str("", f.maxStr())
		f.b.Intr("usymname", r, f.reading().loc(f.ctx.ret, nil))
	case f.ctx.kretprobe:
		at := f.b.Long("")
		f.b.Intr("addr", at)
		r = f.b.Str("", f.maxStr())
		f.b.Intr("symname", r, ir.R(at))
	default:
		return f.siteText(c.name)
	}
	return ir.R(r)
}

// store makes a function that changes memory.
func store(size int, kernel bool) lowering {
	return lowering{0, func(f builtins, c *call) ir.Val {
		f.b.Store(c.args[0], c.args[1], size, kernel)
		return ir.Val{}
	}}
}

// ofG makes a function that reads a field of the current goroutine's runtime.g, at an offset that is below 0 where
// it is not known. A thread without a goroutine (its g is nil) gives 0.
func ofG(size int, signed bool, offset func(*debuginfo.Goroutine) int64) lowering {
	return lowering{needGo, func(f builtins, c *call) ir.Val {
		if !f.knowsG(c) {
			return ir.I(0)
		}
		off := offset(f.ctx.g)
		if off < 0 {
			f.wrongContext(c.sp, "%s(): the layout of runtime.g is not known for this program", c.called)
			return ir.I(0)
		}
		return f.ofG(off, size, signed)
	}}
}

// goroutine is go_g().
func (f builtins) goroutine(c *call) ir.Val {
	if !f.knowsG(c) {
		return ir.I(0)
	}
	return f.currentG(f.ctx.g)
}

// knowsG reports whether it is known where the current goroutine is.
func (f builtins) knowsG(c *call) bool {
	switch {
	case !f.ctx.inGo:
		f.wrongContext(c.sp, "%s() is known in probes of Go programs only", c.called)
	case f.ctx.g == nil:
		f.wrongContext(c.sp, "%s(): where the current goroutine is cannot be told in this program", c.called)
	default:
		return true
	}
	return false
}

// ofG reads a field of the current goroutine's runtime.g.
func (f builtins) ofG(off int64, size int, signed bool) ir.Val {
	p := f.currentG(f.ctx.g)
	key := fmt.Sprintf("go %d %d %v", off, size, p)
	if v, ok := f.cse[key]; ok {
		return v
	}
	r := f.b.Long("")
	has, none, join := f.b.Block(), f.b.Block(), f.b.Block()
	f.b.Branch(p, has, none)
	f.to(none)
	f.b.Mov(r, ir.I(0))
	f.b.Jump(join)
	f.to(has)
	f.b.Mov(r, f.b.Load(f.b.Bin(ir.OpAdd, p, ir.I(off)), size, signed, false))
	f.b.Jump(join)
	f.to(join)
	f.cse[key] = ir.R(r)
	return ir.R(r)
}

// width is how much of an argument counts for a function of int_arg's family: all of it where bits is 0, and where
// inC is set and the function is none of C. A Go int has 64 bits, C's has 32.
type width struct {
	bits        int64
	signed, inC bool
}

// counts reports whether the width is less than all of an argument at the site.
func (w width) counts(f *fn) bool { return w.bits > 0 && (!w.inC || f.ctx.abi == debuginfo.SysV) }

// getArg makes int_arg(n) and its kin: the n-th integer argument by the calling convention.
func getArg(w width) lowering {
	return lowering{needArgs, func(f builtins, c *call) ir.Val {
		p, ok := f.argPlace(c.called, c.args, c.sp)
		if !ok {
			return ir.I(0)
		}
		if w.counts(f.fn) {
			p = p.Then(loc.Step{Op: loc.Bits, Size: int(w.bits), Signed: w.signed})
		}
		return f.reading().loc(p, nil)
	}}
}

// setArg makes set_int_arg(n, v) and its kin.
func setArg(w width) lowering {
	return lowering{needArgs, func(f builtins, c *call) ir.Val {
		p, ok := f.argPlace(c.called, c.args[:1], c.sp)
		if !ok {
			return ir.Val{}
		}
		v := c.args[1]
		if w.counts(f.fn) {
			v = f.writing().cutTo(v, w.bits, w.signed)
		}
		f.setAt(p, v, c)
		return ir.Val{}
	}}
}

// setReturnval is set_returnval(v).
func (f builtins) setReturnval(c *call) ir.Val {
	if f.ctx.callReturn {
		f.setAt(loc.Event(ir.SyscallRet), c.args[0], c)
	} else if f.returns(c.called, c.sp) {
		f.setAt(loc.Register(f.resultReg()), c.args[0], c)
	}
	return ir.Val{}
}

// setAt changes what is at p.
func (f builtins) setAt(p loc.Prog, v ir.Val, c *call) {
	switch last := p.Steps[len(p.Steps)-1]; last.Op {
	case loc.Reg:
		f.b.SetReg(last.N, v)
	case loc.TraceArg:
		if !f.ctx.setsWord(last.N) {
			f.wrongContext(c.sp, "%s(): a system call has its arguments changed where it begins", c.called)
		}
		f.b.Intr(setWord, ir.NoReg, ir.I(last.N), v)
	case loc.Deref:
		f.b.Store(f.reading().loc(loc.Prog{Steps: p.Steps[:last.A+1]}, nil), v, 8, last.Kernel)
	}
}
