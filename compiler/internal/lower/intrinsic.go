package lower

import (
	"fmt"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/intrinsic"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/compiler/types"
)

// intrinsic translates a call of a built-in function. exprs are the arguments as written,
// nil if they are not.
func (f builtins) intrinsic(ef *elab.Func, args []ir.Val, exprs []ast.Expr, sp source.Span) ir.Val {
	in := ef.Intrinsic
	f.at(sp)
	if in.Where == intrinsic.Lowered {
		return lowerings[in.Name].write(f, &call{in.Name, ef.Decl.Name.Name, args, sp})
	}
	if in.Name == "error" {
		f.b.Fail(ir.ErrUser, args...)
		f.to(f.b.Block()) // nothing leads here
		return ir.Val{}
	}
	if n := in.Const - 1; in.Table && n < len(exprs) {
		// The table is no value of the script, so MAXSTRINGLEN does not cut it.
		if l, ok := ast.Unparen(exprs[n]).(*ast.Literal); ok && l.IsString {
			args[n] = ir.S(l.Str)
		}
	}
	dst := ir.NoReg
	switch in.Result {
	case types.Long:
		dst = f.b.Long("")
	case types.String:
		dst = f.b.Str("", f.intrinsicCap(in, args))
	}
	f.b.Intr(in.Name, dst, args...)
	if dst == ir.NoReg {
		return ir.Val{}
	}
	return ir.R(dst)
}

// intrinsicCap bounds the string that an intrinsic gives.
func (f builtins) intrinsicCap(in *intrinsic.Func, args []ir.Val) int {
	n := f.maxStr()
	switch {
	case in.Cap > 0:
		n = min(n, in.Cap)
	case in.Cap < 0 && -in.Cap <= len(args):
		n = min(n, f.capOf(args[-in.Cap-1]))
	}
	return n
}

func known(b bool) ir.Val {
	if b {
		return ir.I(1)
	}
	return ir.I(0)
}

// userMode is 1 where a program was interrupted. Probes that a clock fires interrupt both: addresses of
// the kernel have their highest bit set.
func (f builtins) userMode() ir.Val {
	switch k := f.ctx.kind; {
	case k.OfProcess():
		return ir.I(1)
	case k.Code() == probe.AnyCode:
		return f.b.Bin(ir.OpGe, f.reading().loc(loc.Register(f.out.On().IP), nil), ir.I(0))
	}
	return ir.I(0)
}

// siteText is an attribute of the site that fired: a constant where all sites agree.
func (f builtins) siteText(name string) ir.Val {
	if f.ef == nil && len(f.sites) > 0 {
		first, same := attribute(f.sites[0], name), true
		for _, s := range f.sites[1:] {
			if attribute(s, name) != first {
				same = false
				break
			}
		}
		// What system calls are called stays open, so that their handlers can become one (opt.JoinProbes).
		if same && !f.joinable(name) {
			return ir.S(f.text(first))
		}
	}
	r := f.b.Str("", f.siteCap(name))
	f.b.Named(ir.OpSite, name, r)
	return ir.R(r)
}

// joinable reports whether the attribute of the one site is that of a system call.
func (f builtins) joinable(name string) bool {
	s := f.sites[0]
	return name == "ppfunc" && len(f.sites) == 1 && s.Kind.Class() == probe.Syscall
}

func attribute(s *probe.Site, name string) string {
	switch name {
	case "pp":
		return s.Point
	case "pn":
		return s.Alias
	}
	return s.Func
}

// siteCap is the length of the longest value that an attribute has at any site of the program.
func (l *lowerer) siteCap(name string) int {
	if n, ok := l.siteCaps[name]; ok {
		return n
	}
	n := 1
	for _, pr := range l.p.Probes {
		for _, s := range pr.Sites {
			n = max(n, len(attribute(s, name)))
		}
	}
	n = min(n, l.maxStr())
	l.siteCaps[name] = n
	return n
}

func (f builtins) wrongContext(sp source.Span, format string, args ...any) *diag.Diagnostic {
	d := f.ds.Errorf(diag.Semantic, CodeContext, sp, format, args...)
	if s := f.ctx.site; s != nil {
		d.Note(source.Span{}, "used at %s", s.Point)
	}
	return d
}

