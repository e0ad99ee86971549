// Package dwexpr decodes location expressions of DWARF into places, and lists of them.
//
// In: the bytes of an expression, what it refers to outside of itself (Env), the type of the object. Out: where the
// object is (Place, a loc.Place: in memory, in registers, in pieces, a constant), or why it cannot be read
// (Unavailable). In: the bytes of a location list. Out: which expression holds where (LocRange, At). Expressions are
// not run: what they would work out becomes a small program (loc.Prog) of registers,
// loads and arithmetic.
//
// Operations have the names of Delve's package op, which is the reference in tests.
package dwexpr

import (
	"errors"
	"fmt"

	"github.com/go-delve/delve/pkg/dwarf/op"

	"github.com/gostap/gostap/compiler/debuginfo/dwread"
	"github.com/gostap/gostap/compiler/foreign"
	"github.com/gostap/gostap/compiler/loc"
	arch "github.com/gostap/gostap/compiler/machine"
)

// Operations that Delve's table does not name (DWARF 5, 7.7.1, and GNU's forms of them).
const (
	opNop               = 0x96
	opFormTLS           = 0x9b
	opImplicitPointer   = 0xa0
	opAddrx             = 0xa1
	opConstx            = 0xa2
	opEntryValue        = 0xa3
	opConstType         = 0xa4
	opRegvalType        = 0xa5
	opDerefType         = 0xa6
	opXderefType        = 0xa7
	opConvert           = 0xa8
	opReinterpret       = 0xa9
	opGNUPushTLS        = 0xe0
	opGNUUninit         = 0xf0
	opGNUImplicitPtr    = 0xf2
	opGNUEntryValue     = 0xf3
	opGNUConstType      = 0xf4
	opGNURegvalType     = 0xf5
	opGNUDerefType      = 0xf6
	opGNUConvert        = 0xf7
	opGNUReinterpret    = 0xf9
	opGNUParameterRef   = 0xfa
	opGNUAddrIndex      = 0xfb
	opGNUConstIndex     = 0xfc
	opGNUVariableValue  = 0xfd
	maxSteps            = 200
	maxPieces           = 256
	maxPieceBytes       = 1 << 20
	maxStack            = 64
	maxExpressionLength = 1 << 16
)

// Unavailable is why a well-formed location cannot be turned into a place. It is a reason for
// users, such as "its value exists only at the function's entry".
type Unavailable struct{ Reason string }

func (e *Unavailable) Error() string { return e.Reason }

// Refuse makes an Unavailable.
func Refuse(format string, args ...any) error {
	return &Unavailable{fmt.Sprintf(format, args...)}
}

// ErrNoLocation is returned for a variable that has neither a location nor a value: the
// compiler removed it.
var ErrNoLocation = errors.New("optimised out")

// Env is what expressions refer to outside of themselves. A nil function means that there is no
// such thing where the expression stands.
type Env struct {
	// Machine is the one that the file is for, nil for machine.Default.
	Machine   *arch.Machine
	FrameBase func() (loc.Prog, error) // DW_OP_fbreg counts from it
	CFA       func() (loc.Prog, error) // DW_OP_call_frame_cfa
	Addrx     func(i uint64) (uint64, error)
	TLS       func(off uint64) (loc.Prog, error) // address of a thread's copy
	BaseType  func(off uint64) (BaseType, error) // by offset in the unit
	// SP is what expressions mean by the stack pointer plus a number, nil for the register as it is.
	SP func() (loc.Prog, error)
	// Spill says of a register that the compiler finds by it, and by nothing else, the slots of the stack to which it
	// has moved values out of registers. The address of such a slot is never a value. LLVM up to version 15 says so
	// of variables that it works out of such a value: it leaves out the load.
	Spill     func(reg uint64) bool
	Relocated bool // addresses need the load bias
	// AtEntry says that the pc is the function's first instruction, where DW_OP_entry_value
	// is the value now.
	AtEntry bool
}

// BaseType is what typed operations need to know of a type.
type BaseType struct {
	Size    int
	Signed  bool
	Integer bool
}

