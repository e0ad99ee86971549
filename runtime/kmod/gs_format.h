/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * printf into a string, by the rules of the script language (# gives 0x to zero as
 * well, the 0 flag pads even with a precision, a negative width from an argument
 * counts as 0). Formats come taken apart.
 */
#ifndef GS_FORMAT_H
#define GS_FORMAT_H

#include "gs_memory.h"

struct gs_piece {
	const char *lit;	/* text, for conv 0 */
	u32 nlit;
	char conv;
	bool minus, plus, space, zero, alt, width_arg, prec_arg;
	int width, prec;	/* -1: none */
};

union gs_arg {
	s64 n;
	const char *s;
};

struct gs_buf {
	char *p;
	u32 len, cap;
};

#define GS_MAXFIELD 8192

static inline void gs_put(struct gs_buf *b, const char *s, u32 n)
{
	if (n > b->cap - b->len)
		n = b->cap - b->len;
	memcpy(b->p + b->len, s, n);
	b->len += n;
}

static inline void gs_fill(struct gs_buf *b, char ch, int n)
{
	for (; n > 0 && b->len < b->cap; n--)
		b->p[b->len++] = ch;
}

static inline int gs_field(s64 n)
{
	int i = (int)n;

	return i < 0 ? 0 : min(i, GS_MAXFIELD);
}

static inline void gs_padded(struct gs_buf *b, const struct gs_piece *p, int width, const char *s, u32 n, bool nul)
{
	if (!p->minus)
		gs_fill(b, ' ', width - (int)n);
	gs_put(b, s, n);
	if (p->minus)
		gs_fill(b, ' ', width - (int)n);
	if (nul)
		gs_fill(b, 0, 1);
}

static inline void gs_number(struct gs_buf *b, const struct gs_piece *p, s64 n, u32 base, bool sgn, int width, int prec)
{
	u64 u = n;
	char sign = 0, digits[24];
	const char *prefix = "", *set = p->conv == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
	int nd = 0, np, space;
	bool zero = p->zero && !p->minus;

	if (sgn && n < 0) {
		sign = '-';
		u = 0 - u;
	} else if (sgn && p->plus) {
		sign = '+';
	} else if (sgn && p->space) {
		sign = ' ';
	}
	if (p->alt || p->conv == 'p') {
		if (base == 8)
			prefix = "0";
		else if (base == 16)
			prefix = p->conv == 'X' ? "0X" : "0x";
	}
	do {
		digits[sizeof(digits) - ++nd] = set[u % base];
		u /= base;
	} while (u);
	np = strlen(prefix);
	if (prec < nd)
		prec = nd;
	space = width - prec - np - (sign != 0);
	if (!zero && !p->minus)
		gs_fill(b, ' ', space);
	if (sign)
		gs_put(b, &sign, 1);
	gs_put(b, prefix, np);
	if (zero)
		gs_fill(b, '0', space);
	gs_fill(b, '0', prec - nd);
	gs_put(b, digits + sizeof(digits) - nd, nd);
	if (p->minus)
		gs_fill(b, ' ', space);
}

static inline void gs_char(struct gs_buf *b, const struct gs_piece *p, int width, unsigned char ch)
{
	static const char from[] = "\a\b\f\n\r\t\v'\\", to[] = "abfnrtv'\\";
	char e[4] = { ch };
	u32 i, n = 1;

	if (p->alt && !(ch >= ' ' && ch <= '~' && ch != '\'' && ch != '\\')) {
		e[0] = '\\';
		e[1] = '0' + (ch >> 6);
		e[2] = '0' + ((ch >> 3) & 7);
		e[3] = '0' + (ch & 7);
		n = 4;
		for (i = 0; from[i]; i++) {
			if ((unsigned char)from[i] == ch) {
				e[1] = to[i];
				n = 2;
			}
		}
	}
	gs_padded(b, p, width, e, n, false);
}

static inline bool gs_is_size(int n)
{
	return n == 1 || n == 2 || n == 4 || n == 8;
}

static inline void gs_raw(struct gs_buf *b, const struct gs_piece *p, s64 n, int width, int prec)
{
	int i;

	if (!gs_is_size(prec))
		prec = -1;
	if (width < 0 && prec < 0)
		width = prec = 8;
	else if (width < 0)
		width = prec;
	else if (prec < 0)
		prec = gs_is_size(width) ? width : 8;
	if (!p->minus)
		gs_fill(b, 0, width - prec);
	for (i = 0; i < prec; i++)
		gs_fill(b, (char)(n >> (8 * i)), 1);
	if (p->minus)
		gs_fill(b, 0, width - prec);
}

/* The bytes of %m, or as hex digits those of %M. */
static inline void gs_memory(struct gs_ctx *c, struct gs_buf *b, const struct gs_piece *p, u64 addr, int width, int prec)
{
	static const char hex[] = "0123456789abcdef";
	u32 n = min_t(u32, max(prec, 1), 1024), i;
	char *tmp = (char *)c->out + c->len;	/* GS_OUT leaves room behind what waits */
	bool m = p->conv == 'M';

	if (!gs_fetch(c, tmp, addr, n, !p->alt))
		n = 0;
	if (!p->minus)
		gs_fill(b, ' ', width - (int)(m ? 2 * n : n));
	for (i = 0; i < n; i++) {
		if (m)
			gs_fill(b, hex[(unsigned char)tmp[i] >> 4], 1);
		gs_fill(b, m ? hex[tmp[i] & 15] : tmp[i], 1);
	}
	if (p->minus)
		gs_fill(b, ' ', width - (int)(m ? 2 * n : n));
	if (p->zero)
		gs_fill(b, 0, 1);
}

static inline void gs_sprint(struct gs_ctx *c, char *dst, u32 cap, const struct gs_piece *p, u32 np, const union gs_arg *a)
{
	struct gs_buf b = { c->tmp, 0, min_t(u32, cap, GS_MAXSTR - 1) };
	u32 i;

	for (i = 0; i < np; i++, p++) {
		int width = p->width, prec = p->prec;
		u32 n;

		if (!p->conv) {
			gs_put(&b, p->lit, p->nlit);
			continue;
		}
		if (p->width_arg)
			width = gs_field((a++)->n);
		if (p->prec_arg)
			prec = gs_field((a++)->n);
		switch (p->conv) {
		case 'd':
		case 'i':
			gs_number(&b, p, a->n, 10, true, width, prec);
			break;
		case 'u':
			gs_number(&b, p, a->n, 10, false, width, prec);
			break;
		case 'o':
			gs_number(&b, p, a->n, 8, false, width, prec);
			break;
		case 'x':
		case 'X':
		case 'p':
			gs_number(&b, p, a->n, 16, false, width, prec);
			break;
		case 's':
			n = strlen(a->s);
			if (prec >= 0 && (u32)prec < n)
				n = prec;
			gs_padded(&b, p, width, a->s, n, p->zero);
			break;
		case 'c':
			gs_char(&b, p, width, a->n);
			break;
		case 'b':
			gs_raw(&b, p, a->n, width, prec);
			break;
		default:
			gs_memory(c, &b, p, a->n, width, prec);
			break;
		}
		a++;
	}
	b.p[b.len] = 0;
	gs_copy(dst, cap, c->tmp);
}

#endif
