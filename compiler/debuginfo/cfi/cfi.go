// Package cfi finds callers by call frame information: what compilers write of where a function keeps its caller's
// registers.
//
// In: one entry of .eh_frame or .debug_frame with what is common to several (CIE and FDE; DWARF 5, 6.4, and the
// Linux Standard Base), and a pc in it. Out: Rules, by which Caller works out the registers of the caller from
// those at the pc and from the stack's memory. Readers of other tables (Go's) make Rules of their own. The bytes
// are trusted for nothing: what does not hold together is an error, never a panic.
package cfi

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	arch "github.com/gostap/gostap/compiler/machine"
)

// NRegs bounds the numbers of registers.
const NRegs = arch.MaxRegisters

// ErrCorrupt is wrapped by errors about entries that do not hold together.
var ErrCorrupt = errors.New("damaged call frame information")

// ErrUnknown says that something that a rule needs is not known: a register, or memory that is not at hand.
var ErrUnknown = errors.New("not known")

// Kind says how the caller's register is found.
type Kind uint8

// The kinds of rules.
const (
	Same      Kind = iota // it has the value that it has here
	Undefined             // it is lost
	Offset                // it was saved at CFA + Off
	ValOffset             // it is CFA + Off
	Register              // it is Reg + Off; the rule of a CFA
	Expr                  // it was saved where Expr says
	ValExpr               // it is what Expr says
)

// Rule is how one register of the caller is found.
type Rule struct {
	Kind Kind
	Reg  uint8
	Off  int64
	Expr []byte
}

// Rules are those at one pc.
type Rules struct {
	Machine *arch.Machine
	// CFA is the canonical frame address: the stack pointer before the call.
	CFA  Rule
	Regs [NRegs]Rule
	// Signal says that this is what a signal's handler returns to: the caller was interrupted and is not in a call.
	Signal bool
	// Trampoline says that this is code that such a handler returns to, at its first byte; nothing calls it.
	Trampoline bool
	// Outermost says that nothing has called this.
	Outermost bool
	// Switch says that the caller is on another stack, where the frame pointer leads to its frame: the function has
	// none of its own. CFA has no meaning.
	Switch bool
	// Framed says that the frame pointer holds CFA-16, where the caller's is saved, though the CFA is told otherwise.
	Framed bool
}

// Entry is a CIE and an FDE without their headers.
type Entry struct {
	Machine    *arch.Machine
	CodeAlign  uint64
	DataAlign  int64
	RetReg     uint64
	Signal     bool
	Initial    []byte // instructions of the CIE
	Begin, End uint64
	Insns      []byte // instructions of the FDE
	// Loc reads the address of DW_CFA_set_loc at a place in Insns, and how many bytes it takes; nil where it does
	// not occur.
	Loc func(b []byte) (uint64, int)
}

// maxStates bounds how deep DW_CFA_remember_state may nest.
const maxStates = 64

type row struct {
	cfa  Rule
	regs [NRegs]Rule
}

type machine struct {
	e       *Entry
	row     row
	initial [NRegs]Rule
	stack   []row
	loc     uint64
	b       []byte
	bad     bool
	// each is called when loc is about to move on: the row holds from loc on. It may be nil.
	each func()
}

// At works out the rules at pc.
func (e *Entry) At(pc uint64) (*Rules, error) {
	if pc < e.Begin || pc >= e.End {
		return nil, fmt.Errorf("%w: %#x is not in %#x-%#x", ErrCorrupt, pc, e.Begin, e.End)
	}
	m := machine{e: e, loc: e.Begin}
	if err := m.run(e.Initial, ^uint64(0)); err != nil {
		return nil, err
	}
	m.initial = m.row.regs
	m.loc = e.Begin
	if err := m.run(e.Insns, pc); err != nil {
		return nil, err
	}
	r := &Rules{}
	if err := m.rules(pc, r); err != nil {
		return nil, err
	}
	r.CFA.Expr = slices.Clone(r.CFA.Expr) // the bytes may be those of a file that changes
	for n := range r.Regs {
		r.Regs[n].Expr = slices.Clone(r.Regs[n].Expr)
	}
	return r, nil
}

