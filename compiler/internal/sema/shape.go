package sema

import (
	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/source"
)

// Shape finds what is wrong in the scripts of the user whatever their names mean: arguments and formats of the print
// family, histograms as values, C without guru mode. It is for scripts that are only parsed (-p1): Analyze finds all of
// it, too.
func Shape(files []*ast.File, guru bool) diag.List {
	var ds diag.List
	taken := map[*ast.AtOp]bool{} // histograms that stand where one may
	visit := func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Foreach:
			taken[n.Hist] = true
		case *ast.In:
			taken[n.Hist] = true
		case *ast.HistIndex:
			taken[n.Hist] = true
		case *ast.Call:
			if k, ok := printFunc(n.Fun.Name); ok {
				for _, a := range n.Args {
					taken[histogram(a)] = true
				}
				printShape(&ds, n, k)
			}
		case *ast.AtOp:
			if isHist(n.Name) && !taken[n] {
				histValue(&ds, n)
			}
			if n.Name == "@const" && !guru {
				constNeedsGuru(&ds, n)
			}
		case *ast.EmbeddedExpr:
			if !guru {
				codeNeedsGuru(&ds, n.Span)
			}
		}
		return true
	}
	for _, f := range files {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.Embedded:
				if !guru {
					codeNeedsGuru(&ds, d.Span)
				}
			case *ast.Function:
				if d.Code != nil && !guru {
					codeNeedsGuru(&ds, d.Code.Span)
				}
			}
			ast.Inspect(d, visit)
		}
	}
	ds.Sort()
	return ds
}

func codeNeedsGuru(ds *diag.List, sp source.Span) {
	errorf(ds, diag.EmbeddedCode, sp, "embedded C needs guru mode").
		Hintf("run with -g, if the script can be trusted")
}

func constNeedsGuru(ds *diag.List, e *ast.AtOp) {
	errorf(ds, diag.EmbeddedCode, e.Span, "@const needs guru mode").Hintf("run with -g, if the script can be trusted")
}

func histValue(ds *diag.List, e *ast.AtOp) {
	errorf(ds, diag.HistogramUse, e.Span, "a histogram is no value").
		Hintf("print(%s(...)) prints it; foreach, in and [bucket] take it apart", e.Name)
}

// printShape checks the arguments of a call of the print family, as far as their types do not matter.
func printShape(ds *diag.List, c *ast.Call, k printKind) {
	name, args := c.Fun.Name, c.Args
	switch {
	case k.format:
		formatShape(ds, c)
		return
	case len(args) == 1 && !k.delim && histogram(args[0]) != nil:
		return
	case k.delim:
		if len(args) < 3 {
			errorf(ds, diag.PrintArguments, c.Span, "%s needs a delimiter and at least two values", name)
		}
		if len(args) == 0 {
			return
		}
		if l, ok := ast.Unparen(args[0]).(*ast.Literal); !ok || !l.IsString {
			errorf(ds, diag.PrintArguments, args[0].Range(), "the delimiter of %s must be a literal string", name)
		}
		args = args[1:]
	case len(args) == 0 && name != "println" && name != "sprintln":
		errorf(ds, diag.PrintArguments, c.Span, "%s needs something to print", name)
	}
	for _, a := range args {
		if h := histogram(a); h != nil {
			errorf(ds, diag.HistogramUse, h.Span,
				"a histogram must be the only argument of print, println, sprint or sprintln")
		}
	}
}

// formatShape checks the format of printf and sprintf.
func formatShape(ds *diag.List, c *ast.Call) {
	name := c.Fun.Name
	if len(c.Args) == 0 {
		errorf(ds, diag.PrintArguments, c.Span, "%s needs a format", name)
		return
	}
	lit, ok := ast.Unparen(c.Args[0]).(*ast.Literal)
	if !ok || !lit.IsString {
		errorf(ds, diag.PrintFormat, c.Args[0].Range(), "the format of %s must be a literal string, not %s", name,
			describe(c.Args[0])).
			Hintf("print prints any value; %s(\"%%s\", s) prints a string", name)
		return
	}
	if _, err := ir.ParseFormat(lit.Str); err != nil {
		errorf(ds, diag.PrintFormat, lit.Span, "%v of the format", err).
			Hintf("conversions are %%d %%i %%u %%o %%x %%X %%p %%s %%c %%b %%m %%M; %%%% prints a %%")
	}
	for _, a := range c.Args[1:] {
		if h := histogram(a); h != nil {
			errorf(ds, diag.HistogramUse, h.Span, "a histogram cannot be printed by a format").
				Hintf("print(%s(...)) prints it", h.Name)
		}
	}
}
