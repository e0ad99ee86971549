package merge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/gostap/gostap/compiler/backend"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/interp"
	"github.com/gostap/gostap/compiler/types"
	"github.com/gostap/gostap/runtime/host/memory"
	"github.com/gostap/gostap/runtime/wire"
)

// Config is what a session over machines needs.
type Config struct {
	// Program is the part that runs once, Shared the globals of all machines (package spread).
	Program *ir.Program
	Shared  []int
	// Seen are those that handlers read before all machines have ended.
	Seen map[int]bool
	// Columns are those of keys that have stacks, by global (Columns of the part for each machine).
	Columns  map[int]map[int]bool
	Machines int
	// Open: machines may join while the session runs, until Shut; it does not end with the last one before.
	Open bool
	// Wait is how long a machine is waited for that does not begin where others have; a minute if it is 0.
	Wait time.Duration
	// Start has the sessions of the machines begin, and Stop has them end, whose last snapshots are waited for then.
	// Neither waits.
	Start, Stop func()
}

// Session is the session in which the handlers run that are about all machines. Tell, Restart and End may be called
// from any goroutine; who calls them never waits for handlers, and of several snapshots of a machine the last one
// counts.
type Session struct {
	*memory.Session
	c    Config
	sums *sums

	mu      sync.Mutex
	waiting [][]news // by machine: of one session after the other
	begun   []bool
	ended   []bool
	changed chan struct{}
	notes   []string
	open    bool
	started bool        // the machines were asked to begin
	sizes   map[int]int // of arrays of Shared, for one machine
}

// news is what a session of a machine has told last, since it was looked at; restarted: it is a new one.
type news struct {
	restarted bool
	last      Told // with the stacks of all that it has told since then
}

var _ backend.Session = (*Session)(nil)

// New makes the session. The program of c is changed: its arrays get room for what all machines count.
func New(c Config) (*Session, error) {
	p := *c.Program
	p.Globals = slices.Clone(p.Globals)
	sizes := map[int]int{}
	for _, g := range c.Shared {
		gl := *p.Globals[g]
		sizes[g] = gl.Size
		gl.Size *= max(c.Machines, 1)
		p.Globals[g] = &gl
	}
	m, err := memory.New(&p)
	if err != nil {
		return nil, err
	}
	return &Session{Session: m, c: c, sums: newSums(&p, m.Store().(*interp.MemStore), c.Machines, sizes, c.Columns),
		waiting: make([][]news, c.Machines), begun: make([]bool, c.Machines), ended: make([]bool, c.Machines),
		changed: make(chan struct{}, 1), open: c.Open, sizes: sizes}, nil
}

// Join adds a machine and gives its number. A session that is shut has none to add.
func (s *Session) Join() (machine int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.open {
		return 0, false
	}
	s.waiting, s.begun, s.ended = append(s.waiting, nil), append(s.begun, false), append(s.ended, false)
	return len(s.begun) - 1, true
}

// Shut says that no machine joins any more: the session ends with the last of them.
func (s *Session) Shut() {
	s.mu.Lock()
	s.open = false
	s.mu.Unlock()
	s.ring()
}

func (s *Session) ring() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
	s.Wake()
}

// Tell takes a snapshot of a machine, in bytes. The first one says that its probes are in place.
func (s *Session) Tell(machine int, b []byte) error {
	told, err := Parse(b, s.c.Program, s.c.Shared)
	if err != nil {
		return err
	}
	s.mu.Lock()
	if len(s.waiting[machine]) == 0 {
		s.waiting[machine] = []news{{}}
	}
	now := &s.waiting[machine][len(s.waiting[machine])-1]
	if told.Stacks = append(now.last.Stacks, told.Stacks...); tooMany(told.Stacks) {
		told.Stacks, err = nil, errManyStacks
	}
	if more := told.keep(now.last, s.c.Program, s.sizes); more != nil {
		err = more
	}
	now.last = told
	s.begun[machine] = true
	s.mu.Unlock()
	s.ring()
	return err
}

// Restart says that a new session of a machine begins to count from nothing.
func (s *Session) Restart(machine int) {
	s.mu.Lock()
	s.waiting[machine] = append(s.waiting[machine], news{restarted: true})
	s.mu.Unlock()
}

// End says that a machine tells no more.
func (s *Session) End(machine int) {
	s.mu.Lock()
	s.ended[machine] = true
	s.mu.Unlock()
	s.ring()
}

