/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* Probes on kernel functions and instructions, by symbol and offset. */
#ifndef GS_KPROBE_H
#define GS_KPROBE_H

#include <linux/kprobes.h>
#include "gs_control.h"
#include "gs_ftrace.h"

struct gs_kprobe {
	const char *symbol;	/* "function", "module:function", or a base for offset */
	unsigned long offset;
	bool ret;
	bool leaves;		/* the handler may have the function return at once */
	bool wild;		/* may be left out where the kernel refuses it */
	int maxactive;		/* calls at a time that a return probe has room for; 0: enough for most */
	void (*handler)(struct gs_hit *hit);
	u32 place;		/* gs_hit.site */
	int pid;		/* only in this process; -1: the target, 0: any */
	u32 site;
	/* set by gs_kprobe_on */
	struct kprobe kp;
	struct kretprobe rp;
	unsigned long func;	/* where the probed function begins; of other places, the address itself */
	bool on;
	bool off;		/* registered, and not switched on (gs_ftrace.h) */
	int err;		/* why it was left out */
};

/*
 * A probe by breakpoint runs its handler as if in an NMI, whatever was interrupted: interrupts are off, and a handler may run.
 * What really was interrupted is an NMI if there are two, or where the probe works without a
 * breakpoint: then the handler must not run.
 */
static __always_inline bool gs_kprobe_in_nmi(struct kprobe *p)
{
	u32 depth = (preempt_count() & NMI_MASK) / NMI_OFFSET;

	if (likely(!depth))
		return false;
#ifdef KPROBE_FLAG_FTRACE
	if (p->flags & KPROBE_FLAG_FTRACE)
		return true;
#endif
	return depth > 1 || READ_ONCE(*(u8 *)p->addr) != 0xcc;	/* int3; else a jump */
}

/* The kernel puts a probe on a function behind the landing mark of indirect calls that it begins with (endbr64, or what it made of it). */
static unsigned long gs_kprobe_func(const struct gs_kprobe *k, const struct kprobe *kp)
{
	unsigned long addr = (unsigned long)kp->addr;
	u32 mark;

	if (!k->ret && k->offset)
		return addr;
	if (copy_from_kernel_nofault(&mark, (void *)(addr - 4), 4) == 0 && (mark == 0xfa1e0ff3 || mark == 0xd6401f0f))
		addr -= 4;
	return addr;
}

/* A first hit may come before gs_kprobe_on has noted the address. */
static __always_inline unsigned long gs_kprobe_at(const struct gs_kprobe *k, const struct kprobe *kp)
{
	unsigned long func = READ_ONCE(k->func);

	return likely(func) ? func : gs_kprobe_func(k, kp);
}

static int gs_kprobe_hit(struct kprobe *p, struct pt_regs *regs)
{
	struct gs_kprobe *k = container_of(p, struct gs_kprobe, kp);
	struct gs_hit hit = { .regs = regs, .site = k->place, .brk = true };
	unsigned long ip = GS_IP(regs);

	if (!gs_running() || !gs_here(k->pid))
		return 0;
	if (unlikely(gs_kprobe_in_nmi(p))) {
		gs_count(GS_LOST_RECURSED);
		return 0;
	}
	/* The kernel tells an address behind the breakpoint, and goes on by it. */
	hit.func = gs_kprobe_at(k, p);
	GS_IP(regs) = hit.func;
	k->handler(&hit);
	if (unlikely(hit.left)) {
		gs_kernel_return(regs, hit.result);
		return 1;
	}
	GS_IP(regs) = ip;
	return 0;
}

/* The kernel must leave the breakpoint what it is where a handler may have the function return. */
static void gs_kprobe_done(struct kprobe *p, struct pt_regs *regs, unsigned long flags)
{
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
		hit.func = gs_kprobe_at(k, &rp->kp);
		k->handler(&hit);
	}
	return 0;
}

static struct kprobe *gs_kprobe_of(struct gs_kprobe *k)
{
	return k->ret ? &k->rp.kp : &k->kp;
}

/* Without now it is not switched on yet, where that is possible for several together. */
static int gs_kprobe_on(struct gs_kprobe *k, bool now)
{
	struct kprobe *kp = gs_kprobe_of(k);
	int err;

	memset(&k->kp, 0, sizeof(k->kp));
	memset(&k->rp, 0, sizeof(k->rp));
	kp->symbol_name = k->symbol;
	kp->offset = k->offset;
	if (!now)
		kp->flags = KPROBE_FLAG_DISABLED;
	if (k->ret) {
		k->rp.handler = gs_kretprobe_hit;
		k->rp.maxactive = k->maxactive > 0 ? k->maxactive : max_t(int, 64, 4 * num_possible_cpus());
		err = register_kretprobe(&k->rp);
	} else {
		k->kp.pre_handler = gs_kprobe_hit;
		if (k->leaves)
			k->kp.post_handler = gs_kprobe_done;
		err = register_kprobe(&k->kp);
	}
	k->on = err == 0;
	k->off = false;
	if (k->on)
		WRITE_ONCE(k->func, gs_kprobe_func(k, kp));
#ifdef KPROBE_FLAG_FTRACE
	if (k->on && !now) {
		k->off = kp->flags & KPROBE_FLAG_FTRACE;
		if (!k->off)
			err = enable_kprobe(kp);
	}
#endif
	k->err = err;
	if (err && err != -ENOMEM && k->wild) {
		gs_nleft++;
		err = 0;
	}
	return err;
}

