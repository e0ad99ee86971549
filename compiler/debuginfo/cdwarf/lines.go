package cdwarf

import (
	"cmp"
	"debug/dwarf"
	"fmt"
	"slices"
	"strings"

	"github.com/go-delve/delve/pkg/dwarf/godwarf"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/dw"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/foreign"
)

// lineHit is a row of a line table that a query may mean.
type lineHit struct {
	fn    *function
	pc    uint64
	line  int
	file  string
	view  uint16
	empty bool          // the code at pc comes from another line: that of the last row of the address
	owner *godwarf.Tree // the function or the inlined copy that the row belongs to
}

// LineSites resolves file:line. For each function, and for each inlined copy, that has code for
// the line it gives the addresses at which runs of it begin (parts.go); at a function's entry that becomes
// the function's entry site. A file pattern that means several files with such code is an error.
func (im *Image) LineSites(q debuginfo.LineQuery) (sites []debuginfo.Site, err error) {
	defer foreign.Guard(&err)()
	if im.d == nil {
		return nil, im.noTypes()
	}
	hits, err := im.lined().rows(q)
	if err != nil {
		return nil, err
	}
	if len(hits) == 0 {
		return nil, im.lined().noFile(q)
	}
	if err := ambiguous(q, hits); err != nil {
		return nil, err
	}
	want, err := im.lined().choose(q, hits)
	if err != nil {
		return nil, err
	}
	seen := map[uint64]bool{}
	for _, h := range want {
		s, err := im.lined().lineSite(h)
		if err != nil {
			return nil, err
		}
		if !seen[s.PC] {
			sites = append(sites, s)
		}
		seen[s.PC] = true
	}
	return sites, nil
}

// rows collects the statements of the functions and files that the query names, on any line.
func (im liner) rows(q debuginfo.LineQuery) ([]lineHit, error) {
	pattern := q.Func
	if pattern == "" {
		pattern = "*"
	}
	m := newMatcher(pattern)
	if !m.glob || q.File == "" || q.Rel {
		return im.functionRows(q, m)
	}
	units, err := im.units()
	if err != nil {
		return nil, err
	}
	var hits []lineHit
	for _, u := range units {
		if !unitHas(u, q.File) {
			continue
		}
		more, err := im.unitRows(u, q, m, nil)
		if err != nil {
			return nil, err
		}
		hits = append(hits, more...)
	}
	return hits, nil
}

// unitHas reports whether the line table of u names a file that the pattern means.
func unitHas(u *dw.Unit, pattern string) bool {
	files, err := u.Files()
	if err != nil {
		return false
	}
	return slices.ContainsFunc(files, func(f string) bool { return dw.MatchFile(f, pattern) })
}

// functionRows collects the statements of functions by name, those of their inlined copies included.
func (im liner) functionRows(q debuginfo.LineQuery, m matcher) ([]lineHit, error) {
	fs, err := im.named().find(m)
	if err != nil {
		return nil, err
	}
	type where struct {
		u   *dw.Unit
		off dwarf.Offset
	}
	var in []*function
	seen := map[where]bool{}
	add := func(f *function) {
		if f == nil || f.head == nil {
			return
		}
		if w := (where{f.u, f.head.Offset}); !seen[w] {
			seen[w] = true
			in = append(in, f)
		}
	}
	for _, f := range fs {
		add(f)
	}
	inl, err := im.Inlined(q.Func)
	if err == nil {
		for _, x := range inl {
			f, err := im.of(x.In)
			if err != nil {
				return nil, err
			}
			add(f)
		}
	}
	if len(in) == 0 {
		return nil, &debuginfo.NotFoundError{What: "function", Name: q.Func, Near: im.NearNames(q.Func)}
	}
	var hits []lineHit
	for _, f := range in {
		if err := im.load(f); err != nil {
			return nil, err
		}
		more, err := im.unitRows(f.u, q, m, f)
		if err != nil {
			return nil, err
		}
		hits = append(hits, more...)
	}
	return hits, nil
}

