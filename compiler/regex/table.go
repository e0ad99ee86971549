package regex

// Table is an automaton as flat arrays, for executors that walk texts which end in a NUL and hold none before:
//
//	state := Start
//	while state > Found: state = Next[state+Class[*text++]]
//
// There is a match if the walk ends in Found, none if it ends in 0. It ends at the NUL at the latest, and both last
// states lead to themselves, so looking at some bytes more does no harm. A state is the index of its first entry in
// Next.
type Table struct {
	Class [256]uint8
	Next  []uint16
	Start uint16
	// Found is the state in which there is a match whatever follows. It is the number of columns as well.
	Found uint16
}

// Table gives d as a Table.
func (d *DFA) Table() *Table {
	t := &Table{Class: d.Class}
	columns := d.Classes
	// No set holds the NUL; unless it is alone in its class, it gets a column of its own.
	for c := 1; c < 256; c++ {
		if d.Class[c] == d.Class[0] {
			t.Class[0] = uint8(columns)
			columns++
			break
		}
	}
	t.Next = make([]uint16, d.States*columns)
	for s := range d.States {
		row := t.Next[s*columns:][:columns]
		for k := range d.Classes {
			row[k] = d.Next[s*d.Classes+k] * uint16(columns)
		}
		row[t.Class[0]] = 0
		if d.AtEnd[s] {
			row[t.Class[0]] = uint16(columns)
		}
	}
	t.Start, t.Found = d.Start*uint16(columns), uint16(columns)
	return t
}

// Match walks over text up to its end or first NUL.
func (t *Table) Match(text string) bool {
	s := t.Start
	for i := 0; s > t.Found; i++ {
		c := byte(0)
		if i < len(text) {
			c = text[i]
		}
		s = t.Next[s+uint16(t.Class[c])]
	}
	return s == t.Found
}
