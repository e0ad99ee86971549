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

/* 8 bytes of s from i on, zeros where it has ended; 0 in front of it. */
static inline s64 gs_string_word(const char *s, s64 i)
{
	u64 len = strlen(s), w = 0;

	if ((u64)i < len)
		memcpy(&w, s + i, len - i < 8 ? len - i : 8);
	return w;
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

/* How many bytes of the n (at least one) at s are one character of UTF-8: 1 for all that is none. */
static inline u32 gs_utf8(const unsigned char *s, u32 n, u32 *character)
{
	u32 size = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2, c = s[0] & (0x7f >> size), i;

	if (s[0] < 0xc2 || s[0] > 0xf4 || size > n)
		return 1;
	for (i = 1; i < size; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 1;
		c = c << 6 | (s[i] & 0x3f);
	}
	/* Longer than it has to be, one half of a pair of UTF-16, beyond the last one. */
	if ((size == 3 && c < 0x800) || (size == 4 && c < 0x10000) || (c >= 0xd800 && c <= 0xdfff) || c > 0x10ffff)
		return 1;
	*character = c;
	return size;
}

/* The first character of n bytes as C source writes it, at most 10 bytes; used is how many bytes it has. */
static inline u32 gs_escape_next(char *dst, const char *s, u32 n, u32 *used)
{
	u32 c, digits, i;

	*used = gs_utf8((const unsigned char *)s, n, &c);
	if (*used == 1)
		return gs_escape(dst, s[0]);
	digits = c > 0xffff ? 8 : 4;
	dst[0] = '\\';
	dst[1] = c > 0xffff ? 'U' : 'u';
	for (i = 0; i < digits; i++)
		dst[2 + i] = "0123456789ABCDEF"[c >> 4 * (digits - 1 - i) & 15];
	return 2 + digits;
}

/*
 * Escapes n bytes of s into tmp, room bytes at most, whole escapes only; quoted puts
 * quotation marks around and dots behind what was cut. Gives the length.
 */
static inline u32 gs_quote_n(char *tmp, u32 size, const char *s, u32 n, int room, bool quoted)
{
	u32 len = 0, base, i, used;
	int keep = -1;
	char e[10];

	if (quoted) {
		tmp[len++] = '"';
		room -= 2;
	}
	base = len;
	for (i = 0; i < n; i += used) {
		u32 k = gs_escape_next(e, s + i, n - i, &used);
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

/* Escapes s into dst, in at most n bytes if n > 0: see text_strn. */
static inline void gs_quote(struct gs_ctx *c, char *dst, u32 cap, const char *s, s64 n, bool quoted)
{
	int room = n > 0 && n < GS_MAXSTR - 1 ? n : GS_MAXSTR - 1;

	if (quoted && room < 5)
		room = 5;
	gs_set(dst, cap, c->tmp, gs_quote_n(c->tmp, sizeof(c->tmp), s, strlen(s), room, quoted));
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
