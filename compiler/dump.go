package compiler

import (
	"context"
	"sort"
	"strings"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/internal/family"
	"github.com/gostap/gostap/compiler/intrinsic"
)

// Listing is what DumpLibrary lists.
type Listing int

// The listings.
const (
	// Functions, one a line: name:type (arg:type, ...). What a declaration leaves open is not shown.
	Functions Listing = iota
	// ProbeTypes are the forms of probe points: begin(number).
	ProbeTypes
	// ProbeAliases are the aliases of the library and what they stand for: name = point, point.
	ProbeAliases
)

// DumpLibrary gives the lines of a listing, sorted.
func DumpLibrary(ctx context.Context, what Listing, o Options) ([]string, *Result, diag.List) {
	s := newState(ctx, o)
	res := &Result{Files: s.files, close: s.env.Close}
	all := s.library()
	if all.HasErrors() {
		return nil, res, all
	}
	var lines []string
	switch what {
	case Functions:
		for _, f := range s.lib.AllFunctions() {
			lines = append(lines, signature(f.Decl)+pragmas(f.Decl))
		}
	case ProbeTypes:
		lines = family.Names(o.Privilege)
	case ProbeAliases:
		for _, a := range s.lib.Aliases("*") {
			decl, ds := a.Decl()
			all = append(all, ds...)
			if decl == nil {
				continue
			}
			var points []string
			for _, p := range decl.Points {
				points = append(points, ast.String(p))
			}
			lines = append(lines, a.Dotted()+" = "+strings.Join(points, ", "))
		}
	}
	all = append(all, s.lib.TakeDiags()...)
	sort.Strings(lines)
	return lines, res, all
}

// pragmas tells who may use a function that is not written in the script language.
func pragmas(f *ast.Function) string {
	if f.Code == nil {
		return ""
	}
	words := strings.Fields(f.Code.Code)
	if len(words) > 0 && words[0] == "intrinsic" {
		name := f.Name.Name
		if len(words) > 1 {
			name = words[1]
		}
		if in := intrinsic.Lookup(name); in != nil && in.Unprivileged {
			return " /* unprivileged */"
		}
		return ""
	}
	out := ""
	for _, p := range []string{"/* guru */", "/* unprivileged */", "/* myproc-unprivileged */"} {
		if strings.Contains(f.Code.Code, p) {
			out += " " + p
		}
	}
	return out
}

func signature(f *ast.Function) string {
	typed := func(name string, t ast.TypeName) string {
		switch t {
		case ast.LongType:
			return name + ":long"
		case ast.StringType:
			return name + ":string"
		}
		return name
	}
	var params []string
	for _, p := range f.Params {
		params = append(params, typed(p.Name.Name, p.Type))
	}
	return typed(f.Name.Name, f.Type) + " (" + strings.Join(params, ", ") + ")"
}
