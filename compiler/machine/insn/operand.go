package insn

// Operand is an operand as assemblers write it, and as the notes of static marks have it.
type Operand struct {
	Kind OperandKind
	// Reg is a general register's DWARF number, of which Size bytes from bit Shift on are meant; of InVector the number
	// among the vector registers.
	Reg, Shift, Size int
	// Const is the number of a Constant, and what is added to the address of InMemory.
	Const int64
	// Base and Index are registers that the address is computed from, -1 for none; Index counts Scale times. Symbol is
	// added to it, "" for none.
	Base, Index int
	Scale       int64
	Symbol      string
	// Thread says that the thread pointer is added to the address.
	Thread bool
}

// OperandKind says what an Operand is.
type OperandKind uint8

// The kinds.
const (
	InRegister OperandKind = iota
	InVector
	Constant
	InMemory
)
