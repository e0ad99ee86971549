/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * System calls whose arguments or results a handler changes (gs_syscall.h includes it where one does). The kernel reads
 * the arguments from the registers that the thread came with, after the tracepoint at which handlers run. A program
 * relies on the call to leave these registers alone: what was changed is put back when the call returns, before it may
 * be done once more, and when the session ends, before the probe at the returns is gone.
 */
#ifndef GS_CALL_H
#define GS_CALL_H

#include <linux/hash.h>
#include <linux/sched/task.h>
#include "gs_core.h"
#include "gs_text.h"

#define GS_CALLS_BITS 9
#define GS_CALLS_NEAR 32	/* a thread's entry is at most so far from where its hash says */
#define GS_CALL_RESULT 7

struct gs_changed {
	struct task_struct *task;	/* NULL: free. It is held. */
	struct pt_regs *regs;
	u32 mask;			/* of arguments that were changed */
	unsigned long was[6], is[6];
};

static struct gs_changed gs_changed[1 << GS_CALLS_BITS];
static atomic_t gs_nchanged = ATOMIC_INIT(0);
static DEFINE_RAW_SPINLOCK(gs_changed_lock);

/* The entry of a thread, or, if it has none, a free one if there is. */
static struct gs_changed *gs_changed_find(struct task_struct *task, bool make)
{
	u32 i, at = hash_ptr(task, GS_CALLS_BITS);
	struct gs_changed *e, *room = NULL;

	for (i = 0; i < GS_CALLS_NEAR; i++) {
		e = &gs_changed[(at + i) % ARRAY_SIZE(gs_changed)];
		if (e->task == task)
			return e;
		if (!e->task && !room)
			room = e;
	}
	return make ? room : NULL;
}

/* A register that has another value by now is none of ours: the call has begun another program. */
static void gs_changed_back(struct gs_changed *e)
{
	u32 n;

	for (n = 0; n < 6; n++) {
		unsigned long *r = gs_call_arg(e->regs, n);

		if ((e->mask >> n & 1) && *r == e->is[n])
			*r = e->was[n];
	}
}

/* n: the number of the argument, from 0, or GS_CALL_RESULT. */
static int gs_call_set(struct gs_ctx *c, int pos, struct gs_hit *hit, u32 n, s64 v)
{
	struct gs_changed *e;
	unsigned long flags, *r;

	if (n != GS_CALL_RESULT && gs_makes(hit->args[6], false))
		return gs_throw(c, pos, GS_ERR_ARGUMENT, "arguments of calls that make processes and threads cannot be changed");
	((s64 *)hit->args)[n] = v;	/* gs_syscall_hit made them for its handlers */
	if (n == GS_CALL_RESULT) {
		GS_RESULT(hit->regs) = v;
		return GS_OK;
	}
	r = gs_call_arg(hit->regs, n);
	if (gs_call_ends(hit->args[6])) {
		*r = v;		/* the thread does not come back */
		return GS_OK;
	}
	raw_spin_lock_irqsave(&gs_changed_lock, flags);
	e = gs_changed_find(current, true);
	if (e) {
		if (!e->task) {
			e->task = get_task_struct(current);
			e->regs = hit->regs;
			e->mask = 0;
			atomic_inc(&gs_nchanged);
		}
		if (!(e->mask >> n & 1))
			e->was[n] = *r;
		e->mask |= 1U << n;
		e->is[n] = v;
		*r = v;
	}
	raw_spin_unlock_irqrestore(&gs_changed_lock, flags);
	if (!e)
		return gs_throw(c, pos, GS_ERR_ARGUMENT, "too many threads are in calls whose arguments were changed");
	return GS_OK;
}

/* A call of the current thread returns. begun: it has begun another program, which has registers of its own. */
static void gs_call_back(bool begun)
{
	struct task_struct *held = NULL;
	struct gs_changed *e;
	unsigned long flags;

	if (likely(!atomic_read(&gs_nchanged)))
		return;
	raw_spin_lock_irqsave(&gs_changed_lock, flags);
	e = gs_changed_find(current, false);
	if (e) {
		if (!begun)
			gs_changed_back(e);
		held = e->task;
		e->task = NULL;
		atomic_dec(&gs_nchanged);
	}
	raw_spin_unlock_irqrestore(&gs_changed_lock, flags);
	if (held)
		put_task_struct(held);
}

/* No call begins with a handler any more; those that return do so with gs_call_back still. */
static void gs_calls_back(void)
{
	unsigned long flags;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(gs_changed); i++) {
		struct gs_changed *e = &gs_changed[i];
		struct task_struct *held;

		raw_spin_lock_irqsave(&gs_changed_lock, flags);
		held = e->task;
		if (held) {
			if (!(READ_ONCE(held->flags) & PF_EXITING))
				gs_changed_back(e);
			e->task = NULL;
			atomic_dec(&gs_nchanged);
		}
		raw_spin_unlock_irqrestore(&gs_changed_lock, flags);
		if (held)
			put_task_struct(held);
	}
}

#endif
