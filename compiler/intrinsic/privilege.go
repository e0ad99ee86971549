package intrinsic

import "strings"

// unprivileged are the functions that a script may use which is checked for a user of the group stapusr
// (--privilege=stapusr): they tell nothing about the kernel or about processes of others.
var unprivileged = map[string]bool{}

func init() {
	for _, name := range strings.Fields(`
		abort cpu egid error euid execname exit get_cycles gid gettimeofday_ms gettimeofday_ns gettimeofday_s gettimeofday_us
		isinstr jiffies ktime_get_ns local_clock_ns log matched module_name ngroups ns_pid ns_tid pexecname pgrp pid pn pp ppfunc
		ppid probefunc randint sid speculation speculate commit discard sprint_ubacktrace str_replace stringat strlen strpos strtol
		substr system target text_str text_strn tid tolower toupper char_string tz_gmtoff tz_name uaddr ubacktrace uid usymdata
		usymfileline usymname warn
		user_string user_string2 user_string_n user_string_n2 user_text user_int8 user_uint8 user_int16 user_uint16 user_int32 user_uint32
		user_int64 user_uint64
		usymfile usymline umodname usym_frame usym_caller usym_brief usym_caller_brief usym_caller_name ustack_level ustack_sure user_mode registers_valid probe_type max_string_len on_host stp_pid loadavg
		fp_add fp_sub fp_mul fp_div fp_rem fp_eq fp_le fp_lt fp_sqrt long_to_fp fp32_to_fp64 fp_to_long fp_to_string string_to_fp
		goid go_g go_parent_goid go_status go_waitreason go_startpc go_pc`) {
		unprivileged[name] = true
	}
}

// Unprivileged reports whether scripts for users of the group stapusr may use f.
func Unprivileged(f *Func) bool { return unprivileged[f.Name] }
