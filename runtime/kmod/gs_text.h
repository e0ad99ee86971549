/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * Strings: bytes up to a NUL, at most cap of them, in room for cap + 1. Whatever
 * is written is cut to cap. A destination is either the same string as a source or
 * does not overlap it.
 */
#ifndef GS_TEXT_H
#define GS_TEXT_H

#include "gs_core.h"

/*
 * The length of a string, max at most. The compiler does not see which string: it would find that max is
 * more than the room, which is right, as there is a NUL before.
 */
static __always_inline u32 gs_len(const char *s, u32 max)
{
	__asm__("" : "+r" (s));
	return strnlen(s, max);
}

static inline void gs_set(char *dst, u32 cap, const char *s, u32 n)
{
	if (n > cap)
		n = cap;
	memmove(dst, s, n);
	dst[n] = 0;
}

static inline void gs_copy(char *dst, u32 cap, const char *s)
{
	gs_set(dst, cap, s, gs_len(s, cap));
}

/* An entry of a table of n texts. */
static inline void gs_entry(char *dst, u32 cap, const char *const *table, u32 n, s64 i)
{
	gs_copy(dst, cap, (u64)i < n ? table[i] : "");
}

static inline void gs_cat(char *dst, u32 cap, const char *a, const char *b)
{
	u32 la = gs_len(a, cap), lb = gs_len(b, cap - la);

	memmove(dst + la, b, lb);
	memmove(dst, a, la);
	dst[la + lb] = 0;
}

/* Sets what a reader gets, or adds to it, up to the room there is. */
static inline void gs_reply(struct gs_value *v, const char *s, bool add)
{
	u32 n;

	if (!add)
		v->len = 0;
	n = gs_len(s, v->room - v->len);
	memcpy(v->text + v->len, s, n);
	v->len += n;
}

static inline s64 gs_scmp(const char *a, const char *b)
{
	int r = strcmp(a, b);

	return (r > 0) - (r < 0);
}

/* Raises an error whose argument is a text. */
static inline int gs_throw(struct gs_ctx *c, int pos, int code, const char *text)
{
	c->err.code = code;
	c->err.pos = pos;
	gs_copy(c->err.text, GS_MAXSTR - 1, text);
	return GS_ERROR;
}

static inline void gs_substr(char *dst, u32 cap, const char *s, s64 start, s64 n)
{
	s64 len = strlen(s);

	if (start < 0 || start >= len || n <= 0) {
		dst[0] = 0;
		return;
	}
	if (n > len - start)
		n = len - start;
	gs_set(dst, cap, s + start, n > cap ? cap : n);
}

static inline int gs_stringat(struct gs_ctx *c, int pos, s64 *dst, const char *s, s64 i)
{
	if (i < 0 || i >= (s64)strlen(s))
		return gs_throw(c, pos, GS_ERR_ARGUMENT, "string index out of range");
	*dst = (unsigned char)s[i];
	return GS_OK;
}

static inline s64 gs_strpos(const char *s, const char *t)
{
	const char *p = strstr(s, t);

	return p ? p - s : -1;
}

static inline u64 gs_digit(char ch)
{
	if (ch >= '0' && ch <= '9')
		return ch - '0';
	ch |= 0x20;
	if (ch >= 'a' && ch <= 'z')
		return ch - 'a' + 10;
	return 1ULL << 62;
}

/* As the kernel's simple_strtol, wrapping. */
static inline s64 gs_strtol(const char *s, s64 base)
{
	u64 n = 0;
	bool neg = *s == '-', hex;

	if (neg)
		s++;
	hex = s[0] == '0' && (s[1] | 0x20) == 'x' && gs_digit(s[2]) < 16;
	if (hex && (base == 0 || base == 16)) {
		base = 16;
		s += 2;
	} else if (base == 0) {
		base = *s == '0' ? 8 : 10;
	}
	for (; *s; s++) {
		u64 d = gs_digit(*s);

		if ((s64)d >= base)
			break;
		n = n * (u64)base + d;
	}
	return (s64)(neg ? 0 - n : n);
}

static inline void gs_replace(struct gs_ctx *c, char *dst, u32 cap, const char *s, const char *from, const char *to)
{
	u32 n = 0, lf = strlen(from), lt = strlen(to);

	if (!lf) {
		gs_copy(dst, cap, s);
		return;
	}
	while (*s && n < GS_MAXSTR - 1) {
		if (strncmp(s, from, lf) == 0) {
			u32 k = min_t(u32, lt, GS_MAXSTR - 1 - n);

			memcpy(c->tmp + n, to, k);
			n += k;
			s += lf;
		} else {
			c->tmp[n++] = *s++;
		}
	}
	gs_set(dst, cap, c->tmp, n);
}

static inline void gs_case(char *dst, u32 cap, const char *s, char from, char to, int by)
{
	u32 i;

	gs_copy(dst, cap, s);
	for (i = 0; dst[i]; i++)
		if (dst[i] >= from && dst[i] <= to)
			dst[i] += by;
}

