package kbtf

// group is a name space of BTF.
type group uint8

const (
	groupFunc  group = iota // functions
	groupNamed              // everything that is a type
	groupVar                // variables
)

// groupOf is the name space of a kind, ok false for what has no name of its own.
func groupOf(kind int) (g group, ok bool) {
	switch kind {
	case kindFunc:
		return groupFunc, true
	case kindVar:
		return groupVar, true
	case kindInt, kindStruct, kindUnion, kindEnum, kindEnum64, kindFwd, kindTypedef, kindFloat:
		return groupNamed, true
	}
	return 0, false
}

// nameTable finds types by name: open addressing over their numbers.
type nameTable struct {
	slots []uint32 // 0 is empty
	mask  uint32
}

// walkLimit is how many look-ups go through all types, at about the third of a millisecond each, before a table is made,
// which takes some ten times that.
const walkLimit = 12

// find lists the types of x itself (not of its base) in group g that are called name.
func (x *blob) find(g group, name string) []uint32 {
	if name == "" {
		return nil
	}
	if x.lookups++; x.lookups > walkLimit {
		return x.table(g).find(x, name)
	}
	offs := x.offsets(name)
	if len(offs) == 0 {
		return nil
	}
	var out []uint32
	x.each(func(r record) bool {
		n := r.nameOff()
		for _, off := range offs {
			if n == off {
				if k, ok := groupOf(r.kind()); ok && k == g {
					out = append(out, r.id)
				}
			}
		}
		return true
	})
	return out
}

func (x *blob) table(g group) *nameTable {
	t := [...]*nameTable{&x.funcs, &x.named, &x.vars}[g]
	if t.slots != nil {
		return t
	}
	n := 0
	mine := func(r record) bool { k, ok := groupOf(r.kind()); return ok && k == g && r.nameOff() != 0 }
	x.each(func(r record) bool {
		if mine(r) {
			n++
		}
		return true
	})
	size := 16
	for size < n+n/2 {
		size *= 2
	}
	t.slots, t.mask = make([]uint32, size), uint32(size-1)
	x.each(func(r record) bool {
		if mine(r) {
			i := hash(x.name(r)) & t.mask
			for t.slots[i] != 0 {
				i = (i + 1) & t.mask
			}
			t.slots[i] = r.id
		}
		return true
	})
	return t
}

func (t *nameTable) find(x *blob, name string) []uint32 {
	var out []uint32
	for i := hash(name) & t.mask; t.slots[i] != 0; i = (i + 1) & t.mask {
		if r, ok := x.at(t.slots[i]); ok && x.name(r) == name {
			out = append(out, r.id)
		}
	}
	return out
}

// hash is FNV-1a.
func hash(s string) uint32 {
	h := uint32(2166136261)
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return h
}
