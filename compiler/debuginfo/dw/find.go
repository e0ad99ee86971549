package dw

import (
	"debug/dwarf"
	"slices"

	"github.com/gostap/gostap/compiler/foreign"
)

// FuncRef is a function entry that FindFuncs found.
type FuncRef struct {
	Unit *Unit
	Die  dwarf.Offset
	Name string
	// Low is the entry address of a function with code. HasCode is false for abstract ones,
	// which exist as inlined copies only (or as other entries whose origin they are).
	Low     uint64
	HasCode bool
}

// InlineRef is an inlined copy that FindFuncs found.
type InlineRef struct {
	Unit *Unit
	Die  dwarf.Offset // of the copy
	Func dwarf.Offset // of the function with code that contains it
	Of   dwarf.Offset // the abstract function
	Name string
}

// FindFuncs looks through all units for functions whose DW_AT_name (or linkage name) matches, and
// for inlined copies of them. Names without code and without copies (declarations) are not in it.
// match sees bytes of the section.
func (d *Data) FindFuncs(match func(name []byte) bool) (funcs []FuncRef, inlined []InlineRef, err error) {
	defer foreign.Guard(&err)()
	units, err := d.AllUnits()
	if err != nil {
		return nil, nil, err
	}
	return d.FindFuncsIn(units, match)
}

// FindFuncsIn is FindFuncs within some units.
func (d *Data) FindFuncsIn(units []*Unit, match func(name []byte) bool) (funcs []FuncRef, inlined []InlineRef,
	err error) {
	defer foreign.Guard(&err)()
	f := finder{match: match, names: map[dwarf.Offset]string{}}
	for _, u := range units {
		if u.typeUnit {
			continue
		}
		links, inlined := len(f.links), len(f.inlined)
		if err := f.unit(u); err != nil {
			return nil, nil, err
		}
		f.prune(u, links, inlined)
	}
	f.resolve()
	for i := range f.funcs {
		if r := &f.funcs[i]; r.Name == "" {
			r.Name = f.names[r.Die]
		}
	}
	f.funcs = slices.DeleteFunc(f.funcs, func(r FuncRef) bool { return r.Name == "" })
	for i := range f.inlined {
		f.inlined[i].Name = f.names[f.inlined[i].Of]
	}
	f.inlined = slices.DeleteFunc(f.inlined, func(r InlineRef) bool { return r.Name == "" })
	return f.funcs, f.inlined, nil
}

// resolve gives entries without a name of their own those of their origins, which may come later in the
// file and may have origins in turn.
func (f *finder) resolve() {
	for range maxOrigins {
		n := len(f.names)
		f.links = slices.DeleteFunc(f.links, func(l link) bool {
			name, ok := f.names[l.to]
			if ok {
				f.names[l.from] = name
			}
			return ok
		})
		if len(f.names) == n {
			return
		}
	}
}

// prune drops what came from u and cannot become a match any more: links and copies whose
// origins are in u itself and do not match.
func (f *finder) prune(u *Unit, links, inlined int) {
	if len(f.links) > links {
		f.resolve()
	}
	open := map[dwarf.Offset]bool{} // may still match, by way of another unit
	for range maxOrigins {
		n := len(open)
		for _, l := range f.links {
			if l.to < u.Die || l.to >= u.End || open[l.to] {
				open[l.from] = true
			}
		}
		if len(open) == n {
			break
		}
	}
	f.links = slices.DeleteFunc(f.links, func(l link) bool { return !open[l.from] })
	tail := slices.DeleteFunc(f.inlined[inlined:], func(r InlineRef) bool {
		return r.Of >= u.Die && r.Of < u.End && f.names[r.Of] == "" && !open[r.Of]
	})
	f.inlined = f.inlined[:inlined+len(tail)]
}

type link struct{ from, to dwarf.Offset }

type finder struct {
	text    int // bytes of the names
	match   func([]byte) bool
	names   map[dwarf.Offset]string // matching functions
	links   []link                  // functions that have their name from another entry
	funcs   []FuncRef
	inlined []InlineRef
}

