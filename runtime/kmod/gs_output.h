/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * Records for the host (the format is that of package wire). The prints of one
 * run are gathered and leave in one piece; where that is longer than the room, all
 * parts but the last carry the flag More.
 */
#ifndef GS_OUTPUT_H
#define GS_OUTPUT_H

#include "gs_memory.h"
#ifdef __KERNEL__
#include "gs_family.h"
#endif

/* wire.Kind, wire.Flags */
enum { GS_PRINT = 1, GS_REPORT, GS_DEFERRED, GS_EXIT, GS_PROCESS, GS_WARN, GS_LOG };
#define GS_MORE 1

/* Puts a record into this CPU's buffer; false (counted) when there is no room. */
static bool gs_emit(u8 kind, u8 flags, u32 slot, const void *body, u32 len);
static void gs_wake(void);

/* Ends the session. */
static inline void gs_stop(int state)
{
	int old = READ_ONCE(gs_state);

	while (old < state) {
		int seen = cmpxchg(&gs_state, old, state);

		if (seen == old)
			break;
		old = seen;
	}
	gs_wake();
}

static inline void gs_flush(struct gs_ctx *c, bool more)
{
	if (!c->len && (more || !c->more))
		return;
	gs_emit(GS_PRINT, more ? GS_MORE : 0, c->slot, c->out, c->len);
	c->len = 0;
	c->more = more;
}

/* Begins an entry of at most GS_OUT bytes; the caller writes it and calls gs_done. */
static inline u64 *gs_begin(struct gs_ctx *c, u32 site)
{
	u64 *p;

	if (c->len > 4096)
		gs_flush(c, true);
	p = c->out + c->len / 8;
	*p = site;
	return p + 1;
}

static inline void gs_done(struct gs_ctx *c, u64 *end)
{
	c->len = (char *)end - (char *)c->out;
}

static inline u64 *gs_put_text(u64 *p, const char *s, u32 n)
{
	u32 room = (n + 7) & ~7U;

	p[0] = (u64)room << 32 | n;
	if (room)
		p[room / 8] = 0;
	memcpy(p + 1, s, n);
	return p + 1 + room / 8;
}

static inline u64 *gs_put_mem(struct gs_ctx *c, u64 *p, u64 addr, int prec, bool kernel)
{
	u32 n = min_t(u32, max(prec, 1), 1024), room = (n + 7) & ~7U;

	p[0] = 0;
	p[room / 8] = 0;
	if (!gs_fetch(c, p + 1, addr, n, kernel))
		return p + 1;
	p[0] = (u64)room << 32 | n;
	return p + 1 + room / 8;
}

/* Reports the error in e: counted, sent, and the session ends when there are too many. */
static inline void gs_report(struct gs_ctx *c, const struct gs_err *e, u32 probe)
{
	u64 *p = c->out;
	u32 n = 0;

	gs_flush(c, false);
	switch (e->code) {
	case GS_ERR_USER:
	case GS_ERR_ARGUMENT:
	case GS_ERR_MAPFULL:
	case GS_ERR_MEMORY:
	case GS_ERR_WRITE:
		n = 1;
		break;
	case GS_ERR_INDEXRANGE:
		n = 2;
		break;
	}
	*p++ = (u64)(u32)e->pos << 32 | (u32)e->code;
	*p++ = (u64)n << 32 | probe;
	if (e->code == GS_ERR_USER || e->code == GS_ERR_ARGUMENT) {
		*p++ = 1;
		p = gs_put_text(p, e->text, strlen(e->text));
	} else {
		u32 i;

		for (i = 0; i < n; i++) {
			*p++ = 0;
			*p++ = e->arg[i];
		}
	}
	gs_emit(GS_REPORT, 0, c->slot, c->out, (char *)p - (char *)c->out);
	if (atomic_inc_return(&gs_errors) > GS_MAXERRORS)
		gs_stop(GS_FAILED);
}

/* exit() */
static inline void gs_exit(struct gs_ctx *c)
{
	gs_stop(GS_STOPPING);
	gs_flush(c, true);
	gs_emit(GS_EXIT, 0, c->slot, NULL, 0);
}

/* Ends a handler run: what was printed goes out, a lock that is held is released. */
static inline void gs_leave(struct gs_ctx *c)
{
	gs_unlock(c);
	gs_flush(c, false);
	barrier();
	c->busy = 0;
	if (unlikely(c->away)) {
		c->away = false;
		gs_spare_put(c);
	}
	preempt_enable();
}

#endif
