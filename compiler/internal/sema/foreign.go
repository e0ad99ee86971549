package sema

import "slices"

// Functions of stap's library that this one does not have, by the reason.
var foreign = [...]struct {
	why   string
	names []string
}{
	{"it reads structures of the kernel, which is not available in this version", []string{
		"task_pid", "task_tid", "task_ns_pid", "task_ns_tid", "task_uid", "task_gid", "task_euid", "task_egid", "task_execname", "task_parent",
		"task_state", "task_cpu", "task_prio", "task_nice", "task_utime", "task_stime", "task_current_frame", "task_dentry_path", "task_backtrace",
		"task_open_file_handles", "task_max_file_handles", "task_rlimit", "task_rlimit_nofile", "task_start_time", "task_cwd_path", "task_exe_file",
		"task_fd_lookup", "task_ancestry", "pid2task", "pid2execname", "pstrace", "current_exe_file", "cmdline_str", "cmdline_arg", "cmdline_args",
		"d_name", "d_path", "inode_name", "inode_path", "fullpath_struct_path", "fullpath_struct_file", "fullpath_struct_nameidata",
		"reverse_path_walk", "proc_mem_size", "proc_mem_rss", "proc_mem_shr", "proc_mem_txt", "proc_mem_data", "proc_mem_string",
		"addr_to_node", "vm_fault_contains", "inet_get_local_port", "inet_get_ip_source", "tcp_get_info_rto", "format_ipaddr", "atomic_read",
		"is_sig_blocked", "get_sa_handler", "get_sa_flags", "get_sigaction_mask", "sa_handler_str", "sa_flags_str", "sigset_mask_str",
		"bio_rw_str", "tcp_ts_get_info_state", "tcp_sockstate_str", "ipmib_get_proto", "ipmib_remote_addr", "ipmib_local_addr",
		"tcpmib_local_addr", "tcpmib_remote_addr", "tcpmib_local_port", "tcpmib_remote_port", "_sys_open_flag_str", "_struct_timeval_u",
	}},
	{"it follows forks of a process, which is not available in this version", []string{"target_set_pid", "target_set_report"}},
	{"it changes the system under trace, which is not available in this version", []string{"raise", "panic", "printk", "mdelay", "udelay", "set_user_string", "set_user_int", "set_kernel_long", "set_kernel_int", "set_kernel_string"}},
	{"it writes to other files than the output, which is not available in this version", []string{"switch_file"}},
	{"numbers with a fraction are not available in this version", []string{
		"fp_to_string", "string_to_fp", "long_to_fp", "fp_to_long", "fp_add", "fp_sub", "fp_mul", "fp_div", "fp_rem", "fp_sqrt", "fp_lt", "fp_le", "fp_eq",
	}},
	{"it unwinds scripts of another language, which is not available in this version", []string{"python_print_backtrace", "sprint_jstack", "sprint_jstack_full", "print_jstack", "print_jstack_full"}},
	{"what it prints belongs to a probe of another kind, which is not available in this version", []string{"json_set_prefix", "json_add_numeric_metric", "json_add_string_metric", "json_add_array", "json_add_array_numeric_metric", "json_add_array_string_metric"}},
}

// whyForeign gives the reason why a function of stap is not there, "" for names that
// stap does not know either.
func whyForeign(name string) string {
	for i := range foreign {
		if slices.Contains(foreign[i].names, name) {
			return foreign[i].why
		}
	}
	return ""
}
