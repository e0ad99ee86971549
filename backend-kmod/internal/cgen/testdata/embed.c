// SPDX-License-Identifier: (GPL-2.0 OR MIT)
// Made by gostap from a script.

#define GS_MAXSTR 512
#define GS_LOCKS 0
#define GS_TRIES 100
#define GS_DELAY 10
#define GS_MAXACTION 1000LL
#define GS_MAXNESTING 1
#define GS_MAXERRORS 0
#define GS_LEVELS 1
#define GS_SPARES 16
#define GS_STACK 2264
#define GS_KEYS 24
#define GS_PROBES 1
#define GS_OUT 8224
#define GS_AGG 0

#include "gs_iter.h"
#include "gs_scalar.h"
#include "gs_format.h"
#include "gs_output.h"
#include "gs_task.h"
#include "gs_fired.h"
#define GS_OVERLOAD_TIME 500000000ULL
#define GS_OVERLOAD_PERMILLE 500ULL
#include "gs_guard.h"
#define GS_EMBED_SITE 7
#include "gs_embed.h"

static int twice(int x) { return 2 * x; }

static atomic64_t g_n = ATOMIC64_INIT(0LL);
static char g_s_text[21] = "none";
static struct gs_scalar g_s = { .cap = 20, .s = g_s_text };
static const struct gs_col g_arr_cols[] = { { 0, 8, false }, { 8, 16, true }, };
static struct gs_map g_arr = {
	.cols = g_arr_cols, .ncols = 2, .ksize = 24, .vsize = 8, .size = 4,
};
static const struct gs_col g_names_cols[] = { { 0, 8, false }, };
static struct gs_map g_names = {
	.cols = g_names_cols, .ncols = 1, .ksize = 8, .vsize = 32, .size = 3,
};

#define GS_NGLOBS 4
#define GS_NCALLS 0
#define GS_NFILES 1
#include "gs_control.h"

static struct gs_glob gs_globs[] = {
	{ GS_G_LONG, &g_n },
	{ GS_G_TEXT, &g_s },
	{ GS_G_MAP, &g_arr },
	{ GS_G_MAP, &g_names },
	{ GS_G_LONG, NULL },
};

struct c_add_frame {
	int gs_rc, gs_pos;
	s64 a_a;
	s64 a_b;
	s64 __retvalue;
};

#define STAP_ARG_a (gs_this->a_a)
#define STAP_ARG_b (gs_this->a_b)
#define STAP_RETVALUE (gs_this->__retvalue)
#define STAP_RETURN(v) do { STAP_RETVALUE = (s64)(v); goto out; } while (0)
/* function add */
static void c_add_body(struct gs_ctx *gs_c __maybe_unused, struct c_add_frame *gs_this __maybe_unused)
{
	{
 STAP_RETURN(STAP_ARG_a + twice(STAP_ARG_b)); 
	}
out: __maybe_unused;
}
#undef STAP_ARG_a
#undef STAP_ARG_b
#undef STAP_RETVALUE
#undef STAP_RETURN

static int c_add(struct gs_ctx *c, int pos, s64 *result, s64 arg_0, s64 arg_1)
{
	struct c_add_frame *f = gs_push(c, sizeof(*f));
	int rc;

	f->gs_rc = GS_OK;
	f->gs_pos = pos;
	f->a_a = arg_0;
	f->a_b = arg_1;
	f->__retvalue = 0;
	c_add_body(c, f);
	*result = f->__retvalue;
	rc = f->gs_rc;
	gs_pop(c, f);
	return rc;
}

struct c_label_frame {
	int gs_rc, gs_pos;
	char a_s[MAXSTRINGLEN];
	char __retvalue[MAXSTRINGLEN];
};

#define STAP_ARG_s (gs_this->a_s)
#define STAP_RETVALUE (gs_this->__retvalue)
#define STAP_RETURN(v) do { gs_strlcpy(STAP_RETVALUE, v, MAXSTRINGLEN); goto out; } while (0)
/* function label */
static void c_label_body(struct gs_ctx *gs_c __maybe_unused, struct c_label_frame *gs_this __maybe_unused)
{
	{
snprintf(STAP_RETVALUE, MAXSTRINGLEN, "<%s>", STAP_ARG_s); if (STAP_ARG_s[0] == 0) STAP_ERROR("nothing in %d", 5);
	}
out: __maybe_unused;
}
#undef STAP_ARG_s
#undef STAP_RETVALUE
#undef STAP_RETURN

