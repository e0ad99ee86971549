package lower

import (
	"fmt"
	"strings"

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
func (f *fn) intrinsic(ef *elab.Func, args []ir.Val, exprs []ast.Expr, sp source.Span) ir.Val {
	in := ef.Intrinsic
	f.at(sp)
	if in.Where == intrinsic.Lowered {
		return f.lowered(in.Name, ef.Decl.Name.Name, args, sp)
	}
	switch in.Name {
	case "error":
		f.b.Fail(ir.ErrUser, args...)
		f.to(f.b.Block()) // nothing leads here
		return ir.Val{}
	case "value_text":
		// The table is no value of the script, so MAXSTRINGLEN does not cut it.
		if l, ok := ast.Unparen(exprs[1]).(*ast.Literal); ok && l.IsString {
			args[1] = ir.S(l.Str)
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
func (f *fn) intrinsicCap(in *intrinsic.Func, args []ir.Val) int {
	n := f.maxStr()
	switch {
	case in.Cap > 0:
		n = min(n, in.Cap)
	case in.Cap < 0 && -in.Cap <= len(args):
		n = min(n, f.capOf(args[-in.Cap-1]))
	}
	return n
}

// lowered translates the functions that are known here only. name is the built-in function, called
// how the script calls it.
func (f *fn) lowered(name, called string, args []ir.Val, sp source.Span) ir.Val {
	switch name {
	case "pp", "ppfunc", "pn":
		return f.siteText(name)
	case "probefunc":
		if f.ctx.uretprobe && !f.ctx.ret.Empty() {
			// The kernel's return probe fires in the caller: its function is the probed one there.
			r := f.b.Str("", f.maxStr())
			f.b.Intr("usymname", r, f.loc(f.ctx.ret, nil))
			return ir.R(r)
		}
		if f.ctx.kretprobe {
			at := f.b.Long("")
			f.b.Intr("addr", at)
			r := f.b.Str("", f.maxStr())
			f.b.Intr("symname", r, ir.R(at))
			return ir.R(r)
		}
		return f.siteText(name)
	case "returnval":
		return f.returnval(sp)
	case "max_string_len":
		return ir.I(int64(f.maxStr() + 1))
	case "probe_type":
		return ir.S(f.text(f.ctx.kind.String()))
	case "on_host":
		return known(f.ctx.kind.OnHost())
	case "registers_valid":
		return known(f.ctx.kind.Code() != probe.NoCode)
	case "user_mode":
		return f.userMode()
	case "ustack_sure":
		return ir.I(f.ctx.levels)
	case "goid", "go_parent_goid", "go_pc", "go_startpc", "go_g", "go_status", "go_waitreason":
		return f.goroutine(name, called, sp)
	}
	if space, size, ok := writes(name); ok {
		f.b.Store(args[0], args[1], size, space == "kernel")
		return ir.Val{}
	}
	if get, ok := strings.CutPrefix(name, "set_"); ok {
		f.setArg(get, called, args, sp)
		return ir.Val{}
	}
	return f.arg(name, called, args, sp)
}

// writes takes the name of a function that changes memory apart: set_user_int16.
func writes(name string) (space string, size int, ok bool) {
	rest, ok := strings.CutPrefix(name, "set_")
	space, typ, ok2 := strings.Cut(rest, "_")
	if !ok || !ok2 || space != "user" && space != "kernel" {
		return "", 0, false
	}
	size = map[string]int{"int8": 1, "int16": 2, "int32": 4, "int64": 8}[typ]
	return space, size, size > 0
}

func known(b bool) ir.Val {
	if b {
		return ir.I(1)
	}
	return ir.I(0)
}

// userMode is 1 where a program was interrupted. Probes that a clock fires interrupt both: addresses of
// the kernel have their highest bit set.
func (f *fn) userMode() ir.Val {
	switch k := f.ctx.kind; {
	case k.OfProcess():
		return ir.I(1)
	case k.Code() == probe.AnyCode:
		return f.b.Bin(ir.OpGe, f.loc(loc.Register(16), nil), ir.I(0))
	}
	return ir.I(0)
}

// siteText is an attribute of the site that fired: a constant where all sites agree.
func (f *fn) siteText(name string) ir.Val {
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
func (f *fn) joinable(name string) bool {
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

func (f *fn) wrongContext(sp source.Span, format string, args ...any) *diag.Diagnostic {
	d := f.ds.Errorf(diag.Semantic, CodeContext, sp, format, args...)
	if s := f.ctx.site; s != nil {
		d.Note(source.Span{}, "used at %s", s.Point)
	}
	return d
}

// goroutine reads a field of the current goroutine's runtime.g. A thread without a
// goroutine (its g is nil) gives 0.
func (f *fn) goroutine(name, called string, sp source.Span) ir.Val {
	if !f.ctx.inGo {
		f.wrongContext(sp, "%s() is known in probes of Go programs only", called)
		return ir.I(0)
	}
	g := f.ctx.g
	if g == nil {
		f.wrongContext(sp, "%s(): where the current goroutine is cannot be told in this program", called)
		return ir.I(0)
	}
	off, size, signed := int64(-1), 8, true
	switch name {
	case "go_g":
		return f.currentG(g)
	case "goid":
		off = g.GoID
	case "go_parent_goid":
		off = g.ParentGoID
	case "go_pc":
		off = g.GoPC
	case "go_startpc":
		off = g.StartPC
	case "go_status":
		off, size, signed = g.Status, 4, false
	case "go_waitreason":
		off, size, signed = g.WaitReason, 1, false
	}
	if off < 0 {
		f.wrongContext(sp, "%s(): the layout of runtime.g is not known for this program", called)
		return ir.I(0)
	}
	p := f.currentG(g)
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

// currentG is the address of the current goroutine's runtime.g, 0 if there is none. In C code it is that of the goroutine that called C.
func (f *fn) currentG(g *debuginfo.Goroutine) ir.Val {
	own := f.loc(g.G, nil)
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

// The registers that integer arguments come in, as DWARF numbers.
var (
	sysVArgs = []int{5, 4, 1, 2, 8, 9}            // rdi rsi rdx rcx r8 r9
	goArgs   = []int{0, 3, 2, 5, 4, 8, 9, 10, 11} // rax rbx rcx rdi rsi r8 r9 r10 r11
	cWidths  = map[string]struct {                // of the family of int_arg: the width in C
		bits   int
		signed bool
	}{
		"int_arg": {32, true}, "uint_arg": {32, false}, "s32_arg": {32, true}, "u32_arg": {32, false},
	}
)

// arg is int_arg(n) and its kin: the n-th integer argument by the calling convention.
func (f *fn) arg(name, called string, args []ir.Val, sp source.Span) ir.Val {
	p, ok := f.argPlace(called, args, sp)
	if !ok {
		return ir.I(0)
	}
	if bits, signed, ok := f.argWidth(name); ok {
		p = p.Then(loc.Step{Op: loc.Bits, Size: int(bits), Signed: signed})
	}
	return f.loc(p, nil)
}

// argWidth is how many bits of an argument count for a function of int_arg's family, if not all. A Go int has 64
// bits, C's has 32.
func (f *fn) argWidth(name string) (bits int64, signed, ok bool) {
	w, ok := cWidths[name]
	return int64(w.bits), w.signed, ok && (f.ctx.abi == debuginfo.SysV || name == "s32_arg" || name == "u32_arg")
}

// setArg is set_int_arg(n, v) and its kin, and set_returnval(v).
func (f *fn) setArg(name, called string, args []ir.Val, sp source.Span) {
	var p loc.Prog
	v := args[len(args)-1]
	if name == "returnval" {
		if f.ctx.callReturn {
			f.wrongContext(sp, "%s(): the result of a system call cannot be changed here", called).Hintf("use it in probes of .function(...).return")
			return
		}
		if !f.returns(called, sp) {
			return
		}
		p = loc.Register(0)
	} else {
		var ok bool
		if p, ok = f.argPlace(called, args[:1], sp); !ok {
			return
		}
		if bits, signed, ok := f.argWidth(name); ok {
			v = f.cutTo(v, bits, signed)
		}
	}
	switch last := p.Steps[len(p.Steps)-1]; last.Op {
	case loc.Reg:
		f.b.SetReg(last.N, v)
	case loc.TraceArg:
		f.wrongContext(sp, "%s(): the arguments of a system call cannot be changed here", called).Hintf("use it in probes of .function or .call")
	case loc.Deref:
		f.b.Store(f.loc(loc.Prog{Steps: p.Steps[:last.A+1]}, nil), v, 8, last.Kernel)
	}
}

// argPlace is where the n-th integer argument is, all 64 bits of it.
func (f *fn) argPlace(called string, args []ir.Val, sp source.Span) (p loc.Prog, ok bool) {
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
		f.wrongContext(sp, "%s(): %s is also entered in %s, which the compiler made of it, where its arguments are elsewhere", called, f.ctx.site.Func, f.ctx.wrapper).
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

// returnval is the first integer result, which all conventions but ABI0 hand over in RAX.
func (f *fn) returnval(sp source.Span) ir.Val {
	if f.ctx.callReturn {
		return f.loc(loc.Event(ir.SyscallRet), nil)
	}
	if !f.returns("returnval", sp) {
		return ir.I(0)
	}
	return f.loc(loc.Register(0), nil)
}

// returns reports whether the result is in RAX here, and refuses the function that asks if not.
func (f *fn) returns(called string, sp source.Span) bool {
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
