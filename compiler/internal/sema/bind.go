package sema

import (
	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/internal/load"
	"github.com/gostap/gostap/compiler/source"
	"slices"
)

// Bind finds out what each name means. Functions and globals that are reached from
// p.Probes are added to p; with a global of the library come the probes of its file
// that touch it. Functions of the script that nothing calls are looked at too, for
// their errors, but are not added.
func Bind(p *elab.Program, lib *load.Library, o Options) diag.List {
	b := &binder{
		p: p, lib: lib, o: o,
		globals:   map[*load.Global]*elab.Global{},
		funcs:     map[*load.Function]*elab.Func{},
		globNames: map[string]bool{}, funcNames: map[string]bool{}, suffix: map[string]int{},
		initialised: map[string]bool{},
		crossed:     map[*load.Global]*load.File{},
		compared:    map[*load.Function]*load.Function{},
	}
	for _, g := range lib.UserGlobals() {
		b.global(g)
	}
	b.prelude()
	for _, f := range lib.UserFunctions() {
		if name := f.Decl.Name; IsPrint(name.Name) {
			b.errorf(diag.ReservedName, name.Span, "%s is a function of the language; it cannot be declared again",
				name.Name)
		}
	}
	for i := 0; i < len(p.Probes); i++ { // grows while it runs
		b.probe(p.Probes[i])
		b.drain()
	}
	b.uninitialised()
	b.unreached()
	b.guru()
	b.forget()
	b.ds = append(b.ds, lib.TakeDiags()...)
	return b.ds
}

type binder struct {
	p       *elab.Program
	lib     *load.Library
	o       Options
	ds      diag.List
	globals map[*load.Global]*elab.Global
	funcs   map[*load.Function]*elab.Func
	// globNames and funcNames are the names that are taken in the program.
	globNames, funcNames map[string]bool
	// suffix is the number to try next behind a name that is taken.
	suffix map[string]int
	// initialised are the names of -G that are those of globals.
	initialised map[string]bool
	// crossed are the globals of the script that crossFile has warned about, with the library file.
	crossed map[*load.Global]*load.File
	// compared are the overloads whose written types were held against those of the one tried first.
	compared map[*load.Function]*load.Function
	// preludes are the library files whose C at the top level is in the program.
	preludes map[*load.File]bool
	// bound is how many of p.Funcs are done.
	bound int
	// libCalls are the script's calls of the library, changing whether anything that was reached needs guru mode.
	libCalls []libCall
	changing bool
}

func (b *binder) errorf(code diag.Code, sp source.Span, format string, args ...any) *diag.Diagnostic {
	return errorf(&b.ds, code, sp, format, args...)
}

// scope is the inside of one probe or function.
type scope struct {
	in   *elab.Info
	fn   *elab.Func // nil in probes
	pr   *elab.Probe
	file *load.File
	// home is the file of the probe itself, when file is that of an alias.
	home  *load.File
	names map[string]*elab.Local
	// conditional is 2 where what is never reached may be left alone (see may), 1 where not, 0 before that was looked
	// at.
	conditional int
	// loops is how many loops are open here.
	loops int
	// files are those of blocks that dropUnused made.
	files map[*ast.Block]*load.File
}

func (s *scope) local(name string, at source.Span) *elab.Local {
	l := s.names[name]
	if l == nil {
		l = &elab.Local{Name: name, Span: at}
		s.names[name] = l
		s.in.Locals = append(s.in.Locals, l)
	}
	return l
}

func (b *binder) probe(pr *elab.Probe) {
	if pr.Info.Locs == nil {
		pr.Info.Init()
	}
	s := &scope{in: &pr.Info, pr: pr, names: map[string]*elab.Local{}}
	if pr.Decl != nil {
		s.file = b.lib.BlockFile(pr.Decl.Body)
		s.home = s.file
	}
	if pr.Cond != nil {
		b.cond(s, pr.Cond)
	}
	b.dropUnused(s)
	for _, body := range pr.Bodies {
		if body == nil {
			continue
		}
		if s.file = s.files[body]; s.file == nil {
			s.file = b.lib.BlockFile(body)
		}
		b.stmt(s, body)
	}
}