static int c_label(struct gs_ctx *c, int pos, char *result, u32 room, const char *arg_0)
{
	struct c_label_frame *f = gs_push(c, sizeof(*f));
	int rc;

	f->gs_rc = GS_OK;
	f->gs_pos = pos;
	gs_copy(f->a_s, MAXSTRINGLEN - 1, arg_0);
	f->__retvalue[0] = 0;
	c_label_body(c, f);
	f->__retvalue[MAXSTRINGLEN - 1] = 0;
	gs_copy(result, room, f->__retvalue);
	rc = f->gs_rc;
	gs_pop(c, f);
	return rc;
}

struct c_count_frame {
	int gs_rc, gs_pos;
	char g_s[MAXSTRINGLEN];
};

#define STAP_RETURN() goto out
#define STAP_GLOBAL_GET_n() ((s64)atomic64_read(&g_n))
#define STAP_GLOBAL_SET_n(v) atomic64_set(&g_n, (s64)(v))
#define STAP_GLOBAL_GET_arr(k0, k1) ({ s64 gs_v_; s64 gs_k0_ = (k0); const char *gs_k1_ = (k1); gs_key_long(gs_c->key, 0, gs_k0_); gs_key_text(gs_c->key, 8, 16, 10, gs_k1_); gs_embed_global(gs_map_get_long(&g_arr, gs_c->key, &gs_v_), 2, 4); gs_v_; })
#define STAP_GLOBAL_SET_arr(k0, k1, v) do { s64 gs_k0_ = (k0); const char *gs_k1_ = (k1); s64 gs_v_ = (v); gs_key_long(gs_c->key, 0, gs_k0_); gs_key_text(gs_c->key, 8, 16, 10, gs_k1_); gs_embed_global(gs_map_set_long(&g_arr, gs_c->key, gs_v_), 2, 4); } while (0)
#define STAP_GLOBAL_GET_s() ({ gs_embed_global(gs_scalar_get(&g_s, gs_this->g_s, MAXSTRINGLEN - 1), 1, 0); gs_this->g_s; })
/* function count */
static void c_count_body(struct gs_ctx *gs_c __maybe_unused, struct c_count_frame *gs_this __maybe_unused)
{
	{
STAP_GLOBAL_SET_n(STAP_GLOBAL_GET_n() + 1);
	STAP_GLOBAL_SET_arr(STAP_GLOBAL_GET_n(), STAP_GLOBAL_GET_s(), STAP_GLOBAL_GET_arr(1, "one") + 1);
	}
out: __maybe_unused;
}
#undef STAP_RETURN
#undef STAP_GLOBAL_GET_n
#undef STAP_GLOBAL_SET_n
#undef STAP_GLOBAL_GET_arr
#undef STAP_GLOBAL_SET_arr
#undef STAP_GLOBAL_GET_s

static int c_count(struct gs_ctx *c, int pos)
{
	struct c_count_frame *f = gs_push(c, sizeof(*f));
	int rc;

	f->gs_rc = GS_OK;
	f->gs_pos = pos;
	c_count_body(c, f);
	rc = f->gs_rc;
	gs_pop(c, f);
	return rc;
}

struct c_keep_frame {
	int gs_rc, gs_pos;
	s64 a_k;
	char a_v[MAXSTRINGLEN];
	char g_names[MAXSTRINGLEN];
};

#define STAP_ARG_k (gs_this->a_k)
#define STAP_ARG_v (gs_this->a_v)
#define STAP_RETURN() goto out
#define STAP_GLOBAL_GET_names(k0) ({ s64 gs_k0_ = (k0); gs_key_long(gs_c->key, 0, gs_k0_); gs_embed_global(gs_map_get_text(&g_names, gs_c->key, gs_this->g_names, MAXSTRINGLEN - 1), 3, 3); gs_this->g_names; })
#define STAP_GLOBAL_SET_names(k0, v) do { s64 gs_k0_ = (k0); const char *gs_v_ = (v); gs_key_long(gs_c->key, 0, gs_k0_); gs_embed_global(gs_map_set_text(&g_names, gs_c->key, gs_v_, 30), 3, 3); } while (0)
#define STAP_GLOBAL_SET_s(v) do { gs_embed_global(gs_scalar_set(&g_s, v), 1, 0); } while (0)
/* function keep */
static void c_keep_body(struct gs_ctx *gs_c __maybe_unused, struct c_keep_frame *gs_this __maybe_unused)
{
	{
STAP_GLOBAL_SET_names(STAP_ARG_k, STAP_ARG_v); STAP_GLOBAL_SET_s(STAP_GLOBAL_GET_names(STAP_ARG_k)); return;
	}
out: __maybe_unused;
}
#undef STAP_ARG_k
#undef STAP_ARG_v
#undef STAP_RETURN
#undef STAP_GLOBAL_GET_names
#undef STAP_GLOBAL_SET_names
#undef STAP_GLOBAL_SET_s

