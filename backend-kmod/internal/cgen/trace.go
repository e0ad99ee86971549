package cgen

import (
	"fmt"
	"strings"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/probe"
)

// tracepoints go by the name behind that of their group.
var tracepoints = hook{
	table: "trace",
	spot: func(_ *unit, _ *ir.Probe, s *probe.Site, sp *spot) {
		sp.event = s.Event[strings.LastIndexByte(s.Event, ':')+1:]
	},
	row: func(a *at, _, _ int, common string) string {
		return fmt.Sprintf(".name = %s, %s", text(a.event), common)
	},
}
