package sema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/habits"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/internal/load"
	"github.com/gostap/gostap/compiler/internal/spancall"
	"github.com/gostap/gostap/compiler/intrinsic"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/compiler/types"
)

// printKind says how the members of the print family take their arguments.
type printKind struct {
	format bool // the first argument is a format
	delim  bool // the first argument goes between the others
	value  bool // gives a string instead of printing
}

// printNames are the members of the print family.
var printNames = [...]string{"print", "println", "sprint", "sprintln", "printd", "printdln", "sprintd", "sprintdln",
	"printf", "sprintf"}

// printFunc tells about a member of the print family; ok is false for other names.
func printFunc(name string) (k printKind, ok bool) {
	if !slices.Contains(printNames[:], name) {
		return k, false
	}
	base, value := strings.CutPrefix(name, "s")
	return printKind{format: base == "printf", delim: strings.HasPrefix(base, "printd"), value: value}, true
}

// IsPrint reports whether name is a function of the print family, which calls name
// without a declaration.
func IsPrint(name string) bool {
	_, ok := printFunc(name)
	return ok
}

func (b *binder) call(s *scope, c *ast.Call) {
	if c.Fun.Name == spancall.Name && len(b.lib.Functions(spancall.Name, s.file)) == 0 {
		b.ds = append(b.ds, spancall.Rewrite(c)...)
	}
	if IsPrint(c.Fun.Name) {
		for _, a := range c.Args {
			if h := histogram(a); h != nil {
				b.stat(s, h)
				continue
			}
			b.expr(s, a, true)
		}
		return
	}
	b.exprs(s, c.Args)
	name, n := c.Fun.Name, len(c.Args)
	fs := b.lib.Functions(name, s.file)
	if len(fs) == 0 {
		b.noFunction(s, c)
		return
	}
	if f := b.chain(fs, n); f != nil {
		s.in.Calls[c] = f
		if s.file.User && !f.User {
			b.libCalls = append(b.libCalls, libCall{c, f})
		}
		return
	}
	d := b.errorf(diag.ArgumentCount, c.Fun.Span, "%s takes %s, not %d", name, arities(fs), n)
	for _, f := range fs {
		if f.File.User {
			d.Note(f.Decl.Name.Span, "it is declared here")
		}
	}
	switch {
	case fs[0].File.User:
	case n == 0 && habits.Function(name) != "":
		d.Hintf("%s", habits.Function(name))
	default:
		d.Hintf("%s", Signature(fs[0].Decl))
	}
}

// libCall is a call of a function of the library in the script.
type libCall struct {
	c *ast.Call
	f *elab.Func
}

// guru refuses calls of library functions that change the traced program or the kernel where that is not allowed.
func (b *binder) guru() {
	if b.o.Guru || !b.changing {
		return
	}
	for _, l := range b.libCalls {
		if needsGuru(l.f, map[*elab.Func]bool{}) {
			b.errorf(diag.TargetWrite, l.c.Fun.Span, "%s() needs guru mode", l.c.Fun.Name).
				Hintf("run with -g to let the script change the traced program or the kernel")
		}
	}
}

// needsGuru reports whether f or what it calls changes something. seen holds the functions that were looked at.
func needsGuru(f *elab.Func, seen map[*elab.Func]bool) bool {
	if f == nil || seen[f] {
		return false
	}
	seen[f] = true
	if f.Intrinsic != nil {
		return f.Intrinsic.Guru()
	}
	if f.C != nil && f.C.Guru {
		return true
	}
	for _, g := range f.Info.Calls {
		if needsGuru(g, seen) {
			return true
		}
	}
	return needsGuru(f.Next, seen)
}

