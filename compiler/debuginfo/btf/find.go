package btf

import (
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo/slots"
)

// Group is a name space of BTF.
type Group uint8

const (
	groupNone  Group = iota // what has no name of its own
	GroupFunc               // functions
	GroupNamed              // everything that is a type
	GroupVar                // variables
	groups                  // how many there are
)

// groupOfKind has the name space of each kind.
var groupOfKind = [32]Group{KindFunc: GroupFunc, KindVar: GroupVar, KindInt: GroupNamed, KindStruct: GroupNamed,
	KindUnion: GroupNamed, KindEnum: GroupNamed, KindEnum64: GroupNamed, KindFwd: GroupNamed, KindTypedef: GroupNamed,
	KindFloat: GroupNamed}

// walkLimit is how many names are looked for by going through all types, at about the third of a millisecond
// each, before a table is made, which takes some ten times that.
const walkLimit = 12

// key is what is looked for.
type key struct {
	g    Group
	name string
}

// Find lists the types of x itself (not of its base) in group g that are called name.
func (x *Types) Find(g Group, name string) []uint32 {
	if name == "" || g == groupNone || strings.IndexByte(name, 0) >= 0 {
		return nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if ids, ok := x.found[key{g, name}]; ok {
		return ids
	}
	if x.found == nil {
		x.found = map[key][]uint32{}
	}
	var ids []uint32
	if len(x.found) < walkLimit {
		ids = x.walk(g, name)
		x.found[key{g, name}] = ids
		return ids
	}
	x.table(g).Each(name, func(id uint32) {
		if r, ok := x.At(id); ok && x.Name(r) == name {
			ids = append(ids, id)
		}
	})
	return ids
}

// walk goes through all types and compares the names of those in the group. There is no search among the
// strings: names such as "inode" are the end of hundreds of others.
func (x *Types) walk(g Group, name string) (out []uint32) {
	for i, off := range x.at {
		t := x.types[off:][:12]
		if k := le.Uint32(t[4:]) >> 24 & 0x1f; groupOfKind[k] == g && x.Is(le.Uint32(t), name) {
			out = append(out, x.first+uint32(i))
		}
	}
	return out
}

// FindKind lists the types of x itself that are of this kind and name.
func (x *Types) FindKind(kind int, name string) (out []uint32) {
	for _, id := range x.Find(groupOfKind[kind], name) {
		if r, ok := x.At(id); ok && r.Kind() == kind {
			out = append(out, id)
		}
	}
	return out
}

// table makes the table of a group: the numbers of types by name.
func (x *Types) table(g Group) slots.Table {
	if x.tables[g] != nil {
		return x.tables[g]
	}
	each := func(f func(Record)) {
		x.Each(func(r Record) bool {
			if groupOfKind[r.Kind()] == g && r.Named() {
				f(r)
			}
			return true
		})
	}
	n := 0
	each(func(Record) { n++ })
	t := slots.New(n)
	each(func(r Record) { t.Add(x.Name(r), r.id) })
	x.tables[g] = t
	return t
}
