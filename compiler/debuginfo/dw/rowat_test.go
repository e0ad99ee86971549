package dw

import (
	"math/rand/v2"
	"sort"
	"testing"
)

// plainRowAt goes through a whole line table.
func plainRowAt(rows []Row, pc uint64) (Row, bool) {
	for i := 0; i < len(rows); {
		j := i
		for j < len(rows) && !rows[j].End {
			j++
		}
		if j < len(rows) && rows[i].PC <= pc && pc < rows[j].PC {
			return rows[i+sort.Search(j-i, func(k int) bool { return rows[i+k].PC > pc })-1], true
		}
		i = j + 1
	}
	return Row{}, false
}

// TestRowAt: the row of an address is the one that is found by going through the whole table, also where sequences
// overlap, are empty, begin alike, come in any order, or have no end.
func TestRowAt(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		u := &Unit{rowsOK: true}
		line := 0
		for range r.IntN(8) {
			pc := uint64(r.IntN(60))
			if r.IntN(3) == 0 {
				pc = 0
			}
			for range r.IntN(5) {
				line++
				u.rows = append(u.rows, Row{PC: pc, Line: line})
				pc += uint64(r.IntN(4))
			}
			if r.IntN(10) > 0 {
				u.rows = append(u.rows, Row{PC: pc, End: true})
			}
		}
		u.seqs = seqsOf(u.rows)
		for pc := range uint64(90) {
			got, ok, err := u.RowAt(pc)
			if want, there := plainRowAt(u.rows, pc); err != nil || ok != there || got != want {
				t.Fatalf("%d: %v %v %v, want %v %v of %v", pc, got, ok, err, want, there, u.rows)
			}
		}
	}
}
