/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * Begin and end of processes: the scheduler's tracepoints. At its end a process has no memory
 * any more that says what it ran, so that is noted when it begins; processes that run
 * already are noted when the probes are attached, children with their parents.
 */
#ifndef GS_PROCESS_H
#define GS_PROCESS_H

#include <linux/binfmts.h>
#include <linux/fs.h>
#include "gs_output.h"
#include "gs_tracepoint.h"

struct gs_process {
	int file;		/* index into gs_inodes, -1: any program */
	bool end, thread;
	void (*handler)(struct gs_hit *hit);
	u32 place;		/* gs_hit.site */
	int pid;
	u32 site;
};

#define GS_SEEN_SETS 512
#define GS_SEEN_WAYS 8

static struct gs_seen { int tgid; u32 age; struct inode *inode; } gs_seen[GS_SEEN_SETS][GS_SEEN_WAYS];
static DEFINE_RAW_SPINLOCK(gs_seen_lock);
static u32 gs_seen_age;

/* Notes what a process runs, NULL to forget it, and gives what was noted. */
static struct inode *gs_note(int tgid, struct inode *inode, bool set)
{
	struct gs_seen *s = gs_seen[(u32)tgid * 0x9e3779b1U % GS_SEEN_SETS], *at = NULL;
	struct inode *was = NULL;
	unsigned long f;
	u32 i;

	raw_spin_lock_irqsave(&gs_seen_lock, f);
	for (i = 0; i < GS_SEEN_WAYS && !at; i++)
		if (s[i].tgid == tgid)
			at = &s[i];
	if (at)
		was = at->inode;
	for (i = 0; i < GS_SEEN_WAYS && set && inode && !at; i++)
		if (!s[i].tgid)
			at = &s[i];
	if (set && inode && !at) {
		for (i = 1, at = &s[0]; i < GS_SEEN_WAYS; i++)
			if ((int)(s[i].age - at->age) < 0)
				at = &s[i];
		gs_count(GS_LOST_EVICTED);
	}
	if (set && at) {
		at->tgid = inode ? tgid : 0;
		at->inode = inode;
		at->age = gs_seen_age++;
	}
	raw_spin_unlock_irqrestore(&gs_seen_lock, f);
	return was;
}

/* The inode of a traced file, NULL for others. */
static struct inode *gs_traced(struct file *file)
{
	struct inode *inode = file ? d_real_inode(file->f_path.dentry) : NULL;
	u32 i;

	for (i = 0; inode && i < GS_NFILES; i++)
		if (gs_inodes[i] == inode)
			return inode;
	return NULL;
}

static struct gs_process gs_processs[];
static u32 gs_processes_n;

static void gs_process_run(struct inode *inode, bool end, bool last)
{
	u32 i;

	for (i = 0; gs_running() && i < READ_ONCE(gs_processes_n); i++) {
		struct gs_process *p = &gs_processs[i];
		struct gs_hit hit = { .site = p->place };

		if (p->end != end || (end && (p->thread ? thread_group_leader(current) : !last)) || !gs_here(p->pid))
			continue;
		if (p->file < 0 || (inode && gs_inodes[p->file] == inode))
			p->handler(&hit);
	}
}

static void gs_process_exec(void *data, struct task_struct *t, pid_t old, struct linux_binprm *bprm)
{
	struct inode *inode = gs_traced(bprm->file);

	(void)data;
	(void)old;
	gs_note(t->tgid, inode, true);
	gs_process_run(inode, false, true);
}

static void gs_process_fork(void *data, struct task_struct *parent, struct task_struct *child)
{
	struct inode *inode;

	(void)data;
	if (parent->tgid == child->tgid)
		return;
	inode = gs_note(parent->tgid, NULL, false);
	if (inode)
		gs_note(child->tgid, inode, true);
}

static void gs_process_exit(void *data, struct task_struct *t)
{
	bool last = atomic_read(&t->signal->live) == 0;
	struct inode *inode = gs_note(t->tgid, NULL, last);

	(void)data;
	gs_process_run(inode, true, last);
}

static struct gs_tp gs_process_tp[] = {
	{ .name = "sched_process_exec", .fn = gs_process_exec },
	{ .name = "sched_process_fork", .fn = gs_process_fork },
	{ .name = "sched_process_exit", .fn = gs_process_exit },
};

static void gs_processs_off(struct gs_process *p, u32 n)
{
	u32 i;

	(void)p;
	(void)n;
	WRITE_ONCE(gs_processes_n, 0);
	for (i = 0; i < ARRAY_SIZE(gs_process_tp); i++)
		gs_tp_off(&gs_process_tp[i]);
	tracepoint_synchronize_unregister();
}

/* Called for each probe in turn; the first one attaches for all. */
static int gs_process_on(struct gs_process *p)
{
	struct task_struct *t;
	int err;
	u32 i;

	if (p == gs_processs) {
		for (i = 0; i < ARRAY_SIZE(gs_process_tp); i++) {
			err = gs_tp_on(&gs_process_tp[i]);
			if (err)
				return err;
		}
		rcu_read_lock();
		for_each_process(t) {
			task_lock(t);
			if (t->mm) {
				struct inode *inode = gs_traced(rcu_dereference(t->mm->exe_file));

				if (inode)
					gs_note(t->tgid, inode, true);
			}
			task_unlock(t);
		}
		rcu_read_unlock();
	}
	WRITE_ONCE(gs_processes_n, p - gs_processs + 1);
	return 0;
}

#endif