// unitRows collects the statements of u in the query's file, whose function (or an inlined copy
// around them) matches. With only set, those of that function.
func (im liner) unitRows(u *dw.Unit, q debuginfo.LineQuery, m matcher, only *function) ([]lineHit, error) {
	rows, err := u.Rows()
	if err != nil {
		return nil, err
	}
	matched := map[string]bool{}
	inFile := func(f string) bool {
		ok, known := matched[f]
		if !known {
			ok = dw.MatchFile(f, q.File)
			matched[f] = ok
		}
		return ok
	}
	var hits []lineHit
	var fn *function
	for i, r := range rows {
		if r.End || !r.Stmt || r.Line == 0 || !im.own(r.PC) {
			continue
		}
		file := u.FileOf(r)
		if q.File != "" && !inFile(file) {
			continue
		}
		if only != nil {
			if !only.tree.ContainsPC(r.PC) {
				continue
			}
			fn = only
		} else if fn == nil || fn.tree == nil || !fn.tree.ContainsPC(r.PC) {
			if fn, err = im.at(r.PC); err != nil {
				return nil, err
			}
			if fn == nil || fn.tree == nil {
				continue // code that the linker has dropped, or assembly
			}
		}
		h := lineHit{fn: fn, pc: r.PC, line: r.Line, file: file, view: r.View, owner: fn.tree}
		for _, next := range rows[i+1:] {
			if next.End || next.PC != r.PC {
				break
			}
			h.empty = next.Line != r.Line
		}
		stack := dw.InlineStack(fn.tree, r.PC)
		for len(stack) > 0 && im.isCall(stack[0], h) {
			stack = stack[1:]
		}
		if len(stack) > 0 {
			h.owner = stack[0]
		}
		named := m.function(fn)
		for _, t := range stack {
			named = named || m.entry(t)
		}
		if !named {
			continue
		}
		if q.File == "" && file != im.ownFile(fn, stack, m) {
			continue
		}
		hits = append(hits, h)
	}
	return hits, nil
}

// isCall reports whether the row stands for the call of the inlined copy t, or for what is in front of it, rather
// than for its body: it is at t's first instruction, with the line of the call or before the row at which t begins.
func (im liner) isCall(t *godwarf.Tree, h lineHit) bool {
	pc, ok := dw.EntryPC(t)
	if !ok || pc != h.pc {
		return false
	}
	if view, ok := t.Val(attrEntryView).(int64); ok && int64(h.view) < view {
		return true // gcc counts the rows of one address; the copy begins at a later one
	}
	return int(dw.Int(t, dwarf.AttrCallLine)) == h.line && im.d.FileAttr(t, dwarf.AttrCallFile) == h.file
}

// ownFile is the file of the function that the query names, among fn and the copies inlined around a pc.
func (im liner) ownFile(fn *function, stack []*godwarf.Tree, m matcher) string {
	for _, t := range stack {
		if m.entry(t) {
			return im.d.FileAttr(t, dwarf.AttrDeclFile)
		}
	}
	return fn.File
}

// ambiguous is an error if the query's file is the end of several paths.
func ambiguous(q debuginfo.LineQuery, hits []lineHit) error {
	if q.File == "" || strings.ContainsAny(q.File, "*?[") {
		return nil
	}
	var files []string
	for _, h := range hits {
		if !slices.Contains(files, h.file) {
			files = append(files, h.file)
		}
	}
	if len(files) < 2 {
		return nil
	}
	slices.Sort(files)
	return fmt.Errorf("file %q is ambiguous: %s", q.File, strings.Join(files, ", "))
}