static int c_keep(struct gs_ctx *c, int pos, s64 arg_0, const char *arg_1)
{
	struct c_keep_frame *f = gs_push(c, sizeof(*f));
	int rc;

	f->gs_rc = GS_OK;
	f->gs_pos = pos;
	f->a_k = arg_0;
	gs_copy(f->a_v, MAXSTRINGLEN - 1, arg_1);
	c_keep_body(c, f);
	rc = f->gs_rc;
	gs_pop(c, f);
	return rc;
}

struct c_expression_frame {
	int gs_rc, gs_pos;
	s64 __retvalue;
};

/* an expression */
static void c_expression_body(struct gs_ctx *gs_c __maybe_unused, struct c_expression_frame *gs_this __maybe_unused)
{
	gs_this->__retvalue = (s64)({
twice(21) /* ; */
	; });
out: __maybe_unused;
}

static int c_expression(struct gs_ctx *c, int pos, s64 *result)
{
	struct c_expression_frame *f = gs_push(c, sizeof(*f));
	int rc;

	f->gs_rc = GS_OK;
	f->gs_pos = pos;
	f->__retvalue = 0;
	c_expression_body(c, f);
	*result = f->__retvalue;
	rc = f->gs_rc;
	gs_pop(c, f);
	return rc;
}

struct c_expression_2_frame {
	int gs_rc, gs_pos;
	char __retvalue[MAXSTRINGLEN];
};

/* an expression */
static void c_expression_2_body(struct gs_ctx *gs_c __maybe_unused, struct c_expression_2_frame *gs_this __maybe_unused)
{
	const char *gs_v = ({
char *t = "te" "xt"; t;
	 });

	gs_strlcpy(gs_this->__retvalue, gs_v, MAXSTRINGLEN);
out: __maybe_unused;
}

static int c_expression_2(struct gs_ctx *c, int pos, char *result, u32 room)
{
	struct c_expression_2_frame *f = gs_push(c, sizeof(*f));
	int rc;

	f->gs_rc = GS_OK;
	f->gs_pos = pos;
	f->__retvalue[0] = 0;
	c_expression_2_body(c, f);
	f->__retvalue[MAXSTRINGLEN - 1] = 0;
	gs_copy(result, room, f->__retvalue);
	rc = f->gs_rc;
	gs_pop(c, f);
	return rc;
}

struct c_expression_3_frame {
	int gs_rc, gs_pos;
	s64 a_a;
	char a_s[MAXSTRINGLEN];
	s64 __retvalue;
};

#define STAP_ARG_a (gs_this->a_a)
#define STAP_ARG_s (gs_this->a_s)
/* an expression */
static void c_expression_3_body(struct gs_ctx *gs_c __maybe_unused, struct c_expression_3_frame *gs_this __maybe_unused)
{
	gs_this->__retvalue = (s64)({
STAP_ARG_a + STAP_ARG_s[0]
	; });
out: __maybe_unused;
}
#undef STAP_ARG_a
#undef STAP_ARG_s

static int c_expression_3(struct gs_ctx *c, int pos, s64 *result, s64 arg_0, const char *arg_1)
{
	struct c_expression_3_frame *f = gs_push(c, sizeof(*f));
	int rc;

	f->gs_rc = GS_OK;
	f->gs_pos = pos;
	f->a_a = arg_0;
	gs_copy(f->a_s, MAXSTRINGLEN - 1, arg_1);
	f->__retvalue = 0;
	c_expression_3_body(c, f);
	*result = f->__retvalue;
	rc = f->gs_rc;
	gs_pop(c, f);
	return rc;
}

struct c_say_frame {
	int gs_rc, gs_pos;
};

#define STAP_RETURN() goto out
/* function say */
static void c_say_body(struct gs_ctx *gs_c __maybe_unused, struct c_say_frame *gs_this __maybe_unused)
{
	{
_stp_printf("%s %d\n", "said", 7); _stp_warn("careful %d", 1); _stp_print("end\n");
	}
out: __maybe_unused;
}
#undef STAP_RETURN

