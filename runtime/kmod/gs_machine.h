/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * What the other headers ask of the machine. Each has a header gs_GOARCH.h with:
 *   GS_IP(regs), GS_SP(regs), GS_FP(regs)    the instruction pointer, stack pointer and frame pointer, to be read
 *                                            and to be set
 *   GS_CALL_NR(regs)      the number of a system call until it is over
 *   GS_CALL_ARGS(regs)    the six arguments of a system call, with commas between them
 *   gs_call_arg(regs, n)  where the n-th of them is, from 0
 *   GS_RESULT(regs)       a call's result
 *   gs_call_ends(nr)      whether a system call does not return
 *   gs_call_begins(nr)    whether one begins another program
 *   gs_compat()           whether the thread is in a system call of programs of 32 bits
 *   gs_makes(nr, compat)  whether a system call makes processes or threads
 *   gs_address_bits()     how wide addresses are
 *   gs_kernel_address(addr, bits)            whether an address may be the kernel's
 *   gs_thread_pointer()   the thread's pointer to what is its own
 *   gs_kernel_return(regs, v)                has the kernel function that was entered return v at once
 *   gs_skip_call(regs, ip, sp, fp)           has a program go on at ip, with these stack and frame pointers
 *   gs_vector(n)          the low 64 bits of the thread's vector register n, as its program has it
 */
#ifndef GS_MACHINE_H
#define GS_MACHINE_H

#if defined(__x86_64__)
#include "gs_amd64.h"
#else
#error "there is no header for this machine"
#endif

#endif
