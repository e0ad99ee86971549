package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/gostap/gostap/cmd/internal/slip"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/runtime/export/text"
)

// Options say how sessions are run.
type Options struct {
	Hosts   []Host
	Request Request
	// Prefix puts the host's name in front of each line. With several hosts it is always there.
	Prefix   bool
	Out, Err io.Writer
	// Signals come from the user. The first goes to all sessions, which end in order; after the second, links are cut.
	Signals <-chan os.Signal
	// Verbose tells of each step.
	Verbose bool
	// Counted takes what a host, counted from 0, has counted, if Request.Counts asks for it: its error ends the session
	// there. Ended is called when a host's session has ended or was lost. Both may be called at the same time for
	// different hosts.
	Counted func(host int, snapshot []byte) error
	Ended   func(host int)
	// Record makes what takes the standard output of a host, which is for programs then and gets no name in front; nil:
	// it is text.
	Record func(name string, h Host) Recorder
	// Joins are hosts that come while others run; Run ends when it is closed and the last of them has. nil: there are
	// none. Joined is called for each before it begins; one that it refuses does not.
	Joins  <-chan Host
	Joined func(host int) error
}

// Recorder takes what a host prints for programs. It is for one goroutine.
type Recorder interface {
	// Write takes what was printed, Clock what is known of the clock there from now on, Failed why there is no session
	// or no more of it.
	Write(b []byte)
	Clock(ahead, within time.Duration)
	Failed(why string)
	// End comes last, with the exit status.
	End(status int)
}

// screen is what all hosts print to, line by line.
type screen struct{ mu sync.Mutex }

// lines passes on whole lines with a name in front; without a name it passes on everything as it comes.
type lines struct {
	on   *screen
	to   io.Writer
	name string
	rest []byte
	err  *error // the first of to
}

func (l *lines) print(b []byte) {
	l.on.mu.Lock()
	defer l.on.mu.Unlock()
	if *l.err != nil {
		return
	}
	_, *l.err = l.to.Write(b)
}

func (l *lines) write(b []byte) {
	if l.name == "" {
		l.print(b)
		return
	}
	out, rest := text.Named(nil, append(l.rest, b...), l.name)
	l.rest = rest
	if len(out) > 0 {
		l.print(out)
	}
}

// flush prints what has no end of line.
func (l *lines) flush() {
	if len(l.rest) > 0 {
		l.write([]byte("\n"))
	}
}

// Run runs the request on all hosts side by side and gives the exit status: the highest of all. A host that fails is
// told with its name, and the others go on.
func Run(ctx context.Context, o Options) int {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var on screen
	var outErr, errErr error
	seen := names{}
	prefix := o.Prefix || len(o.Hosts) > 1
	type end struct{ host, status int }
	ends := make(chan end)
	var sessions []*client // nil behind their ends
	running, worst := 0, 0
	begin := func(h Host) {
		i := len(sessions)
		s := &client{host: h, request: o.Request, verbose: o.Verbose, name: seen.of(h), signals: make(chan byte, 2)}
		if o.Counted != nil {
			s.counted = func(b []byte) error { return o.Counted(i, b) }
		}
		s.request.ID, s.request.URI, s.request.Follow = i+1, h.URI, h.Follow != nil
		if h.Follow != nil && h.Follow.Plan != nil {
			s.request.Plan = h.Follow.Plan
		}
		shown := ""
		if prefix {
			shown = s.name
		}
		s.out = lines{on: &on, to: o.Out, name: shown, err: &outErr}
		s.errs = lines{on: &on, to: o.Err, name: shown, err: &errErr}
		if o.Record != nil {
			s.rec = o.Record(s.name, h)
		}
		sessions = append(sessions, s)
		running++
		go func() {
			status := s.run(ctx)
			if s.rec != nil {
				s.rec.End(status)
			}
			if o.Ended != nil {
				o.Ended(i)
			}
			if h.Follow != nil {
				h.Follow.Ended(s.inOrder, s.why)
			}
			ends <- end{i, status}
		}()
	}
	for _, h := range o.Hosts {
		begin(h)
	}
	joins := o.Joins
	for n := 0; running > 0 || joins != nil; {
		select {
		case e := <-ends:
			running, worst, sessions[e.host] = running-1, max(worst, e.status), nil
		case h, more := <-joins:
			switch {
			case !more:
				joins = nil
			case o.Joined != nil && o.Joined(len(sessions)) != nil:
				h.Follow.Ended(true, "")
			default:
				begin(h)
			}
		case sig := <-o.Signals:
			joins = nil
			number, ok := sig.(syscall.Signal)
			if n++; n > 1 || !ok {
				cancel() // the user does not want to wait
				continue
			}
			for _, s := range sessions {
				if s != nil {
					s.signals <- byte(number)
				}
			}
		}
	}
	on.mu.Lock()
	defer on.mu.Unlock()
	if outErr != nil {
		fmt.Fprintf(o.Err, "error: output: %v\n", outErr)
		worst = max(worst, 1)
	}
	return worst
}

