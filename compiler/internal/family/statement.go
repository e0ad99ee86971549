package family

import (
	"fmt"

	"github.com/gostap/gostap/compiler/probe"
)

// statements resolves process(...).statement(...).
func statements(m *match) []*probe.Site {
	c := m.at("statement")
	if !c.Arg.IsString {
		return m.each("statement", func(f *finder) { f.statementAt(c, uint64(c.Arg.Num)) })
	}
	pat, ok := m.statementPattern(c)
	if !ok {
		return nil
	}
	if !pat.hasLine {
		if pat.file == "" {
			// A bare function name means its first statement, as .function does.
			return m.each("statement", func(f *finder) { f.firstStatement(c, pat) })
		}
		m.noLine(c)
		return nil
	}
	return m.each("statement", func(f *finder) { f.lines(c, pat) })
}

func (f *finder) statementAt(c *probe.Comp, pc uint64) {
	s, err := f.img.SiteAt(pc)
	if err != nil {
		f.errorf(c, "%v", err)
		return
	}
	name := fmt.Sprintf("0x%x", pc)
	if s.Func != nil {
		name = place(s.Func.Name, s.File, s.Line)
	}
	if err := f.add(probe.Uprobe, s, "statement", name); err != nil {
		f.errorf(c, "%v", err)
	}
}

func (f *finder) firstStatement(c *probe.Comp, pat pattern) {
	funcs, err := f.img.Funcs(pat.fn)
	if err != nil && !missing(err) {
		f.errorf(c, "%v", err)
		return
	}
	for _, fn := range funcs {
		s, err := f.img.EntrySite(fn)
		if err == nil {
			err = f.add(probe.Uprobe, s, "statement", place(fn.Name, fn.File, fn.Line))
		}
		if err != nil {
			f.warnf("%s is left out: %v", fn.Name, err)
		}
	}
	if len(f.sites) == 0 {
		f.notFound(c, pat, err, len(funcs))
	}
}

func (f *finder) lines(c *probe.Comp, pat pattern) {
	sites, err := pat.find(f.img, f.has("nearest"))
	if err != nil {
		f.lineHint(f.errorf(c, "%v", err), err)
		return
	}
	for _, s := range sites {
		name := pat.fn
		switch {
		case s.Inline != nil && s.Inline.Func != nil:
			name = s.Inline.Func.Name
		case s.Func != nil:
			name = s.Func.Name
		}
		if err := f.add(probe.Uprobe, s, "statement", place(name, s.File, s.Line)); err != nil {
			f.warnf("%s:%d is left out: %v", s.File, s.Line, err)
		}
	}
	if len(f.sites) == 0 && !f.diag.HasErrors() {
		d := f.errorf(c, "%s has no code for %s", f.path, c.Arg.Str)
		if !f.has("nearest") {
			d.Hintf("append .nearest for the next line with code")
		}
	}
}

// lifetime resolves process.begin, .end, .thread.begin and .thread.end.
func lifetime(m *match) []*probe.Site {
	kinds := []probe.Kind{probe.ProcessBegin, probe.ProcessFork}
	last := m.req.Comps[len(m.req.Comps)-1].Name
	switch thread := m.has("thread"); {
	case thread && last == "begin":
		kinds = []probe.Kind{probe.ThreadBegin}
	case thread:
		kinds = []probe.Kind{probe.ThreadEnd}
	case last == "end":
		kinds = []probe.Kind{probe.ProcessEnd}
	}
	// Without a path and without a target it is about every process.
	if m.req.Comps[0].Arg == nil && m.env.TargetPath == "" {
		var sites []*probe.Site
		for _, k := range kinds {
			sites = append(sites, &probe.Site{Kind: k, Program: probe.ProgramPart{Target: m.env.hasTarget()}})
		}
		return sites
	}
	return m.each("", func(f *finder) {
		for _, k := range kinds {
			if k == probe.ProcessFork && f.prog.pid != 0 {
				continue // whom it has made has another number
			}
			s := &probe.Site{Kind: k, Program: probe.ProgramPart{Path: f.path, PID: f.prog.pid,
				Target: f.prog.target}, Image: nil}
			s.Point = `process("` + f.path + `")` + suffix(f.req.Comps[1:])
			f.sites = append(f.sites, s)
		}
	})
}
