package gostap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gostap/gostap/compiler/backend"
	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/open"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/runtime/host"
	"github.com/gostap/gostap/runtime/host/memory"
	"github.com/gostap/gostap/runtime/host/target"
	"github.com/gostap/gostap/runtime/merge"
)

// Session is a program that is loaded, runs or has run. It runs once.
type Session struct {
	p       *Program
	b       backend.Session
	release func()
	ran     bool
	// early are warnings of loading, until somebody takes events, as tell then does; wrong is its first error.
	mu    sync.Mutex
	early []string
	tell  func(Event) error
	wrong error
	ended bool // the globals are going
	// live gives what handlers took so far, in the goroutine that drives the session; nil before it runs.
	live func() []backend.ProbeTime
	// folded gives the functions of a kept stack, likewise.
	folded func(number int64) string
	// served are where the script's files are.
	served []string
	// ask has functions run by the goroutine that drives the session.
	ask    chan func()
	over   chan struct{}      // closed when globals and result are there
	stop   context.CancelFunc // of run; cancel is of Start
	cancel context.CancelFunc

	globals Globals
	broken  error // why there are no globals
	shared  []int // of Share
	top     *merge.Top
	// columns are where the keys of these, or of a session over machines, have stacks; told the numbers of those that a
	// Snapshot has told of.
	columns map[int]map[int]bool
	told    map[int64]bool
	files   []placedFile     // with probes, of a session that is kept to pods
	looked  map[inode]string // what is in files of pods
	last    []byte           // what Snapshot gives behind the end
	result  host.Result
	err     error
	queue   *queue // of a session that was started
}

// Run compiles a script, runs it and calls fn with all it has to say, in the calling goroutine, until it ends: by
// exit(), with its target, by the context or the timeout, or by the first error of fn, which Run returns. A context
// that ends before a probe of the script can have run is an error; later it is not. A session that ends badly is a
// *Failure.
func Run(ctx context.Context, script string, o Options, fn func(Event) error) error {
	o.Tool.Soon = true
	p, err := Compile(ctx, script, o)
	if err != nil {
		return err
	}
	defer p.Close()
	return p.Run(ctx, fn)
}

// Run runs p as the function Run does.
func (p *Program) Run(ctx context.Context, fn func(Event) error) error {
	s, err := p.Prepare(ctx)
	if err != nil {
		return err
	}
	return s.Run(ctx, fn)
}

// Prepare loads p into the kernel. No probe is there yet, and no handler has run. The session is to be run or closed.
func (p *Program) Prepare(ctx context.Context) (_ *Session, err error) {
	defer guard(&err, nil)()
	if p.ir == nil {
		return nil, errors.New("the compiler was told to stop before there was a program")
	}
	if err := p.unchanged(); err != nil {
		return nil, err
	}
	s := &Session{p: p, ask: make(chan func(), 64), over: make(chan struct{})}
	art, release, err := p.take(ctx)
	if err != nil {
		return nil, err
	}
	s.release = release
	if art == nil {
		s.b, err = memory.New(p.ir)
	} else {
		s.b, err = s.load(ctx, art)
	}
	if err != nil {
		release()
		return nil, placed(err, p.files, p.o.here())
	}
	return s, nil
}

func (s *Session) load(ctx context.Context, art backend.Artifact) (backend.Session, error) {
	o := &s.p.o
	start := time.Now()
	cache, _ := o.cache()
	b, err := art.Load(ctx, backend.LoadOptions{Target: o.PID, BufferMB: o.BufferMB, Timing: o.Timing, Cache: cache,
		Heat: o.Tool.Heat, Fired: o.Tool.Unfired,
		Warnf: s.warnf, Logf: s.p.log, Verbose: o.Tool.Verbose[4]})
	if err == nil {
		o.logPass(5, "load", time.Since(start))
		s.b = b
		if err = s.enter(); err == nil && s.p.pods != nil {
			err = s.lookAtFiles()
		}
		if err != nil {
			b.Close()
		}
	}
	return b, err
}

// warnf tells the user something at once, or as soon as somebody takes events.
func (s *Session) warnf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if s.p.o.Tool.Warn != nil {
		s.p.o.Tool.Warn(text)
		return
	}
	s.mu.Lock()
	tell := s.tell
	if tell == nil {
		s.early = append(s.early, text)
	}
	s.mu.Unlock()
	if tell == nil {
		return
	}
	if err := tell(Event{Kind: Warning, Text: text, CPU: -1}); err != nil && s.wrong == nil {
		s.wrong = err
		s.stop()
	}
}

// Close takes a session away that was prepared and is not going to be run. It does nothing to one that was.
func (s *Session) Close() error {
	if s.ran {
		return nil
	}
	s.ran = true
	defer s.release()
	return s.b.Close()
}

// Served is where the files of the script are, its probes procfs, once they are in place: the path of a Unix socket,
// then what Options.Serve asked for, paths and URLs. With modules they are in /proc, and nothing is served.
func (s *Session) Served() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.served)
}

// Run runs the session to its end, as the function Run does.
func (s *Session) Run(ctx context.Context, fn func(Event) error) error {
	return s.run(ctx, host.Config{Stdout: s.p.o.Stdout, Stderr: s.p.o.Stderr}, fn, nil)
}

// Print runs the session to its end and writes what the script prints to out and messages to errors, as the command
// does. started is called when the probes are in place, before Command runs; it may be nil.
func (s *Session) Print(ctx context.Context, out, errors io.Writer, started func() error) error {
	return s.run(ctx, host.Config{Stdout: out, Stderr: errors}, nil, started)
}

