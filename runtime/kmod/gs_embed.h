/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * What C that stands in a script finds: the names that SystemTap gives it. The code
 * generator writes around each piece
 *
 *	static void NAME(struct gs_ctx *gs_c, struct NAME_frame *gs_this) { ... out: ; }
 *
 * with the frame's members gs_rc (GS_OK, or how the piece failed) and gs_pos (where it stands
 * in the script), and macros STAP_ARG_x, STAP_RETVALUE and STAP_RETURN for it. The
 * macros below that may fail leave by the label out, so they work in such pieces only
 * and not in functions of the script's top level.
 */
#ifndef GS_EMBED_H
#define GS_EMBED_H

#ifdef __KERNEL__
#include <linux/stdarg.h>
#else
#include <stdarg.h>
#endif
#include "gs_output.h"
#include "gs_stapconf.h"

/* A number that is given for a text, or a text for a number, is a mistake. */
#pragma GCC diagnostic error "-Wint-conversion"

#define MAXSTRINGLEN GS_MAXSTR
typedef char string_t[MAXSTRINGLEN];

/* Gone from the kernel in 6.8. */
static inline size_t gs_strlcpy(char *dst, const char *src, size_t size)
{
	size_t n = strlen(src);

	if (size) {
		size_t k = n < size ? n : size - 1;

		memcpy(dst, src, k);
		dst[k] = 0;
	}
	return n;
}
#undef strlcpy
#define strlcpy(dst, src, size) gs_strlcpy(dst, src, size)

/* Raises an error of the script. */
static inline __attribute__((format(printf, 3, 4))) int gs_embed_error(struct gs_ctx *c, int pos, const char *format, ...)
{
	va_list args;

	c->err.code = GS_ERR_USER;
	c->err.pos = pos;
	va_start(args, format);
	vsnprintf(c->err.text, GS_MAXSTR, format, args);
	va_end(args);
	return GS_ERROR;
}

#define STAP_ERROR(...)								\
	do {									\
		gs_this->gs_rc = gs_embed_error(gs_c, gs_this->gs_pos, __VA_ARGS__);	\
		goto out;							\
	} while (0)

/* Puts a text into the output, cut to the room there is; site says that it is one. */
static inline __attribute__((format(printf, 3, 4))) void gs_embed_print(struct gs_ctx *c, u32 site, const char *format, ...)
{
	u64 *p = gs_begin(c, site);
	va_list args;
	int n;
	u32 room;

	va_start(args, format);
	n = vsnprintf((char *)(p + 1), GS_OUT - 24, format, args);
	va_end(args);
	n = n < 0 ? 0 : min_t(int, n, GS_OUT - 25);
	room = (n + 7) & ~7U;
	memset((char *)(p + 1) + n, 0, room - n);
	p[0] = (u64)room << 32 | (u32)n;
	gs_done(c, p + 1 + room / 8);
}

#define STAP_PRINTF(...) gs_embed_print(gs_c, GS_EMBED_SITE, __VA_ARGS__)
#define _stp_printf(...) STAP_PRINTF(__VA_ARGS__)
#define _stp_print(text) STAP_PRINTF("%s", text)

/* A warning is a record of its own. */
#define _stp_warn(...)									\
	do {										\
		gs_flush(gs_c, false);							\
		gs_embed_print(gs_c, GS_EMBED_SITE, __VA_ARGS__);			\
		gs_emit(GS_WARN, 0, gs_c->slot, gs_c->out, gs_c->len);			\
		gs_c->len = 0;								\
	} while (0)

#define gs_embed_fault(code, addr)							\
	({										\
		gs_this->gs_rc = gs_raise(gs_c, gs_this->gs_pos, code, (s64)(addr), 0);	\
		goto out;								\
	})

