// Package intrinsic is the table of functions that the script language has built in:
// what cannot be written in the language itself. Library files declare them with a
// body of %{ intrinsic %}; executors implement them by name, and a test walks this
// table over every executor.
package intrinsic

import (
	"sort"

	"github.com/gostap/gostap/compiler/caps"
	"github.com/gostap/gostap/compiler/types"
)

// Where says which executors can run an intrinsic.
type Where uint8

// The places.
const (
	Anywhere Where = iota // in handlers in the kernel and on the host
	HostOnly              // only in handlers that run on the host; from others it is sent there (system, ctime)
	// PrintOnly: in the kernel it can only be an argument of the print family, where the raw
	// value travels and the host makes the text (symbol names, backtraces).
	PrintOnly
	// Lowered: the compiler makes other instructions of it (from what is known about the probed site);
	// executors never see it.
	Lowered
)

// Func is one intrinsic.
type Func struct {
	Name   string
	Params []types.Type
	Result types.Type // Unknown: none
	// Cap is the most bytes a String result can have; 0: as much as MAXSTRINGLEN allows;
	// -n: no more than argument n (from 1) has.
	Cap int
	// Pure: depends on nothing but its arguments, and does nothing else.
	Pure bool
	// Context: depends on the probed context (task, registers), so it means something else on the host.
	Context bool
	// CanFail: may raise a run-time error.
	CanFail bool
	// Guru: changes the traced program or the kernel, and so needs -g.
	Guru  bool
	Where Where
	Needs caps.Set
}

// Lookup finds an intrinsic by name, nil if there is none.
func Lookup(name string) *Func { return byName[name] }

