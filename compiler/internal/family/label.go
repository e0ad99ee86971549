package family

import (
	"errors"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/probe"
)

// Labels of the source: function("f").label("L").

// owner is the function that a label stands in: the inlined one in an inlined copy.
func owner(l *debuginfo.Label) *debuginfo.Func {
	if in := l.Site.Inline; in != nil && in.Func != nil {
		return in.Func
	}
	return l.Site.Func
}

// labelsOf finds the labels that the request means in img. what names the program in messages.
func (m *match) labelsOf(img debuginfo.Image, what string) []debuginfo.Label {
	c, lc := m.at("function"), m.at("label")
	r, ok := img.(debuginfo.Labels)
	if !ok {
		m.errorf(lc, "%s programs have no labels in their debug information",
			img.Lang()).Hintf("use .statement with the label's line")
		return nil
	}
	var pat pattern
	if c.Arg.IsString {
		if pat, ok = m.functionPattern(c); !ok {
			return nil
		}
	} else if fn := img.FuncAt(uint64(c.Arg.Num)); fn != nil {
		pat.fn = fn.Name
	} else {
		m.errorf(c, "no function of %s covers address 0x%x", what, uint64(c.Arg.Num))
		return nil
	}
	all, err := r.Labels(pat.fn)
	if err != nil {
		d := m.errorf(c, "%v", err)
		var nf *debuginfo.NotFoundError
		if errors.As(err, &nf) && len(nf.Near) > 0 {
			d.Hintf("did you mean %s?", strings.Join(nf.Near, ", "))
		} else if errors.Is(err, debuginfo.ErrNoTypes) {
			d.Hintf("build it with -g")
		}
		return nil
	}
	var owners []*debuginfo.Func
	for i := range all {
		owners = append(owners, owner(&all[i]))
	}
	meant := map[*debuginfo.Func]bool{}
	for _, fn := range pat.among(owners, img) {
		meant[fn] = true
	}
	if len(meant) == 0 && len(owners) > 0 {
		m.errorf(c, "no function %q in %s", c.Arg.Str, what).Hintf("%s is declared at %s:%d", owners[0].Name,
			owners[0].File, owners[0].Line)
		return nil
	}
	var out []debuginfo.Label
	var names []string
	for i := range all {
		if fn := owner(&all[i]); !meant[fn] || !c.Arg.IsString && fn.Entry != img.FuncAt(uint64(c.Arg.Num)).Entry {
			continue
		}
		names = append(names, all[i].Name)
		if glob(lc.Arg.Str, all[i].Name) {
			out = append(out, all[i])
		}
	}
	switch names = distinct(names); {
	case len(out) > 0:
	case len(names) == 0:
		m.errorf(lc, "%s has no labels with a place in its code",
			pat.fn).Hintf("optimising compilers drop labels; use .statement with the label's line")
	default:
		d := m.errorf(lc, "%s has no label %q", pat.fn, lc.Arg.Str)
		if near := diag.Nearest(lc.Arg.Str, names, 3); len(near) > 0 {
			d.Hintf("did you mean %s?", strings.Join(near, ", "))
		} else {
			d.Hintf("it has %s", diag.Few(names))
		}
	}
	return out
}

// named gives the components of the request with the function and the label in place of patterns.
func (m *match) named(l *debuginfo.Label) []probe.Comp {
	comps := append([]probe.Comp(nil), m.req.Comps...)
	for i := range comps {
		switch fn := owner(l); comps[i].Name {
		case "function":
			comps[i].Arg = text(place(fn.Name, fn.File, fn.Line))
		case "label":
			comps[i].Arg = text(l.Name)
		}
	}
	return comps
}

func (f *finder) labels() {
	for _, l := range f.labelsOf(f.img, f.path) {
		st, err := f.site(probe.Uprobe, l.Site, owner(&l).Name, f.named(&l))
		if err != nil {
			f.warnf("label %s of %s is left out: %v", l.Name, owner(&l).Name, err)
			continue
		}
		f.sites = append(f.sites, st)
	}
}

func (f *kfinder) labels(c *probe.Comp) {
	for _, l := range f.labelsOf(f.img, f.img.What()) {
		n, fn := len(f.sites), owner(&l)
		f.found(c, l.Site, place(fn.Name, fn.File, fn.Line))
		if len(f.sites) == n {
			continue
		}
		s := f.sites[n]
		s.Func = fn.Name
		for i := range s.Comps {
			if s.Comps[i].Name == "label" {
				s.Comps[i].Arg = text(l.Name)
			}
		}
		s.Point = probe.Request{Comps: s.Comps}.String()
	}
}
