package godwarf

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo"
)

// TestBrief asks for all functions and copies of a program in both ways.
func TestBrief(t *testing.T) {
	for _, v := range variants {
		t.Run(v.name, func(t *testing.T) {
			im := open(t, v.name)
			for _, pattern := range []string{"*", "main.*", "sync*", "main.small"} {
				var want, got []string
				copies, err := im.Inlined(pattern)
				var none *debuginfo.NotFoundError
				if err != nil && !errors.As(err, &none) {
					t.Fatal(err)
				}
				refused, near := 0, 0
				for _, in := range copies {
					host := im.tab.Find(in.Site.PC)
					for _, pc := range im.inlines().straightLine(host, in.Site.PC) {
						if im.insn(pc) == debuginfo.InsnRefused {
							near++
							if !im.inlines().refusedNear(host, in.Site.PC) {
								t.Errorf("%s at %#x: %#x is not seen", in.Func.Name, in.Site.PC, pc)
							}
						}
					}
					want = append(want, fmt.Sprint(*in.Func, in.Site.Insn == debuginfo.InsnRefused))
					if in.Site.Insn == debuginfo.InsnRefused {
						refused++
					}
				}
				last := uint64(0)
				err = EachCopy(im, pattern, func(in *debuginfo.InlineSite) {
					got = append(got, fmt.Sprint(*in.Func, in.Site.Insn == debuginfo.InsnRefused))
					if s, err := im.SiteAt(in.Site.PC); err == nil && s.Insn != in.Site.Insn {
						t.Errorf("%s at %#x: instruction %v, want %v", in.Func.Name, in.Site.PC, in.Site.Insn, s.Insn)
					}
					if !im.HasTypes() && in.Site.PC < last {
						t.Errorf("%s at %#x comes behind %#x", in.Func.Name, in.Site.PC, last)
					}
					last = in.Site.PC
				})
				slices.Sort(want)
				slices.Sort(got)
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("%s: %d copies, want %d (%v)", pattern, len(got), len(want), err)
				}
				if pattern == "*" && (refused == 0 || near <= refused) {
					t.Errorf("the program has %d copies that cannot be probed, and %d instructions", refused, near)
				}
			}
			funcs, err := im.Funcs("*")
			if err != nil {
				t.Fatal(err)
			}
			stands, failed := 0, 0
			for _, f := range funcs {
				want, err1 := im.EntrySite(f)
				got, err2 := Enters(im, f)
				if fmt.Sprint(err1) != fmt.Sprint(err2) {
					t.Errorf("%s: %v, want %v", f.Name, err2, err1)
				}
				if err1 != nil {
					failed++
					continue
				}
				if got.Func != want.Func || got.Insn == debuginfo.InsnRefused || want.Insn == debuginfo.InsnRefused {
					t.Errorf("%s: %+v, want %+v", f.Name, got, want)
				}
				if f.Wrapper != "" {
					stands++
				} else if got.PC != want.PC || got.Insn != want.Insn || got.Kind != want.Kind {
					t.Errorf("%s: %v %v at %#x, want %v %v at %#x", f.Name, got.Kind, got.Insn, got.PC, want.Kind,
						want.Insn, want.PC)
				}
			}
			if stands == 0 || failed == 0 {
				t.Errorf("%d functions in wrappers, %d that cannot be probed", stands, failed)
			}
			if _, err := Enters(im, &debuginfo.Func{Name: "main.none"}); err == nil {
				t.Error("a function without code has an entry")
			}
		})
	}
}
