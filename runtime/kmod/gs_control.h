/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * The control file, /proc/gostap.NAME. One process may have it open; when that closes
 * it, by intention or by being killed, the probes are removed and nothing of
 * the module runs any more, so that it can be unloaded at once.
 *
 *	mmap	the output buffers
 *	poll	waits for a record or the end of the session
 *	ioctl	GS_IOC with a struct gs_op
 */
#ifndef GS_CONTROL_H
#define GS_CONTROL_H

#include <linux/proc_fs.h>
#include <linux/poll.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/path.h>
#include <linux/mutex.h>
#include <linux/uaccess.h>
#include "gs_ring.h"
#include "gs_access.h"
#include "gs_fired.h"

#define GS_VERSION 6

#define GS_IOC _IOWR('g', 0x57, struct gs_op)

/* Made by the code generator. */
static struct inode *gs_inodes[];
static void (*const gs_calls[])(struct gs_hit *);
static int gs_attach(s64 *site);
static int gs_left(struct gs_op *op);
static void gs_detach(void);
static int gs_memory_init(void);
static void gs_memory_free(void);

static struct proc_dir_entry *gs_proc;
static DEFINE_MUTEX(gs_mutex);
/*
 * Where the traced files are. An inode alone does not keep its file system: unmounting one whose inodes are held panics the
 * kernel, while one that is held by a path is busy.
 */
static struct path gs_paths[GS_NFILES + 1];
static bool gs_opened, gs_attached;
static u32 gs_nleft;		/* places that the kernel refused, of such as may be left out */

static void gs_let_go(void)
{
	u32 i;

	gs_stop(GS_STOPPING);
	if (gs_attached)
		gs_detach();
	gs_family_off();
	gs_attached = false;
	gs_pidns_put();
	for (i = 0; i < GS_NFILES; i++) {
		if (!gs_inodes[i])
			continue;
		iput(gs_inodes[i]);
		gs_inodes[i] = NULL;
		path_put(&gs_paths[i]);
	}
}

static int gs_open(struct inode *inode, struct file *file)
{
	int err = 0;

	mutex_lock(&gs_mutex);
	if (gs_opened) {
		err = -EBUSY;
	} else if (!try_module_get(THIS_MODULE)) { /* nobody may unload what a session waits in (gs_readers) */
		err = -ENODEV;
	} else {
		gs_pidns_get();
		gs_tracer = task_tgid_vnr(current);
		WRITE_ONCE(gs_own, current->tgid);
		gs_opened = true;
	}
	mutex_unlock(&gs_mutex);
	return err;
}

static int gs_close(struct inode *inode, struct file *file)
{
	mutex_lock(&gs_mutex);
	gs_let_go();
	mutex_unlock(&gs_mutex);
	module_put(THIS_MODULE);	/* proc_remove() waits until this has returned */
	return 0;
}

static int gs_mmap(struct file *file, struct vm_area_struct *vma)
{
	return remap_vmalloc_range(vma, gs_ring, vma->vm_pgoff);
}

static bool gs_ready(void)
{
	u32 i;

	if (READ_ONCE(gs_state) >= GS_STOPPING)
		return true;
	for (i = 0; i < nr_cpu_ids; i++) {
		struct gs_ring_head *h = gs_ring_of(i);

		if (READ_ONCE(h->prod) != READ_ONCE(h->cons))
			return true;
	}
	return false;
}

static __poll_t gs_poll(struct file *file, struct poll_table_struct *wait)
{
	poll_wait(file, &gs_readers, wait);
	WRITE_ONCE(gs_sleeping, 1);
	smp_mb();
	return gs_ready() ? EPOLLIN | EPOLLRDNORM : 0;
}

static int gs_set_file(struct gs_op *op)
{
	struct file *f;

	if (op->glob >= GS_NFILES || gs_inodes[op->glob])
		return -EINVAL;
	f = fget(op->n);
	if (!f)
		return -EBADF;
	gs_inodes[op->glob] = igrab(d_real_inode(f->f_path.dentry));
	if (gs_inodes[op->glob]) {
		gs_paths[op->glob] = f->f_path;
		path_get(&gs_paths[op->glob]);
	}
	fput(f);
	return gs_inodes[op->glob] ? 0 : -EBADF;
}

