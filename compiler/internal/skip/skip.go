// Package skip finds out how a function of a program is left at its entry, before any of it has run.
//
// In: a site. Out: location programs of what the registers become then and where the results are, or why the function
// cannot be left there.
package skip

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/probe"
)

// Call is the function of scripts that does it.
const Call = "skip_function"

// Way is how the function is left.
type Way struct {
	// Why says that it cannot be, Hint what to do.
	Why, Hint string
	// IP, SP and FP are what the program counter, the stack pointer and the frame pointer become.
	IP, SP, FP loc.Prog
	// Popped is where the function's own code takes the frame pointer from the stack and returns, if the instruction at
	// the site is the one that saves it. It is for kernels that run the probed instruction when a probe is over,
	// wherever that leads the program; newer ones do not, and which ones do cannot be told by their version. So both
	// have to lead to the same: with the frame pointer written to Below, the program goes on at Popped with the stack
	// pointer Below and Popped as the frame pointer. Either it does. Or the kernel saves that "frame pointer" first,
	// and goes on one byte, its instruction's length, behind Popped: at the return, which takes what was saved and so
	// leads to Popped.
	Popped, Below loc.Prog
	// Results are in order.
	Results []*debuginfo.Var
	// Given is the address of the memory that the caller gives for its result, if it does; the function returns it.
	Given loc.Prog
}

// Key tells ways apart.
func (w *Way) Key() string {
	k := fmt.Sprintf("%s %s %s %s %s", w.Why, w.IP, w.SP, w.Popped, w.Given)
	for _, r := range w.Results {
		k += fmt.Sprintf(" %s %t %s %v", r.Type.Name, r.Place.InMemory, r.Place.Addr, r.Place.Pieces)
	}
	return k
}

// At finds the way at s.
func At(s *probe.Site) *Way {
	no := func(hint, format string, args ...any) *Way {
		return &Way{Why: fmt.Sprintf(format, args...), Hint: hint}
	}
	const entry = "use it in a probe of .function(...).call"
	switch {
	case s != nil && s.Kind.InKernel():
		return no("override_return(value) does that for functions of the kernel", "this is no function of a program")
	case s == nil || s.Image == nil || !s.Kind.InUser():
		return no(entry, "this is no function of a program")
	case s.At.Inline != nil || s.At.Kind == debuginfo.AtInline:
		return no("append .call to the probe point: it leaves out inlined copies",
			"%s is inlined here: there is no call that could be left", s.Func)
	case makes(s.At.Func):
		return no("", "%s is a constructor: the program would go on with an object that nobody has made", s.Func)
	case s.IsReturn() || s.At.Kind != debuginfo.AtEntry || s.At.Func == nil:
		return no(entry, "a function can be left out only where it is entered")
	}
	m := s.Image.Machine()
	sp := loc.Register(m.SP)
	if m.Link >= 0 || s.At.CFA.String() != sp.Plus(8).String() {
		return no("", "%s has begun with its work where the probe is", s.Func)
	}
	w := &Way{IP: sp.Load(8, false, false), SP: sp.Plus(8), FP: loc.Register(m.FP), Below: sp.Plus(-8)}
	// At a return instruction the stack is as at the entry, so that the results are where they have to be.
	rets, err := s.Image.ReturnSites(s.At.Func)
	i := slices.IndexFunc(rets, func(r debuginfo.Site) bool {
		return r.Insn == debuginfo.InsnRet && r.CFA.String() == s.At.CFA.String()
	})
	at := s.At // C has its results in registers
	switch {
	case err != nil:
	case i >= 0:
		at = rets[i]
	case len(rets) > 0 || s.At.Func.ABI != debuginfo.SysV:
		err = errors.New("it never returns")
	}
	var rs []*debuginfo.Var
	if err == nil {
		rs, err = s.Image.Results(at)
	}
	if err != nil {
		return no("", "what %s returns is not known (%v)", s.Func, err)
	}
	for i, r := range rs {
		switch {
		case r.Err != nil:
			return no("", "where %s has its result is not known (%v)", s.Func, r.Err)
		case r.Object:
			return no("", "%s returns a %s, whose copying or end is code of the program: nobody would have made the "+
				"object that its caller gets", s.Func, r.Type.Name)
		case r.Place.InMemory && s.At.Func.ABI == debuginfo.SysV:
			// Where the result goes is the first argument.
			given := *r
			w.Given = loc.Register(m.C.Args[0])
			given.Place.Addr = w.Given
			rs[i] = &given
		}
		for _, p := range r.Place.Pieces {
			if p.Vector != 0 || p.Lost {
				return no("", "result %d of %s is in a vector register, which cannot be set", i, s.Func)
			}
		}
	}
	w.Results, w.Popped = rs, popped(s, rets)
	return w
}

// makes reports whether f is a constructor of C++: its name is that of its class.
func makes(f *debuginfo.Func) bool {
	if f == nil {
		return false
	}
	bare := func(s string) string { s, _, _ = strings.Cut(s, "<"); return s }
	i := strings.LastIndex(bare(f.Name), "::")
	if i < 0 {
		return false
	}
	class := f.Name[:i]
	return bare(class[strings.LastIndex(bare(class), ":")+1:]) == bare(f.Name[i+2:])
}

// popped finds the end of the function where that is the reverse of the instruction at s.
func popped(s *probe.Site, rets []debuginfo.Site) loc.Prog {
	if s.At.Insn != debuginfo.InsnPush {
		return loc.Prog{}
	}
	f, err := os.Open(s.Image.Path())
	if err != nil {
		return loc.Prog{}
	}
	defer f.Close()
	code := func(pc uint64, want ...byte) bool {
		b := make([]byte, len(want))
		off, err := s.Image.FileOffset(pc)
		if err == nil {
			_, err = f.ReadAt(b, int64(off))
		}
		return err == nil && string(b) == string(want)
	}
	const pushBP, popBP, ret = 0x55, 0x5d, 0xc3
	if !code(s.At.PC, pushBP) {
		return loc.Prog{}
	}
	above := loc.Register(s.Image.Machine().SP).Plus(16).String()
	for _, r := range rets {
		if r.Insn != debuginfo.InsnRet || !code(r.PC-1, popBP, ret) {
			continue
		}
		// Go's runtime must find its way from there.
		if at, err := s.Image.SiteAt(r.PC - 1); !s.Go() || err == nil && at.PC == r.PC-1 && at.CFA.String() == above {
			p, ok := s.Image.(debuginfo.Placed)
			return loc.Static(r.PC-1, ok && p.Relocated())
		}
	}
	return loc.Prog{}
}
