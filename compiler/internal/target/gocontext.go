package target

import (
	"errors"
	"strings"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/gocontexts"
	"github.com/gostap/gostap/compiler/gocontext"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/types"
)

var goAny = &types.Ctype{Kind: types.GoInterface, Name: "interface {}", Size: 2 * wordSize, Empty: true, Go: true}

// stored is $ctx[key]: the value that a context has for a key, as its Value method would give it; nil where there is
// none.
func (b *build) stored(o object, key, val ast.Expr) (object, error) {
	c, err := b.chain(key, val)
	if err != nil {
		return o, err
	}
	if c.KeyType.Empty() {
		return o, fail("no interface of the program holds %s, so no context has such a key", Text(key))
	}
	at, err := b.walked(o, c)
	if err != nil {
		return o, err
	}
	word := func(n int64) loc.Piece {
		return loc.Piece{Off: n, Size: wordSize, Val: at.Through(n, wordSize, false, o.Kernel)}
	}
	return object{Place: loc.Place{Type: goAny, Kernel: o.Kernel, Pieces: []loc.Piece{word(0), word(wordSize)}}}, nil
}

// inContext is "key in $ctx": whether a context has a value for a key; nil if o is no context.
func (b *build) inContext(x *ast.Target, o object, e *ast.AtOp) (*elab.Target, error) {
	if !gocontext.Is(o.Type) {
		return nil, nil
	}
	var val ast.Expr
	if len(e.Args) > 2 {
		val = e.Args[2]
	}
	c, err := b.chain(e.Args[0], val)
	if err != nil {
		return nil, err
	}
	out := &elab.Target{Type: types.Long, Value: loc.Constant(0)}
	if c.KeyType.Empty() {
		b.args = nil
		return out, nil
	}
	at, err := b.walked(o, c)
	if err != nil {
		return nil, err
	}
	out.Value = at.With(loc.Constant(0), loc.Step{Op: loc.Equal}).With(loc.Constant(1), loc.Step{Op: loc.Xor})
	return out, nil
}

// walked is where the value is that context o has as c says; 0 if there is none.
func (b *build) walked(o object, c *loc.Chain) (loc.Prog, error) {
	var first, data loc.Prog
	var err error
	if o.Type.Kind == types.GoInterface {
		if first, err = dynamicType(o); err == nil {
			data, err = word(part(o, wordSize, goRawPtr), wordSize, false)
		}
	} else {
		var k *asserted
		if k, err = b.held(o.Type, o.Type.Name); err == nil && k.addr.Empty() {
			err = fail("the program has no run-time type of %s", o.Type.Name)
		}
		if err != nil {
			return first, err
		}
		first = k.addr
		data, err = word(o, wordSize, false)
	}
	if err != nil {
		return first, err
	}
	return first.With(data, loc.Step{Op: loc.Stored, Chain: c}), nil
}

// chain is what is looked for: the key of the type that is named, which has the value val, or the key that a variable
// of a package holds. There is no KeyType if no interface of the program holds such a key.
func (b *build) chain(key, val ast.Expr) (*loc.Chain, error) {
	lit, ok := ast.Unparen(key).(*ast.Literal)
	if !ok || !lit.IsString {
		return nil, fail("what a context has is found by the type of its key, which is written in quotes").(*problem).
			advise(`$ctx["main.reqKey"], or with the value of the key $ctx["main.ctxKey", 1]`)
	}
	s := b.at()
	if s == nil || s.Image == nil {
		return nil, fail("only in probes of the program is it known how its contexts are linked")
	}
	all, err := gocontexts.Of(s.Image)
	if err != nil {
		return nil, fail("%s", err)
	}
	rtt := debuginfo.RunTimeTypesOf(s.Image)
	c := &loc.Chain{Contexts: all, Bias: loc.Static(0, rtt.Relocated)}
	_, err = typeNamed(s.Image, lit.Str)
	var none *debuginfo.NotFoundError
	if errors.As(err, &none) && none.Detail == "" {
		if v, verr := s.Image.Global(lit.Str); verr == nil {
			return c, b.keyIn(c, lit.Str, v, val)
		}
		p := fail("the program has neither a type nor a variable %q", lit.Str).(*problem)
		if len(none.Near) > 0 {
			return nil, p.advise("did you mean %s?", strings.Join(none.Near, ", "))
		}
		return nil, p.advise(`variables have the whole path of their package in front: "net/http.ServerContextKey"`)
	}
	t, err := b.namedType(lit.Str)
	if err != nil {
		return nil, err
	}
	k, err := b.held(t, lit.Str)
	if err != nil {
		return nil, err
	}
	c.KeyType = k.addr
	return c, b.keyOf(c, k, val)
}

