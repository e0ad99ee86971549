package mach

import (
	"math"

	"github.com/cilium/ebpf/asm"
)

// A jump reaches 32767 instructions. In longer functions those that go further take it in several hops: there are
// veneers of jumps in the code, around which it jumps itself. (The long jump of Linux 6.6 would do without them, but
// older kernels have to be served as well, and what is so far away is an error's way out as a rule.)

const (
	// veneerGap is how far apart places for veneers are.
	veneerGap = 4000
	// hop is how far a jump may go as long as it is not known how much the veneers in between take.
	hop = 22000
)

// veneer is a place for jumps, in front of an instruction.
type veneer struct {
	ins, raw int
	to       []*Block // of each jump
	at       map[*Block]int
	start    int // in the end, of the first jump
}

// around is 1 if code runs into the veneer, so that it begins with a jump around itself, else 0. (The kernel takes no
// jump that nothing leads to.)
func (e *emitter) around(is *veneer) int {
	if is.ins > 0 {
		if in := &e.out[is.ins-1]; in.OpCode.Class() == asm.JumpClass &&
			(in.OpCode.JumpOp() == asm.Ja || in.OpCode.JumpOp() == asm.Exit) {
			return 0
		}
	}
	return 1
}

// spread resolves the jumps of a function in which some go too far.
func (e *emitter) spread() error {
	var veneers []*veneer
	raws := make([]int, len(e.out)+1)
	for i := range e.out {
		if n := len(veneers); raws[i] >= (n+1)*veneerGap {
			veneers = append(veneers, &veneer{ins: i, raw: raws[i], at: map[*Block]int{}})
		}
		raws[i+1] = raws[i] + int(e.out[i].Width())
	}
	// next finds the veneer that a jump goes to first, nil if it can go to its target: the farthest in reach.
	next := func(from int, to *Block) *veneer {
		target := e.at[to]
		if abs(target-from) <= hop {
			return nil
		}
		k := min(max((from+hop)/veneerGap-1, 0), len(veneers)-1)
		for ; target > from && k > 0 && veneers[k].raw > from+hop; k-- {
		}
		if target < from {
			for k = min(max((from-hop)/veneerGap-1, 0), len(veneers)-1); k < len(veneers)-1 &&
				veneers[k].raw < from-hop; k++ {
			}
		}
		return veneers[k]
	}
	first := make([]*veneer, len(e.jumps))
	var route func(from int, to *Block, left int) (*veneer, bool)
	route = func(from int, to *Block, left int) (*veneer, bool) {
		is := next(from, to)
		if is == nil {
			return nil, true
		}
		if left == 0 || is.raw == from {
			return nil, false
		}
		if _, ok := is.at[to]; ok {
			return is, true
		}
		is.at[to] = len(is.to)
		is.to = append(is.to, to)
		_, ok := route(is.raw, to, left-1)
		return is, ok
	}
	for i, j := range e.jumps {
		var ok bool
		if first[i], ok = route(j.raw, j.to, len(veneers)); !ok {
			return ErrTooLarge
		}
	}
	// The code with the veneers in it: where everything is now.
	moved := make([]int, len(e.out)+1) // raw place of each instruction
	grown, k := 0, 0
	for i := range e.out {
		if k < len(veneers) && veneers[k].ins == i {
			if is := veneers[k]; len(is.to) > 0 {
				is.start = raws[i] + grown + e.around(is)
				grown = is.start + len(is.to) - raws[i]
			}
			k++
		}
		moved[i] = raws[i] + grown
	}
	moved[len(e.out)] = raws[len(e.out)] + grown
	byRaw := make(map[int]int, len(e.at))
	for i, r := range raws {
		byRaw[r] = i
	}
	place := func(b *Block) (int, bool) {
		at, ok := e.at[b]
		if !ok {
			return 0, false
		}
		i := byRaw[at]
		return moved[i], true
	}
	set := func(in *asm.Instruction, from int, to *Block, by *veneer) bool {
		target, ok := place(to)
		if by != nil {
			target = by.start + by.at[to]
		}
		off := target - from - 1
		in.Offset = int16(off)
		return ok && off >= math.MinInt16 && off <= math.MaxInt16
	}
	for i, j := range e.jumps {
		if !set(&e.out[j.ins], moved[j.ins], j.to, first[i]) {
			return ErrTooLarge
		}
	}
	out := make(asm.Instructions, 0, len(e.out)+grown)
	ja := asm.Instruction{OpCode: asm.Ja.Op(asm.ImmSource)}
	k = 0
	for i := range e.out {
		if k < len(veneers) && veneers[k].ins == i {
			is := veneers[k]
			k++
			if n := len(is.to); n > 0 {
				if n > math.MaxInt16 {
					return ErrTooLarge
				}
				if e.around(is) > 0 {
					in := ja
					in.Offset = int16(n)
					out = append(out, in)
				}
				for x, to := range is.to {
					in := ja
					if !set(&in, is.start+x, to, next(is.raw, to)) {
						return ErrTooLarge
					}
					out = append(out, in)
				}
			}
		}
		out = append(out, e.out[i])
	}
	e.out = out
	return nil
}

func abs(n int) int { return max(n, -n) }
