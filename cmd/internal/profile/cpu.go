package profile

import (
	"strconv"

	"github.com/gostap/gostap"
	"github.com/gostap/gostap/runtime/export"
)

// cpu counts samples of processors.
type cpu struct {
	names *namer
	hz    int
	p     export.Profile
}

func newCPU(n *namer, hz int) *cpu {
	return &cpu{n, hz, export.Profile{Title: "time on processors", Period: int64(1e9 / hz),
		Types: []export.Type{{Name: "cpu", Unit: "nanoseconds"}, {Name: "samples", Unit: "count"}}}}
}

func (c *cpu) event(a []gostap.Value) {
	var stack []export.Frame
	where := "user"
	switch a[0].Int {
	case codeUser:
		stack = c.names.user(a[3])
	case codeKernel:
		where = "kernel"
		stack = append(stack, c.names.kernel(a[3])...)
		stack = append(stack, c.names.user(a[4])...)
	default:
		return
	}
	c.p.Samples = append(c.p.Samples, export.Sample{Stack: stack, Values: []int64{c.p.Period, 1},
		Labels: []export.Label{
			{Key: "state", Text: where}, {Key: "thread", Text: a[2].Text + "/" + strconv.FormatInt(a[1].Int, 10)}}})
	if len(c.p.Samples)%(1<<16) == 0 {
		c.p.Merge()
	}
}

func (c *cpu) finish(int64) *export.Profile { return &c.p }

// counts adds up numbers by stack.
type counts struct {
	names *namer
	code  int64
	p     export.Profile
}

func newCounts(n *namer, code int64, name, unit string) *counts {
	c := &counts{n, code, export.Profile{Title: name, Types: []export.Type{{Name: name, Unit: unit}}}}
	if unit == "bytes" {
		c.p.Types = append(c.p.Types, export.Type{Name: "objects", Unit: "count"})
	}
	return c
}

func (c *counts) event(a []gostap.Value) {
	if a[0].Int != c.code {
		return
	}
	v := []int64{1}
	if c.code == codeAlloc {
		v = []int64{a[2].Int, 1}
	}
	c.p.Samples = append(c.p.Samples, export.Sample{Stack: c.names.user(a[3]), Values: v})
	if len(c.p.Samples)%(1<<16) == 0 {
		c.p.Merge()
	}
}

func (c *counts) finish(int64) *export.Profile { return &c.p }
