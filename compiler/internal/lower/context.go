package lower

import (
	"fmt"
	"math"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/internal/sema"
	"github.com/gostap/gostap/compiler/intrinsic"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/partition"
	"github.com/gostap/gostap/compiler/probe"
)

// need says what a body wants to know about the sites that fire it, beyond what its
// target expressions resolved to.
type need uint8

const (
	needGo     need = 1 << iota // the current goroutine
	needFunc                    // probefunc(): whether the site is the kernel's return probe
	needArgs                    // int_arg(n), returnval(): the calling convention
	needFrame                   // the frame address, for pairing entries with returns
	needKind                    // user_mode() and its kin: what makes the site fire
	needResult                  // returnval(): what the function returns
	needStack                   // ustack(n): how far the stack is known where the handler runs
)

// context is what is known about the site of a handler, as far as the handler and the
// functions it calls need it. Contexts with equal keys are alike.
type context struct {
	key  string
	need need
	site *probe.Site // one of the sites, for messages
	g    *debuginfo.Goroutine
	cfa  loc.Prog
	goes bool // the site lies in Go code
	inGo bool // it lies in Go code, or in C code of a Go program
	// uretprobe: the kernel's return probe fired, so the program counter is the caller's.
	uretprobe bool
	ret       loc.Prog // the return address, at uretprobes
	// kretprobe: the same in the kernel, where addr() is the return address.
	kretprobe bool
	abi       debuginfo.ABI
	at        debuginfo.SiteKind
	inProgram bool
	wrapper   string // what the compiler calls the code, where that is not the function's own
	// callArg is, in a system call, which of its arguments a script counts as the first; -1 elsewhere.
	callArg int
	// callReturn: a system call returns.
	callReturn bool
	kind       probe.Kind
	// levels is how many addresses of the program's stack are sure in the kernel.
	levels int64
}

// newContext looks at s as far as n asks.
func newContext(s *probe.Site, n need) *context {
	c := &context{need: n, site: s, goes: s.Go(), inProgram: s.Image != nil, callArg: -1}
	if n&needKind != 0 {
		c.kind = s.Kind
		c.key += fmt.Sprintf("k{%d}", c.kind)
	}
	if n&needStack != 0 {
		switch one := []*probe.Site{s}; {
		case partition.FramePointers(one):
			c.levels = math.MaxInt32
		case partition.ReturnOnTop(one):
			c.levels = 2
		default:
			c.levels = 1
		}
		c.key += fmt.Sprintf("u{%d}", c.levels)
	}
	if s.Names != nil && s.Image == nil && n&needFrame != 0 {
		c.cfa = s.At.CFA
		c.key += fmt.Sprintf("f{%s}", c.cfa)
	}
	if words := s.Kind.Words(); n&needArgs != 0 && (words == probe.SyscallArgs || words == probe.SyscallRet &&
		!s.Syscall.Forgets) {
		c.abi, c.callArg = debuginfo.SysV, 0
		if s.Syscall.Instead {
			c.callArg = 1 // openat has a directory before what open has
		}
		c.key += fmt.Sprintf("s{%d}", c.callArg)
	}
	if n&needArgs != 0 && s.Kind.Words() == probe.SyscallRet {
		c.callReturn = true
		c.key += "sr"
	}
	if s.Image == nil || n == 0 {
		return c
	}
	if n&needGo != 0 || n&needFrame != 0 && c.goes {
		if c.g = s.Image.Goroutine(s.At); c.g != nil {
			c.inGo = true
			if c.g.G.Empty() {
				c.g = nil
			}
		}
		if c.g != nil {
			c.key += fmt.Sprintf("g{%s %d %d %d %d %d %d %d %v %d %d %d %d %d}", c.g.G, c.g.GoID, c.g.StackHi,
				c.g.ParentGoID, c.g.GoPC, c.g.StartPC, c.g.Status, c.g.WaitReason, c.g.System, c.g.CurG, c.g.NCgo,
				c.g.GSignal, c.g.SchedPC, c.g.SchedBP)
		} else {
			c.key += "g?"
		}
	}
	if n&needFrame != 0 {
		c.cfa = s.At.CFA
		c.key += fmt.Sprintf("f{%s}", c.cfa)
	}
	if n&needFunc != 0 && s.Kind.InUser() && s.Kind.Trampoline() {
		c.uretprobe, c.ret = true, s.At.Return
		c.key += fmt.Sprintf("r{%s}", c.ret)
	}
	if n&needFunc != 0 && s.Kind.InKernel() && s.Kind.Trampoline() {
		c.kretprobe = true
		c.key += "k"
	}
	if n&needArgs != 0 {
		c.abi, c.at, c.cfa = debuginfo.SysV, s.At.Kind, s.At.CFA
		if s.At.Func != nil {
			c.abi, c.wrapper = s.At.Func.ABI, s.At.Func.Wrapper
		}
		c.key += fmt.Sprintf("a{%d %d %s %t}", c.abi, c.at, c.cfa, c.wrapper != "")
	}
	return c
}

// narrow is c with no more in it than n asks for.
func (c *context) narrow(n need) *context {
	if n&c.need == c.need {
		return c
	}
	if n == 0 {
		return &context{site: c.site, goes: c.goes, inProgram: c.inProgram, callArg: -1}
	}
	return newContext(c.site, n&c.need)
}

func needOfIntrinsic(f *intrinsic.Func) need { return lowerings[f.Name].need }

// needsOf collects what bodies and the functions they call need.
func (l *lowerer) needsOf(in *elab.Info, bodies []*ast.Block) need {
	var n need
	for _, b := range bodies {
		if b == nil {
			continue
		}
		sema.InspectLive(in, b, func(x ast.Node) bool {
			if c, ok := x.(*ast.Call); ok {
				for f := in.Calls[c]; f != nil; f = f.Next {
					n |= l.needOf(f)
				}
			}
			return true
		})
	}
	return n
}

// needOf is what f needs, with all that it calls. Functions that call each other in a
// circle need what any of them does.
func (l *lowerer) needOf(f *elab.Func) need {
	if n, ok := l.needs[f]; ok {
		return n
	}
	// Those that are called come first, so that without circles one round finds all.
	var order []*elab.Func
	calls := map[*elab.Func][]*elab.Func{}
	var visit func(f *elab.Func)
	visit = func(f *elab.Func) {
		if _, known := l.needs[f]; f == nil || known {
			return
		}
		l.needs[f] = 0
		if f.Intrinsic != nil {
			l.needs[f] = needOfIntrinsic(f.Intrinsic)
		}
		visit(f.Next)
		called := []*elab.Func{f.Next}
		if f.Decl.Body != nil {
			sema.InspectLive(&f.Info, f.Decl.Body, func(x ast.Node) bool {
				if c, ok := x.(*ast.Call); ok {
					visit(f.Info.Calls[c])
					called = append(called, f.Info.Calls[c])
				}
				return true
			})
		}
		calls[f] = called
		order = append(order, f)
	}
	visit(f)
	for changed := true; changed; {
		changed = false
		for _, f := range order {
			n := l.needs[f]
			for _, c := range calls[f] {
				n |= l.needs[c] // that of nil is 0
			}
			changed = changed || n != l.needs[f]
			l.needs[f] = n
		}
	}
	return l.needs[f]
}