/* One byte as C source writes it; gives the number of bytes, at most 4. */
static inline u32 gs_escape(char *dst, unsigned char ch)
{
	static const char from[] = "\a\b\f\n\r\t\v\"\\", to[] = "abfnrtv\"\\";
	u32 i;

	if (ch >= ' ' && ch <= '~' && ch != '"' && ch != '\\') {
		dst[0] = ch;
		return 1;
	}
	dst[0] = '\\';
	for (i = 0; from[i]; i++) {
		if ((unsigned char)from[i] == ch) {
			dst[1] = to[i];
			return 2;
		}
	}
	dst[1] = '0' + (ch >> 6);
	dst[2] = '0' + ((ch >> 3) & 7);
	dst[3] = '0' + (ch & 7);
	return 4;
}

/*
 * Escapes n bytes of s into tmp, room bytes at most, whole escapes only; quoted puts
 * quotation marks around and dots behind what was cut. Gives the length.
 */
static inline u32 gs_quote_n(char *tmp, u32 size, const char *s, u32 n, int room, bool quoted)
{
	u32 len = 0, base, i;
	int keep = -1;
	char e[4];

	if (quoted) {
		tmp[len++] = '"';
		room -= 2;
	}
	base = len;
	for (i = 0; i < n; i++) {
		u32 k = gs_escape(e, s[i]);
		int now = (int)(len + k - base);

		if (quoted && now > room - 3 && keep < 0)
			keep = len;
		if (now > room) {
			if (!quoted)
				return len;
			len = keep;
			memcpy(tmp + len, "\"...", 4);
			return len + 4;
		}
		if (len + k + 5 > size)
			return len;
		memcpy(tmp + len, e, k);
		len += k;
	}
	if (quoted)
		tmp[len++] = '"';
	return len;
}

/* Escapes s into dst; n > 0 takes that many bytes of it at most, with dots behind the closing mark. */
static inline void gs_quote(struct gs_ctx *c, char *dst, u32 cap, const char *s, s64 n, bool quoted)
{
	const u32 size = sizeof(c->tmp);
	const int room = GS_MAXSTR - 1;
	u32 len = strlen(s), k;
	bool cut = n > 0 && n < (s64)len;

	if (cut)
		len = n;
	if (!cut || !quoted) {
		k = gs_quote_n(c->tmp, size, s, len, room, quoted);
	} else {
		k = gs_quote_n(c->tmp, size, s, len, room - 3, true);
		if (k >= 4 && memcmp(c->tmp + k - 4, "\"...", 4) == 0) {
			k = gs_quote_n(c->tmp, size, s, len, room, true);
		} else {
			memcpy(c->tmp + k, "...", 3);
			k += 3;
		}
	}
	gs_set(dst, cap, c->tmp, min_t(u32, k, room));
}

/* The text of an error, as catch (msg) gives it. */
static inline void gs_message(struct gs_ctx *c, char *dst, u32 cap, const struct gs_err *e)
{
	char *t = c->tmp;
	const u32 n = sizeof(c->tmp);

	switch (e->code) {
	case GS_ERR_USER:
	case GS_ERR_ARGUMENT:
		gs_copy(dst, cap, e->text);
		return;
	case GS_ERR_DIVZERO:
		gs_copy(dst, cap, "division by 0");
		return;
	case GS_ERR_MAPFULL:
		if (e->arg[1])
			scnprintf(t, n, "Array overflow, check size limit (%lld)", (long long)e->arg[1]);
		else
			scnprintf(t, n, "Array overflow, check MAXMAPENTRIES");
		break;
	case GS_ERR_MEMORY:
		scnprintf(t, n, "read fault at 0x%016llx", (unsigned long long)e->arg[0]);
		break;
	case GS_ERR_WRITE:
		scnprintf(t, n, "write fault at 0x%016llx", (unsigned long long)e->arg[0]);
		break;
	case GS_ERR_EMPTYSTAT:
		gs_copy(dst, cap, "empty aggregate");
		return;
	case GS_ERR_MAXACTION:
		gs_copy(dst, cap, "MAXACTION exceeded");
		return;
	case GS_ERR_MAXNESTING:
		gs_copy(dst, cap, "MAXNESTING exceeded");
		return;
	case GS_ERR_EXHAUSTED:
		gs_copy(dst, cap, "all functions exhausted");
		return;
	case GS_ERR_INDEXRANGE:
		scnprintf(t, n, "index %lld is out of range, length %lld", (long long)e->arg[0], (long long)e->arg[1]);
		break;
	case GS_ERR_SCRATCH:
		gs_copy(dst, cap, "no scratch memory left: too many handlers interrupted each other");
		return;
	default:
		gs_copy(dst, cap, "a value does not have the form that was checked at build time");
		return;
	}
	gs_copy(dst, cap, t);
}

#endif
