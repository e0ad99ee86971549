package family

import (
	"fmt"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/probe"
)

// stubs resolves process(...).plt and process(...).plt("name"), the calls from a program into libraries.
func stubs(m *match) []*probe.Site {
	c := m.at("plt")
	return m.each("plt", func(f *finder) { f.stubs(c) })
}

func (f *finder) stubs(c *probe.Comp) {
	pattern := "*"
	if c.Arg != nil {
		pattern = c.Arg.Str
	}
	var all []debuginfo.Stub
	if r, ok := f.img.(debuginfo.Linkage); ok {
		var err error
		if all, err = r.Stubs(); err != nil {
			f.errorf(c, "%v", err)
			return
		}
	}
	var names []string
	for _, s := range all {
		names = append(names, s.Name)
		if glob(pattern, s.Name) {
			if err := f.stub(s); err != nil {
				d := f.errorf(c, "%v", err)
				if f.has("return") {
					d.Hintf(`probe the function in its library: process("%s").library("*").function("%s").return`,
						f.path, s.Name)
				}
				return
			}
		}
	}
	if len(f.sites) > 0 {
		return
	}
	if len(all) == 0 {
		f.errorf(c, "%s has no procedure linkage table: it calls no library, or not through stubs (-fno-plt)", f.path)
		return
	}
	d := f.errorf(c, "%s has no stub for a function %q", f.path, pattern)
	if near := diag.Nearest(pattern, names, 3); len(near) > 0 {
		d.Hintf("did you mean %s?", strings.Join(near, ", "))
	}
}

func (f *finder) stub(s debuginfo.Stub) error {
	fn := &debuginfo.Func{Name: s.Name, Symbol: s.Name, Entry: s.PC, End: s.PC + 1, ABI: debuginfo.SysV}
	// A stub is reached by a call and only jumps.
	at := debuginfo.Site{PC: s.PC, Kind: debuginfo.AtEntry, Func: fn}
	at.CFA, at.Return = debuginfo.Called(f.img.Machine(), false)
	kind := probe.Uprobe
	if f.has("return") {
		if why := f.unwinds(); why != "" {
			return fmt.Errorf("the return to a stub cannot be probed: the kernel's return probe would end processes "+
				"whose stack is unwound (%s)", why)
		}
		kind, at.Kind = probe.Uretprobe, debuginfo.AfterRet
		at.CFA, at.Return = debuginfo.Returned(f.img.Machine())
	}
	comps := append([]probe.Comp(nil), f.req.Comps...)
	for i := range comps {
		if comps[i].Name == "plt" {
			comps[i].Arg = text(s.Name)
		}
	}
	st, err := f.site(kind, at, s.Name, comps)
	if err != nil {
		return err
	}
	st.Image = inC(f.img) // a stub is as C: it keeps to the convention of what it leads to
	st.Event, st.Names = s.Name, &vars{done: true}
	f.sites = append(f.sites, st)
	return nil
}
