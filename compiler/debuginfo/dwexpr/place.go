package dwexpr

import (
	"fmt"
	"slices"

	"github.com/gostap/gostap/compiler/debuginfo/dwread"
	"github.com/gostap/gostap/compiler/foreign"
	"github.com/gostap/gostap/compiler/loc"
	arch "github.com/gostap/gostap/compiler/machine"
	"github.com/gostap/gostap/compiler/types"
)

// Place decodes a location expression into the place of an object of type t. Errors are
// *Unavailable where the expression is sound but says nothing that can be read, ErrNoLocation
// for an empty one.
func Place(expr []byte, t *types.Ctype, env *Env) (loc.Place, error) {
	pieces, err := evaluate(expr, env)
	if err != nil {
		return loc.Place{}, err
	}
	if len(pieces) == 1 && pieces[0].size < 0 {
		return single(pieces[0], t)
	}
	return composite(pieces, t)
}

// FrameBase decodes an expression of DW_AT_frame_base into the value that it stands for.
func FrameBase(expr []byte, env *Env) (loc.Prog, error) {
	pieces, err := evaluate(expr, env)
	if err != nil {
		return loc.Prog{}, err
	}
	if len(pieces) == 1 && pieces[0].size < 0 {
		switch p := pieces[0]; p.kind {
		case inReg: // DW_OP_reg6: the register holds the base
			return env.register(uint64(p.reg))
		case inMemory, isValue:
			return p.prog, nil
		}
	}
	return loc.Prog{}, fmt.Errorf("%w: frame base is not an address", foreign.ErrCorrupt)
}

// InRegister reports whether the expression says that an object, or a part of it, is in a register.
func InRegister(m *arch.Machine, expr []byte) bool {
	pieces, err := evaluate(expr, &Env{Machine: m})
	return err == nil && slices.ContainsFunc(pieces, func(p piece) bool { return p.kind == inReg })
}

// RegPart is a part of an object that is in a register.
type RegPart struct {
	Off, Size int64 // bytes of the object
	Reg       int   // DWARF number
}

// InRegisters lists the parts of an object of size bytes that are in registers by the expression.
func InRegisters(m *arch.Machine, expr []byte, size int64) (parts []RegPart) {
	any := func() (loc.Prog, error) { return loc.Register(m.SP), nil }
	pieces, err := evaluate(expr, &Env{Machine: m, CFA: any, FrameBase: any})
	if err != nil {
		return nil
	}
	off := int64(0)
	for _, p := range pieces {
		if p.size < 0 {
			p.size = min(size, widthOf(p))
		}
		if p.kind == inReg {
			parts = append(parts, RegPart{off, p.size, p.reg})
		}
		off += p.size
	}
	return parts
}

// single is an object that is in one thing as a whole.
func single(p piece, t *types.Ctype) (loc.Place, error) {
	if p.kind == inMemory {
		return loc.Place{Type: t, InMemory: true, Addr: p.prog, Writable: true}, nil
	}
	if t == nil || t.Size < 0 {
		return loc.Place{}, Refuse("its type is incomplete")
	}
	pl := loc.Place{Type: t, Writable: p.kind == inReg}
	p.size = t.Size
	if p.kind == inReg || p.kind == isValue {
		p.size = min(t.Size, widthOf(p))
	}
	parts, err := partsOf(p, 0)
	if err != nil {
		return loc.Place{}, err
	}
	pl.Pieces = parts
	if rest := t.Size - p.size; rest > 0 {
		pl.Pieces = append(pl.Pieces, loc.Piece{Off: p.size, Size: rest, Lost: true})
	}
	return pl, nil
}

// widthOf is how many bytes a register or value has.
func widthOf(p piece) int64 {
	if p.kind == inReg && p.vector() > 0 {
		return 16
	}
	return 8
}

// vector is 1 + the number of the vector register that p is in, 0 if it is in none.
func (p piece) vector() int {
	if n := p.reg - p.on.Vector; n >= 0 && n < p.on.Vectors {
		return 1 + n
	}
	return 0
}

