package cgen

import (
	"fmt"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/probe"
)

// uprobes are instructions of programs, and the returns that the kernel catches there.
var uprobes = hook{
	table: "uprobe", on: ", gs_inodes[gs_uprobes[i].file]", off: ", gs_inodes",
	spot: func(u *unit, pr *ir.Probe, s *probe.Site, _ *spot) {
		if s.Kind.Trampoline() && s.Go() {
			u.refuse(pr.Pos, "%s: the kernel's return probe must not be used on Go functions: it kills programs "+
				"whose stacks move", s.Point)
		}
	},
	row: func(a *at, file, exe int, common string) string {
		row := fmt.Sprintf(".file = %d, .offset = 0x%x, %s", file, a.offset, common)
		if a.refctr != 0 {
			row += fmt.Sprintf(", .refctr = 0x%x", a.refctr)
		}
		if a.kind.Returns() {
			row += ", .ret = true"
		}
		if exe >= 0 {
			row += fmt.Sprintf(", .exe = %d", exe+1)
		}
		return row
	},
}
