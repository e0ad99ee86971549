package target

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/gocontext"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/internal/given"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/types"
)

// The kinds of diagnostics made here.
const (
	CodeNoVariable diag.Code = "no-variable" // no variable of that name
	CodeNotLive    diag.Code = "not-live"    // it is there, but has no value at the pc
	CodeTarget     diag.Code = "target"      // the expression does not fit the variable's type
	CodeNoDWARF    diag.Code = "no-dwarf"    // the program carries no types
	CodeTail       diag.Code = "tail-call"   // warning: a return site without results is left out
	CodeLeftOut    diag.Code = "left-out"    // warning: a function that nothing is known about is left out
	CodeInlineOut  diag.Code = "inline-left" // warning: an inlined copy is left out
)

// resolver resolves the target expressions of one body at one site.
type resolver struct {
	env *Env
	// site is where the handler fires; nil in functions and in probes without a program.
	site *probe.Site
	// entry is the site of the function's entry, made when it is first asked for.
	entry    *probe.Site
	entryErr error
	// inEntry is set while an expression is resolved at the entry.
	inEntry bool
	// outside says why there are no variables when site is nil.
	outside string
	// names are the script's own variables.
	names *given.Names
}

// build collects what one target expression needs.
type build struct {
	*resolver
	args []ast.Expr
	// texts are those of args that are strings.
	texts map[ast.Expr]bool
	// truth is set where only is asked whether the value is nil.
	truth bool
	// implied is set while something is read at the function's entry for which the script did not say @entry.
	implied bool
}

// at is the site whose variables are looked up now.
func (r *resolver) at() *probe.Site {
	if r.inEntry {
		return r.entry
	}
	return r.site
}

// entrySite makes the site of the entry of a return probe's function.
func (r *resolver) entrySite() (*probe.Site, error) {
	if r.entry != nil || r.entryErr != nil {
		return r.entry, r.entryErr
	}
	r.entry, r.entryErr = r.env.entry(r.site)
	return r.entry, r.entryErr
}

// target resolves one target expression; what goes wrong is in its Err.
func (r *resolver) target(e ast.Expr, truth bool) *elab.Target {
	b := &build{resolver: r, truth: truth}
	t, err := b.expr(e)
	if err != nil {
		t := &elab.Target{Err: r.diagnose(e, err), Args: b.args}
		if p, ok := err.(*problem); ok && p.whole != nil && !b.implied && !r.inEntry && len(b.texts) == 0 {
			t.Place, t.Ctype = *p.whole, p.whole.Type
		}
		return t
	}
	t.Args = b.args
	for i, a := range b.args {
		if b.texts[a] {
			t.Texts = append(t.Texts, i)
		}
	}
	return t
}

func (b *build) expr(e ast.Expr) (*elab.Target, error) {
	switch e := e.(type) {
	case *ast.Target:
		return b.name(e, false)
	case *ast.Unary: // &
		t, ok := ast.Unparen(e.X).(*ast.Target)
		if !ok {
			if op, isOp := ast.Unparen(e.X).(*ast.AtOp); isOp {
				if op.Name == "@cast" {
					// What a cast without members stands for is where its value points to.
					return b.atOp(op)
				}
				return b.name(&ast.Target{Place: op.Place, Base: op}, true)
			}
			return nil, &diag.Diagnostic{Phase: diag.Semantic, Code: diag.AddressOf, Span: e.Range(),
				Message: "only the address of a variable of the traced program can be taken", Hint: "it is written &$x"}
		}
		return b.name(t, true)
	case *ast.AtOp:
		return b.atOp(e)
	}
	return nil, fail("not a target expression")
}

// whole are the names that stand for several variables.
var whole = map[string]bool{"$$vars": true, "$$parms": true, "$$locals": true, "$$return": true}