static int c_say(struct gs_ctx *c, int pos)
{
	struct c_say_frame *f = gs_push(c, sizeof(*f));
	int rc;

	f->gs_rc = GS_OK;
	f->gs_pos = pos;
	c_say_body(c, f);
	rc = f->gs_rc;
	gs_pop(c, f);
	return rc;
}

struct c_old_frame {
	int gs_rc, gs_pos;
	s64 rc;
	s64 __retvalue;
};

#define STAP_ARG_rc (gs_this->rc)
#define THIS gs_this
#define STAP_RETVALUE (gs_this->__retvalue)
#define STAP_RETURN(v) do { STAP_RETVALUE = (s64)(v); goto out; } while (0)
/* function old */
static void c_old_body(struct gs_ctx *gs_c __maybe_unused, struct c_old_frame *gs_this __maybe_unused)
{
	{
THIS->__retvalue = THIS->rc + kderef(1, 16) + kread((unsigned short *)16);
	}
out: __maybe_unused;
}
#undef STAP_ARG_rc
#undef THIS
#undef STAP_RETVALUE
#undef STAP_RETURN

static int c_old(struct gs_ctx *c, int pos, s64 *result, s64 arg_0)
{
	struct c_old_frame *f = gs_push(c, sizeof(*f));
	int rc;

	f->gs_rc = GS_OK;
	f->gs_pos = pos;
	f->rc = arg_0;
	f->__retvalue = 0;
	c_old_body(c, f);
	*result = f->__retvalue;
	rc = f->gs_rc;
	gs_pop(c, f);
	return rc;
}

struct c_bad_frame {
	int gs_rc, gs_pos;
	s64 __retvalue;
};

#define STAP_RETVALUE (gs_this->__retvalue)
#define STAP_RETURN(v) do { STAP_RETVALUE = (s64)(v); goto out; } while (0)
/* function bad */
static void c_bad_body(struct gs_ctx *gs_c __maybe_unused, struct c_bad_frame *gs_this __maybe_unused)
{
	{
char b[8]; STAP_RETVALUE = uderef(8, 5000); uderef_string(b, 16, 8); (void)b;
	}
out: __maybe_unused;
}
#undef STAP_RETVALUE
#undef STAP_RETURN

static int c_bad(struct gs_ctx *c, int pos, s64 *result)
{
	struct c_bad_frame *f = gs_push(c, sizeof(*f));
	int rc;

	f->gs_rc = GS_OK;
	f->gs_pos = pos;
	f->__retvalue = 0;
	c_bad_body(c, f);
	*result = f->__retvalue;
	rc = f->gs_rc;
	gs_pop(c, f);
	return rc;
}

static int f_wrapped(struct gs_ctx *c __maybe_unused, struct gs_hit *hit __maybe_unused, s64 *result __maybe_unused, s64 t_0 __maybe_unused);

static int f_wrapped(struct gs_ctx *c __maybe_unused, struct gs_hit *hit __maybe_unused, s64 *result __maybe_unused, s64 t_0 __maybe_unused)
{
	int rc __maybe_unused = 0;
	s64 t_1 = 0;

	rc = c_add(c, 0, &t_1, t_0, 1LL);
	if (unlikely(rc == GS_END))
		goto end;
	if (unlikely(rc))
		goto fail;
	*result = t_1;
	rc = GS_OK;
	goto out;
fail:
	rc = GS_ERROR;
	goto out;
end:
	rc = GS_END;
out:
	return rc;
}

struct probe_0_p_strings {
	char t_3[11];
	char t_4[512];
	char t_5[101];
	char t_6[4];
	struct gs_err err;
};

