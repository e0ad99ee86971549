// Package backend is the face that every back end shows: build an artifact from an
// ir.Program, load it, run it as a session. It has next to no code of its own.
package backend

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/gostap/gostap/compiler/caps"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/interp"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/runtime/wire"
)

// Backend makes artifacts.
type Backend interface {
	Name() string
	// Provides says what the executor can do on this machine's kernel.
	Provides() caps.Set
	// Build translates. What the back end cannot do is a diagnostic at the script's line, with the
	// back end that can in the hint.
	Build(ctx context.Context, p *ir.Program, o BuildOptions) (Artifact, diag.List)
}

// BuildOptions are for every back end.
type BuildOptions struct {
	// Name is the module's or object's name (-m).
	Name string
	// Guru allows changing the traced program.
	Guru bool
	// Fired asks that handlers note that they ran; see Firer.
	Fired bool
	// Hits asks that handlers count their hits; see HitCounter.
	Hits bool
	// Share is how many thousandths of a CPU's time hits may take, with the way to their handlers; more ends the
	// session. 0 leaves it to the program's limits, for handlers that can take long. Cache is where prices of hits
	// are kept.
	Share int
	Cache string
	// Scope keeps handlers to the threads of some control groups (cgroups) and of those below them; see Scoper. nil
	// keeps them to none. Begin, end and error probes and timers, which are no thread's, run as ever.
	Scope *Scope
	// Logf prints what -v shows; may be nil.
	Logf func(format string, args ...any)
	// Verbose is the number of -v.
	Verbose int
}

// Scope says which control groups a program can be kept to.
type Scope struct {
	// Controller is "" for those of the unified hierarchy, and a controller of another one's.
	Controller string
}

// CodeScope is the kind of message of what cannot be kept to control groups.
const CodeScope diag.Code = "scope"

// File is something that -p4, -m or -k leaves behind.
type File struct {
	Name string
	Data []byte
}

// Artifact is a translated program, not yet loaded.
type Artifact interface {
	// Files gives the object files; for eBPF NAME.bpf.o.
	Files() ([]File, error)
	// Listing is the readable translation that -p3 prints.
	Listing() string
	// Load makes maps and programs in the kernel. Nothing is attached yet.
	Load(ctx context.Context, o LoadOptions) (Session, error)
}

// LoadOptions configure a session.
type LoadOptions struct {
	// Target is the process of -x or -c, 0 if none.
	Target int
	// BufferMB is -s: megabytes of output buffer, 0 for the default.
	BufferMB int
	// Timing asks that handlers are timed; see Timer.
	Timing bool
	// Fired is BuildOptions.Fired for back ends that need not know it before; see Firer.
	Fired bool
	// Cache is the folder for what is kept from one run to the next, "" for none.
	Cache string
	// Heat asks that Warnf is told of places whose hits take much of a CPU; see Looker.
	Heat bool
	// Warnf tells the user what he should know at once; may be nil.
	Warnf   func(format string, args ...any)
	Logf    func(format string, args ...any)
	Verbose int
}

// Session is a loaded program. The host loop drives it from one goroutine.
type Session interface {
	// Store is the host handlers' view of the globals.
	Store() interp.Store
	// HostProbes are the indexes of Program.Probes that the host has to run by itself: begin, end,
	// error and timers. Handlers of other probes that cannot run in the kernel arrive as Deferred records.
	HostProbes() []int
	// Schema describes the records that Read gives.
	Schema() *wire.Schema
	// Deferred is the body that the host runs for records of Schema().Captures[i]. Its parameters are the
	// captured values in order; where the capture has Faults, each is followed by a Long with the fault's
	// ir.Code, 0 if there was none.
	Deferred(i int) *ir.Func
	// SetTarget names the -c child once it exists; before Attach.
	SetTarget(pid int) error
	// Attach puts the probes in place. On an error nothing is attached.
	Attach(ctx context.Context) error
	// Read passes on the records that are waiting, in order; when there are none it waits for one until
	// the deadline or until the program asks for attention. Records are valid during the call only. An
	// error from fn is returned.
	Read(deadline time.Time, fn func(rec []byte) error) error
	// Wake makes a Read that is waiting return soon, or the next one that would wait. It may be called from any
	// goroutine.
	Wake()
	// State gives the session state that handlers see and set.
	State() wire.State
	SetState(wire.State) error
	// Counters adds up what was skipped and lost, by cause, per probe where known.
	Counters() (wire.Counters, error)
	// Detach removes the probes; records that are waiting can still be read.
	Detach() error
	// Close frees everything. It is safe to call more than once.
	Close() error
	// Report says for -v how each site was attached and what its hits cost.
	Report() []string
}

