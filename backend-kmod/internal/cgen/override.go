package cgen

import (
	"github.com/gostap/gostap/compiler/backend/traced"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/partition"
	"github.com/gostap/gostap/compiler/probe"
)

// overriding is the built-in function that has the probed kernel function return at once.
const overriding = "override_return"

// override is that function.
func (g *gen) override(in *ir.Instr) {
	if g.probe < 0 {
		g.refuse(in.Pos, "%s() is for probes, not for functions of the script that are called by several", overriding)
		return
	}
	for _, s := range g.p.Probes[g.probe].Sites {
		if s.Kind != probe.Kprobe || !partition.WholeFunc(s) {
			g.refuse(in.Pos, "%s() leaves out a function of the kernel where it is entered, which %s is not",
				overriding, s.Title())
			return
		}
		if err := traced.Overridable(s.Kernel.Symbol); err != nil {
			g.refuse(in.Pos, "%s(): %v", overriding, err)
			return
		}
	}
	g.emit("hit->left = true;")
	g.emit("hit->result = %s;", g.long(in.Args[0]))
}

// overrides reports whether f may do that.
func overrides(f *ir.Func) bool {
	for _, b := range f.Blocks {
		for i := range b.Instrs {
			if b.Instrs[i].Op == ir.OpIntr && b.Instrs[i].Name == overriding {
				return true
			}
		}
	}
	return false
}
