// Package attach puts loaded programs in place and takes them away again.
//
// In: descriptors of programs, files with offsets, names of tracepoints. Out: links,
// kept in a Set that removes them all. Everything hangs on descriptors of this process
// and nothing is pinned, so that the kernel removes it when the process dies, however
// it dies; where a kernel probe needs an event in tracefs, its name may be left behind, with nothing attached to it.
package attach

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/backend-bpf/internal/kern"
	"github.com/gostap/gostap/compiler/debuginfo/tracefs"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/runtime/cpus"
)

// Set is what has been attached. It is for one goroutine.
type Set struct {
	links []link
	perfs []int // perf events that hold links or wait to be closed
	// tallied are those whose every period should be a hit.
	tallied []tallied
	// uprobes counts the perf events that take the kernel long to close.
	uprobes int
	kernel  kernelSet
	// missed counts the missed hits of kernel probes that are gone.
	missed   Missed
	report   []string
	warnings []string
}

// link is one descriptor, and the perf event under it if there is one.
type link struct{ fd int }

// Site is one place in a file.
type Site struct {
	// Offset is the place in the file; RefCtr that of a USDT semaphore, 0 for none.
	Offset, RefCtr uint64
	Cookie         uint64
	// Name says in messages what is there, such as main.work.
	Name string
	// Check: the instruction is not of a kind that the kernel is known to take.
	Check bool
	// C: the place is known to be C code, which in a Go program runs on stacks that never move: the kernel's return
	// probe does no harm there.
	C bool
}

// Uprobes is one program at places of one file.
type Uprobes struct {
	Prog int
	// File has been opened by OpenFile.
	File *File
	// PID limits the probes to one process, 0 for all.
	PID int
	// Return asks for the kernel's return probe.
	Return bool
	// Multi: the program was loaded for uprobe_multi links.
	Multi bool
	Sites []Site
}

// Uprobes attaches u. On an error nothing of u stays.
func (s *Set) Uprobes(u *Uprobes) error {
	if len(u.Sites) == 0 {
		return nil
	}
	if i := slices.IndexFunc(u.Sites, func(s Site) bool { return !s.C }); u.Return && i >= 0 {
		if goFile, err := u.File.IsGo(); err != nil {
			return &Error{Path: u.File.Path, Site: u.Sites[i], Err: err}
		} else if goFile {
			return &Error{Path: u.File.Path, Site: u.Sites[i], Err: ErrGoReturn}
		}
	}
	sites := append([]Site(nil), u.Sites...)
	sort.SliceStable(sites, func(i, j int) bool { return sites[i].Offset < sites[j].Offset })
	// What was warmed stays warm for a while.
	go closeAll(warm.take())
	if u.Multi {
		if err := check(u, sites); err != nil {
			return err
		}
		return s.multi(u, sites)
	}
	return s.pmu(u, sites)
}

func (s *Set) multi(u *Uprobes, sites []Site) error {
	fd, err := linkMulti(u, sites)
	if err != nil {
		bad, err := refusedSite(u, sites, err)
		return &Error{Path: u.File.Path, Site: bad, PID: u.PID, Err: err}
	}
	s.links = append(s.links, link{fd})
	how := "uprobe_multi"
	if u.Return {
		how = "uretprobe_multi"
	}
	s.note("%s: %s, one link for %d", u.File.Path, how, len(sites))
	return nil
}

func linkMulti(u *Uprobes, sites []Site) (int, error) {
	m := kern.UprobeMulti{Path: u.File.kernelPath(), PID: uint32(u.PID), Return: u.Return,
		Offsets: make([]uint64, len(sites)), Cookies: make([]uint64, len(sites))}
	for i, p := range sites {
		m.Offsets[i], m.Cookies[i] = p.Offset, p.Cookie
		if p.RefCtr != 0 && m.RefCtrs == nil {
			m.RefCtrs = make([]uint64, len(sites))
		}
		if p.RefCtr != 0 {
			m.RefCtrs[i] = p.RefCtr
		}
	}
	return kern.LinkUprobeMulti(u.Prog, &m)
}

func (s *Set) pmu(u *Uprobes, sites []Site) error {
	p, err := uprobePMU()
	if err != nil {
		return &Error{Path: u.File.Path, Site: sites[0], Err: err}
	}
	nl, np := len(s.links), len(s.perfs)
	pid := -1
	if u.PID != 0 {
		pid = u.PID
	}
	for _, site := range sites {
		perf, err := kern.PerfUprobe(p.typ, u.File.kernelPath(), site.Offset, site.RefCtr, pid, u.Return, p.retBit)
		if err == nil {
			s.perfs = append(s.perfs, perf)
			var fd int
			if fd, err = kern.LinkPerf(u.Prog, perf, site.Cookie); err == nil {
				s.links = append(s.links, link{fd})
				err = kern.PerfEnable(perf)
			}
		}
		if err != nil {
			part := Set{links: s.links[nl:], perfs: s.perfs[np:], uprobes: len(s.perfs) - np}
			s.links, s.perfs = s.links[:nl:nl], s.perfs[:np:np]
			part.Detach()
			return &Error{Path: u.File.Path, Site: site, PID: u.PID, Err: err}
		}
	}
	s.uprobes += len(sites)
	s.note("%s: uprobe perf events, %d of them", u.File.Path, len(sites))
	return nil
}

