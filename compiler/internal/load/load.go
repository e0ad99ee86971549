// Package load finds declarations: those of the user's script, and lazily, one at a
// time, those of the library.
//
// In: parsed script files, the embedded library, -I directories. Out: functions,
// globals, aliases and macros by name, as they are seen from a given file. Of the
// library only an index is read up front; a declaration is parsed when it is asked for.
//
// Names resolve in this order: private declarations of the file that asks, the
// script's declarations, those of -I directories, the embedded library, the system's
// tapsets. Library files do not see the script's globals.
package load

import (
	"path"
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/grammar"
)

// Options say what the library is made of.
type Options struct {
	// Files takes the library files that are read.
	Files *source.FileSet
	// Cond answers conditions in library files.
	Cond grammar.Conditions
	// Args are the script's arguments, Used which of them were mentioned, as in grammar.Options.
	Args []string
	Used []bool
	// Dirs are the directories of -I, first one first.
	Dirs []string
	// Cache is the folder where the index of big folders is kept from one run to the next, "" to keep nothing.
	// CacheAnew writes there without looking at what is kept.
	Cache     string
	CacheAnew bool
	// System is the directory of the tapsets that other packages have installed, which is looked at for names that
	// nothing else has; "" for none.
	System string
	// NoEmbedded leaves out the embedded library.
	NoEmbedded bool
}

// File is where declarations come from.
type File struct {
	// Name is a path, or "<input>".
	Name string
	// User marks the script's own files; all others are the library's.
	User bool
	// Builtin marks the files of the embedded library, which is known to do no more than it says.
	Builtin bool

	priv scope    // of script files
	lib  *libFile // of library files
}

