// Package carried follows the value of a variable through the code of a Go function: from where it is known to be, over
// all ways and copies, to a site.
//
// In: the function's code, the places where the value is known to be, what is no way that counts. Out: where each word
// of it is at the site, by Walk.Find. What is not certain is not there.
package carried

import (
	"slices"

	"github.com/gostap/gostap/compiler/debuginfo/assigned"
	"github.com/gostap/gostap/compiler/machine/insn"
)

// Word is a part of a variable.
type Word struct {
	Off, Size int64
	// Pointer: what is in it keeps memory alive, and is moved with the stack, only where the collector knows of it.
	Pointer bool
}

// Source is where words of a value are, when the instruction at PC is reached: At has a register or a slot and the
// number of the word in it.
type Source struct {
	PC uint64
	At map[assigned.Held]int
	// Only: the value is a new one there, so that nothing else has it any more, and no way from before counts.
	Only bool
}

// Walk is a way from sources to a site.
type Walk struct {
	assigned.Code
	PC      uint64
	Words   []Word
	Sources []Source
	// Slots are the parts of the frame that are the variable's own.
	Slots []insn.Store
	// Bars reports whether a way over an instruction does not count.
	Bars func(pc uint64) bool
	// Registers is the number of registers.
	Registers int
}

const (
	none    = -1
	maxCode = 20000 // instructions between sources and site
)

// state has the number of the word for each register and slot, none for other values. nil: not reached yet.
type state []int

// Find gives where each of the words is at the site. ok is false unless all of them are somewhere.
func (w *Walk) Find() (at []assigned.Held, ok bool) {
	if w.Effects.Computed() {
		return nil, false // a jump may lead to where others do
	}
	region, ok := w.region()
	if !ok {
		return nil, false
	}
	got := w.solve(region)
	if got == nil {
		return nil, false
	}
	for k, word := range w.Words {
		n := slices.Index(got, k)
		if n < 0 {
			return nil, false
		}
		at = append(at, w.held(n, word.Size))
	}
	return at, true
}

// held is register or slot n.
func (w *Walk) held(n int, size int64) assigned.Held {
	if n < w.Registers {
		return assigned.Held{Reg: n, Size: size}
	}
	s := w.Slots[n-w.Registers]
	return assigned.Held{Reg: -1, Slot: insn.Store{PC: w.PC, Off: s.Off, Size: size}}
}

// index is the other way round, none for what is not followed.
func (w *Walk) index(h assigned.Held) int {
	if h.Reg >= 0 {
		if h.Reg < w.Registers {
			return h.Reg
		}
		return none
	}
	n := slices.IndexFunc(w.Slots, func(s insn.Store) bool { return s.Off == h.Slot.Off && s.Size == h.Slot.Size })
	if n < 0 {
		return none
	}
	return w.Registers + n
}

func (w *Walk) nothing() state {
	s := make(state, w.Registers+len(w.Slots))
	for i := range s {
		s[i] = none
	}
	return s
}

// region lists the instructions from which a way leads to the site, up to sources with the only value.
func (w *Walk) region() (pcs []uint64, ok bool) {
	seen := map[uint64]bool{w.PC: true}
	for todo := []uint64{w.PC}; len(todo) > 0; {
		pc := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if pcs = append(pcs, pc); len(pcs) > maxCode {
			return nil, false
		}
		if w.only(pc) {
			continue
		}
		for _, q := range w.Effects.Prev(pc) {
			if !seen[q] {
				seen[q] = true
				todo = append(todo, q)
			}
		}
	}
	slices.Sort(pcs)
	return pcs, true
}

func (w *Walk) only(pc uint64) bool {
	return slices.ContainsFunc(w.Sources, func(s Source) bool { return s.PC == pc && s.Only })
}

// solve computes the state in front of the site: what is the same on all ways to it.
func (w *Walk) solve(region []uint64) state {
	in, out := map[uint64]state{}, map[uint64]state{}
	for changed := true; changed; {
		changed = false
		for _, pc := range region {
			s := w.front(pc, out)
			if s == nil || in[pc] != nil && slices.Equal(s, in[pc]) {
				continue
			}
			in[pc], changed = s, true
			out[pc] = w.over(pc, s)
		}
	}
	return in[w.PC]
}

// front is the state in front of an instruction, from those behind the ones that lead to it.
func (w *Walk) front(pc uint64, out map[uint64]state) (s state) {
	if w.only(pc) {
		s = w.nothing()
	} else {
		from := w.Effects.Prev(pc)
		if len(from) == 0 || pc == w.Base {
			s = w.nothing()
		}
		for _, q := range from {
			switch o := out[q]; {
			case o == nil:
			case s == nil:
				s = slices.Clone(o)
			default:
				for i := range s {
					if s[i] != o[i] {
						s[i] = none
					}
				}
			}
		}
	}
	if s == nil {
		return nil
	}
	for _, src := range w.Sources {
		if src.PC != pc {
			continue
		}
		for h, k := range src.At {
			if n := w.index(h); n >= 0 {
				s[n] = k
			}
		}
	}
	return s
}

// over is the state behind the instruction at pc.
func (w *Walk) over(pc uint64, in state) state {
	if w.Bars(pc) {
		return w.nothing()
	}
	b := w.Bytes[pc-w.Base:]
	known, ok := w.Decoder.Decode(b)
	if !ok {
		return w.nothing()
	}
	out := slices.Clone(in)
	switch known.Kind {
	case insn.Call, insn.IndirectCall:
		for n := range out {
			if k := out[n]; k >= 0 && (n < w.Registers || w.Words[k].Pointer) {
				out[n] = none
			}
		}
		return out
	case insn.Other, insn.Push:
	default:
		return out
	}
	cfa, placed := w.CFA(pc)
	u := w.Decoder.Frame(b)
	there := insn.Store{Off: u.Off - cfa, Size: u.Size}
	for r := range w.Registers {
		use, from := w.Decoder.Into(b, r, 1)
		switch use {
		case insn.Keeps:
			continue
		case insn.Copies:
			out[r] = none
			if from < w.Registers && in[from] >= 0 {
				if use, _ := w.Decoder.Into(b, r, w.Words[in[from]].Size); use == insn.Copies {
					out[r] = in[from]
				}
			}
		case insn.Loads:
			out[r] = none
			if !placed || u.Unknown || u.Address || u.Writes || u.Reg != r {
				continue
			}
			for i, s := range w.Slots {
				k := in[w.Registers+i]
				if k < 0 || s.Off != there.Off {
					continue
				}
				if use, _ := w.Decoder.Into(b, r, w.Words[k].Size); use == insn.Loads && u.Size >= w.Words[k].Size {
					out[r] = k
				}
			}
		default:
			out[r] = none
		}
	}
	if u.Size == 0 && !u.Unknown {
		return out
	}
	for i, s := range w.Slots {
		n := w.Registers + i
		switch {
		case u.Unknown || !placed:
			out[n] = none
		case u.Writes && u.Address:
			out[n] = none
		case u.Writes && there.Meets(s):
			out[n] = none
			if u.Reg >= 0 && u.Reg < w.Registers && in[u.Reg] >= 0 && there.Off == s.Off &&
				w.Words[in[u.Reg]].Size <= min(u.Size, s.Size) {
				out[n] = in[u.Reg]
			}
		}
	}
	return out
}
