// Package export has the neutral form of a profile, which the packages below it write to files.
//
// In: samples, each a stack with its values and labels. Out: the same samples, added up where they are equal, and the
// difference of two profiles. folded, pprof, flame and bars are the forms that other programs and people read.
package export

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"
	"time"
)

// Frame is one call on a stack. Two are the same if all fields are.
type Frame struct {
	// Func is the function's name, File and Line where in it the program was, "" and 0 if unknown.
	Func, File string
	Line       int
	// Module is the program or library, Addr the address as the process had it, 0 if unknown.
	Module string
	Addr   uint64
	// Inlined: the code is in the frame that follows.
	Inlined bool
}

// Label says something of a sample: its thread, its state.
type Label struct{ Key, Text string }

// Sample is a stack, innermost frame first, and what was measured there: one value for each type of the profile.
type Sample struct {
	Stack  []Frame
	Values []int64
	Labels []Label // ordered by Key
}

// Label gives the text of a label, "" if there is none.
func (s *Sample) Label(key string) string {
	for _, l := range s.Labels {
		if l.Key == key {
			return l.Text
		}
	}
	return ""
}

// Type says what a value counts, and in what unit: "nanoseconds", "count", "bytes".
type Type struct{ Name, Unit string }

// Profile is a number of samples.
type Profile struct {
	Title   string
	Types   []Type
	Samples []Sample
	// Start is when it began, Duration how long it took, Period how many units of the first type are between two
	// samples, 0 if nothing was sampled.
	Start    time.Time
	Duration time.Duration
	Period   int64
	// Notes are sentences that a reader must know: what was lost.
	Notes []string
}

// Labelled reports whether any sample has a label.
func (p *Profile) Labelled(key string) bool {
	return slices.ContainsFunc(p.Samples, func(s Sample) bool { return s.Label(key) != "" })
}

// SplitBy puts a label below the outermost function of each stack, as a call that all others are in.
func (p *Profile) SplitBy(key string) {
	for i := range p.Samples {
		s := &p.Samples[i]
		f := Frame{Func: "[no " + key + "]"}
		if t := s.Label(key); t != "" {
			f.Func = "[" + key + "=" + t + "]"
		}
		s.Stack = append(slices.Clip(s.Stack), f)
	}
}

// Total is the sum of the values of a type.
func (p *Profile) Total(value int) (n int64) {
	for i := range p.Samples {
		n += p.Samples[i].Values[value]
	}
	return n
}

// Merge adds samples up that have the same stack and labels, and orders them: greatest first value first.
func (p *Profile) Merge() {
	type keyed struct {
		Sample
		key string
	}
	type slice struct {
		first *Frame
		n     int
	}
	at := map[string]int{}
	stacks := map[slice]string{} // stacks are often shared
	var out []keyed
	for _, s := range p.Samples {
		var k string
		if n := len(s.Stack); n > 0 {
			same := slice{&s.Stack[0], n}
			if k = stacks[same]; k == "" {
				k = keyOf(s.Stack)
				stacks[same] = k
			}
		}
		for _, l := range s.Labels {
			k += "\x02" + l.Key + "\x00" + l.Text
		}
		if i, ok := at[k]; ok {
			for v := range s.Values {
				out[i].Values[v] += s.Values[v]
			}
			continue
		}
		at[k] = len(out)
		s.Values = slices.Clone(s.Values)
		out = append(out, keyed{s, k})
	}
	slices.SortFunc(out, func(a, b keyed) int {
		return cmp.Or(cmp.Compare(b.Values[0], a.Values[0]), cmp.Compare(a.key, b.key))
	})
	p.Samples = p.Samples[:0]
	for _, s := range out {
		p.Samples = append(p.Samples, s.Sample)
	}
}

// keyOf is the same for stacks that are equal.
func keyOf(stack []Frame) string {
	var b []byte
	for _, f := range stack {
		b = append(b, f.Func...)
		b = append(append(b, 0), f.File...)
		b = append(append(b, 0), f.Module...)
		b = append(b, 0)
		b = binary.AppendVarint(b, int64(f.Line))
		b = binary.AppendUvarint(b, f.Addr)
		if f.Inlined {
			b = append(b, 1)
		}
		b = append(b, 1)
	}
	return string(b)
}

// Names gives the names of a sample's functions, outermost first, with the texts of labels behind them in brackets.
// A function without a name is its module, or "?".
func (s *Sample) Names(labels ...string) []string {
	var out []string
	for _, f := range slices.Backward(s.Stack) {
		out = append(out, f.Name())
	}
	for _, key := range labels {
		if t := s.Label(key); t != "" {
			out = append(out, "["+t+"]")
		}
	}
	return out
}

// Name is the function's name, else what is known of the place.
func (f Frame) Name() string {
	switch {
	case f.Func != "":
		return f.Func
	case f.Module != "":
		return "[" + f.Module + "]"
	}
	return "[unknown]"
}

// Node is a function in a tree of calls: all samples whose stacks begin with the same names.
type Node struct {
	Name string
	// Total is the value of the function with all that it called, Before the same in the profile that is compared
	// with, 0 if none is.
	Total, Before int64
	// Self and SelfBefore are the function's own.
	Self, SelfBefore int64
	Calls            []*Node // ordered by name
}

// Tree adds a profile up by functions, outermost first. before is a profile to compare with, or nil; labels are those
// that stand as frames behind the innermost one.
func Tree(p, before *Profile, value int, labels ...string) *Node {
	root := &Node{Name: "all"}
	index := map[*Node]map[string]*Node{}
	add := func(p *Profile, older bool) {
		for i := range p.Samples {
			s := &p.Samples[i]
			v := s.Values[value]
			n := root
			n.add(v, older)
			for _, name := range s.Names(labels...) {
				if index[n] == nil {
					index[n] = map[string]*Node{}
				}
				c := index[n][name]
				if c == nil {
					c = &Node{Name: name}
					index[n][name] = c
				}
				n = c
				n.add(v, older)
			}
			if older {
				n.SelfBefore += v
			} else {
				n.Self += v
			}
		}
	}
	add(p, false)
	if before != nil {
		add(before, true)
	}
	for n, calls := range index {
		n.Calls = slices.SortedFunc(maps.Values(calls), func(a, b *Node) int { return cmp.Compare(a.Name, b.Name) })
	}
	return root
}

func (n *Node) add(v int64, older bool) {
	if older {
		n.Before += v
	} else {
		n.Total += v
	}
}
