// Package expand turns the probe points of a script into sites: it replaces aliases by
// what they stand for, multiplies out {a,b}, goes through wildcards over aliases, and
// decides ? and ! by whether a point resolves.
//
// In: ast.Points, the aliases of script and library, a function that resolves plain
// requests (package family). Out: Items, each with its request, its sites and the bodies
// to run there: alias prologues, the probe's own body, alias epilogues.
package expand

import (
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/source"
)

// The kinds of diagnostics made here.
const (
	CodeAliasLoop diag.Code = "alias-loop"   // an alias stands for itself
	CodePoint     diag.Code = "probe-point"  // a point that cannot be read
	CodeNoAlias   diag.Code = "no-alias"     // a wildcard matches no alias
	CodeTooMany   diag.Code = "alias-growth" // braces and aliases multiply out without bounds
)

// Alias is one alias as it can be looked up: by its dotted name.
type Alias interface {
	// Dotted is the name, such as "syscall.open".
	Dotted() string
	// Decl is the declaration, parsed when first asked for; nil with errors if it does not parse.
	Decl() (*ast.Alias, diag.List)
}

// Env is what expansion needs from its surroundings.
type Env struct {
	// Aliases lists those whose names begin with the component first, or all that there are
	// when first holds a wildcard.
	Aliases func(first string) []Alias
	// Names lists the names of all aliases, for messages; may be nil.
	Names func() []string
	// Known reports whether a request is about a family of probe points, so that no alias is meant; may be nil.
	Known func(r probe.Request) bool
	// Forms lists the plain requests that one with wildcards in component names stands for, given
	// what matches a pattern; may be nil.
	Forms func(r probe.Request, match func(pat, name string) bool) []probe.Request
	// Resolve finds the sites of a plain request.
	Resolve func(probe.Request) ([]*probe.Site, diag.List)
	// Lacks says why probes of a kind cannot be had, nil if they can; may be nil.
	Lacks func(probe.Kind) *diag.Diagnostic
	// Library reports whether a place lies in the library; may be nil.
	Library func(source.Pos) bool
}

// Item is a request that resolved, with what is to be run there.
type Item struct {
	Req    probe.Request
	Sites  []*probe.Site
	Bodies []*ast.Block
	Cond   ast.Expr // nil if none
	// Alias is the name by which the script asked for it, "" if by the point itself.
	Alias string
}

// Bounds that no sensible script comes near.
const (
	maxDepth = 32
	maxItems = 20000
	// maxPoints bounds the points that are looked at on the way, whether or not anything is there.
	maxPoints = 3 * maxItems
)

// Probe expands the points of a probe around its body.
func (e *Env) Probe(points []*ast.Point, body *ast.Block) ([]*Item, diag.List) {
	x := &expander{env: e}
	ctx := context{}
	if body != nil {
		ctx.bodies = []*ast.Block{body}
	}
	items, _ := x.points(points, ctx)
	if x.ds.HasErrors() {
		return nil, x.ds
	}
	return items, x.ds
}

type expander struct {
	env   *Env
	ds    diag.List
	items int
	tries int // points looked at
	// lacked is why sites of the point at hand were left out.
	lacked *diag.Diagnostic
	full   bool // there were more than maxItems or maxPoints, or it goes too deep: no use to go on
}

// context is what the points that led here have laid down.
type context struct {
	bodies []*ast.Block
	cond   ast.Expr
	alias  string
	depth  int
	// open are the aliases being expanded.
	open []string
	// suffix is appended to every point.
	suffix []probe.Comp
	// optional: that nothing resolves is no error here.
	optional bool
	// may: the script says so itself, with ? or !.
	may bool
	// at is the point of the script's own probe, for messages.
	at source.Span
}

// points expands a comma list. found says whether any of it resolved; what went wrong with
// points that had to is in x.ds.
func (x *expander) points(points []*ast.Point, ctx context) (items []*Item, found bool) {
	for _, p := range points {
		if x.full {
			return nil, false
		}
		flat, ok := x.flatten(p.Comps)
		if !ok {
			return nil, false
		}
		c := ctx
		c.optional = ctx.optional || p.Optional || p.Sufficient
		c.may = ctx.may || p.Optional || p.Sufficient
		if len(ctx.open) == 0 {
			x.lacked = nil
		}
		c.cond = and(ctx.cond, p.Cond)
		if !c.at.From.IsValid() {
			c.at = p.Span
		}
		hit := false
		for _, f := range flat {
			fc := c
			fc.optional = c.optional || f.optional
			fc.may = c.may || f.optional
			its := x.point(probe.Request{
				Comps: append(f.comps, ctx.suffix...), Optional: p.Optional, Sufficient: p.Sufficient, Span: p.Span,
			}, fc)
			if len(its) > 0 {
				hit = true
				items = append(items, its...)
				if f.sufficient {
					break
				}
			}
		}
		found = found || hit
		if hit && p.Sufficient {
			break
		}
	}
	return items, found
}

