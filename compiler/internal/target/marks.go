package target

import (
	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/probe"
)

// marks finds the entries of the functions that p returns from, where it is all of what a handler says about their
// returns, so that calls that end in some other way can be told. Empty if not.
func (e *Env) marks(h *Handler, p *elab.Probe) []*probe.Site {
	if h.Cond != nil || len(p.Sites) != len(h.Sites) {
		return nil
	}
	var out []*probe.Site
	seen := map[*probe.Site]bool{}
	for _, s := range p.Sites {
		if !s.Kind.InUser() || s.At.Kind != debuginfo.AtReturn && s.At.Kind != debuginfo.AtTail || !told(s) {
			return nil
		}
		entry, err := e.entry(s)
		if err != nil {
			continue // its calls are not told
		}
		if !told(entry) {
			return nil
		}
		if !seen[entry] {
			seen[entry] = true
			out = append(out, entry)
		}
	}
	return out
}

// told reports whether it is known which call s belongs to.
func told(s *probe.Site) bool {
	if s.At.CFA.Empty() {
		return false
	}
	if !s.Go() {
		return true
	}
	g := s.Image.Goroutine(s.At)
	return g != nil && !g.G.Empty() && g.StackHi >= 0
}
