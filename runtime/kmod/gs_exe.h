/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* Which program the current process runs. */
#ifndef GS_EXE_H
#define GS_EXE_H

#include <linux/fs.h>

/* Whether it is the file of this index into gs_inodes. */
static inline bool gs_runs(int file)
{
	struct mm_struct *mm = current->mm;
	struct file *exe;
	bool ok = false;

	rcu_read_lock();
	exe = mm ? rcu_dereference(mm->exe_file) : NULL;
	if (exe)
		ok = d_real_inode(exe->f_path.dentry) == gs_inodes[file];
	rcu_read_unlock();
	return ok;
}

#endif
