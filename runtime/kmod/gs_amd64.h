/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* gs_machine.h for x86-64. */
#ifndef GS_AMD64_H
#define GS_AMD64_H

#define GS_IP(regs) ((regs)->ip)
#define GS_SP(regs) ((regs)->sp)
#define GS_FP(regs) ((regs)->bp)
#define GS_CALL_NR(regs) ((regs)->orig_ax)
#define GS_CALL_ARGS(regs) (regs)->di, (regs)->si, (regs)->dx, (regs)->r10, (regs)->r8, (regs)->r9
#define gs_compat() in_ia32_syscall()

/* clone, fork, vfork, clone3. */
static inline bool gs_makes(long nr, bool compat)
{
	if (compat)
		return nr == 120 || nr == 2 || nr == 190 || nr == 435;
	return nr == 56 || nr == 57 || nr == 58 || nr == 435;
}

#define gs_address_bits() (boot_cpu_data.x86_virt_bits)

/*
 * Whether an address may be the kernel's, with bits as wide as the machine's are: what copy_from_kernel_nofault_allowed() asks before a read.
 * The kernel catches a fault there. At all others its exception handlers take a write of its own for a bug: it complains about
 * those that are no addresses at all, and dies at the page of the old system calls, which it takes for a process's.
 */
static inline bool gs_kernel_address(u64 addr, u32 bits)
{
	return (s64)addr < 0 && (u64)((s64)(addr << (64 - bits)) >> (64 - bits)) == addr && (addr & ~4095ULL) != -(10ULL << 20);
}

#ifdef __KERNEL__
static inline s64 gs_thread_pointer(void)
{
	if (boot_cpu_has(X86_FEATURE_FSGSBASE)) {
		unsigned long base;

		asm volatile("rdfsbase %0" : "=r" (base));
		return base;
	}
	return current->thread.fsbase;
}
#endif

#endif
