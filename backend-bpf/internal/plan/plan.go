// Package plan is what the code generator hands to the loader: the maps and programs
// as the ebpf library wants them, how the program's globals lie in the maps, and
// which program goes to which site.
package plan

import (
	"math"

	"github.com/cilium/ebpf"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/runtime/wire"
)

// Plan is a translated program.
type Plan struct {
	Program *ir.Program
	Spec    *ebpf.CollectionSpec
	// Globals says where each ir.Program.Globals[i] lies.
	Globals []GlobalLayout
	// Attach lists what is to be attached, in the order of the script.
	Attach []Attach
	// Fired: handlers note in MapControl that they ran (CtlFired).
	Fired bool
	// Hits: handlers count their hits.
	Hits bool
	// HostProbes are the indexes of probes whose handlers run on the host by themselves.
	HostProbes []int
	Schema     *wire.Schema
	// Deferred[i] is the body that the host runs for records of Schema.Captures[i]: the handler with
	// everything that reads the probed place taken out. Its parameters are the captured values, in
	// order; where the capture has Faults, each is followed by a Long parameter with the fault's code.
	Deferred []*ir.Func
	// Peeks: handlers on the host read kernel memory, or ask for the current task.
	Peeks bool
	// Listing is the text for -p3.
	Listing func() string
}

// Names of the maps that every plan has.
const (
	// MapOutput is the ring buffer of wire records.
	MapOutput = "gostap_out"
	// MapControl is a mmapable array with one value: the Control structure.
	MapControl = "gostap_control"
	// MapCounters is a mmapable array of u64, CounterRow for each CPU: indexed by ir.Cause, and behind those the counts
	// of errors and of hits. It is not a per-CPU array, since reading one takes a system call, and while a thread is
	// interrupted in that the kernel runs no programs of kprobes and perf events on the CPU.
	MapCounters = "gostap_counts"
	// MapScalars is a mmapable array with one value that holds all Long scalars.
	MapScalars = "gostap_scalars"
	// MapSites is an array of site strings (pp, ppfunc) indexed by cookie, present when a handler
	// needs them in the kernel.
	MapSites = "gostap_sites"
	// MapScratch is the pool of scratch slots. The first u32 of a slot is 1 while a handler uses it.
	MapScratch = "gostap_scratch"
	// MapText is a frozen array with one value: the longer string constants.
	MapText = "gostap_text"
	// MapEnded holds the processes of which a last thread was seen, for each handler that wants to know, on kernels
	// that do not say which thread is the last one.
	MapEnded = "gostap_ended"
	// MapFamily holds the processes that the target has made (u32 number in the first pid namespace), present when a
	// site is for the target. ProgFamily is the program that keeps it.
	// Where programs at perf events are used since raw tracepoints can be preempted, ProgFamilyRaw at the raw one does
	// the same: what keeps the kernel from running one of them does not keep it from the other.
	MapFamily, ProgFamily, ProgFamilyRaw = "gostap_family", "gostap_fork", "gostap_fork_raw"
	// MapScope is a hash with the control groups that handlers are for (backend.BuildOptions.Scope), u64 by u64 number,
	// and in its element ScopeHead at which levels they lie: a byte for each of at most ScopeLevels, 1 added. It has
	// no element 0, which is the number of what cannot be told.
	MapScope = "gostap_scope"
	// MapSpent is an array with a value for each CPU: what heavy handlers have taken of its time (see the constants
	// Spent).
	MapSpent = "gostap_spent"
	// MapZero is a frozen array with one value: zeros, the first value of elements too large for the stack.
	MapZero = "gostap_zero"
	// MapStacks is a hash from stacks to their numbers (u64, from 1), MapStackList an array with the stack of each
	// number, present when handlers keep stacks. What a stack is, backend.ParseKept tells.
	MapStacks    = "gostap_stacks"
	MapStackList = "gostap_stacklist"
	// MapShortStacks is MapStacks for stacks of few addresses, with shorter keys.
	MapShortStacks = "gostap_shortstk"
)