// pieceKind says how a part of an object is given.
type pieceKind uint8

const (
	inMemory pieceKind = iota // at address prog
	inReg                     // in register reg, from bit shift on
	isValue                   // prog is the value
	isBytes                   // a constant
	isLost                    // nowhere
)

type piece struct {
	kind  pieceKind
	size  int64 // bytes; of single locations -1
	prog  loc.Prog
	reg   int
	on    *arch.Machine // of reg
	shift int64         // bits
	data  []byte
}

// operand is an entry of the expression stack. Values of types smaller than 8 bytes are kept
// extended to 64 bits by their sign.
type operand struct {
	prog   loc.Prog
	size   int // bytes; 0 is the generic type
	signed bool
	slot   slotUse
}

// slotUse is what a value has to do with the address of a slot of the stack (Env.Spill).
type slotUse uint8

const (
	notSlot   slotUse = iota
	slotAddr          // it is the address
	slotArith         // it is worked out of the address, as if that were what is in the slot
)

// worked is the slotUse of what is worked out of a value of slotUse s.
func (s slotUse) worked() slotUse {
	if s == slotAddr {
		return slotArith
	}
	return s
}

var errSlot = Refuse("the debug information takes the address of a stack slot for what is in the slot, an error " +
	"of LLVM")

type machine struct {
	r     *dwread.Reader
	env   *Env
	stack []operand
}

// on is the machine of the file; e may be nil.
func (e *Env) on() *arch.Machine {
	if e == nil || e.Machine == nil {
		return arch.Default
	}
	return e.Machine
}

// evaluate decodes expr symbolically. A location that is one thing yields one piece of size -1.
func evaluate(expr []byte, env *Env) ([]piece, error) {
	if len(expr) > maxExpressionLength {
		return nil, Refuse("its location expression is too long")
	}
	if env == nil {
		env = &Env{}
	}
	m := &machine{r: &dwread.Reader{Bytes: expr}, env: env}
	var pieces []piece
	var cur *piece // a register or value that awaits its piece operation
	for !m.r.Empty() {
		at := m.r.Off
		o := op.Opcode(m.r.U8())
		if cur != nil && o != op.DW_OP_piece && o != op.DW_OP_bit_piece && o != opGNUUninit {
			return nil, fmt.Errorf("%w: operation %#x behind a complete location", foreign.ErrCorrupt, byte(o))
		}
		switch {
		case o == op.DW_OP_piece || o == op.DW_OP_bit_piece:
			p, err := m.piece(o, cur)
			if err != nil {
				return nil, err
			}
			pieces = append(pieces, p)
			if len(pieces) > maxPieces {
				return nil, Refuse("it is in too many pieces")
			}
			cur, m.stack = nil, m.stack[:0]
		case o >= op.DW_OP_reg0 && o <= op.DW_OP_reg31:
			cur = &piece{kind: inReg, reg: int(o - op.DW_OP_reg0), on: env.on(), size: -1}
		case o == op.DW_OP_regx:
			cur = &piece{kind: inReg, reg: int(min(m.r.Uleb(), 1<<20)), on: env.on(), size: -1}
		case o == op.DW_OP_implicit_value:
			cur = &piece{kind: isBytes, data: m.r.Block(m.r.Uleb()), size: -1}
		case o == op.DW_OP_stack_value:
			v, err := m.pop()
			if err != nil {
				return nil, err
			}
			cur = &piece{kind: isValue, prog: v.prog, size: -1}
			if v.slot != notSlot {
				cur = &piece{kind: isLost, size: -1}
			}
		case o == opGNUUninit:
			return nil, Refuse("it has not been initialised here")
		case o == opImplicitPointer || o == opGNUImplicitPtr:
			return nil, Refuse("the pointer itself was optimised away")
		default:
			if err := m.step(o); err != nil {
				return nil, err
			}
		}
		if m.r.Err != nil {
			return nil, fmt.Errorf("%w: location expression is cut short in operation %#x", foreign.ErrCorrupt,
				expr[at])
		}
	}
	switch {
	case len(pieces) > 0 && (cur != nil || len(m.stack) > 0):
		return nil, fmt.Errorf("%w: location expression ends with a part that has no size", foreign.ErrCorrupt)
	case len(pieces) > 0:
		return pieces, nil
	case cur != nil && cur.kind == isLost:
		return nil, errSlot
	case cur != nil:
		return []piece{*cur}, nil
	case len(m.stack) == 0:
		return nil, ErrNoLocation
	}
	top := m.stack[len(m.stack)-1]
	return []piece{{kind: inMemory, prog: top.prog, size: -1}}, nil
}