#define gs_embed_read(ptr, kernel)							\
	({										\
		typeof(*(ptr)) gs_v_;							\
		unsigned long gs_at_ = (unsigned long)(ptr);				\
											\
		if (!gs_fetch(gs_c, &gs_v_, gs_at_, sizeof(gs_v_), kernel))			\
			gs_embed_fault(GS_ERR_MEMORY, gs_at_);				\
		gs_v_;									\
	})

/* The value at ptr, of its type; of at most 8 bytes. */
#define kread(ptr) gs_embed_read(ptr, true)
#define uread(ptr) gs_embed_read(ptr, false)

#define gs_embed_load(size, addr, kernel)						\
	({										\
		u64 gs_v_ = 0, gs_at_ = (u64)(addr);					\
											\
		if (!gs_fetch(gs_c, &gs_v_, gs_at_, (size) < 8 ? (size) : 8, kernel))		\
			gs_embed_fault(GS_ERR_MEMORY, gs_at_);				\
		gs_v_;									\
	})

/* size (1, 2, 4, 8) bytes at addr, without a sign. */
#define kderef(size, addr) gs_embed_load(size, addr, true)
#define uderef(size, addr) gs_embed_load(size, addr, false)

static __always_inline bool gs_embed_store(struct gs_ctx *c, u32 size, u64 addr, s64 v, bool kernel)
{
	return kernel ? gs_write_kernel(addr, v, size) :
			gs_write(c, addr, &v, size);
}

#define gs_embed_write(size, addr, v, kernel)						\
	do {										\
		u64 gs_at_ = (u64)(addr);						\
											\
		if (!gs_embed_store(gs_c, size, gs_at_, (s64)(v), kernel))			\
			gs_embed_fault(GS_ERR_WRITE, gs_at_);				\
	} while (0)

#define store_kderef(size, addr, v) gs_embed_write(size, addr, v, true)
#define store_uderef(size, addr, v) gs_embed_write(size, addr, v, false)
#define kwrite(ptr, v) gs_embed_write(sizeof(*(ptr)), (unsigned long)(ptr), v, true)
#define uwrite(ptr, v) gs_embed_write(sizeof(*(ptr)), (unsigned long)(ptr), v, false)

#define gs_embed_text(dst, addr, size, kernel)						\
	do {										\
		u64 gs_at_ = (u64)(addr), gs_bad_ = gs_at_;				\
											\
		if (!gs_read_text(gs_c, dst, gs_at_, (size) - 1, kernel, &gs_bad_))		\
			gs_embed_fault(GS_ERR_MEMORY, gs_bad_);				\
	} while (0)

/* A string of at most size - 1 bytes to dst. */
#define kderef_string(dst, addr, size) gs_embed_text(dst, addr, size, true)
#define uderef_string(dst, addr, size) gs_embed_text(dst, addr, size, false)

#define gs_embed_bytes(dst, addr, size, kernel)						\
	do {										\
		u64 gs_at_ = (u64)(addr);						\
											\
		if (!gs_fetch(gs_c, dst, gs_at_, size, kernel))				\
			gs_embed_fault(GS_ERR_MEMORY, gs_at_);				\
	} while (0)

#define kderef_buffer(dst, addr, size) gs_embed_bytes(dst, addr, size, true)
#define uderef_buffer(dst, addr, size) gs_embed_bytes(dst, addr, size, false)

/* Faults leave at once, so there is nothing to catch; old scripts say it at their end. */
#define CATCH_DEREF_FAULT()

/* An operation on a global that finds its lock taken skips the hit, a full array is an error. */
#define gs_embed_global(what, glob, size)						\
	do {										\
		int gs_rc_ = (what);							\
											\
		if (unlikely(gs_rc_)) {							\
			gs_this->gs_rc = gs_rc_ == GS_BUSY ? GS_END :			\
				gs_raise(gs_c, gs_this->gs_pos, GS_ERR_MAPFULL, glob, size); \
			goto out;							\
		}									\
	} while (0)

#endif
