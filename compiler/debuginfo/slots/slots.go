// Package slots finds numbers by name in a flat table of words, which can be written to a file and mapped as it is.
//
// In: names and numbers. Out: the numbers that may be those of a name; the caller compares.
package slots

// Table is a table of numbers by name: open addressing, as many slots as a power of 2, 0 for an empty one.
type Table []uint32

// New makes a table for n names.
func New(n int) Table {
	size := 16
	for size < n+n/2 {
		size *= 2
	}
	return make(Table, size)
}

// Add enters a number, which is not 0.
func (t Table) Add(name string, v uint32) {
	mask := uint32(len(t) - 1)
	i := hash(name) & mask
	for t[i] != 0 {
		i = (i + 1) & mask
	}
	t[i] = v
}

// Each calls fn with all numbers of a name, in the order in which they were entered, and perhaps with some of others.
func (t Table) Each(name string, fn func(v uint32)) {
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
