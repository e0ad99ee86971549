package ir

import "sync"

// Op is what an instruction does.
type Op uint8

// The operations. a, b, ... are Args. "may fail" marks those that use OnErr.
const (
	OpNone Op = iota

	// Values.
	OpMov // dst = a (Long or String; a string is cut to dst's cap)
	OpAdd // dst = a + b, wraps; likewise the next ones
	OpSub
	OpMul
	OpDiv // signed, toward zero; b is not 0 (checked before); MinInt64 / -1 wraps
	OpMod // signed, sign of a; b is not 0; MinInt64 % -1 is 0
	OpAnd
	OpOr
	OpXor
	OpShl // counts are taken modulo 64
	OpShr // logical
	OpSar // arithmetic
	OpNeg
	OpNot // bitwise
	OpEq  // dst = a == b as 0 or 1, signed; likewise the next ones
	OpNe
	OpLt
	OpLe
	OpGt
	OpGe
	OpULt  // unsigned
	OpCat  // String dst = a . b, cut to dst's cap
	OpSCmp // Long dst = -1, 0 or 1: byte order of strings a and b
	// OpMatch: Long dst = 1 if string a holds a match of Program.Regexes[N], else 0. What it found is
	// the handler's last match, which the intrinsics matched and ngroups tell of.
	OpMatch

	// The probed context.
	OpReg  // dst = DWARF register N at the probed pc; of a vector register, its low 64 bits
	OpTLS  // dst = thread pointer
	OpBias // dst = load bias of the image that the site is in
	OpLoad // dst = N bytes at address a, sign- or zero-extended; may fail
	// OpStore writes the low N bytes (1, 2, 4 or 8) of b, little-endian, at address a: of the traced process, or of the
	// kernel if Kernel is set. It may fail with ErrWrite(a): when nothing is mapped there, when the
	// mapping is read-only, or when the page would have to be brought in or copied first and the executor
	// cannot wait for that where the probe fired. Then nothing is written. Guru mode only.
	OpStore
	// OpSetReg sets all 64 bits of DWARF register N of the probed context to a: 0 to 6 and 8 to 15, the general
	// registers without the stack pointer. The program goes on with that value, and an OpReg behind it gives it. Where
	// a variable is narrower than its register, the lowering has put together what belongs into the rest. Guru mode
	// only.
	OpSetReg
	// OpTraceArg: dst = the N-th argument word of the event that fired. At a tracepoint those are its arguments, from
	// 0, without the tracer's own; what is above the bytes of a narrower type is undefined. At a system call they are
	// its six arguments, then its number (SyscallNr), and at its return the result (SyscallRet).
	OpTraceArg
	// OpOffset: dst = a number that Name describes (package facts), looked up in the kernel that the program runs in; N
	// is what it is in the kernel that the program was compiled for. Programs that travel have it; loading them makes
	// it a constant, so that no executor knows of it.
	OpOffset
	OpValue // String dst = what a process has written to the file of a procfs.write probe, cut
	OpReply // what the reader of the file of a procfs.read probe gets is a; with N 1 it is added to what is there
	// dst = attribute Name of the site that fired: "pp", "ppfunc", "probefunc", "pn" (String), "pc", "id" (Long)
	OpSite

	// Scalars.
	OpGGet // dst = glob
	OpGSet // glob = a
	OpGAdd // atomically dst (if any) = glob; glob += a

	// Arrays: Args are the keys, then the value. A missing element reads 0 or "".
	OpMGet   // dst = glob[keys]
	OpMSet   // glob[keys] = last; may fail (full)
	OpMAdd   // atomically dst (if any) = glob[keys]; glob[keys] += last; may fail (full)
	OpMHas   // dst = keys in glob; keys may be stars
	OpMDel   // delete glob[keys]; keys may be stars
	OpMClear // delete glob: all elements, or the scalar back to 0, "" or empty

	// Aggregates: scalars have no keys.
	OpSAdd // glob[keys] <<< last; may fail (full)
	OpSGet // dst = statistic N (see Stat) of glob[keys]; keys may be stars (merged); for
	// StatVariance the last arg is the bit shift; for StatBucket it is the bucket and Iter the
	// histogram. May fail (empty aggregate).

	// Loops over arrays. The elements are fixed when the loop is opened.
	OpIterOpen // over glob; Args: a slice pattern for each key (or none), then the limit (I(-1): none).
	// Name is the order: "" none, "k0+" key 0 ascending, "v-" value descending, "@sum-" by statistic.
	OpIterNext // dst = 1 and go to the next element, or 0 at the end
	OpIterKey  // dst = key N of the element
	OpIterVal  // dst = value of the element when the loop was opened

	// Output. N is an index into Program.Formats.
	OpPrint      // print the format with Args
	OpSprint     // dst = the formatted text, cut to dst's cap
	OpPrintHist  // print the text of histogram N of aggregate glob[keys]
	OpSprintHist // dst = that text, cut

	// Calls.
	OpCall // dst = function Name(Args); may fail
	OpIntr // dst = intrinsic Name(Args); may fail where the intrinsic says so
	// OpEmbed runs the C of Program.Codes[N] with Args; dst is its result. May fail. Unless the code is pure it may do
	// anything to the system, and reads and writes the globals that the code lists. Guru mode only.
	OpEmbed

	// Control.
	OpBudget // N statements are about to run; ends the handler with MaxAction when there are not that many left
	OpLock   // take lock class N, or end the handler as skipped
	OpUnlock // release it
	OpErrMsg // dst = text of the error that led to this block
	OpReport // report the pending error as uncaught (counted, printed) and go on here
	numOps
)