// Stem is the file's name without folders and ending, in letters, digits and _.
func (f *File) Stem() string {
	s := path.Base(f.Name)
	s = strings.TrimSuffix(s, path.Ext(s))
	return strings.Map(func(r rune) rune {
		if r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, s)
}

// Function is one overload of a function.
type Function struct {
	Decl *ast.Function
	File *File
	// Priority orders overloads, smaller first; equal ones go by order of appearance.
	// Without a written one it is 0 in the script and 1 in the library.
	Priority int
}

// Global is a global variable.
type Global struct {
	Decl    *ast.Global
	File    *File
	Private bool
}

// Alias is a probe alias under one of its names.
type Alias struct {
	// Name is its name as components, without arguments.
	Name []string
	File *File

	l     *Library
	decl  *ast.Alias
	entry int // in File.lib, when decl is nil
}

// Dotted is the name in one word, such as "syscall.open".
func (a *Alias) Dotted() string { return strings.Join(a.Name, ".") }

// Decl gives the declaration, which is parsed now if it was not before; nil with
// errors if it does not parse.
func (a *Alias) Decl() (*ast.Alias, diag.List) {
	if a.decl != nil {
		return a.decl, nil
	}
	before := a.l.diags
	a.l.diags = nil
	a.decl, _ = a.l.decl(a.File.lib, a.entry).(*ast.Alias)
	ds := a.l.diags
	a.l.diags = before
	return a.decl, ds
}

// scope holds declarations by name.
type scope struct {
	funcs   map[string][]*Function
	globals map[string]*Global
}

// addFunc keeps overloads in the order in which they are tried.
func (s *scope) addFunc(f *Function) {
	if s.funcs == nil {
		s.funcs = map[string][]*Function{}
	}
	name := f.Decl.Name.Name
	s.funcs[name] = insert(s.funcs[name], f)
}

func insert(fs []*Function, f *Function) []*Function {
	fs = append(fs, f)
	for i := len(fs) - 1; i > 0 && fs[i].Priority < fs[i-1].Priority; i-- {
		fs[i], fs[i-1] = fs[i-1], fs[i]
	}
	return fs
}

// addGlobal enters g and gives the one of that name that is there already.
func (s *scope) addGlobal(g *Global) *Global {
	if s.globals == nil {
		s.globals = map[string]*Global{}
	}
	if old := s.globals[g.Decl.Name.Name]; old != nil {
		return old
	}
	s.globals[g.Decl.Name.Name] = g
	return nil
}

// Library answers who is meant by a name.
type Library struct {
	o     Options
	diags diag.List

	// The script.
	user    scope
	script  *File
	globals []*Global
	funcs   []*Function
	probes  []*ast.Probe
	aliases []*Alias
	codes   []*ast.Embedded
	blocks  map[*ast.Block]*File

	// The library.
	macros   *grammar.MacroTable
	embedded []*libFile
	dirs     []*libFile
	// unindexed are files of directories that wait for leftover.
	unindexed []*libFile
	names     map[string][]ref // of dirs
	// systemFiles and systemNames are those of Options.System, once it was looked at.
	systemFiles []*libFile
	systemNames map[string][]ref
	found       map[string][]*Function
	foundG      map[string]*Global
	given       map[ref]bool
	holding     int // how many parses are in progress
}

// New reads the index of the embedded library and makes that of directories. The
// messages are about directories and files in them that cannot be read.
func New(o Options) (*Library, diag.List) {
	l := &Library{o: o, script: &File{User: true}, found: map[string][]*Function{}, foundG: map[string]*Global{}}
	if l.o.Files == nil {
		l.o.Files = new(source.FileSet)
	}
	l.macros = &grammar.MacroTable{Lazy: (*macroSource)(l)}
	if !o.NoEmbedded {
		l.embed()
	}
	for _, d := range o.Dirs {
		l.dir(d)
	}
	l.leftover()
	return l, l.TakeDiags()
}

// Macros are the macros of the library, for grammar.Options.
func (l *Library) Macros() *grammar.MacroTable { return l.macros }

// TakeDiags gives the messages that lazy reading has left since the last call.
func (l *Library) TakeDiags() diag.List {
	ds := l.diags
	l.diags = nil
	return ds
}

// AddScript enters a parsed file of the user's script.
func (l *Library) AddScript(f *ast.File) diag.List {
	file := &File{User: true}
	if f.Source != nil {
		file.Name = f.Source.Name
	}
	if l.script.Name == "" {
		l.script = file
	}
	clear(l.found)
	var ds diag.List
	for _, d := range f.Decls {
		l.enter(file, d, &ds)
	}
	return ds
}

func (l *Library) enter(file *File, d ast.Decl, ds *diag.List) {
	switch d := d.(type) {
	case *ast.Globals:
		for _, v := range d.Vars {
			g := &Global{Decl: v, File: file, Private: d.Private}
			s, other := &l.user, &file.priv
			if d.Private {
				s, other = other, s
			}
			if old := other.globals[v.Name.Name]; old != nil && old.File == file {
				ds.Errorf(diag.Semantic, diag.DuplicateGlobal, v.Name.Span,
					"the global %s is declared both private and not", v.Name.Name).
					Note(old.Decl.Name.Span, "it was declared here first")
				continue
			}
			if old := s.addGlobal(g); old != nil {
				ds.Errorf(diag.Semantic, diag.DuplicateGlobal, v.Name.Span, "the global %s is declared twice",
					v.Name.Name).
					Note(old.Decl.Name.Span, "it was declared here first")
				continue
			}
			l.globals = append(l.globals, g)
		}
	case *ast.Function:
		f := &Function{Decl: d, File: file}
		if d.Priority != nil {
			f.Priority = int(d.Priority.Num)
		}
		l.funcs = append(l.funcs, f)
		l.own(d.Body, file)
		if d.Private {
			file.priv.addFunc(f)
		} else {
			l.user.addFunc(f)
		}
	case *ast.Probe:
		l.probes = append(l.probes, d)
		l.own(d.Body, file)
	case *ast.Alias:
		l.own(d.Prologue, file)
		l.own(d.Epilogue, file)
		for _, n := range d.Names {
			var name []string
			for _, c := range n.Comps {
				name = append(name, c.Name)
			}
			l.aliases = append(l.aliases, &Alias{Name: name, File: file, l: l, decl: d})
		}
	case *ast.Embedded:
		l.codes = append(l.codes, d)
	}
}

// own notes which file a block stands in.
func (l *Library) own(b *ast.Block, f *File) {
	if b == nil {
		return
	}
	if l.blocks == nil {
		l.blocks = map[*ast.Block]*File{}
	}
	l.blocks[b] = f
}

// BlockFile is the file that the body of a probe, alias or function stands in. For
// blocks that did not come through the library it is the script.
func (l *Library) BlockFile(b *ast.Block) *File {
	if f := l.blocks[b]; f != nil {
		return f
	}
	return l.script
}

// UserGlobals, UserFunctions, UserProbes and UserCode are the script's declarations
// in the order of the text.
func (l *Library) UserGlobals() []*Global     { return l.globals }
func (l *Library) UserFunctions() []*Function { return l.funcs }
func (l *Library) UserProbes() []*ast.Probe   { return l.probes }
func (l *Library) UserCode() []*ast.Embedded  { return l.codes }

// CodeOf gives the C at the top level of a library file, in the order of the text.
func (l *Library) CodeOf(f *File) []*ast.Embedded {
	if f.lib == nil {
		return nil
	}
	var cs []*ast.Embedded
	for i := range f.lib.entries {
		if f.lib.entries[i].Kind != grammar.EmbeddedEntry || !l.live(ref{f.lib, i}) {
			continue
		}
		if c, ok := l.decl(f.lib, i).(*ast.Embedded); ok {
			cs = append(cs, c)
		}
	}
	return cs
}

// Functions gives the overloads of a name as seen from a file, in the order in which
// they are tried. Private ones of the file hide all others that take as many arguments.
func (l *Library) Functions(name string, from *File) []*Function {
	var own []*Function
	if from != nil {
		own = from.priv.funcs[name]
		if own == nil && from.lib != nil {
			own = l.privateFuncs(from.lib, name)
		}
	}
	if own == nil {
		return l.public(name)
	}
	hidden := map[int]bool{}
	for _, f := range own {
		hidden[len(f.Decl.Params)] = true
	}
	fs := slices.Clone(own)
	for _, f := range l.public(name) {
		if !hidden[len(f.Decl.Params)] {
			fs = append(fs, f)
		}
	}
	return fs
}

// public gives the overloads of a name that all files see.
func (l *Library) public(name string) []*Function {
	if fs, ok := l.found[name]; ok {
		return fs
	}
	var fs []*Function
	for _, f := range l.user.funcs[name] {
		fs = insert(fs, f)
	}
	for _, r := range l.refs(name, grammar.FunctionEntry) {
		if f := l.function(r); f != nil {
			fs = insert(fs, f)
		}
	}
	l.found[name] = fs
	return fs
}

// Global finds a global as seen from a file, nil if there is none. Globals of the script are seen everywhere but in the
// embedded library, whose authors cannot know them: the names of its local variables are its own.
func (l *Library) Global(name string, from *File) *Global {
	if from != nil {
		if g := from.priv.globals[name]; g != nil {
			return g
		}
		if from.lib != nil {
			if g := l.privateGlobal(from.lib, name); g != nil {
				return g
			}
		}
	}
	if from == nil || !from.Builtin {
		if g := l.user.globals[name]; g != nil {
			return g
		}
	}
	g, ok := l.foundG[name]
	if !ok {
		for _, r := range l.refs(name, grammar.GlobalEntry) {
			if g = l.global(r, name); g != nil {
				break
			}
		}
		l.foundG[name] = g
	}
	return g
}

// Aliases gives the aliases whose first component matches first, which may hold
// wildcards: the script's, then the library's.
func (l *Library) Aliases(first string) []*Alias {
	var as []*Alias
	for _, a := range l.aliases {
		if matches(first, a.Name[0]) {
			as = append(as, a)
		}
	}
	return append(as, l.libAliases(first)...)
}

// matches reports whether a name fits a pattern in which * stands for anything.
func matches(pattern, name string) bool {
	if !strings.Contains(pattern, "*") {
		return pattern == name
	}
	parts := strings.Split(pattern, "*")
	if !strings.HasPrefix(name, parts[0]) {
		return false
	}
	name = name[len(parts[0]):]
	last := parts[len(parts)-1]
	for _, p := range parts[1 : len(parts)-1] {
		i := strings.Index(name, p)
		if i < 0 {
			return false
		}
		name = name[i+len(p):]
	}
	return strings.HasSuffix(name, last)
}

// FunctionNames lists the functions that a file sees, for hints.
func (l *Library) FunctionNames(from *File) []string {
	var names []string
	for n := range l.user.funcs {
		names = append(names, n)
	}
	if from != nil {
		for n := range from.priv.funcs {
			names = append(names, n)
		}
	}
	return append(names, l.publicNames(grammar.FunctionEntry)...)
}

// GlobalNames lists the globals that a file sees, for hints.
func (l *Library) GlobalNames(from *File) []string {
	var names []string
	for n := range l.user.globals {
		names = append(names, n)
	}
	if from != nil {
		for n := range from.priv.globals {
			names = append(names, n)
		}
	}
	return append(names, l.publicNames(grammar.GlobalEntry)...)
}

// AllFunctions parses and lists all public functions: the script's, then the library's
// by file.
func (l *Library) AllFunctions() []*Function {
	var fs []*Function
	for _, f := range l.funcs {
		if !f.Decl.Private {
			fs = append(fs, f)
		}
	}
	add := func(lf *libFile) {
		for i := range lf.entries {
			if e := &lf.entries[i]; e.Kind == grammar.FunctionEntry && !e.Private && l.live(ref{lf, i}) {
				if f := l.function(ref{lf, i}); f != nil {
					fs = append(fs, f)
				}
			}
		}
	}
	for _, lf := range l.dirs {
		add(lf)
	}
	for i := range l.embedded {
		add(l.embeddedFile(i))
	}
	return fs
}

// AliasNames lists the names of all aliases, with dots, for hints.
func (l *Library) AliasNames() []string {
	var names []string
	for _, a := range l.aliases {
		names = append(names, a.Dotted())
	}
	return append(names, l.publicNames(grammar.AliasEntry)...)
}
