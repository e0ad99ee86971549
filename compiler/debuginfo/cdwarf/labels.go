package cdwarf

import (
	"cmp"
	"debug/dwarf"
	"slices"
	"strings"

	"github.com/go-delve/delve/pkg/dwarf/godwarf"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/dw"
	"github.com/gostap/gostap/compiler/foreign"
)

// Labels lists the labels (DW_TAG_label) of functions by glob or exact name, in the functions and in their inlined
// copies, by address. A label of which the compiler has left no place has no DW_AT_low_pc and is not in it.
func (im *Image) Labels(pattern string) (out []debuginfo.Label, err error) {
	defer foreign.Guard(&err)()
	if im.d == nil {
		return nil, im.noTypes()
	}
	m := newMatcher(pattern)
	fs, err := im.named().find(m)
	if err != nil {
		return nil, err
	}
	type place struct {
		pc   uint64
		name string
		in   dwarf.Offset
	}
	seen := map[place]bool{}
	add := func(fn *function, owner, t *godwarf.Tree) error {
		name, pc := dw.Name(t), lowPC(t)
		p := place{pc, name, owner.Offset}
		if name == "" || pc == 0 || seen[p] || !im.own(pc) || !fn.tree.ContainsPC(pc) {
			return nil
		}
		seen[p] = true
		s, err := im.SiteAt(pc)
		if err != nil {
			return nil // not at an instruction: damaged, or data in the code
		}
		s.Kind, s.Func, s.Inline = debuginfo.AtLine, &fn.Func, nil
		if owner != fn.tree {
			if s.Inline, err = im.traced().inlineSite(fn, owner); err != nil {
				return err
			}
		}
		out = append(out, debuginfo.Label{Name: name, Site: s})
		return nil
	}
	for _, fn := range fs {
		if err := im.load(fn); err != nil {
			return nil, err
		}
		if fn.tree == nil {
			continue
		}
		for _, t := range labels(fn.tree) {
			if err := add(fn, fn.tree, t); err != nil {
				return nil, err
			}
		}
	}
	_, refs, err := im.findFuncs(m.last())
	if err != nil {
		return nil, err
	}
	err = im.traced().eachCopy(refs, func(fn *function, t *godwarf.Tree) error {
		if m.scoped != nil && !m.entry(t) {
			return nil
		}
		for _, l := range labels(t) {
			if err := add(fn, t, l); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(fs) == 0 && len(refs) == 0 {
		return nil, &debuginfo.NotFoundError{What: "function", Name: pattern, Near: im.NearNames(pattern)}
	}
	slices.SortFunc(out, func(a, b debuginfo.Label) int {
		return cmp.Or(cmp.Compare(a.Site.PC, b.Site.PC), strings.Compare(a.Name, b.Name))
	})
	return out, nil
}

// container is the function that an inlined copy lies in, nil if it has no code.
func (im tracer) container(r dw.InlineRef) (*function, error) {
	tree, err := r.Unit.Tree(r.Func)
	if err != nil {
		return nil, err
	}
	low, ok := dw.EntryPC(tree)
	if !ok {
		return nil, nil
	}
	fn := im.named().fromEntry(r.Unit, tree, low, "")
	if fn.tree == nil {
		fn.tree = tree
	}
	return fn, nil
}

// labels lists the labels of a function or an inlined copy, without those of copies in it.
func labels(t *godwarf.Tree) (out []*godwarf.Tree) {
	for _, c := range t.Children {
		switch c.Tag {
		case dwarf.TagLabel:
			out = append(out, c)
		case dwarf.TagLexDwarfBlock:
			out = append(out, labels(c)...)
		}
	}
	return out
}

// lowPC is DW_AT_low_pc of the entry itself, 0 without one.
func lowPC(t *godwarf.Tree) uint64 {
	pc, _ := t.Val(dwarf.AttrLowpc).(uint64)
	return pc
}
