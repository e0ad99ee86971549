// Package sysv says how the System V ABI hands values of C over.
//
// In: a type. Out: the classes of its eightbytes (Classify), where a result of it is (Result). What C++ adds, that
// objects whose copying is code are handed over by reference, is for who asks.
package sysv

import (
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/machine"
	"github.com/gostap/gostap/compiler/types"
)

// Class is the class of an eightbyte (System V psABI for amd64, 3.2.3).
type Class uint8

// Classes of eightbytes.
const (
	NoClass Class = iota // nothing is there: padding
	Integer
	SSE
	SSEUp // the upper half of a 16-byte vector
	X87
	X87Up
	Memory
)

// Classes are those of the two eightbytes of a value. MEMORY stands alone.
type Classes [2]Class

// Classify says how values of t are passed. ok is false for types that it does not know.
func Classify(t *types.Ctype) (c Classes, ok bool) {
	if t == nil || t.Size < 0 {
		return c, false
	}
	if t.Size == 0 {
		return c, t.Kind == types.Struct || t.Kind == types.Union
	}
	if !classifyAt(t, 0, &c, 0) {
		return c, false
	}
	switch {
	case c[0] == Memory || c[1] == Memory || t.Size > 16 && !(t.Kind == types.Complex && c[0] == X87):
		c = Classes{Memory}
	case c[1] == X87Up && c[0] != X87:
		c = Classes{Memory}
	case c[1] == SSEUp && c[0] != SSE:
		c[1] = SSE
	}
	return c, true
}

func classifyAt(t *types.Ctype, off int64, c *Classes, depth int) bool {
	if t == nil || t.Size < 0 || depth > 32 {
		return false
	}
	if off+t.Size > 16 && t.Kind != types.Complex {
		if HasVector(t, 0) {
			return false // __m256 and larger go in registers, depending on the compiler's flags
		}
		c[0] = Memory
		return true
	}
	put := func(off int64, k Class) {
		if i := off / 8; i < 2 {
			c[i] = merge(c[i], k)
		}
	}
	scalar := func(size int64, k Class) bool {
		if off%size != 0 {
			c[0] = Memory // not aligned: packed
			return true
		}
		put(off, k)
		return true
	}
	switch t.Kind {
	case types.Int, types.Char, types.Bool, types.Enum, types.Pointer:
		if t.Size == 16 {
			put(off, Integer)
			put(off+8, Integer)
			return off == 0
		}
		return t.Size <= 8 && scalar(t.Size, Integer)
	case types.Float:
		switch {
		case t.Size == 4 || t.Size == 8 || t.Size == 2:
			return scalar(t.Size, SSE)
		case t.Size == 16 && isLongDouble(t):
			put(off, X87)
			put(off+8, X87Up)
			return off == 0
		case t.Size == 16:
			put(off, SSE)
			put(off+8, SSEUp)
			return off == 0
		}
		return false
	case types.Complex:
		switch t.Size {
		case 8, 16:
			half := t.Size / 2
			if off%half != 0 || off+t.Size > 16 {
				c[0] = Memory
				return true
			}
			put(off, SSE)
			put(off+half, SSE)
			return true
		case 32:
			c[0], c[1] = X87, NoClass
			if off != 0 || depth > 0 {
				c[0] = Memory
			}
			return true
		}
		return false
	case types.Array:
		if t.Vector {
			put(off, SSE)
			if t.Size == 16 {
				put(off+8, SSEUp)
			}
			return off%t.Size == 0 && (t.Size == 8 || t.Size == 16)
		}
		e := t.Elem()
		if depth == 0 || e == nil || t.Count < 0 || t.Count > 16 {
			return false
		}
		for i := range t.Count {
			if !classifyAt(e, off+i*e.Size, c, depth+1) {
				return false
			}
		}
		return true
	case types.Struct, types.Union:
		for _, f := range t.Fields() {
			if f.BitSize > 0 {
				first := 8*(off+f.Off) + f.BitOff
				put(first/64*8, Integer)
				put((first+f.BitSize-1)/64*8, Integer)
				continue
			}
			if f.Type != nil && f.Type.Kind == types.Array && f.Type.Count < 0 {
				continue // a flexible array has no bytes of its own
			}
			if !classifyAt(f.Type, off+f.Off, c, depth+1) {
				return false
			}
		}
		return len(t.Fields()) > 0 || t.Size <= 1 // nothing in it is nowhere; C++ gives it a byte of room
	}
	return false
}

// HasVector reports whether t is a SIMD vector or contains one.
func HasVector(t *types.Ctype, depth int) bool {
	if t == nil || depth > 8 {
		return false
	}
	switch t.Kind {
	case types.Array:
		return t.Vector || HasVector(t.Elem(), depth+1)
	case types.Struct, types.Union:
		for _, f := range t.Fields() {
			if HasVector(f.Type, depth+1) {
				return true
			}
		}
	}
	return false
}

// merge is the class of an eightbyte that two fields share.
func merge(a, b Class) Class {
	switch {
	case a == b || b == NoClass:
		return a
	case a == NoClass:
		return b
	case a == Memory || b == Memory:
		return Memory
	case a == Integer || b == Integer:
		return Integer
	case a == X87 || a == X87Up || b == X87 || b == X87Up:
		return Memory
	}
	return SSE
}

func isLongDouble(t *types.Ctype) bool {
	switch t.Name {
	case "_Float128", "__float128", "_Float64x", "__ieee128":
		return t.Name == "_Float64x"
	}
	return true
}

// Result is where a value of type t is right after the function returned, or why it cannot be read. byReference
// says that it is handed over as the address of an object, whatever is in it.
func Result(m *machine.Machine, t *types.Ctype, byReference bool) (loc.Place, string) {
	c, ok := Classify(t)
	if byReference {
		c, ok = Classes{Memory}, true
	}
	switch {
	case !ok:
		return loc.Place{}, "how its type is returned is not known"
	case c[0] == Memory:
		return loc.Place{Type: t, InMemory: true, Addr: loc.Register(m.C.Results[0]), Writable: true}, ""
	case c[0] == X87 || c[1] == X87:
		return loc.Place{}, "it is in a floating-point register (x87), which cannot be read"
	case c[0] == NoClass:
		return loc.Place{Type: t}, ""
	}
	pl := loc.Place{Type: t, Writable: true}
	ints := m.C.Results
	ni, nf := 0, 0
	for i, k := range c {
		off := 8 * int64(i)
		size := min(t.Size-off, 8)
		switch k {
		case Integer:
			pl.Pieces = append(pl.Pieces, loc.Piece{Off: off, Size: size, Val: loc.Register(ints[ni])})
			ni++
		case SSE:
			if i == 0 && c[1] == SSEUp {
				size = t.Size
			}
			nf++
			pl.Pieces = append(pl.Pieces, loc.Piece{Off: off, Size: size, Vector: nf})
		}
	}
	return pl, ""
}
