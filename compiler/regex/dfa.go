package regex

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// DFA tells whether a text holds a match: a table with a row for each state. The scan
// begins in state Start; a byte c leads from state s to Next[s*Classes+Class[c]]. State Found means that
// there is a match whatever follows; at the end of the text there is one if AtEnd of the
// state is set. State Lost means that there is none.
type DFA struct {
	Class   [256]uint8
	Classes int
	States  int
	Next    []uint16
	AtEnd   []bool
	Start   uint16
}

// Fixed states.
const (
	Lost  = 0
	Found = 1
)

// MaxStates and MaxTable bound a DFA: states, and entries of Next.
const (
	MaxStates = 2048
	MaxTable  = 1 << 15
)

// Match runs the automaton over text.
func (d *DFA) Match(text string) bool {
	s := int(d.Start)
	for i := 0; i < len(text) && s > Found; i++ {
		s = int(d.Next[s*d.Classes+int(d.Class[text[i]])])
	}
	return d.AtEnd[s]
}

// classes gives each byte the number of its class: bytes of a class are in the same sets.
func byteClasses(sets []set) (class [256]uint8, n int) {
	seen := map[string]uint8{}
	key := make([]byte, (len(sets)+7)/8)
	for c := 0; c < 256; c++ {
		clear(key)
		for i := range sets {
			if sets[i].has(byte(c)) {
				key[i/8] |= 1 << (i % 8)
			}
		}
		k, ok := seen[string(key)]
		if !ok {
			k = uint8(len(seen))
			seen[string(key)] = k
		}
		class[c] = k
	}
	return class, len(seen)
}

// subset is the set of places of the machine that a state of the automaton stands for.
type builder struct {
	code   []inst
	mark   []uint32
	gen    uint32
	stack  []int32
	states map[string]uint16
	sets   [][]int32
	// work counts the places looked at.
	work int
}

// maxWork bounds the time that building takes, about 50 ms.
const maxWork = 5_000_000

// closure adds to out the places that matter which can be reached from pc without a byte.
// begin and end say where in the text this is. It reports whether a match is among them.
func (b *builder) closure(out []int32, pc int32, begin, end bool) ([]int32, bool) {
	matched := false
	b.stack = append(b.stack[:0], pc)
	for len(b.stack) > 0 {
		pc := b.stack[len(b.stack)-1]
		b.stack = b.stack[:len(b.stack)-1]
		b.work++
		if b.mark[pc] == b.gen {
			continue
		}
		b.mark[pc] = b.gen
		switch in := &b.code[pc]; in.op {
		case opSet:
			out = append(out, pc)
		case opSplit:
			b.stack = append(b.stack, in.y, in.x)
		case opJump, opSave:
			b.stack = append(b.stack, in.x)
		case opBegin:
			if begin {
				b.stack = append(b.stack, in.x)
			}
		case opEnd:
			if end {
				b.stack = append(b.stack, in.x)
			} else {
				out = append(out, pc) // matters if the text ends here
			}
		case opMatch:
			matched = true
		}
	}
	return out, matched
}

// atEnd reports whether a match is reached from places when the text ends.
func (b *builder) atEnd(places []int32, begin bool) bool {
	b.gen++
	for _, pc := range places {
		if b.code[pc].op == opEnd {
			if _, m := b.closure(nil, pc, begin, true); m {
				return true
			}
		}
	}
	return false
}

func (b *builder) state(places []int32, d *DFA) (uint16, error) {
	slices.Sort(places)
	places = slices.Compact(places)
	key := make([]byte, 0, 2*len(places))
	for _, p := range places {
		key = binary.LittleEndian.AppendUint16(key, uint16(p))
	}
	if s, ok := b.states[string(key)]; ok {
		return s, nil
	}
	if d.States >= MaxStates || (d.States+1)*d.Classes > MaxTable {
		return 0, &Error{Msg: fmt.Sprintf("the pattern is too large: its automaton has more than %d states", d.States)}
	}
	s := uint16(d.States)
	b.states[string(key)] = s
	b.sets = append(b.sets, places)
	d.States++
	d.AtEnd = append(d.AtEnd, b.atEnd(places, false))
	return s, nil
}

