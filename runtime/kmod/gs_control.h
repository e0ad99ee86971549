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
#include <linux/mutex.h>
#include "gs_ring.h"
#include "gs_map.h"
#include "gs_scalar.h"

#define GS_VERSION 1

enum {
	GS_OP_INFO,	/* n: GS_VERSION; val: u64 CPUs, bytes of one buffer */
	GS_OP_STATE,	/* n: state, after raising it to n where that is not less */
	GS_OP_TARGET,	/* n: process number in the caller's namespace */
	GS_OP_FILE,	/* glob: index, n: descriptor of a traced file */
	GS_OP_ATTACH,	/* n: on errors the site, else how many sites were left out */
	GS_OP_DETACH,
	GS_OP_COUNTERS,	/* val: u64[GS_CAUSES] and errors */
	GS_OP_GET,	/* of global glob, with key: val; n: whether it is there */
	GS_OP_SET,
	GS_OP_ADD,	/* n: what to add, then what was there */
	GS_OP_DELETE,
	GS_OP_CLEAR,
	GS_OP_ADDSTAT,	/* n */
	GS_OP_ELEMS,	/* val: keys and values; n: how many */
	GS_OP_LOCK,
	GS_OP_UNLOCK,
	GS_OP_RUN,	/* glob: which of gs_calls, n: its site */
	GS_OP_LEFT	/* n: a number below what ATTACH gave, then the site that was left out; the error says why */
};

struct gs_op {
	u32 op, glob;
	s64 n;
	u64 key, val;		/* addresses */
	u32 nkey, nval;		/* bytes */
};

#define GS_IOC _IOWR('g', 0x57, struct gs_op)

enum { GS_G_LONG, GS_G_TEXT, GS_G_STAT, GS_G_MAP };

/* What the host can see of a global. */
struct gs_glob {
	int kind;
	void *p;	/* atomic64_t, struct gs_scalar, struct gs_pcpu, struct gs_map */
};

/* Made by the code generator. */
static struct gs_glob gs_globs[];
static struct inode *gs_inodes[];
static void (*const gs_calls[])(struct gs_hit *);
static int gs_attach(s64 *site);
static int gs_left(struct gs_op *op);
static void gs_detach(void);
static int gs_memory_init(void);
static void gs_memory_free(void);

static struct proc_dir_entry *gs_proc;
static DEFINE_MUTEX(gs_mutex);
static bool gs_opened, gs_attached;
static u32 gs_nleft;		/* places that the kernel refused, of such as may be left out */

static void gs_let_go(void)
{
	u32 i;

	gs_stop(GS_STOPPING);
	if (gs_attached)
		gs_detach();
	gs_attached = false;
	for (i = 0; i < GS_NFILES; i++) {
		iput(gs_inodes[i]);
		gs_inodes[i] = NULL;
	}
}

static int gs_open(struct inode *inode, struct file *file)
{
	int err = 0;

	mutex_lock(&gs_mutex);
	if (gs_opened)
		err = -EBUSY;
	gs_opened = true;
	mutex_unlock(&gs_mutex);
	return err;
}

static int gs_close(struct inode *inode, struct file *file)
{
	mutex_lock(&gs_mutex);
	gs_let_go();
	mutex_unlock(&gs_mutex);
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
	fput(f);
	return gs_inodes[op->glob] ? 0 : -EBADF;
}

static int gs_set_target(struct gs_op *op)
{
	struct task_struct *t;
	int err = -ESRCH;

	rcu_read_lock();
	t = pid_task(find_vpid(op->n), PIDTYPE_PID);
	if (t) {
		WRITE_ONCE(gs_target, t->tgid);
		err = 0;
	}
	rcu_read_unlock();
	return err;
}

