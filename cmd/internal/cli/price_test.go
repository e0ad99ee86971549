package cli

import (
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/probe"
)

func TestPrice(t *testing.T) {
	for _, c := range []struct {
		kind probe.Kind
		n    int
		want string
	}{
		{probe.Uprobe, 999, ""}, {probe.Uprobe, 1000, "1000 places in programs get a probe: a hit costs about 1 us of CPU, at 1000 of them"},
		{probe.Kprobe, 1000, "1000 places in the kernel get a probe"}, {probe.Timer, 5000, ""},
	} {
		p := &ir.Program{Probes: []*ir.Probe{{}, {}}}
		for i := range c.n {
			p.Probes[i%2].Sites = append(p.Probes[i%2].Sites, &probe.Site{Kind: c.kind})
		}
		if got := price(p); !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%v at %d places: %q, want %q", c.kind, c.n, got, c.want)
		}
	}
}