// cond binds the condition of a probe point, which is looked at whenever a global in
// it changes: it can hold nothing but globals, constants and operators.
func (b *binder) cond(s *scope, e ast.Expr) {
	ok := true
	bad := func(n ast.Node, what string) {
		ok = false
		b.errorf(diag.PointCondition, n.Range(), "the condition of a probe point cannot %s", what).
			Hintf("it is looked at whenever a global in it changes, so only globals, constants and operators can be " +
				"in it")
	}
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Call:
			bad(n, "call functions")
		case *ast.Assign, *ast.Postfix:
			bad(n, "change anything")
		case *ast.Unary:
			if n.Op == "++" || n.Op == "--" {
				bad(n, "change anything")
			}
			return true
		case *ast.Target:
			bad(n, "look at the traced program")
		case *ast.AtOp:
			if isStat(n.Name) {
				return true
			}
			bad(n, "use "+n.Name)
		case *ast.EmbeddedExpr:
			bad(n, "hold embedded code")
		case *ast.Name:
			if b.findGlobal(s, n.Name) == nil {
				ok = false
				b.errorf(diag.PointCondition, n.Span,
					"the condition of a probe point can only look at globals, and %s is none", n.Name).
					Hintf("%s", orElse(b.nearGlobal(n.Name, s.file), "declare it: global "+n.Name))
			}
			return false
		default:
			return true
		}
		return false
	})
	if ok {
		b.expr(s, e, true)
	}
}

// drain binds the functions that were reached meanwhile.
func (b *binder) drain() {
	for ; b.bound < len(b.p.Funcs); b.bound++ {
		b.function(b.p.Funcs[b.bound])
	}
}

func (b *binder) function(f *elab.Func) {
	if f.Decl.Body == nil {
		return
	}
	s := &scope{in: &f.Info, fn: f, file: b.lib.BlockFile(f.Decl.Body), names: map[string]*elab.Local{}}
	for _, p := range f.Params {
		s.names[p.Name] = p
	}
	if b.o.Resolve != nil && hasTargets(f.Decl.Body) {
		b.ds = append(b.ds, b.o.Resolve(f)...)
	}
	b.stmt(s, f.Decl.Body)
}

func hasTargets(n ast.Node) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Target:
			found = true
		case *ast.AtOp:
			if !isStat(n.Name) {
				found = true
			}
		}
		return !found
	})
	return found
}

func (b *binder) stmts(s *scope, list []ast.Stmt) {
	for _, st := range list {
		b.stmt(s, st)
	}
}

func (b *binder) stmt(s *scope, st ast.Stmt) {
	switch st := st.(type) {
	case nil, *ast.Empty:
	case *ast.Block:
		if st != nil {
			b.stmts(s, st.Stmts)
		}
	case *ast.ExprStmt:
		b.expr(s, st.X, false)
	case *ast.If:
		if v, ok := b.prune(s, st.Cond, st); ok {
			if v != 0 {
				b.stmt(s, st.Then)
			} else {
				b.stmt(s, st.Else)
			}
			return
		}
		b.expr(s, st.Cond, true)
		b.stmt(s, st.Then)
		b.stmt(s, st.Else)
	case *ast.While:
		b.expr(s, st.Cond, true)
		b.loop(s, st.Body)
	case *ast.For:
		b.expr(s, st.Init, false)
		b.expr(s, st.Cond, true)
		b.expr(s, st.Post, false)
		b.loop(s, st.Body)
	case *ast.Foreach:
		if st.Loop != nil {
			b.stmt(s, st.Loop)
			for _, id := range append(slices.Clone(st.Keys), st.Value) {
				if id != nil && s.names[id.Name] != nil {
					s.names[id.Name].Read = true // nobody has to ask for both
				}
			}
			break
		}
		b.foreach(s, st)
	case *ast.Return:
		b.expr(s, st.X, true)
	case *ast.Delete:
		b.delete(s, st)
	case *ast.Next:
	case *ast.Break:
		if s.loops == 0 {
			b.errorf(diag.LoopControl, st.Span, "break outside of a loop")
		}
	case *ast.Continue:
		if s.loops == 0 {
			b.errorf(diag.LoopControl, st.Span, "continue outside of a loop")
		}
	case *ast.Try:
		b.stmt(s, st.Body)
		if st.Msg != nil {
			b.write(s, st.Msg, st.Msg.Name, st.Msg.Span, false)
		}
		b.stmt(s, st.Catch)
	}
}

