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

	"github.com/gostap/gostap/compiler/diag"
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

// mostLine is the length in bytes at which a line that does not end is printed in pieces.
const mostLine = 1 << 20

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
	l.rest = append(l.rest, b...)
	var out []byte
	for {
		i := bytes.IndexByte(l.rest, '\n')
		if i < 0 && len(l.rest) < mostLine {
			break
		}
		if i < 0 {
			i = len(l.rest) - 1
		}
		out = append(append(append(out, l.name...), ": "...), l.rest[:i+1]...)
		if l.rest[i] != '\n' {
			out = append(out, '\n')
		}
		l.rest = l.rest[i+1:]
	}
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
	names := named(o.Hosts)
	prefix := o.Prefix || len(o.Hosts) > 1
	status := make([]int, len(o.Hosts))
	sessions := make([]*client, len(o.Hosts))
	for i, h := range o.Hosts {
		s := &client{host: h, request: o.Request, verbose: o.Verbose, name: names[i], signals: make(chan byte, 2)}
		if o.Counted != nil {
			s.counted = func(b []byte) error { return o.Counted(i, b) }
		}
		s.request.ID, s.request.URI = i+1, h.URI
		shown := ""
		if prefix {
			shown = names[i]
		}
		s.out = lines{on: &on, to: o.Out, name: shown, err: &outErr}
		s.errs = lines{on: &on, to: o.Err, name: shown, err: &errErr}
		sessions[i] = s
	}
	go func() {
		for n := 0; ; n++ {
			select {
			case sig := <-o.Signals:
				number, ok := sig.(syscall.Signal)
				if n > 0 || !ok {
					cancel() // the user does not want to wait
					return
				}
				for _, s := range sessions {
					s.signals <- byte(number)
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	var wg sync.WaitGroup
	for i, s := range sessions {
		wg.Go(func() {
			status[i] = s.run(ctx)
			if o.Ended != nil {
				o.Ended(i)
			}
		})
	}
	wg.Wait()
	worst := 0
	for _, n := range status {
		worst = max(worst, n)
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
	signals   chan byte
	counted   func([]byte) error
	told      time.Time // when that was called last
}

// say prints a line about the host.
func (s *client) say(kind, text string) {
	text = diag.Visible(text)
	if s.errs.name == "" {
		text = s.name + ": " + text
	}
	s.errs.flush()
	s.errs.write([]byte(kind + text + "\n"))
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
		s.say("error: ", "no session: "+err.Error())
		return 1
	}
	defer l.cut()
	defer context.AfterFunc(ctx, l.cut)()
	status, begun, err := s.talk(l)
	if err == nil {
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
	s.say("error: ", err.Error())
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
	q := s.request
	for pod := range strings.SplitSeq(s.host.Pods, ",") {
		if pod != "" {
			q.Args = slices.Concat([]string{"--pod=" + pod}, q.Args)
		}
	}
	return l.sendJSON(frameRequest, &q)
}

// talk has the session run. begun says that it had the request when it failed.
func (s *client) talk(l *link) (status int, begun bool, err error) {
	frames := make(chan frame)
	done := make(chan struct{})
	defer close(done)
	go readFrames(l.conn, frames, done)
	alive := time.NewTicker(aliveEvery)
	defer alive.Stop()
	lost := time.NewTimer(lostAfter)
	defer lost.Stop()
	for {
		select {
		case <-alive.C:
			if err := l.send(frameAlive, nil); err != nil {
				return 0, begun, err
			}
		case <-lost.C:
			return 0, begun, fmt.Errorf("nothing was heard from there for %v", lostAfter)
		case sig := <-s.signals:
			if !begun {
				return 0, false, errStopped
			}
			if err := l.send(frameSignal, []byte{sig}); err != nil {
				return 0, begun, err
			}
		case f := <-frames:
			if f.err != nil {
				return 0, begun, f.err
			}
			lost.Reset(lostAfter)
			switch f.kind {
			case frameHello:
				if begun {
					return 0, begun, errGarbage
				}
				if err := s.greet(l, f.body); err != nil {
					return 0, false, err
				}
				begun = true
			case frameOut:
				s.out.write(f.body)
			case frameErr:
				s.errs.write(f.body)
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
