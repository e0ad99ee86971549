package target

import (
	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/gomap"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/shape"
	"github.com/gostap/gostap/compiler/types"
)

// The releases of Go of which it is known how their maps lie and hash, as minor versions.
const (
	firstMaps = 20
	lastMaps  = 26
)

// zeroSize is that of runtime.zeroVal, in bytes.
const zeroSize = 1024

// element is $m[key] of a map, by Go's rules: where the key is not in the map it is the zero value, of which no address
// is given away (loc.Prog.Strict).
func (b *build) element(o object, key ast.Expr) (object, error) {
	elem := o.Type.Elem()
	if elem == nil || elem.Size < 0 {
		return o, fail("the elements of %s have no known size", o.Type.Name)
	}
	at, err := b.find(o, key)
	if err != nil {
		return o, err
	}
	if elem.Size > zeroSize {
		at = at.With(at, loc.Step{Op: loc.Check, Text: loc.NoKey})
	} else {
		zero, err := b.runtimeVar("runtime.zeroVal")
		if err != nil {
			return o, err
		}
		at = at.With(zero, loc.Step{Op: loc.Else})
	}
	return object{Place: loc.Place{Type: elem, InMemory: true, Addr: at, Kernel: o.Kernel, Writable: true}}, nil
}

// hasKey is "key in $m": whether a map, or a context, has the key.
func (b *build) hasKey(e *ast.AtOp) (*elab.Target, error) {
	x := e.Args[1].(*ast.Target)
	if x.Pretty > 0 || !b.isVariable(x) {
		return nil, fail("%s is no map of the program", Text(x))
	}
	o, entry, err := b.object(x)
	if err != nil {
		return nil, err
	}
	if entry {
		return nil, tooEarly(x)
	}
	if at, err := b.inContext(x, o, e); err != nil || at != nil {
		return at, err
	}
	if o.Type.Kind != types.GoMap {
		return nil, fail("%s is no map: its type is %s", Text(x), o.Type.Name)
	}
	if len(e.Args) > 2 {
		return nil, fail("a map of the program has one key")
	}
	at, err := b.find(o, e.Args[0])
	if err != nil {
		return nil, err
	}
	at = at.With(loc.Constant(0), loc.Step{Op: loc.Equal}).With(loc.Constant(1), loc.Step{Op: loc.Xor})
	return &elab.Target{Type: types.Long, Value: at}, nil
}

// find is the address of the element of a map that has the key, 0 if there is none.
func (b *build) find(o object, key ast.Expr) (loc.Prog, error) {
	t := o.Type
	m, err := b.layout(t)
	if err != nil {
		return loc.Prog{}, err
	}
	text, size, ok := gomap.Keyed(t.Key())
	if !ok {
		return loc.Prog{}, fail("the keys of %s are %s, and only those that are strings, integers, bool, pointers or "+
			"channels can be looked up", t.Name, t.Key().Name).(*problem).advise("$ behind the map prints it")
	}
	m.Text, m.KeySize = text, size
	if m.Sched, err = b.runtimeVar("runtime.aeskeysched"); err != nil {
		return loc.Prog{}, err
	}
	at, err := word(o, wordSize, false)
	if err != nil {
		return at, err
	}
	lit, ok := ast.Unparen(key).(*ast.Literal)
	if ok && lit.IsString != text {
		return at, quotes(fail("the keys of %s are %s", t.Name, t.Key().Name), text)
	}
	k := loc.Prog{}
	if text {
		k = b.textArg(key)
	} else if k, ok = b.number(key, t.Key()); !ok {
		return at, fail("%s is no %s, which the keys of %s are", Text(key), t.Key().Name, t.Name)
	}
	return at.With(k, loc.Step{Op: loc.Find, Map: m}), nil
}

// quotes advises to write a key with quotes or without.
func quotes(err error, with bool) error {
	return err.(*problem).advise("write the key %s quotes", map[bool]string{true: "in", false: "without"}[with])
}