// The maps by which the stacks of programs are walked (sel/output/walk.go), present when a handler does that.
const (
	// MapRows is a mmapable array with one value: MaxRows rows of u64, those of a file together and sorted: an address
	// in the upper half, counted from the file's base and less than 2^31, and what holds from there on in the lower one
	// (cfi.Packed).
	MapRows = "gostap_rows"
	// MapRanges is a mmapable array with one value: MaxRanges ranges of addresses of processes, those of one together
	// and sorted. See the constants Range.
	MapRanges = "gostap_ranges"
	// MapProcs is a hash from processes, by their numbers for the tracer, to their ranges. See the constants Proc.
	MapProcs = "gostap_procs"
	// MapChanged is a hash with how often each process of MapProcs has mapped something where it had code, u64 by u32
	// number. ProgChanged counts.
	MapChanged, ProgChanged = "gostap_changed", "gostap_remap"
	// MapWanted is a ring buffer with the processes of which a walk did not know what they have mapped: u64 their
	// numbers.
	MapWanted = "gostap_wanted"

	// MapFiles is a hash from files, as the kernel tells them apart, to what walks have to know of their code. See
	// the constants File.
	MapFiles = "gostap_files"

	MaxRows, MaxRanges, MaxProcs = 1 << 21, 1 << 15, 1 << 12
	MaxFiles, WantedSize         = 1 << 12, 1 << 12
)

// A range of addresses: u64 where it starts and where it ends, what is to be subtracted from an address in it for the
// address that rows have, and u32 which rows are the file's.
const (
	RangeStart, RangeEnd, RangeBias, RangeRows, RangeCount = 0, 8, 16, 24, 28
	RangeSize                                              = 32
)

// A file: u64 its inode, u64 the device (as dev_t of the kernel), u64 its size and u64 the second in which it was
// written; u32 which rows are its own; u64 where the code begins and ends in it, and what is to be added to an offset
// in it for the address that rows have.
const (
	FileIno, FileDev, FileLength, FileTime                = 0, 8, 16, 24
	FileKey                                               = 32
	FileRows, FileCount, FileBegin, FileEnd, FileAddition = 0, 4, 8, 16, 24
	FileSize                                              = 32
)

// A process: u32 its first range and how many it has; u64 what its mm_struct had in start_stack and end_code, of which
// another program has others, and what MapChanged had before it was looked at.
const (
	ProcFirst, ProcCount, ProcStack, ProcCode, ProcChanged = 0, 4, 8, 16, 24
	ProcSize                                               = 32
)

// MaxScope bounds the control groups of MapScope, ScopeLevels the levels at which they lie.
const (
	MaxScope, ScopeLevels = 4096, 4
	ScopeHead             = math.MaxUint64
)

// CounterRow is how many counters each CPU has in MapCounters; CounterHits is where hits are counted (sel.Unit.Hits).
const (
	CounterHits = int(ir.NumCauses) + 1
	CounterRow  = CounterHits + 1
)

// OutputFlags are the flags of bpf_ringbuf_submit, discard and output, for every record: none. The kernel then
// wakes the reader (2 us on the hit's account) only if the reader has consumed everything before the
// record, and package ring sees to it that this is so only while it sleeps: as long as records keep coming
// it holds the last one back and looks again by itself each millisecond. So a burst costs one wake-up,
// and no query of the ring is needed in the program.
const OutputFlags = 0

// ProgramSpec.AttachTo names the tracepoint (without its group) of RawTracepoint programs, the event ("group:name") of
// TracePoint programs, and what Tracing programs attach to. Programs of Uprobe and Uretprobe sites have type Kprobe and
// no attach type: the session sets that for the links that this kernel has. Sub-functions stand behind their program's
// instructions, each beginning with a WithSymbol instruction, with btf.WithFuncMetadata (on all
// functions of a program or on none) where a callback's address is taken.

// Source says which place of the script an instruction came from; set it with Instruction.WithSource on the first
// instruction of each place. The verifier's refusals and the object's line table are traced back by it.
type Source struct {
	Pos source.Pos
	// Text is what the instruction does, for listings; may be empty.
	Text string
}

func (s Source) String() string { return s.Text }

