// Package host drives a session from begin to end: begin handlers, attaching, the
// traced process, records, timers, signals, end handlers, and the report of what was
// lost.
//
// In: an ir.Program with a loaded backend.Session. Out: text on the streams and a
// Result. All handlers that run on the host run in the calling goroutine.
package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sort"
	"time"

	"github.com/gostap/gostap/compiler/backend"
	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/kbtf"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/runtime/host/symbols"
	"github.com/gostap/gostap/runtime/host/target"
	"github.com/gostap/gostap/runtime/wire"
)

// Config is one run of a script.
type Config struct {
	Program        *ir.Program
	Session        backend.Session
	Stdout, Stderr io.Writer
	// Event, if it is given, takes what the session has to say in place of Stdout and Stderr, in the goroutine of
	// Run. Its first error ends the session; nothing more is said then, and Result.Err is that error. What system()
	// runs still writes to Stdout and Stderr.
	Event func(*Event) error
	// Pause is called when Event was given all that there is to be said for now; may be nil.
	Pause func() error
	// Stdin is what probes on the input read; nil when the input is taken otherwise.
	Stdin io.Reader
	// Name is that of the session, Named that the user gave it. Serve are addresses at which the script's files are
	// served besides (package served); Served is called with all of them when the files are there, and may be nil.
	Name   string
	Named  bool
	Serve  []string
	Served func(addresses []string)
	// Live is called before anything runs, with functions for Ask: what Result.Times will be, and the functions of a
	// stack by its number, as flamegraph.pl reads them; may be nil.
	Live func(times func() []backend.ProbeTime, folded func(number int64) string)
	// Target is the -c child, held back, or the -x process; nil if neither.
	Target *target.Target
	// Timeout is -T, 0 for none.
	Timeout time.Duration
	// Open reads binaries for symbol names.
	Open func(path string) (debuginfo.Image, error)
	// Cache is the folder where what is known of the running kernel is kept between runs, "" for none.
	Cache string
	// Moved are files that the program names and that lie elsewhere here, with where.
	Moved map[string]string
	// Timing fills Result.Times.
	Timing bool
	// MaxHits ends the session when its probes are hit more often in a second; 0: they may be.
	MaxHits uint64
	// MaxCPU is the part of a CPU's time that the session was built to take at most; 0: the limits of Program hold.
	MaxCPU float64
	// Started is called when the probes are in place, before the target runs; may be nil.
	Started func() error
	// Ask has functions called by the goroutine of Run while it waits for records, when no handler is at work here; nil
	// if nobody asks. Whoever sends one wakes the session first.
	Ask <-chan func()
	// Ended is called when the last handler has run, before the session's globals go; may be nil.
	Ended func()
	// QuietErrors: run-time errors of the script are counted at the end, but neither told one by one nor a failure.
	QuietErrors bool
	// Logf prints what -v shows; may be nil.
	Logf func(format string, args ...any)
}

// Result is how a run ended.
type Result struct {
	// Err is why the session could not go on, nil at a normal end.
	Err error
	// Errors counts run-time errors of the script that were not caught.
	Errors int
	// Failed: there were more of them than MAXERRORS allows.
	Failed bool
	// Lost counts hits and events that are missing, as warnings tell of them at the end.
	Lost uint64
	// Report is what the session tells of its sites, for -v.
	Report []string
	// Times are how often handlers ran and how long, in the order of the probes.
	Times []backend.ProbeTime
	// Child says how the -c child ended when it did not end well.
	Child string
	// Untraced: the context ended behind the begin probes, before the others were in place.
	Untraced bool
}

// OK reports whether the exit status is 0.
func (r Result) OK() bool { return r.Err == nil && !r.Failed && r.Errors == 0 && r.Child == "" }

// run is the state of one run.
type run struct {
	Config
	out    *output
	hosted *hosted
	timers []timer
	dead   time.Time // -T
	budget budget
	reason string
	in     *input // nil if no probe is on it, or at its end
	hush   func() // ends reading it; nil if nobody does
	files  *files // nil if the script has none, or the session has them
	// refused: the probes could not be put in place. untraced: they were not, since the context ended.
	refused, untraced bool
}

type timer struct {
	probe int
	site  *probe.Site
	next  time.Time
}

