package dw

import (
	"debug/dwarf"
	"slices"
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
	defer Guard(&err)()
	units, err := d.Units()
	if err != nil {
		return nil, nil, err
	}
	f := finder{match: match, names: map[dwarf.Offset]string{}}
	for _, u := range units {
		if u.typeUnit {
			continue
		}
		if err := f.unit(u); err != nil {
			return nil, nil, err
		}
	}
	// Entries without a name of their own are what their origins are; those may come later in the file,
	// and may have origins in turn.
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
			break
		}
	}
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

type link struct{ from, to dwarf.Offset }

type finder struct {
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
