package family

import (
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/probe"
)

// marks resolves process(...).mark("name") and process(...).provider("name").mark("name").
func marks(m *match) []*probe.Site {
	c := m.at("mark")
	return m.each("mark", func(f *finder) { f.marks(c) })
}

func (f *finder) marks(c *probe.Comp) {
	provider := "*"
	if p := f.at("provider"); p != nil {
		provider = p.Arg.Str
	}
	var all []debuginfo.Mark
	if r, ok := f.img.(debuginfo.Marks); ok {
		var err error
		if all, err = r.Marks(); err != nil {
			f.errorf(c, "%v", err)
			return
		}
	}
	left := 0
	var first error
	for i := range all {
		mk := &all[i]
		if !glob(provider, mk.Provider) || !glob(markName(c.Arg.Str), markName(mk.Name)) {
			continue
		}
		if err := f.mark(mk); err != nil {
			if left++; first == nil {
				first = err
			}
		}
	}
	switch {
	case len(f.sites) == 0 && left > 0:
		f.errorf(c, "%v", first)
	case left > 0:
		f.warnf("%s: %d places are left out: %v", f.req, left, first)
	case len(f.sites) == 0:
		f.noMark(c, provider, all)
	}
}

// markName is a name as patterns are matched with it: the tool that makes headers of marks writes "a-b" as a__b.
func markName(s string) string { return strings.ReplaceAll(s, "-", "__") }

// mark adds the site of one mark.
func (f *finder) mark(mk *debuginfo.Mark) error {
	img := imageAt(f.img, mk.PC)
	s, err := img.SiteAt(mk.PC)
	if err != nil {
		// The function is not known (stripped): the arguments do not need it.
		s = debuginfo.Site{PC: mk.PC, Kind: debuginfo.AtLine}
	}
	fn := ""
	if s.Func != nil {
		fn = s.Func.Name
	}
	comps := []probe.Comp{f.req.Comps[0]}
	if lib := f.at("library"); lib != nil {
		comps = append(comps, *lib)
	}
	st, err := f.site(probe.Uprobe, s, fn, append(comps, probe.Comp{Name: "provider", Arg: text(mk.Provider)},
		probe.Comp{Name: "mark", Arg: text(mk.Name)}))
	if err != nil {
		return err
	}
	st.Image = img
	st.Event, st.Names = mk.Name, &vars{done: true, all: mk.Args}
	if mk.Semaphore != 0 {
		if st.Program.RefCtr, err = f.img.FileOffset(mk.Semaphore); err != nil {
			return err
		}
	}
	f.sites = append(f.sites, st)
	return nil
}

// noMark says what marks there are.
func (f *finder) noMark(c *probe.Comp, provider string, all []debuginfo.Mark) {
	if len(all) == 0 {
		f.errorf(c, "%s has no static marks", f.path)
		return
	}
	var names, providers []string
	for _, mk := range all {
		providers = append(providers, mk.Provider)
		if glob(provider, mk.Provider) {
			names = append(names, mk.Name)
		}
	}
	if len(names) == 0 {
		p := f.at("provider")
		d := f.errorf(p, "%s has no marks of a provider %q", f.path, provider)
		if near := diag.Nearest(provider, distinct(providers), 3); len(near) > 0 {
			d.Hintf("did you mean %s?", strings.Join(near, ", "))
		}
		return
	}
	names = distinct(names)
	d := f.errorf(c, "%s has no mark %q", f.path, c.Arg.Str)
	if near := diag.Nearest(c.Arg.Str, names, 3); len(near) > 0 {
		d.Hintf("did you mean %s?", strings.Join(near, ", "))
	} else if len(names) <= 8 {
		d.Hintf("it has %s", strings.Join(names, ", "))
	}
}

// distinct gives each of names once, sorted.
func distinct(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}
