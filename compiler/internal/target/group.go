// Package target resolves the target expressions of probe bodies ($x->a, @cast, @var,
// @entry, $$vars, ...) at the sites that fire them.
//
// In: an expanded probe with its sites. Out: elab.Probes, each with the sites at which
// all of its target expressions mean the same location programs; and the value of
// every @defined. The programs are symbolic (package loc); nothing is read.
package target

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/internal/given"
	"github.com/gostap/gostap/compiler/internal/skip"
	"github.com/gostap/gostap/compiler/layout"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/source"
)

// Env is what resolving needs from its surroundings.
type Env struct {
	// Image opens a program named by @cast or @var.
	Image func(path string) (debuginfo.Image, error)
	// Images lists the programs that the script's probes lie in.
	Images func() []debuginfo.Image
	// Headers gives the types of C headers, "<sys/un.h>"; nil where none can be had.
	Headers func(names string) (debuginfo.Image, error)
	// Kernel opens the kernel's types ("") or those of one of its modules; nil if there is no kernel to ask.
	Kernel func(module string) (debuginfo.Image, error)

	// Global says whether a name means a global variable in a block.
	Global func(name string, in *ast.Block) bool

	// Vectors says that handlers can read vector registers.
	Vectors bool
	// Limits bound the text of values.
	Limits layout.Limits

	entries map[entryKey]*probe.Site
	enters  map[*probe.Site]*probe.Site
}

type entryKey struct {
	img debuginfo.Image
	fn  *debuginfo.Func
	pid int
	// target and exe limit the site to processes as pid does.
	target bool
	exe    string
	// callers is probe.Site.CallersKey.
	callers string
}

func (e *Env) image(path string) (debuginfo.Image, error) {
	if e.Image == nil {
		return nil, fmt.Errorf("no reader of debug information")
	}
	return e.Image(path)
}

// only is the one program that the script probes, nil if there are none or several.
func (e *Env) only() debuginfo.Image {
	if e.Images == nil {
		return nil
	}
	if imgs := e.Images(); len(imgs) == 1 {
		return imgs[0]
	}
	return nil
}

// entry makes the site of the entry of the function that s returns from.
func (e *Env) entry(s *probe.Site) (*probe.Site, error) {
	if s.Kind.Class() == probe.Syscall {
		return e.enter(s)
	}
	fn := s.At.Func
	if s.Image == nil || fn == nil {
		return nil, fail("the function that returns here is not known")
	}
	key := entryKey{s.Image, fn, s.Program.PID, s.Program.Target, s.Program.Exe, s.CallersKey()}
	if es := e.entries[key]; es != nil {
		return es, nil
	}
	at, err := s.Image.EntrySite(fn)
	if err != nil {
		return nil, err
	}
	if at.Insn == debuginfo.InsnRefused && !s.Kind.InKernel() {
		return nil, fail("the kernel allows no probe on the function's first instruction, at %#x (a breakpoint, a "+
			"lock prefix, or a vector instruction)", at.PC)
	}
	off, err := s.Image.FileOffset(at.PC)
	if err != nil {
		return nil, err
	}
	es := *s
	es.Kind, es.At = s.Kind.Entry(), at
	if s.Kind.InKernel() {
		es.Kernel.MaxActive = 0 // by the same symbol
	} else {
		es.Program.Offset = off
	}
	es.Point += " (entry)"
	es.Callers = nil
	ways := s.Callers
	if s.Kind.InKernel() || s.Kind.Trampoline() && at.PC != fn.Entry {
		ways = nil // the return probe may have put its own address on the stack by then: values are kept of all calls
	}
	for _, w := range ways { // the same calls; where the address is, differs
		entered := slices.Clone(w)
		for i := range entered {
			entered[i].Return = at.Return
		}
		es.Callers = append(es.Callers, entered)
	}
	if e.entries == nil {
		e.entries = map[entryKey]*probe.Site{}
	}
	e.entries[key] = &es
	return &es, nil
}

// Handler is an expanded probe, not yet resolved.
type Handler struct {
	Decl   *ast.Probe
	Req    probe.Request
	Sites  []*probe.Site
	Bodies []*ast.Block
	Cond   ast.Expr
	User   bool
}

