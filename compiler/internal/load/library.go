package load

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/foreign"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/grammar"
	"github.com/gostap/gostap/tapsets"
)

// libFile is a library file of which only the index was read.
type libFile struct {
	file    *File
	read    func() ([]byte, error)
	entries []grammar.Entry
	src     *source.File // nil until something of it is wanted
	decls   map[int]ast.Decl
	holds   map[int]bool
	funcs   map[int]*Function
	globals map[*ast.Global]*Global
	private map[string][]int // the entries that are private, by name; see privates
	// blind is set when the references of entries are not known.
	blind bool
}

// ref is one declaration of a library file.
type ref struct {
	f     *libFile
	entry int
}

func (r ref) e() *grammar.Entry { return &r.f.entries[r.entry] }

func newLibFile(name string, entries []grammar.Entry, read func() ([]byte, error)) *libFile {
	lf := &libFile{entries: entries, read: read}
	lf.file = &File{Name: name, lib: lf}
	return lf
}

func (l *Library) embed() {
	l.embedded = make([]*libFile, len(tapsets.Files))
}

// embeddedFile makes the i-th file of the embedded library known.
func (l *Library) embeddedFile(i int) *libFile {
	if l.embedded[i] == nil {
		f := &tapsets.Files[i]
		l.embedded[i] = newLibFile("tapsets/"+f.Name, f.Entries,
			func() ([]byte, error) { return tapsets.FS.ReadFile(f.Name) })
		l.embedded[i].file.Builtin = true
	}
	return l.embedded[i]
}

// dir indexes the library files of a directory and of its sub-folders for the kernel,
// architecture and runtime, the most special first.
func (l *Library) dir(d string) {
	st, err := os.Stat(d)
	if err == nil && !st.IsDir() {
		l.diags.Errorf(diag.Usage, diag.LibraryDir, source.Span{}, "-I %s: not a directory", d)
		return
	}
	if err != nil {
		l.diags.Errorf(diag.Usage, diag.LibraryDir, source.Span{}, "-I %s: %v", d, foreign.Reason(err))
		return
	}
	kept := openCache(&l.o, d)
	for _, sub := range l.subdirs() {
		dir := filepath.Join(d, sub)
		list, err := os.ReadDir(dir)
		if err != nil {
			if sub == "" {
				l.diags.Errorf(diag.Usage, diag.LibraryDir, source.Span{}, "-I %s: %v", d, foreign.Reason(err))
			}
			continue
		}
		for _, e := range list {
			if isLibraryFile(e.Name()) {
				l.file(filepath.Join(dir, e.Name()), kept)
			}
		}
	}
	kept.write()
}

// isLibraryFile reports whether name is that of a file of the library.
func isLibraryFile(name string) bool {
	return strings.HasSuffix(name, ".stp") || strings.HasSuffix(name, ".stpm")
}

// subdirs lists the sub-folders that hold library files: release, version and major
// version of the kernel, each with the architecture, the runtime, and the folder itself.
func (l *Library) subdirs() []string {
	c := &l.o.Cond
	var subs []string
	add := func(base string) {
		if c.Arch != "" {
			subs = append(subs, filepath.Join(base, c.Arch))
		}
		if base != "" {
			subs = append(subs, base)
		}
	}
	if k := c.Kernel; k != "" {
		add(k)
		if v, _, ok := strings.Cut(k, "-"); ok {
			add(v)
			k = v
		}
		if p := strings.SplitN(k, ".", 3); len(p) == 3 {
			add(p[0] + "." + p[1])
		}
	}
	switch c.Runtime {
	case "kernel":
		add("linux")
	case "bpf":
		add("bpf")
	}
	add("")
	return append(subs, "")
}

