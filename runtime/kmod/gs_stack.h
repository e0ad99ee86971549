/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* Backtraces, as wire.Stack arguments: addresses, innermost first, that the host names. */
#ifndef GS_STACK_H
#define GS_STACK_H

#include "gs_output.h"

#ifdef __KERNEL__

static inline u64 *gs_stack_done(u64 *p, u32 n, u32 room)
{
	u32 i;

	p[0] = (u64)room << 32 | n;
	p[1] = (u32)gs_tgid();
	for (i = n; i < room; i++)
		p[2 + i] = 0;
	return p + 2 + room;
}

/*
 * The stack of the current process by its chain of frame pointers, which Go programs have. At a function's
 * entry its frame does not exist yet: the direct caller's address lies at the top of the stack.
 */
static inline u64 *gs_put_user_stack(u64 *p, struct pt_regs *regs, u32 room, bool entry)
{
	u64 *list = p + 2, frame[2], fp = regs ? regs->bp : 0, word;
	u32 n = 0;

	if (!regs || !user_mode(regs)) {
		regs = task_pt_regs(current);
		fp = regs->bp;
		entry = false;
	}
	if (n < room)
		list[n++] = regs->ip;
	if (entry && n < room && gs_read(&word, regs->sp, 8, false))
		list[n++] = word;
	while (n < room && fp && !(fp & 7) && gs_read(frame, fp, sizeof(frame), false)) {
		if (!frame[1])
			break;
		list[n++] = frame[1];
		if (frame[0] <= fp)
			break;	/* stacks grow down: callers lie above */
		fp = frame[0];
	}
	return gs_stack_done(p, n, room);
}

/*
 * The kernel's stack from the probed place on: what lies before it in the trace is the machinery that called
 * the handler. Where the place is not found in the trace, all of it is given.
 */
static inline u64 *gs_put_stack(u64 *p, struct pt_regs *regs, u32 room, bool entry)
{
	unsigned long list[48];
	u32 n = stack_trace_save(list, ARRAY_SIZE(list), 0), first = 0, i;

	(void)entry;
	for (i = 0; regs && !user_mode(regs) && i < n; i++) {
		if (list[i] - regs->ip + 16 <= 32) {
			first = i;
			list[i] = regs->ip;	/* there, and not where it called the tracer */
			break;
		}
	}
	n = min(n - first, room);
	for (i = 0; i < n; i++)
		p[2 + i] = list[first + i];
	return gs_stack_done(p, n, room);
}

/* One address of a stack, 0 where it does not reach. */
#define GS_STACK_MOST 48
static inline s64 gs_ustack_level(struct pt_regs *regs, s64 n, u32 room, bool entry)
{
	u64 list[2 + GS_STACK_MOST];

	room = min_t(u32, room, GS_STACK_MOST);
	gs_put_user_stack(list, regs, room, entry);
	return n >= 0 && n < room ? (s64)list[2 + n] : 0;
}

static inline s64 gs_stack_level(struct pt_regs *regs, s64 n, u32 room, bool entry)
{
	u64 list[2 + GS_STACK_MOST];

	room = min_t(u32, room, GS_STACK_MOST);
	gs_put_stack(list, regs, room, entry);
	return n >= 0 && n < room ? (s64)list[2 + n] : 0;
}

#endif
#endif