static int gs_set_target(struct gs_op *op)
{
	struct task_struct *t;
	int tgid = 0;

	rcu_read_lock();
	t = pid_task(find_vpid(op->n), PIDTYPE_PID);
	if (t) {
		WRITE_ONCE(gs_target, task_tgid_nr_ns(t, task_active_pid_ns(current)));
		tgid = t->tgid;
	}
	rcu_read_unlock();
	if (!tgid)
		return -ESRCH;
	gs_family_target(tgid);
	return 0;
}

static int gs_counters(struct gs_op *op)
{
	u64 sum[GS_CAUSES + 4] = { 0 };
	u32 i;
	int cpu;

	for_each_possible_cpu(cpu)
		for (i = 0; i < GS_CAUSES; i++)
			sum[i] += READ_ONCE(per_cpu(gs_cpus, cpu).causes[i]);
	sum[GS_CAUSES] = atomic_read(&gs_errors);
#ifdef GS_GUARD_H
	sum[GS_CAUSES + 1] = READ_ONCE(gs_overload.probe);
	sum[GS_CAUSES + 2] = gs_overload.spent;
	sum[GS_CAUSES + 3] = gs_overload.of;
#endif
	if (op->nval != sizeof(sum))
		return -EINVAL;
	return copy_to_user((void __user *)(unsigned long)op->val, sum, sizeof(sum)) ? -EFAULT : 0;
}

/* Runs a handler that the host asks for. */
static int gs_run(struct gs_op *op)
{
	struct gs_hit hit = { .regs = task_pt_regs(current), .site = op->n };

	if (op->glob >= GS_NCALLS)
		return -EINVAL;
	gs_calls[op->glob](&hit);
	return 0;
}

/* Reads kernel memory for a handler that the host runs. */
static int gs_peek(struct gs_op *op)
{
	char buf[256];
	u32 at, n;

	for (at = 0; at < op->nval; at += n) {
		n = min_t(u32, op->nval - at, sizeof(buf));
		if (copy_from_kernel_nofault(buf, (const void *)((unsigned long)op->n + at), n) ||
		    copy_to_user((void __user *)(unsigned long)op->val + at, buf, n))
			return -EFAULT;
	}
	return 0;
}

static int gs_control(struct gs_op *op)
{
	u64 info[2] = { nr_cpu_ids, gs_ring_size };
	int err;

	switch (op->op) {
	case GS_OP_INFO:
		op->n = GS_VERSION;
		return copy_to_user((void __user *)(unsigned long)op->val, info, sizeof(info)) ? -EFAULT : 0;
	case GS_OP_STATE:
		if (op->n > GS_FAILED || op->n < 0)
			return -EINVAL;
		gs_stop(op->n);
		op->n = READ_ONCE(gs_state);
		return 0;
	case GS_OP_TARGET:
		return gs_set_target(op);
	case GS_OP_FILE:
		return gs_set_file(op);
	case GS_OP_ATTACH:
		if (gs_attached)
			return -EBUSY;
		gs_nleft = 0;
		op->n = -1;
		gs_hold();
		err = gs_family_on();
		if (!err)
			err = gs_attach(&op->n);
		gs_go_on();
		if (err)
			gs_family_off();
		gs_attached = err == 0;
		if (!err)
			op->n = gs_nleft;
		return err;
	case GS_OP_LEFT:
		return gs_attached ? gs_left(op) : -EINVAL;
	case GS_OP_DETACH:
		if (gs_attached)
			gs_detach();
		gs_family_off();
		gs_attached = false;
		return 0;
	case GS_OP_COUNTERS:
		return gs_counters(op);
	case GS_OP_RUN:
		return gs_run(op);
	case GS_OP_PEEK:
		return gs_peek(op);
	case GS_OP_TASK: /* n says which: the current task, or the ticks */
		op->n = op->n ? (s64)get_jiffies_64() : (s64)(unsigned long)current;
		return 0;
#ifdef GS_KEEP
	case GS_OP_STACK: {
		const u64 *stack = gs_kept_stack(op->n);

		op->n = !!stack;
		if (op->nval != 8 * GS_KEPT_WORDS)
			return -EINVAL;
		return stack && copy_to_user((void __user *)(unsigned long)op->val, stack, op->nval) ? -EFAULT : 0;
	}
#endif
#ifdef GS_WALK_H
	case GS_OP_ROWS:
		return gs_walk_file(op->key, op->nkey, op->val, op->nval);
#endif
	case GS_OP_FIRED:
		return gs_tell_fired((void __user *)(unsigned long)op->val, op->nval);
	case GS_OP_LOCK:
	case GS_OP_UNLOCK:
#if GS_LOCKS > 0
		if (op->glob >= GS_LOCKS)
			return -EINVAL;
		if (op->op == GS_OP_UNLOCK) {
			gs_release(&gs_locks[op->glob]);
			return 0;
		}
		return gs_try_as(&gs_locks[op->glob], 100, 0, -gs_thread()) ? 0 : -EBUSY;
#else
		return -EINVAL;
#endif
	}
	if (op->op > GS_OP_UNLOCK || op->glob >= GS_NGLOBS)
		return -EINVAL;
	return gs_access(op);
}

