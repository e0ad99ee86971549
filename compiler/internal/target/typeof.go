package target

import (
	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/shape"
	"github.com/gostap/gostap/compiler/types"
)

// typeOf is @typeof($x): the name of the type of a variable, or of what an interface holds. With a second argument, of
// which grammar makes @typeof($x) == "name", it is whether that is its type.
func (b *build) typeOf(e *ast.AtOp) (*elab.Target, error) {
	var o object
	var entry bool
	var err error
	switch x := ast.Unparen(e.Args[0]).(type) {
	case *ast.Target:
		if x.Pretty > 0 || !b.isVariable(x) {
			return nil, fail("%s is no variable of a program, so it has no type there", Text(x))
		}
		o, entry, err = b.object(x)
	case *ast.AtOp:
		o, err = b.baseExpr(x)
	default:
		return nil, fail("%s is no variable of a program, so it has no type there", Text(x))
	}
	if err != nil {
		return nil, err
	}
	if entry {
		b.args = nil
		return b.atEntry(func() (*elab.Target, error) { return b.typeOf(e) }, true)
	}
	if len(e.Args) == 2 {
		return b.hasType(o, e.Args[1].(*ast.Literal).Str)
	}
	out := &elab.Target{Type: types.String, Ctype: o.Type}
	if o.Type.Kind != types.GoInterface {
		b.args = nil // its value is not looked at
		out.Pretty = []elab.PrettyPart{{Lit: o.Type.Name}}
		return out, nil
	}
	s := b.at()
	if s == nil || s.Image == nil {
		return nil, fail("only in probes of the program is it known which types it has")
	}
	w := writer{limits: b.env.Limits}
	if w.full = newFullText(s.Image, false, true, b.env.Limits); w.full == nil {
		return nil, fail("it is not known how the run-time types of this program lie")
	}
	w.full.add(o, shape.Part{TypeOnly: true})
	err = w.seal()
	out.Pretty = w.parts
	return out, err
}

// hasType is whether the type of o, or of what interface o holds, is the one called name; "nil" is that of no value.
func (b *build) hasType(o object, name string) (*elab.Target, error) {
	out := &elab.Target{Type: types.Long}
	if o.Type.Kind != types.GoInterface {
		b.args = nil
		t, err := b.namedType(name)
		if err != nil {
			return nil, err
		}
		out.Value = loc.Constant(truth(t.Name == o.Type.Name))
		return out, nil
	}
	if name == "nil" {
		first, err := word(part(o, 0, goRawPtr), wordSize, false)
		out.Value = first.With(loc.Constant(0), loc.Step{Op: loc.Equal})
		return out, err
	}
	t, err := b.assertable(name)
	if err != nil {
		return nil, err
	}
	if t.addr.Empty() {
		b.args = nil
		out.Value = loc.Constant(0)
		return out, nil
	}
	held, err := dynamicType(o)
	out.Value = held.With(t.addr, loc.Step{Op: loc.Equal})
	return out, err
}
