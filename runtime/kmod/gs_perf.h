/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* Events that the kernel counts (perf_event_open(2)), and watchpoints: on every CPU, or in the target and what it makes. */
#ifndef GS_PERF_H
#define GS_PERF_H

#include <linux/cpu.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include "gs_control.h"

struct gs_perf {
	u32 type;
	u64 config;
	u64 every;		/* events between two hits */
	u64 hz;			/* hits a second, if not 0 */
	u32 access;		/* of a watchpoint: HW_BREAKPOINT_... */
	u64 addr, len;
	void (*handler)(struct gs_hit *hit);
	u32 place;		/* gs_hit.site */
	int pid;		/* -1: only in the target, 0: everywhere */
	u32 site;
	/* set by gs_perf_on */
	struct perf_event **events;
	u32 n;
};

static void gs_perf_hit(struct perf_event *event, struct perf_sample_data *data, struct pt_regs *regs)
{
	const struct gs_perf *p = event->overflow_handler_context;
	/* A watchpoint is an exception that the kernel takes as if it were an NMI, with interrupts off. */
	struct gs_hit hit = { .regs = regs, .site = p->place, .brk = p->type == PERF_TYPE_BREAKPOINT };

	(void)data;
	if (!gs_running())
		return;
	if (hit.brk && (preempt_count() & NMI_MASK) / NMI_OFFSET > 1) {
		gs_count(GS_LOST_RECURSED);
		return;
	}
	if (gs_here(p->pid))
		p->handler(&hit);
}

static int gs_perf_open(struct gs_perf *p, int cpu, struct task_struct *task)
{
	struct perf_event_attr attr = {
		.type = p->type,
		.size = sizeof(attr),
		.config = p->config,
	};
	struct perf_event *event;

	if (p->hz) {
		attr.freq = 1;
		attr.sample_freq = p->hz;
	} else {
		attr.sample_period = p->every;
	}
	if (p->type == PERF_TYPE_BREAKPOINT) {
		attr.bp_type = p->access;
		attr.bp_addr = p->addr;
		attr.bp_len = p->len;
	}
	if (task)
		attr.inherit = 1;
	event = perf_event_create_kernel_counter(&attr, cpu, task, gs_perf_hit, p);
	if (IS_ERR(event))
		return PTR_ERR(event);
	p->events[p->n++] = event;
	return 0;
}

/* Counts in the threads that the target has; what they make inherits it. */
static int gs_perf_target(struct gs_perf *p)
{
	struct task_struct *t, *leader, **threads;
	u32 i, n = 0, room;
	int err = 0;

	rcu_read_lock();
	leader = pid_task(find_vpid(READ_ONCE(gs_target)), PIDTYPE_TGID);
	if (leader)
		get_task_struct(leader);
	rcu_read_unlock();
	if (!leader)
		return -ESRCH;
	room = get_nr_threads(leader) + 64;
	threads = kvcalloc(room, sizeof(*threads), GFP_KERNEL);
	p->events = kvcalloc(room, sizeof(*p->events), GFP_KERNEL);
	if (!threads || !p->events)
		err = -ENOMEM;
	rcu_read_lock();
	for_each_thread(leader, t) {
		if (err || n == room)
			break;
		get_task_struct(t);
		threads[n++] = t;
	}
	rcu_read_unlock();
	for (i = 0; i < n; i++) {
		if (!err)
			err = gs_perf_open(p, -1, threads[i]);
		if (err == -ESRCH && n > 1)
			err = 0; /* this thread has ended */
		put_task_struct(threads[i]);
	}
	kvfree(threads);
	put_task_struct(leader);
	return err;
}

static int gs_perf_on(struct gs_perf *p)
{
	int cpu, err = 0;

	p->n = 0;
	if (p->pid)
		return gs_perf_target(p);
	p->events = kvcalloc(nr_cpu_ids, sizeof(*p->events), GFP_KERNEL);
	if (!p->events)
		return -ENOMEM;
	cpus_read_lock();
	for_each_online_cpu(cpu) {
		err = gs_perf_open(p, cpu, NULL);
		if (err)
			break;
	}
	cpus_read_unlock();
	return err;
}

static void gs_perfs_off(struct gs_perf *p, u32 n)
{
	bool any = false;
	u32 i;

	for (; n; n--, p++) {
		any |= p->n > 0;
		for (i = 0; i < p->n; i++)
			perf_event_release_kernel(p->events[i]);
		kvfree(p->events);
		p->events = NULL;
		p->n = 0;
	}
	if (any)
		synchronize_rcu();	/* an event that was interrupted by its own removal runs its handler afterwards */
}

#endif
