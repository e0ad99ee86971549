package target

import (
	"fmt"
	"sort"
	"strings"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/internal/skip"
)

// walker goes through a body and resolves what it finds in the arms that can run.
type walker struct {
	r       *resolver
	targets map[ast.Expr]*elab.Target
	consts  map[ast.Expr]int64
	// truths are the expressions of which only is asked whether they are nil; nils is elab.Info.Nils.
	truths map[ast.Expr]bool
	nils   map[*ast.Name]elab.Nil
	// wholes are what is assigned or assigned to as a whole (package change).
	wholes map[ast.Expr]bool
	// returned are those that ask in a function whether there is a result.
	returned []*ast.AtOp
	// key tells sites apart whose expressions resolve differently.
	key strings.Builder
	// bad is the first expression that does not resolve and is not asked for by @defined.
	bad *diag.Diagnostic
}

func newWalker(r *resolver) *walker {
	return &walker{r: r, targets: map[ast.Expr]*elab.Target{}, consts: map[ast.Expr]int64{},
		truths: map[ast.Expr]bool{}, nils: map[*ast.Name]elab.Nil{}, wholes: map[ast.Expr]bool{}}
}

func (w *walker) walk(n ast.Node) {
	switch n := n.(type) {
	case nil:
		return
	case *ast.Block:
		if n == nil {
			return
		}
	case *ast.If:
		w.asked(n.Cond)
		if v, ok := w.fold(n.Cond); ok {
			if v != 0 {
				w.walk(n.Then)
			} else if n.Else != nil {
				w.walk(n.Else)
			}
			return
		}
	case *ast.While:
		w.asked(n.Cond)
	case *ast.For:
		w.asked(n.Cond)
	case *ast.Ternary:
		w.asked(n.Cond)
		if v, ok := w.fold(n.Cond); ok {
			if v != 0 {
				w.walk(n.Then)
			} else {
				w.walk(n.Else)
			}
			return
		}
	case *ast.Binary:
		if n.Op == "&&" || n.Op == "||" {
			w.asked(n)
			if v, ok := w.fold(n.X); ok {
				if (v != 0) == (n.Op == "&&") {
					w.walk(n.Y)
				}
				return
			}
		}
		if n.Op == "==" || n.Op == "!=" {
			w.compareNil(n.X, n.Y)
			w.compareNil(n.Y, n.X)
		}
	case *ast.ExprStmt:
		w.mayBeWhole(n.X)
	case *ast.Target:
		w.target(n)
		return
	case *ast.Unary:
		if n.Op == "!" {
			w.asked(n)
		}
		if n.Op == "&" {
			w.target(n)
			return
		}
	case *ast.AtOp:
		if n.Name == "@defined" {
			w.fold(n)
			return
		}
		if IsTargetOp(n.Name) {
			w.target(n)
			return
		}
	}
	for _, c := range ast.Children(n) {
		w.walk(c)
	}
}

// mayBeWhole notes what of a statement may be a value of many words (see package change).
func (w *walker) mayBeWhole(e ast.Expr) {
	switch e := e.(type) {
	case *ast.Assign:
		if _, ok := ast.Unparen(e.X).(*ast.Name); e.Op == "=" && !ok {
			w.wholes[ast.Unparen(e.X)], w.wholes[ast.Unparen(e.Y)] = true, true
		}
	case *ast.Call:
		if e.Fun.Name != skip.Call {
			return
		}
		for _, a := range e.Args {
			w.wholes[ast.Unparen(a)] = true
		}
		fmt.Fprintf(&w.key, "skip %s", skip.At(w.r.site).Key())
	}
}

// target resolves e and what its indexes and arguments hold.
func (w *walker) target(e ast.Expr) *elab.Target {
	if t := w.targets[e]; t != nil {
		return t
	}
	t := w.r.target(e, w.truths[e])
	w.targets[e] = t
	w.enter(t)
	if t.Err != nil && w.bad == nil && !(w.wholes[e] && t.Place.Type != nil) {
		w.bad = t.Err
	}
	for _, a := range t.Args {
		w.walk(a)
	}
	if t.Inner != nil && !w.r.inEntry {
		w.r.inEntry = true
		w.walk(t.Inner)
		w.r.inEntry = false
	}
	return t
}

// enter adds what t resolved to to the key.
func (w *walker) enter(t *elab.Target) {
	k := &w.key
	if t.Err != nil {
		k.WriteString("!")
		k.WriteString(t.Err.Message)
	}
	fmt.Fprintf(k, "%d %t %t %t %t", t.Type, t.CString, t.AtEntry, t.Procfs, t.Reply)
	if t.Err != nil && t.Place.Type != nil {
		fmt.Fprintf(k, " %s %t %s %v", t.Place.Type.Name, t.Place.InMemory, t.Place.Addr, t.Place.Pieces)
	}
	k.WriteString(t.Value.String())
	k.WriteByte('#')
	k.WriteString(t.Len.String())
	for _, p := range t.Pretty {
		fmt.Fprintf(k, "{%q%c%t%t%t%s#%s}", p.Lit, p.Conv, p.CString, p.Kernel, p.AtEntry, p.Value.String(),
			p.Len.String())
		for _, word := range p.Words {
			fmt.Fprintf(k, "[%s]", word.String())
		}
		k.WriteString(p.Plan)
	}
	k.WriteByte('\n')
}

// fold gives the value of a condition that is decided by what resolves: @defined and what
// follows from it. As in package sema, what hangs on literals only does not count, so that
// mistakes in both arms are found.
func (w *walker) fold(e ast.Expr) (int64, bool) {
	f := ast.Folder{
		Known: func(e ast.Expr) (v int64, decided, ok bool) {
			if e, is := e.(*ast.AtOp); is && e.Name == "@defined" && len(e.Args) == 1 {
				return w.defined(e), true, true
			}
			return 0, false, false
		},
		Skip: func(_ ast.Expr, _ ast.Node, decided bool) bool { return decided },
	}
	v, decided, ok := f.Value(e)
	return v, ok && decided
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// defined says whether everything in e's argument resolves.
func (w *walker) defined(e *ast.AtOp) int64 {
	if v, ok := w.consts[e]; ok {
		return v
	}
	sub := newWalker(w.r)
	sub.walk(e.Args[0])
	v := truth(sub.bad == nil)
	if c, ok := ast.Unparen(e.Args[0]).(*ast.Call); ok && c.Fun.Name == "returnval" {
		if w.r.site == nil { // a function, which probes of all kinds call
			w.returned = append(w.returned, e)
		} else if !w.r.site.HasResult() {
			v = 0
		}
	}
	w.consts[e] = v
	fmt.Fprintf(&w.key, "@%d", v)
	return v
}

func sorted(set map[string]bool) []string {
	var out []string
	for s := range set {
		out = append(out, s)
	}
	sort.Strings(out)
	return out
}
