/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * The life of a session and of one handler run: state, contexts, counters, locks,
 * errors. One context for each CPU and level of interruption; a handler that
 * finds its own taken is not run and counted.
 */
#ifndef GS_CORE_H
#define GS_CORE_H

#include "gs_port.h"

/* wire.State */
enum { GS_STARTING, GS_RUNNING, GS_STOPPING, GS_FAILED };

/* ir.Cause */
enum {
	GS_SKIP_LOCK, GS_SKIP_SCRATCH, GS_SKIP_NOENTRY, GS_SKIP_STOPPING,
	GS_LOST_RING, GS_LOST_RECURSED, GS_SKIP_DEAD, GS_LOST_EVICTED, GS_LOST_ACTIVE, GS_LOST_NESTED,
	GS_LOST_UNWOUND, GS_CAUSES
};

/* ir.Code */
enum {
	GS_ERR_NONE, GS_ERR_USER, GS_ERR_DIVZERO, GS_ERR_MAPFULL, GS_ERR_MEMORY,
	GS_ERR_EMPTYSTAT, GS_ERR_MAXACTION, GS_ERR_MAXNESTING, GS_ERR_EXHAUSTED,
	GS_ERR_INDEXRANGE, GS_ERR_ARGUMENT, GS_ERR_SCRATCH, GS_ERR_UNALIGNED, GS_ERR_WRITE
};

/* What functions and failing operations return. */
enum {
	GS_OK,
	GS_ERROR,	/* an error is in ctx->err: go where errors go */
	GS_END,		/* the handler is over */
	GS_FULL,	/* of maps: no room */
	GS_BUSY		/* a lock could not be had */
};

struct gs_err {
	int code;
	int pos;
	s64 arg[2];
	char text[GS_MAXSTR];
};

/* What goes between a handler and the process at a file in /proc. */
struct gs_value {
	char *text;		/* size + 1 bytes */
	u32 len, size;
	u32 room;		/* of size, what the script allows */
	bool done;		/* the handler has come to its end */
};

/* What a handler is told about its hit. */
struct gs_hit {
	struct pt_regs *regs;
	unsigned long func;	/* of return probes: the address of the probed function */
	const s64 *args;	/* of tracepoints */
	u32 site;		/* index into the probe's sites */
	const char *name[3];	/* pp(), pn() and ppfunc(), where functions of the script ask */
	struct gs_value *value;	/* of files in /proc */
	bool sleeps;		/* the handler may wait: a probe of a program */
	bool call;		/* of system calls, those of the tracer among them */
	bool left;		/* the kernel function returns at once, with the result */
	s64 result;
	bool brk;		/* a kernel probe: in_nmi() does not tell what was interrupted */
};

#ifdef GS_SNAPS
/* What values lead to (package snapshot): pieces of memory in data, numbers that the walk keeps in num. */
#define GS_SNAP_BYTES 8192
#define GS_SNAP_PIECE 2048
#define GS_SNAP_NUMBERS 512
struct gs_snap {
	u64 len;
	u64 data[(GS_SNAP_BYTES + GS_SNAP_PIECE + 16) / 8 + 1];
	s64 num[GS_SNAP_NUMBERS];
};
#endif

struct gs_ctx {
	int busy;
	int held;		/* lock class, -1 for none */
	int depth;		/* of calls */
	u32 slot;		/* for wire.Header: CPU << 16 | number */
	s64 left;		/* of the action budget */
	u32 sp;			/* bytes used of stack */
	u32 len;		/* bytes waiting in out, behind room for the headers */
	bool more;		/* a part of the output went out */
	bool sleeps, call;	/* gs_hit.sleeps, gs_hit.call */
	bool away;		/* its CPU got another context meanwhile */
	struct gs_err err;
	char tmp[GS_MAXSTR + 16];
	u64 block[8];		/* what gs_block() has read */
	u64 near_at;		/* what gs_window() has read: where, how much, and that */
	u32 near_size;
	u8 near[528];
	u64 key[GS_KEYS / 8 + 1];
	u64 agg[GS_AGG / 8 + 1];
	u64 out[(GS_OUT + 4096) / 8 + 4];
	u64 stack[GS_STACK / 8 + 1];
#ifdef GS_SNAPS
	struct gs_snap snap[GS_SNAPS];
#endif
#ifdef GS_KEEP
	u64 kept[2 + GS_KEEP];	/* a stack that is to be kept (gs_keep.h) */
#endif
};