func (b *binder) loop(s *scope, body ast.Stmt) {
	s.loops++
	b.stmt(s, body)
	s.loops--
}

func (b *binder) foreach(s *scope, st *ast.Foreach) {
	switch {
	case st.Hist != nil:
		b.stat(s, st.Hist)
		if len(st.Keys) != 1 {
			b.errorf(diag.ArrayArity, st.Span, "a histogram has one column of buckets, not %d", len(st.Keys))
		}
		switch {
		case st.SortAgg != "":
			b.errorf(diag.HistogramUse, st.Hist.Span,
				"the buckets of a histogram are sorted by their values or counts, not by %s", st.SortAgg)
		case len(st.Slice) > 0:
			b.errorf(diag.HistogramUse, st.Hist.Span, "a histogram is no array; its buckets cannot be sliced")
		}
	case st.Array != nil:
		if g := b.array(s, st.Array, len(st.Keys)); g != nil {
			g.Read = true
		}
		if len(st.Slice) > 0 && len(st.Slice) != len(st.Keys) {
			b.errorf(diag.ArrayArity, st.Span, "%s is taken apart into %d keys but sliced by %d", st.Array.Name,
				len(st.Keys), len(st.Slice)).
				Hintf("write * for keys that may be anything")
		}
	}
	for _, e := range st.Slice {
		b.expr(s, e, true)
	}
	b.expr(s, st.Limit, true)
	for i, k := range st.Keys {
		b.loopVar(s, k)
		for _, other := range st.Keys[:i] {
			if other.Name == k.Name {
				b.ds.Warnf(diag.Semantic, diag.LoopVariable, k.Span,
					"%s stands for two keys of the same loop; it holds the last of them", k.Name).Note(other.Span,
					"it is used here too")
			}
		}
	}
	if st.Value != nil {
		b.loopVar(s, st.Value)
	}
	b.loop(s, st.Body)
}

// loopVar binds a name that a foreach loop gives values to. It can be a global too.
func (b *binder) loopVar(s *scope, id *ast.Ident) {
	b.write(s, id, id.Name, id.Span, false)
	// That a loop's names are not all used is no mistake.
	if l := s.in.Locs[id]; l != nil {
		l.Read = true
	}
}

func (b *binder) delete(s *scope, st *ast.Delete) {
	switch x := ast.Unparen(st.X).(type) {
	case *ast.Name:
		switch l := s.names[x.Name]; {
		case l != nil && l.Param:
			b.errorf(diag.DeleteOperand, x.Span, "the parameter %s cannot be deleted",
				x.Name).Hintf("assign 0 or \"\" to it")
		case l == nil && b.findGlobal(s, x.Name) == nil:
			d := b.errorf(diag.UnresolvedArray, x.Span, "no variable is named %s up to here", x.Name)
			d.Hintf("%s", orElse(b.nearGlobal(x.Name, s.file), "declare it outside of the probes: global "+x.Name))
			return
		}
		b.write(s, x, x.Name, x.Span, false)
	case *ast.Index:
		if g := b.array(s, x.Array, len(x.Keys)); g != nil {
			g.Written = true
		}
		b.exprs(s, x.Keys)
	default:
		b.errorf(diag.DeleteOperand, st.X.Range(), "only variables and elements of arrays can be deleted, not %s",
			describe(x))
		b.expr(s, st.X, true)
	}
}

func (b *binder) exprs(s *scope, list []ast.Expr) {
	for _, e := range list {
		b.expr(s, e, true)
	}
}