// noFunction reports a call of something that is no function.
func (b *binder) noFunction(s *scope, c *ast.Call) {
	name := c.Fun.Name
	if why := whyForeign(name); why != "" {
		b.errorf(diag.UnresolvedFunction, c.Fun.Span, "the function %s of stap is not available: %s", name, why)
		return
	}
	d := b.errorf(diag.UnresolvedFunction, c.Fun.Span, "no function is named %s", name)
	if g := b.findGlobal(s, name); g != nil {
		d.Note(g.Decl.Name.Span, "%s is a global variable", name)
		return
	}
	names := append(b.lib.FunctionNames(s.file), printNames[:]...)
	if near := diag.Nearest(name, names, 3); len(near) > 0 {
		if line := name[:len(name)-1] + "ln"; strings.HasSuffix(name, "n") && slices.Contains(printNames[:], line) {
			near = []string{line} // what printn and printdn stand for
		}
		d.Hintf("did you mean %s?", strings.Join(near, ", "))
	}
	if h := habits.Function(name); h != "" {
		d.Hintf("%s", h)
	}
}

// arities writes the numbers of arguments that the overloads take: "1 or 2 arguments".
func arities(fs []*load.Function) string {
	var ns []int
	for _, f := range fs {
		n := len(f.Decl.Params)
		i := 0
		for i < len(ns) && ns[i] < n {
			i++
		}
		if i == len(ns) || ns[i] != n {
			ns = append(ns[:i], append([]int{n}, ns[i:]...)...)
		}
	}
	if len(ns) == 1 && ns[0] == 0 {
		return "no arguments"
	}
	var b strings.Builder
	for _, n := range ns[:len(ns)-1] {
		fmt.Fprintf(&b, "%d or ", n)
	}
	return b.String() + count(ns[len(ns)-1], "argument")
}

// Signature writes how a function is declared: "name:type (arg:type, ...)".
func Signature(f *ast.Function) string {
	var b strings.Builder
	b.WriteString(f.Name.Name)
	b.WriteString(typeSuffix(f.Type))
	b.WriteString(" (")
	for i, p := range f.Params {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(p.Name.Name)
		b.WriteString(typeSuffix(p.Type))
	}
	b.WriteString(")")
	return b.String()
}

func typeSuffix(t ast.TypeName) string {
	switch t {
	case ast.LongType:
		return ":long"
	case ast.StringType:
		return ":string"
	}
	return ""
}

// chain links the overloads of fs that take n arguments and gives the first to try;
// nil if none does. An overload that never says next ends the chain.
func (b *binder) chain(fs []*load.Function, n int) *elab.Func {
	var first, last *elab.Func
	var lead *load.Function
	for _, f := range fs {
		if len(f.Decl.Params) != n {
			continue
		}
		if lead == nil {
			lead = f
		} else if lead.File.User && f.File.User {
			b.alike(lead, f)
		}
		if last != nil {
			if last.Next != nil || !saysNext(last.Decl) {
				break
			}
		}
		ef := b.funcs[f]
		if ef == nil {
			ef = b.pull(f)
		}
		if last == nil {
			first = ef
		} else {
			last.Next = ef
		}
		last = ef
	}
	return first
}

// alike refuses an overload f whose written types are others than those of lead, which is tried before it: types do
// not choose between them, and what one passes on the other gets.
func (b *binder) alike(lead, f *load.Function) {
	if b.compared[f] == lead {
		return
	}
	b.compared[f] = lead
	differ := func(what string, x, y ast.TypeName, at source.Span) {
		if x != ast.NoType && y != ast.NoType && x != y {
			b.errorf(diag.TypeMismatch, at, "type mismatch: %s is %s, but another %s with as many parameters says %s",
				what, noun(typeOf(y)), f.Decl.Name.Name, noun(typeOf(x))).
				Note(lead.Decl.Name.Span, "the one that is tried first").
				Hintf("types do not choose between functions of one name; give this one another name")
		}
	}
	differ("the result", lead.Decl.Type, f.Decl.Type, f.Decl.Name.Span)
	for i, p := range f.Decl.Params {
		differ("the parameter "+p.Name.Name, lead.Decl.Params[i].Type, p.Type, p.Span)
	}
}

