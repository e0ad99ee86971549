package family

import (
	"errors"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/probe"
)

// What .function(...) and .statement(...) have in common in programs and in the kernel.

// functionPattern reads the text of function("...").
func (m *match) functionPattern(c *probe.Comp) (pattern, bool) {
	pat, err := parsePattern(c.Arg.Str)
	if err != nil {
		m.errorf(c, "%v", err)
		return pat, false
	}
	if pat.all || pat.to != 0 || pat.rel || pat.more != "" {
		m.errorf(c, "a function is named by one line of it").Hintf("use .statement for lines")
		return pat, false
	}
	return pat, true
}

// statementPattern reads the text of statement("..."), which has a line where it has a file.
func (m *match) statementPattern(c *probe.Comp) (pattern, bool) {
	if m.has("absolute") {
		m.errorf(c, "an absolute statement is an address").Hintf("write .statement(0x...).absolute")
		return pattern{}, false
	}
	pat, err := parsePattern(c.Arg.Str)
	if err != nil {
		m.errorf(c, "%v", err)
		return pat, false
	}
	return pat, true
}

// noLine reports that a statement names a file and no line of it.
func (m *match) noLine(c *probe.Comp) {
	m.errorf(c, "the line is missing").Hintf(`write "%s:LINE"`, c.Arg.Str)
}

// eachOf runs find for each of several images and gathers the sites; find reports to the match that it gets. Errors are
// held back in failed: what does not match in one image is left out as long as another has it.
func eachOf[T any](m *match, of []T, find func(*match, T) []*probe.Site) (sites []*probe.Site, failed diag.List) {
	for _, x := range of {
		one := &match{env: m.env, req: m.req}
		sites = append(sites, find(one, x)...)
		failed = append(failed, m.take(one)...)
	}
	return sites, failed
}

// take adds what is said in a match for one image to m, and gives the errors.
func (m *match) take(one *match) (failed diag.List) {
	for _, d := range one.diag {
		if d.Severity == diag.Error {
			failed = append(failed, d)
		} else {
			m.diag.Add(d)
		}
	}
	return failed
}

// means reports whether a function is declared in the pattern's file and at its line.
func (p *pattern) means(fn *debuginfo.Func) bool {
	return p.inFile(fn.File) && (!p.hasLine || fn.Line == p.line)
}

// among keeps the functions of the pattern's file and line. Where the line is not that of a declaration, they are those
// of img that have code for it.
func (p *pattern) among(funcs []*debuginfo.Func, img debuginfo.Image) []*debuginfo.Func {
	var kept []*debuginfo.Func
	for _, fn := range funcs {
		if p.means(fn) {
			kept = append(kept, fn)
		}
	}
	if len(kept) > 0 || !p.hasLine {
		return kept
	}
	sites, err := p.find(img, false)
	if err != nil {
		return nil
	}
	seen := map[*debuginfo.Func]bool{}
	for _, s := range sites {
		if s.Func != nil && s.Inline == nil && !seen[s.Func] {
			seen[s.Func] = true
			kept = append(kept, s.Func)
		}
	}
	return kept
}

// exported keeps the functions that other files see.
func exported(funcs []*debuginfo.Func) []*debuginfo.Func {
	var kept []*debuginfo.Func
	for _, fn := range funcs {
		if fn.External {
			kept = append(kept, fn)
		}
	}
	return kept
}

// lineHint adds to d what may have been meant by a line or file that err says is not there.
func (m *match) lineHint(d *diag.Diagnostic, err error) {
	var nf *debuginfo.NotFoundError
	switch {
	case !errors.As(err, &nf):
	case len(nf.Near) > 0:
		d.Hintf("did you mean %s?", strings.Join(nf.Near, ", "))
	case nf.What == "line" && !m.has("nearest"):
		d.Hintf("append .nearest for the next line with code")
	}
}