// expr binds what is in e. used says whether anyone looks at its value.
func (b *binder) expr(s *scope, e ast.Expr, used bool) {
	switch e := e.(type) {
	case nil, *ast.Literal:
	case *ast.Name:
		b.read(s, e)
	case *ast.Paren:
		b.expr(s, e.X, used)
	case *ast.Unary:
		switch e.Op {
		case "++", "--":
			b.assign(s, e.X, e.Op, used)
		case "&":
			if _, ok := s.in.Targets[e]; ok {
				b.target(s, e)
				return
			}
			b.errorf(diag.AddressOf, e.Span, "the address of %s cannot be taken", describe(e.X)).
				Hintf("& is for variables of the traced program: &$x")
			b.expr(s, e.X, true)
		default:
			if _, ok := b.fold(s, e); !ok {
				b.expr(s, e.X, true)
			}
		}
	case *ast.Postfix:
		b.assign(s, e.X, e.Op, used)
	case *ast.Binary:
		b.binary(s, e)
	case *ast.Assign:
		b.expr(s, e.Y, true)
		b.assign(s, e.X, e.Op, used)
	case *ast.Ternary:
		if v, ok := b.prune(s, e.Cond, e); ok {
			if v != 0 {
				b.expr(s, e.Then, used)
			} else {
				b.expr(s, e.Else, used)
			}
			return
		}
		b.expr(s, e.Cond, true)
		b.expr(s, e.Then, used)
		b.expr(s, e.Else, used)
	case *ast.In:
		b.exprs(s, e.Keys)
		if e.Hist != nil {
			b.stat(s, e.Hist)
		} else if g := b.array(s, e.Array, len(e.Keys)); g != nil {
			g.Read = true
		}
	case *ast.Index:
		if g := b.array(s, e.Array, len(e.Keys)); g != nil {
			g.Read = true
		}
		b.exprs(s, e.Keys)
	case *ast.HistIndex:
		b.stat(s, e.Hist)
		b.expr(s, e.I, true)
	case *ast.Call:
		b.call(s, e)
	case *ast.AtOp:
		b.atOp(s, e)
	case *ast.Target:
		b.target(s, e)
	case *ast.EmbeddedExpr:
		b.embeddedExpr(s, e)
	}
}

func (b *binder) binary(s *scope, e *ast.Binary) {
	if _, ok := b.fold(s, e); ok {
		return
	}
	if e.Op == "&&" || e.Op == "||" {
		// The whole did not fold, so a left side that did leaves the right one to decide.
		if _, ok := b.prune(s, e.X, e); ok {
			b.expr(s, e.Y, true)
			return
		}
		b.expr(s, e.X, true)
		if _, ok := b.fold(s, e.Y); !ok {
			b.expr(s, e.Y, true)
		}
		return
	}
	b.expr(s, e.X, true)
	b.expr(s, e.Y, true)
}

// assign binds the left side of op, which is an assignment or a step.
func (b *binder) assign(s *scope, x ast.Expr, op string, used bool) {
	// What only adds to a variable does not count as reading it, unless someone
	// looks at the sum.
	also := used && op != "=" && op != "<<<"
	switch x := ast.Unparen(x).(type) {
	case *ast.Name:
		b.write(s, x, x.Name, x.Span, also)
	case *ast.Index:
		if g := b.array(s, x.Array, len(x.Keys)); g != nil {
			g.Written = true
			g.Read = g.Read || also
		}
		b.exprs(s, x.Keys)
	case *ast.Target:
		if t := s.in.Targets[x]; t != nil && t.Procfs {
			b.reply(x, t, op, used)
			return
		}
		b.target(s, x)
		if !b.o.Guru && s.file.User {
			b.errorf(diag.TargetWrite, x.Span, "writing to %s needs guru mode", targetText(x)).
				Hintf("run with -g to let the script change the traced program")
		}
	case *ast.AtOp:
		if x.Name != "@var" {
			b.errorf(diag.NotAssignable, x.Span, "%s cannot be assigned to", describe(x))
			b.expr(s, x, true)
			return
		}
		b.atOp(s, x)
		if !b.o.Guru && s.file.User {
			b.errorf(diag.TargetWrite, x.Span, "writing to %s needs guru mode", targetText(x)).
				Hintf("run with -g to let the script change the traced program")
		}
	default:
		d := b.errorf(diag.NotAssignable, x.Range(), "%s cannot be assigned to", describe(x))
		if op == "=" {
			d.Hintf("== compares")
		}
		b.expr(s, x, true)
	}
}