struct gs_cpu {
	u64 causes[GS_CAUSES];
	u64 seed;		/* of random numbers */
	u64 prod;		/* of its buffer (gs_ring.h) */
	struct gs_ctx *ctx[GS_LEVELS];
};

static DEFINE_PER_CPU(struct gs_cpu, gs_cpus);
static int gs_state;
static atomic_t gs_errors = ATOMIC_INIT(0);
static int gs_target __maybe_unused;	/* its number in the namespace of gs_family.h */
static int gs_tracer __maybe_unused;	/* who runs the session */
static int gs_own __maybe_unused;	/* the same by the kernel's own number */

static inline bool gs_running(void)
{
	return likely(READ_ONCE(gs_state) == GS_RUNNING);
}

/*
 * While places are attached nothing counts, so that all of them begin at the same moment: a return whose entry was not there yet
 * would be taken for one that was missed.
 */
static inline void gs_hold(void)
{
	cmpxchg(&gs_state, GS_RUNNING, GS_STARTING);
}

static inline void gs_go_on(void)
{
	cmpxchg(&gs_state, GS_STARTING, GS_RUNNING);
}

/* For files in /proc: the begin probes have run, and who waited for the file to be there may use it at once. */
static inline bool gs_may_ask(void)
{
	return READ_ONCE(gs_state) <= GS_RUNNING;
}

/* Counts on this CPU; an interrupt between reading and writing must not lose one. */
static inline void gs_count(int cause)
{
	this_cpu_inc(gs_cpus.causes[cause]);
}

static inline int gs_level(void)
{
#if GS_LEVELS > 1
	return in_hardirq() ? 2 : in_serving_softirq() ? 1 : 0;
#else
	return 0;
#endif
}

/* Begins a handler run; NULL when it cannot run, which is counted. */
static inline struct gs_ctx *gs_enter(const struct gs_hit *hit)
{
	struct gs_ctx *c;

	preempt_disable();
	c = this_cpu_read(gs_cpus.ctx[gs_level()]);
	if (unlikely((in_nmi() && !hit->brk) || !c || c->busy)) {
		gs_count(GS_LOST_RECURSED);
		preempt_enable();
		return NULL;
	}
	c->busy = 1;
	barrier();
	c->held = -1;
	c->depth = 0;
	c->sp = 0;
	c->len = 0;
	c->near_size = 0;
	c->more = false;
	c->sleeps = hit->sleeps;
	c->call = hit->call;
	c->left = GS_MAXACTION;
	return c;
}

/* Room for the strings of a function. GS_STACK is the most that the program can use. */
static inline void *gs_push(struct gs_ctx *c, u32 n)
{
	void *p = (char *)c->stack + c->sp;

	c->sp += (n + 7) & ~7U;
	return p;
}

static inline void gs_pop(struct gs_ctx *c, void *p)
{
	c->sp = (char *)p - (char *)c->stack;
}

/*
 * Locks are words that are taken by compare and exchange, a bounded number of
 * times. They hold 1 + the CPU whose handler took them: a handler that has interrupted the
 * holder waits in vain and does not begin to.
 */
static inline bool gs_try_as(int *lock, int tries, int delay, int me)
{
	int i, old;

	for (i = 0; ; i++) {
		old = READ_ONCE(*lock);
		if (likely(old == 0 && cmpxchg_acquire(lock, 0, me) == 0))
			return true;
		if (i >= tries || (old == me && gs_level()))
			return false;
		if (old < 0 && old == -gs_thread())
			return false;
		if (delay)
			udelay(delay);
		else
			cpu_relax();
	}
}

