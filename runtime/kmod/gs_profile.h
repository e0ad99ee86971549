/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* A timer on every CPU that runs a handler with the registers of what it interrupted. */
#ifndef GS_PROFILE_H
#define GS_PROFILE_H

#include <linux/hrtimer.h>
#include <linux/cpu.h>
#include <asm/irq_regs.h>
#include "gs_output.h"

struct gs_profile_cpu {
	struct hrtimer timer;
	struct gs_profile *of;
};

struct gs_profile {
	u64 period;		/* ns */
	void (*handler)(struct gs_hit *hit);
	u32 place;		/* gs_hit.site */
	int pid;		/* only in this process; -1: the target, 0: any */
	u32 site;
	struct gs_profile_cpu *cpus;
};

static enum hrtimer_restart gs_profile_hit(struct hrtimer *timer)
{
	struct gs_profile *p = container_of(timer, struct gs_profile_cpu, timer)->of;
	struct pt_regs *regs = get_irq_regs();
	struct gs_hit hit = { .regs = regs ? regs : task_pt_regs(current), .site = p->place };

	if (gs_running() && gs_here(p->pid))
		p->handler(&hit);
	hrtimer_forward_now(timer, ns_to_ktime(p->period));
	return HRTIMER_RESTART;
}

static void gs_profile_start(void *priv)
{
	struct gs_profile *p = priv;
	struct gs_profile_cpu *c = &p->cpus[smp_processor_id()];

	hrtimer_start(&c->timer, ns_to_ktime(p->period), HRTIMER_MODE_REL_PINNED_HARD);
}

static int gs_profile_on(struct gs_profile *p)
{
	u32 i;

	p->cpus = vzalloc(nr_cpu_ids * sizeof(*p->cpus));
	if (!p->cpus)
		return -ENOMEM;
	for (i = 0; i < nr_cpu_ids; i++) {
		p->cpus[i].of = p;
#ifdef GS_HRTIMER_SETUP
		hrtimer_setup(&p->cpus[i].timer, gs_profile_hit, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
#else
		hrtimer_init(&p->cpus[i].timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
		p->cpus[i].timer.function = gs_profile_hit;
#endif
	}
	on_each_cpu(gs_profile_start, p, 1);
	return 0;
}

static void gs_profiles_off(struct gs_profile *p, u32 n)
{
	u32 i, k;

	for (k = 0; k < n; k++) {
		for (i = 0; p[k].cpus && i < nr_cpu_ids; i++)
			hrtimer_cancel(&p[k].cpus[i].timer);
		vfree(p[k].cpus);
		p[k].cpus = NULL;
	}
}

#endif
