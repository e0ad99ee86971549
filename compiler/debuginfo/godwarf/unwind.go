package godwarf

import (
	"errors"
	"fmt"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/cfi"
	"github.com/gostap/gostap/compiler/debuginfo/pclntab"
	"github.com/gostap/gostap/compiler/foreign"
)

var _ debuginfo.Unwinder = (*Image)(nil)

// errSwitch says that the code loads the stack pointer: its caller is on another stack (systemstack, mcall,
// morestack, asmcgocall).
var errSwitch = errors.New("the caller is on another stack")

// Unwind implements debuginfo.Unwinder, for Go code by the frame sizes of the function table.
func (im *Image) Unwind(pc uint64) (r *cfi.Rules, err error) {
	defer foreign.Guard(&err)()
	i := im.tab.Find(pc)
	if i < 0 || im.registry().foreign(i) {
		return im.f.Unwind(pc)
	}
	m := im.m
	sp := cfi.Rule{Kind: cfi.Register, Reg: uint8(m.SP)}
	r = &cfi.Rules{Machine: m}
	flags, asm := im.tab.Flags(i), im.tab.Flags(i)&pclntab.FlagAsm != 0
	switch im.tab.Name(i) {
	case "runtime.sigreturn__sigaction", "runtime.sigreturn": // what the kernel has handlers return to
		r.CFA = sp
		r.Signal, r.Trampoline = true, true
		for n, at := range m.Sigframe {
			r.Regs[n] = cfi.Rule{Kind: cfi.Offset, Off: at}
		}
		return r, nil
	case "runtime.sigtramp", "runtime.cgoSigtramp": // called by the kernel, with such a record above
		flags &^= pclntab.FlagTopFrame
	case "runtime.sigpanic", "runtime.asyncPreempt", "runtime.debugCallV2", "runtime.debugCallV1":
		r.Signal = true // the runtime lets its handler return here, as if the interrupted instruction had been a call
	}
	if flags&pclntab.FlagTopFrame != 0 {
		r.CFA = sp
		r.Outermost = true
		r.Regs[m.IP].Kind = cfi.Undefined
		return r, nil
	}
	if flags&pclntab.FlagSPWrite != 0 {
		switch im.tab.Name(i) {
		case "runtime.systemstack", "runtime.asmcgocall", "runtime.cgocallback",
			// the last ones call code of the kernel's
			"runtime.nanotime1", "runtime.walltime", "runtime.walltime1", "time.now":
			// They go on on another stack; the frame pointer stays where they found it: at their own frame if they made
			// one, else at their caller's.
			if depth, ok := im.tab.Pushed(i, pc); !ok || depth == 0 || pc < im.tab.Entry(i)+framed {
				r.Switch = true
				return r, nil
			}
			for n := range r.Regs {
				r.Regs[n].Kind = cfi.Undefined
			}
			r.CFA = cfi.Rule{Kind: cfi.Register, Reg: uint8(m.FP), Off: 16}
			r.Regs[m.IP] = cfi.Rule{Kind: cfi.Offset, Off: -8}
			r.Regs[m.FP] = cfi.Rule{Kind: cfi.Offset, Off: -16}
			return r, nil
		}
		return nil, fmt.Errorf("%s: %w", im.tab.Name(i), errSwitch)
	}
	depth, ok := im.tab.StackDepth(i, pc)
	if !ok {
		return nil, fmt.Errorf("%s: the size of the frame is not known at %#x", im.tab.Name(i), pc)
	}
	r.CFA = cfi.Rule{Kind: cfi.Register, Reg: uint8(m.SP), Off: depth + 8}
	for n := range r.Regs {
		r.Regs[n].Kind = cfi.Undefined // calls leave nothing as it was, but the goroutine
	}
	r.Regs[m.Goroutine].Kind = cfi.Same
	r.Regs[m.SP] = cfi.Rule{Kind: cfi.ValOffset}
	r.Regs[m.IP] = cfi.Rule{Kind: cfi.Offset, Off: -8}
	switch {
	case depth == 0:
		r.Regs[m.FP].Kind = cfi.Same
	case !asm: // assembly may have a frame without
		r.Regs[m.FP] = cfi.Rule{Kind: cfi.Offset, Off: -16}
		r.Framed = true
	}
	return r, nil
}
