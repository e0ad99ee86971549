package change

import (
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/internal/skip"
	"github.com/gostap/gostap/compiler/probe"
)

// Order reports probes that fire where an earlier one may have left out the function: they would find registers of its
// caller there.
func Order(ps []*elab.Probe) diag.List {
	type place struct {
		path string
		pc   uint64
	}
	var ds diag.List
	left := map[place]*elab.Probe{}
	said := map[*elab.Probe]bool{}
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
					Hintf("put the probe with %s() last", skip.Call)
			}
		})
		if p.Leaves {
			each(p, func(at place) { left[at] = p })
		}
	}
	return ds
}