/* probe p */
static void probe_0_p(struct gs_hit *hit __maybe_unused)
{
	struct gs_ctx *c;
	u64 began;
	struct probe_0_p_strings *L;
	int rc __maybe_unused = 0;
	s64 t_0 = 0;
	s64 t_1 = 0;
	s64 t_2 = 0;

	gs_fired(0);
	c = gs_enter(hit);
	if (unlikely(!c))
		return;
	began = gs_guard_in();
	L = gs_push(c, sizeof(*L));
	rc = c_add(c, 0, &t_0, 1LL, 2LL);
	if (unlikely(rc == GS_END))
		goto out;
	if (unlikely(rc))
		goto fail;
	rc = f_wrapped(c, hit, &t_1, t_0);
	if (unlikely(rc == GS_END))
		goto out;
	if (unlikely(rc))
		goto fail;
	rc = c_label(c, 0, L->t_3, 10, "long text that is cut");
	if (unlikely(rc == GS_END))
		goto out;
	if (unlikely(rc))
		goto fail;
	rc = c_count(c, 0);
	if (unlikely(rc == GS_END))
		goto out;
	if (unlikely(rc))
		goto fail;
	rc = c_count(c, 0);
	if (unlikely(rc == GS_END))
		goto out;
	if (unlikely(rc))
		goto fail;
	rc = c_keep(c, 0, 7LL, "seven");
	if (unlikely(rc == GS_END))
		goto out;
	if (unlikely(rc))
		goto fail;
	rc = c_expression(c, 0, &t_2);
	if (unlikely(rc == GS_END))
		goto out;
	if (unlikely(rc))
		goto fail;
	rc = c_expression_2(c, 0, L->t_6, 3);
	if (unlikely(rc == GS_END))
		goto out;
	if (unlikely(rc))
		goto fail;
	{
		u64 *p = gs_begin(c, 0);

		*p++ = t_0;
		*p++ = t_1;
		p = gs_put_text(p, L->t_3, strlen(L->t_3));
		*p++ = t_2;
		p = gs_put_text(p, L->t_6, strlen(L->t_6));
		gs_done(c, p);
	}
	rc = c_expression_3(c, 0, &t_0, 1000LL, "A");
	if (unlikely(rc == GS_END))
		goto out;
	if (unlikely(rc))
		goto fail;
	{
		u64 *p = gs_begin(c, 1);

		*p++ = t_0;
		gs_done(c, p);
	}
	rc = c_say(c, 0);
	if (unlikely(rc == GS_END))
		goto out;
	if (unlikely(rc))
		goto fail;
	rc = c_old(c, 0, &t_0, 5LL);
	if (unlikely(rc == GS_END))
		goto out;
	if (unlikely(rc))
		goto fail;
	{
		u64 *p = gs_begin(c, 2);

		*p++ = t_0;
		gs_done(c, p);
	}
	rc = c_label(c, 0, L->t_4, 511, "");
	if (unlikely(rc == GS_END))
		goto out;
	if (unlikely(rc))
		goto x1;
	goto out;
b1:
	gs_message(c, L->t_5, 100, &L->err);
	{
		u64 *p = gs_begin(c, 3);

		p = gs_put_text(p, L->t_5, strlen(L->t_5));
		gs_done(c, p);
	}
	rc = c_bad(c, 0, &t_0);
	if (unlikely(rc == GS_END))
		goto out;
	if (unlikely(rc))
		goto x2;
	goto out;
b2:
	gs_message(c, L->t_5, 100, &L->err);
	{
		u64 *p = gs_begin(c, 4);

		p = gs_put_text(p, L->t_5, strlen(L->t_5));
		gs_done(c, p);
	}
	rc = c_keep(c, 0, 8LL, "eight");
	if (unlikely(rc == GS_END))
		goto out;
	if (unlikely(rc))
		goto fail;
	rc = c_keep(c, 0, 9LL, "nine");
	if (unlikely(rc == GS_END))
		goto out;
	if (unlikely(rc))
		goto fail;
	rc = c_keep(c, 0, 10LL, "ten");
	if (unlikely(rc == GS_END))
		goto out;
	if (unlikely(rc))
		goto x3;
	goto out;
b3:
	gs_message(c, L->t_5, 100, &L->err);
	{
		u64 *p = gs_begin(c, 5);

		p = gs_put_text(p, L->t_5, strlen(L->t_5));
		gs_done(c, p);
	}
	rc = c_bad(c, 0, &t_0);
	if (unlikely(rc == GS_END))
		goto out;
	if (unlikely(rc))
		goto fail;
	gs_done(c, gs_begin(c, 6));
	goto out;
x1:
	L->err = c->err;
	goto b1;
x2:
	L->err = c->err;
	goto b2;
x3:
	L->err = c->err;
	goto b3;
fail:
	gs_report(c, &c->err, 0);
out:
	gs_guard_out(c, began, 0);
	gs_leave(c);
}

static int gs_memory_init(void)
{
	int err = 0;

	if (!err)
		err = gs_map_init(&g_arr);
	if (!err)
		err = gs_map_init(&g_names);
	return err;
}

static void gs_memory_free(void)
{
	gs_map_free(&g_arr);
	gs_map_free(&g_names);
}

static void (*const gs_calls[])(struct gs_hit *) = {
	NULL,
};

static struct inode *gs_inodes[GS_NFILES + 1];

#include "gs_uprobe.h"

static struct gs_uprobe gs_uprobes[] = {
	{ .file = 0, .offset = 0x10, .handler = probe_0_p, .place = 0, .site = 0 },
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