// number is a key that is a number of type t; false if it is written, and is none.
func (b *build) number(key ast.Expr, t *types.Ctype) (loc.Prog, bool) {
	if n, ok := constant(key); ok {
		return loc.Constant(cut(n, t.Size)), fits(n, t)
	}
	k := b.arg(key)
	if t.Size < wordSize {
		k = k.Then(loc.Step{Op: loc.Bits, Size: int(8 * t.Size), Signed: t.Signed}).With(k, loc.Step{Op: loc.Equal})
		k = b.arg(key).With(k, loc.Step{Op: loc.Check, Text: "the key is no " + t.Name})
		k = k.Then(loc.Step{Op: loc.Bits, Size: int(8 * t.Size)})
	}
	return k, true
}

// fits reports whether n is a number of type t.
func fits(n int64, t *types.Ctype) bool {
	switch {
	case t.Kind == types.Bool:
		return n == 0 || n == 1
	case t.Size >= wordSize:
		return true
	case t.Signed:
		return n>>(8*t.Size-1) == 0 || n>>(8*t.Size-1) == -1
	}
	return n>>(8*t.Size) == 0
}

// cut is n in size bytes.
func cut(n, size int64) int64 {
	if size >= wordSize {
		return n
	}
	return n & (1<<(8*size) - 1)
}

// layout is how maps of type t lie, without what their keys are.
func (b *build) layout(t *types.Ctype) (*loc.Map, error) {
	if t.Key() == nil || t.Elem() == nil {
		return nil, fail("the debug information does not say what %s has as keys and elements", t.Name)
	}
	s := b.at()
	if s == nil || s.Image == nil {
		return nil, fail("only in probes of the program is it known how its maps lie")
	}
	rtt := debuginfo.RunTimeTypesOf(s.Image)
	if rtt == nil || rtt.Minor < firstMaps || rtt.Minor > lastMaps {
		return nil, fail("it is known how maps of Go 1.%d to 1.%d lie, and not those of this program", firstMaps,
			lastMaps)
	}
	g := shape.GroupOf(rtt.Swiss, t.Key(), t.Elem())
	return &loc.Map{Swiss: rtt.Swiss, Size: g.Size, KeyAt: g.KeyAt, KeyStep: g.KeyStep, ElemAt: g.ElemAt,
		ElemStep: g.ElemStep, ElemPtr: g.ElemPtr}, nil
}

// runtimeVar is the address of a variable of Go's runtime in the probed program.
func (b *build) runtimeVar(name string) (loc.Prog, error) {
	v, err := b.at().Image.Global(name)
	if err == nil && v.Err != nil {
		err = v.Err
	}
	if err == nil && !v.Place.InMemory {
		err = fail("%s has no address", name)
	}
	if err != nil {
		return loc.Prog{}, fail("%s, which maps are looked up by, is not found: %s", name, err)
	}
	return v.Place.Addr, nil
}

// textArg is an expression of the script that is a string.
func (b *build) textArg(e ast.Expr) loc.Prog {
	if b.texts == nil {
		b.texts = map[ast.Expr]bool{}
	}
	b.texts[e] = true
	return b.arg(e)
}

// rangedMap is one of the operators of the loop over a map, which x is written as.
func (b *build) rangedMap(x *ast.Target, o object, op string, at loc.Prog) (*elab.Target, error) {
	t := o.Type
	m, err := b.layout(t)
	if err != nil {
		return nil, err
	}
	addr, err := word(o, wordSize, false)
	if err != nil {
		return nil, err
	}
	if op == ast.RangeNext {
		return &elab.Target{Type: types.Long, Value: addr.With(at, loc.Step{Op: loc.Next, Map: m})}, nil
	}
	what, lies, typ := "keys", loc.KeyAt, t.Key()
	if op == ast.RangeElem {
		what, lies, typ = "elements", loc.ElemAt, t.Elem()
	}
	in := object{Place: loc.Place{Type: typ, InMemory: true, Kernel: o.Kernel,
		Addr: addr.With(at, loc.Step{Op: lies, Map: m})}}
	out, err := read(in)
	if err == nil {
		return out, nil
	}
	p := fail("the %s of %s, %s, are no single values", what, Text(x), typ.Name).(*problem)
	if op == ast.RangeElem {
		return nil, p.advise("go through the keys, foreach (k in %s), and name what is wanted of %s[k]", Text(x),
			Text(x))
	}
	return nil, p.advise("$ behind the map prints it")
}
