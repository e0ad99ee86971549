package godwarf

import (
	"debug/dwarf"
	"slices"

	"github.com/go-delve/delve/pkg/dwarf/godwarf"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/assigned"
	"github.com/gostap/gostap/compiler/debuginfo/dw"
	"github.com/gostap/gostap/compiler/debuginfo/gosource"
	"github.com/gostap/gostap/compiler/loc"
)

// strange says why p, where the location list of e has a variable, may be another variable's, "" if nothing shows that.
// The compiler uses the memory of values that it has removed again, and forgets to take them out of what it knows of
// variables: a variable that turned out to be a constant then is where an argument is, from the beginning of the code
// (freeValue in cmd/compile/internal/ssa, func.go). What the function was called with can only be in a variable that
// the source gives that argument's value.
func (v *view) strange(e *godwarf.Tree, p loc.Place) string {
	if e.Tag != dwarf.TagVariable {
		return ""
	}
	src := v.source()
	if src == nil {
		return ""
	}
	from, outside, ok := src.Handed(dw.Name(e), int(dw.Int(e, dwarf.AttrDeclLine)))
	if !ok || outside || v.copy != nil && len(from) > 0 {
		return ""
	}
	c := v.assignedCode()
	if c == nil {
		return ""
	}
	own, others, ok := v.passed(from)
	if !ok {
		return ""
	}
	for _, part := range v.held(p) {
		for _, h := range c.Brought(part, v.s.PC) {
			if h.In(others) && !h.In(own) {
				return "the debug information has it where an argument is, which the source does not give it"
			}
		}
	}
	return ""
}

// passed lists where the function is called with arguments, those of a list and all others.
func (v *view) passed(list []gosource.Origin) (in, others []assigned.Held, ok bool) {
	entry, err := v.im.entry(v.i)
	if err != nil {
		return nil, nil, false
	}
	at, err := v.im.view(v.im.site(v.i, entry.PC, debuginfo.AtEntry))
	if err != nil || !at.entry {
		return nil, nil, false
	}
	for n, q := range at.sig.params {
		p, err := at.paramAtEntry(n)
		if err != nil {
			return nil, nil, false
		}
		if slices.ContainsFunc(list, func(o gosource.Origin) bool { return o.Name == q.name }) {
			in = append(in, at.held(p)...)
		} else {
			others = append(others, at.held(p)...)
		}
	}
	return in, others, true
}