// Each runs the session to its end as Run does. pause is called when fn was given all that there is to be said for now,
// so that what it gathered can be written; aside is where the script's system() prints, and what switch_file() has go
// on in another file if it has a method Next. started is as for Print.
func (s *Session) Each(ctx context.Context, aside io.Writer, fn func(Event) error, pause, started func() error) error {
	return s.run(ctx, host.Config{Stdout: aside, Stderr: s.p.o.Stderr, Pause: pause}, fn, started)
}

// run runs the session. fn is nil where text is wanted.
func (s *Session) run(ctx context.Context, cfg host.Config, fn func(Event) error, started func() error) (err error) {
	if s.ran {
		return errors.New("the session has been run already")
	}
	s.ran = true
	theirs := false // a function of the caller is at work
	defer close(s.over)
	defer func() { s.err = err }()
	defer guard(&err, &theirs)()
	defer s.release()
	p, o := s.p, &s.p.o
	defer s.b.Close() // it does nothing behind host.Run
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s.stop = stop
	cfg.Program, cfg.Session, cfg.Timeout, cfg.QuietErrors, cfg.Timing = p.ir, s.b, o.Timeout, o.QuietErrors, o.Timing
	cfg.MaxHits, cfg.MaxCPU = o.MaxHits, o.MaxCPU
	cfg.Open = func(path string) (debuginfo.Image, error) { return open.Open(path) }
	cfg.Cache, _ = o.cache()
	cfg.Moved = p.moved
	cfg.Ask, cfg.Started = s.ask, started
	cfg.Name, cfg.Named = cmp.Or(o.ModuleName, fmt.Sprintf("gostap_%d", os.Getpid())), o.ModuleName != ""
	cfg.Serve = o.Serve
	cfg.Live = func(times func() []backend.ProbeTime, folded func(int64) string) { s.live, s.folded = times, folded }
	cfg.Served = func(addresses []string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.served = addresses
	}
	cfg.Ended = func() {
		s.globals, s.broken = s.look(true)
		if s.shared != nil && s.broken == nil {
			s.last, s.broken = s.snapshot(true)
		}
		s.mu.Lock()
		s.ended = true
		s.mu.Unlock()
	}
	if o.Command == "" {
		cfg.Stdin = o.Stdin
	}
	if o.Tool.Verbose[4] > 0 {
		cfg.Logf = o.Tool.Log
	}
	tell := func(e Event) error {
		_, err := fmt.Fprintf(cfg.Stderr, "WARNING: %s\n", diag.Visible(e.Text))
		return err
	}
	var first []Event
	if fn != nil {
		tell = func(e Event) error {
			theirs = true
			err := fn(e)
			theirs = false
			return err
		}
		cfg.Event = func(h *host.Event) error { return tell(p.event(h)) }
		for _, d := range p.Warnings() {
			first = append(first, Event{Kind: Warning, Text: d.Message, Code: d.Code, File: d.File, Line: d.Line,
				Column: d.Column, CPU: -1})
		}
	}
	if text := price(p.ir, func() backend.Prices { return prices(s.b) }); text != "" {
		s.warnf("%s", text)
	}
	s.mu.Lock()
	for _, text := range s.early {
		first = append(first, Event{Kind: Warning, Text: text, CPU: -1})
	}
	s.early, s.tell = nil, tell
	s.mu.Unlock()
	for _, e := range first {
		if err := tell(e); err != nil {
			return err
		}
	}
	switch {
	case o.Command != "":
		cfg.Target, err = target.Start(target.Options{Command: o.Command, Stdin: o.Stdin, Stdout: o.Stdout,
			Stderr: o.Stderr, Env: o.environment()})
	case o.PID != 0:
		cfg.Target, err = target.Watch(o.PID)
	}
	if err != nil {
		return err
	}
	s.result = host.Run(ctx, cfg)
	if o.Tool.Verbose[4] > 0 {
		for _, line := range s.result.Report {
			p.log("%s", line)
		}
	}
	return s.outcome()
}

// outcome is the error of a session that was run.
func (s *Session) outcome() error {
	r := &s.result
	switch {
	case s.wrong != nil:
		return s.wrong
	case r.Err != nil:
		return placed(r.Err, s.p.files, s.p.o.here())
	case !r.OK():
		return &Failure{Errors: r.Errors, Stopped: r.Failed, Child: r.Child}
	}
	return nil
}

// Lost is how many hits and events are missing, as warnings or events of the kind Lost have told, when the session has
// ended; 0 before.
func (s *Session) Lost() uint64 {
	if !s.ended {
		return 0
	}
	return s.result.Lost
}

// HandlerTime is how often a handler ran and how long in all. What runs only to see that a hit is not for it, such as
// one of another process, counts too.
type HandlerTime struct {
	// Point is the probe point as the script has it; File, Line and Column are where.
	Point        string
	File         string
	Line, Column int
	Hits         uint64
	Took         time.Duration
	// Places is how many places the handler serves.
	Places int
}

// Times are those of a session that has ended, if Options.Timing asked for them.
func (s *Session) Times() []HandlerTime {
	if !s.ended {
		return nil
	}
	return s.handlerTimes(s.result.Times)
}

func (s *Session) handlerTimes(times []backend.ProbeTime) []HandlerTime {
	out := []HandlerTime{}
	for _, t := range times {
		pr := s.p.ir.Probes[t.Probe]
		h := HandlerTime{Point: pr.Name, Hits: t.Hits, Took: t.Took, Places: len(pr.Sites)}
		if len(pr.Sites) > 0 && pr.Sites[0].Alias != "" {
			h.Point = pr.Sites[0].Alias // as the script has it: one program may serve many aliases
		}
		if s.p.files != nil {
			if at := s.p.files.Position(pr.Pos); at.File != nil {
				h.File, h.Line, h.Column = at.File.Name, at.Line, at.Col
			}
		}
		out = append(out, h)
	}
	return out
}