// Check gives the error that Place would, as far as it does not depend on the object's type.
func Check(expr []byte, env *Env) error {
	_, err := evaluate(expr, env)
	return err
}

// Address decodes an expression that computes an address (call frame information).
func Address(expr []byte, env *Env) (loc.Prog, error) {
	p, err := evaluate(expr, env)
	if err != nil {
		return loc.Prog{}, err
	}
	if len(p) != 1 || p[0].kind != inMemory || p[0].size >= 0 {
		return loc.Prog{}, fmt.Errorf("%w: expression does not compute an address", foreign.ErrCorrupt)
	}
	return p[0].prog, nil
}

// piece finishes a part of a composite location.
func (m *machine) piece(o op.Opcode, cur *piece) (piece, error) {
	size, bit := m.r.Uleb(), uint64(0)
	if o == op.DW_OP_bit_piece {
		bit = m.r.Uleb()
		if size%8 != 0 || bit%8 != 0 {
			return piece{}, Refuse("parts of it are not whole bytes")
		}
		size /= 8
	} else if size > maxPieceBytes {
		return piece{}, fmt.Errorf("%w: piece of %d bytes", foreign.ErrCorrupt, size)
	}
	if size > maxPieceBytes || bit > 8*maxPieceBytes {
		return piece{}, fmt.Errorf("%w: piece of %d bytes", foreign.ErrCorrupt, size)
	}
	p := piece{kind: isLost}
	switch {
	case cur != nil:
		p = *cur
		switch p.kind {
		case inReg, isValue:
			p.shift = int64(bit)
		case isBytes:
			if bit/8 > uint64(len(p.data)) {
				return piece{}, fmt.Errorf("%w: piece beyond its value", foreign.ErrCorrupt)
			}
			p.data = p.data[bit/8:]
		}
	case len(m.stack) > 0:
		p = piece{kind: inMemory, prog: m.stack[len(m.stack)-1].prog.Plus(int64(bit / 8))}
	}
	p.size = int64(size)
	return p, nil
}

var errUnderflow = fmt.Errorf("%w: location expression takes from an empty stack", foreign.ErrCorrupt)

func (m *machine) pop() (operand, error) {
	if len(m.stack) == 0 {
		return operand{}, errUnderflow
	}
	v := m.stack[len(m.stack)-1]
	m.stack = m.stack[:len(m.stack)-1]
	return v, nil
}

func (m *machine) push(v operand) error {
	if len(m.stack) >= maxStack || len(v.prog.Steps) > maxSteps {
		return Refuse("its location expression is too long")
	}
	m.stack = append(m.stack, v)
	return nil
}

func (m *machine) pushProg(p loc.Prog) error { return m.push(operand{prog: p}) }
func (m *machine) pushConst(n int64) error   { return m.pushProg(loc.Constant(n)) }
func (m *machine) peek(n int) (operand, error) {
	if n < 0 || n >= len(m.stack) {
		return operand{}, errUnderflow
	}
	return m.stack[len(m.stack)-1-n], nil
}

