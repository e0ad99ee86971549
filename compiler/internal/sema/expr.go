package sema

import (
	"slices"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/regex"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/compiler/types"
)

// expr types e, which is wanted as want (Unknown: anything but an aggregate), and
// notes it in Info.Types.
func (x *infer) expr(e ast.Expr, want types.Type) types.Type {
	if e == nil {
		return types.Unknown
	}
	if want == types.Real {
		return x.widened(e)
	}
	return x.plain(e, want)
}

// plain is expr without making floats of whole numbers.
func (x *infer) plain(e ast.Expr, want types.Type) types.Type {
	if _, ok := x.in.Const[e]; ok {
		x.in.Types[e] = types.Long
		return x.expect(e, types.Long, want)
	}
	t := x.typeOf(e, want)
	if t == bad {
		return bad
	}
	x.in.Types[e] = t
	return t
}

func (x *infer) typeOf(e ast.Expr, want types.Type) types.Type {
	switch e := e.(type) {
	case *ast.Literal:
		return x.expect(e, literalType(e), want)
	case *ast.Paren:
		return x.expr(e.X, want)
	case *ast.Name:
		if l := x.in.Locs[e]; l != nil {
			return x.unify(slot{l, -1}, want, e.Span)
		}
		g := x.in.Globs[e]
		if g == nil || !x.arity(g, 0, e.Span) {
			return bad
		}
		return x.value(g, want, e.Span)
	case *ast.Index:
		return x.element(e, want, false)
	case *ast.Unary:
		switch {
		case e.Op == "++" || e.Op == "--":
			x.step(e.X)
		case e.Op == "&":
			return x.target(e, want)
		case e.Op == "!":
			x.truth(e.X)
		case x.isFloat(e):
			x.expr(e.X, types.Real)
			return x.expect(e, types.Real, want)
		case x.noFloat(e.X, "%s is of whole numbers", e.Op):
		default:
			x.expr(e.X, types.Long)
		}
		return x.expect(e, types.Long, want)
	case *ast.Postfix:
		x.step(e.X)
		return x.expect(e, types.Long, want)
	case *ast.Binary:
		return x.binary(e, want)
	case *ast.Assign:
		return x.assign(e, want)
	case *ast.Ternary:
		return x.ternary(e, want)
	case *ast.In:
		x.member(e)
		return x.expect(e, types.Long, want)
	case *ast.HistIndex:
		x.hist(e.Hist)
		x.expr(e.I, types.Long)
		return x.expect(e, types.Long, want)
	case *ast.Call:
		return x.call(e, want, true)
	case *ast.AtOp:
		if isStat(e.Name) {
			return x.statOp(e, want)
		}
		if e.Name == scaled {
			x.errorf(diag.TypeMismatch, e.Span, "@scaled is what a float is added to statistics by, and nothing else").
				Hintf("s <<< @scaled(x, 1000) keeps three digits behind the point, and @avg(s) is a float then")
			return x.expect(e, types.Long, want)
		}
		if e.Name == "@const" {
			return x.expect(e, types.Long, want)
		}
		return x.target(e, want)
	case *ast.Target:
		return x.target(e, want)
	case *ast.EmbeddedExpr:
		return x.expect(e, embeddedType(e), want)
	}
	return bad
}

// value types the value of g, which must not be an aggregate.
func (x *infer) value(g *elab.Global, want types.Type, at source.Span) types.Type {
	if g.Type == types.Stats {
		s := slot{g, -1}
		d := x.errorf(diag.AggregateValue, at, "%s is an aggregate; it has no value of its own", s.what())
		if o, ok := x.origin[s]; ok && o != at {
			d.Note(o, "it was found to be one here")
		}
		d.Hintf("@count, @sum, @min, @max and @avg read it; print(@hist_log(...)) prints it")
		return bad
	}
	return x.unify(slot{g, -1}, want, at)
}

// element types arr[keys]. whole is set where an aggregate is welcome and stars too.
func (x *infer) element(e *ast.Index, want types.Type, whole bool) types.Type {
	g := x.in.Globs[e.Array]
	if g == nil || !x.arity(g, len(e.Keys), e.Array.Span) {
		for _, k := range e.Keys {
			x.expr(k, types.Unknown)
		}
		return bad
	}
	for i, k := range e.Keys {
		if k == nil && !whole {
			x.errorf(diag.StarUse, e.Span, "* stands for many elements of %s, but one value is wanted here",
				g.Decl.Name.Name).
				Hintf("slices are for in, delete, foreach and statistics operators")
			return bad
		}
		x.key(g, i, k)
	}
	if whole {
		return x.unify(slot{g, -1}, want, e.Span)
	}
	return x.value(g, want, e.Span)
}