// file indexes one file of a directory.
func (l *Library) file(path string, kept *cache) {
	st, err := os.Stat(path)
	var x *fileIndex
	if err == nil {
		x, err = kept.index(path, st)
	}
	if err != nil {
		l.diags.Errorf(diag.Usage, diag.LibraryDir, source.Span{}, "%s: %v", path, foreign.Reason(err))
		return
	}
	lf := newLibFile(path, x.entries, func() ([]byte, error) {
		text, err := foreign.ReadFile(path, grammar.MaxBytes)
		if err == nil && int64(len(text)) != x.size {
			err = errors.New("the file changes while it is read")
		}
		return text, foreign.Reason(err)
	})
	if !x.ok {
		l.unindexed = append(l.unindexed, lf)
		return
	}
	l.add(lf)
}

// add makes what an indexed file declares known.
func (l *Library) add(lf *libFile) {
	if l.names == nil {
		l.names = map[string][]ref{}
	}
	l.dirs = append(l.dirs, lf)
	for i := range lf.entries {
		for _, n := range lf.entries[i].Names {
			l.names[n] = append(l.names[n], ref{lf, i})
		}
	}
}

// leftover parses the files that cannot be indexed, now that the macros of all others are known. One with errors
// is left out with a warning: the script may well do without it.
func (l *Library) leftover() {
	for _, lf := range l.unindexed {
		before := l.diags
		l.diags = nil
		ok := l.whole(lf)
		ds := l.diags
		l.diags = before
		if ds.HasErrors() {
			d := ds[0]
			d.Severity = diag.Warning
			d.Message = "this library file is left out: " + d.Message
			l.diags = append(l.diags, d)
			continue
		}
		l.diags = append(l.diags, ds...)
		if ok {
			l.add(lf)
		}
	}
	l.unindexed = nil
}

// whole parses a file that cannot be indexed, and makes entries of what it holds.
func (l *Library) whole(lf *libFile) bool {
	if !l.open(lf) {
		return false
	}
	lf.entries, lf.private, lf.blind = nil, nil, true
	if strings.HasSuffix(lf.file.Name, ".stpm") {
		_, ds := grammar.ParseMacros(lf.src, l.options())
		l.diags = append(l.diags, ds...)
		return false // they are in the table now
	}
	tree, ds := grammar.Parse(lf.src, l.options())
	l.diags = append(l.diags, ds...)
	lf.decls = map[int]ast.Decl{}
	for _, d := range tree.Decls {
		e := grammar.Entry{}
		switch d := d.(type) {
		case *ast.Globals:
			e.Kind, e.Private = grammar.GlobalEntry, d.Private
			for _, v := range d.Vars {
				e.Names = append(e.Names, v.Name.Name)
			}
		case *ast.Function:
			e.Private, e.Names = d.Private, []string{d.Name.Name}
		case *ast.Probe:
			e.Kind = grammar.ProbeEntry
		case *ast.Alias:
			e.Kind = grammar.AliasEntry
			for _, n := range d.Names {
				var name []string
				for _, c := range n.Comps {
					name = append(name, c.Name)
				}
				e.Names = append(e.Names, strings.Join(name, "."))
			}
		case *ast.Embedded:
			e.Kind = grammar.EmbeddedEntry
		}
		l.ownDecl(d, lf.file)
		lf.decls[len(lf.entries)] = d
		lf.entries = append(lf.entries, e)
	}
	return true
}

func (l *Library) options() grammar.Options {
	return grammar.Options{Files: l.o.Files, Args: l.o.Args, Used: l.o.Used, Cond: l.o.Cond, Macros: l.macros,
		Library: true}
}

// open reads the text of a file.
func (l *Library) open(lf *libFile) bool {
	if lf.src != nil {
		return true
	}
	text, err := lf.read()
	if err != nil {
		l.diags.Errorf(diag.Semantic, diag.LibraryDir, source.Span{}, "%s: %v", lf.file.Name, err)
		return false
	}
	lf.src = l.o.Files.Add(lf.file.Name, text)
	lf.src.Library = true
	return true
}

