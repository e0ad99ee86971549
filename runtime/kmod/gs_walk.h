/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * The walk along the stack of a program by tables of its files (package rows), where frame pointers are not certain. What is mapped at an
 * address the kernel itself tells, so that a table is never taken for that of another file; where it cannot, or nothing is known of the
 * code, the stack is cut. The rules are those of the walk with eBPF (sel/output/walk.go).
 */
#ifndef GS_WALK_H
#define GS_WALK_H

#include "gs_keep.h"
#include "gs_memory.h"

/* cfi.PackedKind */
enum {
	GS_PACK_UNKNOWN, GS_PACK_SP, GS_PACK_FP, GS_PACK_LINKAGE, GS_PACK_LOAD, GS_PACK_SIGNAL, GS_PACK_OUTERMOST, GS_PACK_SWITCH,
	GS_PACK_INTERRUPTED
};

#define GS_WALK_FILES 256
#define GS_WALK_INTERRUPTED (1ULL << 63)	/* backend.Interrupted */
#define GS_WALK_BUSY 64

/* A file: what the kernel tells it by, where its code begins and ends in it, and what is to be added there for the addresses of rows. */
struct gs_code {
	u64 ino, dev, size, time;
	u64 begin, end, add;
	const u64 *rows;
	u64 many;
};

static struct gs_code gs_codes[GS_WALK_FILES];
static u32 gs_ncodes;

struct gs_walk {
	u64 pc, sp, fp;
	u64 from, to;			/* frames with another stack pointer do not count */
	u64 low, high, bias;		/* the code that was met last, and what is to be subtracted from addresses in it */
	const struct gs_code *code;
	bool exact;			/* the pc was interrupted, and no call returns to it */
	void *rets;			/* the kernel's return probes that were not met yet */
};

/* The rule of the code at an address that rows have. */
static inline bool gs_walk_rule(const struct gs_code *f, u64 at, u32 *rule)
{
	u64 key = at << 32 | 0xffffffff, lo = 0, hi = f->many;

	if (at >> 31)
		return false;
	while (lo < hi) {
		u64 mid = lo + (hi - lo) / 2;

		if (f->rows[mid] <= key)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return false;
	*rule = (u32)f->rows[lo - 1];
	return true;
}

static bool gs_walk_mapped(struct gs_walk *w, u64 x);
static void gs_walk_return(struct gs_walk *w, u64 at, u64 *ra);

static inline bool gs_walk_word(u64 *v, u64 addr)
{
	return gs_read(v, addr, 8, false);
}

/* Finds the return address below the CFA, which has to be above the stack pointer: stacks grow down. */
static inline bool gs_walk_above(struct gs_walk *w, u64 cfa, u64 *ra)
{
	if (cfa <= w->sp || !gs_walk_word(ra, cfa - 8))
		return false;
	gs_walk_return(w, cfa - 8, ra);
	return true;
}

/* Goes to the caller: 1, 0 if there is none, -1 if it is not known. */
static inline int gs_walk_step(struct gs_walk *w, u64 *item)
{
	u64 x = w->pc - !w->exact, cfa, ra, word;
	u32 rule, kind, saved;
	s64 off;

	if (!gs_walk_mapped(w, x) || !gs_walk_rule(w->code, x - w->bias, &rule))
		return -1;
	kind = rule & 15;
	off = (s64)((s32)(rule << 13) >> 17) * 8;
	saved = rule >> 19;
	switch (kind) {
	case GS_PACK_OUTERMOST:
		return 0;
	case GS_PACK_SP:
	case GS_PACK_INTERRUPTED:
		cfa = w->sp + off;
		break;
	case GS_PACK_FP:
		cfa = w->fp + off;
		break;
	case GS_PACK_LINKAGE:
		cfa = w->sp + 8 + ((w->pc & 15) >= (u64)(off / 8) ? 8 : 0);
		break;
	case GS_PACK_LOAD:
		if (!gs_walk_word(&cfa, w->fp + off) || !gs_walk_above(w, cfa, &ra) || !gs_walk_word(&word, w->fp))
			return -1;
		w->pc = ra;
		w->fp = word;
		saved = 0;
		goto next;
	case GS_PACK_SWITCH: /* another stack need not be above this one */
		if (!gs_walk_word(&ra, w->fp + 8) || !gs_walk_word(&word, w->fp))
			return -1;
		cfa = w->fp + 16;
		w->pc = ra;
		w->fp = word;
		goto next;
	case GS_PACK_SIGNAL:
		if (item)
			*item |= GS_WALK_INTERRUPTED; /* nothing calls it */
		if (!gs_walk_word(&ra, w->sp + GS_SIGFRAME_IP) || !gs_walk_word(&word, w->sp + GS_SIGFRAME_FP) ||
		    !gs_walk_word(&cfa, w->sp + GS_SIGFRAME_SP))
			return -1;
		w->pc = ra;
		w->fp = word;
		w->sp = cfa;
		w->exact = true;
		return w->pc >> 56 ? -1 : 1;
	default:
		return -1;
	}
	if (!gs_walk_above(w, cfa, &ra))
		return -1;
	w->pc = ra;
	if (saved == 1)
		w->fp = 0;
	else if (saved && !gs_walk_word(&w->fp, cfa - 8 * (u64)saved))
		return -1;
next:
	w->sp = cfa;
	w->exact = kind == GS_PACK_INTERRUPTED;
	if (!w->pc)
		return 0;
	return w->pc >> 56 ? -1 : 1;
}

/* Stores the addresses of a stack, at most room, as a kept one, and gives how many there are. */
static noinline __maybe_unused u32 gs_walk(struct gs_walk *w, u64 *list, u32 room, bool *cut)
{
	u32 n = 0, turn;
	int more = 1;

	*cut = false;
	for (turn = 0; turn < room + 64 && more > 0; turn++) {
		u64 *item = NULL;

		if (w->sp >= w->from && w->sp <= w->to) {
			if (n == room) {
				*cut = true;
				return n;
			}
			item = &list[n];
			list[n] = w->pc | (n && w->exact ? GS_WALK_INTERRUPTED : 0);
			n++;
		}
		more = gs_walk_step(w, n > 1 ? item : NULL);
	}
	*cut = more != 0;
	return n;
}

#ifdef __KERNEL__
#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/uprobes.h>
#include <linux/version.h>

static inline u64 gs_walk_written(struct inode *inode)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0)
	return inode_get_mtime(inode).tv_sec;
