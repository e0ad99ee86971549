package cgen

import (
	"fmt"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/probe"
)

// lifetimes are the beginnings and ends of processes and threads.
var lifetimes = hook{
	table: "process",
	spot: func(_ *unit, _ *ir.Probe, _ *probe.Site, sp *spot) {
		if sp.pid != 0 {
			sp.path = "" // whatever it runs
		}
	},
	row: func(a *at, file, _ int, common string) string {
		return fmt.Sprintf(".file = %d, .event = %s, %s", file, processEvents[a.kind], common)
	},
}

// processEvents are the runtime's names (enum gs_process_event).
var processEvents = map[probe.Kind]string{probe.ProcessBegin: "GS_ON_EXEC", probe.ProcessFork: "GS_ON_FORK",
	probe.ProcessEnd: "GS_ON_END", probe.ThreadBegin: "GS_ON_THREAD_BEGIN", probe.ThreadEnd: "GS_ON_THREAD_END"}
