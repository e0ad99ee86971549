package godwarf

import (
	"cmp"
	"slices"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/pclntab"
	"github.com/gostap/gostap/compiler/foreign"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/machine/insn"
)

// Calls implements debuginfo.Calls: the CALL instructions, since Go's debug information describes no calls. Those of
// closures, of interface methods and of deferred functions go through a register and have no target.
func (im *Image) Calls(f *debuginfo.Func) (out []debuginfo.Call, err error) {
	defer foreign.Guard(&err)()
	i, err := im.ways().known(f)
	if err != nil {
		return nil, err
	}
	if err := im.ways().checkCode(i); err != nil {
		return nil, err
	}
	code, err := im.code(i)
	if err != nil {
		return nil, err
	}
	entry := im.tab.Entry(i)
	end := entry + uint64(len(code))
	st := im.wrappers().stand(f)
	var inl []pclntab.Inlined
	if st != nil {
		inl, _ = im.tab.Inlined(i)
	}
	err = insn.Walk(im.m.Code, code, entry, func(pc uint64, in insn.Inst) bool {
		if st != nil && !st.inside(inl, pc) {
			return true // what the wrapper itself calls
		}
		c := debuginfo.Call{PC: pc, Ret: pc + uint64(in.Len)}
		switch in.Kind {
		case insn.Call:
			if c.Target = in.Target(pc); im.isMore(c.Target) {
				return true // the stack grows, and the function begins again
			}
		case insn.IndirectCall:
		case insn.Jump, insn.CondJump:
			if c.Target, c.Jump = in.Target(pc), true; c.Target >= entry && c.Target < end {
				return true
			}
		default:
			return true
		}
		out = append(out, c)
		return true
	})
	return out, err
}

// Copies implements debuginfo.Calls.
func (im *Image) Copies(f *debuginfo.Func) (out []debuginfo.Copy, err error) {
	defer foreign.Guard(&err)()
	host, err := im.ways().known(f)
	if err != nil {
		return nil, err
	}
	calls, ok := im.tab.Inlined(host)
	if !ok {
		return nil, nil
	}
	st := im.wrappers().stand(f)
	for n, c := range calls {
		if len(c.Ranges) == 0 || st != nil && n == st.call {
			continue
		}
		copied := debuginfo.Copy{InlineSite: im.inlines().inlineSite(host, calls, n)}
		for p := c.Parent; p >= 0 && p < len(calls) && (st == nil || p != st.call) &&
			len(copied.Into) < len(calls); p = calls[p].Parent {
			copied.Into = append(copied.Into, im.inlines().inlinedFunc(host, calls, p).Name)
		}
		if im.HasTypes() {
			im.inlines().betterEntry(copied.InlineSite)
		}
		out = append(out, copied)
	}
	slices.SortStableFunc(out, func(a, b debuginfo.Copy) int { return cmp.Compare(a.Site.PC, b.Site.PC) })
	return out, nil
}

// FramePointer implements debuginfo.Calls: frames of Go are told by the stack pointer.
func (im *Image) FramePointer(uint64) (loc.Prog, error) { return loc.Prog{}, nil }

// Address implements debuginfo.Calls.
func (im *Image) Address(pc uint64) loc.Prog {
	return loc.Static(pc, im.f.Relocated())
}