// flat is a point without braces.
type flat struct {
	comps                []probe.Comp
	optional, sufficient bool
}

// flatten multiplies out brace groups.
func (x *expander) flatten(comps []*ast.Comp) ([]flat, bool) {
	out := []flat{{}}
	for _, c := range comps {
		var alts []flat
		if c.Group == nil {
			alts = []flat{{comps: []probe.Comp{{Name: c.Name, Arg: c.Arg, Span: c.Span}}}}
		}
		for _, g := range c.Group {
			inner, ok := x.flatten(g.Comps)
			if !ok {
				return nil, false
			}
			if g.Cond != nil {
				x.ds.Errorf(diag.Semantic, CodePoint, g.Span, "a condition inside of braces is not allowed").Hintf(
					"put it behind the whole probe point")
				return nil, false
			}
			for _, f := range inner {
				f.optional = f.optional || g.Optional || g.Sufficient
				f.sufficient = f.sufficient || g.Sufficient
				alts = append(alts, f)
			}
		}
		if len(out)*len(alts) > maxItems {
			x.ds.Errorf(diag.Semantic, CodeTooMany, c.Span, "the braces multiply out to more than %d probe points",
				maxItems)
			return nil, false
		}
		var next []flat
		for _, o := range out {
			for _, a := range alts {
				next = append(next, flat{
					comps:    append(append([]probe.Comp(nil), o.comps...), a.comps...),
					optional: o.optional || a.optional, sufficient: o.sufficient || a.sufficient,
				})
			}
		}
		out = next
	}
	return out, true
}

// point expands one plain request.
func (x *expander) point(req probe.Request, ctx context) []*Item {
	x.tries++
	switch {
	case x.full:
		return nil
	case ctx.depth > maxDepth:
		x.ds.Errorf(diag.Semantic, CodeAliasLoop, req.Span, "aliases are nested more than %d deep", maxDepth)
		x.full = true
		return nil
	case x.items > maxItems:
		x.ds.Errorf(diag.Semantic, CodeTooMany, req.Span, "the script expands to more than %d probes", maxItems)
		x.full = true
		return nil
	case x.tries > maxPoints:
		x.ds.Errorf(diag.Semantic, CodeTooMany, req.Span, "more than %d probe points stand behind this one", maxPoints)
		x.full = true
		return nil
	}
	// stap's name of those that it finds by debug information
	if len(req.Comps) > 1 && req.Comps[0].Name == "dw_syscall" {
		if ctx.alias == "" && !wildName(req) {
			ctx.alias = req.String()
		}
		req.Comps = slices.Clone(req.Comps)
		req.Comps[0].Name = "syscall"
	}
	ms := x.match(req)
	var forms []probe.Request
	if wildName(req) && x.env.Forms != nil {
		forms = slices.DeleteFunc(x.env.Forms(req, glob), func(f probe.Request) bool {
			// A family may take the pattern as it is.
			return dotted(f) == dotted(req) || slices.ContainsFunc(ms, func(m aliasMatch) bool {
				return len(m.suffix) == 0 && m.alias.Dotted() == dotted(f)
			})
		})
	}
	switch {
	case len(ms) > 0 && len(forms) > 0:
		return x.both(req, ms, forms, ctx)
	case len(ms) > 0:
		return x.aliases(req, ms, ctx)
	case len(forms) > 0:
		return x.forms(req, forms, ctx)
	}
	if wild(req.Comps[0].Name) {
		return x.fail(ctx, diag.List{{
			Severity: diag.Error, Phase: diag.Semantic, Code: CodeNoAlias, Span: req.Span,
			Message: "no probe point or alias has a name like " + req.String(),
		}})
	}
	sites, ds := x.env.Resolve(req)
	if ctx.optional && x.env.Lacks != nil && len(sites) > 0 {
		sites = slices.DeleteFunc(sites, func(s *probe.Site) bool {
			d := x.env.Lacks(s.Kind)
			if d != nil {
				x.lacked = d
			}
			return d != nil
		})
		if len(sites) == 0 {
			return nil
		}
	}
	if len(sites) == 0 {
		if !ctx.optional && x.env.Names != nil && x.env.Known != nil && len(ds) > 0 && !x.env.Known(req) {
			if near := diag.Nearest(req.String(), x.env.Names(), 3); len(near) > 0 {
				ds[0].Hintf("did you mean %s?", strings.Join(near, ", "))
			}
		}
		return x.fail(ctx, ds)
	}
	x.ds.AddAll(ds)
	x.items++
	name := ctx.alias
	if name == "" {
		name = req.String()
	}
	for _, s := range sites {
		s.Alias = name
		s.Optional = ctx.may
	}
	return []*Item{{Req: req, Sites: sites, Bodies: ctx.bodies, Cond: ctx.cond, Alias: ctx.alias}}
}

