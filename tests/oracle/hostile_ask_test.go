package oracle

import (
	"slices"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/types"
)

// askAll asks an image for all that the compiler asks: functions by pattern with their sites, variables, results,
// copies, calls and lines, types and globals, and names of addresses. few is how many functions are looked at
// closely.
func askAll(im debuginfo.Image, few int) {
	im.HasTypes()
	im.NoTypes()
	im.BuildID()
	im.LoadBase()
	im.NearNames("mian")
	images := []debuginfo.Image{im}
	if m, ok := im.(debuginfo.Mixed); ok {
		if o := m.Other(); o != nil {
			images = append(images, o)
		}
	}
	for _, im := range images {
		for _, pattern := range []string{"*", "main.*", "*main*"} {
			fs, _ := im.Funcs(pattern)
			for i, f := range fs {
				if len(fs) > few && i%(len(fs)/few+1) != 0 {
					continue
				}
				askFunc(im, f)
			}
		}
		in, _ := im.Inlined("main.*")
		more, _ := im.Inlined("*s*")
		for i, x := range append(in, more...) {
			if i < few {
				im.Vars(x.Site)
			}
		}
		for _, q := range []debuginfo.LineQuery{{Func: "*", File: "main.go", All: true},
			{Func: "*", File: "callee.c", All: true}, {Func: "main*", Line: 3, Nearest: true}} {
			sites, _ := im.LineSites(q)
			for i, s := range sites {
				if i < few {
					im.Vars(s)
				}
			}
		}
		for _, name := range []string{"counter", "main.counter", "hidden@main.c"} {
			if v, err := im.Global(name); err == nil {
				askType(v.Type, 3)
			}
		}
		for _, name := range []string{"struct node", "main.Server", "int", "runtime.g"} {
			if t, err := im.Type(name); err == nil {
				askType(t, 3)
			}
		}
		if m, ok := im.(interface {
			Marks() ([]debuginfo.Mark, error)
		}); ok {
			m.Marks()
		}
		if m, ok := im.(interface {
			Stubs() ([]debuginfo.Stub, error)
		}); ok {
			m.Stubs()
		}
	}
}

func askFunc(im debuginfo.Image, f *debuginfo.Func) {
	sites, _ := im.ReturnSites(f)
	if len(sites) > 3 {
		sites = sites[:3]
	}
	if s, err := im.EntrySite(f); err == nil {
		sites = append(slices.Clone(sites), s)
	}
	for _, s := range sites {
		vars, _ := im.Vars(s)
		results, _ := im.Results(s)
		for _, v := range append(slices.Clone(vars), results...) {
			im.Var(s, v.Name)
			askType(v.Type, 2)
		}
		im.Goroutine(s)
		im.FileOffset(s.PC)
		if u, ok := im.(debuginfo.RegUser); ok {
			u.RegDead(s, 0)
		}
	}
	im.FuncAt(f.Entry + 1)
	im.Lookup(f.Entry)
	im.Lookup(f.End - 1)
	im.SiteAt(f.Entry + 5)
	if c, ok := im.(debuginfo.Calls); ok {
		calls, _ := c.Calls(f)
		for i, x := range calls {
			if i < 8 {
				c.FramePointer(x.PC)
				im.SiteAt(x.PC)
			}
		}
		c.Copies(f)
	}
}

func askType(t *types.Ctype, depth int) {
	if t == nil || depth == 0 {
		return
	}
	askType(t.Elem(), depth-1)
	for i, f := range t.Fields() {
		if i < 16 {
			askType(f.Type, depth-1)
		}
	}
	t.Enums()
}
