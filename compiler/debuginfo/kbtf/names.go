package kbtf

// group is a name space of BTF.
type group uint8

const (
	groupFunc  group = iota // functions
	groupNamed              // everything that is a type
	groupVar                // variables
	groups                  // how many there are
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

// walkLimit is how many look-ups go through all types, at about the third of a millisecond each, before a table is made,
// which takes some ten times that.
const walkLimit = 12

// find lists the types of x itself (not of its base) in group g that are called name.
func (x *blob) find(g group, name string) (out []uint32) {
	if name == "" {
		return nil
	}
	if x.lookups++; x.lookups > walkLimit {
		x.table(g).each(name, func(id uint32) {
			if r, ok := x.at(id); ok && x.name(r) == name {
				out = append(out, id)
			}
		})
		return out
	}
	offs := x.offsets(name)
	if len(offs) == 0 {
		return nil
	}
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

// table makes the table of a group: the numbers of types by name.
func (x *blob) table(g group) slots {
	if x.tables[g] != nil {
		return x.tables[g]
	}
	each := func(f func(record)) {
		x.each(func(r record) bool {
			if k, ok := groupOf(r.kind()); ok && k == g && r.nameOff() != 0 {
				f(r)
			}
			return true
		})
	}
	n := 0
	each(func(record) { n++ })
	t := newSlots(n)
	each(func(r record) { t.add(x.name(r), r.id) })
	x.tables[g] = t
	return t
}
