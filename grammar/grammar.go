// Package grammar reads stap scripts: it preprocesses, parses and builds the
// syntax tree. It is the only package that sees ANTLR.
//
// In: source files, script arguments, macros of the library, what %( %) may ask.
// Out: ast.File and messages with places. A declaration that does not parse is
// left out, and reading goes on at the next probe, function, global or private.
package grammar

import (
	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/grammar/internal/pp"
)

// Conditions answers what %( %) conditions of a script may ask.
type Conditions = pp.Conditions

// LanguageVersion is the level of the script language that is spoken, which systemtap_v answers.
const LanguageVersion = pp.DefaultSystemtap

// CompareVersions orders versions by their numbers and letters, as strverscmp does: -1, 0 or 1.
func CompareVersions(a, b string) int { return pp.CompareVersions(a, b) }

// Macro is one @define.
type Macro = pp.Macro

// MacroTable holds the macros of the library, which all files see.
type MacroTable = pp.Table

// MacroSource makes library macros when they are asked for: see MacroTable.Lazy.
type MacroSource = pp.Source

// Options is what reading depends on, besides the text.
type Options struct {
	// Files is the set that the file belongs to; what is pasted or expanded is added to it.
	Files *source.FileSet
	// Args are the script's arguments: $1, @1.
	Args []string
	// Used, if not nil, is as long as Args and gets true for those that a text mentions.
	Used []bool
	Cond Conditions
	// Macros of the library; may be nil.
	Macros *MacroTable
	// Library marks a file of the tapset library: it may be empty.
	Library bool
}

func (o *Options) filter(f *source.File, off, end int, local []*Macro) *pp.Filter {
	return pp.New(f, off, end, pp.Options{
		Files: o.Files, Args: o.Args, Cond: o.Cond, Macros: o.Macros, Local: local,
	})
}

func (o *Options) mark(used []bool) {
	for i, u := range used {
		if u && i < len(o.Used) {
			o.Used[i] = true
		}
	}
}

// Parse reads a whole file. The tree holds the declarations that parsed; it must
// not be compiled if the list has errors.
func Parse(f *source.File, o Options) (*ast.File, diag.List) {
	p := newParser(f, 0, len(f.Text), &o, nil)
	file := &ast.File{Source: f, Decls: p.all()}
	return file, p.finish()
}
