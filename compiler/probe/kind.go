package probe

// Kind says what makes a Site fire. What is known of a kind stands in its row of kinds; the executors have a row
// for each of their own (sel, cgen, session), and a test holds that none is missing or refused without words.
type Kind uint8

// The kinds of sites.
const (
	Begin        Kind = iota // once, before anything else; by Priority
	End                      // once, at a normal end
	ErrorEnd                 // once, instead of End when the session ended by an error
	Never                    // not at all
	Timer                    // every Period
	Profile                  // on each CPU at its timer tick, with the interrupted registers
	Uprobe                   // at an instruction of a user program
	Uretprobe                // when a C function returns
	ProcessBegin             // a process started to run a program
	ProcessFork              // a process that another one has made begins, still with its maker's program
	ProcessEnd               // it ended
	ThreadBegin              // a thread begins that is not the first one of its process
	ThreadEnd                // such a thread ended
	ProcessSyscall
	ProcessSyscallReturn
	Kprobe
	Kretprobe
	Tracepoint
	Perf
	InputChar // a character came on the standard input of the tracer
	InputLine // a line did
	// ProcfsRead and ProcfsWrite: a process reads or writes a file of the script's, whose path is Event.
	ProcfsRead
	ProcfsWrite
	// Netfilter: a packet comes by at a place of the kernel's network code, which Event says (NetHook).
	Netfilter
	// LSM: the kernel asks its security modules, at a hook that Event names, whether it may go on.
	LSM
	NumKinds // how many there are
)

// Class is what kinds have in common that executors do alike.
type Class uint8

// The classes.
const (
	Session     Class = iota // moments of the session itself
	Clock                    // the tracer's clock
	Input                    // the tracer's standard input
	Instruction              // an instruction of a program or of the kernel
	Sample                   // a counter of the kernel's or the processor's, which interrupts what runs
	Lifetime                 // a process or thread begins or ends
	Syscall                  // a system call, in the process that makes it
	Event                    // a tracepoint, or a hook of the security modules
	File                     // a file that the session has, in /proc or served by the tracer
	Packet                   // a packet at a hook of netfilter
	NumClasses
)

// Runs says where handlers run.
type Runs uint8

// Where handlers run.
const (
	InKernel Runs = iota // atomically, in the kernel
	InTracer             // in the tracer
	// Awaited: for a process that waits for the handler, which so may be kept longer. In the kernel where the executor
	// has files in /proc, else in the tracer.
	Awaited
)

// Code says whose code is interrupted, and so whose registers are there.
type Code uint8

// Whose code.
const (
	NoCode     Code = iota // none: there are no registers
	UserCode               // a program's
	KernelCode             // the kernel's
	AnyCode                // whatever runs
)

// Words says what values come with a hit.
type Words uint8

// What comes with a hit.
const (
	NoWords     Words = iota
	EventWords        // the arguments of a tracepoint or of a hook
	SyscallArgs       // the number and the arguments of a system call
	SyscallRet        // the same, and the result
	PacketWords       // what netfilter says of a packet (NetHook)
)

// info is the row of a kind. The zero value of each field promises least.
type info struct {
	name  string
	class Class
	runs  Runs
	code  Code
	words Words
	// process: a hit is an act of the process that runs at the time, not an accident to it.
	process bool
	// serial: never at the same time as a handler of another kind.
	serial bool
	// returns: something returns there, with a result; entry is the kind of its beginning.
	returns bool
	entry   Kind
}

