package sema

import (
	"slices"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/internal/near"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/compiler/types"
)

// Infer finds the type of every variable, function and expression of a bound program:
// it goes over all bodies until nothing new is learned, then reports what is still
// unknown. Each use constrains a variable; two that disagree are a type mismatch, with
// the place of the first one as a note.
func Infer(p *elab.Program) diag.List {
	x := &infer{p: p, origin: map[slot]source.Span{}, classes: map[slot]*class{}, valued: map[*elab.Func]bool{},
		asked: map[*elab.Func]*ast.Call{}}
	for _, g := range p.Globals {
		if g.Init != nil {
			x.origin[slot{g, -1}] = g.Decl.Name.Span
		}
		if g.Decl.Size != nil || g.Decl.Wrap {
			x.origin[slot{g, arityOf}] = g.Decl.Name.Span
		}
	}
	for _, f := range p.Funcs {
		for i, t := range f.Decl.Params {
			if t.Type != ast.NoType {
				x.origin[slot{f.Params[i], -1}] = t.Name.Span
			}
		}
		if f.Decl.Type != ast.NoType {
			x.origin[slot{f, -1}] = f.Decl.Name.Span
		}
	}
	x.rounds()
	for x.embeddedResults() {
		x.rounds()
	}
	x.embeddedTypes()
	x.unresolved()
	swallowed(x)
	if !x.ds.HasErrors() {
		p.NumberTypes()
	}
	return x.ds
}

// bad is the type of an expression that was refused; it fits everything, so that one
// mistake gives one message.
const bad types.Type = 255

type infer struct {
	p       *elab.Program
	ds      diag.List
	changed bool
	// origin is where a slot got its type.
	origin map[slot]source.Span
	// classes holds the slots that are known to be of one type.
	classes map[slot]*class

	// valued are the functions whose result is looked at somewhere.
	valued map[*elab.Func]bool
	// asked are calls of them in whose place a value stands, the first of each.
	asked map[*elab.Func]*ast.Call

	// two are variables that stand for numbers and for strings, which was told.
	two map[slot]bool
	// low are returns that may have taken a statement for their value.
	low []lowReturn

	// open: what %s prints says nothing of its type, since it may be a stack.
	open bool

	// floats says which expressions are numbers with a fraction, anyFloat whether there are any.
	floats   map[exprIn]bool
	anyFloat bool

	in *elab.Info
	fn *elab.Func
}

func (x *infer) errorf(code diag.Code, sp source.Span, format string, args ...any) *diag.Diagnostic {
	return errorf(&x.ds, code, sp, format, args...)
}

func (x *infer) warnf(code diag.Code, sp source.Span, format string, args ...any) *diag.Diagnostic {
	if len(x.ds) >= maxErrors {
		return &diag.Diagnostic{}
	}
	return x.ds.Warnf(diag.Semantic, code, sp, format, args...)
}

// rounds goes over all bodies until nothing new is learned. Where there are stacks, %s says that a value is a string
// only if nothing else says what it is.
func (x *infer) rounds() {
	spreading{x}.all()
	keeps := func(f *elab.Func) bool { return f.Intrinsic != nil && f.Intrinsic.Keeps }
	if x.open = slices.ContainsFunc(x.p.Funcs, keeps); x.open {
		x.learn()
		x.open = false
	}
	x.learn()
}

func (x *infer) learn() {
	for {
		// What disagrees does so in every round; the last one tells all of it.
		x.changed, x.ds, x.low, x.two = false, nil, nil, map[slot]bool{}
		x.round()
		if !x.changed {
			break
		}
	}
}

func (x *infer) round() {
	// Functions come first, so that what contradicts a function's body is reported where
	// the function is called.
	for _, f := range x.p.Funcs {
		if f.Decl.Body != nil {
			x.in, x.fn = &f.Info, f
			x.stmt(f.Decl.Body)
		}
	}
	for _, pr := range x.p.Probes {
		x.in, x.fn = &pr.Info, nil
		if pr.Cond != nil {
			x.truth(pr.Cond)
		}
		for _, b := range pr.Bodies {
			if b != nil {
				x.stmt(b)
			}
		}
	}
}

func (x *infer) mismatch(s slot, want types.Type, at source.Span) {
	have := *s.typ()
	d := x.errorf(diag.TypeMismatch, at, "type mismatch: expected %s, but %s is %s", noun(want), s.what(), noun(have))
	if o, ok := x.origin[s]; ok && o != at {
		d.Note(o, "it was found to be %s here", noun(have))
	}
	convert(d, have, want)
}

