package godwarf

import (
	"fmt"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/pclntab"
	"github.com/gostap/gostap/compiler/foreign"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/machine/insn"
)

// site makes the Site at pc in function i. File and Line are of the innermost function there.
func (im *Image) site(i int, pc uint64, kind debuginfo.SiteKind) debuginfo.Site {
	s := debuginfo.Site{PC: pc, Kind: kind, Func: im.funcOf(i), Insn: im.insn(pc)}
	s.File, s.Line = im.tab.Line(i, pc)
	if kind == debuginfo.AtEntry && s.Line == 0 {
		s.File, s.Line = s.Func.File, s.Func.Line
	}
	s.CFA, s.Return = im.frame(i, pc)
	return s
}

// frame computes the canonical frame address and the return address at pc in function i from the
// table of stack depths. They are empty where assembly has loaded SP.
func (im *Image) frame(i int, pc uint64) (cfa, ret loc.Prog) {
	depth, ok := im.tab.StackDepth(i, pc)
	if !ok {
		return
	}
	if f, ok := im.frames[depth]; ok {
		return f[0], f[1]
	}
	if im.frames == nil {
		im.frames = map[int64][2]loc.Prog{}
	}
	sp := loc.Register(im.m.SP)
	cfa, ret = sp.Plus(depth+8), sp.Plus(depth).Load(8, false, false)
	im.frames[depth] = [2]loc.Prog{cfa, ret}
	return cfa, ret
}

// entry finds the entry site of function i.
func (im *Image) entry(i int) (insn.Entry, error) {
	code, err := im.code(i)
	if err != nil {
		return insn.Entry{}, err
	}
	e, err := insn.FindEntry(im.m.Code, code, im.tab.Entry(i), im.isMore)
	if err != nil {
		return e, fmt.Errorf("function %s cannot be probed at its entry: %w", im.funcOf(i).Name, err)
	}
	if e.Inst.Class() == debuginfo.InsnRefused {
		return e, fmt.Errorf("function %s cannot be probed at its entry: %w", im.funcOf(i).Name, refused(e.PC))
	}
	return e, nil
}

// refused says that the kernel allows no probe at pc. It would find out only when a program with the
// code is running, and say nothing when one starts later.
func refused(pc uint64) error {
	return fmt.Errorf("the kernel allows no probe on the instruction at %#x (a lock prefix, or a vector instruction)",
		pc)
}

func (im ways) known(f *debuginfo.Func) (int, error) {
	i := im.index(f)
	if i < 0 {
		name := ""
		if f != nil {
			name = f.Name
		}
		return i, &debuginfo.NotFoundError{What: "function", Name: name,
			Detail: "it has no code of its own; use .inline"}
	}
	return i, nil
}

// EntrySite is the instruction behind f's stack check, or its first one.
func (im *Image) EntrySite(f *debuginfo.Func) (s debuginfo.Site, err error) {
	defer foreign.Guard(&err)()
	i, err := im.ways().known(f)
	if err != nil {
		return s, err
	}
	if st := im.wrappers().stand(f); st != nil {
		return im.wrappers().standEntry(st)
	}
	e, err := im.entry(i)
	if err != nil {
		return s, err
	}
	return im.site(i, e.PC, debuginfo.AtEntry), nil
}

// ReturnSites are f's RETs and jumps to other functions. The error is a *debuginfo.NoReturnError
// when there are none.
func (im *Image) ReturnSites(f *debuginfo.Func) (sites []debuginfo.Site, err error) {
	defer foreign.Guard(&err)()
	i, err := im.ways().known(f)
	if err != nil {
		return nil, err
	}
	exits, err := im.ways().exits(i)
	if err != nil {
		return nil, fmt.Errorf("the returns of function %s cannot be probed: %w", f.Name, err)
	}
	for _, x := range exits {
		kind := debuginfo.AtReturn
		if x.Tail {
			kind = debuginfo.AtTail
		}
		s := im.site(i, x.PC, kind)
		if st := im.wrappers().stand(f); st != nil {
			s.Func = f
		}
		sites = append(sites, s)
	}
	if len(sites) == 0 {
		return nil, &debuginfo.NoReturnError{Name: f.Name}
	}
	return sites, nil
}

func (im ways) exits(i int) ([]insn.Exit, error) {
	code, err := im.code(i)
	if err != nil {
		return nil, err
	}
	return insn.FindExits(im.m.Code, code, im.tab.Entry(i), im.asm(i), im.marks(i))
}

// asm reports whether function i is written in assembly.
func (im ways) asm(i int) bool {
	return im.tab.Flags(i)&pclntab.FlagAsm != 0 || assembly(im.funcOf(i).File)
}

// marks are addresses in an assembly function at which instructions should begin: its line changes.
// Compiled code has no data in it.
func (im ways) marks(i int) (marks []uint64) {
	if im.asm(i) {
		for _, r := range im.tab.Rows(i) {
			marks = append(marks, r.Lo)
		}
	}
	return marks
}

// checkCode refuses assembly functions with data among the instructions, where no address but the
// entry is safe to probe.
func (im ways) checkCode(i int) error {
	if !im.asm(i) {
		return nil
	}
	code, err := im.code(i)
	if err == nil {
		err = insn.Check(im.m.Code, code, im.tab.Entry(i), im.marks(i))
	}
	if err != nil {
		return fmt.Errorf("the instructions of %s cannot be told apart: %w", im.funcOf(i).Name, err)
	}
	return nil
}

// SiteAt classifies pc, at which an instruction must begin.
func (im *Image) SiteAt(pc uint64) (s debuginfo.Site, err error) {
	defer foreign.Guard(&err)()
	i := im.tab.Find(pc)
	if i < 0 || im.registry().foreign(i) {
		return s, &debuginfo.NotFoundError{What: "function", Name: fmt.Sprintf("%#x", pc),
			Detail: "no Go function covers this address"}
	}
	code, err := im.code(i)
	if err != nil {
		return s, err
	}
	if pc != im.tab.Entry(i) {
		if err := im.ways().checkCode(i); err != nil {
			return s, err
		}
	}
	in, err := insn.At(im.m.Code, code, im.tab.Entry(i), pc)
	if err != nil {
		return s, fmt.Errorf("%s: %w", im.funcOf(i).Name, err)
	}
	if in.Class() == debuginfo.InsnRefused {
		return s, refused(pc)
	}
	kind := debuginfo.AtLine
	if e, err := im.entry(i); err == nil && (e.PC == pc || im.tab.Entry(i) == pc) {
		kind = debuginfo.AtEntry
	} else if in.Kind == insn.Ret || in.Kind == insn.Jump || in.Kind == insn.IndirectJump {
		if exits, err := im.ways().exits(i); err == nil {
			for _, x := range exits {
				if x.PC == pc && x.Tail {
					kind = debuginfo.AtTail
				} else if x.PC == pc {
					kind = debuginfo.AtReturn
				}
			}
		}
	}
	s = im.site(i, pc, kind)
	if kind == debuginfo.AtLine {
		s.Inline = im.inlines().inlineAt(i, pc)
	}
	return s, nil
}

// atEntry reports whether arguments are in place at s as the caller left them.
func (im ways) atEntry(s debuginfo.Site) bool {
	if s.Kind == debuginfo.AtEntry {
		return true
	}
	i := im.index(s.Func)
	if i < 0 || s.Inline != nil {
		return false
	}
	e, err := im.entry(i)
	return err == nil && (s.PC == e.PC || s.PC == s.Func.Entry)
}
