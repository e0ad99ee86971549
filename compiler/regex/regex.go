// Package regex compiles the regular expressions of =~ and !~: those of POSIX (extended)
// over bytes, without references back and collation.
//
// In: a pattern. Out: a Regex with a minimal automaton for the question whether a text
// holds a match, which back ends turn into tables, and Find for where it is. Of the
// matches that begin leftmost the longest is taken; of the ways to the same match the
// first, with repetitions as long as they can be.
package regex

// Regex is a compiled pattern. It is not changed after Compile, so it can be shared.
type Regex struct {
	Pattern string
	// Groups counts the groups, the whole match not among them.
	Groups int
	// DFA answers whether there is a match.
	DFA *DFA

	code []inst
	sets []set
}

// Compile compiles a pattern. The error is an *Error.
func Compile(pattern string) (*Regex, error) {
	tree, groups, err := parse(pattern)
	if err != nil {
		return nil, err
	}
	r := &Regex{Pattern: pattern, Groups: groups}
	if r.code, r.sets, err = program(tree); err != nil {
		return nil, err
	}
	if r.DFA, err = dfa(r.code, r.sets); err != nil {
		return nil, err
	}
	return r, nil
}

// Match reports whether text holds a match.
func (r *Regex) Match(text string) bool { return r.DFA.Match(text) }

// thread is one way through the machine.
type thread struct {
	pc   int32
	caps []int
}

// Find gives the begin and end of the match, and then of each group (-1 where a group has
// no part in it); nil when there is no match.
func (r *Regex) Find(text string) []int {
	n := 2 * (r.Groups + 1)
	mark := make([]int, len(r.code))
	for i := range mark {
		mark[i] = -1
	}
	var cur, next []thread
	var best []int
	var add func(list []thread, pc int32, at int, caps []int) []thread
	add = func(list []thread, pc int32, at int, caps []int) []thread {
		if mark[pc] == at {
			return list
		}
		mark[pc] = at
		switch in := &r.code[pc]; in.op {
		case opJump:
			return add(list, in.x, at, caps)
		case opSplit:
			return add(add(list, in.x, at, caps), in.y, at, caps)
		case opBegin:
			if at != 0 {
				return list
			}
			return add(list, in.x, at, caps)
		case opEnd:
			if at != len(text) {
				return list
			}
			return add(list, in.x, at, caps)
		case opSave:
			c := append([]int(nil), caps...)
			c[in.n] = at
			return add(list, in.x, at, c)
		}
		return append(list, thread{pc, caps})
	}
	for at := 0; ; at++ {
		if best == nil {
			start := make([]int, n)
			for i := range start {
				start[i] = -1
			}
			start[0] = at
			cur = add(cur, 0, at, start)
		}
		if len(cur) == 0 {
			if best != nil || at >= len(text) {
				return best
			}
			continue
		}
		// What is added below is marked with the position behind this byte.
		next = next[:0]
		for _, t := range cur {
			if best != nil && t.caps[0] > best[0] {
				continue // begins further right
			}
			in := &r.code[t.pc]
			switch {
			case in.op == opMatch:
				if best == nil || t.caps[0] < best[0] || at > best[1] {
					best = append([]int(nil), t.caps...)
					best[1] = at
				}
			case at < len(text) && r.sets[in.n].has(text[at]):
				next = add(next, in.x, at+1, t.caps)
			}
		}
		cur, next = next, cur
		if at >= len(text) {
			return best
		}
	}
}