// Probes resolves the target expressions of h at every site and makes one elab.Probe for
// all sites that agree. Expressions that do not resolve carry the reason; it is an error
// if they are used. Inlined copies and tail jumps at which a used expression does not
// resolve are left out with a warning, as long as another site remains; so are functions that a wildcard
// found and of whose variables nothing is known.
func (e *Env) Probes(h *Handler) ([]*elab.Probe, diag.List) {
	var ds diag.List
	make := func(sites []*probe.Site) *elab.Probe {
		p := &elab.Probe{Decl: h.Decl, Req: h.Req, Sites: sites, Bodies: h.Bodies, Cond: h.Cond, User: h.User}
		p.Info.Init()
		return p
	}
	if !hasTargets(h.Bodies) {
		p := make(h.Sites)
		p.Marks = e.marks(h, p)
		return []*elab.Probe{p}, nil
	}
	type group struct {
		p    *elab.Probe
		bad  *diag.Diagnostic
		soft bool // every site of it may be left out
		// undescribed: since nothing is known about the variables of its functions.
		undescribed bool
		seen        map[*probe.Site]bool
	}
	groups := map[string]*group{}
	var order []*group
	good := false
	for _, s := range h.Sites {
		r := &resolver{env: e, site: s, outside: "this kind of probe is at no place of a program, so it has no " +
			"variables (the arguments of the script are $1, @1)", names: given.Of(h.Bodies, nil, e.Global)}
		w := newWalker(r)
		for _, b := range h.Bodies {
			w.walk(b)
		}
		key := w.key.String()
		g := groups[key]
		if g == nil {
			g = &group{p: make(nil), bad: w.bad, soft: true, seen: map[*probe.Site]bool{}}
			g.p.Info.Targets, g.p.Info.Const, g.p.Info.Nils = w.targets, w.consts, w.nils
			groups[key] = g
			order = append(order, g)
		}
		g.p.Sites = append(g.p.Sites, s)
		tail := s.Kind.InUser() && !s.Kind.Returns() &&
			(s.At.Kind == debuginfo.AtInline || s.At.Kind == debuginfo.AtTail || wrapper(s) != "")
		if g.soft = g.soft && (tail || w.bad != nil && undescribed(h.Req, s)); g.soft && !tail {
			g.undescribed = true
		}
		if r.entry != nil && !g.seen[r.entry] {
			g.seen[r.entry] = true
			g.p.Entry = append(g.p.Entry, r.entry)
		}
		good = good || w.bad == nil
	}
	var out []*elab.Probe
	failed := false
	var left leftOut
	for _, g := range order {
		switch {
		case g.bad == nil:
			out = append(out, g.p)
		case g.soft && good && g.undescribed:
			left.addUndescribed(g.p.Sites, g.bad)
		case g.soft && good:
			left.add(g.p.Sites, g.bad)
		case !failed:
			// One failing group speaks for all: the others would say the same of other functions.
			failed = true
			out = append(out, g.p)
		}
	}
	left.report(&ds, h)
	if len(out) == 1 && !failed {
		out[0].Marks = e.marks(h, out[0])
	}
	return out, ds
}

// leftOut gathers the sites at which a handler cannot run.
type leftOut struct {
	tails, inlines, wrappers          map[string]bool
	whyTails, whyInlines, whyWrappers string
	unknown                           map[string]bool // functions without a description
	whyUnknown                        string
}

// wrapper is the compiler's name of the code at s, where the function's body is in a wrapper.
func wrapper(s *probe.Site) string {
	if s.At.Func == nil {
		return ""
	}
	return s.At.Func.Wrapper
}

// wild reports whether a wildcard names the functions or lines of a request.
func wild(req probe.Request) bool {
	for _, c := range req.Comps {
		if (c.Name == "function" || c.Name == "statement") && c.Arg != nil && c.Arg.IsString &&
			strings.ContainsAny(c.Arg.Str, "*?[") {
			return true
		}
	}
	return false
}

// undescribed reports whether a wildcard found the function of s and the debug information has nothing about its
// variables.
func undescribed(req probe.Request, s *probe.Site) bool {
	if s.Image == nil || !s.Kernel.Wild && !wild(req) {
		return false
	}
	_, err := s.Image.Vars(s.At)
	return errors.Is(err, debuginfo.ErrUndescribed)
}

func (l *leftOut) addUndescribed(sites []*probe.Site, why *diag.Diagnostic) {
	if l.unknown == nil {
		l.unknown, l.whyUnknown = map[string]bool{}, why.Message
		if len(why.Notes) > 0 {
			l.whyUnknown = why.Notes[0].Text
		}
	}
	for _, s := range sites {
		l.unknown[s.Func] = true
	}
}

func (l *leftOut) add(sites []*probe.Site, why *diag.Diagnostic) {
	for _, s := range sites {
		if s.At.Kind == debuginfo.AtTail {
			if l.tails == nil {
				l.tails, l.whyTails = map[string]bool{}, why.Message
			}
			l.tails[s.Func] = true
		} else if in := s.At.Inline; in != nil {
			if l.inlines == nil {
				l.inlines, l.whyInlines = map[string]bool{}, why.Message
			}
			l.inlines[fmt.Sprintf("%s at %s:%d", s.Func, in.CallFile, in.CallLine)] = true
		} else if w := wrapper(s); w != "" {
			if l.wrappers == nil {
				l.wrappers, l.whyWrappers = map[string]bool{}, why.Message
			}
			l.wrappers[w] = true
		}
	}
}

