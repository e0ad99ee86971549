/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * STAPCONF_ macros, by which C of scripts asks what the kernel is like. Those are here that say something about
 * the kernel itself and not about the runtime of SystemTap. All kernels that modules are built for have come after
 * most of what they ask; what has changed since goes by the kernel's version or by its headers. Macros that are
 * about kernels of the past stand here as well, by not being defined: STAPCONF_TASK_UID, STAPCONF_GRSECURITY.
 */
#ifndef GS_STAPCONF_H
#define GS_STAPCONF_H

#if defined(__KERNEL__) && !defined(__CHECKER__)	/* sparse knows no __has_include */
#include <linux/version.h>

#if __has_include(<linux/sched/signal.h>)
#define STAPCONF_LINUX_SCHED_HEADERS 1
#endif
#if __has_include(<linux/uidgid.h>)
#define STAPCONF_LINUX_UIDGID_H 1
#define STAPCONF_FROM_KUID_MUNGED 1
#endif
#if __has_include(<linux/timerfd.h>)
#define STAPCONF_TIMERFD_H 1
#endif
#if __has_include(<linux/time32.h>)
#define STAPCONF_TIME32_OLD_H 1
#endif
#if __has_include(<uapi/linux/mount.h>)
#define STAPCONF_UAPI_LINUX_MOUNT_H 1
#endif
#if __has_include(<linux/blk_types.h>)
#define STAPCONF_BLK_TYPES 1
#define STAPCONF_BIO_BI_OPF 1
#endif
#if __has_include(<linux/uaccess.h>)
#define STAPCONF_LINUX_UACCESS_H 1
#endif
#if __has_include(<asm/syscall.h>)
#define STAPCONF_ASM_SYSCALL_H 1
#endif
#if __has_include(<linux/mmap_lock.h>)
#define STAPCONF_MMAP_LOCK 1
#endif

/* Members and arguments that every kernel has had since Linux 4.18. */
#define STAPCONF_DPATH_PATH 1
#define STAPCONF_REAL_PARENT 1
#define STAPCONF_MM_SHMEMPAGES 1
#define STAPCONF_TRACE_PRINTK 1
#define STAPCONF_INODE_PRIVATE 1
#define STAPCONF_INODE_RWSEM 1
#define STAPCONF_FS_SUPERS_HLIST 1
#define STAPCONF_KERN_PATH 1
#define STAPCONF_VFS_PATH_LOOKUP 1
#define STAPCONF_KTIME_GET_REAL_FAST_NS 1
#define STAPCONF_KERNEL_READ_NEW_ARGS 1
#define STAPCONF_HLIST_ADD_TAIL_RCU 1
#define STAPCONF_HRTIMER_GETSET_EXPIRES 1
#define STAPCONF_NETFILTER_V44 1
#define STAPCONF_PAGEFAULT_DISABLE 1
#define STAPCONF_PROC_CREATE_DATA 1
#define STAPCONF_SYNCHRONIZE_RCU 1
#define STAPCONF_SMPCALL_4ARGS 1
#define STAPCONF_VZALLOC 1
#define STAPCONF_VZALLOC_NODE 1
#define STAPCONF_VMALLOC_NODE 1
#define STAPCONF_TSC_KHZ 1
#define STAPCONF_CPU_KHZ 1
#define STAPCONF_ATOMIC_FETCH_ADD_UNLESS 1

#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 0, 0)
#define STAPCONF_ACCESS_OK_2ARGS 1
#endif
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 2, 0)
#define STAPCONF_SYSCALL_GET_ARGS_3ARGS 1
#endif
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 6, 0)
#define STAPCONF_PROC_OPS 1
#endif
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 11, 0)
#define STAPCONF_FILES_LOOKUP_FD_RAW 1
#endif
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 17, 0)
#define STAPCONF_PDE_DATA2 1
#endif
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 15, 0)
#define STAPCONF_DISK_GET_PART 1
#endif
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 4, 0)
#define STAPCONF_MODULE_LAYOUT 1
#endif
#endif

#endif
