package dw

import (
	"bytes"
	"debug/dwarf"

	"github.com/go-delve/delve/pkg/dwarf/godwarf"
)

// Files of some MB can describe terabytes: compressed sections inflate by a thousand, an entry of one byte may have a
// thousand attributes, a thousand entries may share one name of a gigabyte, and holes of sparse files cost nothing
// at all. So there is a limit for whatever is made of a file's bytes, far from what compilers write and near enough
// to what a machine can bear. What goes beyond it is refused by name.
const (
	maxAbbrevSection = 64 << 20  // real: 20 MB of a web browser
	maxAttributes    = 256       // of one abbreviation; real: 30
	maxUnits         = 1 << 20   // real: 100,000
	maxNames         = 512 << 20 // bytes of all names that a question finds
	maxRefs          = 8 << 20   // functions and copies that a question finds
	maxTreeText      = 64 << 20  // bytes of all texts in the tree of a function
	maxTreesHeld     = 1 << 18   // entries of all trees that are kept for a second question
	maxRowsHeld      = 1 << 22   // line rows that are kept for a second question
)

// longName reports whether a string section may hold a name that is longer than any that is believed: debug/dwarf
// copies names for each entry that has one. A name of twice the limit covers a multiple of the limit and all up to
// the next.
func longName(sec []byte) bool {
	const limit = 1 << 20
	for at := 0; at+limit <= len(sec); at += limit {
		if bytes.IndexByte(sec[at:at+limit], 0) < 0 {
			return true
		}
	}
	return false
}

// textOf is how many bytes of text the attributes of an entry have.
func textOf(e *entry) (n int) {
	for i := range e.first.Field {
		if s, ok := e.first.Field[i].Val.(string); ok {
			n += len(s)
		}
	}
	for _, x := range e.more {
		for i := range x.Field {
			if s, ok := x.Field[i].Val.(string); ok {
				n += len(s)
			}
		}
	}
	return n
}

// keepTree keeps a tree of n entries for the next question about it.
func (u *Unit) keepTree(t *godwarf.Tree, n int) {
	d := u.d
	if d.treesHeld += n; d.treesHeld > maxTreesHeld {
		for _, x := range d.treeOwners {
			x.trees = nil
		}
		d.treeOwners, d.treesHeld = nil, n
	}
	if len(u.trees) >= 64 {
		u.trees = nil
	}
	if u.trees == nil {
		u.trees = map[dwarf.Offset]*godwarf.Tree{}
		d.treeOwners = append(d.treeOwners, u)
	}
	u.trees[t.Offset] = t
}

// keepRows notes that the line rows of u are kept, and forgets those of other units when they have become too many.
func (d *Data) keepRows(u *Unit) {
	if d.rowsHeld += len(u.rows); d.rowsHeld > maxRowsHeld {
		for _, x := range d.rowOwners {
			x.rows, x.seqs, x.rowsErr, x.rowsOK = nil, nil, nil, false
		}
		d.rowOwners, d.rowsHeld = nil, len(u.rows)
	}
	d.rowOwners = append(d.rowOwners, u)
}
