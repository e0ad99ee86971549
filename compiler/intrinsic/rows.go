package intrinsic

import (
	"github.com/gostap/gostap/compiler/caps"
	"github.com/gostap/gostap/compiler/types"
	"github.com/gostap/gostap/runtime/wire"
)

type list = []types.Type

const (
	l = types.Long
	s = types.String
)

// rows are the functions, by what they are about.
var rows = [...]Func{
	// Who and where.
	{Name: "pid", Result: l, Does: Steady, Fails: Never, Unprivileged: true},
	{Name: "tid", Result: l, Does: Steady, Fails: Never, Unprivileged: true, Thread: true},
	{Name: "ppid", Result: l, Does: Steady, Fails: Never, Unprivileged: true},
	{Name: "uid", Result: l, Does: Steady, Fails: Never, Unprivileged: true},
	{Name: "euid", Result: l, Does: Steady, Fails: Never, Unprivileged: true},
	{Name: "gid", Result: l, Does: Steady, Fails: Never, Unprivileged: true},
	{Name: "egid", Result: l, Does: Steady, Fails: Never, Unprivileged: true},
	{Name: "cpu", Result: l, Does: Asks, Fails: Never, Unprivileged: true},
	{Name: "pgrp", Result: l, Does: Steady, Fails: Never, Unprivileged: true},
	{Name: "sid", Result: l, Does: Steady, Fails: Never, Unprivileged: true},
	{Name: "ns_pid", Result: l, Does: Steady, Fails: Never, Unprivileged: true},
	{Name: "ns_tid", Result: l, Does: Steady, Fails: Never, Unprivileged: true},
	{Name: "execname", Result: s, Cap: 15, Does: Steady, Fails: Never, Unprivileged: true},
	{Name: "pexecname", Result: s, Cap: 15, Does: Steady, Fails: Never, Unprivileged: true},
	{Name: "task_current", Result: l, Does: Steady, Fails: Never, Peeks: "asks the kernel for the current task"},
	// The tracer, and -x or the child of -c.
	{Name: "stp_pid", Result: l, Does: Asks, Fails: Never, Later: true, Unprivileged: true},
	{Name: "target", Result: l, Does: Steady, Fails: Never, Later: true, Unprivileged: true},
	{Name: "module_name", Result: s, Cap: 64, Does: Pure, Fails: Never, Later: true, Unprivileged: true},
	{Name: "is_return", Result: l, Does: Steady, Fails: Never},

	// Time. All executors use the same clocks: real time for gettimeofday_*, CLOCK_MONOTONIC for the rest.
	{Name: "gettimeofday_ns", Result: l, Does: Asks, Fails: Never, Unprivileged: true, Away: true},
	{Name: "gettimeofday_us", Result: l, Does: Asks, Fails: Never, Unprivileged: true, Away: true},
	{Name: "gettimeofday_ms", Result: l, Does: Asks, Fails: Never, Unprivileged: true, Away: true},
	{Name: "gettimeofday_s", Result: l, Does: Asks, Fails: Never, Unprivileged: true, Away: true},
	{Name: "get_cycles", Result: l, Does: Asks, Fails: Never, Unprivileged: true},
	{Name: "local_clock_ns", Result: l, Does: Asks, Fails: Never, Unprivileged: true},
	{Name: "ktime_get_ns", Result: l, Does: Asks, Fails: Never, Unprivileged: true},
	{Name: "jiffies", Result: l, Does: Asks, Fails: Never, Unprivileged: true,
		Peeks: "asks the kernel for its ticks"},

	// Strings. strpos gives the index of the first occurrence, -1 if there is none; char_string one byte as a string.
	{Name: "strlen", Params: list{s}, Result: l, Does: Pure, Fails: Never, Later: true, Unprivileged: true},
	{Name: "substr", Params: list{s, l, l}, Result: s, Cap: -1, Len: 3, Does: Pure, Fails: Never, Later: true,
		Unprivileged: true},
	{Name: "stringat", Params: list{s, l}, Result: l, Does: Pure, Later: true, Unprivileged: true},
	// For the compiler: 8 bytes of a string from one on as a little-endian number, with zeros where the string has
	// ended, and 0 in front of it. If it ends in these 8 bytes, they are to begin at a multiple of 8.
	{Name: "string_word", Params: list{s, l}, Result: l, Does: Pure, Fails: Never, Later: true,
		Unprivileged: true},
	// For the compiler: see aes.Columns; the low 8 bits of the argument count.
	{Name: "aes_column", Params: list{l}, Result: l, Does: Pure, Fails: Never, Later: true, Unprivileged: true},
	{Name: "isinstr", Params: list{s, s}, Result: l, Does: Pure, Fails: Never, Later: true, Unprivileged: true},
	{Name: "strpos", Params: list{s, s}, Result: l, Does: Pure, Fails: Never, Later: true, Unprivileged: true},
	{Name: "strtol", Params: list{s, l}, Result: l, Does: Pure, Fails: Never, Later: true, Unprivileged: true},
	{Name: "str_replace", Params: list{s, s, s}, Result: s, Does: Pure, Fails: Never, Later: true,
		Unprivileged: true},
	{Name: "text_str", Params: list{s}, Result: s, Does: Pure, Fails: Never, Later: true, Unprivileged: true},
	{Name: "text_strn", Params: list{s, l, l}, Result: s, Does: Pure, Fails: Never, Later: true,
		Unprivileged: true},
	{Name: "string_quoted", Params: list{s}, Result: s, Does: Pure, Fails: Never, Later: true},
	{Name: "tolower", Params: list{s}, Result: s, Cap: -1, Does: Pure, Fails: Never, Later: true,
		Unprivileged: true},
	{Name: "toupper", Params: list{s}, Result: s, Cap: -1, Does: Pure, Fails: Never, Later: true,
		Unprivileged: true},
	{Name: "char_string", Params: list{l}, Result: s, Cap: 1, Does: Pure, Fails: Never, Later: true,
		Unprivileged: true},

	// Memory of the traced process. user_string fails on a bad address, the others of its
	// family with a second string give that string instead. The _n forms with a length of 0 or less
	// give "" whatever the address is (Go strings without bytes have any).
	{Name: "user_string", Params: list{l}, Result: s, Does: Asks, Fails: Faults, Unprivileged: true,
		Reads: caps.ReadUser},
	{Name: "user_string2", Params: list{l, s}, Result: s, Else: 2, Does: Asks, Fails: Never, Unprivileged: true,
		Reads: caps.ReadUser},
	{Name: "user_string_n", Params: list{l, l}, Result: s, Len: 2, Does: Asks, Fails: Faults, Unprivileged: true,
		Reads: caps.ReadUser},
	{Name: "user_string_n2", Params: list{l, l, s}, Result: s, Len: 2, Else: 3, Does: Asks, Fails: Never,
		Unprivileged: true, Reads: caps.ReadUser},
	// user_line(address, n, c): n bytes as text, with byte c (a space for 0) in place of each NUL, but for one at
	// the end, which is left out. Where not all of it fits into the result, the rest is not read.
	{Name: "user_line", Params: list{l, l, l}, Result: s, Does: Asks, Fails: Faults, Reads: caps.ReadUser},
	// user_text(address, n, c): n bytes, all up to a NUL for n < 0, in double quotes and with escapes, with "..."
	// behind the closing one where not all of it fits into a string. Where c is not 0 a NUL ends it in any case,
	// and the address 0 gives NULL. An address that is bad gives itself in hexadecimal. The compiler makes it of
	// what $x$ and $$vars show; both back ends leave the quoting to the host where the text is only printed.
	{Name: "user_text", Params: list{l, l, l}, Result: s, Len: 2, Quotes: true, Does: Asks, Fails: Never,
		Unprivileged: true, Reads: caps.ReadUser},
	{Name: "user_int8", Params: list{l}, Result: l, Does: Asks, Fails: Faults, Unprivileged: true,
		Reads: caps.ReadUser},
	{Name: "user_uint8", Params: list{l}, Result: l, Does: Asks, Fails: Faults, Unprivileged: true,
		Reads: caps.ReadUser},
	{Name: "user_int16", Params: list{l}, Result: l, Does: Asks, Fails: Faults, Unprivileged: true,
		Reads: caps.ReadUser},
	{Name: "user_uint16", Params: list{l}, Result: l, Does: Asks, Fails: Faults, Unprivileged: true,
		Reads: caps.ReadUser},
	{Name: "user_int32", Params: list{l}, Result: l, Does: Asks, Fails: Faults, Unprivileged: true,
		Reads: caps.ReadUser},
	{Name: "user_uint32", Params: list{l}, Result: l, Does: Asks, Fails: Faults, Unprivileged: true,
		Reads: caps.ReadUser},
	{Name: "user_int64", Params: list{l}, Result: l, Does: Asks, Fails: Faults, Unprivileged: true,
		Reads: caps.ReadUser},
	{Name: "user_uint64", Params: list{l}, Result: l, Does: Asks, Fails: Faults, Unprivileged: true,
		Reads: caps.ReadUser},
	// For the compiler: reads n bytes, a constant multiple of 8 up to 64, of which block_word(i) gives the i-th 8,
	// before the next loop or call begins.
	{Name: "user_block", Params: list{l, l}, Const: 2, Does: Acts, Fails: MayFail, Unprivileged: true,
		Reads: caps.ReadUser},
	{Name: "block_word", Params: list{l}, Result: l, Const: 1, Does: Asks, Fails: Never, Unprivileged: true},
	// Likewise the 40 bytes at runtime.aeskeysched of a Go program, which do not change once they are there.
	{Name: "aes_schedule", Params: list{l}, Does: Acts, Fails: MayFail, Unprivileged: true, Reads: caps.ReadUser},
	// For the compiler: what the near_ functions are asked next is likely to be among these n bytes, a constant
	// multiple of 8. They are user_uint8 and so on but may give what was there then.
	{Name: "user_window", Params: list{l, l}, Const: 2, Does: Acts, Fails: Never, Unprivileged: true,
		Reads: caps.ReadUser},
	{Name: "near_uint8", Params: list{l}, Result: l, Does: Asks, Fails: Faults, Unprivileged: true,
		Reads: caps.ReadUser},
	{Name: "near_uint16", Params: list{l}, Result: l, Does: Asks, Fails: Faults, Unprivileged: true,
		Reads: caps.ReadUser},
	{Name: "near_uint32", Params: list{l}, Result: l, Does: Asks, Fails: Faults, Unprivileged: true,
		Reads: caps.ReadUser},
	{Name: "near_uint64", Params: list{l}, Result: l, Does: Asks, Fails: Faults, Unprivileged: true,
		Reads: caps.ReadUser},
	// For the compiler: whether the bytes at an address are those of a string, as many as it has.
	{Name: "user_is", Params: list{l, s}, Result: l, Does: Asks, Fails: Faults, Unprivileged: true,
		Reads: caps.ReadUser},
	// The same of the kernel.
	{Name: "kernel_string", Params: list{l}, Result: s, Does: Asks, Fails: Faults, Reads: caps.ReadKernel},
	{Name: "kernel_string2", Params: list{l, s}, Result: s, Else: 2, Does: Asks, Fails: Never,
		Reads: caps.ReadKernel},
	{Name: "kernel_string_n", Params: list{l, l}, Result: s, Len: 2, Does: Asks, Fails: Faults,
		Reads: caps.ReadKernel},
	{Name: "kernel_string_n2", Params: list{l, l, s}, Result: s, Len: 2, Else: 3, Does: Asks, Fails: Never,
		Reads: caps.ReadKernel},
	{Name: "kernel_text", Params: list{l, l, l}, Result: s, Len: 2, Quotes: true, Does: Asks, Fails: Never,
		Reads: caps.ReadKernel},
	{Name: "kernel_int8", Params: list{l}, Result: l, Does: Asks, Fails: Faults, Reads: caps.ReadKernel},
	{Name: "kernel_uint8", Params: list{l}, Result: l, Does: Asks, Fails: Faults, Reads: caps.ReadKernel},
	{Name: "kernel_int16", Params: list{l}, Result: l, Does: Asks, Fails: Faults, Reads: caps.ReadKernel},
	{Name: "kernel_uint16", Params: list{l}, Result: l, Does: Asks, Fails: Faults, Reads: caps.ReadKernel},
	{Name: "kernel_int32", Params: list{l}, Result: l, Does: Asks, Fails: Faults, Reads: caps.ReadKernel},
	{Name: "kernel_uint32", Params: list{l}, Result: l, Does: Asks, Fails: Faults, Reads: caps.ReadKernel},
	{Name: "kernel_int64", Params: list{l}, Result: l, Does: Asks, Fails: Faults, Reads: caps.ReadKernel},
	{Name: "kernel_uint64", Params: list{l}, Result: l, Does: Asks, Fails: Faults, Reads: caps.ReadKernel},

	// Stacks: where the program is, and the address of the probed instruction.
	{Name: "uaddr", Result: l, Does: Asks, Fails: Never, Unprivileged: true, Idle: true},
	{Name: "addr", Result: l, Does: Asks, Fails: Never, Idle: true},
	// The n-th address of a stack, from 0, which is the probed place; 0 where the stack ends.
	{Name: "ustack_level", Params: list{l}, Result: l, Does: Asks, Fails: Never, Unprivileged: true, Idle: true},
	// How many of the first addresses ustack_level gives for sure; the host knows the others (ubacktrace).
	{Name: "ustack_sure", Result: l, Does: Asks, Fails: Never, Unprivileged: true, Where: Lowered},
	{Name: "stack_level", Params: list{l}, Result: l, Does: Asks, Fails: Never, Idle: true},
	// The number of a stack that the kernel keeps, 0 for none, and the text of one, as of sprint_ubacktrace or
	// sprint_backtrace.
	{Name: "ustack_kept", Result: l, Keeps: true, Does: Asks, Fails: MayFail, Unprivileged: true, Idle: true},
	// ustack_below is ustack_kept with another address below all others: of the go statement that made the goroutine,
	// 0 for none. gostack_kept is that of a goroutine whose thread is on another stack, of the pc, stack and frame
	// pointer with which it goes on, or of the registers if the stack pointer is 0, and where its own stack begins and
	// ends; frames that lie elsewhere do not count.
	{Name: "ustack_below", Params: list{l}, Result: l, Keeps: true, Does: Asks, Fails: MayFail, Unprivileged: true,
		Idle: true},
	{Name: "gostack_kept", Params: list{l, l, l, l, l, l}, Result: l, Keeps: true, Does: Asks, Fails: MayFail,
		Unprivileged: true, Idle: true},
	{Name: "gostack", Result: l, Keeps: true, Does: Asks, Fails: MayFail, Unprivileged: true, Where: Lowered},
	{Name: "gostack_created", Result: l, Keeps: true, Does: Asks, Fails: MayFail, Unprivileged: true, Where: Lowered},
	{Name: "kstack_kept", Result: l, Keeps: true, Does: Asks, Fails: MayFail, Idle: true},
	{Name: "stack_text", Params: list{l}, Result: s, Does: Asks, Fails: Never, Unprivileged: true, Later: true,
		Away: true, Where: PrintOnly, Text: wire.Arg{Kind: wire.Int, Lazy: wire.KeptStack}},
	// Its addresses, as of ubacktrace or backtrace.
	{Name: "stack_addrs", Params: list{l}, Result: s, OfStack: true, Does: Asks, Fails: Never, Unprivileged: true,
		Later: true, Where: PrintOnly, Text: wire.Arg{Kind: wire.Int, Lazy: wire.KeptHex}},
	// Its number, and the stack of a number.
	{Name: "stack_number", Params: list{l}, Result: l, OfStack: true, Does: Asks, Fails: Never, Unprivileged: true,
		Where: Lowered},
	{Name: "stack_numbered", Params: list{l}, Result: l, Keeps: true, Does: Asks, Fails: Never, Unprivileged: true,
		Where: Lowered},
	// Its functions, the outermost one first.
	{Name: "stack_folded", Params: list{l}, Result: s, OfStack: true, Does: Asks, Fails: Never, Unprivileged: true,
		Later: true, Away: true, Where: PrintOnly, Text: wire.Arg{Kind: wire.Int, Lazy: wire.KeptFolded}},
	// Addresses in hex with spaces between, or one frame a line, with names.
	{Name: "ubacktrace", Result: s, Does: Asks, Fails: Never, Unprivileged: true, Where: PrintOnly, Idle: true,
		Text: wire.Arg{Kind: wire.Stack, Lazy: wire.StackHex}},
	{Name: "sprint_ubacktrace", Result: s, Does: Asks, Fails: Never, Unprivileged: true, Where: PrintOnly,
		Idle: true, Text: wire.Arg{Kind: wire.Stack, Lazy: wire.StackNames}},
	{Name: "backtrace", Result: s, Does: Asks, Fails: Never, Where: PrintOnly, Idle: true,
		Text: wire.Arg{Kind: wire.Stack, Lazy: wire.KStackHex}},
	{Name: "sprint_backtrace", Result: s, Does: Asks, Fails: Never, Where: PrintOnly, Idle: true,
		Text: wire.Arg{Kind: wire.Stack, Lazy: wire.KStackNames}},
	// Symbols of the program. Each has a second form for the host, NAME_of(address, process).
	{Name: "usymname", Params: list{l}, Result: s, Does: Asks, Fails: Never, Unprivileged: true, Where: PrintOnly,
		Text: wire.Arg{Kind: wire.Sym, Lazy: wire.SymName}, Of: "usymname_of"},
	{Name: "usymname_of", Params: list{l, l}, Result: s, Does: Asks, Fails: Never, Later: true, Where: HostOnly,
		Text: wire.Arg{Kind: wire.Sym, Lazy: wire.SymName}, OfProcess: true},
	{Name: "usymdata", Params: list{l}, Result: s, Does: Asks, Fails: Never, Unprivileged: true, Where: PrintOnly,
		Text: wire.Arg{Kind: wire.Sym, Lazy: wire.SymData}, Of: "usymdata_of"},
	{Name: "usymdata_of", Params: list{l, l}, Result: s, Does: Asks, Fails: Never, Later: true, Where: HostOnly,
		Text: wire.Arg{Kind: wire.Sym, Lazy: wire.SymData}, OfProcess: true},
	{Name: "usymfileline", Params: list{l}, Result: s, Does: Asks, Fails: Never, Unprivileged: true,
		Where: PrintOnly, Text: wire.Arg{Kind: wire.Sym, Lazy: wire.SymLine}, Of: "usymfileline_of"},
	{Name: "usymfileline_of", Params: list{l, l}, Result: s, Does: Asks, Fails: Never, Later: true, Where: HostOnly,
		Text: wire.Arg{Kind: wire.Sym, Lazy: wire.SymLine}, OfProcess: true},
	{Name: "usymfile", Params: list{l}, Result: s, Does: Asks, Fails: Never, Unprivileged: true, Where: PrintOnly,
		Text: wire.Arg{Kind: wire.Sym, Lazy: wire.SymFile}, Of: "usymfile_of"},
	{Name: "usymfile_of", Params: list{l, l}, Result: s, Does: Asks, Fails: Never, Later: true, Where: HostOnly,
		Text: wire.Arg{Kind: wire.Sym, Lazy: wire.SymFile}, OfProcess: true},
	{Name: "usymline", Params: list{l}, Result: s, Does: Asks, Fails: Never, Unprivileged: true, Where: PrintOnly,
		Text: wire.Arg{Kind: wire.Sym, Lazy: wire.SymLineNo}, Of: "usymline_of"},
	{Name: "usymline_of", Params: list{l, l}, Result: s, Does: Asks, Fails: Never, Later: true, Where: HostOnly,
		Text: wire.Arg{Kind: wire.Sym, Lazy: wire.SymLineNo}, OfProcess: true},
	{Name: "umodname", Params: list{l}, Result: s, Does: Asks, Fails: Never, Unprivileged: true, Where: PrintOnly,
		Text: wire.Arg{Kind: wire.Sym, Lazy: wire.SymModule}, Of: "umodname_of"},
	{Name: "umodname_of", Params: list{l, l}, Result: s, Does: Asks, Fails: Never, Later: true, Where: HostOnly,
		Text: wire.Arg{Kind: wire.Sym, Lazy: wire.SymModule}, OfProcess: true},
	// Of addresses of a stack: the caller's forms are for those below the first one, where a caller goes on.
	{Name: "usym_frame", Params: list{l}, Result: s, Does: Asks, Fails: Never, Unprivileged: true, Where: PrintOnly,
		Text: wire.Arg{Kind: wire.Sym, Lazy: wire.SymFrame}, Of: "usym_frame_of"},
	{Name: "usym_frame_of", Params: list{l, l}, Result: s, Does: Asks, Fails: Never, Later: true, Where: HostOnly,
		Text: wire.Arg{Kind: wire.Sym, Lazy: wire.SymFrame}, OfProcess: true},
	{Name: "usym_caller", Params: list{l}, Result: s, Does: Asks, Fails: Never, Unprivileged: true,
		Where: PrintOnly, Text: wire.Arg{Kind: wire.Sym, Lazy: wire.SymCaller}, Of: "usym_caller_of"},
	{Name: "usym_caller_of", Params: list{l, l}, Result: s, Does: Asks, Fails: Never, Later: true, Where: HostOnly,
		Text: wire.Arg{Kind: wire.Sym, Lazy: wire.SymCaller}, OfProcess: true},
	{Name: "usym_brief", Params: list{l}, Result: s, Does: Asks, Fails: Never, Unprivileged: true, Where: PrintOnly,
		Text: wire.Arg{Kind: wire.Sym, Lazy: wire.SymBrief}, Of: "usym_brief_of"},
	{Name: "usym_brief_of", Params: list{l, l}, Result: s, Does: Asks, Fails: Never, Later: true, Where: HostOnly,
		Text: wire.Arg{Kind: wire.Sym, Lazy: wire.SymBrief}, OfProcess: true},
	{Name: "usym_caller_brief", Params: list{l}, Result: s, Does: Asks, Fails: Never, Unprivileged: true,
		Where: PrintOnly, Text: wire.Arg{Kind: wire.Sym, Lazy: wire.SymCallerBrief}, Of: "usym_caller_brief_of"},
	{Name: "usym_caller_brief_of", Params: list{l, l}, Result: s, Does: Asks, Fails: Never, Later: true,
		Where: HostOnly, Text: wire.Arg{Kind: wire.Sym, Lazy: wire.SymCallerBrief}, OfProcess: true},
	{Name: "usym_caller_name", Params: list{l}, Result: s, Does: Asks, Fails: Never, Unprivileged: true,
		Where: PrintOnly, Text: wire.Arg{Kind: wire.Sym, Lazy: wire.SymCallerName}, Of: "usym_caller_name_of"},
	{Name: "usym_caller_name_of", Params: list{l, l}, Result: s, Does: Asks, Fails: Never, Later: true,
		Where: HostOnly, Text: wire.Arg{Kind: wire.Sym, Lazy: wire.SymCallerName}, OfProcess: true},
	// Symbols of the kernel.
	{Name: "modname", Params: list{l}, Result: s, Does: Asks, Fails: Never, Later: true, Where: PrintOnly,
		Text: wire.Arg{Kind: wire.Sym, Lazy: wire.KSymModule}},
	{Name: "symname", Params: list{l}, Result: s, Does: Asks, Fails: Never, Later: true, Where: PrintOnly,
		Text: wire.Arg{Kind: wire.Sym, Lazy: wire.KSymName}},
	{Name: "symdata", Params: list{l}, Result: s, Does: Asks, Fails: Never, Later: true, Where: PrintOnly,
		Text: wire.Arg{Kind: wire.Sym, Lazy: wire.KSymData}},
	{Name: "sym_caller", Params: list{l}, Result: s, Does: Asks, Fails: Never, Later: true, Where: PrintOnly,
		Text: wire.Arg{Kind: wire.Sym, Lazy: wire.KSymCaller}},
	{Name: "sym_caller_name", Params: list{l}, Result: s, Does: Asks, Fails: Never, Later: true, Where: PrintOnly,
		Text: wire.Arg{Kind: wire.Sym, Lazy: wire.KSymCallerName}},

	// The site that fired.
	{Name: "pp", Result: s, Does: Asks, Fails: Never, Unprivileged: true, Where: Lowered, Away: true},
	{Name: "ppfunc", Result: s, Does: Asks, Fails: Never, Unprivileged: true, Where: Lowered},
	{Name: "probefunc", Result: s, Does: Asks, Fails: Never, Unprivileged: true, Where: Lowered},
	{Name: "pn", Result: s, Does: Asks, Fails: Never, Unprivileged: true, Where: Lowered, Away: true},
	// What fired: whether there are registers, whether the processor was in user mode, by which means.
	{Name: "registers_valid", Result: l, Does: Asks, Fails: Never, Unprivileged: true, Where: Lowered},
	{Name: "user_mode", Result: l, Does: Asks, Fails: Never, Unprivileged: true, Where: Lowered},
	{Name: "probe_type", Result: s, Does: Asks, Fails: Never, Unprivileged: true, Where: Lowered, Away: true},
	// 1 in handlers that run in the tracer because nothing is probed (begin, end, timers), else 0.
	{Name: "on_host", Result: l, Does: Asks, Fails: Never, Unprivileged: true, Where: Lowered, Away: true},
	// MAXSTRINGLEN.
	{Name: "max_string_len", Result: l, Does: Pure, Fails: Never, Later: true, Unprivileged: true, Where: Lowered},
	// The current goroutine, read from runtime.g: its number, that of its parent, the pc of the go
	// statement, the pc of its first function, its address, its status and wait reason. Sites in
	// programs that are not Go's refuse them at compile time.
	{Name: "goid", Result: l, Does: Asks, Fails: Faults, Unprivileged: true, Where: Lowered},
	{Name: "go_parent_goid", Result: l, Does: Asks, Fails: Faults, Unprivileged: true, Where: Lowered},
	{Name: "go_pc", Result: l, Does: Asks, Fails: Faults, Unprivileged: true, Where: Lowered},
	{Name: "go_startpc", Result: l, Does: Asks, Fails: Faults, Unprivileged: true, Where: Lowered},
	{Name: "go_g", Result: l, Does: Asks, Fails: Faults, Unprivileged: true, Where: Lowered},
	{Name: "go_status", Result: l, Does: Asks, Fails: Faults, Unprivileged: true, Where: Lowered},
	{Name: "go_waitreason", Result: l, Does: Asks, Fails: Faults, Unprivileged: true, Where: Lowered},
	// The n-th integer argument of the probed function, from 1, by its calling convention (for
	// programs without DWARF), and the first integer result at a return. The argument must be a constant.
	{Name: "int_arg", Params: list{l}, Result: l, Does: Asks, Fails: Faults, Where: Lowered},
	{Name: "uint_arg", Params: list{l}, Result: l, Does: Asks, Fails: Faults, Where: Lowered},
	{Name: "long_arg", Params: list{l}, Result: l, Does: Asks, Fails: Faults, Where: Lowered},
	{Name: "ulong_arg", Params: list{l}, Result: l, Does: Asks, Fails: Faults, Where: Lowered},
	{Name: "longlong_arg", Params: list{l}, Result: l, Does: Asks, Fails: Faults, Where: Lowered},
	{Name: "ulonglong_arg", Params: list{l}, Result: l, Does: Asks, Fails: Faults, Where: Lowered},
	{Name: "pointer_arg", Params: list{l}, Result: l, Does: Asks, Fails: Faults, Where: Lowered},
	{Name: "s32_arg", Params: list{l}, Result: l, Does: Asks, Fails: Faults, Where: Lowered},
	{Name: "u32_arg", Params: list{l}, Result: l, Does: Asks, Fails: Faults, Where: Lowered},
	{Name: "s64_arg", Params: list{l}, Result: l, Does: Asks, Fails: Faults, Where: Lowered},
	{Name: "u64_arg", Params: list{l}, Result: l, Does: Asks, Fails: Faults, Where: Lowered},
	{Name: "returnval", Result: l, Does: Asks, Fails: Faults, Where: Lowered},
	// The same, changed: the number of the argument, a constant, and what it shall be; and the result at a return.
	{Name: "set_int_arg", Params: list{l, l}, Does: Changes, Where: Lowered},
	{Name: "set_uint_arg", Params: list{l, l}, Does: Changes, Where: Lowered},
	{Name: "set_long_arg", Params: list{l, l}, Does: Changes, Where: Lowered},
	{Name: "set_ulong_arg", Params: list{l, l}, Does: Changes, Where: Lowered},
	{Name: "set_s32_arg", Params: list{l, l}, Does: Changes, Where: Lowered},
	{Name: "set_u32_arg", Params: list{l, l}, Does: Changes, Where: Lowered},
	{Name: "set_s64_arg", Params: list{l, l}, Does: Changes, Where: Lowered},
	{Name: "set_u64_arg", Params: list{l, l}, Does: Changes, Where: Lowered},
	{Name: "set_returnval", Params: list{l}, Does: Changes, Where: Lowered},
	// Memory of the traced process and of the kernel, changed: the address and the number.
	{Name: "set_user_int8", Params: list{l, l}, Does: Changes, Where: Lowered},
	{Name: "set_user_int16", Params: list{l, l}, Does: Changes, Where: Lowered},
	{Name: "set_user_int32", Params: list{l, l}, Does: Changes, Where: Lowered},
	{Name: "set_user_int64", Params: list{l, l}, Does: Changes, Where: Lowered},
	{Name: "set_kernel_int8", Params: list{l, l}, Does: Changes, Where: Lowered},
	{Name: "set_kernel_int16", Params: list{l, l}, Does: Changes, Where: Lowered},
	{Name: "set_kernel_int32", Params: list{l, l}, Does: Changes, Where: Lowered},
	{Name: "set_kernel_int64", Params: list{l, l}, Does: Changes, Where: Lowered},

	// The system, changed. raise gives 0 or the error of the kernel.
	{Name: "raise", Params: list{l}, Result: l, Does: Changes, Fails: Never, Refused: Tracer},
	{Name: "panic", Params: list{s}, Does: Changes, Fails: Never, Refused: EBPF | Tracer},
	// The operation that a hook of the security modules asks about fails with an error's number, 1 to 4095.
	{Name: "lsm_deny", Params: list{l}, Does: Changes, Fails: Never, Refused: Module | Tracer},
	// The kernel function that was entered is left out and returns a number.
	{Name: "override_return", Params: list{l}, Does: Changes, Fails: Never, Refused: Tracer},
	// A word of the system call that was entered or returns is changed: the number of the argument, from 0, or 7 for
	// the result; a constant. Assignments become this.
	{Name: "set_call_word", Params: list{l, l}, Const: 1, Does: Changes, Refused: Tracer},
	// The function that was entered is left out, with the results as arguments; package change makes other statements
	// of it, which end in leave_function: where to go on, and the stack pointer and the frame pointer there.
	{Name: "skip_function", Does: Changes, Where: Lowered},
	{Name: "leave_function", Params: list{l, l, l}, Does: Changes, Fails: Never, Refused: Tracer},
	{Name: "mdelay", Params: list{l}, Does: Changes, Fails: Never, Refused: Tracer},
	{Name: "udelay", Params: list{l}, Does: Changes, Fails: Never, Refused: Tracer},
	{Name: "dump_stack", Does: Changes, Fails: Never, Refused: EBPF | Tracer},
	{Name: "printk", Params: list{l, s}, Does: Changes, Fails: Never, Where: HostOnly},

	// Registers of the probed context, by name.
	{Name: "register", Params: list{s}, Result: l, Const: 1, Does: Asks, Fails: BadName},
	{Name: "u_register", Params: list{s}, Result: l, Const: 1, Does: Asks, Fails: BadName},

	// The session.
	{Name: "exit", Does: Ends, Fails: Never, Unprivileged: true, Away: true},
	{Name: "error", Params: list{s}, Does: Acts, Unprivileged: true, Away: true},
	{Name: "warn", Params: list{s}, Does: Acts, Fails: Never, Unprivileged: true, Away: true},
	{Name: "log", Params: list{s}, Does: Acts, Fails: Never, Unprivileged: true, Away: true},
	{Name: "abort", Does: Ends, Unprivileged: true, Away: true},
	{Name: "system", Params: list{s}, Does: Acts, Fails: Never, Unprivileged: true, Where: HostOnly},
	{Name: "switch_file", Does: Acts, Fails: Never, Unprivileged: true, Where: HostOnly, Away: true},
	{Name: "ftrace", Params: list{s}, Does: Acts, Fails: Never, Where: HostOnly, Refused: Tracer},
	{Name: "ctime", Params: list{l}, Result: s, Cap: 32, Does: Pure, Fails: Never, Later: true, Where: PrintOnly,
		Text: wire.Arg{Kind: wire.Int, Lazy: wire.CTime}},
	// A number as text, by a table: see textfmt.Decode. A constant table may be longer than MAXSTRINGLEN
	// (ir.MaxTable).
	{Name: "value_text", Params: list{l, s}, Result: s, Const: 2, Table: true, Does: Pure, Fails: Never,
		Later: true, Where: PrintOnly, Text: wire.Arg{Kind: wire.Int, Lazy: wire.Decoded}},
	// An entry of a constant table, by its number from 0; "" for what is none. Newlines end the entries. For the
	// compiler: no script names it.
	{Name: "table_text", Params: list{l, s}, Result: s, Const: 2, Table: true, Does: Pure, Fails: Never,
		Later: true},
	// What values of the traced program lead to, as text: snapshot(plan, words ...), where the plan is shape.Plan.Text
	// and the words are what Part.Words speak of. Package snapshot puts code in front of it that copies the memory, in
	// which snap_root(i, v) puts down the i-th word, snap_read(address, n) copies n bytes and gives where they are or
	// -1, snap_get(at) gives 8 of those bytes, snap_set(i, v) and snap_at(i) keep numbers, and snap_table(i, table)
	// gives the i-th number of a constant table. For the compiler: no script names them.
	{Name: "snapshot", Params: list{s}, Rest: l, Result: s, Const: 1, Table: true, Does: Asks, Fails: Never,
		Unprivileged: true, Reads: caps.ReadUser, Where: PrintOnly, Idle: true,
		Text: wire.Arg{Kind: wire.Snapshot, Lazy: wire.ValueText}},
	{Name: "snap_root", Params: list{l, l}, Does: Acts, Fails: Never, Unprivileged: true, Refused: Tracer},
	{Name: "snap_read", Params: list{l, l}, Result: l, Does: Acts, Fails: Never, Unprivileged: true,
		Reads: caps.ReadUser, Refused: Tracer},
	{Name: "snap_get", Params: list{l}, Result: l, Does: Asks, Fails: Never, Unprivileged: true, Refused: Tracer},
	{Name: "snap_at", Params: list{l}, Result: l, Does: Asks, Fails: Never, Unprivileged: true, Refused: Tracer},
	{Name: "snap_set", Params: list{l, l}, Does: Acts, Fails: Never, Unprivileged: true, Refused: Tracer},
	{Name: "snap_table", Params: list{l, s}, Result: l, Const: 2, Table: true, Does: Pure, Fails: Never, Later: true,
		Unprivileged: true, Refused: Tracer},
	{Name: "tz_gmtoff", Result: l, Does: Asks, Fails: Never, Later: true, Unprivileged: true, Away: true},
	{Name: "tz_name", Result: s, Cap: 15, Does: Asks, Fails: Never, Later: true, Unprivileged: true, Away: true},
	{Name: "randint", Params: list{l}, Result: l, Does: Asks, Later: true, Unprivileged: true, Away: true},
	// Output that is held back: all handlers that have to do with it run on the host, in the order of their hits.
	{Name: "speculation", Result: l, Does: Acts, Later: true, Unprivileged: true, Where: HostOnly, Away: true},
	{Name: "speculate", Params: list{l, s}, Does: Acts, Unprivileged: true, Where: HostOnly, Away: true},
	{Name: "commit", Params: list{l}, Does: Acts, Unprivileged: true, Where: HostOnly, Away: true},
	{Name: "discard", Params: list{l}, Does: Acts, Unprivileged: true, Where: HostOnly, Away: true},
	// What standard input had, the environment of the tracer, the load of the machine.
	{Name: "input_text", Result: s, Does: Asks, Fails: Never, Later: true, Where: HostOnly, Away: true},
	{Name: "env_var", Params: list{s}, Result: s, Does: Asks, Fails: Never, Later: true, Where: HostOnly, Away: true},
	{Name: "loadavg", Params: list{l}, Result: l, Does: Asks, Later: true, Unprivileged: true, Where: HostOnly},

	// The whole number that a float begins with.
	{Name: "trunc", Params: list{l}, Result: l, Does: Pure, Later: true, Unprivileged: true, Where: Lowered,
		OfFloat: true},
	// Numbers with a fraction, of 64 bits as IEEE 754 has them, in the bits of a number.
	{Name: "fp_add", Params: list{l, l}, Result: l, Does: Pure, Fails: Never, Later: true, Unprivileged: true,
		Where: HostOnly},
	{Name: "fp_sub", Params: list{l, l}, Result: l, Does: Pure, Fails: Never, Later: true, Unprivileged: true,
		Where: HostOnly},
	{Name: "fp_mul", Params: list{l, l}, Result: l, Does: Pure, Fails: Never, Later: true, Unprivileged: true,
		Where: HostOnly},
	{Name: "fp_div", Params: list{l, l}, Result: l, Does: Pure, Fails: Never, Later: true, Unprivileged: true,
		Where: HostOnly},
	{Name: "fp_rem", Params: list{l, l}, Result: l, Does: Pure, Fails: Never, Later: true, Unprivileged: true,
		Where: HostOnly},
	{Name: "fp_eq", Params: list{l, l}, Result: l, Does: Pure, Fails: Never, Later: true, Unprivileged: true,
		Where: HostOnly},
	{Name: "fp_le", Params: list{l, l}, Result: l, Does: Pure, Fails: Never, Later: true, Unprivileged: true,
		Where: HostOnly},
	{Name: "fp_lt", Params: list{l, l}, Result: l, Does: Pure, Fails: Never, Later: true, Unprivileged: true,
		Where: HostOnly},
	{Name: "fp_sqrt", Params: list{l}, Result: l, Does: Pure, Fails: Never, Later: true, Unprivileged: true,
		Where: HostOnly},
	{Name: "long_to_fp", Params: list{l}, Result: l, Does: Pure, Fails: Never, Later: true, Unprivileged: true,
		Where: HostOnly},
	{Name: "fp32_to_fp64", Params: list{l}, Result: l, Does: Pure, Fails: Never, Later: true, Unprivileged: true,
		Where: HostOnly},
	{Name: "fp_to_long", Params: list{l, l, l}, Result: l, Does: Pure, Later: true, Unprivileged: true,
		Where: HostOnly},
	{Name: "fp_to_string", Params: list{l, l}, Result: s, Does: Pure, Fails: Never, Later: true, Unprivileged: true,
		Where: HostOnly},
	{Name: "string_to_fp", Params: list{s}, Result: l, Does: Pure, Later: true, Unprivileged: true,
		Where: HostOnly},

	// Regular expressions: the last match of the handler.
	{Name: "ngroups", Result: l, Does: Asks, Fails: Never, Later: true, Unprivileged: true, Refused: EBPF | Module,
		Matched: true},
	{Name: "matched", Params: list{l}, Result: s, Does: Asks, Later: true, Unprivileged: true,
		Refused: EBPF | Module, Matched: true, Away: true},
}