// rules makes r those of the row that the machine has come to.
func (m *machine) rules(pc uint64, r *Rules) error {
	e, regs := m.e, m.e.Machine
	*r = Rules{Machine: regs, CFA: m.row.cfa, Regs: m.row.regs, Signal: e.Signal, Trampoline: e.Signal}
	if r.CFA.Kind == Register && r.CFA.Reg >= NRegs || r.CFA.Kind == Same {
		return fmt.Errorf("%w: no canonical frame address at %#x", ErrCorrupt, pc)
	}
	if e.RetReg != uint64(regs.IP) {
		return fmt.Errorf("%w: the return address is in register %d", ErrCorrupt, e.RetReg)
	}
	if r.Regs[regs.SP].Kind == Same {
		r.Regs[regs.SP] = Rule{Kind: ValOffset}
	}
	switch r.Regs[regs.IP].Kind {
	case Undefined:
		r.Outermost = true
	case Same:
		return fmt.Errorf("%w: no rule for the return address at %#x", ErrCorrupt, pc)
	}
	return nil
}

func (m *machine) byte() byte {
	if len(m.b) == 0 {
		m.bad = true
		return 0
	}
	c := m.b[0]
	m.b = m.b[1:]
	return c
}

func (m *machine) uint(n int) uint64 {
	if len(m.b) < n {
		m.bad, m.b = true, nil
		return 0
	}
	var buf [8]byte
	copy(buf[:], m.b[:n])
	m.b = m.b[n:]
	return binary.LittleEndian.Uint64(buf[:])
}

func (m *machine) uleb() uint64 {
	v, n := binary.Uvarint(m.b)
	if n <= 0 {
		m.bad, m.b = true, nil
		return 0
	}
	m.b = m.b[n:]
	return v
}

func (m *machine) sleb() int64 {
	v, n := sleb(m.b)
	if n == 0 {
		m.bad, m.b = true, nil
		return 0
	}
	m.b = m.b[n:]
	return v
}

func sleb(b []byte) (v int64, n int) {
	for shift := uint(0); n < len(b) && n < 10; shift += 7 {
		c := b[n]
		n++
		v |= int64(c&0x7f) << shift
		if c < 0x80 {
			if c&0x40 != 0 && shift+7 < 64 {
				v |= -1 << (shift + 7)
			}
			return v, n
		}
	}
	return 0, 0
}

func (m *machine) block() []byte {
	n := m.uleb()
	if n > uint64(len(m.b)) {
		m.bad, m.b = true, nil
		return nil
	}
	b := m.b[:n]
	m.b = m.b[n:]
	return b
}

// restore gives register n back the rule with which the function began.
func (m *machine) restore(n uint64) {
	if n < NRegs {
		m.row.regs[n] = m.initial[n]
	}
}

