package structs

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/types"
)

// row is a line of the table.
type row struct {
	name           string
	size           int64
	holes, members int
}

// order is how rows are sorted, nil if there is no such key.
func (o *options) order() func(a, b row) int {
	name := func(a, b row) int { return cmp.Compare(a.name, b.name) }
	then := func(by func(r row) int64) func(a, b row) int {
		return func(a, b row) int { return cmp.Or(cmp.Compare(by(b), by(a)), name(a, b)) }
	}
	switch o.sort {
	case "name":
		return name
	case "size":
		return then(func(r row) int64 { return r.size })
	case "holes":
		return then(func(r row) int64 { return int64(r.holes) })
	case "members":
		return then(func(r row) int64 { return int64(r.members) })
	}
	return nil
}

// table prints name, size and holes of the structures that are asked for.
func table(o *options, src *source, out io.Writer) error {
	for _, name := range []string{o.contains, o.pointsTo} {
		if name == "" {
			continue
		}
		if _, err := src.find(name); err != nil {
			return src.missing(name, nil)
		}
	}
	var rows []row
	err := src.each(func(s debuginfo.Structure) {
		t := s.Type
		if o.contains != "" && !has(t, o.contains, false, 0) || o.pointsTo != "" && !has(t, o.pointsTo, true, 0) {
			return
		}
		g := find(t)
		if g.holes >= o.holes {
			rows = append(rows, row{bare(named(t)), t.Size, g.holes, g.members})
		}
	})
	if err != nil {
		return err
	}
	slices.SortFunc(rows, o.order())
	if o.top > 0 && len(rows) > o.top {
		rows = rows[:o.top]
	}
	wide := 0
	for _, r := range rows {
		wide = max(wide, min(len(r.name), 60))
	}
	w := bufio.NewWriter(out)
	for _, r := range rows {
		fmt.Fprintf(w, "%-*s %9d %5d\n", wide, r.name, r.size, r.holes)
	}
	return w.Flush()
}

// has reports whether a member of t, or of a structure in t that has no name, is of the type name, or points to it.
func has(t *types.Ctype, name string, pointer bool, depth int) bool {
	for _, f := range t.Fields() {
		m := f.Type
		for m != nil && m.Kind == types.Array {
			m = m.Elem()
		}
		if m == nil {
			continue
		}
		if f.Name == "" && (m.Kind == types.Struct || m.Kind == types.Union) && depth < deepest &&
			has(m, name, pointer, depth+1) {
			return true
		}
		if pointer {
			if m.Kind != types.Pointer {
				continue
			}
			if m = m.Elem(); m == nil {
				continue
			}
		}
		if m.Name == name || bare(m.Name) == name {
			return true
		}
	}
	return false
}
