package sema

import (
	"fmt"
	"strings"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/types"
)

// Listing writes the elaborated program for people (-p2): globals, functions and probes with the types of their
// variables, and under each probe the points that it resolved to, as SystemTap orders them.
func Listing(p *elab.Program) string {
	var b strings.Builder
	head := func(i int, text string) {
		if i == 0 {
			b.WriteString(text)
		}
	}
	for i, g := range p.Globals {
		head(i, "# globals\n")
		b.WriteString(g.Name)
		if len(g.Keys) > 0 {
			b.WriteString("[" + typeList(g.Keys) + "]")
		}
		b.WriteString(":" + g.Type.String())
		if g.Init != nil {
			b.WriteString(" = " + ast.LiteralText(g.Init))
		}
		b.WriteByte('\n')
	}
	for i, f := range p.Funcs {
		head(i, "# functions\n")
		b.WriteString(signature(f) + "\n")
		listLocals(&b, &f.Info)
	}
	for i, pr := range p.Probes {
		head(i, "# probes\n")
		seen := map[string]bool{}
		written := pr.Req.String()
		for _, s := range pr.Sites {
			if seen[s.Point] {
				continue
			}
			seen[s.Point] = true
			b.WriteString(s.Point)
			if s.Point != written && written != "" {
				b.WriteString(" /* <- " + written + " */")
			}
			b.WriteByte('\n')
		}
		if len(seen) == 0 {
			b.WriteString(written + "\n")
		}
		listLocals(&b, &pr.Info)
	}
	return b.String()
}

// signature is a function with its types: f:long (a:long, b:string).
func signature(f *elab.Func) string {
	var params []string
	for _, l := range f.Params {
		params = append(params, l.Name+":"+l.Type.String())
	}
	result := ""
	if f.Result != types.Unknown {
		result = ":" + f.Result.String()
	}
	return f.Name + result + " (" + strings.Join(params, ", ") + ")"
}

func typeList(ts []types.Type) string {
	var s []string
	for _, t := range ts {
		s = append(s, t.String())
	}
	return strings.Join(s, ", ")
}

func listLocals(b *strings.Builder, in *elab.Info) {
	first := true
	for _, l := range in.Locals {
		if l.Param {
			continue
		}
		if first {
			b.WriteString("  # locals\n")
			first = false
		}
		fmt.Fprintf(b, "  %s:%s\n", l.Name, l.Type)
	}
}
