// Package gostap traces running programs and the kernel from a Go program: it compiles a script, runs it, and gives
// what it prints and counts as values.
//
//	err := gostap.Run(ctx, script, gostap.Options{Command: "./shop"}, func(e gostap.Event) error {
//		fmt.Println(e.PID, e.Point, e.Args)
//		return nil
//	})
//
// In: a script in the language of the command, and Options, whose zero value is what the command does without flags.
// Out: a Program, which can be written down (Program.Bytes) and run elsewhere (Load); Sessions of it with their Events
// and Globals; errors, of which *Error carries the messages of the compiler with their places.
//
// Begin, end and error probes, timers and handlers that only the host can run, run in the process that uses the
// package, as they do in the command. A context that ends, ends the session in order: the probes are taken
// away, what they had seen is told, and end probes run. The package writes nothing on the standard streams, takes no
// signals and never ends the process. Sessions are independent of each other; a process may have any number.
package gostap

import (
	"io"
	"time"

	"github.com/gostap/gostap/compiler"
	"github.com/gostap/gostap/compiler/layout"
)

// Runtime is where the handlers of a script run.
type Runtime string

// The runtimes.
const (
	Auto   Runtime = ""       // eBPF, or the process alone where that is enough for the script
	BPF    Runtime = "bpf"    // eBPF
	Module Runtime = "kernel" // a kernel module that is made of the script
	Host   Runtime = "host"   // the process alone: begin, end, error and timer probes
)

// Source is a text of the script language with the name that messages call it by.
type Source struct {
	Name, Text string
}

// Options say what to compile and how to run it. The zero value is of use: eBPF on this machine, the library and limits
// of the command, prints as values.
type Options struct {
	// Name is what messages call the script, "<script>" if it is empty. More are further texts of the same script.
	Name string
	More []Source
	// Args are the script's arguments, $1 or @1 and so on. Globals are first values of its variables.
	Args    []string
	Globals map[string]string
	// Include are directories with libraries of one's own.
	Include []string
	// Guru allows a script to change the traced program and the kernel, and to have C in it.
	Guru bool
	// Limits are those of a session; the zero value is layout.Default.
	Limits layout.Limits
	// Text is for a script whose output is wanted as text only: its prints make no values, which takes less of each
	// hit.
	Text bool
	// Bare leaves PID, TID, Time and Point of prints out, which takes less of each hit.
	Bare bool
	// PrintGlobals prints globals at the end that the script writes and never reads, as the command does.
	PrintGlobals bool
	// Folded has PrintGlobals print those that have stacks as keys, and no others, as flamegraph.pl reads them:
	// functions with semicolons between, the outermost first, and a number.
	Folded bool
	// SkipBadVars reads 0 where a variable of the traced program cannot be had. AllCallers lets .callee probes hit
	// whoever calls. Unoptimised leaves the optimiser out.
	SkipBadVars, AllCallers, Unoptimised bool
	// Privilege is that of the user whom the script is checked for: "stapusr", "stapsys", "stapdev"; "" checks nothing.
	// Language is the version of the script language that the script was written for.
	Privilege, Language string

	// Runtime says where handlers run.
	Runtime Runtime
	// Kernel is the kernel that is compiled for.
	Kernel Kernel
	// Elsewhere compiles for another machine of the same kind: what this one's kernel lacks does not matter.
	Elsewhere bool
	// Portable compiles for other kernels too, for Bytes: what a script reads of the kernel's structures is looked up
	// in the kernel that the program is loaded for. Such a program is not run itself.
	Portable bool
	// Merge compiles for Program.Merge.
	Merge bool
	// ModuleName names the module or object file; "" makes a name up.
	ModuleName string

	// Files are programs and libraries that Load finds elsewhere than they were when the program was compiled, by what
	// is in them.
	Files []string

	// PID is the process to trace, Command a line for the shell that is started for the session and traced: what
	// target() and a bare process in a script mean. The session ends with it.
	PID     int
	Command string
	// Program gives the file that a bare process in a script means where there is neither PID nor Command. It is asked
	// if the script has one.
	Program func() (path string, err error)
	// Cgroups are the folders of control groups: probes are hit by the threads in these and in those below them alone,
	// whatever else they say. Begin, end and error probes and timers are no thread's. See Session.SetCgroups.
	Cgroups []string
	// Pods are pods of Kubernetes, by their UIDs, whose control groups are added to Cgroups. Those that are not on this
	// machine have no hits. Load finds programs among those that run in them as well.
	Pods []string
	// Stdin, Stdout and Stderr are those of Command and of what the script runs by system(); nil is the null device.
	// Without Command, probes on the input read Stdin.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Env is the environment of Command, and where PATH, LD_LIBRARY_PATH and HOME are looked up; nil is that of the
	// process.
	Env []string

	// Serve are addresses at which the files of the script (its probes procfs, json_data, prometheus) are served over
	// HTTP, beside the Unix socket that they are always served at: the path of another one, HOST:PORT, or PORT of the
	// loopback address. See Session.Served.
	Serve []string

	// Timeout ends the session after a time, 0 never. BufferMB is the size of the kernel's output buffer in megabytes,
	// 0 for the usual one.
	Timeout  time.Duration
	BufferMB int
	// QuietErrors counts run-time errors of the script without telling them, and they are no failure.
	QuietErrors bool
	// Timing measures how often and how long each handler runs (Session.Times).
	Timing bool
	// MaxHits ends a session whose probes are hit more often in a second, with an error; 0: they may be.
	MaxHits uint64
	// MaxCPU ends a session, with an error, whose hits take more of a CPU's time, for half a second, than this part of
	// it, 0 to 1: their handlers, and the kernel's way to these. 0 leaves it to the limits of the script.
	MaxCPU float64

	// Tool is what a tool wants to know or to decide beyond that.
	Tool ToolOptions

	kept *string // what cache gave
}