/* The caller keeps its CPU. */
static inline bool gs_try(int *lock, int tries, int delay)
{
	return gs_try_as(lock, tries, delay, 1 + smp_processor_id());
}

static inline void gs_release(int *lock)
{
	smp_store_release(lock, 0);
}

#if GS_LOCKS > 0
static int gs_locks[GS_LOCKS];

/* How many times longer a handler waits for the host than for another handler, if only its caller waits. */
#define GS_HOST_TIME 8

/*
 * The host's word is its thread's number, negative. A hit in that very thread would wait in vain; where it is one of the
 * system calls by which the host reads the globals, it is not what anybody looks for.
 */
static noinline __maybe_unused bool gs_lock_wait(struct gs_ctx *c, int class)
{
	int i, old, *lock = &gs_locks[class];

	for (i = 0; i < GS_HOST_TIME; i++) {
		if (gs_try(lock, GS_TRIES, GS_DELAY)) {
			c->held = class;
			return true;
		}
		old = READ_ONCE(*lock);
		if (old >= 0 || old == -gs_thread() || !(c->sleeps || c->call))
			break;
	}
	gs_count(c->call && old == -gs_thread() ? GS_SKIP_STOPPING : GS_SKIP_LOCK);
	return false;
}

static inline bool gs_lock(struct gs_ctx *c, int class)
{
	if (unlikely(!gs_try(&gs_locks[class], 1, 0)))
		return gs_lock_wait(c, class);
	c->held = class;
	return true;
}

static inline void gs_unlock(struct gs_ctx *c)
{
	if (c->held >= 0)
		gs_release(&gs_locks[c->held]);
	c->held = -1;
}
#else
static inline void gs_unlock(struct gs_ctx *c) { (void)c; }
#endif

/* Tries for the lock inside of a map, which is held for a few hundred instructions. */
#ifndef GS_MAP_TRIES
#define GS_MAP_TRIES (GS_TRIES <= 1000 ? 100000 : GS_TRIES <= 10000000 ? GS_TRIES * 100 : 1000000000)
#endif

/* How long interrupts stay off while something lasts: so many tries for a lock, and elements of an array, at a time. */
#define GS_SPELL 64

static noinline __maybe_unused bool gs_spell_wait(int *lock, unsigned long *f)
{
	int i;

	for (i = 0; ; i += GS_SPELL) {
		if (gs_try(lock, GS_SPELL, 0))
			return true;
		gs_irq_restore(*f);
		if (i >= GS_MAP_TRIES || (READ_ONCE(*lock) == 1 + smp_processor_id() && gs_level()))
			return false;
		gs_irq_save(*f);
	}
}

/* Takes a lock that nobody holds whose interrupts are on, and turns them off; on failure they are as before. */
static __always_inline bool gs_spell_try(int *lock, unsigned long *f)
{
	gs_irq_save(*f);
	return likely(gs_try(lock, 0, 0)) || gs_spell_wait(lock, f);
}

/* The same with interrupts off, as they are on failure, too. */
static __always_inline bool gs_spell_again(int *lock, unsigned long *f)
{
	if (likely(gs_try(lock, 0, 0)) || gs_spell_wait(lock, f))
		return true;
	gs_irq_save(*f);
	return false;
}

/*
 * Lets interrupts come every now and then in a loop over an array. Its lock stays taken: the handler of an interrupt that wants it is
 * skipped and counted, as always when it finds a lock of its CPU.
 */
static inline void gs_spell(u32 *n, unsigned long *f)
{
	if (++*n % GS_SPELL)
		return;
	gs_irq_restore(*f);
	gs_irq_save(*f);
}

/* Raises an error with up to two numbers. */
static inline int gs_raise(struct gs_ctx *c, int pos, int code, s64 a, s64 b)
{
	c->err.code = code;
	c->err.pos = pos;
	c->err.arg[0] = a;
	c->err.arg[1] = b;
	return GS_ERROR;
}

#endif
