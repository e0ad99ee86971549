/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * What the runtime stands on: in the kernel its headers, in user space (unit
 * tests, sanitizers) gs_user.h, which gives the same few names.
 *
 * A generated module defines before including:
 *   GS_MAXSTR      bytes of a string with its NUL (MAXSTRINGLEN)
 *   GS_LOCKS       number of lock classes
 *   GS_TRIES, GS_DELAY      MAXTRYLOCK, TRYLOCKDELAY in microseconds
 *   GS_MAXACTION, GS_MAXNESTING, GS_MAXERRORS
 *   GS_LEVELS      1 when only user-space probes run handlers (nothing interrupts a
 *                  handler but other tasks), else 3: tasks, soft and hard interrupts
 *   GS_STACK       bytes for the strings of handlers and functions
 *   GS_KEYS        bytes of the longest array key
 *   GS_AGG         bytes of the largest aggregate that handlers read
 *   GS_FAMILY      when a site is for the target and what it forks
 *   GS_SPARES      contexts beside those of the CPUs, for handlers that wait for a page
 *   GS_OUT         bytes of one print statement's arguments, at most
 *   GS_SNAPS       snapshots that one handler makes (gs_snap.h), if any do
 *   GS_KEEP        addresses of the stacks that are kept (gs_keep.h), if any are
 */
#ifndef GS_PORT_H
#define GS_PORT_H

#ifdef __KERNEL__
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/init.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>
#include <linux/cred.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/percpu.h>
#include <linux/smp.h>
#include <linux/preempt.h>
#include <linux/hardirq.h>
#include <linux/irqflags.h>
#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include <linux/slab.h>
#include <linux/mm.h>
#include <linux/uaccess.h>
#include <linux/ktime.h>
#include <linux/timekeeping.h>
#include <linux/sched/clock.h>
#include <linux/jiffies.h>
#include <linux/random.h>
#include <linux/ptrace.h>
#include <linux/stacktrace.h>
#include <linux/rcupdate.h>
#include <linux/version.h>
#define gs_thread() (current->pid)
#define gs_zalloc(n) vzalloc(n)
#define gs_free(p) vfree(p)
#if GS_LEVELS > 1
#define gs_irq_save(f) local_irq_save(f)
#define gs_irq_restore(f) local_irq_restore(f)
#else
#define gs_irq_save(f) ((f) = 0)
#define gs_irq_restore(f) ((void)(f))
#endif
#else
#include "gs_user.h"
#endif

#include "gs_machine.h"

#endif
