// Command gensys writes syscalls.stp: the probes syscall.NAME and syscall.NAME.return of every system call whose
// arguments can be shown by their types alone. Calls that want more are written by hand in syscalls_special.stp and
// left out here.
package main

import (
	"bytes"
	"fmt"
	"log"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/machine"
	"github.com/gostap/gostap/compiler/machine/syscalls"
)

// texts are the functions of syscall_text.stp that show an argument, by CALL.ARGUMENT, or by .ARGUMENT for all calls.
// The variable is called as in stap where that name is another: "function=name".
var texts = map[string]string{
	".dfd": "_dfd_str", ".olddfd": "_dfd_str", ".newdfd": "_dfd_str", ".from_dfd": "_dfd_str", ".to_dfd": "_dfd_str",
	".fs_fd":  "",
	".whence": "_seek_whence_str", ".advice": "_fadvice_advice_str", ".which_clock": "_get_wc_str",
	".clockid": "_get_wc_str",
	".sig":     "_signal_name_str", ".signum": "_signal_name_str",
	"lseek.whence": "_seek_whence_str", "openat2.dfd": "_dfd_str", "name_to_handle_at.flag": "_at_flag_str=flags",
	"openat.flags": "_sys_open_flag_str", "open_by_handle_at.flags": "_sys_open_flag_str",
	"mq_open.oflag": "_sys_open_flag_str",
	"access.mode":   "_access_mode_str", "faccessat.mode": "_access_mode_str", "faccessat2.mode": "_access_mode_str",
	"faccessat2.flags": "_at_flag_str",
	"newfstatat.flag":  "_at_flag_str=flags", "fchownat.flag": "_at_flag_str=flags", "fchmodat2.flags": "_at_flag_str",
	"linkat.flags":  "_at_flag_str",
	"unlinkat.flag": "_unlinkat_flag_str=flags", "utimensat.flags": "_at_flag_str", "statx.flags": "_at_flag_str",
	"statx.mask":     "_statx_mask_str",
	"execveat.flags": "_at_flag_str", "open_tree.flags": "_at_flag_str", "renameat2.flags": "_renameat2_flag_str",
	"mount_setattr.flags": "_at_flag_str",
	"mmap.prot":           "_mmap_prot_str", "mmap.flags": "_mmap_flags", "mprotect.prot": "_mmap_prot_str",
	"pkey_mprotect.prot": "_mmap_prot_str",
	"mremap.flags":       "_mremap_flags", "msync.flags": "_msync_flag_str", "mlockall.flags": "_mlockall_flags_str",
	"madvise.behavior":         "_madvice_advice_str=advice",
	"process_madvise.behavior": "_madvice_advice_str=advice", "fadvise64.advice": "_fadvice_advice_str",
	"remap_file_pages.prot":  "_mmap_prot_str",
	"remap_file_pages.flags": "_mmap_flags", "mbind.mode": "_mempolicy_mode_str",
	"set_mempolicy.mode": "_mempolicy_mode_str", "memfd_create.flags": "_memfd_create_flags_str",
	"clone.clone_flags": "_fork_flags", "unshare.unshare_flags": "_fork_flags",
	"setns.flags":   "_setns_nstype_str=nstype",
	"wait4.options": "_wait4_opt_str", "waitid.options": "_wait4_opt_str", "waitid.which": "_waitid_which_str",
	"fcntl.cmd": "_fcntl_cmd_str",
	"flock.cmd": "_flock_cmd_str=operation", "fallocate.mode": "_fallocate_mode_str",
	"sync_file_range.flags": "_sync_file_range_flag_str",
	"pipe2.flags":           "_pipe2_flag_str", "dup3.flags": "_pipe2_flag_str", "eventfd2.flags": "_eventfd2_flag_str",
	"signalfd4.flags":      "_signalfd4_flag_str",
	"timerfd_create.flags": "_timerfd_create_flag_str", "timerfd_settime.flags": "_timerfd_settime_flag_str",
	"inotify_init1.flags":    "_inotify_init1_flag_str",
	"inotify_add_watch.mask": "_inotify_watch_mask_str", "epoll_create1.flags": "_epoll_create1_flag_str",
	"epoll_ctl.op":          "_epoll_ctl_op_str",
	"clock_nanosleep.flags": "_timer_flag_str", "timer_settime.flags": "_timer_flag_str",
	"rt_sigprocmask.how": "_sigprocmask_how_str",
	"socket.family":      "_sock_family_str", "socket.type": "_sock_type_str", "socketpair.family": "_sock_family_str",
	"socketpair.type": "_sock_type_str",
	"accept4.flags":   "_sock_flags_str", "setsockopt.level": "_sock_level_str", "getsockopt.level": "_sock_level_str",
	"shutdown.how": "_shutdown_how_str",
	"sendto.flags": "_msg_flags_str", "recvfrom.flags": "_msg_flags_str", "sendmsg.flags": "_msg_flags_str",
	"recvmsg.flags":  "_msg_flags_str",
	"sendmmsg.flags": "_msg_flags_str", "recvmmsg.flags": "_msg_flags_str", "futex.op": "_futex_op_str",
	"getrlimit.resource": "_rlimit_resource_str", "setrlimit.resource": "_rlimit_resource_str",
	"prlimit64.resource": "_rlimit_resource_str",
	"getrusage.who":      "_rusage_who_str", "setitimer.which": "_itimer_which_str",
	"getitimer.which":   "_itimer_which_str",
	"setpriority.which": "_priority_which_str", "getpriority.which": "_priority_which_str",
	"sched_setscheduler.policy":     "_sched_policy_str",
	"sched_get_priority_max.policy": "_sched_policy_str", "sched_get_priority_min.policy": "_sched_policy_str",
	"mount.flags": "_mountflags_str", "umount2.flags": "_umountflags_str", "getrandom.flags": "_getrandom_flags_str",
	"splice.flags": "_splice_flags_str",
	"tee.flags":    "_splice_flags_str", "vmsplice.flags": "_splice_flags_str", "preadv2.flags": "_rw_flags_str",
	"pwritev2.flags":    "_rw_flags_str",
	"arch_prctl.option": "_arch_prctl_option_str", "prctl.option": "_prctl_option_str",
	"ptrace.request": "_ptrace_request_str", "bpf.cmd": "_bpf_cmd_str",
	"finit_module.flags": "_module_flags_str", "delete_module.flags": "_delete_module_flags_str",
	"reboot.cmd":     "_reboot_flag_str=flag",
	"setxattr.flags": "_xattr_flag_str", "fsetxattr.flags": "_xattr_flag_str", "lsetxattr.flags": "_xattr_flag_str",
	"semget.semflg": "_ipc_flags_str", "shmget.shmflg": "_ipc_flags_str", "msgget.msgflg": "_ipc_flags_str",
	"semctl.cmd": "_ipc_cmd_str",
	"shmctl.cmd": "_ipc_cmd_str", "msgctl.cmd": "_ipc_cmd_str", "shmat.shmflg": "_shmat_flags_str",
	"pidfd_open.flags":  "_pidfd_flags_str",
	"close_range.flags": "_close_range_flags_str", "io_uring_enter.flags": "_io_uring_enter_flags_str",
	"seccomp.op":     "_seccomp_op_str",
	"membarrier.cmd": "_membarrier_cmd_str", "landlock_create_ruleset.flags": "_landlock_flags_str",
	"syslog.type": "_syslog_action_str=action",
}