// dfa builds the smallest automaton for a search.
func dfa(code []inst, sets []set) (*DFA, error) {
	d := &DFA{States: 2, AtEnd: []bool{false, true}}
	d.Class, d.Classes = byteClasses(sets)
	b := &builder{code: code, mark: make([]uint32, len(code)), states: map[string]uint16{}, sets: [][]int32{nil, nil}}
	var sample [256]byte // of each class
	for c := 255; c >= 0; c-- {
		sample[d.Class[c]] = byte(c)
	}
	// The first state is apart: ^ holds only there.
	b.gen++
	first, matched := b.closure(nil, 0, true, false)
	if matched {
		d.Start = Found
		d.Next = make([]uint16, 2*d.Classes)
		for i := range d.Classes {
			d.Next[Found*d.Classes+i] = Found
		}
		return d, nil
	}
	slices.Sort(first)
	b.sets = append(b.sets, first)
	d.Start, d.States = 2, 3
	d.AtEnd = append(d.AtEnd, b.atEnd(first, true))
	for s := 2; s < d.States; s++ {
		d.Next = append(d.Next, make([]uint16, (s+1)*d.Classes-len(d.Next))...)
		for k := range d.Classes {
			b.gen++
			var to []int32
			found := false
			add := func(pc int32) {
				var m bool
				to, m = b.closure(to, pc, false, false)
				found = found || m
			}
			for _, pc := range b.sets[s] {
				if in := &code[pc]; in.op == opSet && sets[in.n].has(sample[k]) {
					add(in.x)
				}
			}
			if b.work > maxWork {
				return nil, &Error{Msg: "the pattern is too large: its automaton takes too long to build"}
			}
			add(0) // a match can begin at every byte
			next := uint16(Found)
			switch {
			case !found && len(to) == 0:
				next = Lost
			case !found:
				var err error
				if next, err = b.state(to, d); err != nil {
					return nil, err
				}
			}
			d.Next[s*d.Classes+k] = next
		}
	}
	for i := range d.Classes {
		d.Next[Found*d.Classes+i] = Found
	}
	return d.minimal(), nil
}

// minimal joins states that no text tells apart (Moore's partition refinement), and then classes of bytes
// that no state tells apart.
func (d *DFA) minimal() *DFA {
	block := make([]uint16, d.States)
	for s := range block {
		switch {
		case s == Lost:
			block[s] = 0
		case s == Found:
			block[s] = 1
		case d.AtEnd[s]:
			block[s] = 2
		default:
			block[s] = 3
		}
	}
	count := 0
	for {
		next := make([]uint16, d.States)
		seen := map[string]uint16{}
		key := make([]byte, 0, 2*(d.Classes+1))
		for s := range d.States {
			key = binary.LittleEndian.AppendUint16(key[:0], block[s])
			for k := range d.Classes {
				key = binary.LittleEndian.AppendUint16(key, block[d.Next[s*d.Classes+k]])
			}
			n, ok := seen[string(key)]
			if !ok {
				n = uint16(len(seen))
				seen[string(key)] = n
			}
			next[s] = n
		}
		block = next
		if len(seen) == count {
			break
		}
		count = len(seen)
	}
	// A state that can reach no match is Lost, one that cannot fail is Found; both have joined those if
	// they behave alike, which Lost and Found do towards their like.
	m := &DFA{Class: d.Class, Classes: d.Classes, States: count, Next: make([]uint16, count*d.Classes),
		AtEnd: make([]bool, count), Start: block[d.Start]}
	for s := range d.States {
		n := int(block[s])
		m.AtEnd[n] = d.AtEnd[s]
		for k := range d.Classes {
			m.Next[n*d.Classes+k] = block[d.Next[s*d.Classes+k]]
		}
	}
	return m.joinClasses()
}

func (d *DFA) joinClasses() *DFA {
	seen := map[string]uint8{}
	to := make([]uint8, d.Classes)
	var kept []int
	for k := range d.Classes {
		key := make([]byte, 0, 2*d.States)
		for s := range d.States {
			key = binary.LittleEndian.AppendUint16(key, d.Next[s*d.Classes+k])
		}
		n, ok := seen[string(key)]
		if !ok {
			n = uint8(len(kept))
			seen[string(key)] = n
			kept = append(kept, k)
		}
		to[k] = n
	}
	next := make([]uint16, d.States*len(kept))
	for s := range d.States {
		for i, k := range kept {
			next[s*len(kept)+i] = d.Next[s*d.Classes+k]
		}
	}
	for c := range d.Class {
		d.Class[c] = to[d.Class[c]]
	}
	d.Next, d.Classes = next, len(kept)
	return d
}
