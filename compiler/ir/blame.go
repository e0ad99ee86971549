package ir

import "github.com/gostap/gostap/compiler/source"

// Ours reports whether pos is in the library, not in a text of the user's.
func (p *Program) Ours(pos source.Pos) bool {
	if p.Files == nil {
		return false
	}
	f := p.Files.File(pos)
	return f != nil && f.Library
}

// Through gives Via for an instruction that is copied to where call stood: the innermost call of the user's that it
// is behind.
func (p *Program) Through(in, call *Instr) source.Pos {
	switch {
	case in.Via.IsValid() || !p.Ours(in.Pos):
		return in.Via
	case p.Ours(call.Pos):
		return call.Via
	}
	return call.Pos
}

// Blame says where in the user's text the reason for the instruction at pos is, which was inlined through the call at
// via if that is a place: the call of the library's function that pos is in, else pr's own place. pr nil is any probe.
// Where pos is none, it is pr's. inner is pos then, and no place where pos is in the user's text.
func (p *Program) Blame(pr *Probe, pos, via source.Pos) (user, inner source.Pos) {
	if !pos.IsValid() && pr != nil {
		pos = pr.Pos
	}
	if !p.Ours(pos) {
		return pos, source.NoPos
	}
	if via.IsValid() {
		return via, pos
	}
	probes := p.Probes
	if pr != nil {
		probes = []*Probe{pr}
	}
	own := source.NoPos // of a probe whose handler has it, as those of aliases have
	for _, pr := range probes {
		c := calls{p: p, pos: pos, seen: map[string]bool{}}
		if at := c.find(pr.Handler, source.NoPos); at.IsValid() {
			return at, pos
		}
		if c.here && !own.IsValid() && !p.Ours(pr.Pos) {
			own = pr.Pos
		}
	}
	if !own.IsValid() && pr != nil && !p.Ours(pr.Pos) {
		own = pr.Pos
	}
	if !own.IsValid() {
		return pos, source.NoPos
	}
	return own, pos
}

// calls looks for the user's call behind which the instruction at pos is.
type calls struct {
	p    *Program
	pos  source.Pos
	seen map[string]bool
	here bool // it is there, but not behind any call of the user's
}

// find looks in f, which was called from at.
func (c *calls) find(f *Func, at source.Pos) source.Pos {
	for _, b := range f.Blocks {
		for i := range b.Instrs {
			in := &b.Instrs[i]
			from := at
			if in.Via.IsValid() {
				from = in.Via
			} else if !c.p.Ours(in.Pos) {
				from = in.Pos
			}
			if code := c.p.CodeOf(in); in.Pos == c.pos || code != nil && code.Pos == c.pos {
				if from.IsValid() {
					return from
				}
				c.here = true
			}
			if in.Op != OpCall || c.seen[in.Name] {
				continue
			}
			c.seen[in.Name] = true
			if fn := c.p.Func(in.Name); fn != nil {
				if fn.Pos == c.pos && from.IsValid() {
					return from
				}
				if got := c.find(fn, from); got.IsValid() {
					return got
				}
			}
		}
	}
	return source.NoPos
}
