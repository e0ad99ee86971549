package debuginfo

import "slices"

// Distance is the number of letters to insert, delete or change between a and b, limit+1 if it is
// more than limit. row is scratch space to be passed on.
func Distance(a []byte, b string, limit int, row []int) (int, []int) {
	row = slices.Grow(row[:0], len(b)+1)[:len(b)+1]
	for j := range row {
		row[j] = j
	}
	for i := range a {
		diag := row[0]
		row[0] = i + 1
		least := row[0]
		for j := range len(b) {
			cost := diag
			if lower(a[i]) != lower(b[j]) {
				cost++
			}
			diag = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
			least = min(least, row[j+1])
		}
		if least > limit {
			return limit + 1, row
		}
	}
	return row[len(b)], row
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
