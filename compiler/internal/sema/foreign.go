package sema

import "slices"

// Functions of stap's library that this one does not have, by the reason.
var foreign = [...]struct {
	why   string
	names []string
}{
	{"it was taken out of stap long ago; use cpu()", []string{"cpuid"}},
	{"it walks the kernel's tables of memory, which needs its own code; numastat and numa_maps tell about nodes",
		[]string{"addr_to_node"}},
	{"it unwinds the stack of a thread that does not run here; use backtrace() or sprint_backtrace() where it does",
		[]string{"task_backtrace"}},
	{"it looks at the stack pointer of the kernel, which the handler itself has moved",
		[]string{"stack_size", "stack_unused", "stack_used"}},
	{"it tells about a module of stap's own making; gostap -v tells how large the programs are",
		[]string{"module_size"}},
	{"the processes of a target are not counted one by one; target_set_pid(pid()) tells whether one belongs to it",
		[]string{"target_set_report"}},
	{"it is meant for a script that is run by another user; use uid()", []string{"is_myproc"}},
	{"it reads the file that an address lies in; use umodname(address) for its name and usymdata(address) for the " +
		"distance", []string{"umodaddr", "umodbuildid"}},
	{"in probes of system calls __nr is the number; syscall_name(number) gives the name", []string{"syscall_num"}},
	{"it unwinds scripts of another language; use print_ubacktrace() for the stack of the interpreter", []string{
		"python_print_backtrace", "python_sprint_backtrace", "python2_get_locals", "python2_get_var_obj",
		"python3_get_locals", "python3_get_var_obj",
		"python3_initialize", "Py2Object_GetAttr", "Py2Object_Repr", "Py3Object_GetAttr", "Py3Object_Repr",
		"print_java_backtrace", "sprint_java_backtrace", "print_jstack", "print_jstack_full", "sprint_jstack",
		"sprint_jstack_full"}},
	{"it belongs to the inside of stap's probes of NFS and RPC; read members with @cast(address, \"type\", \"kernel\")",
		[]string{
			"NFS_I", "NFS_PROTO", "NFS_SERVER", "clones_from_clnt", "ftype",
			"get_ip", "get_ip_from_client",
			"get_prot", "get_prot_from_client", "nfs3_cmode", "nfs4_ctype", "port_from_clnt", "port_from_xprt",
			"proc_from_msg",
			"prog_from_clnt", "prot_from_clnt", "stap_NFS_CLIENT", "tasks_from_clnt", "vers_from_clnt",
			"vers_from_prog",
			"xid_from_clnt"}},
	{"it belongs to the inside of stap's probes of SCSI disks; those of scsi have the values", []string{
		"bio_op", "disk_name", "get_devstate_from_req", "scsi_timer_pending", "timer_pending"}},
	{"it reads arguments in stap's own way; read members with @cast(address, \"type\", \"kernel\")", []string{
		"get_mmap_args", "get_sigset", "container_of_task_rcu", "stp_print_binary"}},
	{"it counts cases of one fault of the kernel; keep a count in a global variable",
		[]string{"cve_count_metric", "cve_record_metric", "cve_tmpdisable"}},
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
