package dw

import (
	"fmt"

	"github.com/gostap/gostap/compiler/loc"
)

// DWARF register numbers of amd64 (System V psABI, figure 3.36).
const (
	RegRAX = 0
	RegRDX = 1
	RegRCX = 2
	RegRBX = 3
	RegRSI = 4
	RegRDI = 5
	RegRBP = 6
	RegRSP = 7
	RegR14 = 14
	RegRIP = 16 // also the column of the return address
	RegXMM = 17 // XMM0; XMM15 is 32
)

// RegName is the assembler's name of a DWARF register of amd64.
func RegName(n uint64) string {
	names := [...]string{"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp",
		"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rip"}
	switch {
	case n < uint64(len(names)):
		return names[n]
	case n >= RegXMM && n < RegXMM+16:
		return fmt.Sprintf("xmm%d", n-RegXMM)
	case n >= 33 && n <= 40:
		return fmt.Sprintf("st%d", n-33)
	}
	return fmt.Sprintf("number %d", n)
}

// register is the 64-bit value of a general register.
func register(n uint64) (loc.Prog, error) {
	if n > RegRIP {
		return loc.Prog{}, unavailable("it is computed from register %s, which cannot be read", RegName(n))
	}
	return loc.Register(int(n)), nil
}
