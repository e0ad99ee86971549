/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * One buffer of records for each CPU, shared with the host by mmap: a page with the
 * positions, then the data. A record is
 *
 *	u32 length of what follows the 16 bytes here, u32 flags, u64 number
 *
 * then a wire record, padded to 16 bytes. It never wraps: a record with GS_RING_PAD fills the
 * rest of the buffer. GS_RING_BUSY is on while it is written. Numbers are given by
 * one counter for all CPUs without gaps, which is how the host puts records in order.
 */
#ifndef GS_RING_H
#define GS_RING_H

#include <linux/irq_work.h>
#include <linux/wait.h>
#include "gs_output.h"

#define GS_RING_BUSY 1U
#define GS_RING_PAD 2U

struct gs_ring_rec {
	u32 len, flags;
	u64 number;
};

/*
 * Bytes since the beginning; cons is the host's. The host may write to all of the buffer, so nothing that is read from
 * it says where the module writes: prod is a copy of the module's own.
 */
struct gs_ring_head {
	u64 prod, cons;
};

static unsigned int gs_ring_kb = 1024;
module_param_named(buffer_kb, gs_ring_kb, uint, 0400);
MODULE_PARM_DESC(buffer_kb, "kilobytes of output buffer for each CPU, a power of 2");

static char *gs_ring;		/* of all CPUs, one behind the other */
static u64 gs_ring_size;	/* of the data of one */
static atomic64_t gs_next = ATOMIC64_INIT(0);
static DECLARE_WAIT_QUEUE_HEAD(gs_readers);
static u32 gs_sleeping;

static inline struct gs_ring_head *gs_ring_of(u32 cpu)
{
	return (struct gs_ring_head *)(gs_ring + cpu * (gs_ring_size + PAGE_SIZE));
}

static int gs_ring_init(void)
{
	gs_ring_size = (u64)roundup_pow_of_two(clamp(gs_ring_kb, 16U, 1U << 20)) << 10;
	gs_ring = vmalloc_user((gs_ring_size + PAGE_SIZE) * nr_cpu_ids);
	return gs_ring ? 0 : -ENOMEM;
}

static void gs_wake_work(struct irq_work *w)
{
	(void)w;
	wake_up_interruptible(&gs_readers);
}
static DEFINE_IRQ_WORK(gs_waker, gs_wake_work);

/* Handlers may run with any lock of the scheduler held: the waking is left to an interrupt. */
static void gs_wake(void)
{
	if (READ_ONCE(gs_sleeping) && cmpxchg(&gs_sleeping, 1, 0) == 1)
		irq_work_queue(&gs_waker);
}

/* Room for n bytes behind the record's head, or NULL. The caller keeps its CPU; interrupts nest. */
static struct gs_ring_rec *gs_reserve(u32 n)
{
	struct gs_ring_head *h = gs_ring_of(smp_processor_id());
	char *data = (char *)h + PAGE_SIZE;
	u64 total = sizeof(struct gs_ring_rec) + ((n + 15) & ~15U), prod, at, left;
	struct gs_ring_rec *r = NULL;
	unsigned long f;

	local_irq_save(f);
	prod = this_cpu_read(gs_cpus.prod);
	at = prod & (gs_ring_size - 1);
	left = gs_ring_size - at;
	if (left < total)
		total += left;
	if (gs_ring_size - (prod - READ_ONCE(h->cons)) >= total && total <= gs_ring_size) {
		r = (struct gs_ring_rec *)(data + at);
		if (left < sizeof(struct gs_ring_rec) + ((n + 15) & ~15U)) {
			r->len = left - sizeof(struct gs_ring_rec);
			r->flags = GS_RING_PAD;
			r = (struct gs_ring_rec *)data;
		}
		r->len = n;
		r->flags = GS_RING_BUSY;
		r->number = atomic64_fetch_add(1, &gs_next);
		this_cpu_write(gs_cpus.prod, prod + total);
		smp_store_release(&h->prod, prod + total);
	}
	local_irq_restore(f);
	return r;
}

static bool gs_emit(u8 kind, u8 flags, u32 slot, const void *body, u32 len)
{
	struct gs_ring_rec *r = gs_reserve(len + 8);
	u32 *w;

	if (unlikely(!r)) {
		gs_count(GS_LOST_RING);
		gs_wake();
		return false;
	}
	w = (u32 *)(r + 1);
	w[0] = kind | flags << 8 | (slot & 0xffff) << 16;
	w[1] = slot >> 16;
	memcpy(w + 2, body, len);
	smp_store_release(&r->flags, 0);
	gs_wake();
	return true;
}

#endif
