package sema

import (
	"fmt"
	"strings"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/internal/elab"
)

// dump writes what is known about a program after Analyze: globals, functions and
// probes with the types of their variables, a line each.
func dump(p *elab.Program) string {
	var b strings.Builder
	rec := Recursive(p)
	for _, g := range p.Globals {
		b.WriteString("global " + g.Name)
		if len(g.Keys) > 0 {
			var ks []string
			for _, k := range g.Keys {
				ks = append(ks, k.String())
			}
			b.WriteString("[" + strings.Join(ks, ",") + "]")
		}
		b.WriteString(":" + g.Type.String())
		if g.Init != nil {
			b.WriteString(" = " + ast.LiteralText(g.Init))
		}
		if g.Stat.Variance {
			b.WriteString(" variance")
		}
		for _, h := range g.Stat.Hists {
			if h.Linear {
				fmt.Fprintf(&b, " linear(%d,%d,%d)", h.Low, h.High, h.Width)
			} else {
				b.WriteString(" log")
			}
		}
		for _, w := range []struct {
			on   bool
			text string
		}{{g.User, " user"}, {g.Read, " read"}, {g.Written, " written"}} {
			if w.on {
				b.WriteString(w.text)
			}
		}
		b.WriteByte('\n')
	}
	for _, f := range p.Funcs {
		b.WriteString("function " + signature(f))
		if f.Intrinsic != nil {
			b.WriteString(" intrinsic " + f.Intrinsic.Name)
		}
		if f.Next != nil {
			b.WriteString(" next " + f.Next.Name)
		}
		if rec[f] {
			b.WriteString(" recursive")
		}
		b.WriteByte('\n')
		dumpLocals(&b, &f.Info)
	}
	for _, pr := range p.Probes {
		b.WriteString("probe")
		if pr.Decl != nil {
			for i, pt := range pr.Decl.Points {
				if i > 0 {
					b.WriteString(",")
				}
				for j, c := range pt.Comps {
					b.WriteString(map[bool]string{true: " ", false: "."}[j == 0] + c.Name)
				}
			}
		}
		b.WriteByte('\n')
		dumpLocals(&b, &pr.Info)
	}
	return b.String()
}

func dumpLocals(b *strings.Builder, in *elab.Info) {
	for _, l := range in.Locals {
		if !l.Param {
			fmt.Fprintf(b, "  local %s:%s\n", l.Name, l.Type)
		}
	}
}