// because adds to a mismatch that was just found (the list had before messages) where
// s, which asked for the type, got it.
func (x *infer) because(before int, s slot) {
	if s.of == nil || len(x.ds) != before+1 || x.ds[before].Code != diag.TypeMismatch || len(x.ds[before].Notes) > 0 {
		return
	}
	if o, ok := x.origin[s]; ok {
		x.ds[before].Note(o, "%s was found to be %s here", s.what(), noun(*s.typ()))
	}
}

// convert hints at how to get from one type to the other.
func convert(d *diag.Diagnostic, have, want types.Type) {
	switch {
	case have == types.Real:
		d.Hintf("trunc(x) is the whole number that a float begins with")
	case have == types.Stack:
		d.Hintf("a stack is printed by print(s) or %%s, compared by == and !=, and may be a key or a value of an " +
			"array; stack_addrs(s) has its addresses")
	case want == types.Stack:
		d.Hintf("stacks are what ustack(), kstack() and gostack() give")
	case have == types.Stats:
		d.Hintf("@count, @sum, @min, @max and @avg read an aggregate")
	case want == types.Stats:
		d.Hintf("an aggregate gets its values with <<< only")
	case have == types.String:
		d.Hintf("strtol(s, 10) reads a number from a string")
	case have == types.Long:
		d.Hintf("sprint(n) makes a string of a number")
	}
}

// expect checks that e, which is of type have, is what is wanted.
func (x *infer) expect(e ast.Expr, have, want types.Type) types.Type {
	if want == types.Unknown || want == bad || have == want || have == bad || have == types.Unknown {
		return have
	}
	d := x.errorf(diag.TypeMismatch, e.Range(), "type mismatch: expected %s, but %s", noun(want), isA(e, have))
	convert(d, have, want)
	return bad
}

func (x *infer) stmt(st ast.Stmt) {
	switch st := st.(type) {
	case nil:
	case *ast.Block:
		if st == nil {
			return
		}
		for _, s := range st.Stmts {
			x.stmt(s)
		}
	case *ast.ExprStmt:
		x.effect(st.X)
	case *ast.If:
		if v, ok := Known(x.in, st.Cond); ok {
			x.in.Types[st.Cond] = types.Long
			if v != 0 {
				x.stmt(st.Then)
			} else {
				x.stmt(st.Else)
			}
			return
		}
		x.cond(st.Cond)
		x.stmt(st.Then)
		x.stmt(st.Else)
	case *ast.While:
		x.cond(st.Cond)
		x.stmt(st.Body)
	case *ast.For:
		x.effect(st.Init)
		if st.Cond != nil {
			x.cond(st.Cond)
		}
		x.effect(st.Post)
		x.stmt(st.Body)
	case *ast.Foreach:
		if st.Loop != nil {
			x.stmt(st.Loop)
			break
		}
		x.foreach(st)
	case *ast.Return:
		x.ret(st)
	case *ast.Delete:
		switch e := ast.Unparen(st.X).(type) {
		case *ast.Name:
			if l := x.in.Locs[e]; l != nil {
				x.unify(slot{l, -1}, types.Unknown, e.Span)
			}
		case *ast.Index:
			x.element(e, types.Unknown, true)
		}
	case *ast.Try:
		x.stmt(st.Body)
		if st.Msg != nil {
			x.variable(st.Msg, st.Msg.Span, types.String)
		}
		x.stmt(st.Catch)
	}
}

// effect types an expression that stands as a statement.
func (x *infer) effect(e ast.Expr) {
	if e == nil {
		return
	}
	if c, ok := ast.Unparen(e).(*ast.Call); ok {
		x.in.Types[c] = x.call(c, types.Unknown, false)
		return
	}
	// In "ready && exit()" nobody looks at the value of the right side.
	if b, ok := ast.Unparen(e).(*ast.Binary); ok && (b.Op == "&&" || b.Op == "||") {
		if _, known := x.in.Const[b]; !known {
			if _, known := Known(x.in, b.X); !known {
				x.cond(b.X)
			}
			x.effect(b.Y)
			x.in.Types[b] = types.Long
			return
		}
	}
	// In "ready ? start() : exit()" nobody looks at the value of either side.
	if t, ok := ast.Unparen(e).(*ast.Ternary); ok {
		v, known := Known(x.in, t.Cond)
		if known {
			x.in.Types[t.Cond] = types.Long
		} else {
			x.cond(t.Cond)
		}
		if !known || v != 0 {
			x.effect(t.Then)
		}
		if !known || v == 0 {
			x.effect(t.Else)
		}
		return
	}
	x.expr(e, types.Unknown)
}

func (x *infer) cond(e ast.Expr) {
	before := len(x.ds)
	if x.truth(e) != bad || len(x.ds) != before+1 {
		return
	}
	if d := x.ds[before]; d.Code == diag.TypeMismatch {
		d.Hintf("a condition is a number; compare the string: s != \"\"")
	}
}

