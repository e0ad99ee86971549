// Package machine says what gostap knows of a processor and of Linux's and Go's conventions on it: names and numbers of
// registers, the calling conventions, the layout of struct pt_regs, the breakpoint.
//
// In: e_machine of an ELF file, or a name. Out: a Machine, or that there is none. A file set describes one machine:
// amd64*.go here, and a folder of that name with what knows its code. No other package names a register or writes a
// register's number.
package machine

import (
	"debug/elf"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/machine/insn"
	"github.com/gostap/gostap/compiler/machine/syscalls"
)

// Register is a register that a probe can read.
type Register struct {
	// Name is the assembler's.
	Name string
	// Field is the member of the kernel's struct pt_regs that holds it, Offset its offset there in bytes.
	Field  string
	Offset int
}

// Relocs are kinds of relocations, as ELF numbers them.
type Relocs struct {
	// Relative adds the load bias, Absolute the address of a symbol.
	Relative, Absolute uint32
	// GlobDat and JumpSlot are addresses of a symbol for the file's own code, and for its procedure linkage table.
	GlobDat, JumpSlot uint32
	// TPOff is the distance of a variable from the thread pointer.
	TPOff uint32
}

// Convention is how a call hands over integers and pointers. Registers are DWARF numbers.
type Convention struct {
	// Args and Results are the registers of the integer arguments and results, in order.
	Args, Results []int
	// Vectors is how many vector registers take floating-point arguments and results: numbers 0 to Vectors-1.
	Vectors int
}

// Machine is a processor with the conventions of Linux on it. Registers are DWARF numbers.
type Machine struct {
	// Name is what messages call it, Arch what a script does (%( arch == "x86_64" %)) and uname -m.
	Name, Arch string
	// GOARCH is Go's name.
	GOARCH string
	// KernelArch is the folder of the kernel's source below arch/.
	KernelArch string
	// Triplet is how Debian names the folders of its libraries.
	Triplet string
	// HWCaps are the subfolders of a folder of libraries in which glibc looks first, in order.
	HWCaps []string
	ELF    elf.Machine
	// CacheFlags are the flags of libraries of the machine in glibc's cache (ld.so.cache).
	CacheFlags uint32
	// Relocs are the kinds of relocations that matter.
	Relocs Relocs
	// Thunks are the beginnings of the names of functions by which the kernel calls through registers and returns,
	// ReturnThunk is what code jumps to there in place of a return (-mfunction-return).
	Thunks      []string
	ReturnThunk string
	// WordSize is the size of a pointer and of a general register, in bytes.
	WordSize int64

	// Registers are those that a struct pt_regs holds, by DWARF number.
	Registers []Register
	// SP, FP and IP are the stack pointer, the frame pointer and the instruction pointer, which is also the column of
	// the return address in call frame information.
	SP, FP, IP int
	// Link is the register that holds the return address where a function is entered, -1 if a call pushes it.
	Link int
	// Vector is the DWARF number of the first vector register, Vectors their number.
	Vector, Vectors int

	// C is the convention of C (of the System V ABI); Go is Go's ABIInternal, but for its closures and goroutines.
	// Go's ABI0 has all on the stack.
	C, Go Convention
	// Kept are the registers that calls leave as they were, by the convention of C, with SP and with IP, which is where
	// the call returns to. Scratch are those that a function neither keeps nor returns anything in.
	Kept, Scratch []int
	// Sigframe are the places of the registers, by their numbers, in what the kernel leaves on the stack for a signal's
	// handler, in bytes from what the stack pointer is when that returns.
	Sigframe []int64
	// Closure holds the closure that is being called where a function of ABIInternal is entered, Goroutine the
	// running one in all code of ABIInternal.
	Closure, Goroutine int
	// Resumed has the address at which a goroutine goes on, when the runtime lets it (runtime.gogo).
	Resumed int

	// AtCall and AtReturn are the registers that the kernel gives to probes that need no breakpoint (fprobe) at a
	// function's first instruction and at its return, as bits by their numbers.
	AtCall, AtReturn uint64
	// Syscall says where system calls have their arguments and their number.
	Syscall Syscall
	// Thread is the member of the kernel's struct task_struct that has a thread's pointer to what is its own.
	Thread string
	// Mode tells in a struct pt_regs what was interrupted.
	Mode Mode
	// Calls are the system calls.
	Calls syscalls.Table
	// Operand reads an operand of the assembler, as notes of static marks have them. The error says what it is.
	Operand func(s string) (insn.Operand, error)
	// Exec is code that replaces the process by the program argv[1] with the arguments from argv[2] on and the
	// environment that it has, by its first system call; where that fails it ends with status 127. It stands at the
	// entry of a program.
	Exec []byte
	// PrivateStack looks in the machine code that the kernel made of a BPF program for a stack that belongs to the
	// processor.
	PrivateStack func(code []byte) bool
	// Code decodes instructions.
	Code insn.Decoder
	// Breakpoint is the instruction that the kernel puts where a probe is. A kprobe's registers point TrapAdvance
	// bytes behind where it stands.
	Breakpoint  []byte
	TrapAdvance int64

	// vectorName names a vector register by its place among them, otherName what is neither general nor a vector, or
	// "".
	vectorName func(n int) string
	otherName  func(n uint64) string
}

