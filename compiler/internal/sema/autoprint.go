package sema

import "github.com/gostap/gostap/compiler/internal/elab"

// AutoPrint lists the globals of the script that are written and never read, in the
// order of their declarations: they are printed when the session ends.
func AutoPrint(p *elab.Program) []*elab.Global {
	var out []*elab.Global
	for _, g := range p.Globals {
		if g.User && g.Written && !g.Read {
			out = append(out, g)
		}
	}
	return out
}
