package cfi

import (
	"cmp"
	"slices"
)

// Piece is what is known of the code in [Begin, End): Rows that begin at Begin, by growing PC.
type Piece struct {
	Begin, End uint64
	Rows       []Row
}

// Table makes one list of the rows of pieces, by growing PC; between pieces it has rows that say PackUnknown, as it has
// where pieces overlap. Neighbours differ.
func Table(pieces []Piece) []Row {
	slices.SortStableFunc(pieces, func(a, b Piece) int { return cmp.Compare(a.Begin, b.Begin) })
	var out []Row
	add := func(r Row) {
		for len(out) > 0 && out[len(out)-1].PC >= r.PC {
			out = out[:len(out)-1]
		}
		if n := len(out); n == 0 && r.Rule.Kind() == PackUnknown || n > 0 && out[n-1].Rule == r.Rule {
			return
		}
		out = append(out, r)
	}
	end := uint64(0) // of all so far
	for i := 0; i < len(pieces); {
		// Those that overlap are looked at together.
		p := pieces[i]
		n, top := i+1, p.End
		for n < len(pieces) && pieces[n].Begin < top {
			top = max(top, pieces[n].End)
			n++
		}
		if p.Begin > end && end > 0 {
			add(Row{end, Packed(PackUnknown)})
		}
		if n == i+1 {
			for _, r := range p.Rows {
				if r.PC >= p.Begin && r.PC < p.End {
					add(r)
				}
			}
		} else {
			add(Row{p.Begin, Packed(PackUnknown)})
		}
		end, i = top, n
	}
	if end > 0 {
		add(Row{end, Packed(PackUnknown)})
	}
	return out
}

// Find gives the rule of the code at pc in a table.
func Find(table []Row, pc uint64) Packed {
	i, ok := slices.BinarySearchFunc(table, pc, func(r Row, pc uint64) int { return cmp.Compare(r.PC, pc) })
	if !ok {
		i--
	}
	if i < 0 {
		return Packed(PackUnknown)
	}
	return table[i].Rule
}
