/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * The part of a CPU's time that handlers may take. Those that may take long look at the clock when they begin and when
 * they end: each of those that take long, and as long as they do not, one of GS_SAMPLED hits, which counts for all of them. Whoever finds that GS_OVERLOAD_TIME is over compares what they took on its CPU with GS_OVERLOAD_PERMILLE and begins
 * anew; where it is too much, the session ends.
 */
#ifndef GS_GUARD_H
#define GS_GUARD_H

#include "gs_output.h"

#ifdef __KERNEL__
struct gs_spent {
	u64 since, sum;
	u32 probe;		/* 1 + that which most of it belongs to */
	u32 left;		/* how many hits go by untimed */
	u64 more;		/* and how much more the probe has than all others */
};

/* The number is odd since hits of two handlers often come in turns. */
#define GS_SAMPLED 13
#define GS_BRIEFLY 20000

static DEFINE_PER_CPU(struct gs_spent, gs_spent);
static struct {
	int probe;		/* 1 + the number, 0 as long as it was not too much */
	u64 spent, of;
} gs_overload;

static noinline void gs_guard_over(struct gs_spent *s, u64 now)
{
	u64 of = now - s->since, sum = s->sum;

	s->since = now;
	s->sum = 0;
	if (sum * 1000 <= of * GS_OVERLOAD_PERMILLE || cmpxchg(&gs_overload.probe, 0, s->probe))
		return;
	gs_overload.spent = sum;
	gs_overload.of = of;
	gs_stop(GS_FAILED);
}

static inline u64 gs_guard_in(void)
{
	if (likely(this_cpu_read(gs_spent.left))) {
		this_cpu_dec(gs_spent.left);
		return 0;
	}
	return ktime_get_mono_fast_ns();
}

/* The caller has its context still. Time in which it waited for a page was not the CPU's. */
static inline void gs_guard_out(struct gs_ctx *c, u64 began, u32 probe)
{
	struct gs_spent *s;
	u64 now, took;

	if (likely(!began) || c->away)
		return;
	s = this_cpu_ptr(&gs_spent);
	now = ktime_get_mono_fast_ns();
	took = now - began;
	if (took < GS_BRIEFLY) {
		s->left = GS_SAMPLED - 1;
		took *= GS_SAMPLED;
	}
	s->sum += took;
	if (s->probe == probe + 1) {
		s->more += took;
	} else if (s->more > took) {
		s->more -= took;
	} else {
		s->probe = probe + 1;
		s->more = took - s->more;
	}
	if (unlikely(now - s->since > GS_OVERLOAD_TIME))
		gs_guard_over(s, now);
}
#else
static inline u64 gs_guard_in(void) { return 0; }
static inline void gs_guard_out(struct gs_ctx *c, u64 began, u32 probe) { (void)c; (void)began; (void)probe; }
#endif

#endif
