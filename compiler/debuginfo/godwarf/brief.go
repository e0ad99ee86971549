package godwarf

import (
	"cmp"
	"slices"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/funcname"
	"github.com/gostap/gostap/compiler/foreign"
	"github.com/gostap/gostap/compiler/machine/insn"
)

// EachCopy does what debuginfo.Brief says. DWARF is asked about copies only where it could make a
// difference.
func EachCopy(im *Image, text string, f func(*debuginfo.InlineSite)) (err error) {
	defer foreign.Guard(&err)()
	return im.inlines().eachCopy(funcname.Parse(text), f)
}

func (im inliner) eachCopy(p *funcname.Pattern, f func(*debuginfo.InlineSite)) error {
	match := func(name []byte) bool { return p.Match(name) && !wrapperSuffix(name) }
	type found struct {
		call int
		pc   uint64
	}
	var in debuginfo.InlineSite
	var copies []found
	types := im.HasTypes()
	for _, host := range im.tab.SelectInlined(match) {
		calls, ok := im.tab.Inlined(host)
		if !ok {
			continue
		}
		st := im.wrappers().standOf(host)
		copies = copies[:0]
		for n := range calls {
			c := &calls[n]
			if len(c.Ranges) > 0 && (st == nil || st.call != n) && match([]byte(c.Name)) {
				copies = append(copies, found{n, im.inlineEntry(host, c)})
			}
		}
		slices.SortStableFunc(copies, func(a, b found) int { return cmp.Compare(a.pc, b.pc) })
		for _, c := range copies {
			if types && im.refusedNear(host, c.pc) { // the entry may lie elsewhere
				s := im.inlineSite(host, calls, c.call)
				im.betterEntry(s)
				delete(im.copies, s)
				f(s)
				calls, _ = im.tab.Inlined(host)
				continue
			}
			in = debuginfo.InlineSite{Func: im.inlinedFunc(host, calls, c.call)}
			in.Site = debuginfo.Site{PC: c.pc, Kind: debuginfo.AtInline, Insn: im.insn(c.pc), Inline: &in}
			f(&in)
		}
	}
	return nil
}

// refusedNear reports whether the kernel allows no probe on the instruction at pc of function host, or on one of those
// among which betterEntry chooses.
func (im inliner) refusedNear(host int, pc uint64) bool {
	b, err := im.f.Bytes(pc, int(im.tab.End(host)-pc))
	if err != nil {
		return false
	}
	refused := false
	insn.Walk(im.m.Code, b, pc, func(_ uint64, in insn.Inst) bool {
		refused = in.Refused
		return !refused && goesOn(in)
	})
	return refused
}

// goesOn reports whether the instruction behind in is executed whenever in is.
func goesOn(in insn.Inst) bool {
	switch in.Kind {
	case insn.Other, insn.Nop, insn.Nop5, insn.Push, insn.Call, insn.IndirectCall:
		return true
	}
	return false
}

// Enters does what debuginfo.Brief says.
func Enters(im *Image, f *debuginfo.Func) (s debuginfo.Site, err error) {
	defer foreign.Guard(&err)()
	i, err := im.ways().known(f)
	if err != nil {
		return s, err
	}
	st := im.wrappers().stand(f)
	e, err := im.entry(i)
	if st != nil && (err != nil || !im.wrappers().bodyWillDo(st)) {
		return im.wrappers().standEntry(st)
	}
	return debuginfo.Site{PC: e.PC, Kind: debuginfo.AtEntry, Func: f, Insn: e.Inst.Class()}, err
}

// bodyWillDo reports whether the code of st can be probed without knowing the pointers that lead to the receiver.
func (im wrapping) bodyWillDo(st *stand) bool {
	if st.kind == sameReceiver || st.kind == capturedReceiver {
		return true
	}
	calls, ok := im.tab.Inlined(st.host)
	return ok && st.call >= 0 && st.call < len(calls) &&
		im.insn(im.inlines().inlineEntry(st.host, &calls[st.call])) != debuginfo.InsnRefused
}
