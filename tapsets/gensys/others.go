package main

import (
	"bytes"
	"fmt"
	"sort"
	"strings"
)

// others are calls that stap has names for and that 64-bit programs on x86-64 do not make, with the variables that
// they have: those of the 32-bit table, and those of other machines. Scripts that name them are translated; they
// never fire.
var others = map[string]string{
	"bdflush": "func data data_str", "chown16": "path: path_unquoted: owner group",
	"fadvise64_64": "fd offset len advice advice_str",
	"fchown16":     "fd owner group", "fstatfs64": "fd sz buf_uaddr", "ftruncate64": "fd length",
	"gethostname": "name_uaddr len",
	"lchown16":    "path: path_unquoted: owner group",
	"llseek":      "fd offset_high offset_low result_uaddr whence whence_str",
	"mmap32":      "start len prot prot_str flags flags_str fd offset", "ni_syscall": "", "nice": "inc",
	"pipe32":   "flags flag_str fildes_uaddr pipe0 pipe1",
	"pselect7": "nfds readfds writefds exceptfds timeout timeout_str sigmask sigsetsize",
	"pwrite32": "fd buf_uaddr buf_str count offset",
	"readdir":  "fd dirent count", "recv": "s buf_uaddr len flags flags_str",
	"rt_sigaction32": "sig sig_str act_uaddr act_str oact_uaddr sigsetsize",
	"send":           "s buf: buf_uaddr len flags flags_str", "setregid16": "rgid egid",
	"setresgid16": "rgid egid sgid",
	"setresuid16": "ruid euid suid",
	"setreuid16":  "ruid euid", "settimeofday32": "tv_uaddr tv_str tz_uaddr tz_str", "sgetmask": "",
	"sigaction":   "sig sig_str act_uaddr act_str oact_uaddr",
	"sigaction32": "sig sig_str act_uaddr act_str oact_uaddr", "signal": "sig sig_str handler handler_str",
	"sigpending":  "set",
	"sigprocmask": "how how_str set_uaddr oldset_uaddr", "sigreturn": "", "sigsuspend": "mask mask_str",
	"ssetmask": "newmask newmask_str",
	"statfs64": "path: path_unquoted: sz buf_uaddr", "stime": "t_uaddr", "sysctl32": "args",
	"timerfd": "ufd clockid flags", "tux": "action u_info_uaddr",
	"ustat32": "dev ubuf_uaddr", "vm86_warning": "", "waitpid": "pid status_uaddr options options_str",
}

// othersReturn are variables of theirs behind the return.
var othersReturn = map[string]string{"pipe32": "flags fildes_uaddr pipe0 pipe1"}

// writeOthers writes them behind the calls that there are.
func writeOthers(b *bytes.Buffer) {
	var names []string
	for n := range others {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		for _, suffix := range []string{"", ".return"} {
			vars, sets := []string{"name"}, ""
			fields := strings.Fields(others[n])
			if suffix != "" {
				fields = append([]string{"retval", "retstr:"}, strings.Fields(othersReturn[n])...)
			} else {
				fields = append(fields, "argstr:")
			}
			for _, f := range fields {
				v, text := strings.CutSuffix(f, ":")
				value := "0"
				if text || strings.HasSuffix(v, "_str") {
					value = `""`
				}
				vars = append(vars, v)
				sets += fmt.Sprintf("\t%s = %s\n", v, value)
			}
			fmt.Fprintf(b, "\n// Never fires: %s is no call of 64-bit programs on this machine. %s.\nprobe "+
				"syscall.%s%s = nd_syscall.%s%s = tp_syscall.%s%s = never\n{\n\tname = %q\n%s}\n", n,
				strings.Join(vars, ", "), n, suffix, n, suffix, n, suffix, n, sets)
		}
	}
}
