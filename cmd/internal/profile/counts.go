package profile

import (
	"context"
	"fmt"

	"github.com/gostap/gostap"
	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/runtime/export"
)

// counts takes numbers that countScript has added up by stack.
type counts struct {
	names *namer
	sets  sets
	types *debuginfo.RunTimeTypes // of the program, where they are kinds
	image debuginfo.Image
	p     export.Profile
}

func newCounts(n *namer, name, unit string) *counts {
	c := &counts{names: n, sets: sets{}, p: export.Profile{Title: name, Types: []export.Type{{Name: name, Unit: unit}}}}
	if unit == "bytes" {
		c.p.Types = append(c.p.Types, export.Type{Name: "objects", Unit: "count"})
	}
	return c
}

// readTypes has kinds be types of the program, where it is known how those of its release lie.
func (c *counts) readTypes(ctx context.Context, opt gostap.Options) (err error) {
	if c.image, _, err = image(ctx, opt, "runtime.mallocgc"); err != nil {
		return err
	}
	c.types = debuginfo.RunTimeTypesOf(c.image)
	return nil
}

func (c *counts) event(a []gostap.Value) {
	switch a[0].Int {
	case codeSum:
		v := []int64{a[3].Int, a[2].Int}
		labels := c.sets.get(a[4].Int)
		if c.types != nil {
			labels = with(labels, export.Label{Key: "type", Text: c.typeOf(a[1].Int)})
		}
		c.p.Samples = append(c.p.Samples, export.Sample{Stack: c.names.user(a[5]), Values: v[:len(c.p.Types)],
			Labels: labels})
	case codeLabels:
		c.sets.add(a[1].Int, a[2].Text)
	case codeMissed:
		c.p.Notes = append(c.p.Notes, noRoom(a[1].Int))
	}
}

// typeOf is the type with a number: what new or make was asked for, of a slice its elements. Memory without a type is
// for bytes of strings and the like.
func (c *counts) typeOf(n int64) string {
	switch {
	case n == 0:
		return "no pointers"
	case n < 0:
		return "made at run time"
	}
	t, err := c.types.Types.At(c.types.First + uint64(n-1))
	if err != nil {
		return fmt.Sprintf("type %d", n-1)
	}
	return t.Name
}

func (c *counts) finish(int64) *export.Profile {
	if c.image != nil {
		c.image.Close()
	}
	return &c.p
}