// Run runs the script to its end, which the end of ctx brings about too. What has begun ends in order: once a begin
// probe ran the end probes do, whenever that is. Before, the end of ctx is an error. The session is detached and closed
// when it returns.
func Run(ctx context.Context, c Config) (res Result) {
	if c.Logf == nil {
		c.Logf = func(string, ...any) {}
	}
	r := &run{Config: c}
	syms := &symbols.Table{Open: c.Open, Moved: c.Moved, Known: images(c.Program),
		KernelFiles: kbtf.Config{Cache: c.Cache}}
	for path := range c.Moved {
		syms.ImageOf(path) // now: where it lies may be a process's, which ends
	}
	r.out = newOutput(c.Program, c.Stdout, c.Stderr, syms)
	syms.Warn = r.out.warn
	r.out.schema = c.Session.Schema()
	r.out.keeper, _ = c.Session.(backend.Keeper)
	r.out.quiet = c.QuietErrors
	r.out.event, r.out.pause = c.Event, c.Pause
	if wantsNames(r.out.schema) || r.out.keeper != nil && r.out.keeper.Keeps() {
		var err error
		if syms.Events, err = symbols.WatchProcesses(); err != nil {
			c.Logf("programs that end early may show addresses without names: %v", err)
		} else {
			defer syms.Events.Close()
		}
	}
	defer func() {
		// Also where the one who takes events panics.
		if c.Ended != nil {
			c.Ended()
		}
		if err := c.Session.Close(); err != nil && res.Err == nil {
			res.Err = err
		}
		if c.Target != nil {
			c.Target.Abandon()
		}
		r.out.flush()
		if res.Err == nil {
			res.Err = r.out.failed
		}
	}()
	defer r.out.settle() // while the globals are there
	if r.hosted, res.Err = newHosted(c, r.out); res.Err != nil {
		return res
	}
	r.hosted.drain = r.drain
	if c.Live != nil {
		c.Live(r.times, func(n int64) string { return r.out.keptText(n, wire.KeptFolded) })
	}
	if res.Err = r.openFiles(); res.Err != nil {
		return res
	}
	defer r.files.close()
	err := r.live(ctx)
	if derr := r.wind(); err == nil {
		err = derr
	}
	if err == nil {
		err = r.tooManySkipped() // a short run may be over before it was looked at
	}
	if err == nil {
		err = r.overloaded()
	}
	res.Err = err
	res.Errors, _ = r.hosted.errors()
	res.Failed = r.state() == wire.Failed
	r.finish(&res)
	if c.QuietErrors {
		res.Errors = 0
	}
	res.Report = c.Session.Report()
	res.Times = r.times()
	res.Untraced = r.untraced
	if c.Target != nil && r.childEnded() {
		res.Child = c.Target.Status()
		if res.Child != "" {
			r.out.remark("the traced command %s", res.Child)
		}
	}
	return res
}

// wantsNames reports whether records carry code addresses of programs.
func wantsNames(s *wire.Schema) bool {
	named := func(a wire.Arg) bool {
		return (a.Kind == wire.Sym || a.Kind == wire.Stack || a.Kind == wire.RawStack) && !a.Lazy.OfKernel()
	}
	return slices.ContainsFunc(s.Sites, func(s wire.Site) bool { return slices.ContainsFunc(s.Args, named) }) ||
		slices.ContainsFunc(s.Captures, func(c wire.Capture) bool { return slices.ContainsFunc(c.Args, named) })
}

func images(p *ir.Program) []debuginfo.Image {
	var out []debuginfo.Image
	seen := map[debuginfo.Image]bool{}
	for _, pr := range p.Probes {
		for _, s := range pr.Sites {
			if s.Image != nil && !seen[s.Image] {
				seen[s.Image] = true
				out = append(out, s.Image)
			}
		}
	}
	return out
}

// live goes from the begin probes to the moment when something ends the session.
func (r *run) live(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		r.refused = true
		return err
	}
	if r.Target != nil {
		if err := r.Session.SetTarget(r.Target.Pid); err != nil {
			return err
		}
	}
	if err := r.Session.SetState(wire.Running); err != nil {
		return err
	}
	if err := r.hosted.moment(probe.Begin); err != nil {
		return err
	}
	if r.state() != wire.Running {
		return nil
	}
	// Whoever waits for a probe to be there (a file in /proc, a trap) has what begin probes printed before what comes
	// of it.
	r.out.flush()
	if err := r.uncounted(); err != nil {
		r.refused = true
		return err
	}
	t0 := time.Now()
	r.tooMany(t0)
	err := r.Session.Attach(ctx)
	if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) && len(byPriority(r.Program, probe.Begin)) > 0 {
		r.reason, r.untraced = why(ctx), true
		r.out.remark("stopped before the probes were in place: nothing was traced")
		return nil
	}
	if n, ok := r.Session.(backend.Noter); ok && err == nil {
		for _, text := range n.Notes() {
			r.out.warn(text)
		}
	}
	if err != nil {
		r.refused = true
		return err
	}
	r.Logf("attached in %.1f ms", float64(time.Since(t0).Microseconds())/1000)
	if r.Timeout > 0 {
		r.dead = time.Now().Add(r.Timeout) // nothing counted before
	}
	r.out.flush()
	for _, i := range r.Session.HostProbes() {
		for _, s := range r.Program.Probes[i].Sites {
			if s.Kind == probe.Timer {
				r.timers = append(r.timers, timer{i, s, after(time.Now(), s)})
			}
		}
	}
	if r.files != nil {
		r.files.server.Serve()
		if r.Served != nil {
			r.Served(r.files.server.Addresses())
		}
	}
	if r.Started != nil {
		if err := r.Started(); err != nil {
			return err
		}
	}
	if r.Target != nil {
		if err := r.Target.Release(); err != nil {
			return fmt.Errorf("start the traced command: %w", err)
		}
	}
	if err := r.listen(); err != nil {
		return err
	}
	if wantsNames(r.out.schema) {
		r.out.syms.Learn()
	}
	return r.loop(ctx)
}

