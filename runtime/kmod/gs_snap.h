/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * Snapshots: copies of what values of the traced program lead to. The walk is in the handler (package snapshot); here is what it stands
 * on. A piece is its address, how many bytes it has, and these, with room to a multiple of 8.
 */
#ifndef GS_SNAP_H
#define GS_SNAP_H

#include "gs_output.h"

/* Puts down word i of the values, or for -1 begins with as many as there will be. */
static inline void gs_snap_root(struct gs_snap *s, s64 i, s64 v)
{
	if (i >= 0) {
		s->data[2 + i] = v;
		return;
	}
	s->data[0] = 0;
	s->data[1] = 8 * v;
	s->len = 16 + 8 * v;
}

/* Copies as much of n bytes as there is room for: where they are, or -1. What cannot be read is a piece without bytes. */
static inline s64 gs_snap_read(struct gs_ctx *c, struct gs_snap *s, u64 addr, u64 n)
{
	u64 at = s->len;
	u64 *p = s->data + at / 8;

	if (!n || at > GS_SNAP_BYTES - 32)
		return -1;
	n = min_t(u64, n, GS_SNAP_BYTES - 16 - at);
	n = min_t(u64, n, GS_SNAP_PIECE);
	p[0] = addr;
	p[1] = 0;
	s->len = at + 16;
	p[2 + n / 8] = 0;
	if (!gs_fetch(c, p + 2, addr, n, false))
		return -1;
	p[1] = n;
	s->len += (n + 7) & ~7ULL;
	return at + 16;
}

static inline s64 gs_snap_get(const struct gs_snap *s, u64 at)
{
	s64 v;

	memcpy(&v, (const char *)s->data + min_t(u64, at, GS_SNAP_BYTES), sizeof(v));
	return v;
}

static inline s64 *gs_snap_num(struct gs_snap *s, u64 i)
{
	return &s->num[min_t(u64, i, GS_SNAP_NUMBERS - 1)];
}

static inline s64 gs_snap_table(const u64 *table, u64 n, u64 i)
{
	return i < n ? table[i] : 0;
}

static inline u64 *gs_put_snap(u64 *p, const struct gs_snap *s)
{
	p[0] = gs_pid();
	p[1] = s->len << 32 | s->len;
	memcpy(p + 2, s->data, s->len);
	return p + 2 + s->len / 8;
}

#endif
