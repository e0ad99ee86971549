/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * Files of the script in /proc/gostap/MODULE/. The read handler runs when a process begins to
 * read, and what it set is what that process gets from then on, whatever others
 * do; reading from the beginning again runs it again. A handler that does not come to its end (an
 * error, a lock that could not be had) is an I/O error for the process. The write handler runs for each
 * write, with at most GS_MAXSTR - 1 bytes: longer writes come in pieces.
 */
#ifndef GS_PROCFS_H
#define GS_PROCFS_H

#include <linux/proc_fs.h>
#include <linux/namei.h>
#include <linux/fs.h>
#include <linux/mutex.h>
#include "gs_output.h"

/* What one open file holds. */
struct gs_procfs_open {
	struct mutex mutex;
	bool filled;
	struct gs_value value;
};

struct gs_procfs {
	const char *path;	/* below the module's folder */
	umode_t mode;
	u32 size;		/* the most bytes that a reader gets */
	u32 site;		/* for messages */
	void (*read)(struct gs_hit *hit);
	void (*write)(struct gs_hit *hit);
	u32 read_place, write_place;	/* gs_hit.site */
	struct proc_dir_entry *entry;
};

static struct proc_dir_entry *gs_procfs_root;

static int gs_procfs_open(struct inode *inode, struct file *file)
{
	struct gs_procfs *p = pde_data(inode);
	struct gs_procfs_open *o;
	u32 size = max_t(u32, p->size, GS_MAXSTR - 1);

	o = kvzalloc(sizeof(*o), GFP_KERNEL);
	if (!o)
		return -ENOMEM;
	o->value.text = kvzalloc(size + 1, GFP_KERNEL);
	if (!o->value.text) {
		kvfree(o);
		return -ENOMEM;
	}
	o->value.size = size;
	mutex_init(&o->mutex);
	file->private_data = o;
	return 0;
}

static int gs_procfs_close(struct inode *inode, struct file *file)
{
	struct gs_procfs_open *o = file->private_data;

	kvfree(o->value.text);
	kvfree(o);
	return 0;
}

static ssize_t gs_procfs_read(struct file *file, char __user *to, size_t n, loff_t *pos)
{
	struct gs_procfs *p = pde_data(file_inode(file));
	struct gs_procfs_open *o = file->private_data;
	ssize_t got;

	if (!p->read)
		return -EINVAL;
	if (!n)
		return 0;
	if (mutex_lock_interruptible(&o->mutex))
		return -ERESTARTSYS;
	if (!o->filled || *pos == 0) {
		struct gs_hit hit = { .regs = task_pt_regs(current), .site = p->read_place, .value = &o->value };

		o->value.len = 0;
		o->value.room = p->size;
		o->value.done = false;
		if (gs_may_ask())
			p->read(&hit);
		o->filled = o->value.done;
	}
	if (o->filled)
		got = simple_read_from_buffer(to, n, pos, o->value.text, o->value.len);
	else
		got = gs_may_ask() ? -EIO : -ENODEV;
	mutex_unlock(&o->mutex);
	return got;
}

static ssize_t gs_procfs_write(struct file *file, const char __user *from, size_t n, loff_t *pos)
{
	struct gs_procfs *p = pde_data(file_inode(file));
	struct gs_procfs_open *o = file->private_data;
	struct gs_hit hit = { .regs = task_pt_regs(current), .site = p->write_place, .value = &o->value };
	ssize_t err = 0;

	if (!p->write)
		return -EINVAL;
	n = min_t(size_t, n, GS_MAXSTR - 1);
	if (mutex_lock_interruptible(&o->mutex))
		return -ERESTARTSYS;
	o->filled = false;
	if (copy_from_user(o->value.text, from, n)) {
		err = -EFAULT;
	} else if (!gs_may_ask()) {
		err = -ENODEV;
	} else {
		o->value.text[n] = 0;
		o->value.len = n;
		o->value.done = false;
		p->write(&hit);
		if (o->value.done)
			*pos += n;
		else
			err = -EIO;
	}
	mutex_unlock(&o->mutex);
	return err ? err : (ssize_t)n;
}

static const struct proc_ops gs_procfs_ops = {
	.proc_open = gs_procfs_open,
	.proc_release = gs_procfs_close,
	.proc_read = gs_procfs_read,
	.proc_write = gs_procfs_write,
	.proc_lseek = default_llseek,
};

/*
 * The folder /proc/gostap is common to all modules of gostap: whoever finds it missing makes
 * it, and it stays. They agree by the lock of an inode that nobody else takes.
 */
static int gs_procfs_folder(void)
{
	struct path lock, there;
	char name[sizeof("gostap/") + MODULE_NAME_LEN];
	int err = kern_path("/proc/filesystems", 0, &lock);

	if (err)
		return err;
	inode_lock(d_inode(lock.dentry));
	if (!kern_path("/proc/gostap", 0, &there))
		path_put(&there);
	else if (!proc_mkdir("gostap", NULL))
		err = -ENOMEM;
	inode_unlock(d_inode(lock.dentry));
	path_put(&lock);
	if (err)
		return err;
	scnprintf(name, sizeof(name), "gostap/%s", gs_module_name());
	gs_procfs_root = proc_mkdir(name, NULL);
	return gs_procfs_root ? 0 : -ENOMEM;
}

/* folders are those of the paths, outer ones first. */
static int gs_procfs_on(struct gs_procfs *p, u32 n, const char *const *folders, s64 *site)
{
	int err = gs_procfs_folder();
	u32 i;

	*site = p[0].site;
	for (; !err && *folders; folders++)
		if (!proc_mkdir(*folders, gs_procfs_root))
			err = -ENOMEM;
	for (i = 0; i < n && !err; i++) {
		*site = p[i].site;
		p[i].entry = proc_create_data(p[i].path, p[i].mode, gs_procfs_root, &gs_procfs_ops, &p[i]);
		if (!p[i].entry)
			err = -ENOMEM;
	}
	return err;
}

/* Waits for those that are reading or writing. */
static void gs_procfs_off(void)
{
	proc_remove(gs_procfs_root);
	gs_procfs_root = NULL;
}

#endif
