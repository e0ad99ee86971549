// Package maps decides where the globals of a program lie: which map each one gets, of
// which kind, and how keys and values are laid out in it.
//
// In: an ir.Program, and which of its globals the kernel touches. Out: map
// specifications and plan.GlobalLayouts, which the code generator and the host's
// store both go by.
package maps

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/cilium/ebpf"

	"github.com/gostap/gostap/backend-bpf/internal/kern"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/types"
)

// PreallocMax is the most memory that the elements of one array take from the start. Arrays that would
// need more get theirs when they are inserted.
const PreallocMax = 64 << 20

// MaxKey is the most bytes of a key that a hash map takes (KMALLOC_MAX_SIZE less the value, and the
// kernel's own limit of MAX_BPF_STACK is long gone).
const MaxKey = 64 << 10

// Options configure New.
type Options struct {
	// CPUs is the number of possible CPUs.
	CPUs int
	// PerCPUKeyed makes arrays of aggregates per CPU.
	PerCPUKeyed bool
}

// Layout is where the globals of one program lie.
type Layout struct {
	Globals []plan.GlobalLayout
	// Maps holds those of arrays and aggregates, and MapScalars if there is a scalar.
	Maps map[string]*ebpf.MapSpec
	// Needs is what is kept of each aggregate.
	Needs []StatUse
}

// StatUse says which fields of an aggregate some handler reads.
type StatUse struct {
	Count, Sum, Min, Max, Square bool
	Hists                        []bool
}

// New lays out the globals of p. kernel says which of them handlers in the kernel touch.
func New(p *ir.Program, kernel []bool, o Options) (*Layout, error) {
	l := &Layout{Globals: make([]plan.GlobalLayout, len(p.Globals)), Maps: map[string]*ebpf.MapSpec{},
		Needs: statUses(p)}
	iter := iterated(p)
	var scalars []byte
	for i, g := range p.Globals {
		gl := &l.Globals[i]
		gl.SeqOff = -1
		gl.Stat = noStat
		if !kernel[i] {
			gl.Absent = true
			continue
		}
		switch {
		case g.IsArray():
			if err := l.array(i, g, gl, iter[i], o); err != nil {
				return nil, err
			}
		case g.Type == types.Stats:
			gl.PerCPU = true
			gl.Stat = statLayout(g, l.Needs[i])
			gl.ValueSize = gl.Stat.Size
			gl.Map = name(i, g.Name)
			gl.KeySize = 4 // an array's index
			l.Maps[gl.Map] = &ebpf.MapSpec{Name: gl.Map, Type: ebpf.PerCPUArray, KeySize: 4,
				ValueSize: uint32(gl.ValueSize), MaxEntries: 1}
		default:
			gl.Map, gl.ValueOff = plan.MapScalars, len(scalars)
			gl.ValueSize = 8
			first := binary.LittleEndian.AppendUint64(nil, uint64(g.InitInt))
			if g.Type == types.String {
				gl.ValueSize = StringSize(g.Cap)
				first = make([]byte, gl.ValueSize)
				copy(first[:g.Cap], g.InitStr)
			}
			scalars = append(scalars, first...)
			if len(scalars) < 64*64 {
				// Counters that different CPUs add to do not share a cache line.
				scalars = append(scalars, make([]byte, -len(scalars)&63)...)
			}
		}
	}
	if len(scalars) > 0 {
		l.Maps[plan.MapScalars] = &ebpf.MapSpec{Name: plan.MapScalars, Type: ebpf.Array, KeySize: 4,
			ValueSize: uint32(len(scalars)), MaxEntries: 1, Flags: kern.FlagMmapable,
			Contents: []ebpf.MapKV{{Key: uint32(0), Value: scalars}}}
	}
	return l, nil
}

// StringSize is the room that a string of at most n bytes takes: with its NUL, in whole words.
func StringSize(n int) int { return (n + 8) &^ 7 }

func (l *Layout) array(i int, g *ir.Global, gl *plan.GlobalLayout, iterated bool, o Options) error {
	for _, k := range g.Keys {
		size := 8
		if k.Type == types.String {
			size = StringSize(k.Cap)
		}
		gl.Keys = append(gl.Keys, plan.Column{Off: gl.KeySize, Size: size})
		gl.KeySize += size
	}
	if gl.KeySize > MaxKey {
		return fmt.Errorf("the key of array %q takes %d bytes, and a map of the kernel %d at most", g.Name, gl.KeySize,
			MaxKey)
	}
	gl.Map = name(i, g.Name)
	if iterated || EvictsOldest(g) {
		gl.SeqOff, gl.ValueOff = 0, 8
	}
	m := &ebpf.MapSpec{Name: gl.Map, Type: ebpf.Hash, KeySize: uint32(gl.KeySize), MaxEntries: uint32(g.Size)}
	copies := 1
	switch g.Type {
	case types.Stats:
		gl.Stat = statLayout(g, l.Needs[i])
		gl.ValueSize = gl.Stat.Size
		if o.PerCPUKeyed {
			gl.PerCPU, copies, m.Type = true, o.CPUs, ebpf.PerCPUHash
		}
	case types.String:
		gl.ValueSize = StringSize(g.Cap)
	default:
		gl.ValueSize = 8
	}
	m.ValueSize = uint32(gl.ValueOff + gl.ValueSize)
	// "%" is not a map of the kernel's LRU kind: that one evicts what was not used lately, in batches of up to 128, so
	// that a small array would be empty after every overflow. The oldest element is looked for instead. Entry values
	// (Internal) are in big arrays, where batches do not matter and a search at each call would.
	if g.Wrap && !EvictsOldest(g) {
		m.Type = ebpf.LRUHash
		if gl.PerCPU {
			m.Type = ebpf.LRUCPUHash
		}
	} else if (int(m.ValueSize)*copies+gl.KeySize+64)*g.Size > PreallocMax {
		m.Flags |= kern.FlagNoPrealloc
	}
	l.Maps[gl.Map] = m
	if EvictsOldest(g) && !gl.PerCPU && g.Size >= minOld {
		for gl.OldSlots = 16; gl.OldSlots < maxOld && gl.OldSlots*8 <= g.Size; {
			gl.OldSlots *= 2
		}
		gl.Old = fmt.Sprintf("old_%d", i)
		l.Maps[gl.Old] = &ebpf.MapSpec{Name: gl.Old, Type: ebpf.Array, KeySize: 4,
			ValueSize: uint32(plan.OldHead + gl.OldSlots*gl.OldSlot()), MaxEntries: 1}
	}
	return nil
}

// Arrays with "%" of fewer than minOld elements are looked through at each eviction; for others that happens once in
// OldSlots of them.
const (
	minOld = 64
	maxOld = 256
)

// EvictsOldest reports whether handlers themselves remove the oldest element of a full array; where an array
// wraps and this is false, the kernel removes elements that were not used lately.
func EvictsOldest(g *ir.Global) bool { return g.Wrap && !g.Internal }

// name makes a map's name from a global's: short, unique, of letters that the kernel takes.
func name(i int, global string) string {
	s := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '_'
	}, global)
	tail := fmt.Sprintf("_%d", i)
	return s[:min(len(s), 15-len(tail))] + tail
}
