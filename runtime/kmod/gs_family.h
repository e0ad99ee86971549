/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * Whose hit it is. Numbers of processes are those of the pid namespace of the process that runs the session: what it is
 * given (-x), what it prints and what it looks up under /proc are one and the same.
 *
 * A bare "process" is the target and the processes that it has made, and those that these have made: its family
 * (GS_FAMILY). It is a set of the kernel's own numbers, one bit for each that there can be, so that a hit asks one bit and no
 * lock. A child enters it at the fork, before it runs. Nobody leaves it by ending: probes of its end
 * come after that; a number that is used again by somebody else is taken out at that fork.
 */
#ifndef GS_FAMILY_H
#define GS_FAMILY_H

#include <linux/threads.h>
#include <linux/bitops.h>
#include "gs_core.h"

static struct pid_namespace *gs_pidns;	/* NULL: the first one */

/* The number of the current process, 0 if it has none in that namespace. */
static inline int gs_tgid(void)
{
	return likely(!gs_pidns) ? current->tgid : task_tgid_nr_ns(current, gs_pidns);
}

/* The control file is open: its process's namespace is held until gs_pidns_put. */
static void gs_pidns_get(void)
{
	struct pid_namespace *ns = task_active_pid_ns(current);

	if (ns != &init_pid_ns)
		gs_pidns = get_pid_ns(ns);
}

/* No handler runs any more. */
static void gs_pidns_put(void)
{
	if (gs_pidns)
		put_pid_ns(gs_pidns);
	gs_pidns = NULL;
}

#ifdef GS_FAMILY
#include "gs_tracepoint.h"

static unsigned long *gs_family;
static int gs_head;		/* the target by the kernel's number */

static int gs_family_init(void)
{
	gs_family = vzalloc(BITS_TO_LONGS(PID_MAX_LIMIT) * sizeof(long));
	return gs_family ? 0 : -ENOMEM;
}

static void gs_family_free(void)
{
	vfree(gs_family);
}

static void gs_forked(void *data, struct task_struct *parent, struct task_struct *child)
{
	(void)data;
	if (parent->tgid == child->tgid)
		return;
	if (test_bit(parent->tgid, gs_family))
		set_bit(child->tgid, gs_family);
	else if (test_bit(child->tgid, gs_family))
		clear_bit(child->tgid, gs_family);
}

static struct gs_tp gs_fork_tp = { .name = "sched_process_fork", .fn = gs_forked };

/* Enters living children, and theirs: parents come before them in the kernel's list. Gives how many are new. */
static u32 gs_family_look(void)
{
	struct task_struct *t;
	u32 n = 0;

	rcu_read_lock();
	for_each_process(t)
		if (test_bit(rcu_dereference(t->real_parent)->tgid, gs_family) && !test_and_set_bit(t->tgid, gs_family))
			n++;
	rcu_read_unlock();
	return n;
}

static void gs_family_enter(void)
{
	if (!gs_fork_tp.on || !gs_head || !gs_family_look())
		return;
	/* A fork that was under way may have seen its parent outside and taken the child out just now. */
	tracepoint_synchronize_unregister();
	gs_family_look();
}

static void gs_family_target(int tgid)
{
	if (gs_head == tgid)
		return;
	if (gs_head)
		clear_bit(gs_head, gs_family);
	gs_head = tgid;
	set_bit(tgid, gs_family);
	gs_family_enter();
}

static int gs_family_on(void)
{
	int err = gs_tp_on(&gs_fork_tp);

	if (!err)
		gs_family_enter();
	return err;
}

static void gs_family_off(void)
{
	if (gs_tp_off(&gs_fork_tp))
		tracepoint_synchronize_unregister();
}

static inline bool gs_in_family(void)
{
	return test_bit(current->tgid, gs_family);
}
#else
static inline int gs_family_init(void) { return 0; }
static inline void gs_family_free(void) { }
static inline void gs_family_target(int tgid) { (void)tgid; }
static inline int gs_family_on(void) { return 0; }
static inline void gs_family_off(void) { }
static inline bool gs_in_family(void) { return false; }
#endif

/* A system call of the tracer: each line that it writes would be an event, and each event a line. */
static inline bool gs_by_tracer(void)
{
	return unlikely(current->tgid == READ_ONCE(gs_own));
}

/* Whether a probe of one process (-1: of the target's family, 0: of all) is for the current one. */
static inline bool gs_here(int pid)
{
	return likely(pid == 0) || (pid < 0 ? gs_in_family() : gs_tgid() == pid);
}

#endif
