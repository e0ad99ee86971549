package host

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/interp"
	"github.com/gostap/gostap/runtime/wire"
)

// hostOnly is a session without probes in the kernel. It tells what was written when they would be put in place.
type hostOnly struct {
	store   interp.Store
	state   wire.State
	probes  []int
	attach  func()
	woken   func()
	counted wire.Counters
}

func (s *hostOnly) Store() interp.Store                      { return s.store }
func (s *hostOnly) HostProbes() []int                        { return s.probes }
func (s *hostOnly) Schema() *wire.Schema                     { return &wire.Schema{} }
func (s *hostOnly) Deferred(int) *ir.Func                    { return nil }
func (s *hostOnly) SetTarget(int) error                      { return nil }
func (s *hostOnly) Attach(ctx context.Context) error         { s.attach(); return cmp.Or(ctx.Err(), errDone) }
func (s *hostOnly) Read(time.Time, func([]byte) error) error { return nil }
func (s *hostOnly) Wake()                                    { s.woken() }
func (s *hostOnly) State() wire.State                        { return s.state }
func (s *hostOnly) SetState(st wire.State) error             { s.state = max(s.state, st); return nil }
func (s *hostOnly) Counters() (wire.Counters, error)         { return s.counted, nil }
func (s *hostOnly) Detach() error                            { return nil }
func (s *hostOnly) Close() error                             { return nil }
func (s *hostOnly) Report() []string                         { return nil }

var errDone = errors.New("attached")

// What begin probes print is out before the first probe is in place: others may wait for that and write to the same
// terminal.
func TestBeginIsOut(t *testing.T) {
	p, err := ir.ParseText("probe \"begin\" {\n  site begin\nb0:\n  print \"begun\\n\"()\n  end\n}\n")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	seen := ""
	s := &hostOnly{store: interp.NewMemStore(p), probes: []int{0}, attach: func() { seen = out.String() }}
	res := Run(context.Background(), Config{Program: p, Session: s, Stdout: &out, Stderr: &out})
	if !errors.Is(res.Err, errDone) || seen != "begun\n" {
		t.Errorf("error %v; written before the probes are in place: %q", res.Err, seen)
	}
}

// End probes, and what is printed of globals at the end, would pass off as a result what a session that saw nothing
// has.
func TestRefused(t *testing.T) {
	p, err := ir.ParseText("probe \"begin\" {\n  site begin\nb0:\n  print \"begun\\n\"()\n  end\n}\n\nprobe \"end\" " +
		"{\n  site end\nb0:\n  print \"ended\\n\"()\n  end\n}\n" +
		"\nprobe \"error\" {\n  site error\nb0:\n  print \"wrong\\n\"()\n  end\n}\n")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	s := &hostOnly{store: interp.NewMemStore(p), probes: []int{0, 1, 2}, attach: func() {}}
	res := Run(context.Background(), Config{Program: p, Session: s, Stdout: &out, Stderr: &out})
	if !errors.Is(res.Err, errDone) || out.String() != "begun\n" {
		t.Errorf("error %v, said %q", res.Err, out.String())
	}
}

// A begin probe may have changed what the end probe has to set right, and said that it has begun: whoever sees that and
// stops the session at once gets an ordinary end, however long it takes to put the probes in place.
func TestStoppedEarly(t *testing.T) {
	const begin = "probe \"begin\" {\n  site begin\nb0:\n  print \"begun\\n\"()\n  end\n}\n"
	const end = "\nprobe \"end\" {\n  site end\nb0:\n  print \"ended\\n\"()\n  end\n}\n"
	for _, c := range []struct {
		name, script string
		before       bool // the context has ended already
		out          string
	}{
		{name: "begun", script: begin + end, out: "begun\nended\n"},
		{name: "nothing ran", script: end},
		{name: "before", script: begin + end, before: true},
	} {
		p, err := ir.ParseText(c.script)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		if c.before {
			cancel()
		}
		var out, errs bytes.Buffer
		s := &hostOnly{store: interp.NewMemStore(p), attach: cancel}
		for i := range p.Probes {
			s.probes = append(s.probes, i)
		}
		res := Run(ctx, Config{Program: p, Session: s, Stdout: &out, Stderr: &errs})
		if out.String() != c.out {
			t.Errorf("%s: printed %q, want %q", c.name, out.String(), c.out)
		}
		if begun := c.out != ""; res.OK() != begun || errors.Is(res.Err, context.Canceled) == begun ||
			res.Untraced != begun || strings.Contains(errs.String(), "nothing was traced") != begun {
			t.Errorf("%s: %+v, said %q", c.name, res, errs.String())
		}
	}
}

// Who is woken has to see why: it does not look again before a second is over.
func TestWokenBehindTheReason(t *testing.T) {
	ended, gone, woken := make(chan struct{}), make(chan struct{}), false
	s := &hostOnly{woken: func() {
		woken = true
		select {
		case <-ended:
		default:
			t.Error("the session is woken before its end can be seen")
		}
	}}
	ctx, cancel := context.WithCancel(context.Background())
	r := &run{Config: Config{Session: s}}
	r.watch(ctx, nil, ended, gone)
	cancel()
	<-gone
	if !woken || r.reason != "cancelled" {
		t.Errorf("woken: %v, reason %q", woken, r.reason)
	}
}
