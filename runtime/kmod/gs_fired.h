/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * Which handlers ran, for what is said at the end about probe points that never fired. Where nobody is told, all
 * that a hit meets is an instruction that does nothing.
 */
#ifndef GS_FIRED_H
#define GS_FIRED_H

#ifdef __KERNEL__
#include <linux/jump_label.h>
#include <linux/uaccess.h>

/* GS_PROBES is the number of the script's probes. */
static DEFINE_STATIC_KEY_FALSE(gs_asked);
static u8 gs_ran[GS_PROBES];

static __always_inline void gs_fired(u32 probe)
{
	if (static_branch_unlikely(&gs_asked) && !READ_ONCE(gs_ran[probe]))
		WRITE_ONCE(gs_ran[probe], 1);
}

/*
 * Without room for an answer: handlers are to take note from now on. Else a byte for each probe, 1 if its handler
 * ran.
 */
static __maybe_unused int gs_tell_fired(void __user *to, u32 n)
{
	if (!n) {
		static_branch_enable(&gs_asked);
		return 0;
	}
	if (n != sizeof(gs_ran))
		return -EINVAL;
	return copy_to_user(to, gs_ran, n) ? -EFAULT : 0;
}
#else
#define gs_fired(probe) do { } while (0)
#endif

#endif
