/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * The stacks that handlers keep, each once and known by a number from 1 (backend.ParseKept). A table of numbers is searched from the
 * place on that a hash of the stack tells, and whole stacks are compared, so that two are never taken for one. There are no locks: a stack
 * is written before its number is in the table, and who finds that another context has entered the same one meanwhile takes that one's
 * number; a number stays unused then.
 */
#ifndef GS_KEEP_H
#define GS_KEEP_H

#include "gs_text.h"

#define GS_KEPT_MOST 16384	/* backend.MaxStacks */
#define GS_KEPT_SLOTS (2 * GS_KEPT_MOST)
#define GS_KEPT_WORDS (2 + GS_KEEP)

struct gs_kept {
	u64 hash;
	u64 words[GS_KEPT_WORDS];
};

static struct gs_kept *gs_kept;	/* by number */
static int *gs_kept_slots;	/* numbers, 0 for none */
static atomic_t gs_kept_last = ATOMIC_INIT(0);

static int gs_kept_init(void)
{
	gs_kept = gs_zalloc((GS_KEPT_MOST + 1) * sizeof(*gs_kept));
	gs_kept_slots = gs_zalloc(GS_KEPT_SLOTS * sizeof(*gs_kept_slots));
	return gs_kept && gs_kept_slots ? 0 : -ENOMEM;
}

static void gs_kept_free(void)
{
	gs_free(gs_kept);
	gs_free(gs_kept_slots);
}

static inline u64 gs_kept_hash(const u64 *key, u32 words)
{
	u64 h = 0x9e3779b97f4a7c15ULL;
	u32 i;

	for (i = 0; i < words; i++) {
		h = (h ^ key[i]) * 0xff51afd7ed558ccdULL;
		h ^= h >> 32;
	}
	return h;
}

/* Gives the number of the stack in c->kept, 0 for one without addresses that is not cut. */
static noinline __maybe_unused int gs_keep(struct gs_ctx *c, int pos, s64 *dst)
{
	const u64 *key = c->kept;
	u32 words = 2 + (u32)key[0], i;
	u64 hash;
	int at, mine = 0;

	*dst = 0;
	if (!(u32)key[0] && !(key[1] >> 32 & 4))	/* backend.StackCut */
		return GS_OK;
	hash = gs_kept_hash(key, words);
	for (i = hash; ; i++) {
		int *slot = &gs_kept_slots[i % GS_KEPT_SLOTS];

		at = smp_load_acquire(slot);
		if (!at) {
			if (!mine) {
				mine = 1 + atomic_fetch_add_unless(&gs_kept_last, 1, GS_KEPT_MOST);
				if (mine > GS_KEPT_MOST)
					return gs_throw(c, pos, GS_ERR_ARGUMENT, "no room for another stack: 16384 are kept");
				gs_kept[mine].hash = hash;
				memcpy(gs_kept[mine].words, key, 8 * words);
			}
			at = cmpxchg(slot, 0, mine);
			if (!at)
				at = mine;
		}
		if (at == mine || (gs_kept[at].hash == hash && !memcmp(gs_kept[at].words, key, 8 * words))) {
			*dst = at;
			return GS_OK;
		}
	}
}

/* Gives the stack with a number, NULL if there is none. */
static __maybe_unused const u64 *gs_kept_stack(s64 n)
{
	return n > 0 && n <= min_t(s64, atomic_read(&gs_kept_last), GS_KEPT_MOST) ? gs_kept[n].words : NULL;
}

#endif
