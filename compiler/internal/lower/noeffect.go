package lower

import (
	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/internal/target"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/source"
)

// warnNoEffect warns of an assignment that the rest of the program does not see.
func (f writing) warnNoEffect(x ast.Expr, t *elab.Target) {
	if t.Leaves {
		return // the caller reads it
	}
	name := target.Text(x)
	warn := func(s *probe.Site, format string, args ...any) *diag.Diagnostic {
		d := f.ds.Warnf(diag.Semantic, CodeNoEffect, x.Range(), "assigning to %s has no effect here: "+format,
			append([]any{name}, args...)...)
		if s != nil {
			d.Note(source.Span{}, "at %s", s.Point)
		}
		return d
	}
	if !t.Place.Writable {
		warn(nil, "the program has a copy elsewhere and goes on with that")
		return
	}
	for _, s := range f.sites {
		if s.Image == nil {
			continue
		}
		if !s.IsReturn() {
			if r, dead := f.deadReg(s, t.Place); dead {
				warn(s, "the code behind it does not read register %s, where it is, any more", r)
				return
			}
			continue
		}
		if !f.lasts(s, t.Place) {
			warn(s, "the function returns, and nothing reads its variables any more").Hintf(
				"$return = value changes what it returns")
			return
		}
	}
}

// lasts reports whether something in place pl outlives the return at s: what a pointer leads to, what has a
// fixed address, and the results.
func (f writing) lasts(s *probe.Site, pl loc.Place) bool {
	if pl.InMemory {
		base, _ := split(pl.Addr)
		if len(base.Steps) != 1 || base.Steps[0].Op != loc.Reg {
			return true
		}
	}
	rs, err := s.Image.Results(s.At)
	if err != nil {
		return true // not known
	}
	for _, r := range rs {
		if r.Err == nil && f.within(pl, r.Place) {
			return true
		}
	}
	return false
}

// within reports whether pl and whole share memory or a register.
func (f writing) within(pl, whole loc.Place) bool {
	if pl.InMemory != whole.InMemory {
		return false
	}
	if pl.InMemory {
		a, x := split(pl.Addr)
		b, y := split(whole.Addr)
		return a.String() == b.String() && x >= y && x < y+max(whole.Type.Size, 1)
	}
	for _, p := range pl.Pieces {
		for _, q := range whole.Pieces {
			i, _, ok := f.home(p)
			j, _, ok2 := f.home(q)
			if ok && ok2 && p.Val.Steps[i].Op == loc.Reg && q.Val.Steps[j].Op == loc.Reg &&
				p.Val.Steps[i].N == q.Val.Steps[j].N {
				return true
			}
		}
	}
	return false
}

// split takes the constant that is added last off p.
func split(p loc.Prog) (loc.Prog, int64) {
	if n := p.Last(); n >= 2 && p.Steps[n].Op == loc.Add && p.Steps[n].A == n-2 && p.Steps[n].B == n-1 &&
		p.Steps[n-1].Op == loc.Const {
		return loc.Prog{Steps: p.Steps[:n-1]}, p.Steps[n-1].N
	}
	return p, 0
}

// deadReg finds a register of pl that the code behind s overwrites before it reads it, as far as the
// program's reader can tell.
func (f writing) deadReg(s *probe.Site, pl loc.Place) (string, bool) {
	im, ok := s.Image.(debuginfo.RegUser)
	if !ok || pl.InMemory || !s.Kind.InUser() || s.Kind.Returns() {
		return "", false
	}
	for _, p := range pl.Pieces {
		if at, _, ok := f.home(p); ok && p.Val.Steps[at].Op == loc.Reg {
			if name, dead := im.RegDead(s.At, int(p.Val.Steps[at].N)); dead {
				return name, true
			}
		}
	}
	return "", false
}
