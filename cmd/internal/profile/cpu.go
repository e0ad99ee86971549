package profile

import (
	"fmt"
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

// counts takes numbers that countScript has added up by stack.
type counts struct {
	names *namer
	p     export.Profile
}

func newCounts(n *namer, name, unit string) *counts {
	c := &counts{n, export.Profile{Title: name, Types: []export.Type{{Name: name, Unit: unit}}}}
	if unit == "bytes" {
		c.p.Types = append(c.p.Types, export.Type{Name: "objects", Unit: "count"})
	}
	return c
}

func (c *counts) event(a []gostap.Value) {
	switch a[0].Int {
	case codeSum:
		v := []int64{a[3].Int, a[2].Int}
		c.p.Samples = append(c.p.Samples, export.Sample{Stack: c.names.user(a[4]), Values: v[:len(c.p.Types)]})
	case codeMissed:
		c.p.Notes = append(c.p.Notes, noRoom(a[1].Int))
	}
}

func (c *counts) finish(int64) *export.Profile { return &c.p }

// noRoom is what is told of n events that the tables of the kernel had no room for.
func noRoom(n int64) string {
	return fmt.Sprintf("lost: %d events had no room in the kernel's tables: times and numbers are wrong by them", n)
}
