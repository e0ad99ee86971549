// Package lower translates the elaborated program into the program that executors run.
//
// In: an elab.Program that sema has bound, typed and checked. Out: an ir.Program in
// which everything that has a meaning is explicit: checks for division by zero and for
// indexes, string cuts, the action budget, location programs as plain instructions,
// pairing of function entries with returns. What this version does not have is refused
// with a diagnostic.
package lower

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/internal/sema"
	"github.com/gostap/gostap/compiler/internal/target"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/machine"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/compiler/types"
)

// The kinds of diagnostics made here.
const (
	CodeNotYet  diag.Code = "not-available" // part of the language that this version does not have
	CodeContext diag.Code = "wrong-context" // a function that needs another kind of probe
	CodePairing diag.Code = "pairing"       // entry values cannot be matched with returns
)

// Options change what is made.
type Options struct {
	// NoAutoPrint leaves out the printing of globals that are written and never read.
	NoAutoPrint bool
	// Folded prints those of them that have stacks as keys as folded stacks, and no others.
	Folded bool
	// Inspected is for a program whose globals, prints and their arguments are read as values: nothing that they
	// hold may go.
	Inspected bool
	// Merged: each global that is printed at the end is printed by a handler of its own.
	Merged bool
	// Bare leaves the heads of prints empty.
	Bare bool
	// Machine is the one that the program is for, nil for machine.Default.
	Machine *machine.Machine
}

// Program translates p. The result is nil if the list has errors.
func Program(p *elab.Program, o Options) (*ir.Program, diag.List) {
	l := &lowerer{
		p: p, o: o, out: &ir.Program{Machine: o.Machine, Limits: p.Limits, Files: p.Files},
		globs: map[*elab.Global]int{}, funcs: map[funcKey]string{}, names: map[string]bool{},
		recursive: sema.Recursive(p), needs: map[*elab.Func]need{}, costs: map[*elab.Func]int{},
		siteCaps: map[string]int{}, open: -1, entries: map[types.Type]int{},
	}
	l.writes = changesProgram(p) || acts(p)
	l.preludes()
	l.procfs()
	for _, g := range p.Globals {
		if g.Read || g.Written || o.Inspected && g.User {
			l.global(g)
		}
	}
	for _, f := range p.Funcs {
		l.names[f.Name] = true
	}
	l.replaced()
	for _, pr := range p.Probes {
		l.probe(pr)
	}
	for len(l.todo) > 0 {
		job := l.todo[0]
		l.todo = l.todo[1:]
		job()
	}
	if !o.NoAutoPrint {
		l.autoPrint()
	}
	if l.ds.HasErrors() {
		return nil, l.ds
	}
	return l.out, l.ds
}

type lowerer struct {
	p   *elab.Program
	o   Options
	out *ir.Program
	ds  diag.List

	globs map[*elab.Global]int
	// funcs are the translated functions: one each, or one for each context where it matters.
	funcs map[funcKey]string
	names map[string]bool
	// mapFuncs are the functions that look into maps of Go, by what they do and how those lie.
	mapFuncs map[string]string
	// contextFuncs are those that look into contexts of Go, likewise.
	contextFuncs map[string]string
	todo         []func()

	// writes: something in the script changes the traced program, so that no value of it stays what it is.
	writes bool

	recursive map[*elab.Func]bool
	codes     map[*elab.Embedded]int
	needs     map[*elab.Func]need
	costs     map[*elab.Func]int
	siteCaps  map[string]int

	// slots counts the values kept from entries to returns, entries are the arrays that hold them.
	slots int
	// open is the array of calls that are under way, -1 if there is none.
	open    int
	entries map[types.Type]int
}

type funcKey struct {
	f   *elab.Func
	ctx string
}

func (l *lowerer) refuse(sp source.Span, what string) *diag.Diagnostic {
	return l.ds.Errorf(diag.Semantic, CodeNotYet, sp, "%s is not available in this version", what)
}

// maxStr is the most bytes that a string can have.
func (l *lowerer) maxStr() int { return max(l.p.Limits.MaxString-1, 0) }

// text cuts a constant as a string of the language is: at the first NUL and at MAXSTRINGLEN-1.
func (l *lowerer) text(s string) string {
	if i := strings.IndexByte(s, 0); i >= 0 {
		s = s[:i]
	}
	if len(s) > l.maxStr() {
		s = s[:l.maxStr()]
	}
	return s
}

