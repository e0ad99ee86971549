/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* gs_machine.h for x86-64. */
#ifndef GS_AMD64_H
#define GS_AMD64_H

#define GS_IP(regs) ((regs)->ip)
#define GS_SP(regs) ((regs)->sp)
#define GS_FP(regs) ((regs)->bp)
#define GS_CALL_NR(regs) ((regs)->orig_ax)
#define GS_CALL_ARGS(regs) (regs)->di, (regs)->si, (regs)->dx, (regs)->r10, (regs)->r8, (regs)->r9
#define GS_RESULT(regs) ((regs)->ax)
#define gs_compat() in_ia32_syscall()

/* The register of the n-th argument of a system call, from 0. */
static inline unsigned long * __maybe_unused gs_call_arg(struct pt_regs *regs, u32 n)
{
	switch (n) {
	case 0: return &regs->di;
	case 1: return &regs->si;
	case 2: return &regs->dx;
	case 3: return &regs->r10;
	case 4: return &regs->r8;
	default: return &regs->r9;
	}
}

/* exit, exit_group: calls that do not return. */
static inline bool gs_call_ends(long nr) { return nr == 60 || nr == 231; }

/* execve, execveat. */
static inline bool gs_call_begins(long nr) { return nr == 59 || nr == 322; }

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

/* A program goes on at ip, with these pointers to its stack. */
static inline void __maybe_unused gs_skip_call(struct pt_regs *regs, u64 ip, u64 sp, u64 fp)
{
	regs->ip = ip;
	regs->sp = sp;
	regs->bp = fp;
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

#include <asm/fpu/api.h>
#include <asm/fpu/types.h>
#include <linux/version.h>

/*
 * A kernel function returns at once, at whose entry a kprobe is. Where the probe is one of function tracing, the stack pointer cannot
 * be changed: the function goes on at a return instruction. One of the kernel's own is there for good, whoever waits at it when the
 * module goes: where functions can be traced, that of the function that does nothing. (__x86_return_thunk is none: kernels from 6.9
 * on complain when something gets to it.) Its address is read, so that no tool takes the instruction for a call by the compiler.
 */
#if defined(CONFIG_DYNAMIC_FTRACE) && defined(CONFIG_HAVE_FENTRY)
#include <linux/ftrace.h>
static void (*volatile gs_does_nothing)(void) __maybe_unused = __fentry__;
#define GS_RETURN ((unsigned long)gs_does_nothing)
#else
#include <linux/linkage.h>
extern char gs_return_now[];
asm(".pushsection .text\n\t.balign 16\ngs_return_now:\n\t" ASM_RET "\n\t.popsection");
#define GS_RETURN ((unsigned long)gs_return_now)
#endif
static inline void __maybe_unused gs_kernel_return(struct pt_regs *regs, u64 v)
{
	regs->ax = v;
	regs->ip = GS_RETURN;
}

/* Where the kernel keeps a thread's registers while others use them: behind the thread's task since 6.16. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
#define GS_FPU ((struct fpu *)((char *)current + sizeof(*current)))
#else
#define GS_FPU (&current->thread.fpu)
#endif

/* A register that has been saved. One that has its first value, zeros, need not have been. */
static u64 gs_saved_vector(const struct fpstate *s, u32 n)
{
	u64 v;

	if (boot_cpu_has(X86_FEATURE_XSAVE) && !(s->regs.xsave.header.xfeatures & XFEATURE_MASK_SSE))
		return 0;
	memcpy(&v, &s->regs.fxsave.xmm_space[4 * n], sizeof(v));
	return v;
}

#define GS_VECTOR(n) case n: asm volatile("movq %%xmm" #n ", %0" : "=r" (v)); break

/* A thread in the kernel has its registers in the CPU still, unless the kernel or another thread needed them. */
static __maybe_unused u64 gs_vector(u32 n)
{
	u64 v = 0;

	fpregs_lock();
	if (test_thread_flag(TIF_NEED_FPU_LOAD)) {
		v = gs_saved_vector(GS_FPU->fpstate, n);
	} else {
		switch (n) {
		GS_VECTOR(0); GS_VECTOR(1); GS_VECTOR(2); GS_VECTOR(3);
		GS_VECTOR(4); GS_VECTOR(5); GS_VECTOR(6); GS_VECTOR(7);
		GS_VECTOR(8); GS_VECTOR(9); GS_VECTOR(10); GS_VECTOR(11);
		GS_VECTOR(12); GS_VECTOR(13); GS_VECTOR(14); GS_VECTOR(15);
		}
	}
	fpregs_unlock();
	return v;
}
#endif

#endif