// step types the operand of ++ and --.
func (x *infer) step(e ast.Expr) {
	if x.isFloat(e) {
		x.errorf(diag.TypeMismatch, e.Range(), "type mismatch: ++ and -- count whole numbers").Hintf("write x += 1")
		return
	}
	x.place(e, types.Long)
}

// place types what is assigned to.
func (x *infer) place(e ast.Expr, want types.Type) types.Type {
	switch ast.Unparen(e).(type) {
	case *ast.Name, *ast.Index, *ast.Target:
		return x.expr(e, want)
	}
	x.expr(e, types.Unknown)
	return bad
}

func (x *infer) binary(e *ast.Binary, want types.Type) types.Type {
	switch e.Op {
	case "&&", "||":
		if _, ok := Known(x.in, e.X); ok {
			x.in.Types[e.X] = types.Long
		} else {
			x.truth(e.X)
		}
		x.truth(e.Y)
		return x.expect(e, types.Long, want)
	case "==", "!=", "<", "<=", ">", ">=":
		if x.isFloat(e.X) || x.isFloat(e.Y) {
			x.expr(e.X, types.Real)
			x.expr(e.Y, types.Real)
			return x.expect(e, types.Long, want)
		}
		x.same(e.X, e.Y)
		x.ordered(e)
		return x.expect(e, types.Long, want)
	case "=~", "!~":
		x.expr(e.X, types.String)
		lit, ok := ast.Unparen(e.Y).(*ast.Literal)
		if !ok || !lit.IsString {
			x.errorf(diag.Regex, e.Y.Range(), "the pattern of %s must be a literal string", e.Op)
		} else if _, err := regex.Compile(lit.Str); err != nil {
			x.errorf(diag.Regex, lit.Span, "not a regular expression: %v", err)
		}
		if e.Y != nil {
			x.in.Types[e.Y] = types.String
		}
		return x.expect(e, types.Long, want)
	case ".":
		before := len(x.ds)
		x.expr(e.X, types.String)
		x.expr(e.Y, types.String)
		if member := x.arrow(e); member != "" && len(x.ds) > before {
			x.ds[before].Hintf("a member is read by an arrow: %s; a dot joins strings", member)
		}
		return x.expect(e, types.String, want)
	}
	if x.isFloat(e) {
		x.expr(e.X, types.Real)
		x.expr(e.Y, types.Real)
		return x.expect(e, types.Real, want)
	}
	if x.noFloat(e.X, "%s is of whole numbers", e.Op) || x.noFloat(e.Y, "%s is of whole numbers", e.Op) {
		return bad
	}
	before := len(x.ds)
	x.expr(e.X, types.Long)
	x.expr(e.Y, types.Long)
	for _, d := range x.ds[before:] {
		if e.Op == "+" && d.Code == diag.TypeMismatch {
			d.Hintf("strings are joined by a dot, a . b; strtol(s, 10) reads a number from a string")
		}
	}
	return x.expect(e, types.Long, want)
}

// arrow writes "a.b" with an arrow if a is something of the traced program and b a name that nothing assigns, as is
// read by who comes from C or Go; "" if that cannot be meant.
func (x *infer) arrow(e *ast.Binary) string {
	var of string
	switch a := ast.Unparen(e.X).(type) {
	case *ast.Target:
		of = targetText(a)
	case *ast.AtOp:
		of = a.Name + "(...)"
	case *ast.Binary:
		if a.Op == "." {
			of = x.arrow(a)
		}
	}
	name, ok := ast.Unparen(e.Y).(*ast.Name)
	if !ok || of == "" {
		return ""
	}
	if l := x.in.Locs[name]; l == nil || l.Written || l.Param {
		return ""
	}
	return of + "->" + name.Name
}

// same types two expressions that must be of one type, whichever is known first.
func (x *infer) same(a, b ast.Expr) {
	if x.voids(a) {
		a, b = b, a
	}
	t := x.expr(a, types.Unknown)
	before := len(x.ds)
	u := x.expr(b, t)
	x.because(before, x.slotOf(a))
	x.equal(a, t, b, u)
}

func (x *infer) assign(e *ast.Assign, want types.Type) types.Type {
	switch e.Op {
	case "<<<":
		scaling{x}.add(e)
		return x.expect(e, types.Long, want)
	case ".=":
		x.place(e.X, types.String)
		x.expr(e.Y, types.String)
		return x.expect(e, types.String, want)
	case "=":
		if x.isFloat(e.X) {
			x.place(e.X, types.Real)
			x.expr(e.Y, types.Real)
			return x.expect(e, types.Real, want)
		}
		t := x.place(e.X, want)
		before := len(x.ds)
		if x.voids(e.Y) && t == types.Unknown {
			t = x.unread(e.X)
		}
		u := x.expr(e.Y, t)
		x.because(before, x.slotOf(e.X))
		if t == bad {
			return bad
		}
		return x.equal(e.X, t, e.Y, u)
	}
	if x.isFloat(e) {
		x.place(e.X, types.Real)
		x.expr(e.Y, types.Real)
		return x.expect(e, types.Real, want)
	}
	if x.noFloat(e.X, "%s is of whole numbers", e.Op) || x.noFloat(e.Y, "%s is of whole numbers", e.Op) {
		return bad
	}
	x.place(e.X, types.Long)
	x.expr(e.Y, types.Long)
	return x.expect(e, types.Long, want)
}

