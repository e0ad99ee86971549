package godwarf

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/dw"
	"github.com/gostap/gostap/compiler/debuginfo/funcname"
	"github.com/gostap/gostap/compiler/debuginfo/pclntab"
	"github.com/gostap/gostap/compiler/foreign"
)

// stmt is a place where a source line begins.
type stmt struct {
	pc       uint64
	file     string
	line     int
	unmarked bool // the line table does not mark it as the beginning of a statement
}

// stmts lists where lines begin in function i: the rows of DWARF's line table that are marked as
// statements, or, without DWARF, the changes of line in the function table. unmarked adds, for lines without a mark,
// their first row: the compiler loses the mark of some statements that begin with a call.
func (im liner) stmts(i int, unmarked bool) []stmt {
	var out []stmt
	if im.HasTypes() {
		if d, err := im.DWARF(); err == nil {
			out = im.dwarfStmts(d, i, unmarked)
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, r := range im.tab.Rows(i) {
		out = append(out, stmt{pc: r.Lo, file: r.File, line: r.Line})
	}
	return out
}

func (im liner) dwarfStmts(d *dw.Data, i int, unmarked bool) (out []stmt) {
	entry, end := im.tab.Entry(i), im.tab.End(i)
	u, err := d.UnitAt(entry)
	if err != nil || u == nil {
		return nil
	}
	rows, ok := im.rows[u]
	if !ok {
		all, err := u.Rows()
		if err == nil {
			rows = slices.Clone(all)
			slices.SortStableFunc(rows, func(a, b dw.Row) int { return cmp.Compare(a.PC, b.PC) })
		}
		im.rows[u] = rows
	}
	at := sort.Search(len(rows), func(k int) bool { return rows[k].PC >= entry })
	for _, r := range rows[at:] {
		if r.PC >= end {
			break
		}
		if (r.Stmt || unmarked) && !r.End && r.Line > 0 {
			out = append(out, stmt{r.PC, u.FileOf(r), r.Line, !r.Stmt})
		}
	}
	return out
}

// instance is one body of a function: its own code or an inlined copy.
type instance struct {
	host, inline int // inline is -1 for the function's own code
	name         string
	start        int // line of the func keyword, 0 if unknown
	lines        []stmt
}

// instances lists the bodies of the functions that p means (all if nil) in function host, with the
// statements that are from files that fileOK accepts.
func (im liner) instances(host int, p *funcname.Pattern, fileOK func(string) bool, unmarked bool) []*instance {
	var calls []pclntab.Inlined
	if im.tab.HasInlined(host) {
		calls, _ = im.tab.Inlined(host)
	}
	rows := im.tab.Rows(host)
	byIndex := map[int]*instance{}
	var out []*instance
	for _, s := range withCopies(im.stmts(host, unmarked), rows) {
		k := sort.Search(len(rows), func(k int) bool { return rows[k].Hi > s.pc })
		if k == len(rows) || s.pc < rows[k].Lo || !fileOK(s.file) {
			continue
		}
		n := rows[k].Inline
		in, seen := byIndex[n]
		if !seen {
			in = &instance{host: host, inline: n}
			if n < 0 && im.registry().wrapper(host) && (p == nil || p.Text != im.tab.Name(host)) {
				if st := im.wrappers().standOf(host); st == nil || st.call >= 0 {
					byIndex[n] = nil // the line of the call that it was made for
					continue
				}
			}
			switch {
			case n < 0:
				in.name, in.start = im.tab.Name(host), im.tab.StartLine(host)
			case n < len(calls):
				in.name, in.start = calls[n].Name, calls[n].StartLine
			}
			if in.name == "" || p != nil && !p.Match([]byte(in.name)) {
				in = nil
			} else {
				out = append(out, in)
			}
			byIndex[n] = in
		}
		if in != nil {
			in.lines = append(in.lines, s)
		}
	}
	return out
}

// withCopies adds to stmts, which are in order, the beginnings of inlined copies that the line table passes over,
// because the code in front of the copy has the same line: a method in the wrapper that was made for it, or a closure
// that is called where it is written.
func withCopies(stmts []stmt, rows []pclntab.Row) []stmt {
	begun := map[int]bool{}
	added := false
	for k, r := range rows {
		if r.Inline < 0 || begun[r.Inline] {
			continue
		}
		begun[r.Inline] = true
		if k == 0 || rows[k-1].Hi != r.Lo || rows[k-1].File != r.File || rows[k-1].Line != r.Line {
			continue
		}
		at := sort.Search(len(stmts), func(i int) bool { return stmts[i].pc >= r.Lo })
		if at == len(stmts) || stmts[at].pc != r.Lo {
			if !added {
				stmts, added = slices.Clone(stmts), true
			}
			stmts = slices.Insert(stmts, at, stmt{pc: r.Lo, file: r.File, line: r.Line})
		}
	}
	return stmts
}

// LineSites resolves lines of source; see debuginfo.Image. Each body of a function that has the
// line, inlined copies included, gives one site: the first address that begins it. A line that begins with
// an instruction that cannot be probed is an error, or, where every line is asked for, left out.
func (im *Image) LineSites(q debuginfo.LineQuery) (sites []debuginfo.Site, err error) {
	defer foreign.Guard(&err)()
	sites, err = im.lined().lineSites(q, false)
	var nf *debuginfo.NotFoundError
	if errors.As(err, &nf) && nf.What == "line" && !q.All && !q.Nearest {
		if more, err := im.lined().lineSites(q, true); err == nil {
			return more, nil
		}
	}
	return sites, err
}

// lineSites is LineSites for lines with a mark, or also for those without. In an inlined copy that has a line without a
// mark, while others have it with one, the first of its rows stands for the line: Go loses the mark where instructions
// of the copy and of its caller are mixed.
func (im liner) lineSites(q debuginfo.LineQuery, unmarked bool) (sites []debuginfo.Site, err error) {
	var p *funcname.Pattern
	if q.Func != "" && q.Func != "*" {
		p = funcname.Parse(q.Func)
	}
	bodies, err := im.bodies(q, p, unmarked || !q.All && !q.Nearest)
	if err != nil {
		return nil, err
	}
	found := map[uint64]bool{}
	for _, b := range bodies {
		if !unmarked {
			b.keepMarked()
		}
		first, err := b.linesWanted(q)
		if err != nil {
			return nil, err
		}
		if len(first) > 0 {
			if err := im.ways().checkCode(b.host); err != nil {
				return nil, err
			}
		}
		for _, s := range first {
			site := im.lineSite(b, s)
			if site.Insn == debuginfo.InsnRefused {
				if q.All {
					continue
				}
				return nil, fmt.Errorf("line %s:%d: %w", path.Base(site.File), site.Line, refused(site.PC))
			}
			if !found[site.PC] {
				found[site.PC] = true
				sites = append(sites, site)
			}
		}
	}
	if len(sites) == 0 {
		return nil, im.noLine(q, bodies)
	}
	slices.SortFunc(sites, func(a, b debuginfo.Site) int { return cmp.Compare(a.PC, b.PC) })
	return sites, nil
}

// bodies lists the function bodies that a query is about.
func (im liner) bodies(q debuginfo.LineQuery, p *funcname.Pattern, unmarked bool) ([]*instance, error) {
	if p == nil && q.File == "" {
		return nil, &debuginfo.NotFoundError{What: "file", Name: "", Detail: "a line needs a function or a file"}
	}
	var hosts []int
	if p != nil {
		hosts = im.registry().indexes(p)
		hosts = append(hosts, im.tab.SelectInlined(p.Match)...)
		slices.Sort(hosts)
		hosts = slices.Compact(hosts)
		if len(hosts) == 0 {
			return nil, im.registry().noFunc(p)
		}
	} else {
		hosts = im.tab.SelectFiles(func(n []byte) bool { return dw.MatchFile(string(n), q.File) })
	}
	files := map[string]bool{}
	ok := func(file string) bool {
		m, seen := files[file]
		if !seen {
			m = q.File == "" || dw.MatchFile(file, q.File)
			files[file] = m
		}
		return m
	}
	var out []*instance
	for _, h := range hosts {
		out = append(out, im.instances(h, p, ok, unmarked)...)
	}
	var matched, all []string
	for f, m := range files {
		if m {
			matched = append(matched, f)
		} else if f != "" && f != autogenerated {
			all = append(all, f)
		}
	}
	switch {
	case len(out) == 0 && q.File != "":
		return nil, im.noFile(q, p, all)
	case len(matched) > 1 && q.File != "" && !strings.ContainsAny(q.File, "*?["):
		slices.Sort(matched)
		return nil, fmt.Errorf("file %q is ambiguous: %s; write more of the path", q.File,
			strings.Join(matched[:min(len(matched), 6)], ", "))
	}
	if q.File == "" {
		out = slices.DeleteFunc(out, func(b *instance) bool { return !b.ownFile(im.Image) })
	}
	return out, nil
}

// ownFile keeps the statements of the body's own file, that of the first one; //line
// directives can bring others. It is false if none is left.
func (b *instance) ownFile(im *Image) bool {
	file := b.lines[0].file
	if b.inline < 0 {
		file = im.funcOf(b.host).File
	}
	b.lines = slices.DeleteFunc(b.lines, func(s stmt) bool { return s.file != file })
	return len(b.lines) > 0
}

// keepMarked drops what has no mark, but for lines of an inlined copy that have none anywhere in it.
func (b *instance) keepMarked() {
	marked := map[int]bool{}
	for _, s := range b.lines {
		marked[s.line] = marked[s.line] || !s.unmarked
	}
	b.lines = slices.DeleteFunc(b.lines, func(s stmt) bool { return s.unmarked && (b.inline < 0 || marked[s.line]) })
}

// linesWanted gives the first statement of each line that q asks for.
func (b *instance) linesWanted(q debuginfo.LineQuery) ([]stmt, error) {
	lo, hi := q.Line, max(q.Line, q.To)
	if q.Rel {
		if b.start == 0 {
			return nil, fmt.Errorf("lines relative to the beginning of %s are not known in this binary",
				pclntab.Unescape([]byte(b.name)))
		}
		lo, hi = b.start+q.Line, b.start+max(q.Line, q.To)
	}
	seen := map[int]bool{}
	var out []stmt
	for _, s := range b.lines {
		if s.line > 0 && (q.All || lo <= s.line && s.line <= hi) && !seen[s.line] {
			seen[s.line] = true
			out = append(out, s)
		}
	}
	if len(out) > 0 || !q.Nearest {
		return out, nil
	}
	// The next line with code, if the function goes on that far.
	var next *stmt
	for i, s := range b.lines {
		if s.line > hi && (next == nil || s.line < next.line) {
			next = &b.lines[i]
		}
	}
	first := b.start
	if first == 0 {
		first = b.lines[0].line
	}
	if next == nil || first > lo {
		return nil, nil
	}
	return []stmt{*next}, nil
}

func (im liner) lineSite(b *instance, s stmt) debuginfo.Site {
	if b.inline < 0 && s.pc == im.tab.Entry(b.host) {
		// The line of the function itself: behind the stack check, which may run more than once.
		if e, err := im.entry(b.host); err == nil {
			site := im.site(b.host, e.PC, debuginfo.AtEntry)
			site.File, site.Line = s.file, s.line
			return site
		}
	}
	site := im.site(b.host, s.pc, debuginfo.AtLine)
	site.File, site.Line = s.file, s.line
	if b.inline >= 0 {
		if calls, ok := im.tab.Inlined(b.host); ok && b.inline < len(calls) {
			site.Inline = im.inlines().inlineSite(b.host, calls, b.inline)
		}
	}
	return site
}

// noFile explains that the file of q is not among those of the functions.
func (im liner) noFile(q debuginfo.LineQuery, p *funcname.Pattern, files []string) error {
	e := &debuginfo.NotFoundError{What: "file", Name: q.File}
	if p == nil {
		files = nil
		im.tab.Files(func(n []byte) bool { files = append(files, string(n)); return true })
	} else if len(files) > 0 {
		e.Detail = q.Func + " has no code from it"
	}
	// Names of a few other letters; of those the ones close to the program's own files.
	want, home := path.Base(q.File), ""
	for _, i := range im.tab.Named("main.main") {
		home = im.funcOf(i).File
	}
	near := map[string]int{}
	for _, f := range files {
		if d, _ := debuginfo.Distance([]byte(path.Base(f)), want, 2, nil); d <= 2 {
			near[f] = d*10000 - common(f, home)
		}
	}
	e.Near = slices.Collect(maps.Keys(near))
	slices.SortFunc(e.Near, func(a, b string) int {
		return cmp.Or(cmp.Compare(near[a], near[b]), strings.Compare(a, b))
	})
	e.Near = e.Near[:min(len(e.Near), maxNear)]
	if len(e.Near) == 0 && p != nil {
		slices.Sort(files)
		e.Near = files[:min(len(files), maxNear)]
	}
	return e
}

// common is how many bytes a and b begin with alike.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// noLine explains that no code comes from the line, and names the next ones that have some.
func (im liner) noLine(q debuginfo.LineQuery, bodies []*instance) error {
	line := q.Line
	before, after := 0, 0
	for _, b := range bodies {
		if q.Rel {
			line = b.start + q.Line
		}
		for _, s := range b.lines {
			if s.line > 0 && s.line < line {
				before = max(before, s.line)
			} else if s.line > line && (after == 0 || s.line < after) {
				after = s.line
			}
		}
	}
	name := q.File
	if name == "" {
		name = q.Func
	}
	e := &debuginfo.NotFoundError{What: "line", Name: fmt.Sprintf("%s:%d", name, line),
		Detail: "no instruction comes from it"}
	for _, n := range []int{after, before} {
		if n > 0 {
			e.Near = append(e.Near, fmt.Sprint(n))
		}
	}
	return e
}
