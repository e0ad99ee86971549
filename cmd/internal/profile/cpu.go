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
	groups cgroups
	missed int64
	p      export.Profile
}

func newCPU(n *namer, hz int, labels bool) *cpu {
	return &cpu{names: n, hz: hz, labels: labels, groups: cgroups{}, p: export.Profile{
		Title: "time on processors", Period: int64(1e9 / hz),
		Types: []export.Type{{Name: "cpu", Unit: "nanoseconds"}, {Name: "samples", Unit: "count"}}}}
}

func (c *cpu) event(a []gostap.Value) {
	var stack []export.Frame
	var labels []export.Label
	where := "user"
	switch a[0].Int {
	case codeUser:
		stack = c.names.of(a[3].Int, a[6])
	case codeKernel:
		where = "kernel"
		stack = append(stack, c.names.kernel(a[6])...)
		stack = append(stack, c.names.of(a[3].Int, a[7])...)
	case codeCgroup:
		c.groups[a[1].Int] = a[2].Text
		return
	case codeExec:
		c.names.exec(a[1].Int)
		return
	case codeMissed:
		c.missed += a[1].Int
		return
	default:
		return
	}
	if t := a[len(a)-1]; c.labels && t.Text != "" {
		labels = labelsOf(t.Text)
	}
	c.p.Samples = append(c.p.Samples, export.Sample{Stack: stack, Values: []int64{c.p.Period, 1},
		Labels: with(labels, export.Label{Key: "state", Text: where},
			export.Label{Key: "thread", Text: a[2].Text + "/" + strconv.FormatInt(a[1].Int, 10)},
			processLabel(a[4].Text, a[3].Int), c.groups.label(a[5].Int))})
	if len(c.p.Samples)%(1<<16) == 0 {
		c.p.Merge()
	}
}

func (c *cpu) finish(int64) *export.Profile {
	if c.missed > 0 {
		c.p.Notes = append(c.p.Notes, notFollowed(c.missed))
	}
	return &c.p
}

// notFollowed is what is told of n processes that there was no room for.
func notFollowed(n int64) string {
	return fmt.Sprintf("%d processes are missing: %d are followed at once", n, mostChildren)
}

// noRoom is what is told of n events that the tables of the kernel had no room for.
func noRoom(n int64) string {
	return fmt.Sprintf("lost: %d events had no room in the kernel's tables: times and numbers are wrong by them", n)
}