func (b *build) name(t *ast.Target, addr bool) (*elab.Target, error) {
	if t.Base == nil && strings.HasPrefix(t.Name, "$$") {
		if !whole[t.Name] {
			if t.Name == "$$name" {
				return b.eventName(t, addr)
			}
			return nil, fail("there is no %s",
				t.Name).(*problem).advise("there are $$vars, $$parms, $$locals and $$return")
		}
		if addr || len(t.Path) > 0 {
			return nil, fail("%s is text; it has no members and no address", t.Name)
		}
		return b.vars(t)
	}
	if s := b.at(); t.Base == nil && s != nil && s.Kind.Class() == probe.File {
		return procfsValue(s, t, addr)
	}
	o, entry, path, err := b.base(t)
	if err != nil {
		return nil, err
	}
	if entry && !b.inEntry {
		b.implied = true
		defer func() { b.implied = false }()
		return b.atEntry(func() (*elab.Target, error) { return b.follow(o, path, t, addr) }, true)
	}
	return b.follow(o, path, t, addr)
}

// procfsValue is $value of a procfs probe.
func procfsValue(s *probe.Site, t *ast.Target, addr bool) (*elab.Target, error) {
	if t.Name != "$value" {
		return nil, fail("probes of procfs files have no variable but $value")
	}
	if addr || len(t.Path) > 0 || t.Pretty > 0 {
		return nil, fail("$value is text; it has no members and no address")
	}
	return &elab.Target{Type: types.String, Procfs: true, Reply: s.Kind == probe.ProcfsRead}, nil
}

// atEntry resolves something at the function's entry.
func (b *build) atEntry(f func() (*elab.Target, error), noArgs bool) (*elab.Target, error) {
	if _, err := b.entrySite(); err != nil {
		return nil, err
	}
	args := len(b.args)
	b.inEntry = true
	t, err := f()
	b.inEntry = false
	if err != nil {
		return nil, err
	}
	if noArgs && len(b.args) > args {
		return nil, fail("in a .return probe parameters have their values at the function's entry, where this index " +
			"is not known yet").(*problem).
			advise("use a constant index, or probe the entry with .call")
	}
	t.AtEntry = true
	for i := range t.Pretty {
		t.Pretty[i].AtEntry = t.Pretty[i].Conv != 0
	}
	return t, nil
}

// base finds the object that a target begins with, and what is left of the path. entry
// says that it has to be read at the function's entry.
func (b *build) base(t *ast.Target) (o object, entry bool, path []ast.TargetStep, err error) {
	if t.Base != nil {
		o, err = b.baseExpr(t.Base)
		return o, false, t.Path, err
	}
	s := b.at()
	if s != nil && s.Names != nil {
		o, entry, path, err := b.event(s, t)
		var unknown *debuginfo.NotFoundError
		if s.Image == nil || !errors.As(err, &unknown) {
			return o, entry, path, err
		}
		// A mark lies in a function, whose variables can be named as well.
		if v, verr := b.variable(s, strings.TrimPrefix(t.Name, "$")); verr == nil {
			return object{Place: b.env.readable(s.Image, v.Place)}, false, t.Path, nil
		} else if !errors.As(verr, &unknown) && s.Image.HasTypes() {
			err = verr
		}
		return o, false, nil, err
	}
	if s == nil || s.Image == nil {
		return o, false, nil, fail("%s", b.outside)
	}
	name := strings.TrimPrefix(t.Name, "$")
	if name == "return" {
		return b.result(s, t)
	}
	v, err := b.variable(s, name)
	var dead *debuginfo.NotLiveError
	if errors.As(err, &dead) && s.IsReturn() && !b.inEntry {
		es, eerr := b.entrySite()
		if eerr == nil {
			ev, verr := b.variable(es, name)
			if verr == nil && (ev.Kind == debuginfo.Param || ev.Kind == debuginfo.Captured) {
				return object{Place: b.env.readable(es.Image, ev.Place)}, true, t.Path, nil
			}
			if verr != nil && (s.Kind.InUser() && s.Kind.Trampoline() || s.At.Kind == debuginfo.AtReturn) {
				err = verr
			}
		}
	}
	if err != nil {
		return o, false, nil, err
	}
	return object{Place: b.env.readable(s.Image, v.Place)}, false, t.Path, nil
}