// composite is an object in several pieces.
//
// C compilers describe every byte, padding included, so that a piece's offset is the sum of
// the sizes before it. Go's leaves padding out: struct{int32; int64} is a piece of 4 and one of
// 8 bytes. There the pieces are matched with the fields.
func composite(pieces []piece, t *types.Ctype) (loc.Place, error) {
	if t == nil || t.Size < 0 {
		return loc.Place{}, Refuse("its type is incomplete")
	}
	offs := make([]int64, len(pieces))
	sum := int64(0)
	for i, p := range pieces {
		offs[i] = sum
		sum += p.size
	}
	if sum != t.Size && t.Go {
		var ok bool
		if offs, ok = matchFields(pieces, t); !ok {
			return loc.Place{}, Refuse("its pieces do not match the fields of its type")
		}
	} else if sum > t.Size {
		return loc.Place{}, fmt.Errorf("%w: pieces of %d bytes for an object of %d", foreign.ErrCorrupt, sum, t.Size)
	}
	if addr, ok := oneAddress(pieces, offs); ok {
		return loc.Place{Type: t, InMemory: true, Addr: addr, Writable: true}, nil
	}
	pl := loc.Place{Type: t, Writable: true}
	for i, p := range pieces {
		parts, err := partsOf(p, offs[i])
		if err != nil {
			return loc.Place{}, err
		}
		if p.kind == isValue || p.kind == isBytes {
			pl.Writable = false
		}
		pl.Pieces = append(pl.Pieces, parts...)
	}
	if !slices.ContainsFunc(pl.Pieces, func(p loc.Piece) bool { return !p.Lost }) {
		return loc.Place{}, ErrNoLocation
	}
	return pl, nil
}

// Leaf is a part of a type that has no parts itself.
type Leaf struct {
	Off, Size int64
	Type      *types.Ctype // nil for the words of strings, slices and interfaces
}

// Leaves lists the parts of a type in the order in which Go's compiler lays a value out: fields
// in order, words of strings, slices and interfaces, parts of complex numbers, array elements. Parts of
// size 0 are left out. ok is false for types with more than 256 parts or unknown size.
func Leaves(t *types.Ctype) (leaves []Leaf, ok bool) {
	var walk func(t *types.Ctype, off int64, depth int) bool
	walk = func(t *types.Ctype, off int64, depth int) bool {
		if t == nil || t.Size < 0 || depth > 32 || len(leaves) > 256 {
			return false
		}
		if t.Size == 0 {
			return true
		}
		words := 0
		switch t.Kind {
		case types.Struct:
			for _, f := range t.Fields() {
				if f.BitSize != 0 || !walk(f.Type, off+f.Off, depth+1) {
					return false
				}
			}
			return true
		case types.Array:
			e := t.Elem()
			if e == nil || t.Count < 0 || t.Count > 256 {
				return false
			}
			for i := range t.Count {
				if !walk(e, off+i*e.Size, depth+1) {
					return false
				}
			}
			return true
		case types.GoString, types.GoInterface:
			words = 2
		case types.GoSlice:
			words = 3
		case types.Complex:
			leaves = append(leaves, Leaf{off, t.Size / 2, nil}, Leaf{off + t.Size/2, t.Size / 2, nil})
			return true
		default:
			leaves = append(leaves, Leaf{off, t.Size, t})
			return true
		}
		for i := range int64(words) {
			leaves = append(leaves, Leaf{off + 8*i, 8, nil})
		}
		return true
	}
	ok = walk(t, 0, 0)
	return leaves, ok && len(leaves) <= 256
}

// matchFields assigns pieces to leaves; a piece may also be several leaves with the padding
// between them.
func matchFields(pieces []piece, t *types.Ctype) ([]int64, bool) {
	leaves, ok := Leaves(t)
	if !ok {
		return nil, false
	}
	offs := make([]int64, len(pieces))
	i := 0
	for n, p := range pieces {
		if i >= len(leaves) {
			return nil, false
		}
		offs[n] = leaves[i].Off
		j := i
		for j < len(leaves) && leaves[j].Off+leaves[j].Size-leaves[i].Off < p.size {
			j++
		}
		if j == len(leaves) || leaves[j].Off+leaves[j].Size-leaves[i].Off != p.size {
			return nil, false
		}
		i = j + 1
	}
	return offs, i == len(leaves)
}

// oneAddress reports whether all pieces are in memory, side by side as in the object.
func oneAddress(pieces []piece, offs []int64) (loc.Prog, bool) {
	var base loc.Prog
	var at int64
	for i, p := range pieces {
		if p.kind != inMemory {
			return loc.Prog{}, false
		}
		b, n := splitAdd(p.prog)
		if i == 0 {
			base, at = b, n-offs[0]
		} else if n-offs[i] != at || !slices.Equal(b.Steps, base.Steps) {
			return loc.Prog{}, false
		}
	}
	return base.Plus(at), true
}

