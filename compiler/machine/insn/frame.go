package insn

// FrameUse is what an instruction does with memory behind the stack pointer.
type FrameUse struct {
	// Off is the first byte's distance from the stack pointer, Size how many there are; 0 for none.
	Off, Size int64
	// Writes: they are, or may be, written; else they are read at most.
	Writes bool
	// Reg is the register, by its DWARF number, whose first bytes are moved there as they are (Writes), or that gets
	// them in its first ones; -1 for none.
	Reg int
	// Address: the address is computed, or used with an index, so that what is at Off and behind it may be read and
	// written at any time; Size is of no use then.
	Address bool
	// Unknown: which bytes are used is not known.
	Unknown bool
}
