package dwexpr

import (
	"fmt"

	"github.com/go-delve/delve/pkg/dwarf/op"

	"github.com/gostap/gostap/compiler/debuginfo/dwread"
	"github.com/gostap/gostap/compiler/foreign"
	"github.com/gostap/gostap/compiler/loc"
)

// extend brings a value back into its type after arithmetic.
func (m *machine) extend(v operand) operand {
	if v.size > 0 && v.size < 8 {
		v.prog = extend(v.prog, v.size, v.signed)
	}
	return v
}

func extend(p loc.Prog, size int, signed bool) loc.Prog {
	if c, ok := constant(p); ok {
		sh := uint(64 - 8*size)
		if signed {
			return loc.Constant(c << sh >> sh)
		}
		return loc.Constant(int64(uint64(c) << sh >> sh))
	}
	return p.Then(loc.Step{Op: loc.Bits, Size: 8 * size, Signed: signed})
}

func constant(p loc.Prog) (int64, bool) {
	if len(p.Steps) == 1 && p.Steps[0].Op == loc.Const {
		return p.Steps[0].N, true
	}
	return 0, false
}

func (m *machine) unary(o op.Opcode) error {
	v, err := m.pop()
	if err != nil {
		return err
	}
	c, isConst := constant(v.prog)
	v.slot = v.slot.worked()
	switch {
	case isConst && (o == op.DW_OP_neg || o == op.DW_OP_abs && c < 0):
		v.prog = loc.Constant(-c)
	case isConst && o == op.DW_OP_not:
		v.prog = loc.Constant(^c)
	case isConst:
	case o == op.DW_OP_neg:
		v.prog = v.prog.Then(loc.Step{Op: loc.Neg})
	case o == op.DW_OP_not:
		v.prog = v.prog.Then(loc.Step{Op: loc.Not})
	default: // abs(x) = (x ^ s) - s with s = x >> 63
		x := v.prog.Last()
		p := v.prog.With(loc.Constant(63), loc.Step{Op: loc.Sar})
		s := p.Last()
		p.Steps = append(p.Steps, loc.Step{Op: loc.Xor, A: x, B: s}, loc.Step{Op: loc.Sub, A: s + 1, B: s})
		v.prog = p
	}
	return m.push(m.extend(v))
}

func (m *machine) binary(o op.Opcode) error {
	b, err := m.pop()
	if err != nil {
		return err
	}
	a, err := m.pop()
	if err != nil {
		return err
	}
	x, xc := constant(a.prog)
	y, yc := constant(b.prog)
	out := a
	out.slot = max(a.slot, b.slot).worked()
	switch {
	case o == op.DW_OP_plus && yc:
		out.prog = a.prog.Plus(y)
	case o == op.DW_OP_plus && xc:
		out.prog = b.prog.Plus(x)
	case o == op.DW_OP_minus && yc:
		out.prog = a.prog.Plus(-y)
	case o == op.DW_OP_shl || o == op.DW_OP_shr || o == op.DW_OP_shra:
		// Shifts by the width or more give 0 (or the sign) in DWARF, not on every machine.
		if !yc {
			return Refuse("its location shifts by a variable amount")
		}
		if uint64(y) > 63 {
			if o != op.DW_OP_shra {
				return m.push(operand{prog: loc.Constant(0), size: out.size, signed: out.signed})
			}
			y = 63
		}
		k := loc.Shl
		if o == op.DW_OP_shr {
			k = loc.Shr
			if a.size > 0 && a.size < 8 && a.signed {
				a.prog = extend(a.prog, a.size, false)
			}
		} else if o == op.DW_OP_shra {
			k = loc.Sar
			if a.size > 0 && a.size < 8 && !a.signed {
				a.prog = extend(a.prog, a.size, true)
			}
		}
		out.prog = fold(k, a.prog, loc.Constant(y))
	default:
		k := map[op.Opcode]loc.Op{op.DW_OP_plus: loc.Add, op.DW_OP_minus: loc.Sub, op.DW_OP_mul: loc.Mul,
			op.DW_OP_and: loc.And, op.DW_OP_or: loc.Or, op.DW_OP_xor: loc.Xor}[o]
		out.prog = fold(k, a.prog, b.prog)
	}
	return m.push(m.extend(out))
}

// fold is a step on two values, done now if both are constants.
func fold(k loc.Op, a, b loc.Prog) loc.Prog {
	x, xc := constant(a)
	y, yc := constant(b)
	if !xc || !yc {
		return a.With(b, loc.Step{Op: k})
	}
	switch k {
	case loc.Add:
		x += y
	case loc.Sub:
		x -= y
	case loc.Mul:
		x *= y
	case loc.And:
		x &= y
	case loc.Or:
		x |= y
	case loc.Xor:
		x ^= y
	case loc.Shl:
		x <<= uint64(y) & 63
	case loc.Shr:
		x = int64(uint64(x) >> (uint64(y) & 63))
	case loc.Sar:
		x >>= uint64(y) & 63
	}
	return loc.Constant(x)
}

// typed handles the operations with a type (DWARF 5, 2.5.1.6), as far as it is an integer.
func (m *machine) typed(o op.Opcode) error {
	r := m.r
	var reg uint64
	size := 0
	switch o {
	case opRegvalType, opGNURegvalType:
		reg = r.Uleb()
	case opDerefType, opGNUDerefType:
		size = int(r.U8())
	}
	off := r.Uleb()
	var data []byte
	if o == opConstType || o == opGNUConstType {
		data = r.Block(uint64(r.U8()))
	}
	if r.Err != nil {
		return r.Err
	}
	t := BaseType{Size: 8, Integer: true}
	generic := off == 0 && (o == opConvert || o == opGNUConvert || o == opReinterpret || o == opGNUReinterpret)
	if !generic {
		if m.env.BaseType == nil {
			return Refuse("its location is computed with types")
		}
		var err error
		if t, err = m.env.BaseType(off); err != nil {
			return err
		}
	}
	if !t.Integer || t.Size != 1 && t.Size != 2 && t.Size != 4 && t.Size != 8 {
		return Refuse("its location is computed with a type that is not an integer of up to 8 bytes")
	}
	out := operand{size: t.Size, signed: t.Signed}
	if generic {
		out.size, out.signed = 0, false
	}
	switch o {
	case opConstType, opGNUConstType:
		if len(data) != t.Size {
			return fmt.Errorf("%w: typed constant of the wrong size", foreign.ErrCorrupt)
		}
		out.prog = loc.Constant(int64((&dwread.Reader{Bytes: data}).Uint(t.Size)))
	case opRegvalType, opGNURegvalType:
		p, err := m.env.register(reg)
		if err != nil {
			return err
		}
		out.prog = p
	case opDerefType, opGNUDerefType:
		v, err := m.pop()
		if err != nil {
			return err
		}
		if size != t.Size {
			return fmt.Errorf("%w: typed load of the wrong size", foreign.ErrCorrupt)
		}
		if v.slot == slotArith {
			return errSlot
		}
		out.prog = v.prog.Load(size, t.Signed, false)
		return m.push(out)
	default:
		v, err := m.pop()
		if err != nil {
			return err
		}
		out.prog, out.slot = v.prog, v.slot.worked()
	}
	return m.push(m.extend(out))
}