// take enters what was told. Only the goroutine that runs handlers calls it: what one of them reads and then deletes is
// the same.
func (s *Session) take() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sums.room(len(s.waiting))
	for g, size := range s.sizes {
		s.sums.p.Globals[g].Size = size * max(len(s.waiting), 1)
	}
	for i, list := range s.waiting {
		s.waiting[i] = nil
		for _, n := range list {
			if n.restarted {
				s.sums.restart(i)
			}
			if n.last.Snapshot == nil {
				continue
			}
			if err := s.sums.names.learn(i, n.last.Stacks); err != nil {
				s.note(fmt.Sprintf("machine %d: %v", i+1, err))
			}
			if err := s.sums.add(i, n.last); err != nil {
				s.note(fmt.Sprintf("machine %d: %v", i+1, err))
			}
		}
	}
}

// MayReset says why globals cannot get the values that they began with while machines go on counting, if they cannot.
func (s *Session) MayReset() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range s.c.Shared {
		gl := s.c.Program.Globals[g]
		if gl.Type == types.Stats {
			return fmt.Errorf("%s cannot be reset: each machine knows @min and @max of the whole session", gl.Name)
		}
		if m, _ := s.sums.gap(g); m.some {
			return fmt.Errorf("%s cannot be reset: what machines have not told of it (--elements) would count as new",
				gl.Name)
		}
	}
	return nil
}

// mostNotes is how many different things are told of machines.
const mostNotes = 100

// note remembers what is to be told of a machine, once.
func (s *Session) note(text string) {
	if len(s.notes) < mostNotes && !slices.Contains(s.notes, text) {
		s.notes = append(s.notes, text)
	}
}

// over reports whether all machines have ended.
func (s *Session) over() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.open && !slices.Contains(s.ended, false)
}

// Attach has the machines begin, and waits until each has its probes in place or has failed. Some that do not come to
// that are not waited for longer than Config.Wait, if others have.
func (s *Session) Attach(ctx context.Context) error {
	s.mu.Lock()
	s.started = true
	s.mu.Unlock()
	s.c.Start()
	late := time.NewTimer(cmp.Or(s.c.Wait, mostWait))
	defer late.Stop()
	for patient := true; ; {
		s.mu.Lock()
		ready, some, missing := true, false, 0
		for i := range s.begun {
			ready, some = ready && (s.begun[i] || s.ended[i]), some || s.begun[i]
			if !s.begun[i] && !s.ended[i] {
				missing++
			}
		}
		if !patient && some && !ready {
			s.note(fmt.Sprintf("machines that had not begun when the session did: %d; what they count comes later",
				missing))
			ready = true
		}
		s.mu.Unlock()
		switch {
		case ready && s.c.Open && s.c.Machines == 0:
			return nil // they come later
		case ready && !some:
			return errors.New("nothing is traced on any machine")
		case ready:
			return nil
		}
		select {
		case <-s.changed:
		case <-late.C:
			patient = false
		case <-ctx.Done():
			s.finish()
			return ctx.Err()
		}
	}
}

// mostWait is how long machines are waited for if Config does not say it.
const mostWait = time.Minute

// Read enters what the machines have told, and waits for more.
func (s *Session) Read(deadline time.Time, fn func([]byte) error) error {
	s.take()
	if s.over() {
		return s.SetState(max(s.State(), wire.Stopping))
	}
	err := s.Session.Read(deadline, fn)
	s.take()
	return err
}

// finish ends the machines' sessions and waits for what they have to say.
func (s *Session) finish() {
	s.Shut()
	s.mu.Lock()
	started := s.started
	s.mu.Unlock()
	if !started {
		return // the script came to its end before, and no machine has anything to say
	}
	s.c.Stop()
	for !s.over() {
		<-s.changed
	}
	s.take()
}

// Detach ends the sessions of the machines. What they had counted is there when it returns.
func (s *Session) Detach() error {
	s.finish()
	return nil
}

// Warnings implements backend.Warner: what could not be added up.
func (s *Session) Warnings() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := slices.Clone(s.notes)
	for g, n := range s.sums.full {
		out = append(out, fmt.Sprintf("%d times there was no room for an element of %s of all machines (MAXMAPENTRIES)",
			n, s.c.Program.Globals[g].Name))
	}
	out = append(out, s.sums.bounds(s.c.Seen)...)
	slices.Sort(out)
	return out
}
