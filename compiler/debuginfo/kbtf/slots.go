package kbtf

// slots is a table of numbers by name: open addressing, as many slots as a power of 2, 0 for an empty one.
type slots []uint32

// newSlots makes a table for n names.
func newSlots(n int) slots {
	size := 16
	for size < n+n/2 {
		size *= 2
	}
	return make(slots, size)
}

// add enters a number, which is not 0.
func (t slots) add(name string, v uint32) {
	mask := uint32(len(t) - 1)
	i := hash(name) & mask
	for t[i] != 0 {
		i = (i + 1) & mask
	}
	t[i] = v
}

// each calls fn with all numbers of a name, in the order in which they were entered, and perhaps with some of others.
func (t slots) each(name string, fn func(v uint32)) {
	mask := uint32(len(t) - 1)
	i := hash(name) & mask
	for range t { // a table that came from a file may have no empty slot
		if t[i] == 0 {
			return
		}
		fn(t[i])
		i = (i + 1) & mask
	}
}

// hash is FNV-1a.
func hash(s string) uint32 {
	h := uint32(2166136261)
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return h
}
