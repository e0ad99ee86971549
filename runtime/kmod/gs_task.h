/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* Who runs, when, and where: what the built-in functions of the language ask. */
#ifndef GS_TASK_H
#define GS_TASK_H

#include "gs_text.h"
#ifdef __KERNEL__
#include <linux/irq_work.h>
#include <linux/sched/task.h>
#include "gs_family.h"
#endif

#ifdef __KERNEL__
/* The loader may give the module another name than it was built with. */
static inline const char *gs_module_name(void) { return THIS_MODULE->name; }
static inline s64 gs_pid(void) { return gs_tgid(); }
static inline s64 gs_tid(void) { return likely(!gs_pidns) ? current->pid : task_pid_nr_ns(current, gs_pidns); }
static inline s64 gs_uid(void) { return from_kuid(&init_user_ns, current_uid()); }
static inline s64 gs_euid(void) { return from_kuid(&init_user_ns, current_euid()); }
static inline s64 gs_gid(void) { return from_kgid(&init_user_ns, current_gid()); }
static inline s64 gs_egid(void) { return from_kgid(&init_user_ns, current_egid()); }
static inline s64 gs_cpu(void) { return smp_processor_id(); }
static inline s64 gs_ns_pid(void) { return task_tgid_vnr(current); }
static inline s64 gs_ns_tid(void) { return task_pid_vnr(current); }
static inline s64 gs_pgrp(void) { return task_pgrp_nr_ns(current, gs_pidns ? gs_pidns : &init_pid_ns); }
static inline s64 gs_sid(void) { return task_session_nr_ns(current, gs_pidns ? gs_pidns : &init_pid_ns); }
static inline s64 gs_task_current(void) { return (s64)(unsigned long)current; }

static inline s64 gs_ppid(void)
{
	struct task_struct *p;
	s64 n;

	rcu_read_lock();
	p = rcu_dereference(current->real_parent);
	n = likely(!gs_pidns) ? p->tgid : task_tgid_nr_ns(p, gs_pidns);
	rcu_read_unlock();
	return n;
}

/* The registers of the program: where a hit is in the kernel, those with which it came there. NULL where there is no program. */
static inline struct pt_regs *gs_user_regs(struct pt_regs *regs)
{
	if (!regs || !user_mode(regs)) {
		regs = task_pt_regs(current);
		if (!user_mode(regs) || !current->mm)
			return NULL;
	}
	return regs;
}

static inline s64 gs_uaddr(struct pt_regs *regs)
{
	regs = gs_user_regs(regs);
	return regs ? GS_IP(regs) : 0;
}

static inline void gs_execname(char *dst, u32 cap)
{
	gs_set(dst, cap, current->comm, strnlen(current->comm, TASK_COMM_LEN));
}

static inline void gs_pexecname(char *dst, u32 cap)
{
	struct task_struct *p;

	rcu_read_lock();
	p = rcu_dereference(current->real_parent);
	gs_set(dst, cap, p->comm, strnlen(p->comm, TASK_COMM_LEN));
	rcu_read_unlock();
}

static inline s64 gs_wall(s64 unit) { return (s64)(ktime_get_real_fast_ns() / (u64)unit); }
static inline s64 gs_mono(void) { return ktime_get_mono_fast_ns(); }
static inline s64 gs_jiffies(void) { return get_jiffies_64(); }

/* The kernel's own generator takes locks, and handlers run in it as well: numbers of splitmix64, which begin with one of its. */
static inline u64 gs_random(void)
{
	u64 x = this_cpu_add_return(gs_cpus.seed, 0x9e3779b97f4a7c15ULL);

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

/*
 * Signals that wait for interrupts to be on: whoever has turned them off may hold the lock of the very thread's signals, or of the
 * scheduler. One for each CPU: a second one meanwhile is refused.
 */
struct gs_signal {
	struct irq_work work;
	struct task_struct *task;
	int number;
};
static DEFINE_PER_CPU(struct gs_signal, gs_signals);

static void gs_signal_work(struct irq_work *w)
{
	struct gs_signal *s = container_of(w, struct gs_signal, work);

	send_sig(s->number, s->task, 1);
	put_task_struct(s->task);
	smp_store_release(&s->task, NULL);
}

static inline int gs_signal_later(int n)
{
	struct gs_signal *s = this_cpu_ptr(&gs_signals);

	if (cmpxchg(&s->task, NULL, current))
		return -EBUSY;
	get_task_struct(current);
	s->number = n;
	s->work.func = gs_signal_work;
	irq_work_queue(&s->work);
	return 0;
}

/* Waits for signals that are under way: no handler runs any more. */
static void gs_signals_sync(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		irq_work_sync(&per_cpu(gs_signals, cpu).work);
}

/* A signal for the current thread: 0, or the kernel's error below 0. The kernel would take 0 for 64 here, where it means no signal at all. */
static inline s64 gs_raise_signal(s64 n)
{
	if (n <= 0 || n > _NSIG)
		return n ? -EINVAL : 0;
	return irqs_disabled() ? gs_signal_later((int)n) : send_sig((int)n, current, 1);
}

static inline void gs_panic(const char *why) { panic("%s", why); }
static inline void gs_dump_stack(void) { dump_stack(); }

/* Busy waits, at most a second: what waits longer is a dead machine. */
static inline void gs_udelay(s64 n)
{
	u32 us = (u32)clamp_t(s64, n, 0, 1000000);

	for (; us > 1000; us -= 1000)
		udelay(1000);
	udelay(us);
}

static inline void gs_mdelay(s64 n) { gs_udelay(n < 1000 ? n * 1000 : 1000000); }
#endif

static inline int gs_printk(struct gs_ctx *c, int pos, s64 level, const char *text)
{
	if (level < 0 || level > 7) {
		scnprintf(c->tmp, sizeof(c->tmp), "printk: there is no level %lld, they go from 0 to 7", (long long)level);
		return gs_throw(c, pos, GS_ERR_ARGUMENT, c->tmp);
	}
	printk("%c%c%s\n", KERN_SOH_ASCII, (int)('0' + level), text);
	return GS_OK;
}

static inline int gs_randint(struct gs_ctx *c, int pos, s64 *dst, s64 n)
{
	if (n <= 0) {
		scnprintf(c->tmp, sizeof(c->tmp), "randint: %lld is not above 0", (long long)n);
		return gs_throw(c, pos, GS_ERR_ARGUMENT, c->tmp);
	}
	*dst = (s64)((gs_random() >> 1) % (u64)n);
	return GS_OK;
}

#endif