// Offsets in the value of MapControl.
const (
	CtlState      = 0  // u32 wire.State
	CtlTarget     = 4  // u32 pid of the target
	CtlBootOffset = 8  // i64: CLOCK_REALTIME - CLOCK_BOOTTIME in ns, kept fresh by the host
	CtlErrors     = 16 // u32 uncaught errors so far
	CtlPidNSDev   = 24 // u64 device and u64 inode of the tracer's pid namespace
	CtlPidNSIno   = 32
	// u64: the last number given to an insertion (SeqOff); taken by atomic addition, by the host too
	CtlSeq    = 40
	CtlZero   = 48 // u64: always 0, which the verifier does not know
	CtlTracer = 56 // u32 the tracer's own process, in its own namespace
	// u32 1 + the index of the probe whose handlers took too much of a CPU's time, 0 as long as none has
	CtlOverload = 60
	CtlLocks    = 64            // u32 a lock class: 0 free, else 1 + CPU of the holder, or HostHolds
	CtlLooking  = CtlFired - 32 // u32 the process of which the host reads what it has mapped, 0 for none
	CtlStacks   = CtlFired - 24 // u64 the last number given to a stack
	CtlSpent    = CtlFired - 16 // u64 the nanoseconds that they took, and of how many
	CtlOf       = CtlFired - 8
	CtlFired    = 4096 // a byte for each of the first MaxFired probes: 1 if its handler ran (sel.Unit.Fired)
	MaxFired    = 4096
	CtlSize     = CtlFired + MaxFired
)

// HostHolds is set in the word of a lock that the host holds; the rest is the number of its thread, in the tracer's
// pid namespace.
const HostHolds = 1 << 30

// The value of MapSpent: when counting began, the nanoseconds since, and the probe (1 + its index) that most of
// them belong to with how many more it has than all others; how many hits go by untimed.
const (
	SpentSince, SpentSum, SpentProbe, SpentMore, SpentLeft = 0, 8, 16, 24, 32
	SpentSize                                              = 40
)

// GlobalLayout says where a global lies.
type GlobalLayout struct {
	// Map is the map that holds it; MapScalars for Long scalars.
	Map string
	// ValueOff is the offset in the value: of the scalar, or of the element's value.
	ValueOff int
	// ValueSize is the bytes of the value from ValueOff on. A string is its bytes padded with zeros.
	ValueSize int
	// Keys lays out the key; a string column is its bytes padded with zeros.
	Keys    []Column
	KeySize int
	// SeqOff is the offset in an element's value of a u64 that grows from insertion to insertion, -1 if
	// the array has none. It gives foreach its order and tells what "%" evicts.
	SeqOff int
	// Old is the map in which handlers note which elements come next when "%" evicts, "" where all elements are looked
	// at each time; OldSlots, a power of two, is how many it has room for. See the constants Old.
	Old      string
	OldSlots int
	// PerCPU: values are per CPU and are merged on reading.
	PerCPU bool
	Stat   StatLayout
	// Absent marks globals that no handler in the kernel touches: the host keeps them itself.
	Absent bool
}

// The value of GlobalLayout.Old: a word that is 1 while a handler is at it, the number of insertion of the first slot,
// the next slot to look at, the highest number that was evicted; then the slots, each with the number and the key of an
// element. A slot counts if it has the number that belongs there and the element still has it.
const (
	OldBusy, OldBase, OldNext, OldLast = 0, 8, 16, 24
	OldHead                            = 32
)

// OldSlot is the bytes of a slot.
func (g *GlobalLayout) OldSlot() int { return 8 + g.KeySize }

// Column is one column of a key.
type Column struct{ Off, Size int }

// StatLayout gives the offsets of an aggregate's fields in its value; -1 when not kept.
//
// Min and Max are kept in a form in which 0 means that nothing was seen and the greater number
// wins, unsigned: Max as value ^ MinInt64, Min as value ^ MaxInt64. So values that start
// as zeros need no first touch, and CPUs merge with max().
type StatLayout struct {
	Count, Sum, Min, Max int // u64 each
	SqHi, SqLo           int
	Hists                []int // of the first counter, u64 each
	Size                 int
}

// Attach is one program at one or more sites.
type Attach struct {
	// Prog is a key of Spec.Programs.
	Prog string
	Kind probe.Kind
	// Probe is an index into ir.Program.Probes.
	Probe int
	// Table is the program array, indexed by the numbers of system calls, through which another program goes to this
	// one; "" for programs that are attached themselves.
	Table string
	// Watch is the map of the processes that run the file of the one site: once the program is attached, those that run
	// it already are entered. Keys are u32 numbers of processes, with WatchedInside where they are those of the
	// tracer's own namespace and not the kernel's. "" for other programs.
	Watch string
	Sites []Target
	// Funcs: the sites are functions of the kernel, at their entries or returns, and the handler looks only at the
	// registers that calls and returns pass values in, so that a kprobe.multi link can serve it.
	Funcs bool
}

// WatchedInside: see Attach.Watch.
const WatchedInside = 1 << 30

// Target is one site with the cookie that tells it apart.
type Target struct {
	Site   *probe.Site
	Cookie uint64
}
