package cgen

import (
	"fmt"
	"slices"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/probe"
)

// kprobes are instructions of the kernel, and the returns of its functions.
var kprobes = hook{
	table: "kprobe", together: true, left: true,
	spot: func(u *unit, pr *ir.Probe, s *probe.Site, sp *spot) {
		sp.event = s.Kernel.Symbol
		if s.Kernel.Symbol == "" {
			u.refuse(pr.Pos, "%s: the kernel function has no name", s.Point)
		}
	},
	row: func(a *at, _, _ int, common string) string {
		row := fmt.Sprintf(".symbol = %s, .offset = %d, %s", text(a.event), a.offset, common)
		if a.kind.Returns() {
			row += ", .ret = true"
			if a.active > 0 {
				row += fmt.Sprintf(", .maxactive = %d", a.active)
			}
		}
		if slices.ContainsFunc(a.runs, func(r run) bool { return overrides(r.h.f) }) {
			row += ", .leaves = true"
		}
		if !a.exact {
			row += ", .wild = true"
		}
		return row
	},
}
