// Package profile is the command "gostap profile": where the time of a program goes, by stack.
//
// In: arguments and streams. Out: an exit status, and a file or a table. It makes a script of what is asked for
// (script.go),
// runs it by package gostap, makes samples of its events (cpu.go, threads.go, goroutines.go) and has a package of
// runtime/export write them (write.go).
package profile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/gostap/gostap"
	"github.com/gostap/gostap/cmd/internal/slip"
	"github.com/gostap/gostap/compiler/debuginfo/open"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/layout"
	"github.com/gostap/gostap/compiler/trusted"
	"github.com/gostap/gostap/runtime/export"
	"github.com/gostap/gostap/runtime/host/symbols"
)

// Streams are where the command reads and writes. The program of -c gets them too.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	// Columns is the width of the terminal that Out is, 0 if it is none.
	Columns int
}

const usage = `gostap profile - where the time of a program goes

usage: gostap profile -c CMD | -x PID [options]
       gostap profile --diff BEFORE AFTER -o FILE
       gostap profile FILE [-o FILE]          a file that was written before, .folded or .pb.gz, in another form

  -c, --command CMD    start CMD and profile it until it ends
  -x, --pid PID        profile a running process
      --for TIME       stop after so long (10s, 2m); without it, -x ends with the process or Ctrl-C
      --what LIST      what is measured, cpu if nothing is said:
                         cpu      where processors are, by samples
                         wall     all time of each goroutine (in Go) or thread: running, runnable, blocked and on what
                         off      wall without running
                         lock, chan, gc, syscall
                                  those parts of off (chan and gc: Go); any of them with commas between
                         create   where goroutines are made, by number (Go)
                         alloc    where memory is allocated, in bytes (Go)
      --threads        of a Go program, threads instead of goroutines
      --each           each goroutine by itself: its number is a label. Each change of a state is sent, which costs more
      --sample         look at all goroutines now and then, in place of probes: costs the program next to nothing
      --by LABEL       split by a label: state, thread, process, cgroup, goroutine (--each), or one that the program
                       gives its goroutines (Go: pprof.Do); the file for go tool pprof has all of them
      --hz N           samples a second for cpu, 997 if nothing is said
  -s, --buffer MB      memory for events that wait to be read, 1 to 1024
  -o, --output FILE    by its ending: .pb.gz for go tool pprof, .folded, .svg and .html flame graphs;
                       without it, a table
      --diff           what changed between two files, .folded or .pb.gz
`

// options are the command line.
type options struct {
	command string
	pid     int
	length  time.Duration
	what    string
	threads bool
	each    bool
	sample  bool
	by      string
	hz      int
	output  string
	diff    bool
	files   []string
	buffer  int
	// For tests: the probes are in place so long before the beginning and behind the end; begun is called between.
	hold  time.Duration
	begun func()
}

// Run runs the command and gives its exit status. ctx ends the profile, which is written all the same.
func Run(ctx context.Context, args []string, s Streams, env []string) int {
	o, err := parse(args)
	if errors.Is(err, pflag.ErrHelp) {
		fmt.Fprint(s.Out, usage)
		return 0
	}
	if err == nil {
		switch {
		case o.diff:
			err = difference(o, s)
		case len(o.files) == 1:
			err = redraw(o, s)
		default:
			err = record(ctx, o, s, env)
		}
	}
	var e *gostap.Error
	switch {
	case err == nil:
		return 0
	case errors.As(err, &e):
		for _, d := range e.Diagnostics {
			io.WriteString(s.Err, d.Render(gostap.Style{}))
		}
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(s.Err, "error: stopped by a signal before the probes were in place: nothing was measured")
	default:
		slip.Failed(s.Err, err)
	}
	return 1
}

