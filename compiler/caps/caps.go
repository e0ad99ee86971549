// Package caps names what a program may need of its executor and what an executor
// provides, so that a missing ability is a diagnostic before anything is built.
package caps

// Cap is one ability.
type Cap string

// The abilities.
const (
	Uprobe       Cap = "uprobe"        // probes on instructions of user programs
	Uretprobe    Cap = "uretprobe"     // return probes by return-address rewriting (C only)
	Kprobe       Cap = "kprobe"        // probes on kernel functions
	Tracepoint   Cap = "tracepoint"    // kernel tracepoints
	Perf         Cap = "perf"          // perf events, timer.profile
	ReadUser     Cap = "read-user"     // read memory of the traced process
	ReadKernel   Cap = "read-kernel"   // read kernel memory
	ReadRegs     Cap = "read-regs"     // read the probed context's registers
	ReadFloat    Cap = "read-float"    // read vector registers
	WriteRegs    Cap = "write-regs"    // guru: change registers
	WriteUser    Cap = "write-user"    // guru: change user memory
	EmbeddedC    Cap = "embedded-c"    // guru: %{ C code %}
	Loops        Cap = "loops"         // loops without a fixed bound
	Recursion    Cap = "recursion"     // recursive functions
	Iterate      Cap = "iterate"       // foreach over arrays
	HostCommands Cap = "host-commands" // system(), reading host files
)

// Set is a set of abilities.
type Set map[Cap]bool

// Of makes a Set.
func Of(cs ...Cap) Set {
	s := Set{}
	for _, c := range cs {
		s[c] = true
	}
	return s
}

// Has reports whether c is in s.
func (s Set) Has(c Cap) bool { return s[c] }

// Missing lists what of want is not in s.
func (s Set) Missing(want Set) []Cap {
	var out []Cap
	for c := range want {
		if !s[c] {
			out = append(out, c)
		}
	}
	return out
}
