// Package change makes plain assignments of what changes a program by more than one number at a time: values of many
// words that are assigned as a whole ($return[1] = @var("io.EOF")), and functions that are left out (skip_function).
//
// In: a probe whose target expressions are resolved. Out: the same with other statements, each of which assigns a
// number to a target; what cannot be is reported.
package change

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/internal/skip"
	"github.com/gostap/gostap/compiler/internal/target"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/types"
)

const codeContext diag.Code = "wrong-context"

// Options say what holds for the script.
type Options struct {
	Guru bool
	// Popping: functions can be left by their own code only, as modules do it.
	Popping bool
}

// rewriter goes through the statements of one probe.
type rewriter struct {
	o  Options
	p  *elab.Probe
	ds diag.List
	n  int // names of values
}

// Probe rewrites the statements of p.
func Probe(p *elab.Probe, o Options) diag.List {
	r := &rewriter{o: o, p: p}
	bodies := make([]*ast.Block, len(p.Bodies))
	for i, b := range p.Bodies {
		if bodies[i] = b; b != nil {
			bodies[i] = r.stmt(b).(*ast.Block)
		}
	}
	p.Bodies = bodies
	return r.ds
}

// stmt gives s, or what stands for it. The tree belongs to other probes too: what changes is copied.
func (r *rewriter) stmt(s ast.Stmt) ast.Stmt {
	switch s := s.(type) {
	case *ast.Block:
		if s == nil {
			return s
		}
		var out []ast.Stmt
		for i, x := range s.Stmts {
			y := r.stmt(x)
			if y != x && out == nil {
				out = append([]ast.Stmt(nil), s.Stmts...)
			}
			if out != nil {
				out[i] = y
			}
		}
		if out != nil {
			return &ast.Block{Place: s.Place, Stmts: out}
		}
	case *ast.If:
		c := *s
		if c.Then = r.stmt(s.Then); s.Else != nil {
			c.Else = r.stmt(s.Else)
		}
		if c.Then != s.Then || c.Else != s.Else {
			return &c
		}
	case *ast.While:
		if b := r.stmt(s.Body); b != s.Body {
			return &ast.While{Place: s.Place, Cond: s.Cond, Body: b}
		}
	case *ast.For:
		c := *s
		if c.Body = r.stmt(s.Body); c.Body != s.Body {
			return &c
		}
	case *ast.Foreach:
		c := *s
		if s.Loop != nil {
			c.Loop = r.stmt(s.Loop)
		} else {
			c.Body = r.stmt(s.Body)
		}
		if c.Body != s.Body || c.Loop != s.Loop {
			return &c
		}
	case *ast.Try:
		c := *s
		c.Body = r.stmt(s.Body).(*ast.Block)
		if s.Catch != nil {
			c.Catch = r.stmt(s.Catch).(*ast.Block)
		}
		if c.Body != s.Body || c.Catch != s.Catch {
			return &c
		}
	case *ast.ExprStmt:
		return r.expr(s)
	}
	return s
}

// expr gives what stands for a statement that is one expression.
func (r *rewriter) expr(s *ast.ExprStmt) ast.Stmt {
	switch e := s.X.(type) {
	case *ast.Assign:
		if x := r.whole(e.X); e.Op == "=" && x != nil {
			return r.assign(s, e, x)
		}
	case *ast.Call:
		if e.Fun.Name == skip.Call {
			return r.skip(s, e)
		}
	}
	return s
}

// assign makes assignments of words of one of a whole value.
func (r *rewriter) assign(s *ast.ExprStmt, e *ast.Assign, x *elab.Target) ast.Stmt {
	name := target.Text(ast.Unparen(e.X))
	y := r.whole(e.Y)
	if y == nil && !nothing(e.Y) && x.Err == nil {
		return s // text, which sema refuses with its own words
	}
	if !r.o.Guru {
		r.ds.Errorf(diag.Semantic, diag.TargetWrite, e.X.Range(), "writing to %s needs guru mode", name).
			Hintf("run with -g to let the script change the traced program")
		return &ast.Empty{Place: s.Place}
	}
	into := dest{name: name, at: e.X.Range(), place: x.Place, args: x.Args}
	block := &ast.Block{Place: s.Place}
	if set := r.value(block, into, e.Y); set != nil {
		set()
	}
	return block
}