// parse reads the arguments.
func parse(args []string) (*options, error) {
	o := &options{}
	f := pflag.NewFlagSet("profile", pflag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	f.StringVarP(&o.command, "command", "c", "", "")
	f.IntVarP(&o.pid, "pid", "x", 0, "")
	f.DurationVar(&o.length, "for", 0, "")
	f.StringVar(&o.what, "what", "cpu", "")
	f.BoolVar(&o.threads, "threads", false, "")
	f.BoolVar(&o.each, "each", false, "")
	f.BoolVar(&o.sample, "sample", false, "")
	f.StringVar(&o.by, "by", "", "")
	f.IntVar(&o.hz, "hz", 997, "")
	f.StringVarP(&o.output, "output", "o", "", "")
	f.BoolVar(&o.diff, "diff", false, "")
	f.IntVarP(&o.buffer, "buffer", "s", 0, "")
	if err := f.Parse(args); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return nil, err
		}
		return nil, slip.New(err.Error(), "gostap profile --help lists the options")
	}
	o.files = f.Args()
	if o.output != "" && form(o.output) == "" {
		return nil, slip.New(fmt.Sprintf("what form %s is to have is not clear from its name", o.output),
			"let it end in .pb.gz, .folded, .svg or .html")
	}
	switch {
	case o.diff && len(o.files) != 2:
		return nil, slip.New(fmt.Sprintf("--diff takes two files, and there are %d", len(o.files)),
			"gostap profile --diff before.folded after.folded -o diff.html")
	case o.diff, len(o.files) == 1 && o.command == "" && o.pid == 0:
		return o, nil
	case len(o.files) > 0:
		return nil, slip.New(fmt.Sprintf("%q is not an option", o.files[0]),
			"quote a command of several words: -c 'CMD ARGS'")
	case (o.command == "") == (o.pid == 0):
		return nil, slip.New("one of -c and -x is needed, to say what is profiled", "gostap profile -x PID --for 10s")
	case o.pid < 0:
		return nil, slip.New(fmt.Sprintf("%d is no process", o.pid), "")
	case o.length < 0:
		return nil, slip.New("--for takes a time like 10s", "")
	case o.hz < 1 || o.hz > 10000:
		return nil, slip.New(fmt.Sprintf("--hz %d: samples are taken 1 to 10000 times a second", o.hz), "")
	case o.buffer < 0 || f.Changed("buffer") && o.buffer == 0 || o.buffer > 1024:
		return nil, slip.New(fmt.Sprintf("--buffer takes 1 to 1024 megabytes, not %d", o.buffer), "")
	}
	list := strings.Split(o.what, ",")
	if o.sample && (o.each || o.threads || slices.Contains([]string{"cpu", "create", "alloc"}, o.what)) {
		return nil, slip.New("--sample looks at what all goroutines do", "add --what wall, off, or some of "+
			strings.Join(parts, ", ")+", without --each and --threads")
	}
	for _, w := range list {
		if !slices.Contains([]string{"cpu", "wall", "off", "lock", "chan", "gc", "syscall", "create", "alloc"}, w) {
			return nil, slip.New(fmt.Sprintf("--what does not know %q", w),
				"it knows cpu, wall, off, lock, chan, gc, syscall, create and alloc")
		}
		if len(list) > 1 && !slices.Contains(parts, w) {
			return nil, slip.New(fmt.Sprintf("--what %s cannot be measured together with others", w),
				"run the command once for each")
		}
	}
	return o, nil
}

// parts are what may be asked for together: states of goroutines.
var parts = []string{"lock", "chan", "gc", "syscall"}

// collector makes samples of events.
type collector interface {
	// event takes what one statement printed; args[0] is its code.
	event(args []gostap.Value)
	// finish gives the samples. end is when nothing was counted any more, by clock().
	finish(end int64) *export.Profile
}

// buffer is how many megabytes of events wait for us at most if nothing is said. All of it is memory of ours.
func buffer(c collector) int {
	switch c.(type) {
	case *sums, *counts, *samples: // one event for each goroutine that there can be, and the reasons to wait
		return 16
	case *cpu: // some seconds
		return min(max(4*runtime.NumCPU(), 8), 64)
	}
	return 64
}

// deepest is how many calls of a stack are told.
const deepest = 127

// deepestKept is that for stacks that the kernel keeps: it compares all of them at each hit.
const deepestKept = 64

