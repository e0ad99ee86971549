package cfi

import (
	"encoding/binary"
	"fmt"
)

// Regs are registers of a frame, as far as they are known.
type Regs struct {
	Val   [NRegs]uint64
	Known uint32 // a bit a register
}

// Get gives register n.
func (r *Regs) Get(n int) (uint64, error) {
	if n < 0 || n >= NRegs || r.Known>>n&1 == 0 {
		return 0, ErrUnknown
	}
	return r.Val[n], nil
}

// Set makes register n known.
func (r *Regs) Set(n int, v uint64) {
	r.Val[n] = v
	r.Known |= 1 << n
}

// Memory is a piece of a stack: Bytes lie at address Base.
type Memory struct {
	Base  uint64
	Bytes []byte
}

// Read gives n bytes (1, 2, 4 or 8) at addr.
func (m *Memory) Read(addr uint64, n int) (uint64, error) {
	at := addr - m.Base
	if at >= uint64(len(m.Bytes)) || uint64(len(m.Bytes))-at < uint64(n) {
		return 0, ErrUnknown
	}
	if n == 8 {
		return binary.LittleEndian.Uint64(m.Bytes[at:]), nil
	}
	var buf [8]byte
	copy(buf[:], m.Bytes[at:at+uint64(n)])
	return binary.LittleEndian.Uint64(buf[:]), nil
}

// Frame works out the canonical frame address.
func (r *Rules) Frame(regs *Regs, mem *Memory) (uint64, error) {
	switch r.CFA.Kind {
	case Register:
		v, err := regs.Get(int(r.CFA.Reg))
		return v + uint64(r.CFA.Off), err
	case ValExpr:
		return eval(r.CFA.Expr, regs, mem, 0, false)
	}
	return 0, fmt.Errorf("%w: no canonical frame address", ErrCorrupt)
}

// Caller works out the caller's registers in out. The error is ErrUnknown, or wraps it, where the frame's or the
// return address is not at hand; other registers may be missing from the result.
func (r *Rules) Caller(regs *Regs, mem *Memory, out *Regs) error {
	cfa, err := r.Frame(regs, mem)
	if err != nil {
		return err
	}
	out.Known = 0
	set := func(n int) error {
		v, err := r.Regs[n].value(n, cfa, regs, mem)
		if err == nil {
			out.Set(n, v)
		} else if n == r.Machine.IP {
			return err
		}
		return nil
	}
	if r.Signal { // its handler leaves all as they were
		for n := range r.Machine.Registers {
			if err := set(n); err != nil {
				return err
			}
		}
		return nil
	}
	for _, n := range r.Machine.Kept {
		if err := set(n); err != nil {
			return err
		}
	}
	return nil
}

func (rule *Rule) value(n int, cfa uint64, regs *Regs, mem *Memory) (uint64, error) {
	switch rule.Kind {
	case Same:
		return regs.Get(n)
	case Offset:
		return mem.Read(cfa+uint64(rule.Off), 8)
	case ValOffset:
		return cfa + uint64(rule.Off), nil
	case Register:
		v, err := regs.Get(int(rule.Reg))
		return v + uint64(rule.Off), err
	case Expr:
		at, err := eval(rule.Expr, regs, mem, cfa, true)
		if err != nil {
			return 0, err
		}
		return mem.Read(at, 8)
	case ValExpr:
		return eval(rule.Expr, regs, mem, cfa, true)
	}
	return 0, ErrUnknown
}

// maxOps bounds the operations of an expression, which may branch.
const maxOps = 1000