// splitAdd takes a constant that is added last off p.
func splitAdd(p loc.Prog) (loc.Prog, int64) {
	if n := p.Last(); n >= 2 && p.Steps[n].Op == loc.Add && p.Steps[n].A == n-2 && p.Steps[n].B == n-1 &&
		p.Steps[n-1].Op == loc.Const {
		return loc.Prog{Steps: p.Steps[: n-1 : n-1]}, p.Steps[n-1].N
	}
	return p, 0
}

// partsOf cuts one piece at off into parts of 1, 2, 4 or 8 bytes that steps can produce.
func partsOf(p piece, off int64) ([]loc.Piece, error) {
	switch p.kind {
	case isLost:
		return []loc.Piece{{Off: off, Size: p.size, Lost: true}}, nil
	case inReg:
		if n := p.vector(); n > 0 {
			if p.size > 16 || p.shift != 0 {
				return nil, Refuse("it is in part of a vector register")
			}
			return []loc.Piece{{Off: off, Size: p.size, Vector: n}}, nil
		}
		if !p.on.General(int64(p.reg)) {
			return nil, Refuse("it is in register %s, which cannot be read", p.on.RegName(uint64(p.reg)))
		}
		return []loc.Piece{valuePiece(loc.Register(p.reg), p, off)}, nil
	case isValue:
		return []loc.Piece{valuePiece(p.prog, p, off)}, nil
	case isBytes:
		if p.size > 4096 {
			return nil, Refuse("it is a constant of %d bytes", p.size)
		}
		var out []loc.Piece
		have := min(p.size, int64(len(p.data)))
		for i := int64(0); i < have; {
			n := chunk(have - i)
			v := (&dwread.Reader{Bytes: p.data[i : i+n]}).Uint(int(n))
			out = append(out, loc.Piece{Off: off + i, Size: n, Val: loc.Constant(int64(v))})
			i += n
		}
		if have < p.size {
			out = append(out, loc.Piece{Off: off + have, Size: p.size - have, Lost: true})
		}
		return out, nil
	}
	if p.size > 4096 {
		return nil, Refuse("a part of %d bytes of it is in memory and others are not", p.size)
	}
	var out []loc.Piece
	for i := int64(0); i < p.size; {
		n := chunk(p.size - i)
		out = append(out, loc.Piece{Off: off + i, Size: n, Val: p.prog.Plus(i).Load(int(n), false, false)})
		i += n
	}
	return out, nil
}

// valuePiece is a piece of at most 8 bytes from bit p.shift of v on. What p claims beyond the
// 64 bits does not exist.
func valuePiece(v loc.Prog, p piece, off int64) loc.Piece {
	if p.shift >= 64 || p.size > 8-p.shift/8 {
		return loc.Piece{Off: off, Size: p.size, Lost: true}
	}
	if p.shift > 0 {
		v = fold(loc.Shr, v, loc.Constant(p.shift))
	}
	return loc.Piece{Off: off, Size: p.size, Val: v}
}

// chunk is the largest power of two up to 8 that is at most n.
func chunk(n int64) int64 {
	for _, c := range []int64{8, 4, 2} {
		if n >= c {
			return c
		}
	}
	return 1
}

// Constant is the place of a variable with a DW_AT_const_value.
func Constant(v any, t *types.Ctype) (loc.Place, error) {
	if t == nil || t.Size < 0 {
		return loc.Place{}, Refuse("its type is incomplete")
	}
	switch v := v.(type) {
	case int64:
		if t.Size > 8 {
			return loc.Place{}, Refuse("it is a constant that is shorter than its type")
		}
		return loc.Place{Type: t, Pieces: []loc.Piece{{Size: t.Size, Val: loc.Constant(v)}}}, nil
	case uint64:
		return Constant(int64(v), t)
	case string:
		return single(piece{kind: isBytes, data: append([]byte(v), 0), size: -1}, t)
	case []byte:
		return single(piece{kind: isBytes, data: v, size: -1}, t)
	}
	return loc.Place{}, Refuse("it is a constant of an unknown form")
}
