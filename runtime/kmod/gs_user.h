/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * The kernel's names in user space, for tests of the runtime and of generated handlers
 * under the sanitizers. There is one CPU unless a test says otherwise. Memory that
 * "exists" for gs_read is what the test's gs_test_read gives.
 */
#ifndef GS_USER_H
#define GS_USER_H

#define _GNU_SOURCE
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef unsigned long long u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef long long s64;

#define __user
#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif
#define __maybe_unused __attribute__((unused))
#define noinline __attribute__((noinline))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define READ_ONCE(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, v) __atomic_store_n(&(x), v, __ATOMIC_RELAXED)
#define barrier() __asm__ volatile("" ::: "memory")
#define cpu_relax() barrier()
#define udelay(n) ((void)(n))
#define min_t(t, a, b) ((t)(a) < (t)(b) ? (t)(a) : (t)(b))
#define max_t(t, a, b) ((t)(a) > (t)(b) ? (t)(a) : (t)(b))
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define scnprintf(p, n, ...) snprintf(p, n, __VA_ARGS__)

typedef struct { int counter; } atomic_t;
typedef struct { s64 counter; } atomic64_t;
#define ATOMIC_INIT(n) { n }
#define ATOMIC64_INIT(n) { n }
#define atomic_read(p) READ_ONCE((p)->counter)
#define atomic_inc_return(p) __atomic_add_fetch(&(p)->counter, 1, __ATOMIC_SEQ_CST)
static inline int atomic_fetch_add_unless(atomic_t *p, int n, int unless)
{
	int old = atomic_read(p);

	while (old != unless && !__atomic_compare_exchange_n(&p->counter, &old, old + n, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		;
	return old;
}
#define atomic64_read(p) READ_ONCE((p)->counter)
#define atomic64_set(p, v) WRITE_ONCE((p)->counter, v)
#define atomic64_add(v, p) ((void)__atomic_add_fetch(&(p)->counter, v, __ATOMIC_SEQ_CST))
#define atomic64_fetch_add(v, p) __atomic_fetch_add(&(p)->counter, v, __ATOMIC_SEQ_CST)
#define smp_load_acquire(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define smp_store_release(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)

static inline int gs_cmpxchg(int *p, int old, int new)
{
	__atomic_compare_exchange_n(p, &old, new, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	return old;
}
#define cmpxchg(p, old, new) gs_cmpxchg(p, old, new)
#define cmpxchg_acquire(p, old, new) gs_cmpxchg(p, old, new)

#ifndef GS_TEST_CPU
#define GS_TEST_CPU 0
#define GS_TEST_CPUS 1
#endif
#define nr_cpu_ids ((u32)GS_TEST_CPUS)
#define smp_processor_id() GS_TEST_CPU
#define DEFINE_PER_CPU(type, name) type name
#define this_cpu_inc(x) ((void)__atomic_add_fetch(&(x), 1, __ATOMIC_RELAXED))
#define this_cpu_read(x) (x)
#define preempt_disable() barrier()
#define preempt_enable() barrier()
#define in_nmi() 0
#ifndef in_hardirq
#define in_hardirq() 0
#endif
#define in_serving_softirq() 0
/* Tests of interrupts define these. */
#ifndef gs_irq_save
#define gs_irq_save(f) ((f) = 0)
#define gs_irq_restore(f) ((void)(f))
#endif
#define kvzalloc(n, how) calloc(1, n)
#define kvfree(p) free(p)
#define copy_from_user(dst, src, n) (memcpy(dst, src, n), 0)
#define copy_to_user(dst, src, n) (memcpy(dst, src, n), 0)
#define gs_thread() 1000
#define gs_zalloc(n) calloc(1, n)
#define gs_free(p) free(p)

struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip, cs, flags, sp, ss;
};

static int gs_test_read(void *dst, unsigned long addr, unsigned int n, bool kernel);
#define copy_from_user_nofault(dst, src, n) gs_test_read(dst, (unsigned long)(src), n, false)
#define copy_from_kernel_nofault(dst, src, n) gs_test_read(dst, (unsigned long)(src), n, true)

/* Tests of writing define gs_test_write. */
#ifndef GS_TEST_WRITE
static inline int gs_test_write(unsigned long addr, const void *src, unsigned int n)
{
	(void)addr;
	(void)src;
	(void)n;
	return -14;
}
#endif
/* Tests of memory that is not there yet define gs_test_bring_in. */
#ifndef GS_TEST_BRING_IN
#define gs_test_bring_in(addr, n, write) ((void)(addr), (void)(n), (void)(write), false)
#endif
#define copy_to_user_nofault(dst, src, n) gs_test_write((unsigned long)(dst), src, n)

/* The place of irgen.Context. */
static inline const char *gs_module_name(void) { return "test"; }
static inline s64 gs_pid(void) { return 42; }
static inline s64 gs_tid(void) { return 42; }
static inline s64 gs_other(void) { return 1000; }
#define gs_uid gs_other
#define gs_euid gs_other
#define gs_gid gs_other
#define gs_egid gs_other
#define gs_cpu gs_other
#define gs_ns_pid gs_other
#define gs_ns_tid gs_other
#define gs_pgrp gs_other
#define gs_sid gs_other
#define gs_ppid gs_other
#define gs_task_current gs_other
#define gs_mono gs_other
#define gs_jiffies gs_other
#define gs_random gs_other
#define gs_uaddr(regs) ((regs) ? GS_IP(regs) : 0)
#define gs_ustack_level(regs, n, room, entry) ((void)(n), 0)
#define gs_stack_level(regs, n, room, entry) ((void)(n), 0)
#define gs_ustack_kept(c, pos, dst, regs, entry, below) ((void)(below), *(dst) = 0)
#define gs_walk_kept(c, pos, dst, regs, pc, sp, fp, from, to, below) ((void)((pc) + (sp) + (fp) + (from) + (to) + (below)), *(dst) = 0)
#define gs_walk_free() ((void)0)
#define gs_kstack_kept(c, pos, dst, regs) (*(dst) = 0)
#define gs_raise_signal(n) ((n) ? 0 : -22)
#define gs_panic(why) ((void)(why))
#define gs_dump_stack() ((void)0)
#define gs_udelay(n) ((void)(n))
#define gs_mdelay(n) ((void)(n))
#define KERN_SOH_ASCII '\001'
#define printk printf
static inline s64 gs_wall(s64 unit) { (void)unit; return 1000; }
static inline s64 gs_thread_pointer(void) { return 7000; }
static inline void gs_name(char *dst, u32 cap, const char *s)
{
	u32 n = strlen(s);

	if (n > cap)
		n = cap;
	memcpy(dst, s, n);
	dst[n] = 0;
}
#define gs_execname(dst, cap) gs_name(dst, cap, "program")
#define gs_pexecname(dst, cap) gs_name(dst, cap, "pexecname")

#endif
