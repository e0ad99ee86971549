package cdwarf

import (
	"debug/dwarf"
	"fmt"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/clone"
	"github.com/gostap/gostap/compiler/debuginfo/dw"
	"github.com/gostap/gostap/compiler/debuginfo/dwtype"
	"github.com/gostap/gostap/compiler/debuginfo/sysv"
	"github.com/gostap/gostap/compiler/foreign"
	"github.com/gostap/gostap/compiler/types"
)

// Results gives the result of the function behind its return, if it has one. DWARF does not
// describe results; they are where the calling convention has them.
func (im *Image) Results(s debuginfo.Site) (vars []*debuginfo.Var, err error) {
	defer foreign.Guard(&err)()
	fn, err := im.read().siteFunc(s)
	if err != nil {
		return nil, err
	}
	return im.read().results(fn)
}

func (im reader) results(fn *function) ([]*debuginfo.Var, error) {
	v := &debuginfo.Var{Name: resultName, Kind: debuginfo.Result}
	refuse := func(format string, args ...any) ([]*debuginfo.Var, error) {
		v.Err = &debuginfo.NotLiveError{Name: v.Name, PC: fn.Entry, Reason: fmt.Sprintf(format, args...)}
		return []*debuginfo.Var{v}, nil
	}
	t, err := im.types.TypeOf(fn.tree)
	if err != nil {
		v.Type = dwtype.Void
		return refuse("%v", err)
	}
	if t.Kind == types.Void && t.Name == "void" {
		return nil, nil
	}
	v.Type = t
	_, suffix, _ := clone.Of(fn.Symbol)
	how := im.passing(fn, fn.tree, t)
	switch {
	case strings.Contains(suffix, ".isra") || strings.Contains(suffix, ".part"):
		// gcc takes the result away from copies whose callers do not use it, and does not say so.
		return refuse("the compiler made the copy %s, which may have no result", fn.Symbol)
	case how == dwtype.PassingUnknown && isCpp(fn.u):
		return refuse("whether a value of class %s is returned in registers is not known", t.Name)
	case how == dwtype.PassingUnknown:
		return refuse("how its language returns a value of type %s is not known", t.Name)
	case dw.Int(fn.tree, dwarf.AttrCalling) == callNoCall:
		return refuse("the function does not follow the calling convention")
	}
	pl, why := sysv.Result(im.m, t, how == dwtype.ByReference)
	if why != "" {
		return refuse("%s", why)
	}
	if reg, ok := im.dropped(fn, pl, 0); ok {
		return refuse("the function is local and optimised: its callers may not use the result, "+
			"and nothing shows that %s has it", reg)
	}
	v.Place, v.Object = pl, how == dwtype.ByReference
	return []*debuginfo.Var{v}, nil
}

// callNoCall is DW_CC_nocall (DWARF 5, 3.3.1.1).
const callNoCall = 3
