package sema

import (
	"fmt"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/compiler/types"
)

// slot is something that has a type: a *elab.Local, a *elab.Global (key -1: its value,
// else a key), a *elab.Func (its result).
type slot struct {
	of  any
	key int
}

// arityOf is the key of a slot that stands for how many keys a global has.
const arityOf = -2

// histOf is the key of a slot that stands for the histogram that an aggregate keeps.
const histOf = -3

// scaleOf is the key of one that stands for the scale of what is added to an aggregate.
const scaleOf = -4

// class is a set of slots that must be of one type, which is not known yet.
type class struct {
	members []slot
	// wrong: one of them got a value from a refused expression.
	wrong bool
}

// typ gives the field that holds the type of s.
func (s slot) typ() *types.Type {
	switch of := s.of.(type) {
	case *elab.Local:
		return &of.Type
	case *elab.Func:
		return &of.Result
	case *elab.Global:
		if s.key >= 0 {
			return &of.Keys[s.key]
		}
		return &of.Type
	}
	return nil
}

func (s slot) what() string {
	switch of := s.of.(type) {
	case *elab.Local:
		return of.Name
	case *elab.Func:
		return "the result of " + of.Decl.Name.Name + "()"
	case *elab.Global:
		if s.key >= 0 {
			return fmt.Sprintf("key %d of %s", s.key+1, of.Decl.Name.Name)
		}
		if of.Arity > 0 {
			return "the element of " + of.Decl.Name.Name
		}
		return of.Decl.Name.Name
	}
	return "this"
}

// classOf gives the class of s, which at first is in one of its own.
func (x *infer) classOf(s slot) *class {
	c := x.classes[s]
	if c == nil {
		c = &class{members: []slot{s}}
		x.classes[s] = c
	}
	return c
}

// link makes slots be of one type: what is found out about one holds for all.
func (x *infer) link(at source.Span, slots ...slot) {
	for i, s := range slots {
		if t := *s.typ(); t != types.Unknown {
			for _, o := range slots {
				x.unify(o, t, at)
			}
			return
		}
		if i == 0 {
			continue
		}
		a, b := x.classOf(slots[0]), x.classOf(s)
		if a == b {
			continue
		}
		if len(a.members) < len(b.members) {
			a, b = b, a
		}
		for _, m := range b.members {
			x.classes[m] = a
		}
		a.members = append(a.members, b.members...)
		a.wrong = a.wrong || b.wrong
	}
}

// poison notes that s got its value from a refused expression, so that a type which
// stays unknown is no mistake of its own.
func (x *infer) poison(s slot) { x.classOf(s).wrong = true }

func (x *infer) poisoned(s slot) bool {
	c := x.classes[s]
	return c != nil && c.wrong
}

// unify gives s the type want, or checks that it has it. at is the place that wants it.
func (x *infer) unify(s slot, want types.Type, at source.Span) types.Type {
	t := s.typ()
	switch {
	case want == bad:
		x.poison(s)
	case want == types.Unknown || *t == want:
	case *t == types.Unknown:
		x.changed = true
		*t = want
		x.origin[s] = at
		if c := x.classes[s]; c != nil {
			for _, m := range c.members {
				if mt := m.typ(); *mt == types.Unknown {
					*mt = want
					x.origin[m] = at
				}
			}
		}
	case x.two[s]:
		return bad
	default:
		x.mismatch(s, want, at)
		return bad
	}
	if *t == types.Unknown && x.poisoned(s) {
		return bad
	}
	return *t
}

// sources lists where the value of e, whose type is not known, comes from.
func (x *infer) sources(e ast.Expr) []slot {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ternary:
		var ss []slot
		v, ok := Known(x.in, e.Cond)
		if !ok || v != 0 {
			ss = x.sources(e.Then)
		}
		if !ok || v == 0 {
			ss = append(ss, x.sources(e.Else)...)
		}
		return ss
	case *ast.Assign:
		return x.sources(e.X)
	case *ast.Call:
		var ss []slot
		for f := x.in.Calls[e]; f != nil; f = f.Next {
			if !f.Void() {
				ss = append(ss, slot{f, -1})
			}
		}
		return ss
	case *ast.AtOp:
		if t := x.in.Targets[e]; t != nil && t.Inner != nil {
			return x.sources(t.Inner)
		}
	}
	if s := x.slotOf(e); s.of != nil {
		return []slot{s}
	}
	return nil
}

// slotOf is the variable that e is; its of is nil if e is none.
func (x *infer) slotOf(e ast.Expr) slot {
	switch e := ast.Unparen(e).(type) {
	case *ast.Name:
		if l := x.in.Locs[e]; l != nil {
			return slot{l, -1}
		}
		if g := x.in.Globs[e]; g != nil {
			return slot{g, -1}
		}
	case *ast.Index:
		if g := x.in.Globs[e.Array]; g != nil {
			return slot{g, -1}
		}
	case *ast.Call:
		if f := x.in.Calls[e]; f != nil && !f.Void() {
			return slot{f, -1}
		}
	}
	return slot{}
}

// given says that the value of e, which is of type t, goes to s.
func (x *infer) given(e ast.Expr, t types.Type, s slot) {
	switch {
	case *s.typ() != types.Unknown:
	case t == types.Unknown:
		x.link(e.Range(), append(x.sources(e), s)...)
	default:
		x.unify(s, t, e.Range())
	}
}

// equal says that a, which is of type t, and b, which is of type u, must be of one
// type, and gives that type as far as it is known.
func (x *infer) equal(a ast.Expr, t types.Type, b ast.Expr, u types.Type) types.Type {
	if t != types.Unknown && u != bad {
		return t
	}
	if t == types.Unknown && u == types.Unknown {
		x.link(a.Range(), append(x.sources(a), x.sources(b)...)...)
		return t
	}
	for _, s := range x.sources(a) {
		if x.unify(s, u, a.Range()) == bad {
			t = bad
		}
	}
	if t == types.Unknown {
		return u
	}
	return t
}