// buffers are pointers to char that are not strings which the call is given: CALL.ARGUMENT. Of those with a length
// their beginning is shown.
var buffers = map[string]string{
	"write.buf": "count", "pwrite64.buf": "count", "init_module.uargs": "", "add_key._payload": "",
}

// strs are pointers to plain char that are strings all the same.
var strs = map[string]bool{"mount.dev_name": true, "mount.dir_name": true, "mount.type": true, "umount2.name": true,
	"sethostname.name": true, "setdomainname.name": true,
	"utime.filename": true, "utimes.filename": true}

// stap has other names for these calls, and for these arguments.
var calls = map[string]string{"pread64": "pread", "pwrite64": "pwrite", "newfstatat": "fstatat", "umount2": "umount",
	"mmap": "mmap2", "_sysctl": "sysctl"}

var args = map[string]string{
	"mmap.addr": "start", "mmap.len": "length", "mmap.off": "offset", "munmap.addr": "start", "munmap.len": "length",
	"mprotect.start": "start",
	"newfstatat.dfd": "dirfd", "newfstatat.filename": "path", "newfstatat.statbuf": "buf", "stat.statbuf": "buf",
	"lstat.statbuf": "buf", "fstat.statbuf": "buf", "fstat.fd": "filedes",
	"access.filename": "pathname", "faccessat.filename": "pathname", "dup.fildes": "oldfd", "chdir.filename": "path",
	"kill.sig":        "sig",
	"unlink.pathname": "pathname", "rmdir.pathname": "pathname", "rename.oldname": "oldpath",
	"rename.newname": "newpath", "link.oldname": "oldpath", "link.newname": "newpath",
	"symlink.oldname": "oldpath", "symlink.newname": "newpath", "chmod.filename": "path", "chown.filename": "path",
	"brk.brk": "brk", "ioctl.cmd": "request", "ioctl.arg": "argp",
	"wait4.upid": "pid", "wait4.stat_addr": "status", "wait4.ru": "rusage", "lseek.fd": "fildes", "mkdir.mode": "mode",
	"socket.type": "type", "getcwd.size": "size",
	"epoll_ctl.event": "event", "select.n": "nfds", "pselect6.n": "nfds", "mount.dev_name": "source",
	"mount.dir_name": "target", "mount.type": "filesystemtype", "mount.flags": "mountflags",
}

