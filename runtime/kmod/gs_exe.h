/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* Which program the current process runs. */
#ifndef GS_EXE_H
#define GS_EXE_H

#include <linux/fs.h>

/*
 * The inode of an executable's file, NULL if there is none. Under rcu_read_lock: since 6.7 the memory of a file that is closed meanwhile
 * may be another's by now, or of one that is not open yet and has no name.
 */
static inline struct inode *gs_exe_inode(struct file *exe)
{
	struct dentry *d = exe ? READ_ONCE(exe->f_path.dentry) : NULL;

	return d ? d_real_inode(d) : NULL;
}

/* Whether it is the file of this index into gs_inodes. */
static inline bool gs_runs(int file)
{
	struct mm_struct *mm = current->mm;
	struct inode *inode;
	bool ok;

	rcu_read_lock();
	inode = mm ? gs_exe_inode(rcu_dereference(mm->exe_file)) : NULL;
	ok = inode && inode == gs_inodes[file];
	rcu_read_unlock();
	return ok;
}

#endif