#ifdef GS_FTRACE_MANY
static void gs_kprobe_traced(struct gs_kprobe *k, struct pt_regs *regs)
{
	struct gs_hit hit = { .regs = regs, .site = k->place };
	unsigned long ip = GS_IP(regs);

	if (k->ret) {
		k->rp.kp.pre_handler(&k->rp.kp, regs);	/* has the return come to us */
		return;
	}
	if (!gs_here(k->pid))
		return;
	hit.func = gs_kprobe_at(k, &k->kp);
	GS_IP(regs) = hit.func;
	k->handler(&hit);
	GS_IP(regs) = ip;
}

/* Switches on those that are not; one by one where it does not go together. */
static int gs_kprobes_start(struct gs_kprobe *k, u32 n, s64 *site)
{
	u32 i, m = 0;
	int err = 0;

	for (i = 0; i < n; i++)
		m += k[i].on && k[i].off;
	if (!m)
		return 0;
	if (!gs_traced_room(m)) {
		for (i = 0; i < n; i++)
			if (k[i].on && k[i].off)
				gs_traced_add((unsigned long)gs_kprobe_of(&k[i])->addr, &k[i]);
		if (!gs_traced_start(m))
			return 0;
	}
	for (i = 0; i < n && !err; i++) {
		if (!k[i].on || !k[i].off)
			continue;
		*site = k[i].site;
		err = enable_kprobe(gs_kprobe_of(&k[i]));
		k[i].off = false;
	}
	return err;
}
#endif

/* *site is the one that the kernel refused. */
static int gs_kprobes_on(struct gs_kprobe *k, u32 n, s64 *site)
{
	bool now = true;
	int err = 0;
	u32 i;

#ifdef GS_FTRACE_MANY
	u32 entries = 0;

	for (i = 0; i < n; i++)
		entries += !k[i].offset;
	now = entries < GS_FTRACE_MANY;
#endif
	for (i = 0; i < n && !err; i++) {
		*site = k[i].site;
		err = gs_kprobe_on(&k[i], now || k[i].offset || k[i].leaves);
	}
#ifdef GS_FTRACE_MANY
	if (!err)
		err = gs_kprobes_start(k, n, site);
#endif
	return err;
}

/* The n-th of the probes that were left out: its site, and why. */
static int gs_kprobes_left(struct gs_kprobe *k, u32 len, struct gs_op *op)
{
	u32 i, n = op->n;

	for (i = 0; i < len; i++) {
		if (k[i].err && !n--) {
			op->n = k[i].site;
			return k[i].err;
		}
	}
	return -ENOENT;
}

/*
 * Takes all away together: the kernel waits once for handlers that are under way, not for each. Returns whose entry found
 * no free instance, and hits inside of other kprobes, are counted.
 */
static void gs_kprobes_off(struct gs_kprobe *k, u32 n)
{
	struct kprobe **kps = kvmalloc_array(n, sizeof(*kps), GFP_KERNEL);
	struct kretprobe **rps = kvmalloc_array(n, sizeof(*rps), GFP_KERNEL);
	u32 i, nk = 0, nr = 0;

#ifdef GS_FTRACE_MANY
	gs_traced_stop();
#endif
	for (i = 0; i < n; i++) {
		if (!k[i].on)
			continue;
		if (k[i].ret && rps)
			rps[nr++] = &k[i].rp;
		else if (k[i].ret)
			unregister_kretprobe(&k[i].rp);
		else if (kps)
			kps[nk++] = &k[i].kp;
		else
			unregister_kprobe(&k[i].kp);
	}
	if (nk)
		unregister_kprobes(kps, nk);
	if (nr)
		unregister_kretprobes(rps, nr);
	kvfree(kps);
	kvfree(rps);
	for (i = 0; i < n; i++) {
		if (!k[i].on)
			continue;
		this_cpu_add(gs_cpus.causes[GS_LOST_RECURSED], k[i].ret ? k[i].rp.kp.nmissed : k[i].kp.nmissed);
		if (k[i].ret)
			this_cpu_add(gs_cpus.causes[GS_LOST_ACTIVE], k[i].rp.nmissed);
		k[i].on = false;
	}
}

#endif
