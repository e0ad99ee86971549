package dw

import (
	"cmp"
	"slices"
	"sort"
)

// sequence is a part of a line table: rows from first up to last, which has End.
type sequence struct {
	low, high   uint64 // addresses: of its first row, and behind it
	first, last int    // rows
	reach       uint64 // the highest of high of this one and those before it
}

// seqsOf gives the sequences of a line table by address. There is one for each function where functions have sections
// of their own, as in Go.
func seqsOf(rows []Row) []sequence {
	var seqs []sequence
	first := 0
	for i, r := range rows {
		if !r.End {
			continue
		}
		if low := rows[first].PC; low < r.PC {
			seqs = append(seqs, sequence{low: low, high: r.PC, first: first, last: i})
		}
		first = i + 1
	}
	slices.SortStableFunc(seqs, func(a, b sequence) int { return cmp.Compare(a.low, b.low) })
	reach := uint64(0)
	for i := range seqs {
		reach = max(reach, seqs[i].high)
		seqs[i].reach = reach
	}
	return seqs
}

// RowAt finds the row that covers pc. ok is false if none does. Of several sequences with it (what the linker left out
// stands at 0) the first of the table counts.
func (u *Unit) RowAt(pc uint64) (row Row, ok bool, err error) {
	rows, err := u.Rows()
	if err != nil {
		return Row{}, false, err
	}
	var in *sequence
	for i := sort.Search(len(u.seqs), func(i int) bool { return u.seqs[i].low > pc }) - 1; i >= 0; i-- {
		s := &u.seqs[i]
		if s.reach <= pc {
			break
		}
		if pc < s.high && (in == nil || s.first < in.first) {
			in = s
		}
	}
	if in == nil {
		return Row{}, false, nil
	}
	part := rows[in.first:in.last]
	// Several rows at one address: the last one is what the code there comes from.
	k := sort.Search(len(part), func(k int) bool { return part[k].PC > pc }) - 1
	if k < 0 {
		return Row{}, false, nil
	}
	return part[k], true, nil
}