// noTypes is the reason why nothing has a name at s.
func noTypes(s *probe.Site) error {
	if s.Kind.InKernel() {
		return fail("%s", s.Image.NoTypes()).(*problem).advise(
			"int_arg(1), pointer_arg(2) and returnval() give arguments and results by position")
	}
	return debuginfo.ErrNoTypes
}

// variable finds one variable that can be read at s.
func (b *build) variable(s *probe.Site, name string) (*debuginfo.Var, error) {
	if !debuginfo.Tells(s.Image) {
		return nil, noTypes(s)
	}
	v, err := s.Image.Var(s.At, name)
	if err != nil {
		return nil, err
	}
	if v.Err != nil {
		return nil, v.Err
	}
	if v.Place.Type == nil {
		v.Place.Type = v.Type
	}
	if v.Place.Type == nil {
		return nil, fail("the type of %s is not known", name)
	}
	return v, nil
}

// errResult is a result that cannot be had.
type errResult struct{ problem }

// result finds "$return" and "$return[n]".
func (b *build) result(s *probe.Site, t *ast.Target) (object, bool, []ast.TargetStep, error) {
	none := func(err error) (object, bool, []ast.TargetStep, error) { return object{}, false, nil, err }
	if !s.IsReturn() {
		return none(&errResult{said("available in .return probes only", "append .return to the probe point")})
	}
	if !debuginfo.Tells(s.Image) {
		return none(noTypes(s))
	}
	if s.At.Kind == debuginfo.AtTail {
		return none(errTail)
	}
	rs, err := s.Image.Results(s.At)
	if err != nil {
		return none(err)
	}
	path := t.Path
	n := 0
	switch {
	case len(rs) == 0:
		return none(&errResult{said(fmt.Sprintf("%s returns nothing", s.Func), `test it with @defined($return)`)})
	case len(rs) > 1:
		var names []string
		for i, r := range rs {
			names = append(names, fmt.Sprintf("$return[%d]", i))
			if named(r.Name) {
				names[i] += " or $" + r.Name
			}
		}
		k, ok := int64(0), false
		if len(path) > 0 && path[0].Indexes() {
			k, ok = constant(path[0].Index)
			if !ok {
				return none(fail("the number of a result must be a constant"))
			}
		}
		if !ok {
			return none(&errResult{said(fmt.Sprintf("%s has %d results, so $return alone does not say which", s.Func,
				len(rs)), "use "+strings.Join(names, ", "))})
		}
		if k < 0 || k >= int64(len(rs)) {
			return none(&errResult{said(fmt.Sprintf("%s has %d results, counted from 0", s.Func, len(rs)), "use "+
				strings.Join(names, ", "))})
		}
		n, path = int(k), path[1:]
	case len(path) > 0 && path[0].Indexes() && !indexable(rs[0].Type):
		// $return[0] of a function with one result is that result.
		if k, ok := constant(path[0].Index); ok && k == 0 {
			path = path[1:]
		}
	}
	r := rs[n]
	if r.Err != nil {
		return none(r.Err)
	}
	o := object{Place: b.env.readable(s.Image, r.Place)}
	if o.Type == nil {
		o.Type = r.Type
	}
	return o, false, path, nil
}

var errTail = &errResult{said("the function ends by jumping to another one here, so its result does not exist yet",
	"test it with @defined($return)")}

func named(name string) bool { return name != "" && name != "_" && !strings.HasPrefix(name, "~") }

func indexable(t *types.Ctype) bool {
	if t == nil {
		return false
	}
	switch t.Kind {
	case types.Pointer, types.Array, types.GoSlice, types.GoString, types.GoMap:
		return true
	}
	return false
}

