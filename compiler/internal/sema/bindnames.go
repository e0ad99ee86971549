package sema

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/internal/load"
	"github.com/gostap/gostap/compiler/source"
)

// read binds a name whose value is looked at.
func (b *binder) read(s *scope, n *ast.Name) {
	if b.isNil(s, n) {
		return
	}
	if l, g := b.lookup(s, n, n.Name, n.Span); g != nil {
		g.Read = true
	} else {
		l.Read = true
	}
}

// isNil reports whether n is Go's nil, beside a value of the traced program, and not a variable of the script.
func (b *binder) isNil(s *scope, n *ast.Name) bool {
	x, ok := s.in.Nils[n]
	if !ok {
		return false
	}
	switch own := b.ownNil(s); {
	case own && x.Words:
		b.errorf(diag.TargetContext, n.Span, "nil is a variable of the script here, and %s is no number", x.X).
			Hintf("give the variable another name, so that nil is Go's")
		return true
	case own:
		return false
	case x.Why != "":
		b.errorf(diag.TargetContext, n.Span, "%s is never nil: %s", x.X, x.Why).
			Hintf("pointers, interfaces, maps, slices, channels and functions of Go can be nil")
		s.local(n.Name, n.Span).Written = true
		return false // of any type, so that this is all there is to say
	}
	s.in.Const[n] = 0
	return true
}

// ownNil reports whether the script has a variable named nil where s is.
func (b *binder) ownNil(s *scope) bool {
	if s.names["nil"] != nil || b.findGlobal(s, "nil") != nil {
		return true
	}
	own := false
	look := func(n ast.Node) bool {
		ast.Assigned(n, func(x ast.Node) {
			switch x := x.(type) {
			case *ast.Name:
				own = own || x.Name == "nil"
			case *ast.Ident:
				own = own || x.Name == "nil"
			}
		})
		return true
	}
	if s.fn != nil {
		ast.Inspect(s.fn.Decl.Body, look)
	}
	if s.pr != nil {
		for _, body := range bodies(s.pr.Bodies) {
			ast.Inspect(body, look)
		}
	}
	return own
}

// write binds a name that gets a value.
func (b *binder) write(s *scope, n ast.Node, name string, at source.Span, also bool) {
	if l, g := b.lookup(s, n, name, at); g != nil {
		g.Written = true
		g.Read = g.Read || also
	} else {
		l.Written = true
		l.Read = l.Read || also
	}
}

// lookup finds a variable: a local that is known, a global, or a new local.
func (b *binder) lookup(s *scope, n ast.Node, name string, at source.Span) (*elab.Local, *elab.Global) {
	l := s.names[name]
	if l == nil {
		if g := b.findGlobal(s, name); g != nil {
			b.crossFile(s, g, at)
			eg := b.global(g)
			s.in.Globs[n] = eg
			return nil, eg
		}
		l = s.local(name, at)
	}
	s.in.Locs[n] = l
	return l, nil
}

// findGlobal finds a global by its name, nil if there is none. The blocks of an alias
// are one with the probe that uses it, so they see the globals of both files.
func (b *binder) findGlobal(s *scope, name string) *load.Global {
	g := b.lib.Global(name, s.file)
	if g == nil && s.home != nil && s.home != s.file {
		g = b.lib.Global(name, s.home)
	}
	return g
}

// array binds the name of an array that is indexed by n keys; nil after an error.
func (b *binder) array(s *scope, id *ast.Ident, n int) *elab.Global {
	if n > 9 {
		b.errorf(diag.TooManyKeys, id.Span, "%s has %d keys; an array can have 9 at most", id.Name, n)
	}
	g := b.findGlobal(s, id.Name)
	if l := s.names[id.Name]; l != nil && l.Param || g == nil {
		d := b.errorf(diag.UnresolvedArray, id.Span, "no global array is named %s", id.Name)
		switch near := b.nearGlobal(id.Name, s.file); {
		case l != nil && l.Param:
			d.Message = "the parameter " + id.Name + " is no array; only globals can be arrays"
		case l != nil:
			d.Message = "the local variable " + id.Name + " is no array; only globals can be arrays"
		case near != "":
			d.Hintf("%s", near)
		default:
			d.Hintf("declare it outside of the probes: global %s", id.Name)
		}
		return nil
	}
	b.crossFile(s, g, id.Span)
	eg := b.global(g)
	s.in.Globs[id] = eg
	return eg
}

