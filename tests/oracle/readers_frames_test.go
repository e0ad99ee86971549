package oracle

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/go-delve/delve/pkg/dwarf/frame"

	"github.com/gostap/gostap/compiler/debuginfo/cfi"
	"github.com/gostap/gostap/compiler/debuginfo/elffile"
	"github.com/gostap/gostap/compiler/loc"
)

// compareFrames works out the caller's registers at several places of each entry of call frame information.
func compareFrames(f *Figures, file *elffile.File) error {
	var fdes frame.FrameDescriptionEntries
	if b, err := file.Section(".eh_frame"); err == nil && len(b) > 0 {
		addr, _, _ := file.SectionAddr(".eh_frame")
		if fdes, err = frame.Parse(b, binary.LittleEndian, 0, 8, addr); err != nil {
			return err
		}
	}
	if b, err := file.Section(".debug_frame"); err == nil && len(b) > 8 && b[8] < 4 {
		x, err := frame.Parse(b, binary.LittleEndian, 0, 8, 0)
		if err != nil {
			return err
		}
		fdes = fdes.Append(x)
	}
	for i := 0; i < len(fdes); i += step(len(fdes), 200) {
		fde := fdes[i]
		for pc := fde.Begin(); pc < fde.End(); pc += 1 + (fde.End()-fde.Begin())/12 {
			want, err := fde.EstablishFrame(pc)
			if err != nil {
				f.Note("frames that Delve does not read", 1)
				continue
			}
			rules, err := file.Unwind(pc)
			if err == nil {
				err = sameRules(rules, want)
			}
			if err == nil && want.CFA.Rule == frame.RuleCFA {
				var got elffile.Frame
				cfa := loc.Register(int(want.CFA.Reg)).Plus(want.CFA.Offset)
				if got, err = file.Frame(pc); err == nil && !slices.Equal(got.CFA.Steps, cfa.Steps) {
					err = fmt.Errorf("canonical address %v, Delve has %v", got.CFA, cfa)
				}
			}
			if err != nil {
				f.Wrong("%#x: %v", pc, err)
			} else {
				f.Equal(1)
			}
		}
	}
	return nil
}

// sameRules compares the rule of the frame and those of the registers that calls keep.
func sameRules(got *cfi.Rules, want *frame.FrameContext) error {
	kinds := map[frame.Rule]cfi.Kind{frame.RuleUndefined: cfi.Undefined, frame.RuleSameVal: cfi.Same,
		frame.RuleOffset: cfi.Offset, frame.RuleValOffset: cfi.ValOffset, frame.RuleRegister: cfi.Register,
		frame.RuleExpression:    cfi.Expr,
		frame.RuleValExpression: cfi.ValExpr, frame.RuleCFA: cfi.Register}
	one := func(name string, r cfi.Rule, w frame.DWRule) error {
		kind, ok := kinds[w.Rule]
		if !ok {
			return fmt.Errorf("%s: Delve has rule %d", name, w.Rule)
		}
		same := r.Kind == kind
		switch kind {
		case cfi.Offset, cfi.ValOffset:
			same = same && r.Off == w.Offset
		case cfi.Register:
			same = same && uint64(r.Reg) == w.Reg && r.Off == w.Offset
		case cfi.Expr, cfi.ValExpr:
			same = same && slices.Equal(r.Expr, w.Expression)
		}
		if !same {
			return fmt.Errorf("%s: %+v, Delve has %+v", name, r, w)
		}
		return nil
	}
	cfa := want.CFA
	if cfa.Rule == frame.RuleExpression {
		cfa.Rule = frame.RuleValExpression // the address itself, not where it was saved
	}
	if err := one("CFA", got.CFA, cfa); err != nil {
		return err
	}
	for reg := range got.Regs {
		w, ok := want.Regs[uint64(reg)]
		if !ok {
			continue // no rule: what that means is the convention's
		}
		if w.Rule == frame.RuleUndefined && got.Regs[reg].Kind == cfi.Same {
			continue // DW_CFA_restore where the CIE has no rule; for gdb it is none again, too
		}
		if err := one(fmt.Sprint("register ", reg), got.Regs[reg], w); err != nil {
			return err
		}
	}
	return nil
}
