package diag

import "sort"

// Nearest picks at most limit names that are most like name, best first. Names
// that are too far away to be a slip of the hand are left out.
func Nearest(name string, names []string, limit int) []string {
	type cand struct {
		s string
		d int
	}
	bound := max(2, len(name)/3)
	if len(name) < 4 {
		bound = 1 // two slips in three letters would be another name
	}
	var cs []cand
	for _, n := range names {
		if n == name || len(n)-len(name) > bound || len(name)-len(n) > bound {
			continue
		}
		if d := distance(name, n, bound); d <= bound {
			cs = append(cs, cand{n, d})
		}
	}
	sort.Slice(cs, func(i, j int) bool {
		if cs[i].d != cs[j].d {
			return cs[i].d < cs[j].d
		}
		return cs[i].s < cs[j].s
	})
	var out []string
	for _, c := range cs {
		if len(out) == limit {
			break
		}
		if len(out) == 0 || out[len(out)-1] != c.s {
			out = append(out, c.s)
		}
	}
	return out
}

// distance is the edit distance with exchanged neighbours, given up beyond bound.
func distance(a, b string, bound int) int {
	prev2, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		best := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
			best = min(best, cur[j])
		}
		if best > bound {
			return bound + 1
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(b)]
}