// keyOf notes the form and the value of a key of type k.
func (b *build) keyOf(c *loc.Chain, k *asserted, val ast.Expr) error {
	if err := formOf(c, k); err != nil {
		return err
	}
	switch {
	case c.Form == loc.OneKey && val != nil:
		return fail("%s has one value only", k.Name).(*problem).advise(`leave it out: $ctx["%s"]`, k.Name)
	case c.Form == loc.OneKey:
		return nil
	case val == nil && c.Form == loc.WordKey:
		return fail("keys of type %s have many values, and which one is meant is not said", k.Name).(*problem).
			advise(`name the variable of the package that holds it: $ctx["net/http.ServerContextKey"]`)
	case val == nil:
		return fail("keys of type %s have many values, and which one is meant is not said", k.Name).(*problem).
			advise(`give it: $ctx["%s", %s]`, k.Name, map[bool]string{true: `"name"`, false: "1"}[c.Form == loc.TextKey])
	}
	lit, written := ast.Unparen(val).(*ast.Literal)
	if written && lit.IsString != (c.Form == loc.TextKey) {
		what := map[bool]string{true: "text", false: "numbers"}[lit.IsString]
		return quotes(fail("keys of type %s are no %s", k.Name, what), c.Form == loc.TextKey)
	}
	switch {
	case c.Form != loc.TextKey:
		var ok bool
		if c.Key, ok = b.number(val, k.Ctype); !ok {
			return fail("%s is no %s", Text(val), k.Name)
		}
	case written:
		c.Text = lit.Str
		if len(c.Text) >= b.env.Limits.MaxString {
			return fail("the key is longer than strings here can be").(*problem).advise("raise MAXSTRINGLEN")
		}
	default:
		c.Key = b.textArg(val)
	}
	return nil
}

// formOf notes how keys of type k lie.
func formOf(c *loc.Chain, k *asserted) error {
	var ok bool
	if c.Form, ok = gocontext.FormOf(k.Ctype, k.direct); !ok {
		return fail("keys of type %s cannot be looked up: only those of types without fields, integers, bool, strings "+
			"and pointers can", k.Name)
	}
	c.Size = k.Size
	return nil
}

// keyIn notes the key that variable v of a package, called name, holds.
func (b *build) keyIn(c *loc.Chain, name string, v *debuginfo.Var, val ast.Expr) error {
	if v.Err != nil {
		return v.Err
	}
	o := object{Place: v.Place}
	if o.Type == nil {
		o.Type = v.Type
	}
	if o.Type == nil {
		return fail("the type of %s is not known", name)
	}
	k, err := b.held(o.Type, o.Type.Name)
	if err != nil {
		return err
	}
	if err := formOf(c, k); err != nil {
		return err
	}
	c.KeyType = k.addr
	switch {
	case val != nil:
		return fail("%s is a variable, which has a value itself", name).(*problem).advise(`leave it out: $ctx["%s"]`, name)
	case c.Form == loc.TextKey:
		return fail("%s is a variable of type %s, whose text is not known here", name, k.Name).(*problem).
			advise(`give it: $ctx["%s", "text"]`, k.Name)
	case c.Form == loc.OneKey:
		return nil
	}
	c.Key, err = word(o, k.Size, false)
	return err
}