static long gs_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct gs_op op;
	int err;

	if (cmd != GS_IOC)
		return -ENOTTY;
	if (copy_from_user(&op, (void __user *)arg, sizeof(op)))
		return -EFAULT;
	mutex_lock(&gs_mutex);
	err = gs_control(&op);
	mutex_unlock(&gs_mutex);
	if (copy_to_user((void __user *)arg, &op, sizeof(op)))
		return -EFAULT;
	return err;
}

static const struct proc_ops gs_proc_ops = {
	.proc_open = gs_open,
	.proc_release = gs_close,
	.proc_mmap = gs_mmap,
	.proc_poll = gs_poll,
	.proc_ioctl = gs_ioctl,
	.proc_lseek = noop_llseek,
};

static void gs_free_all(void)
{
	int cpu, level;

	irq_work_sync(&gs_waker);
	gs_signals_sync();
	for_each_possible_cpu(cpu)
		for (level = 0; level < GS_LEVELS; level++)
			vfree(per_cpu(gs_cpus, cpu).ctx[level]);
	gs_spares_free();
	gs_memory_free();
	gs_family_free();
	vfree(gs_ring);
}

static int __init gs_module_init(void)
{
	char name[MODULE_NAME_LEN + 8];
	int cpu, level, err = gs_ring_init();

	for_each_possible_cpu(cpu) {
		per_cpu(gs_cpus, cpu).seed = get_random_u64();
		for (level = 0; level < GS_LEVELS && !err; level++) {
			struct gs_ctx *c = vzalloc(sizeof(*c));

			if (!c)
				err = -ENOMEM;
			else
				c->slot = (u32)cpu << 16 | (level + 1);
			per_cpu(gs_cpus, cpu).ctx[level] = c;
		}
	}
	if (!err)
		err = gs_spares_init();
	if (!err)
		err = gs_memory_init();
	if (!err)
		err = gs_family_init();
	if (!err) {
		scnprintf(name, sizeof(name), "gostap.%s", gs_module_name());
		gs_proc = proc_create(name, 0600, NULL, &gs_proc_ops);
		if (!gs_proc)
			err = -EEXIST;
	}
	if (err)
		gs_free_all();
	return err;
}

static void __exit gs_module_exit(void)
{
	proc_remove(gs_proc);
	mutex_lock(&gs_mutex);
	gs_let_go();
	mutex_unlock(&gs_mutex);
	gs_free_all();
}

module_init(gs_module_init);
module_exit(gs_module_exit);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("made by gostap from a script");

#endif
