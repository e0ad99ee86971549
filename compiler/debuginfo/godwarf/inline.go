package godwarf

import (
	"cmp"
	"slices"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/dw"
	"github.com/gostap/gostap/compiler/debuginfo/pclntab"
	"github.com/gostap/gostap/compiler/debuginfo/x86"
)

// Inlined lists the inlined copies of the functions that a name or glob means, by address. The
// error is a *debuginfo.NotFoundError when there is none.
func (im *Image) Inlined(text string) (sites []*debuginfo.InlineSite, err error) {
	defer dw.Guard(&err)()
	p := parsePattern(text)
	sites, err = im.inlined(p)
	if err != nil || len(sites) > 0 {
		return sites, err
	}
	e := &debuginfo.NotFoundError{What: "inlined function", Name: text}
	if len(im.indexes(p)) > 0 {
		e.Detail = "it is inlined nowhere; leave .inline out"
	} else if !p.glob {
		e.Near = im.near(text)
	}
	return nil, e
}

func (im *Image) inlined(p *pattern) ([]*debuginfo.InlineSite, error) {
	match := func(name []byte) bool { return p.match(name) && !wrapperSuffix(name) }
	var sites []*debuginfo.InlineSite
	for _, host := range im.tab.SelectInlined(match) {
		if im.wrapper(host) {
			continue
		}
		calls, ok := im.tab.Inlined(host)
		if !ok {
			continue
		}
		for n, c := range calls {
			if len(c.Ranges) > 0 && match([]byte(c.Name)) {
				sites = append(sites, im.inlineSite(host, calls, n))
			}
		}
	}
	slices.SortFunc(sites, func(a, b *debuginfo.InlineSite) int { return cmp.Compare(a.Site.PC, b.Site.PC) })
	return sites, nil
}

// inlineSite describes call n of those inlined into function host.
func (im *Image) inlineSite(host int, calls []pclntab.Inlined, n int) *debuginfo.InlineSite {
	c := &calls[n]
	in := &debuginfo.InlineSite{Func: im.inlinedFunc(host, calls, n), In: im.funcOf(host)}
	// The call is where its mark stands, in the function around it.
	for _, f := range im.tab.Frames(host, c.CallPC) {
		if f.Inline == c.Parent {
			in.CallFile, in.CallLine = f.File, f.Line
			break
		}
	}
	pc := im.inlineEntry(host, c)
	in.Site = im.site(host, pc, debuginfo.AtInline)
	in.Site.Inline = in
	return in
}

// inlineEntry chooses where an inlined copy is entered. The compiler marks the place by a NOP, unless it
// found another instruction of the call's line to carry the mark (cmd/compile/internal/ssagen,
// inlMarks); that one need not run when the call does. Then it is the first statement of the body.
func (im *Image) inlineEntry(host int, c *pclntab.Inlined) uint64 {
	if b, err := im.f.Bytes(c.CallPC, 15); err == nil {
		if in, err := x86.Decode(b); err == nil && in.Kind == x86.Nop {
			return c.CallPC
		}
	}
	return c.Ranges[0][0]
}

// inlinedFunc is the Func of call n: that of its code if it has any, else one without an address.
func (im *Image) inlinedFunc(host int, calls []pclntab.Inlined, n int) *debuginfo.Func {
	c := &calls[n]
	for _, i := range im.tab.Named(c.Name) {
		if !im.wrapper(i) {
			return im.funcOf(i)
		}
	}
	f := &debuginfo.Func{Name: string(unescape([]byte(c.Name))), Line: c.StartLine, ABI: im.funcOf(host).ABI}
	if f.Name != c.Name {
		f.Symbol = c.Name
	}
	f.External = exported(f.Name)
	// Its file is that of code that is its own, or of the calls that it makes.
	for _, r := range im.tab.Rows(host) {
		if r.Inline == n {
			f.File = r.File
			break
		}
	}
	for m := range calls {
		if f.File == "" && calls[m].Parent == n {
			f.File, _ = im.tab.Line(host, calls[m].CallPC)
		}
	}
	return f
}

// inlineAt describes the innermost inlined copy that pc belongs to, nil if none does.
func (im *Image) inlineAt(host int, pc uint64) *debuginfo.InlineSite {
	fr := im.tab.Frames(host, pc)
	if len(fr) < 2 {
		return nil
	}
	calls, ok := im.tab.Inlined(host)
	if !ok || fr[0].Inline >= len(calls) {
		return nil
	}
	return im.inlineSite(host, calls, fr[0].Inline)
}
