package target

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/types"
)

// itabType is where a table of methods (abi.ITab) has the dynamic type.
const itabType = 8

// interfaceOf finds the object that x is, which may be an interface. entry says that it has to be read at the
// function's entry. What it takes as arguments counts only if the object is one.
func (b *build) interfaceOf(x *ast.Target) (o object, entry bool, err error) {
	if x.Pretty > 0 || !b.isVariable(x) {
		return o, false, fail("%s is no interface", Text(x))
	}
	args := len(b.args)
	o, entry, err = b.object(x)
	if err != nil || o.Type.Kind != types.GoInterface {
		b.args = b.args[:args]
	}
	return o, entry, err
}

// dynamicType is the address of the type of what interface o holds, 0 if it is nil.
func dynamicType(o object) (loc.Prog, error) {
	p, err := word(part(o, 0, goRawPtr), wordSize, false)
	if err == nil && !o.Type.Empty {
		p = p.Through(itabType, wordSize, false, o.Kernel)
	}
	return p, err
}

// asserted is a type that an interface may hold.
type asserted struct {
	*types.Ctype
	// addr is where the program has it at run time; empty if the program has no value of it in any interface.
	addr loc.Prog
	// direct: the interface's second word is the value, which is a pointer; else it points to the value.
	direct bool
}

// assertable finds the type called name among those of the program that the interface is of.
func (b *build) assertable(name string) (*asserted, error) {
	t, err := b.namedType(name)
	if err != nil {
		return nil, err
	}
	return b.held(t, name)
}

// held is a type of the program that the interface is of, as an interface may hold it.
func (b *build) held(t *types.Ctype, name string) (*asserted, error) {
	imgs, err := b.modules("")
	if err != nil {
		return nil, err
	}
	img := imgs[0]
	if t.Kind == types.GoInterface {
		return nil, fail("%s is an interface, and what has its methods only the program itself can tell",
			name).(*problem).advise("name the type that the interface holds, as %%T of package fmt prints it")
	}
	if t.NoRunTime {
		return &asserted{Ctype: t}, nil
	}
	if t.RunTime == 0 {
		return nil, fail("the debug information does not say which run-time type %s is", name)
	}
	rtt := debuginfo.RunTimeTypesOf(img)
	if rtt == nil {
		return nil, fail("it is not known how the run-time types of this program lie")
	}
	held, err := rtt.Types.At(rtt.First + t.RunTime)
	if err != nil || held.Kind != t.Kind || held.Size != t.Size {
		return nil, fail("the program's run-time type of %s is not where its debug information says", name)
	}
	if s := b.at(); rtt.Relocated && (s == nil || s.Image == nil) {
		return nil, fail("%s is loaded at an address that changes, and only the probed program's is known",
			img.Path()).(*problem).advise("ask in a probe of that program")
	}
	return &asserted{Ctype: t, addr: loc.Static(rtt.First+t.RunTime, rtt.Relocated), direct: held.Direct}, nil
}

// namedType finds a type of the program, and says which names come close where there is none of that name.
func (b *build) namedType(name string) (*types.Ctype, error) {
	imgs, err := b.modules("")
	if err != nil {
		return nil, err
	}
	t, err := typeNamed(imgs[0], name)
	if err != nil {
		var none *debuginfo.NotFoundError
		if errors.As(err, &none) {
			p := fail("the debug information describes no type %q", name).(*problem)
			if !imgs[0].HasTypes() {
				p.text = fmt.Sprintf("the program has no type %q for itself", name)
			}
			switch {
			case none.Detail != "":
				p.text = fmt.Sprintf("several types are called %q", name)
				err = p.advise("say which: %s", strings.Join(none.Near, ", "))
			case len(none.Near) > 0:
				err = p.advise("did you mean %s?", strings.Join(none.Near, ", "))
			default:
				err = p.advise(`names have the package in front, with its path or without: "*io/fs.PathError"`)
			}
		}
		return nil, err
	}
	return t, nil
}

// is is @is($x, "type"): whether an interface holds a value of that type, or of one with its methods where the type is
// that of $x.
func (b *build) is(e *ast.AtOp) (*elab.Target, error) {
	words, ok := literals(e.Args[1:])
	if !ok || len(words) != 1 {
		return nil, fail(`@is takes an interface and the name of a type: @is($err, "*main.NotFound")`)
	}
	x, ok := ast.Unparen(e.Args[0]).(*ast.Target)
	if !ok {
		return nil, fail("%s is no interface of the program", Text(e.Args[0]))
	}
	o, entry, err := b.interfaceOf(x)
	if err != nil {
		return nil, err
	}
	if entry {
		b.args = nil
		return b.atEntry(func() (*elab.Target, error) { return b.is(e) }, true)
	}
	if o.Type.Kind != types.GoInterface {
		return nil, fail("%s is no interface: its type is %s, always", Text(x), o.Type.Name)
	}
	if words[0] != o.Type.Name {
		return b.hasType(o, words[0])
	}
	// What a variable of this very type holds has its methods; it need not be nil.
	nothing, err := b.hasType(o, "nil")
	if err == nil {
		nothing.Value = nothing.Value.With(loc.Constant(0), loc.Step{Op: loc.Equal})
	}
	return nothing, err
}

// before is t without its last n steps.
func before(t *ast.Target, n int) *ast.Target {
	c := *t
	c.Path, c.Pretty = t.Path[:len(t.Path)-n], 0
	return &c
}

// castInterface is what @cast makes of an interface.
func (b *build) castInterface(x *ast.Target, o object, entry bool, words []string) (object, error) {
	if entry {
		return o, tooEarly(x)
	}
	if len(words) > 1 {
		return o, fail("%s is an interface, which holds types of its own program", Text(x)).(*problem).
			advise("leave the file out: @cast(%s, %q)", Text(x), words[0])
	}
	return b.assert(x, o, words[0])
}

// tooEarly refuses what a parameter holds in a .return probe: where it is read nobody has asked yet what it holds.
func tooEarly(x *ast.Target) error {
	return fail("in a .return probe parameters have their values at the function's entry, and what they hold "+
		"is read later").(*problem).advise("look at %s in a probe of the entry, or at $return", Text(x))
}

// assert gives the value of the type that is named, if that is what interface o holds, else a run-time error. x is what
// o is written as.
func (b *build) assert(x *ast.Target, o object, name string) (object, error) {
	if o.Type.Kind != types.GoInterface {
		return o, fail("%s is no interface: its type is %s, always", Text(x), o.Type.Name)
	}
	if b.inEntry && b.implied {
		return o, tooEarly(x)
	}
	t, err := b.assertable(name)
	if err != nil {
		return o, err
	}
	if t.addr.Empty() {
		return o, fail("no interface of the program holds %s: it has no run-time type", t.Name)
	}
	held, err := dynamicType(o)
	if err != nil {
		return o, err
	}
	data, err := word(part(o, wordSize, goRawPtr), wordSize, false)
	if err != nil {
		return o, err
	}
	data = data.With(held.With(t.addr, loc.Step{Op: loc.Equal}),
		loc.Step{Op: loc.Check, Text: fmt.Sprintf("%s is not %s", Text(x), t.Name)})
	if t.direct {
		return value(t.Ctype, data, o.Kernel), nil
	}
	return object{Place: loc.Place{Type: t.Ctype, InMemory: true, Addr: data, Kernel: o.Kernel, Writable: true}}, nil
}