var kinds = [NumKinds]info{
	Begin:        {name: "begin", class: Session, runs: InTracer, serial: true},
	End:          {name: "end", class: Session, runs: InTracer, serial: true},
	ErrorEnd:     {name: "error", class: Session, runs: InTracer, serial: true},
	Never:        {name: "never", class: Session, runs: InTracer, serial: true},
	Timer:        {name: "timer", class: Clock, runs: InTracer},
	Profile:      {name: "profile", class: Sample, code: AnyCode},
	Uprobe:       {name: "uprobe", class: Instruction, code: UserCode, process: true},
	Uretprobe:    {name: "uretprobe", class: Instruction, code: UserCode, process: true, returns: true, entry: Uprobe},
	ProcessBegin: {name: "process.begin", class: Lifetime, process: true},
	ProcessFork:  {name: "process.fork", class: Lifetime, process: true},
	ProcessEnd:   {name: "process.end", class: Lifetime, process: true},
	ThreadBegin:  {name: "thread.begin", class: Lifetime, process: true},
	ThreadEnd:    {name: "thread.end", class: Lifetime, process: true},

	ProcessSyscall: {name: "syscall", class: Syscall, words: SyscallArgs, process: true},
	ProcessSyscallReturn: {name: "syscall.return", class: Syscall, words: SyscallRet, process: true, returns: true,
		entry: ProcessSyscall},

	Kprobe:      {name: "kprobe", class: Instruction, code: KernelCode},
	Kretprobe:   {name: "kretprobe", class: Instruction, code: KernelCode, returns: true, entry: Kprobe},
	Tracepoint:  {name: "tracepoint", class: Event, words: EventWords},
	Perf:        {name: "perf", class: Sample, code: AnyCode},
	InputChar:   {name: "input.char", class: Input, runs: InTracer},
	InputLine:   {name: "input.line", class: Input, runs: InTracer},
	ProcfsRead:  {name: "procfs.read", class: File, runs: Awaited},
	ProcfsWrite: {name: "procfs.write", class: File, runs: Awaited},
	Netfilter:   {name: "netfilter", class: Packet, words: PacketWords},
	LSM:         {name: "lsm", class: Event, words: EventWords},
}

func (k Kind) String() string { return kinds[k].name }

// Class says what k has in common with others.
func (k Kind) Class() Class { return kinds[k].class }

// AtEnd reports whether a probe of the kind is met once, when nothing is traced any more.
func (k Kind) AtEnd() bool { return k == End || k == ErrorEnd }

// OnHost reports whether a site of this kind fires in the tracer itself.
func (k Kind) OnHost() bool { return kinds[k].runs == InTracer }

// Served reports whether the tracer serves sites of this kind where the kernel's part of a session does not.
func (k Kind) Served() bool { return kinds[k].runs == Awaited }

// MayWait reports whether handlers of this kind run on behalf of somebody who waits for them, and so may take
// longer (MAXACTION_INTERRUPTIBLE).
func (k Kind) MayWait() bool { return kinds[k].runs != InKernel }

// Code says whose code a hit interrupts.
func (k Kind) Code() Code { return kinds[k].code }

// InKernel reports whether a site of this kind is an instruction of the kernel.
func (k Kind) InKernel() bool { return kinds[k].class == Instruction && kinds[k].code == KernelCode }

// InUser reports whether a site of this kind is an instruction of a program.
func (k Kind) InUser() bool { return kinds[k].class == Instruction && kinds[k].code == UserCode }

// InThread reports whether a hit is in the thread that it is about, and nothing but that waits for its handler: at an
// instruction of a program, or a system call. A thread is in one such handler at a time.
func (k Kind) InThread() bool { return k.InUser() || k.Class() == Syscall }

// Words says what values come with a hit.
func (k Kind) Words() Words { return kinds[k].words }

// OfProcess reports whether a hit is an act of the process that runs at the time.
func (k Kind) OfProcess() bool { return kinds[k].process }

// Serial reports whether a handler of this kind never runs at the same time as one of another kind.
func (k Kind) Serial() bool { return kinds[k].serial }

// Returns reports whether something returns at every site of this kind: the kernel's return probes and system
// calls. A Uprobe can be at a return too (Site.IsReturn).
func (k Kind) Returns() bool { return kinds[k].returns }

// Trampoline reports whether the kernel catches the return by an address of its own on the stack.
func (k Kind) Trampoline() bool { return kinds[k].returns && kinds[k].class == Instruction }

// Entry is the kind of site at which begins what returns at a site of kind k.
func (k Kind) Entry() Kind {
	if !kinds[k].returns {
		return k
	}
	return kinds[k].entry
}