// All lists them by name.
func All() []*Func {
	out := make([]*Func, 0, len(byName))
	for _, f := range byName {
		out = append(out, f)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

var byName = map[string]*Func{}

// UserNames are the functions that give a text about an address of the traced process.
var UserNames = []string{"usymname", "usymdata", "usymfileline", "usymfile", "usymline", "umodname",
	"usym_frame", "usym_caller", "usym_brief", "usym_caller_brief", "usym_caller_name"}

const (
	l = types.Long
	s = types.String
	n = types.Unknown
)

func def(f Func, params ...types.Type) {
	f.Params = params
	byName[f.Name] = &f
}

func init() {
	// Who and where.
	for _, name := range []string{"pid", "tid", "ppid", "uid", "euid", "gid", "egid", "cpu", "pgrp", "sid"} {
		def(Func{Name: name, Result: l, Context: true})
	}
	def(Func{Name: "ns_pid", Result: l, Context: true})
	def(Func{Name: "ns_tid", Result: l, Context: true})
	def(Func{Name: "execname", Result: s, Cap: 15, Context: true})
	def(Func{Name: "pexecname", Result: s, Cap: 15, Context: true})
	def(Func{Name: "task_current", Result: l, Context: true})
	def(Func{Name: "stp_pid", Result: l}) // the tracer
	def(Func{Name: "target", Result: l})  // -x, or the child of -c
	def(Func{Name: "module_name", Result: s, Cap: 64, Pure: true})
	def(Func{Name: "is_return", Result: l, Context: true})

	// Time. All executors use the same clocks: real time for gettimeofday_*, CLOCK_MONOTONIC for the rest.
	for _, name := range []string{"gettimeofday_ns", "gettimeofday_us", "gettimeofday_ms", "gettimeofday_s", "get_cycles", "local_clock_ns", "ktime_get_ns", "jiffies"} {
		def(Func{Name: name, Result: l})
	}

	// Strings.
	def(Func{Name: "strlen", Result: l, Pure: true}, s)
	def(Func{Name: "substr", Result: s, Cap: -1, Pure: true}, s, l, l)
	def(Func{Name: "stringat", Result: l, Pure: true, CanFail: true}, s, l)
	def(Func{Name: "isinstr", Result: l, Pure: true}, s, s)
	def(Func{Name: "strpos", Result: l, Pure: true}, s, s) // index of the first occurrence, -1 if none
	def(Func{Name: "strtol", Result: l, Pure: true}, s, l)
	def(Func{Name: "str_replace", Result: s, Pure: true}, s, s, s)
	def(Func{Name: "text_str", Result: s, Pure: true}, s)
	def(Func{Name: "text_strn", Result: s, Pure: true}, s, l, l)
	def(Func{Name: "string_quoted", Result: s, Pure: true}, s)
	def(Func{Name: "tolower", Result: s, Cap: -1, Pure: true}, s)
	def(Func{Name: "toupper", Result: s, Cap: -1, Pure: true}, s)
	def(Func{Name: "char_string", Result: s, Cap: 1, Pure: true}, l) // one byte as a string

	// Memory of the traced process. user_string fails on a bad address, the others of its
	// family with a second string give that string instead. The _n forms with a length of 0 or less
	// give "" whatever the address is (Go strings without bytes have any).
	mem := caps.Of(caps.ReadUser)
	def(Func{Name: "user_string", Result: s, Context: true, CanFail: true, Needs: mem}, l)
	def(Func{Name: "user_string2", Result: s, Context: true, Needs: mem}, l, s)
	def(Func{Name: "user_string_n", Result: s, Context: true, CanFail: true, Needs: mem}, l, l)
	def(Func{Name: "user_string_n2", Result: s, Context: true, Needs: mem}, l, l, s)
	// user_line(address, n, c): n bytes as text, with byte c (a space for 0) in place of each NUL, but for one at the end, which is left
	// out. Where not all of it fits into the result, the rest is not read.
	def(Func{Name: "user_line", Result: s, Context: true, CanFail: true, Needs: mem}, l, l, l)
	// user_text(address, n, c): n bytes, all up to a NUL for n < 0, in double quotes and with escapes, with "..." behind the closing one
	// where not all of it fits into a string. Where c is not 0 a NUL ends it in any case, and the address 0 gives NULL. An address that is
	// bad gives itself in hexadecimal. The compiler makes it of what $x$ and $$vars show; both back ends leave the quoting to the host where
	// the text is only printed.
	def(Func{Name: "user_text", Result: s, Context: true, Needs: mem}, l, l, l)
	for _, name := range []string{"user_int8", "user_uint8", "user_int16", "user_uint16", "user_int32", "user_uint32", "user_int64", "user_uint64"} {
		def(Func{Name: name, Result: l, Context: true, CanFail: true, Needs: mem}, l)
	}
	kmem := caps.Of(caps.ReadKernel)
	def(Func{Name: "kernel_string", Result: s, CanFail: true, Needs: kmem}, l)
	def(Func{Name: "kernel_string_n", Result: s, CanFail: true, Needs: kmem}, l, l)
	def(Func{Name: "kernel_string2", Result: s, Needs: kmem}, l, s)
	def(Func{Name: "kernel_string_n2", Result: s, Needs: kmem}, l, l, s)
	def(Func{Name: "kernel_text", Result: s, Needs: kmem}, l, l, l)
	for _, name := range []string{"kernel_int8", "kernel_uint8", "kernel_int16", "kernel_uint16", "kernel_int32", "kernel_uint32", "kernel_int64", "kernel_uint64"} {
		def(Func{Name: name, Result: l, CanFail: true, Needs: kmem}, l)
	}

	// Stacks and symbols.
	def(Func{Name: "uaddr", Result: l, Context: true})
	def(Func{Name: "addr", Result: l, Context: true})
	// Those of UserNames have a second form for the host, NAME_of(address, process).
	for _, name := range UserNames {
		def(Func{Name: name, Result: s, Context: true, Where: PrintOnly}, l)
		def(Func{Name: name + "_of", Result: s, Where: HostOnly}, l, l)
	}
	def(Func{Name: "modname", Result: s, Where: PrintOnly}, l)
	// The n-th address of a stack, from 0, which is the probed place; 0 where the stack ends.
	def(Func{Name: "ustack_level", Result: l, Context: true}, l)
	// How many of the first addresses ustack_level gives for sure; the host knows the others (ubacktrace).
	def(Func{Name: "ustack_sure", Result: l, Context: true, Where: Lowered})
	def(Func{Name: "stack_level", Result: l, Context: true}, l)
	def(Func{Name: "ubacktrace", Result: s, Context: true, Where: PrintOnly})        // hex addresses, spaces between
	def(Func{Name: "sprint_ubacktrace", Result: s, Context: true, Where: PrintOnly}) // one frame a line, with names
	def(Func{Name: "symname", Result: s, Where: PrintOnly}, l)
	def(Func{Name: "symdata", Result: s, Where: PrintOnly}, l)
	// Of an address of a stack below the first one, where a caller goes on.
	def(Func{Name: "sym_caller", Result: s, Where: PrintOnly}, l)
	def(Func{Name: "sym_caller_name", Result: s, Where: PrintOnly}, l)
	def(Func{Name: "backtrace", Result: s, Context: true, Where: PrintOnly})
	def(Func{Name: "sprint_backtrace", Result: s, Context: true, Where: PrintOnly})

	// The site that fired.
	for _, name := range []string{"pp", "ppfunc", "probefunc", "pn"} {
		def(Func{Name: name, Result: s, Context: true, Where: Lowered})
	}
	// What fired: whether there are registers, whether the processor was in user mode, by which means.
	def(Func{Name: "registers_valid", Result: l, Context: true, Where: Lowered})
	def(Func{Name: "user_mode", Result: l, Context: true, Where: Lowered})
	def(Func{Name: "probe_type", Result: s, Context: true, Where: Lowered})
	// 1 in handlers that run in the tracer because nothing is probed (begin, end, timers), else 0.
	def(Func{Name: "on_host", Result: l, Context: true, Where: Lowered})
	// MAXSTRINGLEN.
	def(Func{Name: "max_string_len", Result: l, Pure: true, Where: Lowered})
	// The current goroutine, read from runtime.g: its number, that of its parent, the pc of the go
	// statement, the pc of its first function, its address, its status and wait reason. Sites in
	// programs that are not Go's refuse them at compile time.
	for _, name := range []string{"goid", "go_parent_goid", "go_pc", "go_startpc", "go_g", "go_status", "go_waitreason"} {
		def(Func{Name: name, Result: l, Context: true, CanFail: true, Where: Lowered})
	}
	// The n-th integer argument of the probed function, from 1, by its calling convention (for
	// programs without DWARF), and the first integer result at a return. The argument must be a constant.
	for _, name := range []string{"int_arg", "uint_arg", "long_arg", "ulong_arg", "longlong_arg", "ulonglong_arg", "pointer_arg", "s32_arg", "u32_arg", "s64_arg", "u64_arg"} {
		def(Func{Name: name, Result: l, Context: true, CanFail: true, Where: Lowered}, l)
	}
	def(Func{Name: "returnval", Result: l, Context: true, CanFail: true, Where: Lowered})

	// The same, changed: the number of the argument, a constant, and what it shall be; and the result at a return.
	for _, name := range []string{"set_int_arg", "set_uint_arg", "set_long_arg", "set_ulong_arg", "set_s32_arg", "set_u32_arg", "set_s64_arg", "set_u64_arg"} {
		def(Func{Name: name, Result: n, Context: true, CanFail: true, Guru: true, Where: Lowered}, l, l)
	}
	def(Func{Name: "set_returnval", Result: n, Context: true, CanFail: true, Guru: true, Where: Lowered}, l)
	// Memory of the traced process and of the kernel, changed: the address and the number.
	for _, space := range []string{"user", "kernel"} {
		for _, size := range []string{"int8", "int16", "int32", "int64"} {
			def(Func{Name: "set_" + space + "_" + size, Result: n, Context: true, CanFail: true, Guru: true, Where: Lowered}, l, l)
		}
	}
	// The system, changed. raise gives 0 or the error of the kernel. Those without eBPF are refused there by name.
	def(Func{Name: "raise", Result: l, Guru: true}, l)
	def(Func{Name: "panic", Result: n, Guru: true}, s)
	def(Func{Name: "mdelay", Result: n, Guru: true}, l)
	def(Func{Name: "udelay", Result: n, Guru: true}, l)
	def(Func{Name: "dump_stack", Result: n, Guru: true})
	def(Func{Name: "printk", Result: n, Guru: true, Where: HostOnly}, l, s)

	// Registers of the probed context, by name.
	def(Func{Name: "register", Result: l, Context: true, CanFail: true}, s)
	def(Func{Name: "u_register", Result: l, Context: true, CanFail: true}, s)

	// The session.
	def(Func{Name: "exit", Result: n})
	def(Func{Name: "error", Result: n, CanFail: true}, s)
	def(Func{Name: "warn", Result: n}, s)
	def(Func{Name: "log", Result: n}, s)
	def(Func{Name: "abort", Result: n, CanFail: true})
	def(Func{Name: "system", Result: n, Where: HostOnly, Needs: caps.Of(caps.HostCommands)}, s)
	def(Func{Name: "ftrace", Result: n, Where: HostOnly}, s)
	def(Func{Name: "ctime", Result: s, Pure: true, Where: PrintOnly, Cap: 32}, l)
	// A number as text, by a table: see textfmt.Decode. In the kernel the table has to be a constant. A
	// constant one may be longer than MAXSTRINGLEN (ir.MaxTable).
	def(Func{Name: "value_text", Result: s, Pure: true, Where: PrintOnly}, l, s)
	// An entry of a constant table, by its number from 0; "" for what is none. Newlines end the entries. The table may be longer
	// than MAXSTRINGLEN (ir.MaxTable). For the compiler: no script names it.
	def(Func{Name: "table_text", Result: s, Pure: true}, l, s)
	def(Func{Name: "tz_gmtoff", Result: l})
	def(Func{Name: "tz_name", Result: s, Cap: 15})
	def(Func{Name: "randint", Result: l, CanFail: true}, l)
	// Output that is held back: all handlers that have to do with it run on the host, in the order of their hits.
	def(Func{Name: "speculation", Result: l, CanFail: true, Where: HostOnly})
	def(Func{Name: "speculate", Result: n, CanFail: true, Where: HostOnly}, l, s)
	def(Func{Name: "commit", Result: n, CanFail: true, Where: HostOnly}, l)
	def(Func{Name: "discard", Result: n, CanFail: true, Where: HostOnly}, l)
	def(Func{Name: "input_text", Result: s, Where: HostOnly})
	def(Func{Name: "env_var", Result: s, Where: HostOnly, Cap: 0}, s) // of the tracer
	def(Func{Name: "loadavg", Result: l, Where: HostOnly, CanFail: true}, l)
	// Numbers with a fraction, of 64 bits as IEEE 754 has them, in the bits of a number.
	for _, name := range []string{"fp_add", "fp_sub", "fp_mul", "fp_div", "fp_rem", "fp_eq", "fp_le", "fp_lt"} {
		def(Func{Name: name, Result: l, Pure: true, Where: HostOnly}, l, l)
	}
	for _, name := range []string{"fp_sqrt", "long_to_fp", "fp32_to_fp64"} {
		def(Func{Name: name, Result: l, Pure: true, Where: HostOnly}, l)
	}
	def(Func{Name: "fp_to_long", Result: l, Pure: true, CanFail: true, Where: HostOnly}, l, l, l)
	def(Func{Name: "fp_to_string", Result: s, Pure: true, Where: HostOnly}, l, l)
	def(Func{Name: "string_to_fp", Result: l, Pure: true, CanFail: true, Where: HostOnly}, s)

	// Regular expressions: the last match of the handler.
	def(Func{Name: "ngroups", Result: l})
	def(Func{Name: "matched", Result: s, CanFail: true}, l)
}
