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

// Inlined lists the inlined copies of functions by glob or exact name, by address. Copies of which no
// code is left are not in it.
func (im *Image) Inlined(pattern string) (out []*debuginfo.InlineSite, err error) {
	defer foreign.Guard(&err)()
	if im.d == nil {
		return nil, &debuginfo.NotFoundError{What: "function", Name: pattern,
			Detail: "inlined copies are described by DWARF, and there is none: " + im.NoTypes()}
	}
	m := newMatcher(pattern)
	_, refs, err := im.findFuncs(m.last())
	if err != nil {
		return nil, err
	}
	err = im.traced().eachCopy(refs, func(fn *function, t *godwarf.Tree) error {
		if m.scoped != nil && !m.entry(t) {
			return nil
		}
		in, err := im.traced().copyAt(fn, t)
		if in != nil {
			out = append(out, in)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(out) == 0 {
		return nil, &debuginfo.NotFoundError{What: "inlined function", Name: pattern}
	}
	slices.SortFunc(out, func(a, b *debuginfo.InlineSite) int {
		return cmp.Or(cmp.Compare(a.Site.PC, b.Site.PC), strings.Compare(a.Func.Name, b.Func.Name))
	})
	return out, nil
}

// eachCopy gives f the inlined copies at refs, with the functions that they lie in, as long as it has no error.
func (im tracer) eachCopy(refs []dw.InlineRef, f func(fn *function, t *godwarf.Tree) error) error {
	var of *godwarf.Tree // what copies are those of: refs of a function stand together
	var copies map[dwarf.Offset][]*godwarf.Tree
	for _, r := range refs {
		fn, err := im.container(r)
		if err != nil {
			return err
		}
		if fn == nil {
			continue
		}
		if of != fn.tree {
			of, copies = fn.tree, map[dwarf.Offset][]*godwarf.Tree{}
			for _, t := range dw.Inlined(fn.tree) {
				copies[t.Offset] = append(copies[t.Offset], t)
			}
		}
		for _, t := range copies[r.Die] {
			if err := f(fn, t); err != nil {
				return err
			}
		}
	}
	return nil
}

// copyAt describes the inlined copy t in fn with its Site, nil if no code of it is left.
func (im tracer) copyAt(fn *function, t *godwarf.Tree) (*debuginfo.InlineSite, error) {
	pc, ok := dw.EntryPC(t)
	if !ok || !fn.tree.ContainsPC(pc) || !t.ContainsPC(pc) && !dw.Marked(t) ||
		dw.SplitOff(fn.tree, t) {
		return nil, nil
	}
	in, err := im.inlineSite(fn, t)
	if err != nil {
		return nil, err
	}
	if in.Site.PC == 0 {
		s, err := im.SiteAt(pc)
		if err != nil {
			return nil, nil // not at an instruction: damaged, or hand-written data in the code
		}
		s.Kind, s.Func, s.Inline = debuginfo.AtInline, &fn.Func, in
		in.Site = s
	}
	return in, nil
}

// inlineSite describes the inlined copy t in fn, without its Site.
func (im tracer) inlineSite(fn *function, t *godwarf.Tree) (*debuginfo.InlineSite, error) {
	if in := im.inl[t.Offset]; in != nil && in.In == &fn.Func {
		return in, nil
	}
	in := &debuginfo.InlineSite{
		Func: im.abstract(t), In: &fn.Func,
		CallFile: im.d.FileAttr(t, dwarf.AttrCallFile), CallLine: int(dw.Int(t, dwarf.AttrCallLine)),
	}
	im.inl[t.Offset] = in
	return in, nil
}

// abstract is the function that t is a copy of; its Entry is that of the out-of-line copy, if there is one.
func (im tracer) abstract(t *godwarf.Tree) *debuginfo.Func {
	name := dw.Name(t)
	origin := uint64(dw.Origin(t))
	for _, s := range im.syms.SymbolsNamed(name) {
		if !s.Func() {
			continue
		}
		if u, t, err := im.d.FuncEntry(s.Addr); err == nil && t != nil && uint64(dw.Origin(t)) == origin {
			if low, ok := dw.EntryPC(t); ok && low == s.Addr {
				return &im.named().fromEntry(u, t, low, s.Name).Func
			}
		}
	}
	return &debuginfo.Func{
		Name: im.named().scopedName(t), File: im.d.FileAttr(t, dwarf.AttrDeclFile), Line: int(dw.Int(t,
			dwarf.AttrDeclLine)),
		ABI: debuginfo.SysV, External: dw.Flag(t, dwarf.AttrExternal), ID: origin,
	}
}

// Lookup names the code at addr, innermost frame first.
func (im *Image) Lookup(addr uint64) (frames []debuginfo.Frame) {
	var err error
	defer foreign.Guard(&err)()
	if !im.own(addr) {
		return nil
	}
	fn, err := im.at(addr)
	if fn == nil || err != nil {
		return nil
	}
	last := debuginfo.Frame{Func: fn.Name, Off: addr - fn.Entry}
	if addr < fn.Entry || addr >= fn.End {
		// A part of the function that lies elsewhere (gcc's .cold) has a symbol of its own, from which distances count.
		if s, ok := im.f.SymbolAt(addr); ok {
			last = debuginfo.Frame{Func: s.Name, Off: addr - s.Addr}
		}
	}
	if fn.tree == nil {
		return []debuginfo.Frame{last}
	}
	file, line := "", 0
	if r, ok, err := fn.u.RowAt(addr); err == nil && ok {
		file, line = fn.u.FileOf(r), r.Line
	}
	for _, t := range dw.InlineStack(fn.tree, addr) {
		entry, _ := dw.EntryPC(t)
		fr := debuginfo.Frame{Func: im.named().scopedName(t), File: file, Line: line, Inline: true}
		if addr >= entry {
			fr.Off = addr - entry
		}
		frames = append(frames, fr)
		file, line = im.d.FileAttr(t, dwarf.AttrCallFile), int(dw.Int(t, dwarf.AttrCallLine))
	}
	last.File, last.Line = file, line
	return append(frames, last)
}