// live reports whether the conditions around a declaration hold.
func (l *Library) live(r ref) bool {
	guards := r.e().Guards
	if len(guards) == 0 {
		return true
	}
	if h, ok := r.f.holds[r.entry]; ok {
		return h
	}
	if !l.open(r.f) {
		return false
	}
	h, ds := grammar.Holds(r.f.src, guards, r.f.entries, l.options())
	l.diags = append(l.diags, ds...)
	if r.f.holds == nil {
		r.f.holds = map[int]bool{}
	}
	r.f.holds[r.entry] = h
	return h
}

// decl parses a declaration, once; nil after an error.
func (l *Library) decl(lf *libFile, entry int) ast.Decl {
	if d, ok := lf.decls[entry]; ok {
		return d
	}
	if !l.open(lf) {
		return nil
	}
	d, ds := grammar.ParseDecl(lf.src, &lf.entries[entry], lf.entries, l.options())
	l.diags = append(l.diags, ds...)
	if ds.HasErrors() {
		d = nil
	}
	if lf.decls == nil {
		lf.decls = map[int]ast.Decl{}
	}
	lf.decls[entry] = d
	l.ownDecl(d, lf.file)
	return d
}

// ownDecl notes which file the bodies of a declaration stand in.
func (l *Library) ownDecl(d ast.Decl, f *File) {
	switch d := d.(type) {
	case *ast.Function:
		l.own(d.Body, f)
	case *ast.Probe:
		l.own(d.Body, f)
	case *ast.Alias:
		l.own(d.Prologue, f)
		l.own(d.Epilogue, f)
	}
}

// refs lists the public declarations of a name whose conditions hold: those of
// directories, then the embedded library's.
func (l *Library) refs(name string, kind grammar.Kind) []ref {
	var rs []ref
	take := func(r ref) {
		if e := r.e(); e.Kind == kind && !e.Private && l.live(r) {
			rs = append(rs, r)
		}
	}
	for _, r := range l.names[name] {
		take(r)
	}
	if l.embedded != nil {
		names := &tapsets.Names
		for i := sort.Search(len(names), func(i int) bool { return names[i].Name >= name }); i < len(names) &&
			names[i].Name == name; i++ {
			if names[i].Kind == kind {
				take(ref{l.embeddedFile(names[i].File), names[i].Entry})
			}
		}
	}
	if len(rs) == 0 {
		return l.systemRefs(name, kind)
	}
	return rs
}

func (l *Library) function(r ref) *Function {
	if f, ok := r.f.funcs[r.entry]; ok {
		return f
	}
	var f *Function
	if d, ok := l.decl(r.f, r.entry).(*ast.Function); ok {
		f = &Function{Decl: d, File: r.f.file, Priority: 1}
		if d.Priority != nil {
			f.Priority = int(d.Priority.Num)
		}
	}
	if r.f.funcs == nil {
		r.f.funcs = map[int]*Function{}
	}
	r.f.funcs[r.entry] = f
	return f
}

func (l *Library) global(r ref, name string) *Global {
	d, ok := l.decl(r.f, r.entry).(*ast.Globals)
	if !ok {
		return nil
	}
	for _, v := range d.Vars {
		if v.Name.Name != name {
			continue
		}
		g := r.f.globals[v]
		if g == nil {
			g = &Global{Decl: v, File: r.f.file, Private: d.Private}
			if r.f.globals == nil {
				r.f.globals = map[*ast.Global]*Global{}
			}
			r.f.globals[v] = g
		}
		return g
	}
	return nil
}

// privates lists the private entries of a name, in the order of the file.
func (lf *libFile) privates(name string) []int {
	if lf.private == nil {
		lf.private = map[string][]int{}
		for i := range lf.entries {
			if e := &lf.entries[i]; e.Private {
				for _, n := range e.Names {
					lf.private[n] = append(lf.private[n], i)
				}
			}
		}
	}
	return lf.private[name]
}

