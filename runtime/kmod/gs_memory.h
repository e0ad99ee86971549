/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * Reading memory of the current process and of the kernel. A page that is not there is an
 * error of the script, unless the handler may wait for it.
 */
#ifndef GS_MEMORY_H
#define GS_MEMORY_H

#include "gs_text.h"
#include "gs_page.h"

static inline bool gs_read(void *dst, u64 addr, u32 n, bool kernel)
{
	if (kernel)
		return copy_from_kernel_nofault(dst, (const void *)(unsigned long)addr, n) == 0;
	return copy_from_user_nofault(dst, (const void __user *)(unsigned long)addr, n) == 0;
}

/* gs_read, with what is not there brought in if that is possible. */
static inline bool gs_fetch(struct gs_ctx *c, void *dst, u64 addr, u32 n, bool kernel)
{
	if (likely(gs_read(dst, addr, n, kernel)))
		return true;
	return !kernel && gs_bring_in(c, addr, n, false) && gs_read(dst, addr, n, kernel);
}

static inline bool gs_write(struct gs_ctx *c, u64 addr, const void *src, u32 n)
{
	void __user *p = (void __user *)(unsigned long)addr;

	if (likely(copy_to_user_nofault(p, src, n) == 0))
		return true;
	return gs_bring_in(c, addr, n, true) && copy_to_user_nofault(p, src, n) == 0;
}

#ifdef __KERNEL__
/* The kernel's own function for this is not exported. */
static __always_inline bool gs_write_kernel(u64 addr, s64 v, int n)
{
	void *p = (void *)(unsigned long)addr;
	u32 bits = gs_address_bits();

	if (!gs_kernel_address(addr, bits) || !gs_kernel_address(addr + n - 1, bits))
		return false;
	switch (n) {
	case 1:
		__put_kernel_nofault(p, &v, u8, fault);
		break;
	case 2:
		__put_kernel_nofault(p, &v, u16, fault);
		break;
	case 4:
		__put_kernel_nofault(p, &v, u32, fault);
		break;
	default:
		__put_kernel_nofault(p, &v, u64, fault);
		break;
	}
	return true;
fault:
	return false;
}
#else
static inline bool gs_write_kernel(u64 addr, s64 v, int n)
{
	return gs_test_write((unsigned long)addr, &v, n) == 0;
}
#endif

#define GS_LOAD(type, kernel)							\
	({									\
		type v_ = 0;							\
		bool ok_ = gs_fetch(c, &v_, addr, sizeof(v_), kernel);		\
		if (likely(ok_))						\
			*dst = (s64)v_;						\
		ok_;								\
	})

/* Loads n bytes, sign- or zero-extended. n, sign and kernel are constants. */
static __always_inline int gs_load(struct gs_ctx *c, int pos, s64 *dst, u64 addr, int n, bool sign, bool kernel)
{
	bool ok;

	switch (n * 2 + sign) {
	case 2: ok = GS_LOAD(u8, kernel); break;
	case 3: ok = GS_LOAD(s8, kernel); break;
	case 4: ok = GS_LOAD(u16, kernel); break;
	case 5: ok = GS_LOAD(s16, kernel); break;
	case 8: ok = GS_LOAD(u32, kernel); break;
	case 9: ok = GS_LOAD(s32, kernel); break;
	default: ok = GS_LOAD(s64, kernel); break;
	}
	if (likely(ok))
		return GS_OK;
	return gs_raise(c, pos, GS_ERR_MEMORY, addr, 0);
}

/* Reads n bytes, up to 64, into the context. */
static inline int gs_block(struct gs_ctx *c, int pos, u64 addr, u32 n)
{
	if (likely(gs_fetch(c, c->block, addr, n, false)))
		return GS_OK;
	return gs_raise(c, pos, GS_ERR_MEMORY, addr, 0);
}

/* Reads what is likely to be asked for, if it is not too much and all there. n is a constant. */
static __always_inline void gs_window(struct gs_ctx *c, u64 addr, u64 n)
{
	c->near_size = 0;
	if (n > sizeof(c->near) || !gs_fetch(c, c->near, addr, n, false))
		return;
	c->near_at = addr;
	c->near_size = n;
}

/* gs_load() of a number without sign, which may be what it was when the window was read. */
static __always_inline int gs_near(struct gs_ctx *c, int pos, s64 *dst, u64 addr, u32 n)
{
	u64 at = addr - c->near_at, v = 0;

	if (at >= c->near_size || at + n > c->near_size)
		return gs_load(c, pos, dst, addr, n, false, false);
	memcpy(&v, c->near + at, n);
	*dst = v;
	return GS_OK;
}

/* Whether the bytes at addr are those of s. */
static inline int gs_is(struct gs_ctx *c, int pos, s64 *dst, u64 addr, const char *s)
{
	u32 len = strlen(s), at, n;
	char part[64];

	for (at = 0; at < len; at += n) {
		n = min_t(u32, len - at, sizeof(part));
		if (unlikely(!gs_fetch(c, part, addr + at, n, false)))
			return gs_raise(c, pos, GS_ERR_MEMORY, addr, 0);
		if (memcmp(part, s + at, n)) {
			*dst = 0;
			return GS_OK;
		}
	}
	*dst = 1;
	return GS_OK;
}