func (f *finder) unit(u *Unit) error {
	s, err := u.scan()
	if err != nil {
		return err
	}
	var in dwarf.Offset // the function with code that we are in, 0 if none
	depth := 0          // of that
	for s.next() {
		if in != 0 && s.depth <= depth {
			in = 0
		}
		switch s.a.tag {
		case dwarf.TagSubprogram:
			r := FuncRef{Unit: u, Die: s.off}
			name := s.str(slotName)
			switch {
			case name != nil && f.match(name):
				r.Name = string(name)
			case s.has(slotLinkage) && f.match(s.str(slotLinkage)):
				if r.Name = string(name); name == nil {
					r.Name = string(s.str(slotLinkage))
				}
			}
			if r.Name != "" {
				f.names[s.off] = r.Name
				f.text += len(r.Name)
			}
			if f.text > maxNames || len(f.funcs)+len(f.links)+len(f.inlined) > maxRefs {
				return u.d.Corrupt("more than %d functions and copies", maxRefs)
			}
			if r.Low, r.HasCode = s.addr(slotLow); !r.HasCode && s.has(slotRanges) {
				t, err := u.d.Entry(s.off)
				if err != nil {
					return err
				}
				r.Low, r.HasCode = EntryPC(t)
			}
			if r.HasCode {
				in, depth = s.off, s.depth
			}
			if name == nil && r.Name == "" {
				to, ok := s.ref(slotOrigin)
				if !ok {
					to, ok = s.ref(slotSpec)
				}
				if ok {
					f.links = append(f.links, link{s.off, to})
				}
				if ok && r.HasCode {
					f.funcs = append(f.funcs, r)
				}
			} else if r.Name != "" && r.HasCode {
				f.funcs = append(f.funcs, r)
			}
		case dwarf.TagInlinedSubroutine:
			if in == 0 {
				continue // in an abstract function: a pattern, not code
			}
			if of, ok := s.ref(slotOrigin); ok {
				f.inlined = append(f.inlined, InlineRef{Unit: u, Die: s.off, Func: in, Of: of})
			}
		}
	}
	return s.failed()
}

// GlobalRef is a variable outside of functions.
type GlobalRef struct {
	Unit *Unit
	Die  dwarf.Offset
	// Home is the unit that declares the name: with link-time optimisation the entry with the location
	// is in another.
	Home *Unit
	// Declaration: this entry only says that it exists. Lost: it is defined, without a location or a
	// value. External: it is visible outside its unit.
	Declaration, Lost, External bool
}

// FindGlobals looks through all units for variables with this name outside of functions, definitions before
// declarations.
func (d *Data) FindGlobals(name string) (refs []GlobalRef, err error) {
	defer foreign.Guard(&err)()
	units, err := d.AllUnits()
	if err != nil {
		return nil, err
	}
	return d.FindGlobalsIn(units, name)
}

// FindGlobalsIn is FindGlobals within some units.
func (d *Data) FindGlobalsIn(units []*Unit, name string) (refs []GlobalRef, err error) {
	defer foreign.Guard(&err)()
	type completion struct {
		ref GlobalRef
		of  dwarf.Offset
	}
	var rest []completion // definitions that have their name elsewhere
	named := map[dwarf.Offset]GlobalRef{}
	var decls []dwarf.Offset
	for _, u := range units {
		if u.typeUnit {
			continue
		}
		s, err := u.scan()
		if err != nil {
			return nil, err
		}
		for s.next() {
			switch s.a.tag {
			case dwarf.TagCompileUnit, dwarf.TagPartialUnit, dwarf.TagNamespace, dwarf.TagModule:
				continue
			case dwarf.TagVariable:
				r := GlobalRef{Unit: u, Home: u, Die: s.off, Declaration: s.flag(slotDecl), Lost: !s.has(slotLocation),
					External: s.flag(slotExternal)}
				of, other := s.ref(slotSpec)
				if !other {
					of, other = s.ref(slotOrigin)
				}
				switch {
				case other:
					rest = append(rest, completion{r, of})
				case string(s.str(slotName)) != name:
				case r.Lost:
					named[s.off] = r
					decls = append(decls, s.off)
				default:
					refs = append(refs, r)
				}
			}
			s.skipChildren()
		}
		if err := s.failed(); err != nil {
			return nil, err
		}
	}
	for range maxOrigins { // completions may complete completions
		n := len(rest)
		rest = slices.DeleteFunc(rest, func(c completion) bool {
			decl, ok := named[c.of]
			if !ok {
				return false
			}
			c.ref.External = decl.External
			if c.ref.Lost {
				named[c.ref.Die] = c.ref
				decls = append(decls, c.ref.Die)
			} else {
				c.ref.Home = decl.Home
				refs = append(refs, c.ref)
			}
			return true
		})
		if len(rest) == n {
			break
		}
	}
	done := map[*Unit]bool{}
	for _, r := range refs {
		done[r.Home] = true
	}
	for _, off := range decls {
		if r := named[off]; !done[r.Unit] {
			refs = append(refs, r)
		}
	}
	return refs, nil
}