func (l *lowerer) global(g *elab.Global) {
	out := &ir.Global{Name: g.Name, Pos: g.Decl.Name.Span.From, Type: g.Type, Wrap: g.Decl.Wrap && g.Arity > 0,
		Stat: g.Stat, Float: g.Float, Shown: l.o.Inspected && g.User, Metric: g.Metric}
	if g.Type == types.String {
		out.Cap = l.maxStr()
	}
	for _, k := range g.Keys {
		col := ir.Key{Type: k}
		if k == types.String {
			col.Cap = l.maxStr()
		}
		out.Keys = append(out.Keys, col)
	}
	if g.Arity > 0 {
		out.Size = max(l.p.Limits.MaxEntries, 1)
		if g.Decl.Size != nil {
			out.Size = int(min(g.Decl.Size.Num, math.MaxInt32))
		}
	}
	if in := g.Init; in != nil && g.Type != types.Stats && g.Arity <= 0 {
		if in.IsString {
			out.InitStr = l.text(in.Str)
		} else {
			out.InitInt = in.Num
			if g.Float && !in.IsFloat {
				out.InitInt = int64(math.Float64bits(float64(in.Num)))
			}
		}
	}
	if out.Type == types.Unknown {
		return // sema has reported it
	}
	l.globs[g] = l.out.AddGlobal(out)
}

// part is the sites of a probe that one handler can serve.
type part struct {
	ctx   *context
	sites []*probe.Site
}

// probe translates one probe: into one handler, or into several where what the handler
// asks of its context differs from site to site.
func (l *lowerer) probe(pr *elab.Probe) {
	n := l.needsOf(&pr.Info, pr.Bodies)
	pairs := l.pairs(pr)
	if len(pairs) > 0 || len(pr.Marks) > 0 {
		n |= needFrame
	}
	parts, order := map[string]*part{}, []*part(nil)
	for _, s := range pr.Sites {
		order = addPart(parts, order, s, n)
	}
	var store *entryStore
	if n&needResult != 0 {
		all := len(order)
		if order = l.withResult(pr, order); len(order) < all {
			pr.Marks = nil
		}
	}
	if len(pairs) > 0 {
		store = l.entryStore(pr, pairs)
	}
	var mark *slot
	if len(pr.Marks) > 0 {
		mark = l.markSlot(pr)
	}
	switch {
	case store != nil:
		l.entryProbes(pr, pr.Entry, n, store, mark)
	case mark != nil:
		l.entryProbes(pr, pr.Marks, needFrame, nil, mark)
	}
	for _, p := range order {
		l.handler(pr, p, store, mark)
	}
}

// withResult leaves the jumps to other functions out, where the result does not exist yet, as long as there are
// other returns.
func (l *lowerer) withResult(pr *elab.Probe, order []*part) []*part {
	tail := func(p *part) bool { return p.sites[0].Kind.InUser() && p.sites[0].At.Kind == debuginfo.AtTail }
	rest := slices.DeleteFunc(slices.Clone(order), tail)
	if len(rest) == 0 || len(rest) == len(order) {
		return order
	}
	var of []string
	for _, p := range order {
		for _, s := range p.sites {
			if tail(p) && !slices.Contains(of, s.Func) {
				of = append(of, s.Func)
			}
		}
	}
	target.WarnTails(&l.ds, pr.Req, of)
	return rest
}

// addPart gives a site to the part of those that are like it.
func addPart(parts map[string]*part, order []*part, s *probe.Site, n need) []*part {
	ctx := newContext(s, n)
	key := ctx.key + s.CallersKey()
	p := parts[key]
	if p == nil {
		p = &part{ctx: ctx}
		parts[key] = p
		order = append(order, p)
	}
	p.sites = append(p.sites, s)
	return order
}

// handler translates the bodies of pr for the sites of p.
func (l *lowerer) handler(pr *elab.Probe, p *part, store *entryStore, mark *slot) {
	f := l.newFn("", &pr.Info, p.ctx)
	f.pr, f.sites, f.store = pr, p.sites, store
	interruptible := len(p.sites) > 0 && p.sites[0].Kind.MayWait()
	limit := l.p.Limits.MaxAction
	if interruptible {
		limit = l.p.Limits.MaxActionInt
	}
	f.budget = l.bodyCost(&pr.Info, pr.Bodies) > limit
	f.next = func() { f.b.End() }
	f.initLocals()
	f.fromCallers(p.sites)
	if pr.Cond != nil {
		run, out := f.b.Block(), f.b.Block()
		f.cond(pr.Cond, run, out)
		f.b.SetBlock(out)
		f.b.End()
		f.b.SetBlock(run)
	}
	if store != nil {
		f.at(store.slots[0].expr.Range())
		call := f.reading().frame(store.slots[0].expr.Range())
		if mark != nil {
			f.unmark(mark, call)
		}
		f.reading().takeEntry(store, call)
	} else if mark != nil {
		f.unmarkOnly(mark)
	}
	for _, body := range pr.Bodies {
		if body != nil {
			f.stmts(body.Stmts) // "next" in one of them ends the whole handler
		}
	}
	f.b.End()
	name := pr.Req.String()
	if len(p.sites) > 0 && p.sites[0].Alias != "" {
		name = p.sites[0].Alias
	}
	pos := pr.Req.Span.From
	if pr.Decl != nil {
		pos = pr.Decl.Span.From
	}
	l.out.Probes = append(l.out.Probes, &ir.Probe{Name: name, Pos: pos, Handler: f.b.Finish(), Sites: p.sites,
		Cond: -1})
}