// crossFile warns, once, where a library that somebody else wrote uses a global of the script: it may have meant a
// variable of its own. Of the library that is built in these are aliases, whose blocks are one with the script's.
func (b *binder) crossFile(s *scope, g *load.Global, at source.Span) {
	if s.file == nil || s.file.User || !g.File.User || b.crossed[g] == s.file {
		return
	}
	if s.file.Builtin {
		if b.crossed[g] == nil {
			b.ds.Warnf(diag.Semantic, diag.AliasGlobal, g.Decl.Name.Span,
				"%s is also the name of a variable of the alias %s, which is this global now", g.Decl.Name.Name,
				s.alias()).
				Note(at, "the alias uses it here").
				Hintf("if that is not meant, give the global another name")
		}
		b.crossed[g] = s.file
		return
	}
	b.crossed[g] = s.file
	b.ds.Warnf(diag.Semantic, diag.CrossFile, at, "the library uses the global %s of the script here",
		g.Decl.Name.Name).
		Note(g.Decl.Name.Span, "the script declares it").
		Hintf("if a local variable of the library is meant, give the global another name")
}

// alias is the name by which the probe of s came to the library's blocks.
func (s *scope) alias() string {
	if s.pr != nil && len(s.pr.Sites) > 0 {
		return s.pr.Sites[0].Alias
	}
	return "that is used"
}

// nearGlobal offers globals that are like name, "" if there are none.
func (b *binder) nearGlobal(name string, from *load.File) string {
	near := diag.Nearest(name, b.lib.GlobalNames(from), 3)
	if len(near) == 0 {
		return ""
	}
	return "did you mean " + strings.Join(near, ", ") + "?"
}

// global gives the program's variable for a declaration, which it adds when it is
// reached for the first time.
func (b *binder) global(g *load.Global) *elab.Global {
	if eg := b.globals[g]; eg != nil {
		return eg
	}
	d := g.Decl
	eg := &elab.Global{Decl: d, Name: b.unique(b.globNames, d.Name.Name, g.File), Arity: -1, Init: d.Init,
		User: g.File.User}
	b.globals[g] = eg
	b.p.Globals = append(b.p.Globals, eg)
	if d.Init != nil {
		eg.Arity, eg.Type = 0, literalType(d.Init)
	}
	if g.File.User || !g.Private {
		b.initial(eg)
	}
	if !g.File.User && b.o.Expand != nil {
		for _, pr := range b.lib.Touching(g) {
			eps, ds := b.o.Expand(pr)
			b.ds = append(b.ds, ds...)
			b.p.Probes = append(b.p.Probes, eps...)
		}
	}
	return eg
}

// unique makes a name that is not taken: the plain one if it is free, else one with
// the file in it.
func (b *binder) unique(taken map[string]bool, name string, f *load.File) string {
	if !taken[name] {
		taken[name] = true
		return name
	}
	base := name + "__" + f.Stem()
	full := base
	for i := max(2, b.suffix[base]); taken[full]; i++ {
		full = base + strconv.Itoa(i)
		b.suffix[base] = i + 1
	}
	taken[full] = true
	return full
}

// forget drops the globals that nothing mentions.
func (b *binder) forget() {
	kept := b.p.Globals[:0]
	for _, g := range b.p.Globals {
		if g.Read || g.Written {
			kept = append(kept, g)
		}
	}
	clear(b.p.Globals[len(kept):])
	b.p.Globals = kept
}

// initial gives a global the value of -G, if there is one.
func (b *binder) initial(g *elab.Global) {
	name := g.Decl.Name.Name
	text, ok := b.o.Init[name]
	if !ok {
		return
	}
	b.initialised[name] = true
	lit := &ast.Literal{Place: g.Decl.Name.Place, IsString: true, Str: text}
	if n, err := strconv.ParseInt(text, 0, 64); err == nil && (g.Decl.Init == nil || !g.Decl.Init.IsString) {
		lit = &ast.Literal{Place: g.Decl.Name.Place, Num: n, Text: text}
	}
	if old := g.Decl.Init; old != nil && old.IsString != lit.IsString {
		b.errorf(diag.InitialValue, g.Decl.Name.Span, "-G %s=%s: %s is a number", name, text, name)
		return
	}
	g.Init, g.Arity, g.Type = lit, 0, literalType(lit)
}

// uninitialised tells of values of -G for which there is no global.
func (b *binder) uninitialised() {
	var names []string
	for _, g := range b.p.Globals {
		names = append(names, g.Decl.Name.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(b.o.Init)) {
		if b.initialised[name] {
			continue
		}
		d := b.errorf(diag.InitialValue, source.Span{}, "-G %s=%s: the script has no global named %s", name,
			b.o.Init[name], name)
		if near := diag.Nearest(name, names, 1); len(near) > 0 {
			d.Hintf("did you mean %s?", near[0])
		}
	}
}