// Stat is the N of OpSGet.
type Stat int64

// The statistics.
const (
	StatCount Stat = iota
	StatSum
	StatMin
	StatMax
	StatAvg
	StatVariance
	StatBucket
)

var statNames = [...]string{"count", "sum", "min", "max", "avg", "variance", "bucket"}

func (s Stat) String() string { return statNames[s] }

type opInfo struct {
	name string
	// sig is the operand types: l long, s string, ? either, * the keys of the global, v its value,
	// ... the rest unchecked. The part before ":" is the result, - for none, [l] for optional.
	sig  string
	fail bool // uses OnErr
}

var opTable = [numOps]opInfo{
	OpMov: {"mov", "?:?", false}, OpAdd: {"add", "l:ll", false}, OpSub: {"sub", "l:ll", false},
	OpMul: {"mul", "l:ll", false},
	OpDiv: {"div", "l:ll", false}, OpMod: {"mod", "l:ll", false}, OpAnd: {"and", "l:ll", false},
	OpOr:  {"or", "l:ll", false},
	OpXor: {"xor", "l:ll", false}, OpShl: {"shl", "l:ll", false}, OpShr: {"shr", "l:ll", false},
	OpSar: {"sar", "l:ll", false},
	OpNeg: {"neg", "l:l", false}, OpNot: {"not", "l:l", false}, OpEq: {"eq", "l:ll", false},
	OpNe: {"ne", "l:ll", false},
	OpLt: {"lt", "l:ll", false}, OpLe: {"le", "l:ll", false}, OpGt: {"gt", "l:ll", false}, OpGe: {"ge", "l:ll", false},
	OpULt: {"ult", "l:ll", false}, OpCat: {"cat", "s:ss", false}, OpSCmp: {"scmp", "l:ss", false},
	OpMatch: {"match", "l:s", false},
	OpReg:   {"reg", "l:", false}, OpTLS: {"tls", "l:", false}, OpBias: {"bias", "l:", false},
	OpLoad:  {"load", "l:l", true},
	OpStore: {"store", "-:ll", true}, OpSetReg: {"setreg", "-:l", false}, OpTraceArg: {"tracearg", "l:", false},
	OpOffset: {"offset", "l:", false},
	OpSite:   {"site", "?:", false}, OpValue: {"value", "s:", false}, OpReply: {"reply", "-:s", false},
	OpGGet: {"gget", "v:", false}, OpGSet: {"gset", "-:v", false}, OpGAdd: {"gadd", "[l]:l", false},
	OpMGet: {"mget", "v:*", false}, OpMSet: {"mset", "-:*v", true}, OpMAdd: {"madd", "[l]:*l", true},
	OpMHas: {"mhas", "l:*", false},
	OpMDel: {"mdel", "-:*", false}, OpMClear: {"mclear", "-:", false},
	OpSAdd: {"sadd", "-:*l", true}, OpSGet: {"sget", "l:...", true},
	OpIterOpen: {"iteropen", "-:...", false}, OpIterNext: {"iternext", "l:", false},
	OpIterKey: {"iterkey", "?:", false}, OpIterVal: {"iterval", "v:", false},
	OpPrint: {"print", "-:...", false}, OpSprint: {"sprint", "s:...", false},
	OpPrintHist: {"printhist", "-:*", true}, OpSprintHist: {"sprinthist", "s:*", true},
	OpCall: {"call", "[?]:...", true}, OpIntr: {"intr", "[?]:...", true}, OpEmbed: {"embed", "[?]:...", true},
	OpBudget: {"budget", "-:", false}, OpLock: {"lock", "-:", false}, OpUnlock: {"unlock", "-:", false},
	OpErrMsg: {"errmsg", "s:", false}, OpReport: {"report", "-:", false},
}

func (o Op) String() string {
	if o < numOps && opTable[o].name != "" {
		return opTable[o].name
	}
	return "op?"
}

// What OpTraceArg's N means at system calls, behind the arguments.
const (
	SyscallNr  = 6
	SyscallRet = 7
)

// MaxTable bounds the constant table of the intrinsics value_text and table_text, in bytes.
const MaxTable = 1 << 16

// MaxTraceArgs is the most argument words that a tracepoint can have (MAX_BPF_FUNC_ARGS of include/linux/bpf.h).
const MaxTraceArgs = 12

// ChangesProgram reports whether o changes the traced program or the kernel: what guru mode is for.
func (o Op) ChangesProgram() bool { return o == OpStore || o == OpSetReg }

// OnGlobal reports whether o names a global, by Glob.
func (o Op) OnGlobal() bool {
	switch o {
	case OpGGet, OpGSet, OpGAdd, OpMGet, OpMSet, OpMAdd, OpMHas, OpMDel, OpMClear, OpSAdd, OpSGet, OpPrintHist,
		OpSprintHist:
		return true
	}
	return o.OnLoop()
}

// OnLoop reports whether o opens a loop over an array or belongs to one, by Iter.
func (o Op) OnLoop() bool {
	switch o {
	case OpIterOpen, OpIterNext, OpIterKey, OpIterVal:
		return true
	}
	return false
}

// CanFail reports whether o uses OnErr.
func (o Op) CanFail() bool { return o < numOps && opTable[o].fail }

var opByName = sync.OnceValue(func() map[string]Op {
	m := map[string]Op{}
	for o := OpNone + 1; o < numOps; o++ {
		m[opTable[o].name] = o
	}
	return m
})