func (l *leftOut) report(ds *diag.List, h *Handler) {
	if n := len(l.unknown); n > 0 {
		are := "is"
		if n > 1 {
			are = "are"
		}
		ds.Warnf(diag.Semantic, CodeLeftOut, h.Req.Span, "%s: %s %s left out, the variables there are not known", h.Req,
			list(l.unknown), are).
			Note(source.Span{}, "%s", l.whyUnknown).Hintf("test with @defined to handle them without variables")
	}
	if len(l.tails) > 0 {
		warnTails(ds, h.Req, l.tails, l.whyTails)
	}
	if len(l.wrappers) > 0 {
		ds.Warnf(diag.Semantic, CodeInlineOut, h.Req.Span,
			"calls through code that the compiler made are left out (%s)", list(l.wrappers)).
			Note(source.Span{}, "%s", l.whyWrappers).Hintf("test with @defined to handle them without variables")
	}
	if len(l.inlines) > 0 {
		ds.Warnf(diag.Semantic, CodeInlineOut, h.Req.Span, "%d inlined copies are left out (%s)", len(l.inlines),
			list(l.inlines)).
			Note(source.Span{}, "%s", l.whyInlines).Hintf(
			".call leaves all inlined copies out; @defined tells them apart")
	}
}

func warnTails(ds *diag.List, req probe.Request, of map[string]bool, why string) {
	ds.Warnf(diag.Semantic, CodeTail, req.Span, "returns by a jump to another function are left out (%s)", list(of)).
		Note(source.Span{}, "%s", why).Hintf("test with @defined to handle them without results")
}

// WarnTails says that the returns of some functions by a jump to another function are left out, since a handler
// asks for the result.
func WarnTails(ds *diag.List, req probe.Request, of []string) {
	set := map[string]bool{}
	for _, f := range of {
		set[f] = true
	}
	warnTails(ds, req, set, errTail.Error())
}

func list(set map[string]bool) string {
	const show = 3
	names := sorted(set)
	if len(names) > show {
		return strings.Join(names[:show], ", ") + fmt.Sprintf(" and %d more", len(names)-show)
	}
	return strings.Join(names, ", ")
}

// Func resolves the target expressions of a function, where only @cast and @var make sense.
func (e *Env) Func(f *elab.Func) diag.List {
	if f.Decl == nil || f.Decl.Body == nil {
		return nil
	}
	r := &resolver{env: e, outside: "variables of the traced program are known in probes only; pass them as arguments",
		names: given.Of([]*ast.Block{f.Decl.Body}, f.Decl.Params, e.Global)}
	w := newWalker(r)
	w.walk(f.Decl.Body)
	if f.Info.Targets == nil {
		f.Info.Init()
	}
	for k, t := range w.targets {
		f.Info.Targets[k] = t
	}
	for k, n := range w.consts {
		f.Info.Const[k] = n
	}
	f.Info.Nils = w.nils
	var ds diag.List
	for _, op := range w.returned {
		ds.Errorf(diag.Semantic, diag.TargetContext, op.Span, "whether there is a result is known in probes only").
			Hintf("pass @defined(returnval()) as an argument")
	}
	return ds
}

func hasTargets(bodies []*ast.Block) bool {
	found := false
	for _, b := range bodies {
		if b == nil {
			continue
		}
		ast.Inspect(b, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Target:
				found = true
			case *ast.Call:
				found = found || n.Fun.Name == skip.Call
			case *ast.AtOp:
				found = found || n.Name == "@defined" || IsTargetOp(n.Name)
			case *ast.Unary:
				found = found || n.Op == "&"
			}
			return !found
		})
	}
	return found
}

// Describe writes what a target resolved to.
func Describe(t *elab.Target) string {
	var b strings.Builder
	switch {
	case t.Err != nil:
		return "unresolved: " + t.Err.Message
	case len(t.Pretty) > 0:
		b.WriteString("text")
		for _, p := range t.Pretty {
			if p.Conv == 0 {
				fmt.Fprintf(&b, " %q", p.Lit)
				continue
			}
			fmt.Fprintf(&b, " %%%c{%s}", p.Conv, p.Value)
		}
	case t.Inner != nil:
		b.WriteString("an expression")
	default:
		fmt.Fprintf(&b, "%s {%s}", t.Type, t.Value)
		if !t.Len.Empty() {
			fmt.Fprintf(&b, " length {%s}", t.Len)
		}
	}
	if t.Ctype != nil && t.Ctype.Name != "" {
		b.WriteString(" " + t.Ctype.Name)
	}
	if t.AtEntry {
		b.WriteString(" at entry")
	}
	return b.String()
}