// eval works out an expression (DWARF 5, 2.5; numbers in 7.7.1). Where push is set, the canonical frame address is
// on the stack first.
func eval(b []byte, regs *Regs, mem *Memory, cfa uint64, push bool) (uint64, error) {
	m := machine{b: b}
	var st []uint64
	if push {
		st = append(st, cfa)
	}
	pop := func() uint64 {
		if len(st) == 0 {
			m.bad = true
			return 0
		}
		v := st[len(st)-1]
		st = st[:len(st)-1]
		return v
	}
	for n := 0; len(m.b) > 0 && !m.bad; n++ {
		if n >= maxOps || len(st) > 64 {
			return 0, fmt.Errorf("%w: an expression without end", ErrCorrupt)
		}
		op := m.byte()
		switch {
		case op >= 0x30 && op <= 0x4f: // lit
			st = append(st, uint64(op-0x30))
			continue
		case op >= 0x70 && op <= 0x8f: // breg
			off := m.sleb()
			v, err := regs.Get(int(op - 0x70))
			if err != nil {
				return 0, err
			}
			st = append(st, v+uint64(off))
			continue
		}
		switch op {
		case 0x03, 0x0e, 0x0f: // addr, const8u, const8s
			st = append(st, m.uint(8))
		case 0x06, 0x94: // deref, deref_size
			size := 8
			if op == 0x94 {
				size = int(m.byte())
			}
			if size != 1 && size != 2 && size != 4 && size != 8 {
				return 0, fmt.Errorf("%w: %d bytes of memory", ErrCorrupt, size)
			}
			v, err := mem.Read(pop(), size)
			if err != nil {
				return 0, err
			}
			st = append(st, v)
		case 0x08:
			st = append(st, m.uint(1))
		case 0x09:
			st = append(st, uint64(int8(m.uint(1))))
		case 0x0a:
			st = append(st, m.uint(2))
		case 0x0b:
			st = append(st, uint64(int16(m.uint(2))))
		case 0x0c:
			st = append(st, m.uint(4))
		case 0x0d:
			st = append(st, uint64(int32(m.uint(4))))
		case 0x10:
			st = append(st, m.uleb())
		case 0x11:
			st = append(st, uint64(m.sleb()))
		case 0x12, 0x14, 0x15: // dup, over, pick
			at := 0
			if op == 0x14 {
				at = 1
			} else if op == 0x15 {
				at = int(m.byte())
			}
			if at >= len(st) {
				m.bad = true
				break
			}
			st = append(st, st[len(st)-1-at])
		case 0x13:
			pop()
		case 0x16: // swap
			a, b := pop(), pop()
			st = append(st, a, b)
		case 0x17: // rot
			a, b, c := pop(), pop(), pop()
			st = append(st, a, c, b)
		case 0x19: // abs
			v := int64(pop())
			st = append(st, uint64(max(v, -v)))
		case 0x1f:
			st = append(st, -pop())
		case 0x20:
			st = append(st, ^pop())
		case 0x23:
			st = append(st, pop()+m.uleb())
		case 0x28: // bra
			off := int16(m.uint(2))
			if pop() != 0 {
				m.jump(b, off)
			}
		case 0x2f: // skip
			m.jump(b, int16(m.uint(2)))
		case 0x92: // bregx
			n := m.uleb()
			off := m.sleb()
			v, err := regs.Get(int(min(n, NRegs)))
			if err != nil {
				return 0, err
			}
			st = append(st, v+uint64(off))
		case 0x96: // nop
		default:
			y, x := pop(), pop()
			v, ok := binary2(op, x, y)
			if !ok {
				return 0, fmt.Errorf("%w: operation %#x", ErrCorrupt, op)
			}
			st = append(st, v)
		}
	}
	v := pop()
	if m.bad {
		return 0, fmt.Errorf("%w: an expression is cut short", ErrCorrupt)
	}
	return v, nil
}

// jump goes on off bytes behind the place that was come to in b.
func (m *machine) jump(b []byte, off int16) {
	at := len(b) - len(m.b) + int(off)
	if at < 0 || at > len(b) {
		m.bad, m.b = true, nil
		return
	}
	m.b = b[at:]
}

// binary2 works out x op y.
func binary2(op byte, x, y uint64) (uint64, bool) {
	is := func(b bool) (uint64, bool) {
		if b {
			return 1, true
		}
		return 0, true
	}
	sx, sy := int64(x), int64(y)
	switch op {
	case 0x1a:
		return x & y, true
	case 0x1b:
		if y == 0 {
			return 0, false
		}
		return uint64(sx / sy), true
	case 0x1c:
		return x - y, true
	case 0x1d:
		if y == 0 {
			return 0, false
		}
		return x % y, true
	case 0x1e:
		return x * y, true
	case 0x21:
		return x | y, true
	case 0x22:
		return x + y, true
	case 0x24:
		return x << y, true
	case 0x25:
		return x >> y, true
	case 0x26:
		return uint64(sx >> min(y, 63)), true
	case 0x27:
		return x ^ y, true
	case 0x29:
		return is(x == y)
	case 0x2a:
		return is(sx >= sy)
	case 0x2b:
		return is(sx > sy)
	case 0x2c:
		return is(sx <= sy)
	case 0x2d:
		return is(sx < sy)
	case 0x2e:
		return is(x != y)
	}
	return 0, false
}