// Runner is implemented by Sessions that may run handlers of HostProbes themselves, in the kernel: those with C of
// the script in them.
type Runner interface {
	// Run runs the handler of Program.Probes[i] for its site with that index, and reports whether it is one of them.
	// What the handler says is among the records when Run returns.
	Run(i, site int) (bool, error)
}

// Scoper is implemented by Sessions of programs that were built for a Scope.
type Scoper interface {
	// SetScope names the groups, all of them anew, before Attach and as often as wanted while the session runs: by
	// the kernel's numbers, with how many groups lie above each. Until it was called no handler runs.
	SetScope(levels map[uint64]int) error
}

// Firer is implemented by Sessions that can tell which handlers ran, if BuildOptions.Fired and LoadOptions.Fired asked
// for it.
type Firer interface {
	// Fired reports whether the handler of Program.Probes[i] ran in the kernel; known says whether that was noted.
	Fired(i int) (fired, known bool)
}

// HitCounter is implemented by Sessions that can count hits, if BuildOptions.Hits asked for it.
type HitCounter interface {
	// Hits are those that handlers in the kernel have had so far; counted says whether that was asked for.
	Hits() (n uint64, counted bool)
}

// Timer is implemented by Sessions that can tell how long their handlers took, if LoadOptions.Timing asked for it.
type Timer interface {
	// Times gives what each probe took so far, after Attach.
	Times() []ProbeTime
}

// ProbeTime is how often the handler of Program.Probes[Probe] ran, and how long in all.
type ProbeTime struct {
	Probe int
	Hits  uint64
	Took  time.Duration
}

// Filer is implemented by Sessions that have the script's files themselves, in /proc, with the handlers that serve
// them. For others the host serves them.
type Filer interface{ Files() bool }

// CodeEmbedded is the kind of message that NoEmbedded gives.
const CodeEmbedded diag.Code = "embedded-c"

// NoEmbedded refuses programs with embedded C, for executors that have none; where says which. The list is empty for
// others.
func NoEmbedded(p *ir.Program, where string) diag.List {
	var ds diag.List
	refuse := func(pr *ir.Probe, pos source.Pos) {
		at, inner := p.Blame(pr, pos, source.NoPos)
		ds.Errorf(diag.Build, CodeEmbedded, source.At(at), "embedded C cannot run %s",
			where).Within(inner).Hintf("use --runtime=kernel")
	}
	for _, c := range p.Prelude {
		refuse(nil, c.Pos)
	}
	for _, pr := range p.Probes {
		if c := p.Embeds(pr); c != nil {
			refuse(pr, c.Pos)
		}
	}
	ds.Sort()
	return ds
}

// Guarded is implemented by Sessions that end by themselves when their handlers take too much of a CPU's time.
type Guarded interface {
	// Overloaded gives what was too much, after such an end.
	Overloaded() (Overload, bool)
}

// Overload is what the handlers of a session took of a CPU's time.
type Overload struct {
	// Probe is the index of the probe that most of it belongs to.
	Probe    int
	Took, Of time.Duration
}

// Pricer is implemented by Sessions that can tell what it costs to get to a handler on this machine.
type Pricer interface {
	// Prices measures it, which takes some milliseconds, or knows it from an earlier run.
	Prices() (Prices, error)
}

// Prices are the times that a hit in a program takes, without what its handler does.
type Prices struct {
	Emulated time.Duration // where the kernel emulates the instruction
	Stepped  time.Duration // where it single-steps it
}

// UsualPrices are those where they cannot be measured.
var UsualPrices = Prices{Emulated: time.Microsecond, Stepped: 10 * time.Microsecond}

// Looker is implemented by Sessions that look at what they do now and then. It is called between records, every
// half second or so.
type Looker interface{ Look() }

// Noter is implemented by Sessions that can have something to say about how their probes were attached, such as
// functions that a wildcard found and the kernel refused. Asked once, after Attach.
type Noter interface{ Notes() []string }

// LeftOut is the note about sites of one probe that the kernel refused: names, as many as fit, with the first one's
// reason.
func LeftOut(point string, names []string, why string) string {
	const show = 5
	list := strings.Join(names[:min(show, len(names))], ", ")
	if len(names) > show {
		list += fmt.Sprintf(" and %d more", len(names)-show)
	}
	return fmt.Sprintf("%s: %s left out: %s", point, list, why)
}

// Warner is implemented by Sessions that can have seen something that the user should know although nothing
// failed, such as a traced file that was replaced meanwhile. Asked once, after Detach.
type Warner interface{ Warnings() []string }