// saysNext reports whether a function can pass a call on.
func saysNext(f *ast.Function) bool {
	found := false
	if f.Body != nil {
		ast.Inspect(f.Body, func(n ast.Node) bool {
			if _, ok := n.(*ast.Next); ok {
				found = true
			}
			_, isExpr := n.(ast.Expr)
			return !found && !isExpr
		})
	}
	return found
}

// pull adds a function to the program.
func (b *binder) pull(f *load.Function) *elab.Func {
	d := f.Decl
	ef := &elab.Func{Decl: d, Name: b.unique(b.funcNames, d.Name.Name, f.File), Priority: f.Priority, User: f.File.User,
		Builtin: f.File.Builtin, Result: typeOf(d.Type)}
	ef.Info.Init()
	b.funcs[f] = ef
	for _, p := range d.Params {
		l := &elab.Local{Name: p.Name.Name, Type: typeOf(p.Type), Span: p.Name.Span, Param: true, Written: true,
			Typed: p.Type != ast.NoType}
		ef.Params = append(ef.Params, l)
		ef.Info.Locals = append(ef.Info.Locals, l)
	}
	if d.Code != nil {
		b.code(ef, f)
	}
	b.p.Funcs = append(b.p.Funcs, ef)
	return ef
}

// code deals with a body of %{ %}: "intrinsic" names an entry of the table of
// built-in functions, of the function's own name or of the name that follows.
func (b *binder) code(ef *elab.Func, f *load.Function) {
	words := strings.Fields(f.Decl.Code.Code)
	if len(words) > 0 && words[0] == "intrinsic" && len(words) <= 2 {
		name := f.Decl.Name.Name
		if len(words) == 2 {
			name = words[1]
		}
		ef.Intrinsic = intrinsic.Lookup(name)
		b.changing = b.changing || ef.Intrinsic != nil && ef.Intrinsic.Guru()
		switch {
		case ef.Intrinsic == nil:
			b.errorf(diag.UnknownIntrinsic, f.Decl.Code.Span, "there is no built-in function named %s", name)
		case !agrees(ef):
			b.errorf(diag.UnknownIntrinsic, f.Decl.Name.Span,
				"%s is declared as %s, but the built-in function has other types", name, Signature(f.Decl))
			ef.Intrinsic = nil
		}
		return
	}
	b.embeddedFunction(ef, f)
}

// agrees reports whether a declaration has the types of its intrinsic.
func agrees(f *elab.Func) bool {
	if f.Result != f.Intrinsic.Result || len(f.Params) != len(f.Intrinsic.Params) {
		return false
	}
	for i, p := range f.Params {
		if p.Type != f.Intrinsic.Params[i] {
			return false
		}
	}
	if f.Intrinsic.OfFloat {
		f.Params[0].Type = types.Real
	}
	if f.Intrinsic.OfStack {
		f.Params[0].Type = types.Stack
	}
	if f.Intrinsic.Keeps {
		f.Result = types.Stack
	}
	return true
}

func typeOf(t ast.TypeName) types.Type {
	switch t {
	case ast.LongType:
		return types.Long
	case ast.StringType:
		return types.String
	}
	return types.Unknown
}

// unreached looks at the script's functions that nothing calls, for the mistakes in
// them, and leaves the program as it was. Since they never run, these are warnings.
func (b *binder) unreached() {
	before := len(b.ds)
	defer func() {
		for _, d := range b.ds[before:] {
			d.Severity = diag.Warning
		}
	}()
	probes, funcs, globals := len(b.p.Probes), len(b.p.Funcs), len(b.p.Globals)
	type use struct{ read, written bool }
	uses := make([]use, globals)
	for i, g := range b.p.Globals {
		uses[i] = use{g.Read, g.Written}
	}
	for _, f := range b.lib.UserFunctions() {
		if b.funcs[f] == nil {
			b.pull(f)
		}
	}
	b.drain()
	for i, u := range uses {
		b.p.Globals[i].Read, b.p.Globals[i].Written = u.read, u.written
	}
	b.p.Probes, b.p.Funcs, b.p.Globals = b.p.Probes[:probes], b.p.Funcs[:funcs], b.p.Globals[:globals]
}