// choose picks the rows at which the wanted lines begin, for each owner.
func (im liner) choose(q debuginfo.LineQuery, hits []lineHit) ([]lineHit, error) {
	from, to := q.Line, max(q.To, q.Line)
	in := func(h lineHit) bool {
		if q.All {
			return true
		}
		base := 0
		if q.Rel {
			base = im.declLine(h, q.Func)
		}
		return h.line >= base+from && h.line <= base+to
	}
	type line struct {
		line  int
		owner dwarf.Offset
	}
	rows := map[line][]lineHit{}
	for _, h := range hits {
		if in(h) {
			k := line{h.line, h.owner.Offset}
			rows[k] = append(rows[k], h)
		}
	}
	var best []lineHit
	for _, list := range rows {
		best = append(best, im.begins(list)...)
	}
	if len(best) == 0 {
		line, near := nearest(hits, from, func(h lineHit) int {
			if q.Rel {
				return h.line - im.declLine(h, q.Func)
			}
			return h.line
		})
		if q.Nearest && line >= 0 {
			q.Line, q.To, q.Nearest = line, 0, false
			return im.choose(q, hits)
		}
		name := fmt.Sprintf("%s:%d", q.File, q.Line)
		if q.Rel {
			name = fmt.Sprintf("%s:+%d", q.Func, q.Line)
		}
		return nil, &debuginfo.NotFoundError{What: "line", Name: name, Detail: "it has no code" + near}
	}
	slices.SortFunc(best, func(a, b lineHit) int {
		return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.pc, b.pc), cmp.Compare(a.owner.Offset, b.owner.Offset))
	})
	return best, nil
}

// declLine is where the function that the query names is declared.
func (im liner) declLine(h lineHit, name string) int {
	m := newMatcher(name)
	for _, t := range dw.InlineStack(h.fn.tree, h.pc) {
		if m.entry(t) {
			return int(dw.Int(t, dwarf.AttrDeclLine))
		}
	}
	return h.fn.Line
}

// nearest is the first line with code behind line, -1 if there is none, and a text about the
// lines with code around it.
func nearest(hits []lineHit, line int, of func(lineHit) int) (next int, text string) {
	before, next := -1, -1
	for _, h := range hits {
		n := of(h)
		if n < line && n > before {
			before = n
		}
		if n > line && (next < 0 || n < next) {
			next = n
		}
	}
	switch {
	case before >= 0 && next >= 0:
		text = fmt.Sprintf("; lines %d and %d have", before, next)
	case next >= 0:
		text = fmt.Sprintf("; line %d has", next)
	case before >= 0:
		text = fmt.Sprintf("; line %d is the last one with code", before)
	}
	return next, text
}

// lineSite makes a site of a row.
func (im liner) lineSite(h lineHit) (debuginfo.Site, error) {
	pc, kind := h.pc, debuginfo.AtLine
	if pc == h.fn.Entry && h.owner == h.fn.tree && h.view == 0 {
		p, err := im.entered().planOf(h.fn)
		if err != nil {
			return debuginfo.Site{}, err
		}
		pc, kind = p.pc, debuginfo.AtEntry
	}
	s, err := im.site(h.fn, pc, kind)
	s.File, s.Line, s.Inline = h.file, h.line, nil
	if err == nil && h.owner != h.fn.tree {
		s.Inline, err = im.traced().inlineSite(h.fn, h.owner)
	}
	return s, err
}

// noFile says what the query's file could be.
func (im liner) noFile(q debuginfo.LineQuery) error {
	units, err := im.units()
	if err != nil {
		return err
	}
	base := q.File[strings.LastIndexByte(q.File, '/')+1:]
	var names []string
	for _, u := range units {
		files, err := u.Files()
		if err != nil {
			continue
		}
		for _, f := range files {
			if dw.MatchFile(f, q.File) {
				return &debuginfo.NotFoundError{What: "line", Name: fmt.Sprintf("%s:%d", q.File, q.Line),
					Detail: "no function that matches has code from this file"}
			}
			if n := f[strings.LastIndexByte(f, '/')+1:]; n != "" && !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	return &debuginfo.NotFoundError{What: "file", Name: q.File, Near: nearFiles(base, names)}
}

// nearFiles gives file names close to name.
func nearFiles(name string, names []string) []string { return diag.Nearest(name, names, 3) }