// step executes an operation that only works on the stack.
func (m *machine) step(o op.Opcode) error {
	r := m.r
	switch {
	case o >= op.DW_OP_lit0 && o <= op.DW_OP_lit31:
		return m.pushConst(int64(o - op.DW_OP_lit0))
	case o >= op.DW_OP_breg0 && o <= op.DW_OP_breg31, o == op.DW_OP_bregx:
		n := uint64(o - op.DW_OP_breg0)
		if o == op.DW_OP_bregx {
			n = r.Uleb()
		}
		off := r.Sleb()
		slot := notSlot
		if m.env.Spill != nil && m.env.Spill(n) {
			slot = slotAddr
		}
		if n == uint64(m.env.on().SP) && m.env.SP != nil {
			if err := m.outside(m.env.SP, off, "the frame at this address is not described"); err != nil {
				return err
			}
			m.stack[len(m.stack)-1].slot = slot
			return nil
		}
		p, err := m.env.register(n)
		if err != nil {
			return err
		}
		return m.push(operand{prog: p.Plus(off), slot: slot})
	}
	switch o {
	case opNop:
		return nil
	case op.DW_OP_addr:
		return m.pushProg(loc.Static(r.U64(), m.env.Relocated))
	case op.DW_OP_const1u:
		return m.pushConst(int64(r.U8()))
	case op.DW_OP_const1s:
		return m.pushConst(int64(int8(r.U8())))
	case op.DW_OP_const2u:
		return m.pushConst(int64(r.U16()))
	case op.DW_OP_const2s:
		return m.pushConst(int64(int16(r.U16())))
	case op.DW_OP_const4u:
		return m.pushConst(int64(r.U32()))
	case op.DW_OP_const4s:
		return m.pushConst(int64(int32(r.U32())))
	case op.DW_OP_const8u, op.DW_OP_const8s:
		return m.pushConst(int64(r.U64()))
	case op.DW_OP_constu:
		return m.pushConst(int64(r.Uleb()))
	case op.DW_OP_consts:
		return m.pushConst(r.Sleb())
	case op.DW_OP_dup, op.DW_OP_over, op.DW_OP_pick:
		n := 0
		if o == op.DW_OP_over {
			n = 1
		} else if o == op.DW_OP_pick {
			n = int(r.U8())
		}
		v, err := m.peek(n)
		if err != nil {
			return err
		}
		return m.push(v)
	case op.DW_OP_drop:
		_, err := m.pop()
		return err
	case op.DW_OP_swap:
		if n := len(m.stack); n >= 2 {
			m.stack[n-1], m.stack[n-2] = m.stack[n-2], m.stack[n-1]
			return nil
		}
		return errUnderflow
	case op.DW_OP_rot:
		if n := len(m.stack); n >= 3 {
			m.stack[n-1], m.stack[n-2], m.stack[n-3] = m.stack[n-2], m.stack[n-3], m.stack[n-1]
			return nil
		}
		return errUnderflow
	case op.DW_OP_fbreg:
		off := r.Sleb()
		return m.outside(m.env.FrameBase, off, "the function has no frame base")
	case op.DW_OP_call_frame_cfa:
		return m.outside(m.env.CFA, 0, "the frame at this address is not described")
	case op.DW_OP_deref, op.DW_OP_deref_size:
		return m.deref(o)
	case op.DW_OP_plus_uconst:
		n := r.Uleb()
		v, err := m.pop()
		if err != nil {
			return err
		}
		v.prog = v.prog.Plus(int64(n))
		v.slot = v.slot.worked()
		return m.push(m.extend(v))
	case op.DW_OP_neg, op.DW_OP_not, op.DW_OP_abs:
		return m.unary(o)
	case op.DW_OP_plus, op.DW_OP_minus, op.DW_OP_mul, op.DW_OP_and, op.DW_OP_or, op.DW_OP_xor,
		op.DW_OP_shl, op.DW_OP_shr, op.DW_OP_shra:
		return m.binary(o)
	case opFormTLS, opGNUPushTLS:
		return m.tls()
	case opAddrx, opGNUAddrIndex, opConstx, opGNUConstIndex:
		i := r.Uleb()
		if m.env.Addrx == nil {
			return fmt.Errorf("%w: indexed address where there is no table", foreign.ErrCorrupt)
		}
		a, err := m.env.Addrx(i)
		if err != nil {
			return err
		}
		if o == opConstx || o == opGNUConstIndex {
			return m.pushConst(int64(a))
		}
		return m.pushProg(loc.Static(a, m.env.Relocated))
	case opEntryValue, opGNUEntryValue:
		return m.entryValue()
	case opConstType, opGNUConstType, opRegvalType, opGNURegvalType, opDerefType, opGNUDerefType,
		opConvert, opGNUConvert, opReinterpret, opGNUReinterpret:
		return m.typed(o)
	case opGNUParameterRef, opGNUVariableValue:
		return Refuse("its location depends on the caller")
	}
	if name, ok := refused[o]; ok {
		return Refuse("its location uses %s, which is not supported", name)
	}
	return Refuse("its location uses the unknown operation %#x", byte(o))
}