// Syscall is the convention of system calls.
type Syscall struct {
	// Args are the registers of the arguments.
	Args []int
	// Makers are the calls that make processes and threads.
	Makers []int64
	// Compat says how calls of programs of 32 bits are told from those of the machine's own table, nil if there is no
	// other table.
	Compat *Compat
	// Number is the offset in struct pt_regs of the call's number until it is over, NumberField the member's name.
	Number      int
	NumberField string
}

// Compat is the other table of system calls.
type Compat struct {
	// Status is the member of struct task_struct that has a bit of Mask while a thread is in a call of that table.
	Status string
	Mask   int64
	// Makers are its calls that make processes and threads.
	Makers []int64
}

// Mode is the word of struct pt_regs that tells whether a program or the kernel was interrupted.
type Mode struct {
	// Field and Offset are the member's. A program was interrupted where it has User in the bits of Mask: all of them,
	// or none.
	Field      string
	Offset     int
	Mask, User int64
}

// MaxRegisters is the most registers that one of the machines has in struct pt_regs.
const MaxRegisters = 17

// Machines are all that gostap traces.
var Machines = []*Machine{AMD64}

// Host is the machine that this process runs on, the first one of Machines where it is none of them.
var Host = host()

func host() *Machine {
	for _, m := range Machines {
		if m.GOARCH == runtime.GOARCH {
			return m
		}
	}
	return Machines[0]
}

// Default is the machine of whoever does not say another.
var Default = Host

// ForELF finds the machine of an ELF file by its header. The error says what the file is for.
func ForELF(class elf.Class, data elf.Data, m elf.Machine) (*Machine, error) {
	for _, x := range Machines {
		if x.ELF == m && class == elf.ELFCLASS64 && data == elf.ELFDATA2LSB {
			return x, nil
		}
	}
	is := ELFName(m)
	switch {
	case class == elf.ELFCLASS32:
		is += ", 32 bits"
	case class != elf.ELFCLASS64:
		is += fmt.Sprintf(", class %d", class)
	}
	switch {
	case data == elf.ELFDATA2MSB:
		is += ", big-endian"
	case data != elf.ELFDATA2LSB:
		is += fmt.Sprintf(", byte order %d", data)
	}
	return nil, fmt.Errorf("%s; this gostap traces %s only", is, Names())
}

// ByArch finds a machine by what scripts call it, nil if there is none.
func ByArch(arch string) *Machine {
	for _, x := range Machines {
		if x.Arch == arch {
			return x
		}
	}
	return nil
}

// Names lists the machines for messages.
func Names() string {
	var names []string
	for _, x := range Machines {
		names = append(names, x.Name)
	}
	return strings.Join(names, " and ")
}

// elfNames are machines as their makers write them.
var elfNames = map[elf.Machine]string{
	elf.EM_386: "i386", elf.EM_X86_64: "x86-64", elf.EM_ARM: "ARM", elf.EM_AARCH64: "AArch64", elf.EM_RISCV: "RISC-V",
	elf.EM_PPC: "PowerPC", elf.EM_PPC64: "PowerPC64", elf.EM_S390: "S/390", elf.EM_LOONGARCH: "LoongArch",
	elf.EM_MIPS: "MIPS", elf.EM_SPARCV9: "SPARC V9", elf.EM_BPF: "BPF",
}

// ELFName names the machine of e_machine for messages.
func ELFName(m elf.Machine) string {
	if n := elfNames[m]; n != "" {
		return n
	}
	if n, ok := strings.CutPrefix(m.String(), "EM_"); ok && !strings.Contains(n, "+") {
		return n
	}
	return fmt.Sprintf("machine number %d", uint16(m))
}

// Number gives the DWARF number of a general register by its name, with or without a leading %.
func (m *Machine) Number(name string) (int, bool) {
	name = strings.TrimPrefix(name, "%")
	n := slices.IndexFunc(m.Registers, func(r Register) bool { return r.Name == name })
	return n, n >= 0
}

// General reports whether n is a register of struct pt_regs.
func (m *Machine) General(n int64) bool { return n >= 0 && n < int64(len(m.Registers)) }

// IsVector reports whether n is the DWARF number of a vector register, of which the low 64 bits can be read.
func (m *Machine) IsVector(n int64) bool {
	return n >= int64(m.Vector) && n < int64(m.Vector+m.Vectors)
}

// CanSet reports whether register n of a traced program may be written: all general ones but the stack pointer and
// the instruction pointer.
func (m *Machine) CanSet(n int64) bool { return m.General(n) && n != int64(m.SP) && n != int64(m.IP) }

// Offset is that of register n in struct pt_regs.
func (m *Machine) Offset(n int) int { return m.Registers[n].Offset }

// Field is the member of struct pt_regs that holds register n.
func (m *Machine) Field(n int) string { return m.Registers[n].Field }

// RegName names any register of DWARF for messages.
func (m *Machine) RegName(n uint64) string {
	switch {
	case n < uint64(len(m.Registers)):
		return m.Registers[n].Name
	case n >= uint64(m.Vector) && n < uint64(m.Vector+m.Vectors):
		return m.vectorName(int(n) - m.Vector)
	}
	if s := m.otherName(n); s != "" {
		return s
	}
	return fmt.Sprintf("number %d", n)
}

// Set gives registers as bits by their numbers.
func Set(lists ...[]int) (bits uint64) {
	for _, l := range lists {
		for _, n := range l {
			bits |= 1 << n
		}
	}
	return bits
}
