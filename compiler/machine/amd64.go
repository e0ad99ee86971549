package machine

import (
	"debug/elf"
	"fmt"

	"github.com/gostap/gostap/compiler/machine/amd64"
	"github.com/gostap/gostap/compiler/machine/syscalls"
)

// The general registers of amd64 by their DWARF numbers (System V psABI, figure 3.36).
const (
	rax = iota
	rdx
	rcx
	rbx
	rsi
	rdi
	rbp
	rsp
	r8
	r9
	r10
	r11
	r12
	r13
	r14
	r15
	rip // the column of the return address
)

// AMD64 is x86-64 (AMD64, Intel 64) with the System V psABI and cmd/compile/abi-internal.md of Go 1.17 and later.
var AMD64 = &Machine{
	Name: "x86-64", Arch: "x86_64", GOARCH: "amd64", KernelArch: "x86", Triplet: "x86_64-linux-gnu", ELF: elf.EM_X86_64,
	HWCaps:   []string{"glibc-hwcaps/x86-64-v4", "glibc-hwcaps/x86-64-v3", "glibc-hwcaps/x86-64-v2"},
	WordSize: 8,
	// FLAG_ELF_LIBC6 | FLAG_X8664_LIB64.
	CacheFlags: 0x0303,
	Relocs: Relocs{
		Relative: uint32(elf.R_X86_64_RELATIVE), Absolute: uint32(elf.R_X86_64_64),
		GlobDat: uint32(elf.R_X86_64_GLOB_DAT), JumpSlot: uint32(elf.R_X86_64_JMP_SLOT),
		TPOff: uint32(elf.R_X86_64_TPOFF64),
	},
	Thunks: []string{"__x86_indirect_", "__x86_return_thunk"}, ReturnThunk: "__x86_return_thunk",
	// The offsets are those of arch/x86/include/asm/ptrace.h.
	Registers: []Register{
		{"rax", "ax", 80}, {"rdx", "dx", 96}, {"rcx", "cx", 88}, {"rbx", "bx", 40},
		{"rsi", "si", 104}, {"rdi", "di", 112}, {"rbp", "bp", 32}, {"rsp", "sp", 152},
		{"r8", "r8", 72}, {"r9", "r9", 64}, {"r10", "r10", 56}, {"r11", "r11", 48},
		{"r12", "r12", 24}, {"r13", "r13", 16}, {"r14", "r14", 8}, {"r15", "r15", 0},
		{"rip", "ip", 128},
	},
	SP: rsp, FP: rbp, IP: rip, Link: -1,
	Vector: 17, Vectors: 16,
	C:       Convention{Args: []int{rdi, rsi, rdx, rcx, r8, r9}, Results: []int{rax, rdx}, Vectors: 8},
	Go:      Convention{Args: goInts, Results: goInts, Vectors: 15},
	Kept:    []int{rbx, rbp, rsp, r12, r13, r14, r15, rip},
	Scratch: []int{rcx, rsi, rdi, r8, r9, r10, r11},
	// struct sigcontext of asm/sigcontext.h, behind 40 bytes of struct ucontext.
	Sigframe: []int64{144, 136, 152, 128, 112, 104, 120, 160, 40, 48, 56, 64, 72, 80, 88, 96, 168},
	Closure:  rdx, Goroutine: r14, Resumed: rbx,
	// The kernel saves rax along with the arguments.
	AtCall:   Set([]int{rdi, rsi, rdx, rcx, r8, r9, rsp, rax}),
	AtReturn: Set([]int{rax, rdx, rsp}),
	Syscall: Syscall{
		Args: []int{rdi, rsi, rdx, r10, r8, r9}, Number: 120, NumberField: "orig_ax",
		Makers: []int64{56, 57, 58, 435}, // clone, fork, vfork, clone3
		// TS_COMPAT of arch/x86/include/asm/thread_info.h; the numbers are those of arch/x86/entry/syscalls.
		Compat: &Compat{Status: "thread_info.status", Mask: 2, Makers: []int64{120, 2, 190, 435}},
	},
	Calls: syscalls.AMD64, Thread: "thread.fsbase",
	// The lowest two bits of cs are the privilege level.
	Mode:       Mode{Field: "cs", Offset: 136, Mask: 3, User: 3},
	Breakpoint: []byte{0xcc}, TrapAdvance: 1,
	Operand: amd64.Operand,
	Exec:    amd64.Exec, PrivateStack: amd64.PrivateStack,
	Code:       &amd64.Decoder{},
	vectorName: func(n int) string { return fmt.Sprintf("xmm%d", n) },
	otherName: func(n uint64) string {
		if n >= 33 && n <= 40 {
			return fmt.Sprintf("st%d", n-33)
		}
		return ""
	},
}

var goInts = []int{rax, rbx, rcx, rdi, rsi, r8, r9, r10, r11}