static int gs_counters(struct gs_op *op)
{
	u64 sum[GS_CAUSES + 1] = { 0 };
	u32 i;
	int cpu;

	for_each_possible_cpu(cpu)
		for (i = 0; i < GS_CAUSES; i++)
			sum[i] += READ_ONCE(per_cpu(gs_cpus, cpu).causes[i]);
	sum[GS_CAUSES] = atomic_read(&gs_errors);
	if (op->nval != sizeof(sum))
		return -EINVAL;
	return copy_to_user((void __user *)(unsigned long)op->val, sum, sizeof(sum)) ? -EFAULT : 0;
}

/* Operations of the host on one global. Its handlers are in no hurry, but preemption is off while a lock is held. */
static int gs_access(struct gs_op *op)
{
	struct gs_glob *g = &gs_globs[op->glob];
	struct gs_map *m = g->kind == GS_G_MAP ? g->p : NULL;
	struct gs_node *node;
	u64 *key = NULL;
	char *val = NULL;
	unsigned long f;
	u32 nkey = m ? m->ksize : 0, nval = 8, i;
	size_t room;
	int err = 0, tries, rc = GS_BUSY;
	u32 hash;

	switch (g->kind) {
	case GS_G_TEXT:
		nval = ((struct gs_scalar *)g->p)->cap + 1;
		break;
	case GS_G_STAT:
		nval = GS_AGG_BYTES(((struct gs_pcpu *)g->p)->need->words);
		break;
	case GS_G_MAP:
		nval = m->vsize;
		break;
	}
	room = nval;
	if (op->op == GS_OP_ELEMS) {
		if (!m)
			return -EINVAL;
		room = (size_t)m->size * (m->ksize + m->vsize);
		nkey = 0;
	}
	if (op->nval != room || op->nkey != nkey)
		return -EINVAL;
	val = kvzalloc(room + 8, GFP_KERNEL);
	key = kvzalloc(nkey + 8, GFP_KERNEL);
	if (!val || !key) {
		err = -ENOMEM;
		goto out;
	}
	if (nkey && copy_from_user(key, (void __user *)(unsigned long)op->key, nkey)) {
		err = -EFAULT;
		goto out;
	}
	if (op->op == GS_OP_SET) {
		if (copy_from_user(val, (void __user *)(unsigned long)op->val, room)) {
			err = -EFAULT;
			goto out;
		}
		val[room] = 0;
	}
	hash = nkey ? gs_hash(m, key) : 0;
	for (tries = 0; ; tries++) {
		int *lock = m ? &m->lock : g->kind == GS_G_TEXT ? &((struct gs_scalar *)g->p)->lock : NULL;

		preempt_disable();
		gs_irq_save(f);
		if (!lock || gs_try(lock, GS_MAP_TRIES, 0))
			break;
		gs_irq_restore(f);
		preempt_enable();
		if (tries > 100) {
			err = -EBUSY;
			goto out;
		}
		cond_resched();
	}
	switch (g->kind) {
	case GS_G_LONG:
		switch (op->op) {
		case GS_OP_GET:
			*(s64 *)val = atomic64_read((atomic64_t *)g->p);
			op->n = 1;
			break;
		case GS_OP_SET:
			atomic64_set((atomic64_t *)g->p, *(s64 *)val);
			break;
		case GS_OP_ADD:
			op->n = atomic64_fetch_add(op->n, (atomic64_t *)g->p);
			break;
		default:
			atomic64_set((atomic64_t *)g->p, 0);
			break;
		}
		break;
	case GS_G_TEXT:
		switch (op->op) {
		case GS_OP_GET:
			memcpy(val, ((struct gs_scalar *)g->p)->s, nval);
			op->n = 1;
			break;
		case GS_OP_SET:
			memcpy(((struct gs_scalar *)g->p)->s, val, nval);
			((struct gs_scalar *)g->p)->s[nval - 1] = 0;
			break;
		default:
			memset(((struct gs_scalar *)g->p)->s, 0, nval);
			break;
		}
		gs_release(&((struct gs_scalar *)g->p)->lock);
		break;
	case GS_G_STAT:
		switch (op->op) {
		case GS_OP_GET:
			gs_pcpu_merge(g->p, (struct gs_agg *)val, ((struct gs_pcpu *)g->p)->need->words);
			op->n = 1;
			break;
		case GS_OP_ADDSTAT:
			gs_pcpu_add(g->p, op->n);
			break;
		default:
			gs_pcpu_clear(g->p);
			break;
		}
		break;
	case GS_G_MAP:
		switch (op->op) {
		case GS_OP_GET:
			node = gs_map_find(m, key, hash);
			op->n = node != NULL;
			if (node && !gs_map_peek(m, node, val))
				err = -EBUSY;
			break;
		case GS_OP_DELETE:
			node = gs_map_find(m, key, hash);
			if (node && !gs_map_remove(m, node))
				err = -EBUSY;
			break;
		case GS_OP_CLEAR:
			if (!gs_map_empty(m))
				err = -EBUSY;
			break;
		case GS_OP_ELEMS:
			op->n = 0;
			for (i = m->first; i != GS_NIL && !err; i = node->after) {
				char *el = val + op->n++ * (m->ksize + m->vsize);

				node = gs_node(m, i);
				memcpy(el, node->data, m->ksize);
				if (!gs_map_peek(m, node, el + m->ksize))
					err = -EBUSY;
			}
			break;
		case GS_OP_ADDSTAT:
			rc = m->need ? gs_agg_map_make(m, key, hash, op->n) : GS_BUSY;
			err = rc == GS_FULL ? -ENOSPC : rc ? -EBUSY : 0;
			break;
		default:
			node = m->need ? NULL : gs_map_make(m, key, hash, &rc);
			if (!node || !gs_map_try(&gs_bucket_of(m, hash)->lock)) {
				err = !node && rc == GS_FULL ? -ENOSPC : -EBUSY;
				break;
			}
			if (op->op == GS_OP_SET) {
				memcpy(gs_val(m, node), val, nval);
			} else {
				s64 *p = gs_val(m, node), before = *p;

				*p = (s64)((u64)before + (u64)op->n);
				op->n = before;
			}
			gs_release(&gs_bucket_of(m, hash)->lock);
			break;
		}
		gs_release(&m->lock);
		break;
	}
	gs_irq_restore(f);
	preempt_enable();
	if (op->op == GS_OP_ELEMS)
		room = op->n * (m->ksize + m->vsize);
	if (!err && (op->op == GS_OP_GET || op->op == GS_OP_ELEMS) &&
	    copy_to_user((void __user *)(unsigned long)op->val, val, room))
		err = -EFAULT;
out:
	kvfree(val);
	kvfree(key);
	return err;
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
		err = gs_attach(&op->n);
		gs_attached = err == 0;
		if (!err)
			op->n = gs_nleft;
		return err;
	case GS_OP_LEFT:
		return gs_attached ? gs_left(op) : -EINVAL;
	case GS_OP_DETACH:
		if (gs_attached)
			gs_detach();
		gs_attached = false;
		return 0;
	case GS_OP_COUNTERS:
		return gs_counters(op);
	case GS_OP_RUN:
		return gs_run(op);
	case GS_OP_LOCK:
	case GS_OP_UNLOCK:
#if GS_LOCKS > 0
		if (op->glob >= GS_LOCKS)
			return -EINVAL;
		if (op->op == GS_OP_UNLOCK) {
			gs_release(&gs_locks[op->glob]);
			return 0;
		}
		return gs_try_as(&gs_locks[op->glob], GS_TRIES, GS_DELAY, -1) ? 0 : -EBUSY;
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
	for_each_possible_cpu(cpu)
		for (level = 0; level < GS_LEVELS; level++)
			vfree(per_cpu(gs_cpus, cpu).ctx[level]);
	gs_spares_free();
	gs_memory_free();
	vfree(gs_ring);
}

static int __init gs_module_init(void)
{
	char name[MODULE_NAME_LEN + 8];
	int cpu, level, err = gs_ring_init();

	gs_tracer = current->tgid;

	for_each_possible_cpu(cpu) {
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
