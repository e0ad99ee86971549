package cgen

import (
	"fmt"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/probe"
)

// packets are hooks of the kernel's network code. Of those with one priority, the kernel runs the one first that
// came last.
var packets = hook{
	table: "netfilter", backwards: true, alone: true,
	spot: func(u *unit, pr *ir.Probe, s *probe.Site, sp *spot) {
		var err error
		if sp.net, err = probe.ParseNetHook(s.Event); err != nil {
			u.refuse(pr.Pos, "%s: %v", s.Point, err)
		}
	},
	row: func(a *at, _, _ int, common string) string {
		return fmt.Sprintf(".family = %d, .hook = %d, .priority = %d, %s", a.net.Family, a.net.Hook, a.net.Priority,
			common)
	},
}