// baseExpr makes the object of "@cast(...)", "@var(...)" and "@entry(...)".
func (b *build) baseExpr(e ast.Expr) (object, error) {
	switch e := ast.Unparen(e).(type) {
	case *ast.AtOp:
		switch e.Name {
		case "@cast":
			return b.cast(e)
		case "@var":
			return b.global(e)
		case "@entry":
			if len(e.Args) == 1 {
				inner := &build{resolver: b.resolver}
				t, err := inner.atOp(e)
				if err != nil {
					return object{}, err
				}
				if t.Ctype == nil || t.Type != types.Long {
					return object{}, fail("what @entry gives here has no members")
				}
				return value(t.Ctype, b.arg(e), t.Place.Kernel), nil
			}
		}
	case *ast.Target:
		t := b.target(e, false)
		if t.Err != nil {
			return object{}, t.Err
		}
		if t.Ctype != nil && t.Type == types.Long {
			return value(t.Ctype, b.arg(e), t.Place.Kernel), nil
		}
	}
	if !b.inEntry && b.names != nil {
		resolve := func(e ast.Expr) *elab.Target { return b.target(e, false) }
		if t := b.names.Expr(e, resolve); t != nil {
			return value(t.Ctype, b.arg(e), t.Place.Kernel), nil
		}
	}
	p := &problem{text: "the type of this value is not known"}
	return object{}, p.advise(`say it: @cast(value, "type", "file")->member`)
}

func (b *build) arg(e ast.Expr) loc.Prog {
	for i, a := range b.args {
		if a == e {
			return loc.Argument(i)
		}
	}
	b.args = append(b.args, e)
	return loc.Argument(len(b.args) - 1)
}

// follow walks the path and reads what is at its end.
func (b *build) follow(o object, path []ast.TargetStep, t *ast.Target, addr bool) (*elab.Target, error) {
	o, err := b.steps(o, path, t)
	if err != nil {
		return nil, err
	}
	return b.end(o, t, addr)
}

// isVariable reports whether x names a variable of the program, and not several or what another probe point has.
func (b *build) isVariable(x *ast.Target) bool {
	return x.Base != nil || b.at() != nil && !whole[x.Name]
}

// object finds what x names. entry says that it has to be read at the function's entry, and where b stands is not that.
func (b *build) object(x *ast.Target) (o object, entry bool, err error) {
	o, entry, path, err := b.base(x)
	if err == nil {
		o, err = b.steps(o, path, x)
	}
	return o, entry && !b.inEntry, err
}

// steps goes along the path, which is the end of that of t.
func (b *build) steps(o object, path []ast.TargetStep, t *ast.Target) (object, error) {
	for i, st := range path {
		var err error
		switch {
		case st.Member != "":
			o, err = member(o, st.Member)
		case st.Type != "":
			o, err = b.assert(before(t, len(path)-i), o, st.Type)
		case st.Range:
			o, err = b.slice(o, st)
		case gocontext.Is(o.Type):
			o, err = b.stored(o, st.Index, st.Second)
		case st.Second != nil:
			err = fail("%s takes one index", Text(before(t, len(path)-i)))
		case o.Type != nil && o.Type.Kind == types.GoMap:
			o, err = b.element(o, st.Index)
		default:
			if n, ok := constant(st.Index); ok {
				o, err = index(o, true, n, loc.Prog{})
			} else {
				o, err = index(o, false, 0, b.arg(st.Index))
			}
		}
		if err != nil {
			return o, err
		}
	}
	return o, nil
}

// end reads what o is: its address, its text or its value.
func (b *build) end(o object, t *ast.Target, addr bool) (*elab.Target, error) {
	if addr {
		if !o.InMemory || o.bitSize > 0 {
			return nil, fail("it is not in memory here, so it has no address")
		}
		at := o.Addr.Strict(loc.NoKey)
		return &elab.Target{Type: types.Long, Value: at, Ctype: pointerTo(o.Type), Place: o.Place}, nil
	}
	if t.Pretty > 0 {
		w := writer{nested: t.Pretty > 1, limits: b.env.Limits}
		if s := b.at(); s != nil && s.Image != nil &&
			(o.Type.Go && !(plainOrPointer(s.Image, o.Type) && sure(o.Place)) || own(o.Type)) {
			if w.full = newFullText(s.Image, !o.Type.Go, t.Pretty == 1, b.env.Limits); w.full != nil {
				w.full.value(o, o.Type.Kind == types.Pointer)
				if err := w.seal(); err != nil {
					return nil, err
				}
				return &elab.Target{Type: types.String, Pretty: w.parts, Ctype: o.Type, Place: o.Place}, nil
			}
		}
		// A pointer to a structure shows the structure, as in stap; pointers further in do not.
		if e := o.Type.Elem(); o.Type.Kind == types.Pointer && e != nil &&
			(e.Kind == types.Struct || e.Kind == types.Union) {
			var err error
			if o, err = deref(o); err != nil {
				return nil, err
			}
			if o.Type.Go {
				w.lit("&")
			}
		}
		w.value(o, 0)
		return &elab.Target{Type: types.String, Pretty: w.parts, Ctype: o.Type, Place: o.Place}, nil
	}
	if b.truth && words(o.Type) {
		first, err := word(part(o, 0, goRawPtr), wordSize, false)
		return &elab.Target{Type: types.Long, Value: first, Ctype: o.Type}, err
	}
	return read(o)
}