// watch closes ended when something outside of the session ends it, and then wakes its Read, which does not look
// again before a second is over. It closes gone when it is done with the session.
func (r *run) watch(ctx context.Context, stop <-chan struct{}, ended, gone chan<- struct{}) {
	var done <-chan struct{}
	if r.Target != nil {
		done = r.Target.Done()
	}
	go func() {
		defer close(gone)
		select {
		case <-done:
			r.reason = "the target ended"
		case <-ctx.Done():
			r.reason = why(ctx)
		case <-stop:
			return
		}
		close(ended)
		r.Session.Wake()
	}()
}

// why says why a context ended.
func why(ctx context.Context) string {
	if cause := context.Cause(ctx); cause != ctx.Err() {
		return cause.Error()
	}
	return "cancelled"
}

// loop passes records on and runs timers until something ends the session.
func (r *run) loop(ctx context.Context) error {
	stop, ended, gone := make(chan struct{}), make(chan struct{}), make(chan struct{})
	r.watch(ctx, stop, ended, gone)
	defer func() {
		close(stop)
		<-gone
	}()
	const checkEvery = 500 * time.Millisecond
	check := time.Now().Add(checkEvery)
	for {
		select {
		case <-ended:
			return nil
		default:
		}
		now := time.Now()
		if !r.dead.IsZero() && !now.Before(r.dead) {
			r.reason = "time limit"
			return nil
		}
		if err := r.fire(now); err != nil {
			return err
		}
		if err := r.typed(); err != nil {
			return err
		}
		if err := r.serve(); err != nil {
			return err
		}
		if now.After(check) {
			check = now.Add(checkEvery)
			if l, ok := r.Session.(backend.Looker); ok {
				l.Look()
			}
			if err := r.tooManySkipped(); err != nil {
				return err
			}
			if err := r.tooMany(now); err != nil {
				return err
			}
		}
		if s := r.state(); s == wire.Stopping || s == wire.Failed {
			return nil
		}
		wait := now.Add(time.Second)
		for _, t := range r.timers {
			if t.next.Before(wait) {
				wait = t.next
			}
		}
		if !r.dead.IsZero() && r.dead.Before(wait) {
			wait = r.dead
		}
		if _, err := r.read(wait); err != nil {
			return err
		}
		r.answer()
		r.out.syms.Poll()
		r.out.flush()
		if r.out.failed != nil {
			return r.out.failed
		}
	}
}

// answer calls the functions that others have asked for.
func (r *run) answer() {
	for {
		select {
		case f := <-r.Ask:
			f()
		default:
			return
		}
	}
}

// fire runs the timers that are due. Records that came before are printed first.
func (r *run) fire(now time.Time) error {
	for i := range r.timers {
		t := &r.timers[i]
		if now.Before(t.next) {
			continue
		}
		for over := time.Now().Add(5 * turn); time.Now().Before(over); {
			if n, err := r.read(time.Time{}); err != nil {
				return err
			} else if n == 0 {
				break
			}
		}
		if err := r.hosted.run(t.probe, t.site); err != nil {
			return err
		}
		// A timer that fell behind does not catch up with a burst.
		if t.next = after(t.next, t.site); t.next.Before(now) {
			t.next = after(now, t.site)
		}
		if s := r.state(); s != wire.Running {
			return nil
		}
	}
	return nil
}

// after gives the time of the next run of a timer site.
func after(t time.Time, s *probe.Site) time.Time {
	d := max(s.Timer.Period, time.Microsecond)
	if s.Timer.Jitter > 0 {
		d += time.Duration(rand.Int64N(2*int64(s.Timer.Jitter)+1)) - s.Timer.Jitter
	}
	return t.Add(max(d, time.Microsecond))
}

// drain passes on what waits, when no more comes.
func (r *run) drain() error {
	for {
		if n, err := r.read(time.Time{}); err != nil || n == 0 {
			return err
		}
	}
}

