/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * Begin and end of processes and threads: the scheduler's tracepoints; what a fork has made begins by
 * the return of that system call, since the tracepoint of the fork comes in the parent. At its end a process has
 * no memory any more that says what it ran, so that is noted when it begins; processes that
 * run already are noted when the probes are attached, children with their parents.
 */
#ifndef GS_PROCESS_H
#define GS_PROCESS_H

#include <linux/binfmts.h>
#include <linux/fs.h>
#include <linux/version.h>
#include <asm/syscall.h>
#include "gs_exe.h"
#include "gs_output.h"
#include "gs_tracepoint.h"

/* Threads are those that are not the first ones of their processes. */
enum gs_process_event { GS_ON_EXEC, GS_ON_FORK, GS_ON_END, GS_ON_THREAD_BEGIN, GS_ON_THREAD_END };

struct gs_process {
	int file;		/* index into gs_inodes, -1: any program */
	enum gs_process_event event;
	void (*handler)(struct gs_hit *hit);
	u32 place;		/* gs_hit.site */
	int pid;
	u32 site;
};

#define GS_SEEN_SETS 512
#define GS_SEEN_WAYS 8

/* A process that has ended stays until its place is needed, for those of its threads that come late. */
static struct gs_seen { int tgid; u32 age; struct inode *inode; bool dead; } gs_seen[GS_SEEN_SETS][GS_SEEN_WAYS];
static DEFINE_RAW_SPINLOCK(gs_seen_lock);
static u32 gs_seen_age;

/* Notes what a process runs, NULL to forget it, or that it has ended, and gives what was noted. */
static struct inode *gs_note(int tgid, struct inode *inode, bool set, bool dead)
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
		if (!s[i].tgid || s[i].dead)
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
		at->dead = false;
	}
	if (dead && at)
		at->dead = true;
	raw_spin_unlock_irqrestore(&gs_seen_lock, f);
	return was;
}

/* The inode of a traced file, NULL for others. */
static struct inode *gs_traced(struct file *file)
{
	struct inode *inode = gs_exe_inode(file);
	u32 i;

	for (i = 0; inode && i < GS_NFILES; i++)
		if (gs_inodes[i] == inode)
			return inode;
	return NULL;
}

static struct gs_process gs_processs[];
static u32 gs_processes_n;

/* events are what happens, one bit for each. */
static void gs_process_run(struct inode *inode, u32 events)
{
	u32 i;

	for (i = 0; gs_running() && i < READ_ONCE(gs_processes_n); i++) {
		struct gs_process *p = &gs_processs[i];
		struct gs_hit hit = { .site = p->place };

		if (!(events >> p->event & 1) || !gs_here(p->pid))
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
	gs_note(t->tgid, inode, true, false);
	gs_process_run(inode, BIT(GS_ON_EXEC));
}

static void gs_process_fork(void *data, struct task_struct *parent, struct task_struct *child)
{
	(void)data;
	if (parent->tgid != child->tgid)
		gs_note(child->tgid, gs_note(parent->tgid, NULL, false, false), true, false);
}

static void gs_process_born(void *data, struct pt_regs *regs, long ret)
{
	struct task_struct *t = current;
	struct inode *inode = NULL;

	(void)data;
	if (ret || !gs_makes(GS_CALL_NR(regs), gs_compat()))
		return;
	rcu_read_lock();
	if (t->mm)
		inode = gs_traced(rcu_dereference(t->mm->exe_file));
	rcu_read_unlock();
	gs_process_run(inode, thread_group_leader(t) ? BIT(GS_ON_FORK) : BIT(GS_ON_THREAD_BEGIN));
}

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 16, 0)
#define GS_ENDED 256
static struct { struct signal_struct *signal; u64 since; } gs_ended[GS_ENDED];

/*
 * Whether this is a process's last thread. Of two that end at the same time, both can find that nobody else lives: the
 * first one that comes here has it.
 */
static bool gs_last(struct task_struct *t)
{
	u64 since = t->group_leader->start_time;
	u32 i = (u32)((unsigned long)t->signal >> 6) * 0x9e3779b1U >> 24;
	unsigned long f;
	bool last;

	if (atomic_read(&t->signal->live))
		return false;
	raw_spin_lock_irqsave(&gs_seen_lock, f);
	last = gs_ended[i].signal != t->signal || gs_ended[i].since != since;
	gs_ended[i].signal = t->signal;
	gs_ended[i].since = since;
	raw_spin_unlock_irqrestore(&gs_seen_lock, f);
	return last;
}

#define gs_process_exit_args void *data, struct task_struct *t
#define gs_process_last(t) gs_last(t)
#else
#define gs_process_exit_args void *data, struct task_struct *t, bool group_dead
#define gs_process_last(t) group_dead
#endif

static void gs_process_exit(gs_process_exit_args)
{
	bool last = gs_process_last(t);
	struct inode *inode = gs_note(t->tgid, NULL, false, last);

	(void)data;
	gs_process_run(inode, (last ? BIT(GS_ON_END) : 0) | (thread_group_leader(t) ? 0 : BIT(GS_ON_THREAD_END)));
}

static struct gs_tp gs_process_tp[] = {
	{ .name = "sched_process_exec", .fn = gs_process_exec },
	{ .name = "sched_process_fork", .fn = gs_process_fork },
	{ .name = "sched_process_exit", .fn = gs_process_exit },
};
static struct gs_tp gs_process_birth = { .name = "sys_exit", .fn = gs_process_born };

static void gs_processs_off(struct gs_process *p, u32 n)
{
	u32 i;

	(void)p;
	(void)n;
	WRITE_ONCE(gs_processes_n, 0);
	gs_tp_off(&gs_process_birth);
	for (i = 0; i < ARRAY_SIZE(gs_process_tp); i++)
		gs_tp_off(&gs_process_tp[i]);
	tracepoint_synchronize_unregister();
}

/* Called for each probe in turn; the first one attaches for all, but what goes to every system call. */
static int gs_process_on(struct gs_process *p)
{
	struct task_struct *first, *t;
	int err;
	u32 i;

	if (p == gs_processs) {
		for (i = 0; i < ARRAY_SIZE(gs_process_tp); i++) {
			err = gs_tp_on(&gs_process_tp[i]);
			if (err)
				return err;
		}
		rcu_read_lock();
		for_each_process_thread(first, t) { /* the first one may have ended before the others */
			task_lock(t);
			if (t->mm) {
				struct inode *inode = gs_traced(rcu_dereference(t->mm->exe_file));

				if (inode)
					gs_note(t->tgid, inode, true, false);
			}
			task_unlock(t);
		}
		rcu_read_unlock();
	}
	WRITE_ONCE(gs_processes_n, p - gs_processs + 1);
	return p->event == GS_ON_FORK || p->event == GS_ON_THREAD_BEGIN ? gs_tp_on(&gs_process_birth) : 0;
}

#endif
