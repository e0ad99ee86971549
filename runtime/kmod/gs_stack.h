/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* Backtraces, as wire.Stack arguments: addresses, innermost first, that the host names. */
#ifndef GS_STACK_H
#define GS_STACK_H

#include "gs_output.h"
#include "gs_task.h"
#ifdef GS_KEEP
#include "gs_keep.h"
#endif
#ifdef __KERNEL__
#include <linux/uprobes.h>
#endif

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
	u64 *list = p + 2, frame[2], fp = regs ? GS_FP(regs) : 0, word;
	u32 n = 0;

	if (!regs || !user_mode(regs)) {
		regs = gs_user_regs(regs);
		fp = regs ? GS_FP(regs) : 0;
		entry = false;
	}
	if (!regs)
		return gs_stack_done(p, 0, room);
	if (n < room)
		list[n++] = GS_IP(regs);
	if (entry && n < room && gs_read(&word, GS_SP(regs), 8, false))
		list[n++] = word;
	while (n < room && fp && !(fp & 7) && gs_read(frame, fp, sizeof(frame), false)) {
		if (!frame[1])
			break;
		list[n++] = frame[1];
		if (frame[0] == fp)
			break;
		fp = frame[0];	/* not always above: Go changes stacks */
	}
	return gs_stack_done(p, n, room);
}

/* The kernel's return probes put an address of their own in the place of a return address: what was there before. */
static inline void gs_put_returns(char *to, u64 sp, u64 n)
{
#ifdef CONFIG_UPROBES
	struct uprobe_task *utask = READ_ONCE(current->utask);
	struct return_instance *ri;
	u32 i = 0;

	if (!utask)
		return;
	/* The newest first; where several are in one place, the oldest has the program's address. */
	for (ri = READ_ONCE(utask->return_instances); ri && i < 64; ri = READ_ONCE(ri->next), i++)
		if (!(ri->stack & 7) && n >= 8 && ri->stack - sp <= n - 8)
			memcpy(to + (ri->stack - sp), &ri->orig_ret_vaddr, 8);
#endif
}

/*
 * The same as a wire.RawStack, which the host unwinds: behind the addresses the registers and the top of the stack. A read that meets a page
 * which is not there gives nothing, so it goes page by page. The first thread's stack ends where the program's arguments are. The number of
 * a system call is that of one that the program is in.
 */
static inline u64 *gs_put_raw_stack(u64 *p, struct pt_regs *regs, u32 room)
{
	u64 *end = gs_put_user_stack(p, regs, room, false), sp, n = 0, want = 8192;
	bool called = !regs || !user_mode(regs);
	char *to = (char *)end + sizeof(*regs);

	regs = gs_user_regs(regs);
	if (!regs) {
		memset(end, 0, sizeof(*regs));
		return (u64 *)to;
	}
	memcpy(end, regs, sizeof(*regs));
	if (!called)
		GS_CALL_NR((struct pt_regs *)end) = -1;
	sp = GS_SP(regs) & ~7ULL;
	if (current->mm)
		want = min_t(u64, want, (current->mm->start_stack + 64 - sp) & ~7ULL);
	while (n < want) {
		u64 part = min_t(u64, want - n, 4096 - ((sp + n) & 4095));

		if (!gs_read(to + n, sp + n, part, false))
			break;
		n += part;
	}
	gs_put_returns(to, sp, n);
	p[1] |= n << 32;
	return (u64 *)(to + n);
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
		if (list[i] - GS_IP(regs) + 16 <= 32) {
			first = i;
			list[i] = GS_IP(regs);	/* there, and not where it called the tracer */
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

#ifdef GS_KEEP
/* The numbers of stacks that are kept. below is another address below all others, 0 for none. */
static inline int gs_ustack_kept(struct gs_ctx *c, int pos, s64 *dst, struct pt_regs *regs, bool entry, u64 below)
{
	u64 *key = c->kept;

	gs_put_user_stack(key, regs, below ? GS_KEEP - 1 : GS_KEEP, entry);
	key[1] |= 1ULL << 32;	/* backend.StackUser */
	if (below && (u32)key[0]) {
		key[1] |= 8ULL << 32;	/* backend.StackCreated */
		key[2 + (u32)key[0]++] = below;
	}
	return gs_keep(c, pos, dst);
}

static inline int gs_kstack_kept(struct gs_ctx *c, int pos, s64 *dst, struct pt_regs *regs)
{
	gs_put_stack(c->kept, regs, GS_KEEP, false);
	c->kept[1] = 0;
	return gs_keep(c, pos, dst);
}
#endif

#endif
#endif
