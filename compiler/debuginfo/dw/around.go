package dw

import (
	"debug/dwarf"
	"sort"

	"github.com/gostap/gostap/compiler/foreign"
)

// IsCpp reports whether a DW_LANG code is one of C++.
func IsCpp(lang int64) bool {
	switch lang {
	case LangCpp, LangCpp03, LangCpp11, LangCpp14, LangCpp17, LangCpp20, LangCpp23:
		return true
	}
	return false
}

// surround is a namespace, type or function that has entries in it: those between its own offset and end.
type surround struct {
	off, end dwarf.Offset
	up       int // index of the one around it, -1
	path     string
}

// Around gives the namespaces and types around the entry at off, joined by "::". A function is "{}" in it, an anonymous
// namespace "(anonymous namespace)".
func (d *Data) Around(off dwarf.Offset) (path string, err error) {
	defer foreign.Guard(&err)()
	u, err := d.UnitOf(off)
	if err != nil {
		return "", err
	}
	if !u.around.read {
		u.around.read = true
		u.around.list, u.around.err = u.surrounds()
	}
	if u.around.err != nil {
		return "", u.around.err
	}
	list := u.around.list
	i := sort.Search(len(list), func(i int) bool { return list[i].off >= off }) - 1
	for i >= 0 && off >= list[i].end {
		i = list[i].up
	}
	if i < 0 {
		return "", nil
	}
	return list[i].path, nil
}

// surrounds lists those of a unit in the order of the file.
func (u *Unit) surrounds() (list []surround, err error) {
	s, err := u.scan()
	if err != nil {
		return nil, err
	}
	type level struct{ index, depth int }
	var open []level
	leave := func(depth int, off dwarf.Offset) {
		for len(open) > 0 && open[len(open)-1].depth >= depth {
			list[open[len(open)-1].index].end = off
			open = open[:len(open)-1]
		}
	}
	for s.next() {
		leave(s.depth, s.off)
		name := ""
		switch s.a.tag {
		case dwarf.TagNamespace, dwarf.TagModule:
			if name = string(s.str(slotName)); name == "" {
				name = "(anonymous namespace)"
			}
		case dwarf.TagStructType, dwarf.TagClassType, dwarf.TagUnionType:
			if name = string(s.str(slotName)); name == "" {
				name = "{}"
			}
		case dwarf.TagSubprogram:
			name = "{}"
		default:
			if s.depth > 0 {
				s.skipChildren()
			}
			continue
		}
		if !s.a.children {
			continue
		}
		in := surround{off: s.off, end: u.End | u.d.bit, up: -1, path: name}
		if n := len(open); n > 0 {
			in.up = open[n-1].index
			in.path = list[in.up].path + "::" + name
		}
		list = append(list, in)
		if s.a.tag == dwarf.TagSubprogram {
			s.skipChildren()
			list[len(list)-1].end = s.nextOff()
			continue
		}
		open = append(open, level{len(list) - 1, s.depth})
	}
	return list, s.failed()
}

// nextOff is where the next entry, or the end of a list of entries, is read.
func (s *scanner) nextOff() dwarf.Offset { return dwarf.Offset(s.r.Off) | s.u.d.bit }