// never says why y is a value that no variable of type t has; "" if it may be one. Programs rely on that.
func never(t *types.Ctype, y ast.Expr) string {
	n, known := ast.Unparen(y).(*ast.Literal)
	name := ""
	if t != nil {
		name = cmp.Or(t.Own, t.Name)
	}
	switch {
	case t == nil:
	case t.Kind == types.Pointer && nothing(y) && (t.Ref || t.Own != "" && !strings.HasPrefix(t.Own, "*")):
		return "the result is of type " + name + " and refers to something, so it is never 0"
	case t.Kind == types.Enum && t.Lang == types.Rust:
		if !known || !slices.ContainsFunc(t.Enums(), func(e types.Enumerator) bool { return e.Val == n.Num }) {
			return "the result is of type " + name + ", which has no other values than its own: give a constant of it"
		}
	}
	return ""
}

// skip makes a call of skip_function into assignments to the results, and of what leaves the function.
func (r *rewriter) skip(s *ast.ExprStmt, c *ast.Call) ast.Stmt {
	block := &ast.Block{Place: s.Place}
	no := func(why, hint string) ast.Stmt {
		d := r.ds.Errorf(diag.Semantic, codeContext, c.Range(), "%s(): %s", skip.Call, why)
		if hint != "" {
			d.Hintf("%s", hint)
		}
		return block
	}
	if !r.o.Guru {
		r.ds.Errorf(diag.Semantic, diag.TargetWrite, c.Range(), "%s() needs guru mode", skip.Call).
			Hintf("run with -g to let the script change the traced program or the kernel")
		return block
	}
	way := skip.At(r.p.Sites[0]) // all of them agree
	switch n := len(way.Results); {
	case way.Why != "":
		return no(way.Why, way.Hint)
	case r.o.Popping && way.Popped.Empty():
		return no("modules can leave out functions that begin by saving the frame pointer and end by restoring it, "+
			"and "+r.p.Sites[0].Func+" does not", "eBPF can on kernels that let it write registers: see gostap --info")
	case len(c.Args) > 0 && len(c.Args) != n:
		return no(r.p.Sites[0].Func+" returns "+count(n, "value")+", not "+count(len(c.Args), "value"),
			"without arguments, all results are 0")
	}
	r.p.Leaves = true
	var sets []func()
	for i, res := range way.Results {
		into := dest{name: "result " + count(i, ""), at: c.Range(), place: res.Place, leaves: true}
		if into.place.Type == nil {
			into.place.Type = res.Type
		}
		var y ast.Expr = &ast.Literal{Place: c.Place}
		if i < len(c.Args) {
			y, into.at = c.Args[i], c.Args[i].Range()
		}
		if why := never(res.Type, y); why != "" {
			return no(why, "give "+into.name+" as an argument")
		}
		if set := r.value(block, into, y); set != nil {
			sets = append(sets, set)
		}
	}
	if given := way.Given; !given.Empty() {
		to := loc.Place{Type: numbers[8], Pieces: []loc.Piece{{Size: 8,
			Val: loc.Register(r.p.Sites[0].Image.Machine().C.Results[0])}}}
		at := r.keep(block, r.number(c, given))
		sets = append(sets, func() { r.set(block, dest{name: skip.Call, at: c.Range(), leaves: true}, to, at) })
	}
	// What leads out is computed before the results are there.
	ip, sp, fp := way.IP, way.SP, way.FP
	if r.o.Popping {
		ip, sp, fp = way.Popped, way.Below, way.Popped
		saved := dest{name: skip.Call, at: c.Range(), leaves: true,
			place: loc.Place{Type: numbers[8], InMemory: true, Addr: way.Below}}
		r.set(block, saved, saved.place, r.keep(block, r.number(c, way.FP)))
	}
	call := &ast.Call{Place: c.Place, Fun: &ast.Ident{Place: c.Fun.Place, Name: "leave_function"}}
	for _, p := range []loc.Prog{ip, sp, fp} {
		call.Args = append(call.Args, r.keep(block, r.number(c, p)))
	}
	for _, set := range sets {
		set()
	}
	block.Stmts = append(block.Stmts, &ast.ExprStmt{Place: c.Place, X: call}, &ast.Next{Place: c.Place})
	return block
}