// refused are operations with a name for the message. The steps of package loc have no
// division, comparison or jump, and compilers hardly use these in locations.
var refused = map[op.Opcode]string{
	op.DW_OP_div: "a division", op.DW_OP_mod: "a division",
	op.DW_OP_eq: "a comparison", op.DW_OP_ne: "a comparison", op.DW_OP_lt: "a comparison",
	op.DW_OP_le: "a comparison", op.DW_OP_gt: "a comparison", op.DW_OP_ge: "a comparison",
	op.DW_OP_bra: "a conditional jump", op.DW_OP_skip: "a jump",
	op.DW_OP_xderef: "an address space", op.DW_OP_xderef_size: "an address space", opXderefType: "an address space",
	op.DW_OP_push_object_address: "an object's address", op.DW_OP_call2: "a call", op.DW_OP_call4: "a call",
	op.DW_OP_call_ref: "a call",
}

// outside pushes a value that the surroundings know, plus off.
func (m *machine) outside(get func() (loc.Prog, error), off int64, missing string) error {
	if get == nil {
		return Refuse("%s", missing)
	}
	p, err := get()
	if err != nil {
		return err
	}
	return m.pushProg(p.Plus(off))
}

func (m *machine) deref(o op.Opcode) error {
	size := 8
	if o == op.DW_OP_deref_size {
		size = int(m.r.U8())
	}
	v, err := m.pop()
	if err != nil {
		return err
	}
	if v.slot == slotArith {
		return errSlot
	}
	switch size {
	case 1, 2, 4, 8:
		return m.pushProg(v.prog.Load(size, false, false))
	}
	return Refuse("its location loads %d bytes", size)
}

func (m *machine) tls() error {
	v, err := m.pop()
	if err != nil {
		return err
	}
	off, ok := constant(v.prog)
	if !ok || m.env.TLS == nil {
		return Refuse("it is thread-local")
	}
	p, err := m.env.TLS(uint64(off))
	if err != nil {
		return err
	}
	return m.pushProg(p)
}

// entryValue is DW_OP_entry_value (DWARF 5, 2.5.1.7): what an expression gave when the function
// was entered. Only there can it be had by reading.
func (m *machine) entryValue() error {
	expr := m.r.Block(m.r.Uleb())
	if m.r.Err != nil {
		return m.r.Err
	}
	if !m.env.AtEntry {
		return Refuse("only its value at the function's entry is known")
	}
	p, err := evaluate(expr, m.env)
	if err != nil {
		return err
	}
	if len(p) != 1 || p[0].size >= 0 {
		return Refuse("only its value at the function's entry is known")
	}
	switch p[0].kind {
	case inReg:
		v, err := m.env.register(uint64(p[0].reg))
		if err != nil {
			return err
		}
		return m.pushProg(v)
	case inMemory, isValue:
		return m.pushProg(p[0].prog)
	}
	return errors.New("entry value of a constant")
}

// register is the 64-bit value of a general register.
func (e *Env) register(n uint64) (loc.Prog, error) {
	m := e.on()
	if n >= uint64(len(m.Registers)) {
		return loc.Prog{}, Refuse("it is computed from register %s, which cannot be read", m.RegName(n))
	}
	return loc.Register(int(n)), nil
}