// wildName reports whether a component's name holds a wildcard.
func wildName(req probe.Request) bool {
	for _, c := range req.Comps {
		if wild(c.Name) {
			return true
		}
	}
	return false
}

// forms expands the points that a request with wildcards stands for. What one of them does not find,
// another may.
func (x *expander) forms(req probe.Request, forms []probe.Request, ctx context) []*Item {
	each := ctx
	each.optional = true
	var items []*Item
	for _, f := range forms {
		items = append(items, x.point(f, each)...)
	}
	if len(items) == 0 {
		return x.fail(ctx, diag.List{{
			Severity: diag.Error, Phase: diag.Semantic, Code: CodeNoAlias, Span: req.Span,
			Message: "no match for " + req.String() + ": nothing that it stands for is there",
		}})
	}
	return items
}

// both expands the aliases and the points that a request with wildcards stands for.
func (x *expander) both(req probe.Request, ms []aliasMatch, forms []probe.Request, ctx context) []*Item {
	each := ctx
	each.optional = true
	items := append(x.aliases(req, ms, each), x.forms(req, forms, each)...)
	if len(items) == 0 {
		return x.forms(req, nil, ctx)
	}
	return items
}

// dotted gives the names of req's components, without arguments.
func dotted(req probe.Request) string {
	names := make([]string, len(req.Comps))
	for i, c := range req.Comps {
		names[i] = c.Name
	}
	return strings.Join(names, ".")
}

// fail reports ds unless the point is optional.
func (x *expander) fail(ctx context, ds diag.List) []*Item {
	if ctx.optional {
		return nil
	}
	if x.lacked != nil { // something was there
		d := *x.lacked
		d.Span = ctx.at
		x.lacked, ds = nil, diag.List{&d}
	}
	for _, d := range ds {
		x.ds.Add(x.blame(d, ctx))
	}
	return nil
}

// blame says by which point of the script's own d was come to. What lies in the library is told there, since the user
// knows that line and can change it.
func (x *expander) blame(d *diag.Diagnostic, ctx context) *diag.Diagnostic {
	switch {
	case len(ctx.open) == 0 || !ctx.at.From.IsValid() || ctx.at == d.Span:
		return d
	case x.env.Library != nil && x.env.Library(d.Span.From) && !x.env.Library(ctx.at.From):
		inner, notes := d.Span, d.Notes
		d.Span, d.Notes = ctx.at, nil
		d.Note(inner, diag.WithinText)
		d.Notes = append(d.Notes, notes...)
		return d
	}
	return d.Note(ctx.at, "in the expansion of the alias %s", ctx.open[0])
}

// aliasMatch is an alias that a request names, with the components behind its name.
type aliasMatch struct {
	alias  Alias
	n      int // components of the name
	suffix []probe.Comp
	wild   bool
}

func wild(s string) bool { return strings.Contains(s, "*") }

