// Package wire is the form of the records that handlers in the kernel send to the
// host. Both back ends write it and one decoder reads it.
//
// All numbers are little-endian. A record is a Header and a body:
//
//	Print     one or more entries: u32 print site, u32 0, then the site's arguments
//	Error     u32 code, i32 position, u32 probe, u32 n, then n times: u32 kind (Int or Text), u32 0, the argument
//	Deferred  u32 handler, u32 0, then the captured values as the schema says
//	Exit      nothing: exit() was called
//	Process   u32 event, u32 pid, u64 time: process begin and end
//
// Arguments by kind:
//
//	Int    i64
//	Text   u32 length, u32 room (a multiple of 8, at least length), then room bytes
//	Sym    u64 address, u32 tgid, u32 0: a code address to be named
//	Stack  u32 n, u32 room in entries, u32 tgid, u32 0, then room * u64 return addresses, innermost first
//	RawStack  u32 n, u32 room in entries, u32 tgid, u32 bytes (a multiple of 8), then room * u64 addresses as of
//	       Stack, which frame pointers lead to, the program's registers as the kernel's struct pt_regs, and bytes of
//	       the stack from its top on
//	       (from the stack pointer, rounded down to 8)
//	Mem    as Text: raw memory (%m)
//	Const  nothing: the text is Names.List[0]
//	Snapshot  as Mem, with u32 tgid, u32 0 in front: what the values of the plan in Names.List[0] (shape.Plan) lead
//	       to. Pieces of memory, each u64 address, u64 bytes, and these with zeros to a multiple of 8. The first one
//	       has no address: it is the words of the values themselves
//	Quoted as Text, with its zeros: a text to be shown in quotes. With Unread in the length it is 8 bytes, the
//	       address that
//	       could not be read
//
// An Int with Names is sent as an index and decoded as the Text Names.List[index]. A Text's length may count
// zeros at its end, which are not part of it (strings hold no NUL).
package wire

import "slices"

// HeaderSize is the bytes of a Header.
const HeaderSize = 8

// Header begins every record.
type Header struct {
	Kind  Kind
	Flags Flags
	// Slot identifies the handler run that wrote the record while Flags has More: output of one run
	// is printed in one piece.
	Slot uint16
	// CPU is where it ran.
	CPU uint32
}

// Kind says what a record is.
type Kind uint8

// The kinds of records.
const (
	Print Kind = iota + 1
	Error
	Deferred
	Exit
	Process
	Warn // as Print, to the error stream with "WARNING: " and a newline
	Log  // as Print, to the output with a newline
)

// Flags of a record.
type Flags uint8

// More says that the same handler run will send another record.
const More Flags = 1

// ArgKind is the form of one argument.
type ArgKind uint8

// The kinds of arguments.
const (
	Int ArgKind = iota
	Text
	Sym
	Stack
	Mem
	Const
	Quoted
	RawStack
	Snapshot
)

// MaxStack is the most bytes of a RawStack's stack, RegsSize the size of its registers.
const (
	MaxStack = 8192
	RegsSize = 168
)

// Unread in the length of a Quoted says that its text could not be read.
const Unread = 1 << 30

// Lazy says what text the host makes of a Sym or Stack argument.
type Lazy uint8

// The texts.
const (
	NotLazy    Lazy = iota
	SymName         // usymname: function name, or the address in hex
	SymData         // usymdata: name+offset/size [module]
	SymLine         // usymfileline: file:line
	StackHex        // ubacktrace: addresses in hex with spaces
	StackNames      // sprint_ubacktrace: a line a frame
	FuncName        // probefunc(): the name of the function that holds the address
	KSymName        // symname
	KSymData        // symdata
	KStackHex
	KStackNames
	CTime // ctime(seconds)
	// Decoded is value_text: of an Int, by the spec in Names.List[0].
	Decoded
	SymFile    // usymfile: the source file
	SymLineNo  // usymline: the line in it
	SymModule  // umodname: the name of the binary
	KSymModule // modname: the name of the module, "kernel" for the kernel itself
	// Of one address of a stack: the lines of sprint_ubacktrace, or the names of the functions alone, a line each.
	// The first address of a stack is where the program is; the others are where callers go on.
	SymFrame
	SymCaller
	SymBrief
	SymCallerBrief
	SymCallerName  // usymname, of a caller
	KSymCaller     // symdata, of a caller
	KSymCallerName // symname, of a caller
	ValueText      // snapshot: values as text
	// KeptStack is stack_text: of an Int, the number of a stack that the executor keeps.
	KeptStack
	// KeptHex is stack_addrs of such a number, KeptFolded stack_folded.
	KeptHex
	KeptFolded
)

// Kept reports whether l is a text of a stack that the executor keeps.
func (l Lazy) Kept() bool { return l == KeptStack || l == KeptHex || l == KeptFolded }

// OfKernel reports whether l is made of addresses of the kernel, not of the traced program.
func (l Lazy) OfKernel() bool {
	switch l {
	case KSymName, KSymData, KSymModule, KSymCaller, KSymCallerName, KStackHex, KStackNames:
		return true
	}
	return false
}

// Arg is one argument of a print site.
type Arg struct {
	Kind ArgKind
	Lazy Lazy
	// Max bounds the quoted text of a Quoted; CString: it was to end in a NUL.
	Max     int
	CString bool
	// Names turns an Int into a Text, and holds the text of a Const.
	Names *Names
}

// Names is a table of texts known at build time, such as the probe points of a handler's sites.
type Names struct{ List [][]byte }

// Site is one print statement.
type Site struct {
	// Format is an index into ir.Program.Formats.
	Format int
	Args   []Arg
}

// Capture is what a deferred handler needs from the place that was probed.
type Capture struct {
	// Probe is an index into ir.Program.Probes.
	Probe int
	Args  []Arg
	// Faults: each argument is preceded by an i64 that is 0, or the ir.Code of the error that reading it raised.
	Faults bool
}

// Schema says what the records of one program mean.
type Schema struct {
	Sites    []Site
	Captures []Capture
}

// Stacks reports whether records carry memory of stacks.
func (s *Schema) Stacks() bool {
	raw := func(a Arg) bool { return a.Kind == RawStack }
	return slices.ContainsFunc(s.Sites, func(s Site) bool { return slices.ContainsFunc(s.Args, raw) }) ||
		slices.ContainsFunc(s.Captures, func(c Capture) bool { return slices.ContainsFunc(c.Args, raw) })
}

// State is the life of a session, shared with the handlers.
type State uint32

// The states.
const (
	Starting State = iota
	Running
	Stopping // exit() was called, or a signal came: handlers do nothing
	Failed   // too many errors
)

// Counters counts what did not happen. Indexes are ir.Cause.
type Counters struct {
	ByCause []uint64
	// Errors counts run-time errors that were not caught.
	Errors uint64
	// Probes holds hits by probe index where the back end counts them.
	Probes []uint64
}