// unread makes a number of the local that e is, if it is one that nobody reads: "x = exit()".
func (x *infer) unread(e ast.Expr) types.Type {
	if n, ok := ast.Unparen(e).(*ast.Name); ok {
		if l := x.in.Locs[n]; l != nil && !l.Read && !l.Param {
			return x.unify(slot{l, -1}, types.Long, n.Span)
		}
	}
	return types.Unknown
}

func (x *infer) ternary(e *ast.Ternary, want types.Type) types.Type {
	if v, ok := Known(x.in, e.Cond); ok {
		x.in.Types[e.Cond] = types.Long
		if v != 0 {
			return x.expr(e.Then, want)
		}
		return x.expr(e.Else, want)
	}
	x.cond(e.Cond)
	if x.isFloat(e) {
		x.expr(e.Then, types.Real)
		x.expr(e.Else, types.Real)
		return x.expect(e, types.Real, want)
	}
	then, els := e.Then, e.Else
	if x.voids(then) {
		then, els = els, then
	}
	t := x.expr(then, want)
	if want != types.Unknown {
		x.expr(els, want)
		return t
	}
	u := x.expr(els, t)
	return x.equal(then, t, els, u)
}

// voids reports whether e calls a built-in function without a result.
func (x *infer) voids(e ast.Expr) bool {
	c, ok := ast.Unparen(e).(*ast.Call)
	if !ok {
		return false
	}
	f := x.in.Calls[c]
	return f != nil && f.Void()
}

func (x *infer) member(e *ast.In) {
	if e.Hist != nil {
		x.hist(e.Hist)
		if len(e.Keys) == 1 && e.Keys[0] != nil {
			x.expr(e.Keys[0], types.Long)
		}
		return
	}
	g := x.in.Globs[e.Array]
	if g == nil || !x.arity(g, len(e.Keys), e.Array.Span) {
		for _, k := range e.Keys {
			x.expr(k, types.Unknown)
		}
		return
	}
	for i, k := range e.Keys {
		x.key(g, i, k)
	}
}

// target types an expression over variables of the traced program.
func (x *infer) target(e ast.Expr, want types.Type) types.Type {
	t := x.in.Targets[e]
	if t == nil || t.Err != nil {
		return bad
	}
	for i, a := range t.Args {
		want := types.Long
		if slices.Contains(t.Texts, i) {
			want = types.String
		}
		x.expr(a, want)
	}
	have := t.Type
	if t.Inner != nil {
		have = x.expr(t.Inner, types.Unknown)
		t.Type = have
		if have == bad {
			t.Type = types.Unknown
		}
	}
	return x.expect(e, have, want)
}

// embeddedType is long, unless a comment in the code says otherwise, as in stap.
func embeddedType(e *ast.EmbeddedExpr) types.Type {
	if hasComment(e.Code, "string") {
		return types.String
	}
	return types.Long
}

// call types a call. value says that someone looks at the result.
func (x *infer) call(c *ast.Call, want types.Type, value bool) types.Type {
	if k, ok := printFunc(c.Fun.Name); ok {
		return x.print(c, k, want, value)
	}
	first := x.in.Calls[c]
	if first == nil {
		for _, a := range c.Args {
			x.expr(a, bad)
		}
		return bad
	}
	for i, a := range c.Args {
		var ps []slot
		for f := first; f != nil; f = f.Next {
			ps = append(ps, slot{f.Params[i], -1})
		}
		x.link(a.Range(), ps...)
		before := len(x.ds)
		t := argument(x, a, first, first.Params[i].Type)
		x.because(before, ps[0])
		x.given(a, t, ps[0])
	}
	if !value {
		return first.Result
	}
	for f := first; f != nil; f = f.Next {
		x.valued[f] = true
		if f.Void() {
			return x.without(c, f, want)
		}
		if x.asked[f] == nil {
			x.asked[f] = c
		}
	}
	var rs []slot
	for f := first; f != nil; f = f.Next {
		rs = append(rs, slot{f, -1})
	}
	x.link(c.Span, rs...)
	return x.unify(rs[0], want, c.Span)
}