// Kernel names a kernel; the zero value is the one that runs.
type Kernel struct {
	// Release is one as uname -r gives it, or a directory with a kernel's build.
	Release string
	// BTF and Symbols are files with its types and its symbols; "" looks for them.
	BTF, Symbols string
}

// NoCache as ToolOptions.Cache keeps nothing from one run to the next.
const NoCache = "none"

// ToolOptions are for tools that show how a script is compiled and run, such as the command.
type ToolOptions struct {
	// Cache is the folder for what is kept from one run to the next, "" for the user's: $XDG_CACHE_HOME/gostap or
	// ~/.cache/gostap. Indexes of Include are kept there if KeepIndexes says so; NewIndexes makes them anew.
	Cache                   string
	KeepIndexes, NewIndexes bool
	// Stop ends the compiler after a phase, so that there is no program; Dump names passes whose product is wanted.
	Stop compiler.Phase
	Dump []string
	// Verify has the compiler check its own work.
	Verify bool
	// Soon says that the program is run as soon as it is compiled: what the kernel can do for that is begun meanwhile.
	Soon bool
	// Apart has handlers that are not atomic and take no lock for it: others may change globals between two accesses.
	// It is for scripts in which what belongs together is in one element, of which one handler at a time knows.
	Apart bool
	// Watched keeps the globals of a program with Options.Text too, and lets its probes be switched (Session.Probes,
	// Session.Switch, Session.Reset).
	Watched bool
	// MakeModule are arguments NAME=VALUE of the make that builds modules, ModuleInfo entries NAME=VALUE of what
	// modinfo tells of them.
	MakeModule, ModuleInfo []string
	// Log takes what there is to tell of the five passes (parse, elaborate, translate, build, run), as much as Verbose
	// says of each; nil tells nothing.
	Log     func(format string, args ...any)
	Verbose [5]int
	// Warn takes what the user should know at once, in place of a Warning event or a line behind "WARNING: ".
	Warn func(text string)
	// Unfired has the end of a session name the probe points that never fired. Heat has it warn of places whose hits
	// take much of a CPU.
	Unfired, Heat bool
}