// client is this machine's side of one session.
type client struct {
	host      Host
	request   Request
	verbose   bool
	name      string
	out, errs lines
	rec       Recorder // nil: out takes it
	signals   chan byte
	counted   func([]byte) error
	told      time.Time // when that was called last
	inOrder   bool      // it ended by itself
	why       string    // the last error that was printed
	clock     comparison
	misled    bool // that the clock is off was told
}

// say prints a line about the host.
func (s *client) say(kind, text string) {
	text = diag.Visible(text)
	if s.errs.name == "" {
		text = s.name + ": " + text
	}
	s.errs.flush()
	s.errs.write([]byte(kind + text + "\n"))
	if kind != "" {
		s.why = text
	}
}

// errors keeps the last error that is among the messages of the session.
func (s *client) errors(text []byte) {
	for line := range bytes.Lines(text) {
		if s.host.Follow != nil && bytes.Contains(line, []byte("error: ")) {
			_, after, _ := bytes.Cut(bytes.TrimSpace(line), []byte("error: "))
			s.why = diag.Visible(string(after))
		}
	}
}

func (s *client) note(text string) {
	if s.verbose {
		s.say("", text)
	}
}

func (s *client) run(ctx context.Context) int {
	defer s.errs.flush()
	defer s.out.flush()
	l, err := s.dial(ctx)
	if err != nil {
		status := s.fail("no session: " + err.Error())
		if said := (*slip.Error)(nil); errors.As(err, &said) && said.Hint != "" {
			s.errs.write([]byte("  hint: " + diag.Visible(said.Hint) + "\n"))
		}
		return status
	}
	defer l.cut()
	defer context.AfterFunc(ctx, l.cut)()
	status, begun, err := s.talk(l)
	if s.inOrder = err == nil; err == nil {
		l.cut()
		return status
	}
	l.cut()
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || !isOurs(err) {
		err = errors.New("the connection was lost")
	}
	if ctx.Err() != nil {
		err = errors.New("cut off before it had ended")
	} else if said := l.wait(); said != nil {
		err = fmt.Errorf("%w: %w", err, said)
	}
	if begun {
		missing := "what it had to print"
		if s.counted != nil {
			missing = "what it counted after " + s.told.Format("15:04:05.000")
			if s.told.IsZero() {
				missing = "all that it counted"
			}
		}
		err = fmt.Errorf("%w; the session there ends by itself, and %s is missing", err, missing)
	}
	return s.fail(err.Error())
}

// fail tells why a session is not there, and gives its status.
func (s *client) fail(why string) int {
	s.say("error: ", why)
	if s.rec != nil {
		s.rec.Failed(why)
	}
	return 1
}

// errStopped ends what has not begun.
var errStopped = errors.New("stopped by a signal before it began")

