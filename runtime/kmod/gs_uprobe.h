/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * Probes on instructions of user programs, by inode and offset. Sites of several
 * handlers at one place share a consumer.
 *
 * The kernel's interface has changed: consumers of 6.13 take one argument more (found
 * by the type of the member), and from 6.12 on registering gives a handle
 * (GS_UPROBE_HANDLE, by the exported symbols).
 */
#ifndef GS_UPROBE_H
#define GS_UPROBE_H

#include <linux/uprobes.h>
#include <linux/version.h>
#include "gs_exe.h"
#include "gs_output.h"

struct gs_uprobe {
	u32 file;		/* index into gs_inodes */
	loff_t offset, refctr;
	bool ret;
	u32 exe;		/* only in processes that run the file of this index into gs_inodes, less 1; 0: any */
	void (*handler)(struct gs_hit *hit);
	u32 place;		/* gs_hit.site */
	int pid;		/* only in this process; -1: the target, 0: any */
	u32 site;		/* for messages */
	/* set by gs_uprobe_on */
	struct uprobe_consumer consumer;
	void *handle;
	bool on;
};

/*
 * How many calls under return probes the kernel keeps of a thread (MAX_URETPROBE_DEPTH). What is called deeper returns
 * without a hit, and is counted nowhere. Since 6.13 the call that returns is not among them any more.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
#define GS_UPROBE_NESTED 63
#else
#define GS_UPROBE_NESTED 64
#endif

static inline void gs_uprobe_run(struct uprobe_consumer *self, struct pt_regs *regs, unsigned long func)
{
	struct gs_uprobe *u = container_of(self, struct gs_uprobe, consumer);
	struct gs_hit hit = { .regs = regs, .func = func, .site = u->place, .sleeps = true };

	if (!gs_running() || !gs_here(u->pid) || (unlikely(u->exe) && !gs_runs(u->exe - 1)))
		return;
	if (u->ret && current->utask && current->utask->depth >= GS_UPROBE_NESTED)
		gs_count(GS_LOST_NESTED);
	u->handler(&hit);
}

static int __maybe_unused gs_uprobe_hit(struct uprobe_consumer *self, struct pt_regs *regs)
{
	gs_uprobe_run(self, regs, 0);
	return 0;
}

static int __maybe_unused gs_uprobe_hit_data(struct uprobe_consumer *self, struct pt_regs *regs, __u64 *data)
{
	(void)data;
	gs_uprobe_run(self, regs, 0);
	return 0;
}

static int __maybe_unused gs_uprobe_ret(struct uprobe_consumer *self, unsigned long func, struct pt_regs *regs)
{
	gs_uprobe_run(self, regs, func);
	return 0;
}

static int __maybe_unused gs_uprobe_ret_data(struct uprobe_consumer *self, unsigned long func, struct pt_regs *regs, __u64 *data)
{
	(void)data;
	gs_uprobe_run(self, regs, func);
	return 0;
}

#define GS_UPROBE_HANDLER _Generic(((struct uprobe_consumer *)0)->handler,			\
	int (*)(struct uprobe_consumer *, struct pt_regs *): gs_uprobe_hit,			\
	default: gs_uprobe_hit_data)
#define GS_UPROBE_RET _Generic(((struct uprobe_consumer *)0)->ret_handler,			\
	int (*)(struct uprobe_consumer *, unsigned long, struct pt_regs *): gs_uprobe_ret,	\
	default: gs_uprobe_ret_data)

static int gs_uprobe_on(struct gs_uprobe *u, struct inode *inode)
{
	int err = 0;

	if (!inode)
		return -ENOENT;
	memset(&u->consumer, 0, sizeof(u->consumer));
	if (u->ret)
		u->consumer.ret_handler = GS_UPROBE_RET;
	else
		u->consumer.handler = GS_UPROBE_HANDLER;
#ifdef GS_UPROBE_HANDLE
	u->handle = uprobe_register(inode, u->offset, u->refctr, &u->consumer);
	if (IS_ERR(u->handle))
		err = PTR_ERR(u->handle);
#else
	err = u->refctr ? uprobe_register_refctr(inode, u->offset, u->refctr, &u->consumer) :
			  uprobe_register(inode, u->offset, &u->consumer);
#endif
	u->on = err == 0;
	return err;
}

static void gs_uprobes_off(struct gs_uprobe *u, u32 n, struct inode **inodes)
{
	u32 i;
	bool any = false;

	for (i = 0; i < n; i++) {
		if (!u[i].on)
			continue;
#ifdef GS_UPROBE_HANDLE
		uprobe_unregister_nosync(u[i].handle, &u[i].consumer);
		any = true;
#else
		uprobe_unregister(inodes[u[i].file], u[i].offset, &u[i].consumer);
#endif
		u[i].on = false;
	}
#ifdef GS_UPROBE_HANDLE
	if (any)
		uprobe_unregister_sync();
#else
	(void)any;
#endif
	(void)inodes;
}

#endif
