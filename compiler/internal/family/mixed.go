package family

import (
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/source"
)

// A Go program may have C code in it, which is an image of its own: names, lines and addresses are looked for in both.

// inC is the image of the C code of img, img itself where there is no such part.
func inC(img debuginfo.Image) debuginfo.Image {
	if m, ok := img.(debuginfo.Mixed); ok {
		if c := m.Other(); c != nil {
			return c
		}
	}
	return img
}

// imageAt is the image that has the code at pc.
func imageAt(img debuginfo.Image, pc uint64) debuginfo.Image {
	if img.FuncAt(pc) == nil {
		if c := inC(img); c.FuncAt(pc) != nil {
			return c
		}
	}
	return img
}

// inBoth runs find for img, then for its C code, and gives the sites of both. c is the component with the function's
// name. What one of them finds is enough; where neither finds anything, the one speaks that has more to say.
func (m *match) inBoth(c *probe.Comp, img debuginfo.Image, find func(*match, debuginfo.Image) *finder) []*probe.Site {
	mixed, ok := img.(debuginfo.Mixed)
	if !ok {
		return find(m, img).sites
	}
	first := &match{env: m.env, req: m.req}
	sites := find(first, img).sites
	// Names of Go have dots, those of C have none, but for copies that the compiler made.
	if len(sites) > 0 && c.Arg.IsString {
		if fn, _, _ := strings.Cut(c.Arg.Str, "@"); strings.Contains(fn, ".") {
			m.diag.AddAll(first.diag)
			return sites
		}
	}
	other := mixed.Other()
	if other == nil {
		m.diag.AddAll(first.diag)
		return sites
	}
	second := &match{env: m.env, req: m.req}
	more := find(second, other).sites
	switch {
	case len(sites) > 0 && len(more) > 0 && m.has("nearest"):
		// Both have a next line; it is the nearer one.
		if n, k := sites[0].At.Line, more[0].At.Line; k < n {
			sites = nil
		} else if n < k {
			more = nil
		}
	case len(sites) == 0 && len(more) == 0:
		if telling(second.diag) > telling(first.diag) {
			first = second
		}
		if why := other.NoTypes(); c.Arg.IsString && strings.Contains(c.Arg.Str, "@") && !other.HasTypes() &&
			len(first.diag) > 0 {
			first.diag[0].Note(source.Span{}, "%s: %s", img.Path(), why)
		}
		m.diag.AddAll(first.diag)
		return nil
	}
	for _, one := range []struct {
		m     *match
		found bool
	}{{first, len(sites) > 0}, {second, len(more) > 0}} {
		for _, d := range one.m.diag {
			if one.found || d.Severity != diag.Error {
				m.diag.Add(d)
			}
		}
	}
	return append(sites, more...)
}

// telling is how much the errors of a search say that found nothing: that the name is not there (1), with what else it
// could be (2), or that it is there and cannot be probed (3).
func telling(ds diag.List) int {
	n := 0
	for _, d := range ds {
		switch {
		case d.Severity != diag.Error:
		case strings.Contains(d.Message, " programs have no labels "): // the other language has
			n = max(n, 1)
		case !strings.HasPrefix(d.Message, "no ") && !strings.Contains(d.Message, " has no inlined copy of "):
			n = max(n, 3)
		case d.Hint != "" || len(d.Notes) > 0 || strings.Contains(d.Message, " ("):
			n = max(n, 2)
		default:
			n = max(n, 1)
		}
	}
	return n
}
