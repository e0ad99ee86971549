/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * System calls: the two tracepoints through which all of them go, and the handlers by the
 * call's number. Calls by way of the 32-bit table have other numbers and hit nothing.
 */
#ifndef GS_SYSCALL_H
#define GS_SYSCALL_H

#include <linux/fs.h>
#include <asm/syscall.h>
#include "gs_exe.h"
#include "gs_output.h"
#include "gs_tracepoint.h"

#ifdef GS_CALL_H
#define GS_CALLS_CHANGE true
#else
#define GS_CALLS_CHANGE false
static inline void gs_call_back(bool begun) { (void)begun; }
static inline void gs_calls_back(void) { }
#endif

#define GS_SYSCALL_SLOTS 512
#define GS_SYSCALL_ARGS 8	/* six arguments, the number, the result */

struct gs_syscall {
	int nr;			/* -1: all but those in except */
	const u64 *except;
	bool ret;
	int file;		/* index into gs_inodes: only in processes that run it; -1: any */
	void (*handler)(struct gs_hit *hit);
	u32 place;		/* gs_hit.site */
	int pid;		/* only in this process; -1: the target, 0: any */
	u32 site;
	struct gs_syscall *next;
};

/* By return, then number; the last one is for all numbers. */
static struct gs_syscall *gs_syscall_first[2][GS_SYSCALL_SLOTS + 1];

static void gs_syscall_each(struct gs_syscall *s, struct gs_hit *hit)
{
	u64 nr = hit->args[6];

	for (; s; s = READ_ONCE(s->next)) {
		if (s->except && nr < GS_SYSCALL_SLOTS && (s->except[nr / 64] >> nr % 64 & 1))
			continue;
		if (!gs_here(s->pid) || (s->file >= 0 && !gs_runs(s->file)))
			continue;
		hit->site = s->place;
		s->handler(hit);
	}
}

static void gs_syscall_hit(bool ret, struct pt_regs *regs, long nr, long val)
{
	struct gs_syscall *one = (unsigned long)nr < GS_SYSCALL_SLOTS ? READ_ONCE(gs_syscall_first[ret][nr]) : NULL;
	struct gs_syscall *all = READ_ONCE(gs_syscall_first[ret][GS_SYSCALL_SLOTS]);

	if ((one || all) && gs_running() && !gs_compat() && !gs_by_tracer()) {
		s64 args[GS_SYSCALL_ARGS] = { GS_CALL_ARGS(regs), nr, val };
		struct gs_hit hit = { .regs = regs, .args = args, .call = true };

		gs_syscall_each(one, &hit);
		gs_syscall_each(all, &hit);
	}
}

static void gs_syscall_enter(void *data, struct pt_regs *regs, long id)
{
	(void)data;
	gs_syscall_hit(false, regs, id, 0);
}

static void gs_syscall_exit(void *data, struct pt_regs *regs, long ret)
{
	(void)data;
	gs_syscall_hit(true, regs, GS_CALL_NR(regs), ret);
	gs_call_back(!ret && gs_call_begins(GS_CALL_NR(regs)));
}

/* By return. */
static struct gs_tp gs_syscall_tp[] = {
	{ .name = "sys_enter", .fn = gs_syscall_enter },
	{ .name = "sys_exit", .fn = gs_syscall_exit },
};

static void gs_syscalls_off(struct gs_syscall *s, u32 n)
{
	u32 i;

	(void)s;
	(void)n;
	if (GS_CALLS_CHANGE && gs_tp_off(&gs_syscall_tp[0])) {
		tracepoint_synchronize_unregister();
		gs_calls_back();
	}
	for (i = 0; i < ARRAY_SIZE(gs_syscall_tp); i++)
		gs_tp_off(&gs_syscall_tp[i]);
	tracepoint_synchronize_unregister();
	memset(gs_syscall_first, 0, sizeof(gs_syscall_first));
}

/* Called for each probe in turn, in the order of the script; the first one of a tracepoint attaches it. */
static int gs_syscall_on(struct gs_syscall *s)
{
	struct gs_syscall **at = &gs_syscall_first[s->ret][s->nr >= 0 && s->nr < GS_SYSCALL_SLOTS ? s->nr : GS_SYSCALL_SLOTS];
	int err = 0;

	s->next = NULL;
	while (*at)
		at = &(*at)->next;
	WRITE_ONCE(*at, s);
	/* The returns first, where what handlers change is put back then. */
	if (GS_CALLS_CHANGE && !s->ret)
		err = gs_tp_on(&gs_syscall_tp[1]);
	if (err)
		return err;
	return gs_tp_on(&gs_syscall_tp[s->ret]);
}

#endif