// function gives the name of f's translation in context ctx, which is made if needed.
func (l *lowerer) function(f *elab.Func, ctx *context) string {
	n := l.needOf(f)
	ctx = ctx.narrow(n)
	key := funcKey{f, ctx.key}
	if name, ok := l.funcs[key]; ok {
		return name
	}
	name := f.Name
	if ctx.key != "" {
		for i := 2; l.used(name); i++ {
			name = fmt.Sprintf("%s__%d", f.Name, i)
		}
	}
	l.funcs[key] = name
	out := &ir.Func{Name: name} // holds the place: functions stay in the order of first use
	l.out.Funcs = append(l.out.Funcs, out)
	l.todo = append(l.todo, func() { *out = *l.funcBody(f, name, ctx) })
	return name
}

// used reports whether a translated function has the name, or another one will.
func (l *lowerer) used(name string) bool {
	return l.out.Func(name) != nil || strings.Contains(name, "__") && l.names[name]
}

func (l *lowerer) funcBody(ef *elab.Func, name string, ctx *context) *ir.Func {
	f := l.newFn(name, &ef.Info, ctx)
	f.ef = ef
	f.b.Pos = ef.Decl.Name.Span.From
	f.b.F.Pos = f.b.Pos
	f.b.F.Recursive = l.recursive[ef]
	f.budget = l.cost(ef) == unbounded
	if ef.Result == types.Long || ef.Result == types.String {
		f.b.Result(ef.Result, f.capFor(ef.Result))
	}
	for _, p := range ef.Params {
		f.locals[p] = f.b.Param(p.Name, p.Type, f.capFor(p.Type))
	}
	f.initLocals()
	if f.free() && loops(ef.Decl.Body) {
		f.turns = f.b.Long("")
		f.b.Mov(f.turns, ir.I(f.turnLimit()))
	}
	// The next overload gets the arguments as they came in.
	var args []ir.Val
	if saysNext(ef.Decl.Body) {
		for _, p := range ef.Params {
			r := f.locals[p]
			if assigns(ef.Decl.Body, &ef.Info, p) {
				r = f.b.Reg("", p.Type, f.capFor(p.Type))
				f.b.Mov(r, ir.R(f.locals[p]))
			}
			args = append(args, ir.R(r))
		}
	}
	f.next = func() {
		if ef.Next == nil {
			f.b.Fail(ir.ErrExhausted)
			return
		}
		dst := ir.NoReg
		if f.b.F.Result != types.Unknown {
			dst = f.b.Reg("", f.b.F.Result, f.b.F.ResultCap)
		}
		if ef.Next.Intrinsic != nil {
			v := f.builtins().intrinsic(ef.Next, args, nil, ef.Decl.Name.Span)
			if dst != ir.NoReg {
				f.b.Return(v)
				return
			}
			f.b.Return(ir.Val{})
			return
		}
		f.b.Call(f.function(ef.Next, ctx), dst, args...)
		if dst == ir.NoReg {
			f.b.Return(ir.Val{})
		} else {
			f.b.Return(ir.R(dst))
		}
	}
	switch {
	case ef.C != nil:
		f.builtins().embeddedBody(ef)
	case ef.Decl.Body != nil:
		f.stmts(ef.Decl.Body.Stmts)
	}
	return f.b.Finish()
}

func saysNext(b *ast.Block) bool {
	found := false
	if b != nil {
		ast.Inspect(b, func(n ast.Node) bool {
			_, ok := n.(*ast.Next)
			found = found || ok
			return !found
		})
	}
	return found
}

// assigns reports whether b changes local v.
func assigns(b *ast.Block, in *elab.Info, v *elab.Local) bool {
	found := false
	ast.Inspect(b, func(n ast.Node) bool {
		ast.Assigned(n, func(x ast.Node) { found = found || in.Locs[x] == v })
		return !found
	})
	return found
}