// results other than numbers: x an address, o octal.
var results = map[string]string{"mmap": "x", "mremap": "x", "brk": "x", "shmat": "x", "umask": "o", "mmap_pgoff": "x"}

var declared = regexp.MustCompile(`(?m)^probe syscall\.(\w+)(\.return)? =`)

func main() {
	log.SetFlags(0)
	special, err := os.ReadFile("syscalls_special.stp")
	if err != nil {
		log.Fatal(err)
	}
	have := map[string]bool{}
	for _, m := range declared.FindAllSubmatch(special, -1) {
		have[string(m[1])+string(m[2])] = true
	}
	var b bytes.Buffer
	b.WriteString("// System calls: syscall.NAME fires when one begins, syscall.NAME.return when it is over. Behind " +
		"each stand the\n" +
		"// variables that it sets, besides __nr, its number; behind all returns stand name, retval and retstr. " +
		"nd_syscall.NAME and\n// tp_syscall.NAME are the same. Strings are as they are in the variables, and quoted " +
		"in argstr.\n// Generated by gensys; DO NOT EDIT.\n")
	for _, c := range machine.Default.Calls {
		if !have[c.Name] {
			enter(&b, &c)
		}
		if !have[c.Name+".return"] {
			leave(&b, &c)
		}
	}
	writeOthers(&b)
	names(&b)
	if err := os.WriteFile("syscalls.stp", b.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
}

// names writes the function that names a system call.
func names(b *bytes.Buffer) {
	b.WriteString("\n/**\n * syscall_name gives the name of a system call by its number, the number itself as text " +
		"if there is none.\n *\n" + " * Example: probe begin { println(syscall_name(1), syscall_name(9999)) exit() " +
		"}\n */\nfunction syscall_name:string (num:long)\n{\n\treturn value_text(num, \"=%d;")
	for i, c := range machine.Default.Calls {
		if i > 0 {
			b.WriteString(",")
		}
		if i > 0 && i%8 == 0 {
			b.WriteString("\"\n\t\t\"")
		}
		fmt.Fprintf(b, "%d %s", c.Nr, c.Name)
	}
	b.WriteString("\")\n}\n")
}

// head writes the names that a probe has.
func head(b *bytes.Buffer, name, suffix string) {
	b.WriteString("probe ")
	names := []string{name}
	if calls[name] != "" {
		names = append(names, calls[name])
	}
	for _, n := range names {
		for _, family := range []string{"syscall", "nd_syscall", "tp_syscall"} {
			fmt.Fprintf(b, "%s.%s%s = ", family, n, suffix)
		}
	}
	// ppfunc() is the call's name as well, and the same expression for all of them: handlers that use the name alone
	// become one.
	value := "ppfunc()"
	if n := shown(name); n != name {
		value = fmt.Sprintf("%q", n)
	}
	fmt.Fprintf(b, "__syscall(%q)%s\n{\n\t__nr = $syscall\n\tname = %s\n", name, suffix, value)
}

// shown is what the variable name says: stap's name of the call.
func shown(name string) string {
	if n := calls[name]; n != "" && n != "mmap2" {
		return n
	}
	return name
}

func enter(b *bytes.Buffer, c *syscalls.Call) {
	var body bytes.Buffer
	var format []string
	var values []string
	vars := []string{"name"}
	memory := map[string]string{} // strings of the program's memory, and where they are
	set := func(name, value string) {
		fmt.Fprintf(&body, "\t%s = %s\n", name, value)
		vars = append(vars, name)
	}
	show := func(f, v string) {
		format = append(format, f)
		values = append(values, v)
	}
	for _, a := range c.Args() {
		key := c.Name + "." + a.Name
		name, val := a.Name, "$"+a.Name
		if n := args[key]; n != "" {
			name = n
		}
		fn, known := texts[key]
		if !known && (a.Name != "sig" || a.Type == "int") { // the sig of rseq is a signature
			fn = texts["."+a.Name]
		}
		count, buffer := buffers[key]
		ptr := strings.HasSuffix(a.Type, "*") || strings.HasSuffix(a.Type, "*const")
		switch {
		case fn != "":
			fn, other, ok := strings.Cut(fn, "=")
			if ok {
				name = other
			}
			name = legal(name)
			set(name, val)
			set(name+"_str", fn+"("+val+")")
			show("%s", name+"_str")
		case buffer && count != "":
			set(name+"_uaddr", val)
			set(name+"_str", fmt.Sprintf(`string_quoted(user_string_n2(%s, $%s < 64 ? $%s : 64, "<unknown>"))`, val,
				count, count))
			show("%s", name+"_str")
		case a.Type == "const char *" && !buffer || strs[key]:
			set(legal(name), "user_string2("+val+`, "<unknown>")`)
			memory[legal(name)] = val
			show("%s", "user_string_quoted("+val+")")
		case ptr:
			set(name+"_uaddr", val)
			show("0x%x", name+"_uaddr")
		case signed(&a) || key == "mmap.fd":
			set(name, val+" << 32 >> 32")
			show("%d", name)
		case a.Type == "umode_t" || key == "umask.mask":
			set(name, val)
			show("%#o", name)
		case (strings.HasPrefix(a.Type, "unsigned long") || key == "rseq.sig" || a.Type == "aio_context_t") &&
			!strings.Contains("len length size count nr_pages pages maxnode vlen liovcnt riovcnt",
				strings.TrimSuffix(name, "_")):
			set(legal(name), val)
			show("0x%x", legal(name))
		case strings.Contains(a.Type, "unsigned") || a.Type == "size_t" ||
			strings.HasPrefix(strings.TrimPrefix(a.Type, "__"), "u"):
			set(legal(name), val)
			show("%u", legal(name))
		default:
			set(legal(name), val)
			show("%d", legal(name))
		}
	}
	for _, pair := range strings.Fields(also[c.Name]) {
		name, ours, _ := strings.Cut(pair, "=")
		if !slices.Contains(vars, ours) || slices.Contains(vars, name) {
			log.Printf("%s: %s: there is no %s, or a %s already", c.Name, pair, ours, name)
			continue
		}
		set(name, ours)
		if memory[ours] != "" {
			memory[name] = memory[ours]
		}
	}
	// stap quotes strings in its variables and has others beside them that are not, and where they are.
	for _, name := range slices.Sorted(maps.Keys(memory)) {
		bare := strings.TrimSuffix(name, "_")
		set(bare+"_unquoted", name)
		if where := strings.TrimSuffix(bare, "_str") + "_uaddr"; !slices.Contains(vars, where) &&
			slices.Contains(strings.Fields(placed[c.Name]), where) {
			set(where, memory[name])
		}
	}
	for _, where := range strings.Fields(placed[c.Name]) {
		if !slices.Contains(vars, where) {
			log.Printf("%s: there is no string for %s", c.Name, where)
		}
	}
	for _, pair := range further[c.Name] {
		name, value, _ := strings.Cut(pair, "=")
		if slices.Contains(vars, name) {
			log.Printf("%s: there is a %s already", c.Name, name)
			continue
		}
		set(name, value)
	}
	if len(format) == 0 {
		set("argstr", `""`)
	} else {
		set("argstr", fmt.Sprintf("sprintf(%q, %s)", strings.Join(format, ", "), strings.Join(values, ", ")))
	}
	fmt.Fprintf(b, "\n// %s.\n", strings.Join(vars, ", "))
	head(b, c.Name, "")
	b.Write(body.Bytes())
	b.WriteString("}\n")
}

// signed reports whether a takes -1, of 32 bits, though the kernel declares it without a sign: descriptors, which
// programs get as -1 where they could not be opened, and users and groups, of which -1 leaves one as it is.
func signed(a *syscalls.Arg) bool {
	switch a.Type {
	case "uid_t", "gid_t", "qid_t":
		return true
	case "unsigned int", "unsigned long":
		return descriptor.MatchString(a.Name)
	}
	return false
}

var descriptor = regexp.MustCompile(
	`^(fd|ufd|fildes|filedes|oldfd|newfd|fs_fd|mount_fd|fd1|fd2|fdin|fdout|epfd|ringfd)$`)

// legal is a name that is no word of the language.
func legal(s string) string {
	switch s {
	case "next", "in", "string", "long", "function", "global", "probe", "name", "delete", "private":
		return s + "_"
	}
	return s
}

func leave(b *bytes.Buffer, c *syscalls.Call) {
	kind := results[c.Name]
	if kind == "" {
		kind = "r"
	}
	vars := []string{"name", "retval", "retstr"}
	var body bytes.Buffer
	for _, pair := range furtherReturn[c.Name] {
		name, value, _ := strings.Cut(pair, "=")
		vars = append(vars, name)
		fmt.Fprintf(&body, "\t%s = %s\n", name, value)
	}
	fmt.Fprintf(b, "\n// %s.\n", strings.Join(vars, ", "))
	head(b, c.Name, ".return")
	fmt.Fprintf(b, "\tretval = $return\n\tretstr = value_text($return, %q)\n%s}\n", kind, body.String())
}
