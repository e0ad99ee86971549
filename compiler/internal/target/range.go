package target

import (
	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/types"
)

// slice is "[low:high]" of o, by Go's rules: of a string it is a string, of a slice or an array in memory a slice.
// Bounds that do not fit are a run-time error.
func (b *build) slice(o object, st ast.TargetStep) (object, error) {
	var err error
	if t := o.Type; t.Go && t.Kind == types.Pointer && t.Elem() != nil && t.Elem().Kind == types.Array {
		if o, err = deref(o); err != nil {
			return o, err
		}
	}
	t := o.Type
	if !t.Go {
		return o, fail("%s is no slice, array or string of Go, and no part of it can be taken", t.Name)
	}
	var base, length, limit loc.Prog
	out := t
	elem := t.Elem()
	switch t.Kind {
	case types.GoString:
		elem = goUint8
	case types.GoSlice:
	case types.Array:
		if !o.InMemory {
			return o, fail("the array is in registers here, and no part of it can be taken")
		}
		out = &types.Ctype{Kind: types.GoSlice, Name: "[]", Size: 3 * wordSize, Go: true}
		if elem != nil {
			out.Name += elem.Name
			out.SetElem(elem)
		}
		base, length, limit = o.Addr, loc.Constant(t.Count), loc.Constant(t.Count)
	default:
		return o, fail("%s is no slice, array or string, and no part of it can be taken", t.Name)
	}
	if elem == nil || elem.Size < 0 {
		return o, fail("the elements of %s have no known size", t.Name)
	}
	if t.Kind != types.Array {
		if base, err = word(part(o, 0, goRawPtr), wordSize, false); err != nil {
			return o, err
		}
		if length, err = word(part(o, wordSize, goInt), wordSize, false); err != nil {
			return o, err
		}
		limit = length
		if t.Kind == types.GoSlice {
			if limit, err = word(part(o, 2*wordSize, goInt), wordSize, false); err != nil {
				// Where its capacity is in no register or memory any more, its length is what is known to be there.
				limit = length
			}
		}
	}
	low, high := loc.Constant(0), length
	if st.Index != nil {
		low = b.bound(st.Index)
	}
	if st.High != nil {
		high = within(b.bound(st.High), limit)
	}
	if st.Index != nil {
		low = within(low, high)
	}
	step := low
	if elem.Size != 1 {
		step = low.With(loc.Constant(elem.Size), loc.Step{Op: loc.Mul})
	}
	pieces := []loc.Piece{
		{Off: 0, Size: wordSize, Val: base.With(step, loc.Step{Op: loc.Add})},
		{Off: wordSize, Size: wordSize, Val: high.With(low, loc.Step{Op: loc.Sub})},
	}
	if out.Kind == types.GoSlice {
		capacity := limit.With(low, loc.Step{Op: loc.Sub})
		pieces = append(pieces, loc.Piece{Off: 2 * wordSize, Size: wordSize, Val: capacity})
	}
	return object{Place: loc.Place{Type: out, Kernel: o.Kernel, Pieces: pieces}}, nil
}

// bound is a bound of a range.
func (b *build) bound(e ast.Expr) loc.Prog {
	if n, ok := constant(e); ok {
		return loc.Constant(n)
	}
	return b.arg(e)
}

// within is p if it is at most limit, else a run-time error.
func within(p, limit loc.Prog) loc.Prog { return p.With(limit, loc.Step{Op: loc.Within}) }

// ranged is one of the operators that the loop over a variable of the program is made of.
func (b *build) ranged(e *ast.AtOp) (*elab.Target, error) {
	x := e.Args[0].(*ast.Target)
	if !b.isVariable(x) {
		return nil, fail("%s is nothing that foreach could go through", Text(x))
	}
	o, entry, err := b.object(x)
	if err != nil {
		return nil, err
	}
	if entry {
		return nil, fail("in a .return probe parameters have their values at the function's entry, and what is in "+
			"them is read later").(*problem).advise("go through %s in a probe of the entry", Text(x))
	}
	if t := o.Type; t.Go && t.Kind == types.Pointer && t.Elem() != nil {
		if k := t.Elem().Kind; k == types.Array || k == types.GoSlice {
			if o, err = deref(o); err != nil {
				return nil, err
			}
		}
	}
	at := b.arg(e.Args[1])
	if o.Type.Kind == types.GoMap {
		return b.rangedMap(x, o, e.Name, at)
	}
	n, err := elements(o)
	if err != nil {
		return nil, err
	}
	switch e.Name {
	case ast.RangeNext:
		return &elab.Target{Type: types.Long,
			Value: at.With(n, loc.Step{Op: loc.Less}).With(at.Plus(1), loc.Step{Op: loc.Mul})}, nil
	case ast.RangeKey:
		return &elab.Target{Type: types.Long, Value: at.Plus(-1)}, nil
	}
	if o, err = index(o, false, 0, at.Plus(-1)); err != nil {
		return nil, err
	}
	t, err := read(o)
	if err != nil {
		return nil, fail("the elements of %s are no single values", Text(x)).(*problem).
			advise("go through the indexes, foreach (i in %s), and name what is wanted of %s[i]", Text(x), Text(x))
	}
	return t, nil
}

// elements is how many elements o has.
func elements(o object) (loc.Prog, error) {
	switch t := o.Type; t.Kind {
	case types.GoSlice:
		return word(part(o, wordSize, goInt), wordSize, false)
	case types.Array:
		if t.Count >= 0 {
			return loc.Constant(t.Count), nil
		}
		return loc.Prog{}, fail("it is not known how many elements %s has", t.Name)
	default:
		return loc.Prog{}, fail("%s is no slice, array or map, so foreach cannot go through it", t.Name)
	}
}