// match finds the aliases that req names: those whose whole name its first components match.
// Where a name needs a suffix and another name holds it, the longer one counts.
func (x *expander) match(req probe.Request) []aliasMatch {
	if x.env.Aliases == nil || len(req.Comps) == 0 {
		return nil
	}
	var all []aliasMatch
	for _, a := range x.env.Aliases(req.Comps[0].Name) {
		n, w := matches(req.Comps, a.Dotted())
		if n > 0 {
			all = append(all, aliasMatch{a, n, req.Comps[n:], w})
		}
	}
	var out []aliasMatch
	for _, m := range all {
		longer := false
		for _, o := range all {
			if len(m.suffix) > 0 && strings.HasPrefix(o.alias.Dotted(), m.alias.Dotted()+".") {
				longer = true
			}
		}
		if !longer {
			out = append(out, m)
		}
	}
	return out
}

// matches reports how many components of comps the dotted name takes up, 0 if they do not
// match. * stands for a part of one component, ** for any text: what follows it belongs to the name if it can.
func matches(comps []probe.Comp, name string) (n int, wildcard bool) {
	var pat strings.Builder
	for i, c := range comps {
		if c.Arg != nil {
			return 0, false // aliases take no arguments
		}
		if i > 0 {
			pat.WriteByte('.')
		}
		pat.WriteString(c.Name)
		wildcard = wildcard || wild(c.Name)
		if !glob(pat.String(), name) {
			continue
		}
		if n = i + 1; !strings.Contains(pat.String(), "**") {
			break
		}
	}
	return n, n > 0 && wildcard
}

// glob matches * within a component and ** across them. It keeps the set of places in s that
// the pattern so far can end at, so that no pattern takes long.
func glob(pat, s string) bool {
	at := make([]bool, len(s)+1)
	at[0] = true
	for len(pat) > 0 {
		next := make([]bool, len(s)+1)
		if pat[0] != '*' {
			for i := range len(s) {
				next[i+1] = at[i] && s[i] == pat[0]
			}
			pat = pat[1:]
		} else {
			deep := strings.HasPrefix(pat, "**")
			pat = strings.TrimLeft(pat, "*")
			for i := range at {
				next[i] = at[i] || i > 0 && next[i-1] && (deep || s[i-1] != '.')
			}
		}
		at = next
	}
	return at[len(s)]
}

// idle reports whether an alias stands for points that never fire: a wildcard has no use for it.
func idle(a *ast.Alias) bool {
	if a == nil || len(a.Points) != 1 {
		return false
	}
	c := a.Points[0].Comps
	return len(c) == 1 && c[0].Name == "never"
}

// aliases expands the aliases that a request names.
func (x *expander) aliases(req probe.Request, ms []aliasMatch, ctx context) []*Item {
	var items []*Item
	before := len(x.ds)
	seen := map[*ast.Alias]bool{}
	for _, m := range ms {
		name := m.alias.Dotted()
		if has(ctx.open, name) {
			x.ds.Errorf(diag.Semantic, CodeAliasLoop, req.Span, "the alias %s stands for itself", name).
				Note(ctx.at, "by way of %s", strings.Join(append(ctx.open, name), ", "))
			return nil
		}
		decl, ds := m.alias.Decl()
		if m.wild && idle(decl) {
			continue
		}
		x.ds.AddAll(ds)
		if decl == nil || m.wild && seen[decl] {
			continue // a wildcard takes one of several names of an alias
		}
		seen[decl] = true
		c := ctx
		c.depth++
		c.open = append(append([]string(nil), ctx.open...), name)
		c.suffix = m.suffix
		if c.alias == "" {
			c.alias = name
			for _, s := range m.suffix {
				c.alias += "." + s.String()
			}
		}
		// What one of many aliases does not find, another may.
		c.optional = ctx.optional || m.wild
		c.bodies = nil
		if decl.Prologue != nil {
			c.bodies = append(c.bodies, decl.Prologue)
		}
		c.bodies = append(c.bodies, ctx.bodies...)
		if decl.Epilogue != nil {
			c.bodies = append(c.bodies, decl.Epilogue)
		}
		its, _ := x.points(decl.Points, c)
		items = append(items, its...)
	}
	if len(items) == 0 && len(x.ds) == before && !ctx.optional {
		x.fail(ctx, diag.List{{
			Severity: diag.Error, Phase: diag.Semantic, Code: CodeNoAlias, Span: req.Span,
			Message: "no match for " + req.String() + ": nothing that it stands for is there",
		}})
	}
	return items
}

func has(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}

// and joins two conditions, each of which may be absent.
func and(a, b ast.Expr) ast.Expr {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return &ast.Binary{Place: ast.Place{Span: b.Range()}, Op: "&&", X: a, Y: b}
}