func (x *infer) ret(st *ast.Return) {
	if x.fn == nil {
		return
	}
	f := x.fn
	s := slot{f, -1}
	if st.X == nil {
		if f.Result != types.Unknown {
			d := x.errorf(diag.ReturnValue, st.Span, "%s returns %s, but this return has no value", f.Decl.Name.Name,
				noun(f.Result))
			if o, ok := x.origin[s]; ok {
				d.Note(o, "it was found to return %s here", noun(f.Result))
			}
		}
		return
	}
	before := len(x.ds)
	t := x.expr(st.X, f.Result)
	if f.User && x.p.Files.Below(st.X.Range().From, st.Span.From) {
		x.low = append(x.low, lowReturn{f, st})
	}
	x.because(before, s)
	x.given(st.X, t, s)
}

func (x *infer) foreach(st *ast.Foreach) {
	switch {
	case st.Hist != nil:
		x.hist(st.Hist)
		for _, k := range st.Keys {
			x.variable(k, k.Span, types.Long)
		}
		if st.Value != nil {
			x.variable(st.Value, st.Value.Span, types.Long)
		}
	case st.Array != nil:
		g := x.in.Globs[st.Array]
		if g == nil || !x.arity(g, len(st.Keys), st.Array.Span) {
			x.spoil(st)
			break
		}
		for i, k := range st.Keys {
			x.pair(slot{g, i}, st.Array.Span, k)
		}
		if len(st.Slice) == len(st.Keys) {
			for i, e := range st.Slice {
				x.key(g, i, e)
			}
		}
		if st.Value != nil {
			if g.Type == types.Stats {
				x.errorf(diag.AggregateValue, st.Value.Span, "the elements of %s are aggregates, which %s cannot hold",
					g.Decl.Name.Name, st.Value.Name).
					Hintf("leave %s out and use @count(%s[...]) and the like in the loop", st.Value.Name,
						g.Decl.Name.Name)
				x.variable(st.Value, st.Value.Span, bad)
			} else {
				x.pair(slot{g, -1}, st.Array.Span, st.Value)
			}
		}
		x.sorted(st, g)
		if st.SortAgg != "" {
			x.unify(slot{g, -1}, types.Stats, st.Array.Span)
		}
	}
	if st.Limit != nil {
		x.expr(st.Limit, types.Long)
	}
	x.stmt(st.Body)
}

// spoil marks the variables of a loop over something that was refused.
func (x *infer) spoil(st *ast.Foreach) {
	for _, k := range st.Keys {
		x.variable(k, k.Span, bad)
	}
	if st.Value != nil {
		x.variable(st.Value, st.Value.Span, bad)
	}
}

// pair makes a loop's variable and the column that it stands for agree.
func (x *infer) pair(col slot, at source.Span, id *ast.Ident) {
	t := x.variable(id, id.Span, *col.typ())
	if t == bad || *col.typ() != types.Unknown {
		return
	}
	if l := x.in.Locs[id]; l != nil {
		x.link(at, col, slot{l, -1})
	} else {
		x.unify(col, t, at)
	}
}

// variable types an identifier that a statement gives a value to.
func (x *infer) variable(id *ast.Ident, at source.Span, want types.Type) types.Type {
	var s slot
	if l := x.in.Locs[id]; l != nil {
		s = slot{l, -1}
	} else if g := x.in.Globs[id]; g != nil && x.arity(g, 0, at) {
		s = slot{g, -1}
	} else {
		return bad
	}
	before := len(x.ds)
	t := x.unify(s, want, at)
	if t == bad && len(x.ds) > before {
		x.ds[before].Hintf("a variable is of one type wherever it stands: take another name than %s here", id.Name)
		x.two[s] = true
	}
	return t
}