// run executes instructions as long as what they say begins at or before pc (DWARF 5, 6.4.2; numbers in 7.24).
func (m *machine) run(insns []byte, pc uint64) error {
	m.b = insns
	for len(m.b) > 0 && !m.bad {
		op := m.byte()
		low := uint64(op & 0x3f)
		step := uint64(0)
		set := func(n uint64, r Rule) {
			if n < NRegs {
				m.row.regs[n] = r
			}
		}
		switch op & 0xc0 {
		case 0x40:
			step = low
		case 0x80:
			set(low, Rule{Kind: Offset, Off: int64(m.uleb()) * m.e.DataAlign})
		case 0xc0:
			m.restore(low)
		default:
			switch op {
			case 0x00: // nop
			case 0x01: // set_loc
				if m.e.Loc == nil {
					return fmt.Errorf("%w: an address in the instructions", ErrCorrupt)
				}
				at, n := m.e.Loc(m.b)
				if n <= 0 || n > len(m.b) {
					m.bad = true
					break
				}
				m.b = m.b[n:]
				if at > pc {
					return nil
				}
				if m.each != nil && at != m.loc {
					m.each()
				}
				m.loc = at
			case 0x02:
				step = m.uint(1)
			case 0x03:
				step = m.uint(2)
			case 0x04:
				step = m.uint(4)
			case 0x05: // offset_extended
				n := m.uleb()
				set(n, Rule{Kind: Offset, Off: int64(m.uleb()) * m.e.DataAlign})
			case 0x06: // restore_extended
				m.restore(m.uleb())
			case 0x07:
				set(m.uleb(), Rule{Kind: Undefined})
			case 0x08:
				set(m.uleb(), Rule{Kind: Same})
			case 0x09: // register
				n := m.uleb()
				r := m.uleb()
				if r >= NRegs {
					set(n, Rule{Kind: Undefined})
				} else {
					set(n, Rule{Kind: Register, Reg: uint8(r)})
				}
			case 0x0a: // remember_state
				if len(m.stack) >= maxStates {
					return fmt.Errorf("%w: states nest too deep", ErrCorrupt)
				}
				m.stack = append(m.stack, m.row)
			case 0x0b: // restore_state
				if len(m.stack) == 0 {
					return fmt.Errorf("%w: no state to restore", ErrCorrupt)
				}
				m.row = m.stack[len(m.stack)-1]
				m.stack = m.stack[:len(m.stack)-1]
			case 0x0c: // def_cfa
				n := m.uleb()
				m.cfa(n, int64(m.uleb()))
			case 0x0d: // def_cfa_register
				m.cfa(m.uleb(), m.row.cfa.Off)
			case 0x0e: // def_cfa_offset
				m.row.cfa.Off = int64(m.uleb())
			case 0x0f:
				m.row.cfa = Rule{Kind: ValExpr, Expr: m.block()}
			case 0x10: // expression
				n := m.uleb()
				set(n, Rule{Kind: Expr, Expr: m.block()})
			case 0x11: // offset_extended_sf
				n := m.uleb()
				set(n, Rule{Kind: Offset, Off: m.sleb() * m.e.DataAlign})
			case 0x12: // def_cfa_sf
				n := m.uleb()
				m.cfa(n, m.sleb()*m.e.DataAlign)
			case 0x13: // def_cfa_offset_sf
				m.row.cfa.Off = m.sleb() * m.e.DataAlign
			case 0x14: // val_offset
				n := m.uleb()
				set(n, Rule{Kind: ValOffset, Off: int64(m.uleb()) * m.e.DataAlign})
			case 0x15: // val_offset_sf
				n := m.uleb()
				set(n, Rule{Kind: ValOffset, Off: m.sleb() * m.e.DataAlign})
			case 0x16: // val_expression
				n := m.uleb()
				set(n, Rule{Kind: ValExpr, Expr: m.block()})
			case 0x2e: // GNU_args_size
				m.uleb()
			case 0x2f: // GNU_negative_offset_extended
				n := m.uleb()
				set(n, Rule{Kind: Offset, Off: -int64(m.uleb()) * m.e.DataAlign})
			default:
				return fmt.Errorf("%w: unknown instruction %#x", ErrCorrupt, op)
			}
		}
		if step != 0 {
			next := m.loc + step*m.e.CodeAlign
			if next > pc {
				break
			}
			if m.each != nil {
				m.each()
			}
			m.loc = next
		}
	}
	if m.bad {
		return fmt.Errorf("%w: instructions are cut short", ErrCorrupt)
	}
	return nil
}

func (m *machine) cfa(n uint64, off int64) {
	if n >= NRegs {
		m.bad = true
		return
	}
	m.row.cfa = Rule{Kind: Register, Reg: uint8(n), Off: off}
}
