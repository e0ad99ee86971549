/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * Regular expressions: whether a text holds a match. The automaton is that of regex.Table; a state is
 * the index of its row in next.
 */
#ifndef GS_MATCH_H
#define GS_MATCH_H

#include "gs_port.h"

struct gs_automaton {
	const u8 *class;	/* of each byte */
	const u16 *next;
	u16 start, found;	/* states above found are undecided, 0 is no match */
};

static inline s64 gs_match(const struct gs_automaton *a, const char *s)
{
	const u8 *p = (const u8 *)s;
	u32 state = a->start;

	/* The NUL decides at the latest. */
	while (state > a->found)
		state = a->next[state + a->class[*p++]];
	return state == a->found;
}

#endif