// arity checks that g has n keys, or lets it have as many.
func (x *infer) arity(g *elab.Global, n int, at source.Span) bool {
	s := slot{g, arityOf}
	if g.Arity != n && (g.Arity >= 0 || n == 0 && (g.Decl.Size != nil || g.Decl.Wrap)) {
		x.poison(slot{g, -1})
		for i := range g.Keys {
			x.poison(slot{g, i})
		}
	}
	if g.Arity == -1 && n == 0 && (g.Decl.Size != nil || g.Decl.Wrap) {
		x.errorf(diag.ArrayArity, at, "%s is declared as an array, but used without an index", g.Decl.Name.Name).
			Note(g.Decl.Name.Span, "it is declared here")
		return false
	}
	if g.Arity == -1 {
		g.Arity = n
		g.Keys = make([]types.Type, n)
		x.origin[s] = at
		x.changed = true
		return true
	}
	if g.Arity == n {
		return true
	}
	name := g.Decl.Name.Name
	var d *diag.Diagnostic
	switch {
	case n == 0:
		d = x.errorf(diag.ArrayArity, at, "%s is an array of %s; it cannot be used without an index", name,
			count(g.Arity, "key"))
	case g.Arity == 0:
		d = x.errorf(diag.ArrayArity, at, "%s is no array, but it is indexed here", name)
	default:
		d = x.errorf(diag.ArrayArity, at, "inconsistent arity: %s is indexed by %s here, but by %d elsewhere", name,
			count(n, "key"), g.Arity)
	}
	if o, ok := x.origin[s]; ok {
		d.Note(o, "first used like that here")
	} else {
		d.Note(g.Decl.Name.Span, "it is declared here")
	}
	return false
}

// key types key i of an element of g; a nil e is a star.
func (x *infer) key(g *elab.Global, i int, e ast.Expr) {
	if e == nil {
		return
	}
	if x.noFloat(e, "a float is no key of an array, since numbers that look equal may not be") {
		x.poison(slot{g, i})
		return
	}
	s := slot{g, i}
	before := len(x.ds)
	t := x.expr(e, *s.typ())
	x.because(before, s)
	x.given(e, t, s)
}

// unresolved reports what nothing gave a type to.
func (x *infer) unresolved() {
	check := func(s slot, at source.Span, format string, args ...any) *diag.Diagnostic {
		if *s.typ() == types.Unknown && !x.poisoned(s) {
			return x.errorf(diag.UnresolvedType, at, format, args...)
		}
		return nil
	}
	for _, f := range x.p.Funcs {
		if c := x.asked[f]; c != nil && f.Result == types.Unknown && !x.poisoned(slot{f, -1}) && !returnsValue(f.Decl) {
			x.noResult(c, f)
			x.poison(slot{f, -1})
		}
	}
	for _, g := range x.p.Globals {
		if !g.Read && !g.Written {
			continue
		}
		name := g.Decl.Name
		if d := check(slot{g, -1}, name.Span,
			"the type of %s is not known: nothing says whether it holds numbers or strings", name.Name); d != nil {
			d.Hintf("assign a value to it")
			if l := x.nearLocal(name.Name); l != nil {
				d.Note(l.Span, "%s is another variable, known in this handler only", l.Name)
			}
		}
		for i := range g.Keys {
			check(slot{g, i}, name.Span, "the type of key %d of %s is not known", i+1, name.Name)
		}
	}
	locals := func(in *elab.Info, at []*probe.Site) {
		for _, l := range in.Locals {
			switch {
			case l.Param:
				if d := check(slot{l, -1}, l.Span, "the type of the parameter %s is not known", l.Name); d != nil {
					d.Hintf("write it: %s:long or %s:string", l.Name, l.Name)
				}
			case !l.Written && near.Gone(at, l.Name) != "":
				d := x.errorf(diag.UnresolvedType, l.Span, "stap's variable %s is not here", l.Name)
				d.Hint = near.Gone(at, l.Name)
			case !l.Written:
				if d := check(slot{l, -1}, l.Span, "the type of %s is not known: it is never assigned",
					l.Name); d != nil {
					d.Hint = near.Variable(x.p, in, at, l.Name)
				}
			default:
				check(slot{l, -1}, l.Span, "the type of %s is not known", l.Name)
			}
		}
	}
	for _, pr := range x.p.Probes {
		locals(&pr.Info, pr.Sites)
	}
	for _, f := range x.p.Funcs {
		locals(&f.Info, nil)
		name := f.Decl.Name
		if !x.valued[f] || f.Decl.Body == nil {
			continue
		}
		if d := check(slot{f, -1}, name.Span, "the type of the result of %s() is not known", name.Name); d != nil {
			d.Hintf("write it: function %s:long or function %s:string", name.Name, name.Name)
		}
	}
}

// returnsValue reports whether a return with a value stands anywhere in f.
func returnsValue(f *ast.Function) bool {
	found := false
	if f.Body != nil {
		ast.Inspect(f.Body, func(n ast.Node) bool {
			if r, ok := n.(*ast.Return); ok && r.X != nil {
				found = true
			}
			return !found
		})
	}
	return found
}

// nearLocal finds a local variable that may be a slip of the hand for the global called name; nil if there is none.
func (x *infer) nearLocal(name string) *elab.Local {
	for _, pr := range x.p.Probes {
		for _, l := range pr.Info.Locals {
			if len(diag.Nearest(name, []string{l.Name}, 1)) > 0 {
				return l
			}
		}
	}
	return nil
}
