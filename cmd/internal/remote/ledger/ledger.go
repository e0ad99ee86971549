// Package ledger keeps what an agent knows of its sessions, and tells it to who watches agents.
//
// In: sessions that begin, report and end; whether this machine can be traced. Out: by HTTP, metrics in the text format
// of Prometheus (/metrics), whether the agent lives (/healthz) and whether it can trace (/readyz).
package ledger

import (
	"maps"
	"math"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/cmd/internal/remote"
)

// Result is what became of a session.
type Result string

// The results.
const (
	OK        Result = "ok"
	Failed    Result = "failed"    // its status was not 0, or it could not begin
	Abandoned Result = "abandoned" // its client went away
	Lost      Result = "lost"      // its process was killed
	Refused   Result = "refused"   // it never began, since it was not let in
)

var results = []Result{OK, Failed, Abandoned, Lost, Refused}

// Of is what became of a session with its last report. killed says that a signal has ended its process.
func Of(last remote.Report, killed bool) Result {
	switch {
	case killed || !last.Ended && last.Script != "":
		return Lost
	case last.Lost:
		return Abandoned
	case last.Ended && last.Status == 0:
		return OK
	}
	return Failed
}

// Ledger is for any goroutine.
type Ledger struct {
	version, kernel string
	check           func() error

	mu      sync.Mutex
	running map[*Session]bool
	ended   map[Result]uint64
	missing uint64

	checking sync.Mutex
	checked  time.Time
	why      error
}

// New makes one for gostap's version. check says why this machine can not be traced, nil if it can.
func New(version string, check func() error) *Ledger {
	var u unix.Utsname
	unix.Uname(&u)
	return &Ledger{version: version, kernel: unix.ByteSliceToString(u.Release[:]), check: check,
		running: map[*Session]bool{}, ended: map[Result]uint64{}}
}

// Session is one that runs.
type Session struct {
	of   *Ledger
	last remote.Report
}

// Begin has one more.
func (l *Ledger) Begin() *Session {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := &Session{of: l}
	l.running[s] = true
	return s
}

// Told takes what a session reports.
func (s *Session) Told(r remote.Report) {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	s.last = r
}

// End has it gone.
func (s *Session) End(r Result) {
	l := s.of
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.running, s)
	l.ended[r]++
	l.missing += min(s.last.Missing, math.MaxUint64-l.missing)
}

// Refuse has somebody not let in.
func (l *Ledger) Refuse() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended[Refused]++
}

// count is what there is to tell.
type count struct {
	sessions, pods int
	ended          map[Result]uint64
	missing        uint64
}

func (l *Ledger) count() count {
	l.mu.Lock()
	defer l.mu.Unlock()
	pods := map[string]bool{}
	for s := range l.running {
		for _, p := range s.last.Pods {
			pods[p] = true
		}
	}
	return count{len(l.running), len(pods), maps.Clone(l.ended), l.missing}
}

// checkEvery is how long an answer of Ready holds: who asks often must not keep the kernel busy.
const checkEvery = 10 * time.Second

// Ready says why nothing can be traced here, nil if something can.
func (l *Ledger) Ready() error {
	l.checking.Lock()
	defer l.checking.Unlock()
	if l.checked.IsZero() || time.Since(l.checked) >= checkEvery {
		l.why = l.check()
		l.checked = time.Now()
	}
	return l.why
}