#else
	return inode->i_mtime.tv_sec;
#endif
}

/* Finds the code that x is in, which is often that of the frame before. */
static bool gs_walk_mapped(struct gs_walk *w, u64 x)
{
	struct mm_struct *mm = current->mm;
	struct vm_area_struct *vma;
	u32 i, n = smp_load_acquire(&gs_ncodes);

	if (x >= w->low && x < w->high)
		return true;
	if (!mm)
		return false;
	for (i = 0; !mmap_read_trylock(mm); i++) {
		if (i == GS_WALK_BUSY)
			return false;
		cpu_relax();
	}
	w->low = w->high = 0;
	vma = find_vma(mm, x);
	if (vma && vma->vm_start <= x && vma->vm_file) {
		struct inode *inode = file_inode(vma->vm_file);
		u64 off = (u64)vma->vm_pgoff << PAGE_SHIFT;

		for (i = 0; i < n; i++) {
			const struct gs_code *f = &gs_codes[i];

			if (f->ino != inode->i_ino || f->dev != inode->i_sb->s_dev || f->size != (u64)i_size_read(inode) ||
			    f->time != gs_walk_written(inode) || off < f->begin || off >= f->end)
				continue;
			w->code = f;
			w->low = vma->vm_start;
			w->high = vma->vm_end;
			w->bias = vma->vm_start - off - f->add;
			break;
		}
	}
	mmap_read_unlock(mm);
	return x >= w->low && x < w->high;
}

/* Puts the program's own address in place of one of the kernel's return probes, whose list goes from the newest to the oldest. */
static void gs_walk_return(struct gs_walk *w, u64 at, u64 *ra)
{
#ifdef CONFIG_UPROBES
	struct return_instance *ri = w->rets;
	u32 i;

	for (i = 0; ri && ri->stack <= at && i < 64; i++) {
		if (ri->stack == at)
			*ra = ri->orig_ret_vaddr;
		ri = READ_ONCE(ri->next);
	}
	w->rets = ri;
#endif
}

/* The number of a stack that is walked from registers of the program on, or from others if sp is not 0. */
static inline int gs_walk_kept(struct gs_ctx *c, int pos, s64 *dst, struct pt_regs *regs, u64 pc, u64 sp, u64 fp, u64 from, u64 to, u64 below)
{
	struct gs_walk w = { .from = from, .to = to, .exact = true };
	u64 *key = c->kept;
	bool cut;
	u32 n;

	*dst = 0;
	if (!regs || !user_mode(regs))
		return GS_OK;
	w.pc = sp ? pc : GS_IP(regs);
	w.fp = sp ? fp : GS_FP(regs);
	w.sp = sp ? sp : GS_SP(regs);
#ifdef CONFIG_UPROBES
	if (current->utask)
		w.rets = READ_ONCE(current->utask->return_instances);
#endif
	n = gs_walk(&w, key + 2, below ? GS_KEEP - 1 : GS_KEEP, &cut);
	if (!n && to != ~0ULL)	/* a goroutine has a stack: the walk was cut before it came there */
		cut = true;
	key[1] = (u32)gs_tgid() | 1ULL << 32 | 2ULL << 32;	/* backend.StackUser, StackWalked */
	if (cut)
		key[1] |= 4ULL << 32;	/* backend.StackCut */
	if (below && (n || cut)) {
		key[1] |= 8ULL << 32;	/* backend.StackCreated */
		key[2 + n++] = below;
	}
	key[0] = (u64)GS_KEEP << 32 | n;
	return gs_keep(c, pos, dst);
}

/* Takes the table of a file. */
static int gs_walk_file(u64 key, u32 nkey, u64 val, u32 nval)
{
	struct gs_code *f = &gs_codes[gs_ncodes];
	u64 *rows;

	if (gs_ncodes == GS_WALK_FILES)
		return -ENOSPC;
	if (nkey != offsetof(struct gs_code, rows) || nval % 8)
		return -EINVAL;
	rows = vmalloc(nval);
	if (!rows)
		return -ENOMEM;
	if (copy_from_user(f, (void __user *)(unsigned long)key, nkey) || copy_from_user(rows, (void __user *)(unsigned long)val, nval)) {
		vfree(rows);
		return -EFAULT;
	}
	f->rows = rows;
	f->many = nval / 8;
	smp_store_release(&gs_ncodes, gs_ncodes + 1);
	return 0;
}

static void gs_walk_free(void)
{
	u32 i;

	for (i = 0; i < gs_ncodes; i++)
		vfree(gs_codes[i].rows);
}
#endif

#endif
