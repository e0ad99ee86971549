/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* Probes on kernel functions and instructions, by symbol and offset or by address. */
#ifndef GS_KPROBE_H
#define GS_KPROBE_H

#include <linux/kprobes.h>
#include "gs_output.h"

struct gs_kprobe {
	const char *symbol;
	unsigned long offset;
	bool ret;
	void (*handler)(struct gs_hit *hit);
	u32 place;		/* gs_hit.site */
	int pid;		/* only in this process; -1: the target, 0: any */
	u32 site;
	/* set by gs_kprobe_on */
	struct kprobe kp;
	struct kretprobe rp;
	bool on;
};

static int gs_kprobe_hit(struct kprobe *p, struct pt_regs *regs)
{
	struct gs_kprobe *k = container_of(p, struct gs_kprobe, kp);
	struct gs_hit hit = { .regs = regs, .site = k->place };

	if (gs_running() && gs_here(k->pid))
		k->handler(&hit);
	return 0;
}

static int gs_kretprobe_hit(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kretprobe *rp = get_kretprobe(ri);
	struct gs_hit hit = { .regs = regs };
	struct gs_kprobe *k;

	if (rp && gs_running()) {
		k = container_of(rp, struct gs_kprobe, rp);
		if (!gs_here(k->pid))
			return 0;
		hit.site = k->place;
		hit.func = (unsigned long)rp->kp.addr;
		k->handler(&hit);
	}
	return 0;
}

static int gs_kprobe_on(struct gs_kprobe *k)
{
	int err;

	memset(&k->kp, 0, sizeof(k->kp));
	memset(&k->rp, 0, sizeof(k->rp));
	if (k->ret) {
		k->rp.kp.symbol_name = k->symbol;
		k->rp.handler = gs_kretprobe_hit;
		k->rp.maxactive = max_t(int, 64, 4 * num_possible_cpus());
		err = register_kretprobe(&k->rp);
	} else {
		k->kp.symbol_name = k->symbol;
		k->kp.offset = k->offset;
		k->kp.pre_handler = gs_kprobe_hit;
		err = register_kprobe(&k->kp);
	}
	k->on = err == 0;
	return err;
}

/* Returns whose entry found no free instance, and hits inside of other kprobes, are counted. */
static void gs_kprobes_off(struct gs_kprobe *k, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		if (!k[i].on)
			continue;
		if (k[i].ret) {
			unregister_kretprobe(&k[i].rp);
			this_cpu_add(gs_cpus.causes[GS_LOST_RECURSED], k[i].rp.nmissed + k[i].rp.kp.nmissed);
		} else {
			unregister_kprobe(&k[i].kp);
			this_cpu_add(gs_cpus.causes[GS_LOST_RECURSED], k[i].kp.nmissed);
		}
		k[i].on = false;
	}
}

#endif
