// Package sema gives the names of a script their meaning and its expressions their
// types, and refuses what makes no sense.
//
// In: an elab.Program whose probes are expanded and whose target expressions are
// resolved (Info.Targets), and the library of declarations. Out: the same program
// with the functions and globals that the probes reach, and the side tables Locals,
// Locs, Globs, Calls, Const and Types of every Info filled.
//
// Where a condition of if, ?:, && or || is known before the program runs (@defined,
// numbers, and what follows from them), its value stands in Info.Const, unless it is
// a plain number. If it asks @defined, or one of the arms holds what did not resolve,
// it also stands in Info.Decided, and the arm that is never taken is left alone: it
// has no bindings and no types, and what is wrong in it is not reported. Later passes
// look with Known before they look into an arm, or walk with InspectLive.
package sema

import (
	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/internal/load"
	"github.com/gostap/gostap/compiler/source"
)

// Options change what is allowed and what is said.
type Options struct {
	// Guru allows embedded C and writes to the traced program (-g).
	Guru bool
	// Privilege is the group of users that the script is checked for (--privilege), "" for none.
	Privilege string
	// SkipBadVars reads 0 where a target expression does not resolve (--skip-badvars).
	SkipBadVars bool
	// KeepUnused leaves the variables of aliases that nobody looks at in place, for listing them.
	KeepUnused bool
	// Init gives globals of the script other first values, by name (-G).
	Init map[string]string
	// Resolve fills f.Info.Targets. It is called once for every function of the script
	// that has target expressions in it. Nil refuses them.
	Resolve func(f *elab.Func) diag.List
	// Expand makes handlers of a probe of the library that a reached global brings
	// along, ready to be bound. Nil leaves such probes out.
	Expand func(p *ast.Probe) ([]*elab.Probe, diag.List)
}

// Analyze runs all passes of the package over p. What it returns is sorted by place.
// When it holds errors, the side tables of p may be incomplete.
func Analyze(p *elab.Program, lib *load.Library, o Options) diag.List {
	ds := Bind(p, lib, o)
	ds = append(ds, Privilege(p, o.Privilege)...)
	ds = append(ds, Infer(p)...)
	ds = append(ds, Check(p)...)
	if !ds.HasErrors() {
		ds = append(ds, Warn(p, lib)...)
	}
	ds.Sort()
	if len(ds) >= maxErrors {
		ds[len(ds)-1].Note(source.Span{}, "there is more, but this should do")
	}
	return ds
}

// maxErrors bounds the messages of a pass.
const maxErrors = 200

// errorf adds an error to ds unless there are too many already.
func errorf(ds *diag.List, code diag.Code, sp source.Span, format string, args ...any) *diag.Diagnostic {
	if len(*ds) >= maxErrors {
		return &diag.Diagnostic{}
	}
	return ds.Errorf(diag.Semantic, code, sp, format, args...)
}