// read makes the target of an object's plain value.
func read(o object) (*elab.Target, error) {
	t := o.Type
	out := &elab.Target{Type: types.Long, Ctype: t, Place: o.Place, BitOff: o.bitOff, BitSize: o.bitSize}
	var err error
	switch t.Kind {
	case types.Int, types.Bool, types.Char, types.Enum, types.Pointer, types.GoMap, types.GoChan, types.GoFunc:
		out.Value, err = scalar(o)
		return out, err
	case types.GoString:
		return text(o)
	case types.Array:
		if !t.Go && o.InMemory { // as in C, an array is the address of its first element
			out.Value = o.Addr
			out.Ctype = pointerTo(t.Elem())
			return out, nil
		}
		return nil, suggest(o, "an array", "index it, or print it with $ appended")
	case types.Struct, types.Union:
		return nil, suggest(o, "a structure", "name a member with ->, or print it with $ appended")
	case types.GoSlice:
		if t.IsBytes() {
			return text(o)
		}
		return nil, suggest(o, "a slice", "use ->len, ->cap, ->ptr or [index], or print it with $ appended")
	case types.GoInterface:
		first := "tab"
		if t.Empty {
			first = "type"
		}
		return nil, suggest(o, "an interface", "use ->"+first+" and ->data, or print it with $ appended")
	case types.Float, types.Complex:
		for _, p := range o.Pieces {
			if p.Vector != 0 && p.Val.Empty() {
				return nil, inVector("it is a "+t.Name, p)
			}
		}
		if t.Kind == types.Complex && (t.Size == 16 || t.Size == 8) {
			return nil, suggest(o, "two numbers", "use ->real and ->imag, or print it with $ appended")
		}
		if t.Kind != types.Float || t.Size != 8 && t.Size != 4 {
			return nil, fail("%s is no number of 32 or 64 bits, and scripts hold no others", t.Name)
		}
		out.Type, out.Narrow = types.Real, t.Size == 4
		out.Value, err = word(o, t.Size, false)
		return out, err
	case types.Void:
		return nil, fail("it has no type")
	}
	return nil, fail("values of type %s cannot be shown in this version", t.Name)
}

// text is a string of Go, or a slice of bytes: both begin with address and length.
func text(o object) (*elab.Target, error) {
	out := &elab.Target{Type: types.String, Ctype: o.Type, Place: o.Place}
	var err error
	if out.Value, err = word(part(o, 0, goRawPtr), wordSize, false); err != nil {
		return nil, err
	}
	out.Len, err = word(part(o, wordSize, goInt), wordSize, true)
	return out, err
}

func suggest(o object, what, hint string) error {
	text := fmt.Sprintf("%s is %s, which is no single value", o.Type.Name, what)
	return (&problem{text: text, whole: &o.Place}).advise("%s", hint)
}

// constant evaluates a written number.
func constant(e ast.Expr) (int64, bool) {
	switch e := ast.Unparen(e).(type) {
	case *ast.Literal:
		return e.Num, !e.IsString && !e.IsFloat
	case *ast.Unary:
		n, ok := constant(e.X)
		switch e.Op {
		case "-":
			return -n, ok
		case "+":
			return n, ok
		}
	}
	return 0, false
}
