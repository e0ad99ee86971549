package gostap

import (
	"strings"
	"testing"
	"time"

	"github.com/gostap/gostap/compiler/backend"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/probe"
)

func TestPrice(t *testing.T) {
	for _, c := range []struct {
		kind probe.Kind
		n    int
		want string
	}{
		{probe.Uprobe, 999, ""}, {probe.Uprobe, 1000, "1000 places in programs get a probe: a hit costs about 0.7 us " +
			"of CPU, at 1000 of them, where the kernel has to single-step an instruction, 10.6 us;"},
		{probe.Kprobe, 1000, "1000 places in the kernel get a probe"}, {probe.Timer, 5000, ""},
	} {
		p := &ir.Program{Probes: []*ir.Probe{{}, {}}}
		for i := range c.n {
			p.Probes[i%2].Sites = append(p.Probes[i%2].Sites, &probe.Site{Kind: c.kind})
		}
		asked := false
		got := price(p, func() backend.Prices {
			asked = true
			return backend.Prices{Emulated: 700 * time.Nanosecond, Stepped: 10600 * time.Nanosecond}
		})
		if asked != strings.Contains(got, "in programs") {
			t.Errorf("%v at %d places: the prices are asked for: %v", c.kind, c.n, asked)
		}
		if !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%v at %d places: %q, want %q", c.kind, c.n, got, c.want)
		}
	}
}
