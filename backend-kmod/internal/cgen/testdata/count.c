// SPDX-License-Identifier: (GPL-2.0 OR MIT)
// Made by gostap from a script.

#define GS_MAXSTR 512
#define GS_LOCKS 1
#define GS_TRIES 100
#define GS_DELAY 10
#define GS_MAXACTION 1000LL
#define GS_MAXNESTING 1
#define GS_MAXERRORS 0
#define GS_LEVELS 1
#define GS_SPARES 16
#define GS_STACK 736
#define GS_KEYS 24
#define GS_PROBES 2
#define GS_OUT 1040
#define GS_AGG 0

#include "gs_iter.h"
#include "gs_scalar.h"
#include "gs_format.h"
#include "gs_output.h"
#include "gs_task.h"
#include "gs_fired.h"

static atomic64_t g_n = ATOMIC64_INIT(0LL);
static const struct gs_col g_hits_cols[] = { { 0, 16, true }, { 16, 8, false }, };
static struct gs_map g_hits = {
	.cols = g_hits_cols, .ncols = 2, .ksize = 24, .vsize = 8, .size = 100,
};
static char g_last_text[41] = "";
static struct gs_scalar g_last = { .cap = 40, .s = g_last_text };

#define GS_NGLOBS 3
#define GS_NCALLS 0
#define GS_NFILES 1
#include "gs_control.h"

static struct gs_glob gs_globs[] = {
	{ GS_G_LONG, &g_n },
	{ GS_G_MAP, &g_hits },
	{ GS_G_TEXT, &g_last },
	{ GS_G_LONG, NULL },
};

static const char *const probe_1_process_a_function_main_work_return_table_1[] = {
	"main.work",
	"main.rest",
};

static const struct gs_piece format_0[] = {
	{ .conv = 'd', .width = -1, .prec = -1 },
	{ .lit = "-", .nlit = 1 },
	{ .conv = 's', .width = -1, .prec = -1 },
};

static int f_note(struct gs_ctx *c __maybe_unused, struct gs_hit *hit __maybe_unused, s64 *result __maybe_unused, s64 value_0 __maybe_unused, const char *arg_who_1);

/* probe process("./a").function("main.work") */
static void probe_0_process_a_function_main_work(struct gs_hit *hit __maybe_unused)
{
	gs_fired(0);
	atomic64_add(1LL, &g_n);
}

struct f_note_strings {
	char who_1[16];
};

static int f_note(struct gs_ctx *c __maybe_unused, struct gs_hit *hit __maybe_unused, s64 *result __maybe_unused, s64 value_0 __maybe_unused, const char *arg_who_1)
{
	struct f_note_strings *L;
	int rc __maybe_unused = 0;
	s64 t_2 = 0;

	L = gs_push(c, sizeof(*L));
	gs_copy(L->who_1, 15, arg_who_1);
	gs_key_text(c->key, 0, 16, 15, L->who_1);
	gs_key_long(c->key, 16, value_0);
	rc = gs_map_add(&g_hits, c->key, 1LL, &t_2);
	if (unlikely(rc)) {
		if (rc == GS_BUSY)
			goto end;
		gs_raise(c, 0, GS_ERR_MAPFULL, 1, 100);
		goto fail;
	}
	*result = t_2;
	rc = GS_OK;
	goto out;
fail:
	rc = GS_ERROR;
	goto out;
end:
	rc = GS_END;
out:
	gs_pop(c, L);
	return rc;
}

struct probe_1_process_a_function_main_work_return_strings {
	char name_3[16];
	char t_4[41];
	char msg_5[61];
	char t_6[41];
	struct gs_err err;
};

/* probe process("./a").function("main.work").return */
static void probe_1_process_a_function_main_work_return(struct gs_hit *hit __maybe_unused)
{
	struct gs_ctx *c;
	struct probe_1_process_a_function_main_work_return_strings *L;
	int rc __maybe_unused = 0;
	s64 ret_0 = 0;
	s64 seen_1 = 0;
	s64 t_2 = 0;

	gs_fired(1);
	c = gs_enter(hit);
	if (unlikely(!c))
		return;
	L = gs_push(c, sizeof(*L));
	ret_0 = hit->regs->ax;
	gs_execname(L->name_3, 15);
	gs_copy(L->t_4, 40, probe_1_process_a_function_main_work_return_table_1[hit->site]);
	if (unlikely(!gs_lock(c, 0)))
		goto out;
	if (unlikely(gs_scalar_set(&g_last, L->t_4)))
		goto out;
	gs_unlock(c);
	rc = f_note(c, hit, &seen_1, ret_0, L->name_3);
	if (unlikely(rc == GS_END))
		goto out;
	if (unlikely(rc))
		goto x2;
	if (unlikely(gs_load(c, 0, &t_2, ret_0, 4, true, false)))
		goto x2;
	{
		const union gs_arg args[] = { { .n = ret_0 }, { .s = L->name_3 } };

		gs_sprint(c, L->t_6, 40, format_0, ARRAY_SIZE(format_0), args);
	}
	{
		u64 *p = gs_begin(c, 0);

		p = gs_put_text(p, L->t_4, strlen(L->t_4));
		*p++ = ret_0;
		*p++ = t_2;
		p = gs_put_text(p, L->t_6, strlen(L->t_6));
		gs_done(c, p);
	}
b1:
	goto out;
b2:
	gs_message(c, L->msg_5, 60, &L->err);
	{
		u64 *p = gs_begin(c, 1);

		p = gs_put_text(p, L->msg_5, strlen(L->msg_5));
		gs_done(c, p);
	}
	goto b1;
x2:
	L->err = c->err;
	goto b2;
out:
	gs_leave(c);
}

static int gs_memory_init(void)
{
	int err = 0;

	if (!err)
		err = gs_map_init(&g_hits);
	return err;
}

static void gs_memory_free(void)
{
	gs_map_free(&g_hits);
}

static void (*const gs_calls[])(struct gs_hit *) = {
	NULL,
};

static struct inode *gs_inodes[GS_NFILES + 1];

#include "gs_uprobe.h"

static struct gs_uprobe gs_uprobes[] = {
	{ .file = 0, .offset = 0x1234, .handler = probe_0_process_a_function_main_work, .place = 0, .site = 0 },
	{ .file = 0, .offset = 0x2000, .handler = probe_0_process_a_function_main_work, .place = 1, .site = 1 },
	{ .file = 0, .offset = 0x1250, .handler = probe_1_process_a_function_main_work_return, .place = 0, .site = 2 },
	{ .file = 0, .offset = 0x2040, .handler = probe_1_process_a_function_main_work_return, .place = 1, .site = 3 },
};

static int gs_left(struct gs_op *op)
{
	(void)op;
	return -ENOENT;
}

static void gs_detach(void)
{
	gs_uprobes_off(gs_uprobes, ARRAY_SIZE(gs_uprobes), gs_inodes);
}

static int gs_attach(s64 *site)
{
	int err = 0;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(gs_uprobes) && !err; i++) {
		*site = gs_uprobes[i].site;
		err = gs_uprobe_on(&gs_uprobes[i], gs_inodes[gs_uprobes[i].file]);
	}
	if (err)
		gs_detach();
	return err;
}
