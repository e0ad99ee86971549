package godwarf

import (
	"errors"
	"fmt"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/cfi"
	"github.com/gostap/gostap/compiler/debuginfo/dw"
	"github.com/gostap/gostap/compiler/debuginfo/pclntab"
)

var _ debuginfo.Unwinder = (*Image)(nil)

// errSwitch says that the code loads the stack pointer: its caller is on another stack (systemstack, mcall,
// morestack, asmcgocall).
var errSwitch = errors.New("the caller is on another stack")

// signalRegs are the places of registers in the record that the kernel leaves on the stack for a signal's handler
// (struct sigcontext of asm/sigcontext.h, behind 40 bytes of struct ucontext), by DWARF number.
var signalRegs = [cfi.NRegs]int64{13, 12, 14, 11, 9, 8, 10, 15, 0, 1, 2, 3, 4, 5, 6, 7, 16}

// Unwind implements debuginfo.Unwinder, for Go code by the frame sizes of the function table.
func (im *Image) Unwind(pc uint64) (r *cfi.Rules, err error) {
	defer dw.Guard(&err)()
	i := im.tab.Find(pc)
	if i < 0 || im.foreign(i) {
		return im.f.Unwind(pc)
	}
	r = &cfi.Rules{}
	flags, asm := im.tab.Flags(i), im.tab.Flags(i)&pclntab.FlagAsm != 0
	switch im.tab.Name(i) {
	case "runtime.sigreturn__sigaction", "runtime.sigreturn": // what the kernel has handlers return to
		r.CFA = cfi.Rule{Kind: cfi.Register, Reg: cfi.SP}
		r.Signal, r.Trampoline = true, true
		for n, at := range signalRegs {
			r.Regs[n] = cfi.Rule{Kind: cfi.Offset, Off: 40 + 8*at}
		}
		return r, nil
	case "runtime.sigtramp", "runtime.cgoSigtramp": // called by the kernel, with such a record above
		flags &^= pclntab.FlagTopFrame
	case "runtime.sigpanic", "runtime.asyncPreempt", "runtime.debugCallV2", "runtime.debugCallV1":
		r.Signal = true // the runtime lets its handler return here, as if the interrupted instruction had been a call
	}
	if flags&pclntab.FlagTopFrame != 0 {
		r.CFA = cfi.Rule{Kind: cfi.Register, Reg: cfi.SP}
		r.Outermost = true
		r.Regs[cfi.IP].Kind = cfi.Undefined
		return r, nil
	}
	if flags&pclntab.FlagSPWrite != 0 {
		switch im.tab.Name(i) {
		case "runtime.systemstack", "runtime.asmcgocall", "runtime.cgocallback",
			// the last ones call code of the kernel's
			"runtime.nanotime1", "runtime.walltime", "runtime.walltime1", "time.now":
			// They go on on another stack; BP stays where they found it: at their own frame if they made one, else
			// at their caller's.
			if depth, ok := im.tab.Pushed(i, pc); !ok || depth == 0 || pc < im.tab.Entry(i)+4 { // PUSHQ BP; MOVQ SP, BP
				r.Switch = true
				return r, nil
			}
			for n := range r.Regs {
				r.Regs[n].Kind = cfi.Undefined
			}
			r.CFA = cfi.Rule{Kind: cfi.Register, Reg: cfi.BP, Off: 16}
			r.Regs[cfi.IP] = cfi.Rule{Kind: cfi.Offset, Off: -8}
			r.Regs[cfi.BP] = cfi.Rule{Kind: cfi.Offset, Off: -16}
			return r, nil
		}
		return nil, fmt.Errorf("%s: %w", im.tab.Name(i), errSwitch)
	}
	depth, ok := im.tab.StackDepth(i, pc)
	if !ok {
		return nil, fmt.Errorf("%s: the size of the frame is not known at %#x", im.tab.Name(i), pc)
	}
	r.CFA = cfi.Rule{Kind: cfi.Register, Reg: cfi.SP, Off: depth + 8}
	for n := range r.Regs {
		r.Regs[n].Kind = cfi.Undefined // calls leave nothing as it was, but the goroutine in R14
	}
	r.Regs[dw.RegR14].Kind = cfi.Same
	r.Regs[cfi.SP] = cfi.Rule{Kind: cfi.ValOffset}
	r.Regs[cfi.IP] = cfi.Rule{Kind: cfi.Offset, Off: -8}
	switch {
	case depth == 0:
		r.Regs[cfi.BP].Kind = cfi.Same
	case !asm: // assembly may have a frame without
		r.Regs[cfi.BP] = cfi.Rule{Kind: cfi.Offset, Off: -16}
		r.Framed = true
	}
	return r, nil
}