/* Writes n bytes, 1, 2, 4 or 8. */
static __always_inline int gs_store(struct gs_ctx *c, int pos, u64 addr, s64 v, int n, bool kernel)
{
	bool ok = kernel ? gs_write_kernel(addr, v, n) :
			   gs_write(c, addr, &v, n);

	if (likely(ok))
		return GS_OK;
	return gs_raise(c, pos, GS_ERR_WRITE, addr, 0);
}

/*
 * Reads a string of at most max bytes: in pieces that cross no page, byte by byte where
 * a piece cannot be read. Gives the address that could not be read in *bad.
 */
static inline bool gs_read_text(struct gs_ctx *c, char *dst, u64 addr, u32 max, bool kernel, u64 *bad)
{
	u32 len = 0, step = 64;

	while (len < max) {
		u64 at = addr + len;
		u32 n = min_t(u32, min_t(u32, step, max - len), 4096 - (at & 4095)), k;

		if (!gs_fetch(c, dst + len, at, n, kernel)) {
			if (n == 1) {
				*bad = at;
				return false;
			}
			step = 1;
			continue;
		}
		k = strnlen(dst + len, n);
		len += k;
		if (k < n)
			break;
	}
	dst[len] = 0;
	return true;
}

/* user_line(): n bytes with ch in place of each NUL, without one at the end. */
static inline int gs_line(struct gs_ctx *c, int pos, char *dst, u32 cap, u64 addr, s64 n, s64 ch)
{
	u32 max = min_t(u32, cap, GS_MAXSTR - 1), len = 0, i;

	if (n > 0 && n < (s64)max)
		max = n;
	while (n > 0 && len < max) {
		u64 at = addr + len;
		u32 k = min_t(u32, max - len, 4096 - (at & 4095));

		if (!gs_fetch(c, c->tmp + len, at, k, false))
			return gs_raise(c, pos, GS_ERR_MEMORY, addr, 0);
		len += k;
	}
	if (len > 0 && (s64)len == n && c->tmp[len - 1] == 0)
		len--;
	for (i = 0; i < len; i++)
		if (c->tmp[i] == 0)
			c->tmp[i] = (char)ch ? (char)ch : ' ';
	gs_set(dst, cap, c->tmp, len);
	return GS_OK;
}

/*
 * Reads n bytes for user_text() and kernel_text(), all up to a NUL for n < 0, max at most; cstr ends them at a NUL in any
 * case. Gives how many there are, -1 if they cannot be read. dst has room for a NUL behind them.
 */
static inline int gs_read_quoted(struct gs_ctx *c, char *dst, u32 max, u64 addr, s64 n, bool cstr, bool kernel)
{
	u32 len = 0;
	u64 bad;

	if (n >= 0 && n < (s64)max)
		max = n;
	dst[0] = 0;
	if (!n || (n < 0 && !cstr))
		return 0;
	if (cstr)
		return gs_read_text(c, dst, addr, max, kernel, &bad) ? (int)strnlen(dst, max) : -1;
	while (len < max) {
		u64 at = addr + len;
		u32 k = min_t(u32, max - len, 4096 - (at & 4095));

		if (!gs_fetch(c, dst + len, at, k, kernel))
			return -1;
		len += k;
	}
	dst[len] = 0;
	return len;
}

/* user_text() and kernel_text(). */
static inline void gs_quoted(struct gs_ctx *c, char *dst, u32 cap, u64 addr, s64 n, bool cstr, bool kernel)
{
	int len = gs_read_quoted(c, dst, min_t(u32, cap, GS_MAXSTR - 1), addr, n, cstr, kernel);

	if (len >= 0)
		gs_set(dst, cap, c->tmp, gs_quote_n(c->tmp, sizeof(c->tmp), dst, len, GS_MAXSTR - 1, true));
	else if (cstr && !addr)
		gs_copy(dst, cap, "NULL");
	else
		scnprintf(dst, cap + 1, "0x%llx", (unsigned long long)addr);
}

/* The same for a record: the host puts the quotes and escapes. */
static inline u64 *gs_put_quoted(struct gs_ctx *c, u64 *p, u64 addr, s64 n, bool cstr, bool kernel)
{
	int len = gs_read_quoted(c, (char *)(p + 1), GS_MAXSTR - 1, addr, n, cstr, kernel);

	if (len < 0) {
		p[0] = 8ULL << 32 | 0x40000008;
		p[1] = addr;
		return p + 2;
	}
	p[0] = (u64)((len + 7) & ~7) << 32 | len;
	return p + 1 + (len + 7) / 8;
}

/* user_string() and its kin: n bytes at most, -1 for no such limit. alt stands in for what cannot be read. */
static inline int gs_string(struct gs_ctx *c, int pos, char *dst, u32 cap, u64 addr, s64 n, bool kernel, const char *alt)
{
	u32 max = GS_MAXSTR - 1;
	u64 bad = addr;

	if (n >= 0 && n < (s64)max)
		max = n;
	if (gs_read_text(c, c->tmp, addr, max, kernel, &bad)) {
		gs_copy(dst, cap, c->tmp);
		return GS_OK;
	}
	if (alt) {
		gs_copy(dst, cap, alt);
		return GS_OK;
	}
	return gs_raise(c, pos, GS_ERR_MEMORY, bad, 0);
}

#endif