// without types a call of f, a built-in function without a result, where a value is wanted. Where the use
// says of which type, it is 0 or "", as in stap.
func (x *infer) without(c *ast.Call, f *elab.Func, want types.Type) types.Type {
	if want == types.Long || want == types.String {
		x.warnf(diag.NoValue, c.Span, "%s() returns nothing; its value here is always %s", c.Fun.Name, zeroOf(want))
		return want
	}
	if want != bad {
		x.noResult(c, f)
	}
	return bad
}

func (x *infer) noResult(c *ast.Call, f *elab.Func) {
	d := x.errorf(diag.NoResult, c.Span, "%s() returns nothing, but its value is wanted here", c.Fun.Name)
	if f.User {
		d.Note(f.Decl.Name.Span, "it is declared here")
	}
}

func zeroOf(t types.Type) string {
	if t == types.String {
		return `""`
	}
	return "0"
}

// print types a call of the print family.
func (x *infer) print(c *ast.Call, k printKind, want types.Type, value bool) types.Type {
	name := c.Fun.Name
	res := types.Unknown
	if k.value {
		res = types.String
	}
	printShape(&x.ds, c, k)
	switch {
	case k.format:
		x.format(c)
	case k.delim && len(c.Args) > 0:
		if l, ok := ast.Unparen(c.Args[0]).(*ast.Literal); ok && l.IsString {
			x.in.Types[c.Args[0]] = types.String
		} else {
			x.expr(c.Args[0], types.Unknown)
		}
		x.printed(c.Args[1:])
	default:
		x.printed(c.Args)
	}
	if value && !k.value {
		if want == types.String {
			x.errorf(diag.NoResult, c.Span, "%s returns nothing, but its value is wanted here", name).
				Hintf("s%s gives the text as a string", name)
			return bad
		}
		x.warnf(diag.NoValue, c.Span, "%s returns nothing; its value here is always 0", name).
			Hintf("s%s gives the text as a string", name)
		res = types.Long
	}
	return x.expect(c, res, want)
}

// printed types values whose types are free.
func (x *infer) printed(args []ast.Expr) {
	for _, a := range args {
		if h := histogram(a); h != nil {
			x.hist(h)
		} else {
			x.expr(a, types.Unknown)
		}
	}
}

// format checks the arguments of printf and sprintf against the format, which formatShape has looked at.
func (x *infer) format(c *ast.Call) {
	if len(c.Args) == 0 {
		return
	}
	name, args := c.Fun.Name, c.Args[1:]
	lit, ok := ast.Unparen(c.Args[0]).(*ast.Literal)
	if !ok || !lit.IsString {
		x.printed(c.Args)
		return
	}
	x.in.Types[c.Args[0]] = types.String
	f, err := ir.ParseFormat(lit.Str)
	if err != nil {
		x.printed(args)
		return
	}
	want := f.ArgTypes()
	if len(want) != len(args) {
		d := x.errorf(diag.PrintArguments, c.Span, "the format of %s wants %s, but there %s %d", name,
			count(len(want), "value"), isAre(len(args)), len(args))
		if len(args) == 0 && len(want) > 0 {
			d.Hintf("a %% is printed by %%%%")
		}
	}
	n := 0
	for _, p := range f.Pieces {
		if p.Conv == 0 {
			continue
		}
		for _, star := range []bool{p.WidthArg, p.PrecArg} {
			if star && n < len(args) {
				x.expr(args[n], types.Long)
				n++
			}
		}
		if n >= len(args) {
			break
		}
		x.conversion(p, args[n])
		n++
	}
	if n < len(args) {
		x.printed(args[n:])
	}
}

// conversion types the value that p prints.
func (x *infer) conversion(p ir.Piece, a ast.Expr) {
	if h := histogram(a); h != nil {
		x.hist(h)
		return
	}
	want := types.Long
	switch {
	case p.IsFloat():
		x.expr(a, types.Real)
		return
	case x.isFloat(a):
		x.errorf(diag.TypeMismatch, a.Range(), "type mismatch: %%%c does not print a float", p.Conv).
			Hintf("%%g, %%f and %%e print one; trunc(x) is the whole number that it begins with")
		return
	}
	if p.Conv == 's' { // a string, or a stack
		want = types.String
	}
	before := len(x.ds)
	switch {
	case want == types.String && x.open:
		want = types.Unknown
	case want == types.String && x.in.Types[a] == types.Stack:
		want = types.Stack
	}
	x.expr(a, want)
	if len(x.ds) != before+1 || x.ds[before].Code != diag.TypeMismatch {
		return
	}
	if want == types.Long {
		x.ds[before].Hintf("%%s prints a string")
	} else {
		x.ds[before].Hintf("%%d prints a number")
	}
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}
