package cgen

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/probe"
)

// profiles are ticks of each CPU's clock.
var profiles = hook{
	table: "profile",
	spot: func(_ *unit, _ *ir.Probe, s *probe.Site, sp *spot) {
		sp.period = int64(s.Timer.Period)
		if sp.period <= 0 {
			sp.period = 1e6
		}
	},
	row: func(a *at, _, _ int, common string) string { return fmt.Sprintf(".period = %d, %s", a.period, common) },
}

// counters are events that the kernel counts, watchpoints among them.
var counters = hook{
	table: "perf",
	spot: func(u *unit, pr *ir.Probe, s *probe.Site, sp *spot) {
		sp.perf = s.Perf
		if s.Perf.Type != unix.PERF_TYPE_SOFTWARE && s.Perf.Type != unix.PERF_TYPE_BREAKPOINT {
			u.refuse(pr.Pos, "%s: the processor's counters interrupt the kernel where handlers of modules cannot run",
				s.Point)
		}
	},
	row: func(a *at, _, _ int, common string) string {
		row := fmt.Sprintf(".type = %d, .config = 0x%xULL, .every = %d, .hz = %d, ", a.perf.Type, a.perf.Config,
			a.perf.Period, a.perf.Hz)
		if a.perf.Type == unix.PERF_TYPE_BREAKPOINT {
			row += fmt.Sprintf(".access = %d, .addr = 0x%xULL, .len = %d, ", a.perf.Access, a.perf.Addr, a.perf.Len)
		}
		return row + common
	},
}
