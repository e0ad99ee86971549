package profile

import (
	"fmt"
	"strconv"

	"github.com/gostap/gostap"
	"github.com/gostap/gostap/runtime/export"
)

// cpu counts samples of processors.
type cpu struct {
	names  *namer
	hz     int
	labels bool // the text of labels comes last
	p      export.Profile
}

func newCPU(n *namer, hz int, labels bool) *cpu {
	return &cpu{n, hz, labels, export.Profile{Title: "time on processors", Period: int64(1e9 / hz),
		Types: []export.Type{{Name: "cpu", Unit: "nanoseconds"}, {Name: "samples", Unit: "count"}}}}
}

func (c *cpu) event(a []gostap.Value) {
	var stack []export.Frame
	var labels []export.Label
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
	if t := a[len(a)-1]; c.labels && t.Text != "" {
		labels = labelsOf(t.Text)
	}
	c.p.Samples = append(c.p.Samples, export.Sample{Stack: stack, Values: []int64{c.p.Period, 1},
		Labels: with(labels, export.Label{Key: "state", Text: where},
			export.Label{Key: "thread", Text: a[2].Text + "/" + strconv.FormatInt(a[1].Int, 10)})})
	if len(c.p.Samples)%(1<<16) == 0 {
		c.p.Merge()
	}
}

func (c *cpu) finish(int64) *export.Profile { return &c.p }

// noRoom is what is told of n events that the tables of the kernel had no room for.
func noRoom(n int64) string {
	return fmt.Sprintf("lost: %d events had no room in the kernel's tables: times and numbers are wrong by them", n)
}
