package change

import (
	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/internal/skip"
	"github.com/gostap/gostap/compiler/probe"
)

// Order reports probes that fire where an earlier one may have left out the function: they would find registers of its
// caller there. It is asked when names are bound, since a function of the script may be what leaves it.
func Order(ps []*elab.Probe) diag.List {
	type place struct {
		path string
		pc   uint64
	}
	var ds diag.List
	type leaver struct {
		*elab.Probe
		how string
	}
	left := map[place]*leaver{}
	said := map[*elab.Probe]bool{}
	seen := map[*elab.Func]bool{}
	each := func(p *elab.Probe, do func(place)) {
		for _, sites := range [][]*probe.Site{p.Sites, p.Entry, p.Marks} {
			for _, s := range sites {
				if s.Image != nil && !s.IsReturn() {
					do(place{s.Image.Path(), s.At.PC})
				}
			}
		}
	}
	for _, p := range ps {
		each(p, func(at place) {
			if first := left[at]; first != nil && !said[p] {
				said[p] = true
				ds.Errorf(diag.Semantic, codeContext, p.Req.Span,
					"%s fires where a probe before it leaves out the function", p.Req).
					Note(first.Req.Span, "that is this one").
					Hintf("put the probe with %s() last", first.how)
			}
		})
		by := &leaver{p, skip.Call}
		if !p.Leaves {
			by.how = override
		}
		if p.Leaves || leaves(p.Info.Calls, seen) {
			each(p, func(at place) { left[at] = by })
		}
	}
	return ds
}

// override is the built-in function by which functions of the kernel are left out.
const override = "override_return"

// leaves reports whether one of the functions that are called leaves out the probed one, or one that it calls. seen has
// the answers so far.
func leaves(calls map[*ast.Call]*elab.Func, seen map[*elab.Func]bool) bool {
	for _, f := range calls {
		for ; f != nil; f = f.Next {
			does, known := seen[f]
			if !known {
				seen[f] = false // calls of itself say nothing new
				does = f.Intrinsic != nil && f.Intrinsic.Name == override || leaves(f.Info.Calls, seen)
				seen[f] = does
			}
			if does {
				return true
			}
		}
	}
	return false
}