// turn is how long records are passed on before timers and the end of the session are looked at again. The system calls
// of a handler that runs here can be hits of their own, so that the records never come to an end.
const turn = 200 * time.Millisecond

var errTurn = errors.New("the turn is over")

// read passes on what waits, for a turn at most, and says how many records. If there are none it waits for the first
// until the time given.
func (r *run) read(until time.Time) (n int, err error) {
	var over time.Time
	err = r.Session.Read(until, func(rec []byte) error {
		n++
		if err := r.record(rec); err != nil || n%64 != 0 {
			return err
		}
		switch now := time.Now(); {
		case over.IsZero():
			over = now.Add(turn)
		case now.After(over):
			return errTurn
		}
		return nil
	})
	if errors.Is(err, errTurn) {
		err = nil
	}
	return n, err
}

// record handles one record.
func (r *run) record(rec []byte) error {
	h, body, err := wire.ParseHeader(rec)
	if err != nil {
		return fmt.Errorf("output buffer: %w", err)
	}
	r.out.cpu = int(h.CPU)
	switch h.Kind {
	case wire.Print:
		err = r.out.print(h, body)
	case wire.Warn, wire.Log:
		err = r.out.message(h.Kind, body)
	case wire.Error:
		var e wire.ErrorBody
		if e, err = r.out.dec.ParseError(body); err == nil {
			r.out.wireFault(e)
		}
	case wire.Deferred:
		var n int
		var vals []wire.Value
		if n, vals, err = r.out.dec.Deferred(body, r.out.schema); err == nil {
			if err = r.hosted.deferred(n, vals); err == nil && r.Event != nil {
				err = r.out.failed
			}
			return err
		}
	case wire.Exit, wire.Process:
		// exit() is seen in the session's state; the record only wakes the reader.
	default:
		err = fmt.Errorf("unknown kind %d", h.Kind)
	}
	if err != nil {
		return fmt.Errorf("output buffer: %w", err)
	}
	if r.Event != nil {
		r.out.settle()
		return r.out.failed
	}
	return nil
}

// wind takes the probes away and passes on what is left.
func (r *run) wind() error {
	r.files.close()
	if r.hush != nil {
		r.hush()
	}
	if r.state() != wire.Failed {
		if err := r.Session.SetState(wire.Stopping); err != nil {
			return err
		}
	}
	if r.reason != "" {
		r.Logf("stopping: %s", r.reason)
	}
	// What is waiting is read before detaching as well, so that a full buffer does not lose more.
	err := r.drain()
	t0 := time.Now()
	if derr := r.Session.Detach(); err == nil {
		err = derr
	}
	r.Logf("detached in %.1f ms", float64(time.Since(t0).Microseconds())/1000)
	if derr := r.drain(); err == nil {
		err = derr
	}
	r.out.abandon()
	if r.refused {
		r.out.flush() // nothing was traced: end probes would print that as a result
		return err
	}
	kind := probe.End
	if r.state() == wire.Failed {
		kind = probe.ErrorEnd
	}
	if herr := r.hosted.moment(kind); err == nil {
		err = herr
	}
	r.out.flush()
	return err
}

func (r *run) state() wire.State { return r.Session.State() }

func (r *run) running() bool { return r.state() == wire.Running }

func (r *run) childEnded() bool {
	select {
	case <-r.Target.Done():
		return true
	default:
		return false
	}
}

// errTooManySkipped ends the session as an error of the script.
var errTooManySkipped = errors.New("skipped too many probes, check MAXSKIPPED")

func (r *run) tooManySkipped() error {
	limit := r.Program.Limits.MaxSkipped
	if limit <= 0 {
		return nil
	}
	c, err := r.Session.Counters()
	if err != nil {
		return nil
	}
	if n := skipped(c); n > uint64(limit) {
		return errTooManySkipped
	}
	return nil
}

// skipped adds up the causes that stap's MAXSKIPPED means: locks and memory, not events that
// were lost on the way or returns without an entry.
func skipped(c wire.Counters) uint64 {
	n := uint64(0)
	for _, cause := range []ir.Cause{ir.SkipLock, ir.SkipScratch} {
		n += count(c, cause)
	}
	return n
}

func count(c wire.Counters, cause ir.Cause) uint64 {
	if int(cause) >= len(c.ByCause) {
		return 0
	}
	return c.ByCause[cause]
}

// byPriority lists the sites of one kind of host probe, smallest priority first, then
// in the order of the script.
func byPriority(p *ir.Program, kind probe.Kind) []timer {
	var out []timer
	for i, pr := range p.Probes {
		for _, s := range pr.Sites {
			if s.Kind == kind {
				out = append(out, timer{probe: i, site: s})
			}
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].site.Priority < out[j].site.Priority })
	return out
}
