package family

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo"
)

// pattern is the argument of function and statement: func[@file[:lines]] or func[@file+line]. lines are numbers, ranges
// and the like with commas between them; line, to, rel and all are the first of them, more is the text of the others.
type pattern struct {
	fn, file string
	hasLine  bool
	line, to int
	rel, all bool
	more     string
}

// parsePattern takes the text apart. The function ends at the first @: file names may
// hold more of them (module versions), function names hold none.
func parsePattern(s string) (pattern, error) {
	var p pattern
	var at bool
	p.fn, p.file, at = strings.Cut(s, "@")
	if p.fn == "" {
		return p, fmt.Errorf("the function's name is missing in %q (use * for any)", s)
	}
	if !at {
		return p, nil
	}
	if i := strings.LastIndexByte(p.file, ':'); i >= 0 {
		spec := p.file[i+1:]
		p.file, p.hasLine = p.file[:i], true
		if err := p.lines(spec); err != nil {
			return p, err
		}
	} else if i := strings.LastIndexByte(p.file, '+'); i >= 0 && i+1 < len(p.file) &&
		strings.Trim(p.file[i+1:], "0123456789") == "" {
		// "file+n" is the same as "file:+n".
		spec := p.file[i:]
		p.file, p.hasLine = p.file[:i], true
		if err := p.lines(spec); err != nil {
			return p, err
		}
	}
	if p.file == "" && !p.hasLine {
		return p, fmt.Errorf("the file's name is missing in %q", s)
	}
	return p, nil
}

// lines reads what stands behind the colon: all of it is looked at, the first of a list is kept.
func (p *pattern) lines(spec string) error {
	all := strings.Split(spec, ",")
	for _, one := range all[1:] {
		if err := new(pattern).span(one); err != nil {
			return err
		}
	}
	_, p.more, _ = strings.Cut(spec, ",")
	return p.span(all[0])
}

// span reads one of the list.
func (p *pattern) span(spec string) error {
	bad := fmt.Errorf("bad line %q: it is a number, +offset, from-to or *, or several of them with commas between",
		spec)
	if spec == "*" {
		p.all = true
		return nil
	}
	if rest, ok := strings.CutPrefix(spec, "+"); ok {
		p.rel, spec = true, rest
	}
	lo, hi, isRange := strings.Cut(spec, "-")
	n, err := strconv.ParseUint(lo, 10, 31)
	if err != nil || n == 0 && !p.rel {
		return bad
	}
	p.line = int(n)
	if isRange {
		m, err := strconv.ParseUint(hi, 10, 31)
		if err != nil || m < n {
			return bad
		}
		p.to = int(m)
	}
	return nil
}

// find asks img for the lines. A place that several of a list name is found once.
func (p *pattern) find(img lineFinder, nearest bool) ([]debuginfo.Site, error) {
	sites, err := img.LineSites(debuginfo.LineQuery{Func: p.fn, File: p.file, Line: p.line, To: p.to, All: p.all,
		Rel: p.rel, Nearest: nearest})
	if err != nil || p.more == "" {
		return sites, err
	}
	rest := pattern{fn: p.fn, file: p.file}
	if err := rest.lines(p.more); err != nil {
		return nil, err
	}
	others, err := rest.find(img, nearest)
	if err != nil {
		return nil, err
	}
	for _, o := range others {
		same := func(s debuginfo.Site) bool { return s.PC == o.PC && s.Line == o.Line && s.Inline == o.Inline }
		if !slices.ContainsFunc(sites, same) {
			sites = append(sites, o)
		}
	}
	return sites, nil
}

// lineFinder is the part of debuginfo.Image that knows lines.
type lineFinder interface {
	LineSites(debuginfo.LineQuery) ([]debuginfo.Site, error)
}

// inFile reports whether a recorded file name is one that the pattern means: equal, the
// same from a separator on, or matching as a glob. * does not stop at separators.
func (p *pattern) inFile(file string) bool {
	if p.file == "" || p.file == file {
		return true
	}
	if !strings.ContainsAny(p.file, "*?[") {
		return strings.HasSuffix(file, "/"+strings.TrimPrefix(p.file, "./"))
	}
	if ok, _ := filepath.Match(p.file, filepath.Base(file)); ok {
		return true
	}
	return glob(p.file, file)
}

// glob matches * (any text), ? (any character) and nothing else.
func glob(pat, s string) bool {
	star, mark := -1, 0
	i, j := 0, 0
	for j < len(s) {
		switch {
		case i < len(pat) && pat[i] == '*':
			star, mark = i, j
			i++
		case i < len(pat) && (pat[i] == '?' || pat[i] == s[j]):
			i++
			j++
		case star >= 0:
			mark++
			i, j = star+1, mark
		default:
			return false
		}
	}
	for i < len(pat) && pat[i] == '*' {
		i++
	}
	return i == len(pat)
}

func (p *pattern) isGlob() bool { return strings.ContainsAny(p.fn, "*?[") }