func (l *Library) privateFuncs(lf *libFile, name string) []*Function {
	var fs []*Function
	for _, i := range lf.privates(name) {
		if lf.entries[i].Kind == grammar.FunctionEntry && l.live(ref{lf, i}) {
			if f := l.function(ref{lf, i}); f != nil {
				fs = insert(fs, f)
			}
		}
	}
	return fs
}

func (l *Library) privateGlobal(lf *libFile, name string) *Global {
	for _, i := range lf.privates(name) {
		if lf.entries[i].Kind == grammar.GlobalEntry && l.live(ref{lf, i}) {
			return l.global(ref{lf, i}, name)
		}
	}
	return nil
}

// Touching gives the probes of a library global's file that mention it, each only
// once in the life of the library: they belong to the global, and whoever reaches it
// needs them (such as the probe that fills a table).
func (l *Library) Touching(g *Global) []*ast.Probe {
	lf := g.File.lib
	if lf == nil {
		return nil
	}
	var ps []*ast.Probe
	for i := range lf.entries {
		e, r := &lf.entries[i], ref{lf, i}
		if e.Kind != grammar.ProbeEntry || l.given[r] || !lf.blind && !slices.Contains(e.Refs, g.Decl.Name.Name) ||
			!l.live(r) {
			continue
		}
		if l.given == nil {
			l.given = map[ref]bool{}
		}
		l.given[r] = true
		if p, ok := l.decl(lf, i).(*ast.Probe); ok {
			ps = append(ps, p)
		}
	}
	return ps
}

func (l *Library) libAliases(first string) []*Alias {
	var as []*Alias
	take := func(r ref, name string) {
		comps := strings.Split(name, ".")
		if r.e().Kind != grammar.AliasEntry || !matches(first, comps[0]) || !l.live(r) {
			return
		}
		as = append(as, &Alias{Name: comps, File: r.f.file, l: l, entry: r.entry})
	}
	for _, lf := range l.dirs {
		for i := range lf.entries {
			for _, n := range lf.entries[i].Names {
				take(ref{lf, i}, n)
			}
		}
	}
	if l.embedded == nil {
		return l.systemAliases(first, as)
	}
	// Names are sorted, so those that begin alike stand together.
	prefix, _, _ := strings.Cut(first, "*")
	names := &tapsets.Names
	for i := sort.Search(len(names), func(i int) bool { return names[i].Name >= prefix }); i < len(names) &&
		strings.HasPrefix(names[i].Name, prefix); i++ {
		if n := &names[i]; n.Kind == grammar.AliasEntry {
			take(ref{l.embeddedFile(n.File), n.Entry}, n.Name)
		}
	}
	return l.systemAliases(first, as)
}

func (l *Library) publicNames(kind grammar.Kind) []string {
	var names []string
	for _, lf := range l.dirs {
		for i := range lf.entries {
			if e := &lf.entries[i]; e.Kind == kind && !e.Private {
				names = append(names, e.Names...)
			}
		}
	}
	if l.embedded != nil {
		for i := range tapsets.Names {
			n := &tapsets.Names[i]
			if n.Kind == kind && !tapsets.Files[n.File].Entries[n.Entry].Private {
				names = append(names, n.Name)
			}
		}
	}
	return names
}

// macroSource answers for macros of the library.
type macroSource Library

// Macro implements the source of grammar.MacroTable.
func (s *macroSource) Macro(name string) *grammar.Macro {
	l := (*Library)(s)
	// A condition around a macro may use macros, and so come back here.
	if l.holding > 50 {
		return nil
	}
	l.holding++
	defer func() { l.holding-- }()
	for _, r := range l.refs(name, grammar.MacroEntry) {
		if strings.HasSuffix(r.f.file.Name, ".stpm") && l.open(r.f) {
			return r.e().Macro(r.f.src)
		}
	}
	return nil
}

// Names implements the source of grammar.MacroTable.
func (s *macroSource) Names() []string { return (*Library)(s).publicNames(grammar.MacroEntry) }
