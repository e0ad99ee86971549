// SPDX-License-Identifier: (GPL-2.0 OR MIT)
// Made by gostap from a script.

#define GS_MAXSTR 512
#define GS_LOCKS 0
#define GS_TRIES 100
#define GS_DELAY 10
#define GS_MAXACTION 1000LL
#define GS_MAXNESTING 0
#define GS_MAXERRORS 0
#define GS_LEVELS 1
#define GS_SPARES 0
#define GS_STACK 32
#define GS_KEYS 8
#define GS_PROBES 3
#define GS_OUT 1040
#define GS_AGG 0

#include "gs_iter.h"
#include "gs_scalar.h"
#include "gs_format.h"
#include "gs_output.h"
#include "gs_task.h"
#include "gs_fired.h"

static char g_last_text[21] = "";
static struct gs_scalar g_last = { .cap = 20, .s = g_last_text };

#define GS_NGLOBS 1
#define GS_NCALLS 0
#define GS_NFILES 0
#include "gs_control.h"

static struct gs_glob gs_globs[] = {
	{ GS_G_TEXT, &g_last },
	{ GS_G_LONG, NULL },
};


struct probe_0_read_strings {
	char t_1[21];
};

/* probe read */
static void probe_0_read(struct gs_hit *hit __maybe_unused)
{
	struct gs_ctx *c;
	struct probe_0_read_strings *L;
	s64 t_0 = 0;

	gs_fired(0);
	c = gs_enter(hit);
	if (unlikely(!c))
		return;
	c->left = 10000;
	L = gs_push(c, sizeof(*L));
	if (unlikely(gs_scalar_get(&g_last, L->t_1, 20)))
		goto out;
	gs_reply(hit->value, L->t_1, false);
	if (unlikely(gs_load(c, 0, &t_0, 16LL, 8, false, false)))
		goto b1;
	gs_reply(hit->value, "more", true);
	hit->value->done = true;
	goto out;
b1:
	hit->value->done = true;
out:
	gs_leave(c);
}

struct probe_1_write_strings {
	char t_0[21];
};

/* probe write */
static void probe_1_write(struct gs_hit *hit __maybe_unused)
{
	struct gs_ctx *c;
	struct probe_1_write_strings *L;

	gs_fired(1);
	c = gs_enter(hit);
	if (unlikely(!c))
		return;
	c->left = 10000;
	L = gs_push(c, sizeof(*L));
	gs_copy(L->t_0, 20, hit->value->text);
	if (unlikely(gs_scalar_set(&g_last, L->t_0)))
		goto out;
	hit->value->done = true;
out:
	gs_leave(c);
}

/* probe one */
static void probe_2_one(struct gs_hit *hit __maybe_unused)
{
	struct gs_ctx *c;

	gs_fired(2);
	c = gs_enter(hit);
	if (unlikely(!c))
		return;
	c->left = 10000;
	gs_reply(hit->value, "1\n", false);
	hit->value->done = true;
	gs_leave(c);
}

static int gs_memory_init(void)
{
	int err = 0;

	return err;
}

static void gs_memory_free(void)
{
}

static void (*const gs_calls[])(struct gs_hit *) = {
	NULL,
};

static struct inode *gs_inodes[GS_NFILES + 1];

#include "gs_procfs.h"

static struct gs_procfs gs_procfiles[] = {
	{ .path = "a/b", .mode = 0600, .size = 99, .site = 0, .read = probe_0_read, .read_place = 0, .write = probe_1_write, .write_place = 0 },
	{ .path = "one", .mode = 0444, .size = 511, .site = 2, .read = probe_2_one, .read_place = 0 },
};

static const char *const gs_procfolders[] = {
	"a",
	NULL,
};

static int gs_left(struct gs_op *op)
{
	(void)op;
	return -ENOENT;
}

static void gs_detach(void)
{
	gs_procfs_off();
}

static int gs_attach(s64 *site)
{
	int err = 0;


	if (!err)
		err = gs_procfs_on(gs_procfiles, ARRAY_SIZE(gs_procfiles), gs_procfolders, site);
	if (err)
		gs_detach();
	return err;
}