// record runs the script and writes what it gives.
func record(ctx context.Context, o *options, s Streams, env []string) error {
	opt := gostap.Options{
		Name: "<profile>", Command: o.command, PID: o.pid, Bare: true, BufferMB: o.buffer,
		Stdin: s.In, Stdout: s.Out, Stderr: s.Err, Env: env,
	}
	opt.Limits = layout.Default()
	opt.Limits.MaxBacktrace = deepest
	opt.Tool.Apart = true // what belongs together is in one element, of which one goroutine's events know
	n := &namer{table: symbols.Table{Open: open.Open}, stacks: map[string][]export.Frame{}, pid: uint32(o.pid)}
	if dir := gostap.CacheDir(env); trusted.Dir(dir) == nil {
		n.table.KernelFiles.Cache = dir
	}
	ev, err := symbols.WatchProcesses()
	if err == nil {
		n.table.Events = ev
		defer ev.Close()
	}
	script, c, err := plan(ctx, o, opt, n)
	if err != nil {
		return err
	}
	switch c.(type) {
	case *sums, *counts:
		opt.Limits.MaxBacktrace, opt.Limits.MaxActionInt = deepestKept, math.MaxInt32
	}
	if opt.BufferMB == 0 {
		opt.BufferMB = buffer(c)
	}
	prog, err := gostap.Compile(ctx, script, opt)
	if err != nil {
		return err
	}
	defer prog.Close()
	var notes []string
	w := window{hold: o.hold}
	length := o.length
	if _, ok := c.(*sums); ok && (length == 0 || length > mostTime) {
		length = mostTime
	}
	session, err := w.open(ctx, prog, length, o.pid != 0)
	if err != nil {
		return err
	}
	if o.begun != nil {
		o.begun()
	}
	if o.pid != 0 { // the probes are in place
		c.event([]gostap.Value{{Int: codeBegin}, {Int: int64(o.pid)}, {Int: w.begun}})
		n.pid = uint32(o.pid)
	}
	var exit int64
	group := ""
	for e, failure := range session.Events() {
		switch {
		case failure != nil:
			err = failure
		case e.Kind == gostap.Print:
			switch {
			case e.Args[0].Int == codeBegin:
				n.pid = uint32(e.Args[1].Int)
				group = groupNow(n.pid)
				continue // when the probes are in place is what counts
			case e.Args[0].Int == codeExit && e.Args[3].Int != 0:
				exit = e.Args[2].Int
			}
			n.poll()
			c.event(e.Args)
		case e.Kind == gostap.Lost:
			notes = append(notes, "lost: "+e.Text+": times and numbers are wrong by what was in them")
		default:
			fmt.Fprintf(s.Err, "%s: %s\n", e.Kind, diag.Visible(e.Text))
		}
	}
	var failed *gostap.Failure
	if err != nil && !errors.As(err, &failed) {
		return err
	}
	end := w.end(exit)
	p := c.finish(end)
	p.Start, p.Duration = w.at, time.Duration(end-w.begun)
	if p.Duration >= length && length != o.length {
		notes = append(notes, fmt.Sprintf("the profile ended after %v: times have no more room", length))
	}
	p.Notes = slices.Concat(n.notes, notes, p.Notes)
	for _, t := range p.Notes {
		fmt.Fprintf(s.Err, "WARNING: %s\n", diag.Visible(t))
	}
	switch c.(type) {
	case *cpu, *threads:
	default: // a process is in one
		for i := range p.Samples {
			s := &p.Samples[i]
			s.Labels = with(s.Labels, export.Label{Key: "cgroup", Text: group})
		}
	}
	for _, key := range []string{"process", "cgroup"} { // what all have says nothing, unless it is asked for
		if o.by != key {
			withoutSame(p, key)
		}
	}
	p.Merge()
	if len(p.Samples) == 0 {
		fmt.Fprintln(s.Err, "WARNING: nothing was seen: the program did nothing of what is measured")
	}
	if o.by != "" {
		if !p.Labelled(o.by) {
			fmt.Fprintf(s.Err, "WARNING: nothing that was seen has a label %q\n", o.by)
		}
		if f := form(o.output); f != "" && f != ".pb.gz" {
			p.SplitBy(o.by)
		}
	}
	if err := write(o, s, p); err != nil {
		return err
	}
	if failed != nil {
		return failed
	}
	return nil
}
