package family

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo"
)

// pattern is the argument of function and statement: func[@file[:line]].
type pattern struct {
	fn, file string
	hasLine  bool
	line, to int
	rel, all bool
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
	}
	if p.file == "" && !p.hasLine {
		return p, fmt.Errorf("the file's name is missing in %q", s)
	}
	return p, nil
}

func (p *pattern) lines(spec string) error {
	bad := fmt.Errorf("bad line %q: it is a number, +offset, from-to or *", spec)
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

func (p *pattern) query(nearest bool) debuginfo.LineQuery {
	return debuginfo.LineQuery{Func: p.fn, File: p.file, Line: p.line, To: p.to, All: p.all, Rel: p.rel, Nearest: nearest}
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