// dial connects; a signal that comes meanwhile ends that.
func (s *client) dial(ctx context.Context) (*link, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	type result struct {
		*link
		error
	}
	made := make(chan result, 1)
	go func() {
		l, err := dial(ctx, s.host, func(text string) { s.say("", text) })
		made <- result{l, err}
	}()
	for {
		select {
		case r := <-made:
			return r.link, r.error
		case <-s.signals:
			cancel(errStopped)
		}
	}
}

// greet looks at who is there and sends the request.
func (s *client) greet(l *link, body []byte) error {
	var h Hello
	if err := json.Unmarshal(body, &h); err != nil {
		return errGarbage
	}
	if h.Protocol != Protocol {
		return fmt.Errorf("gostap %s is there, which speaks another protocol: the same version is needed on both sides",
			h.Version)
	}
	s.note(fmt.Sprintf("kernel %s, gostap %s", h.Kernel, h.Version))
	if err := l.send(frameAlive, s.clock.question()); err != nil {
		return err
	}
	q := s.request
	for pod := range strings.SplitSeq(s.host.Pods, ",") {
		if pod != "" {
			q.Args = slices.Concat([]string{"--pod=" + pod}, q.Args)
		}
	}
	return l.sendJSON(frameRequest, &q)
}

// live says that this side is there, until done is closed: also while what it prints is not taken, by a pager say.
func (l *link) live(done <-chan struct{}) {
	alive := time.NewTicker(aliveEvery)
	defer alive.Stop()
	for {
		select {
		case <-done:
			return
		case <-alive.C:
			if l.send(frameAlive, nil) != nil {
				return
			}
		}
	}
}

// talk has the session run. begun says that it had the request when it failed.
func (s *client) talk(l *link) (status int, begun bool, err error) {
	frames := make(chan frame)
	done := make(chan struct{})
	defer close(done)
	go readFrames(l.conn, frames, done)
	go l.live(done)
	alive := time.NewTicker(aliveEvery)
	defer alive.Stop()
	lost := newPatience()
	defer lost.Stop()
	var sets <-chan []Pod // behind the request
	// A session that has ended hears nothing any more, and what it said before, its end too, is still to be read: that
	// something cannot be sent is no end of the link.
	deaf := false
	sent := func(err error) { deaf = deaf || err != nil }
	for {
		select {
		case <-alive.C:
			if !deaf {
				sent(l.send(frameAlive, s.clock.question()))
			}
		case <-lost.C:
			if lost.over() {
				return 0, begun, fmt.Errorf("nothing was heard from there for %v", lostAfter)
			}
		case set := <-sets:
			if !deaf {
				sent(l.sendJSON(framePods, set))
			}
		case sig := <-s.signals:
			if !begun {
				return 0, false, errStopped
			}
			if !deaf {
				sent(l.send(frameSignal, []byte{sig}))
			}
		case f := <-frames:
			if f.err != nil {
				return 0, begun, f.err
			}
			lost.heard()
			switch f.kind {
			case frameHello:
				if begun {
					return 0, begun, errGarbage
				}
				if err := s.greet(l, f.body); err != nil {
					return 0, false, err
				}
				begun, sets = true, s.host.Follow.sets()
			case frameAlive:
				if err := s.compared(l, f.body); err != nil {
					sent(err)
				}
			case frameTold:
				if err := s.host.Follow.heard(f.body); err != nil {
					return 0, begun, err
				}
			case frameOut:
				if s.rec != nil {
					s.rec.Write(f.body)
				} else {
					s.out.write(f.body)
				}
			case frameErr:
				s.errs.write(f.body)
				s.errors(f.body)
			case frameCounted:
				if s.counted == nil {
					return 0, begun, errGarbage
				}
				if err := s.counted(f.body); err != nil {
					return 0, begun, err
				}
				s.told = time.Now()
			case frameExit:
				if len(f.body) != 1 {
					return 0, begun, errGarbage
				}
				return int(f.body[0]), begun, nil
			}
		}
	}
}