// Tracepoint attaches a program of type raw_tracepoint to the kernel's tracepoint, or one of type
// tracing, which knows its place, when name is "".
func (s *Set) Tracepoint(prog int, name string, cookie uint64) error {
	fd, err := kern.RawTracepoint(prog, name, cookie)
	if err != nil {
		return fmt.Errorf("attach to tracepoint %s: %w", name, explainTracepoint(err))
	}
	s.links = append(s.links, link{fd})
	s.note("tracepoint %s", name)
	return nil
}

// Tracing attaches a fentry, fexit or tp_btf program with a cookie.
func (s *Set) Tracing(prog int, attachType uint32, name string, cookie uint64) error {
	fd, err := kern.LinkTracing(prog, attachType, cookie)
	if err == unix.EINVAL && cookie == 0 {
		fd, err = kern.RawTracepoint(prog, "", 0) // before 5.17 this was the only way
	}
	if err != nil {
		return fmt.Errorf("attach to %s: %w", name, explainTracepoint(err))
	}
	s.links = append(s.links, link{fd})
	s.note("%s", name)
	return nil
}

// Netfilter attaches a program where packets come by, in the network namespace of this process.
func (s *Set) Netfilter(prog int, name string, h probe.NetHook) error {
	fd, err := kern.LinkNetfilter(prog, h.Family, h.Hook, h.Priority)
	if err == unix.EBUSY {
		return fmt.Errorf("attach to %s: another eBPF program is there with the priority %d, and the kernel takes "+
			"one; give another .priority: %w", name, h.Priority, err)
	}
	if err != nil {
		return fmt.Errorf("attach to %s: %w", name, err)
	}
	s.links = append(s.links, link{fd})
	s.note("%s", name)
	return nil
}

// Event attaches a program of type tracepoint to a perf event of "group:name". The event is on one CPU, its programs
// run on all.
func (s *Set) Event(prog int, name string, cookie uint64) error {
	id, err := eventID(name)
	if err != nil {
		return fmt.Errorf("find event %s: %w", name, err)
	}
	online, err := cpus.Online()
	if err != nil {
		return err
	}
	attr := unix.PerfEventAttr{Type: unix.PERF_TYPE_TRACEPOINT, Config: id}
	switch err := s.perf(prog, attr, -1, online[0], cookie); err {
	case nil:
		s.note("event %s", name)
		return nil
	case unix.E2BIG:
		return fmt.Errorf("attach to event %s: the kernel takes no more than 64 programs there: %w", name, err)
	default:
		return fmt.Errorf("attach to event %s: %w", name, explainTracepoint(err))
	}
}

// eventID gives the number of "group:name".
func eventID(name string) (uint64, error) {
	fs, err := tracefs.Open()
	if err != nil {
		return 0, err
	}
	defer fs.Close()
	system, event, _ := strings.Cut(name, ":")
	return fs.ID(system, event)
}

func (s *Set) note(format string, args ...any) {
	s.report = append(s.report, fmt.Sprintf(format, args...))
}

// Report says how things were attached.
func (s *Set) Report() []string { return s.report }

// Links is how many links there are.
func (s *Set) Links() int { return len(s.links) + len(s.kernel.links) }

// Detach removes everything. When it returns, no handler is under way that began before. Where there are many
// perf uprobes the kernel removes them one after the other in the next seconds, and what still fires then has to
// see by itself that the session is over (plan.CtlState). Detach may be called again.
func (s *Set) Detach() error {
	s.throttled()
	links, perfs, uprobes := s.links, s.perfs, s.uprobes
	s.links, s.perfs, s.uprobes = nil, nil, 0
	s.missed = s.Missed()
	s.kernel.detach()
	if uprobes <= few || len(links) == 0 {
		closeAll(links)
		for _, fd := range perfs {
			kern.Close(fd)
		}
		return nil
	}
	// Removing the program from a perf uprobe takes 15 to 45 ms, since the kernel waits for handlers that are under
	// way, and removing the uprobe 60 to 100 ms, with a lock held: many do not go faster together. One of
	// the waits is for all handlers.
	kern.Close(links[0].fd)
	var rest []int
	for _, l := range links[1:] {
		rest = append(rest, l.fd)
	}
	_, err := closeInBackground(append(rest, perfs...), -1, nil) // programs first
	return err
}

// Settle waits until the events of what was detached are gone from tracefs, where everybody sees them.
func (s *Set) Settle() {
	for _, child := range s.kernel.behind {
		await(child)
	}
	s.kernel.behind = nil
}

// few perf uprobes are closed in line.
const few = 2

// closeAll closes links, many at a time.
func closeAll(links []link) {
	if len(links) == 1 {
		kern.Close(links[0].fd)
		return
	}
	var wg sync.WaitGroup
	lane := make(chan struct{}, 128) // each is a thread while it waits
	for _, l := range links {
		lane <- struct{}{}
		wg.Add(1)
		go func() {
			defer wg.Done()
			kern.Close(l.fd)
			<-lane
		}()
	}
	wg.Wait()
}

// Error says which place could not be probed and why.
type Error struct {
	Path string
	Site Site
	PID  int
	Err  error
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("cannot probe ")
	if e.Site.Name != "" {
		fmt.Fprintf(&b, "%s in ", e.Site.Name)
	}
	fmt.Fprintf(&b, "%s at file offset %#x: %s", e.Path, e.Site.Offset, explainUprobe(e.Err, e))
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }

// ErrGoReturn refuses the kernel's return probe in a Go program, at what is not known to be C code there.
var ErrGoReturn = errors.New("the kernel's return probe rewrites the return address, which kills Go programs whose " +
	"stacks grow")