// currentG is the address of the current goroutine's runtime.g, 0 if there is none. In C code it is that of the
// goroutine that called C.
func (f builtins) currentG(g *debuginfo.Goroutine) ir.Val {
	own := f.reading().loc(g.G, nil)
	if !g.System {
		return own
	}
	key := fmt.Sprintf("go caller %v", own)
	if v, ok := f.cse[key]; ok {
		return v
	}
	at := func(p ir.Val, off int64, size int, signed bool) ir.Val {
		return f.b.Load(f.b.Bin(ir.OpAdd, p, ir.I(off)), size, signed, false)
	}
	r := f.b.Long("")
	none, join := f.b.Block(), f.b.Block()
	// A thread that C made has no g as long as it has not called Go, and what it runs of C then has no caller either.
	next := func(cond ir.Val) {
		b := f.b.Block()
		f.b.Branch(cond, b, none)
		f.to(b)
	}
	next(own)
	m := at(own, g.M, 8, false)
	next(m)
	next(f.b.Bin(ir.OpGt, at(m, g.NCgo, 4, true), ir.I(0)))
	f.b.Mov(r, at(m, g.CurG, 8, false))
	f.b.Jump(join)
	f.to(none)
	f.b.Mov(r, ir.I(0))
	f.b.Jump(join)
	f.to(join)
	f.cse[key] = ir.R(r)
	return ir.R(r)
}

// argPlace is where the n-th integer argument is, all 64 bits of it.
func (f builtins) argPlace(called string, args []ir.Val, sp source.Span) (p loc.Prog, ok bool) {
	if f.ctx.callArg < 0 && (!f.ctx.inProgram || f.ctx.at != debuginfo.AtEntry) {
		d := f.wrongContext(sp, "%s() is known where a function is entered", called)
		if s := f.ctx.site; s != nil && s.IsReturn() {
			d.Hintf("what it was then is @entry(%s(n)); the result is $return or returnval()", called)
		} else {
			d.Hintf("use it in probes of .function or .call")
		}
		return p, false
	}
	if f.ctx.wrapper != "" {
		f.wrongContext(sp, "%s(): %s is also entered in %s, which the compiler made of it, where its arguments are "+
			"elsewhere", called, f.ctx.site.Func, f.ctx.wrapper).
			Hintf("$variables are known in both; function(ADDRESS) means the code at that address alone")
		return p, false
	}
	if len(args) != 1 || args[0].Kind != ir.ValInt || args[0].Int < 1 {
		f.wrongContext(sp, "%s() takes the number of an argument, counted from 1, as a constant", called)
		return p, false
	}
	n := int(min(args[0].Int, 64)) - 1
	if f.ctx.callArg >= 0 {
		if n += f.ctx.callArg; n >= ir.SyscallNr {
			f.wrongContext(sp, "%s(%d): a system call has %d arguments", called, args[0].Int, ir.SyscallNr)
			return p, false
		}
		return loc.Event(n), true
	}
	m := f.out.On()
	sysVArgs, goArgs := m.C.Args, m.Go.Args
	switch abi := f.ctx.abi; {
	case abi == debuginfo.SysV && n < len(sysVArgs):
		p = loc.Register(sysVArgs[n])
	case abi == debuginfo.SysV && !f.ctx.cfa.Empty():
		p = f.ctx.cfa.Plus(int64(n-len(sysVArgs))*8).Load(8, false, false)
	case abi == debuginfo.GoABIInternal && n < len(goArgs):
		p = loc.Register(goArgs[n])
	case abi == debuginfo.GoABI0 && !f.ctx.cfa.Empty():
		p = f.ctx.cfa.Plus(int64(n)*8).Load(8, false, false)
	default:
		f.wrongContext(sp, "%s(%d): arguments beyond the %d in registers have no fixed place", called, n+1, len(goArgs))
		return p, false
	}
	return p, true
}

// returnval is the first integer result, which all conventions but ABI0 hand over in a register.
func (f builtins) returnval(sp source.Span) ir.Val {
	if f.ctx.callReturn {
		return f.reading().loc(loc.Event(ir.SyscallRet), nil)
	}
	if !f.returns("returnval", sp) {
		return ir.I(0)
	}
	return f.reading().loc(loc.Register(f.resultReg()), nil)
}

// resultReg is the register of the first integer result.
func (f builtins) resultReg() int {
	if f.ctx.abi == debuginfo.GoABIInternal {
		return f.out.On().Go.Results[0]
	}
	return f.out.On().C.Results[0]
}

// returns reports whether the result is in a register here, and refuses the function that asks if not.
func (f builtins) returns(called string, sp source.Span) bool {
	if f.ctx.at != debuginfo.AtReturn && f.ctx.at != debuginfo.AfterRet || !f.ctx.inProgram {
		f.wrongContext(sp, "%s() is known where a function returns", called).Hintf("append .return to the probe point")
		return false
	}
	if f.ctx.abi == debuginfo.GoABI0 {
		f.wrongContext(sp, "%s(): functions with Go's stack convention return nothing in registers", called)
		return false
	}
	return true
}
