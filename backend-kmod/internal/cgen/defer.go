package cgen

import (
	"strings"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/runtime/wire"
)

// A handler that asks for what only the host has (speculation, the text of a histogram or of an address that is used
// for more than printing, what a regular expression has found) is cut in two by package place: the module reads what
// lies at the probed place and sends it, the host does the rest.

// deferred sends what the host's part works with.
func (g *gen) deferred() {
	c := wire.Capture{Probe: g.probe, Faults: g.defers.Faults}
	var lines []string
	size := 8
	for _, v := range g.defers.Values {
		if c.Faults {
			fault := "0"
			if v.Fault != ir.NoReg {
				fault = g.name(v.Fault)
			}
			lines = append(lines, "*p++ = "+fault+";")
			size += 8
		}
		a, n, line := g.argument(ir.R(v.Reg))
		c.Args = append(c.Args, a)
		size += n
		if line != "" {
			lines = append(lines, line)
		}
	}
	g.maxOut = max(g.maxOut, size)
	if g.capture < 0 {
		g.capture = len(g.schema.Captures)
		g.schema.Captures = append(g.schema.Captures, c)
	}
	g.emit("{\n\t\tu64 *p = c->out;\n\n\t\tgs_flush(c, false);\n\t\t*p++ = %d;\n\t\t%s\n\t\tgs_emit(GS_DEFERRED, 0, "+
		"c->slot, c->out, (char *)p - (char *)c->out);\n\t}", g.capture, strings.Join(lines, "\n\t\t"))
}
