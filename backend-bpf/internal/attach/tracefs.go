package attach

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/backend-bpf/internal/kern"
)

// Events in tracefs stay defined when the process that made them is killed. They do nothing then, since what enables
// them is a descriptor, but they are in the list. Their names say whose they are, and the next command that is started
// removes those of processes that are gone (Sweep).

// traceGroup is the group of our events, and begins their names: gostap/gostap_PID_NUMBER.
const traceGroup = "gostap"

// traceDirs is where tracefs may be mounted.
var traceDirs = []string{"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}

// traceFS is where events are made.
type traceFS struct{ dir string }

// traceEvents finds tracefs, nil with the reason if events cannot be made there.
var traceEvents = sync.OnceValues(func() (*traceFS, error) {
	var first error
	for _, dir := range traceDirs {
		f, err := os.OpenFile(filepath.Join(dir, "kprobe_events"), os.O_WRONLY|os.O_APPEND, 0)
		if err == nil {
			f.Close()
			t := &traceFS{dir}
			t.sweep()
			return t, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
})

// command writes one line to the list of events. Without O_APPEND the kernel would remove all that are there.
func (t *traceFS) command(line string) error {
	f, err := os.OpenFile(filepath.Join(t.dir, "kprobe_events"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString(line + "\n")
	return err
}

// Sweep removes the events of processes that are gone, and gives the names of those. It is quick where there are none.
func Sweep() []string {
	for _, dir := range traceDirs {
		if _, err := os.Stat(filepath.Join(dir, "events", traceGroup)); err == nil {
			return (&traceFS{dir}).sweep()
		}
		// To look at the second one mounts it.
		if _, err := os.Stat(filepath.Join(dir, "events")); err == nil {
			break
		}
	}
	return nil
}

// sweep removes the events of processes that are gone.
func (t *traceFS) sweep() (removed []string) {
	b, err := os.ReadFile(filepath.Join(t.dir, "kprobe_events"))
	if err != nil {
		return nil
	}
	for _, name := range staleEvents(string(b), func(pid int) bool { return unix.Kill(pid, 0) != unix.ESRCH }) {
		if t.command("-:"+traceGroup+"/"+name) == nil {
			removed = append(removed, traceGroup+"/"+name)
		}
	}
	return removed
}

// staleEvents finds our events in the text of kprobe_events (lines such as "p:gostap/gostap_12_0 vfs_read+0") whose
// process is not alive.
func staleEvents(text string, alive func(pid int) bool) []string {
	var out []string
	for line := range strings.Lines(text) {
		head, _, _ := strings.Cut(line, " ")
		_, event, _ := strings.Cut(head, ":")
		name, ok := strings.CutPrefix(event, traceGroup+"/")
		if !ok {
			continue
		}
		rest, ok := strings.CutPrefix(name, traceGroup+"_")
		id, _, ok2 := strings.Cut(rest, "_")
		pid, err := strconv.Atoi(id)
		if ok && ok2 && err == nil && pid > 0 && !alive(pid) {
			out = append(out, name)
		}
	}
	return out
}

// events are the ones of a Set.
type events []event

type event struct {
	name string
	ret  bool
}

var eventNumber atomic.Int64

// tracefsEvent defines an event and opens it.
func (s *Set) tracefsEvent(t *traceFS, site *KernelSite, ret bool) (perf int, err error) {
	name := fmt.Sprintf("%s_%d_%d", traceGroup, os.Getpid(), eventNumber.Add(1))
	kind := "p"
	if ret {
		n := site.MaxActive
		if n <= 0 {
			n = DefaultMaxActive()
		}
		kind = fmt.Sprintf("r%d", min(n, maxMaxActive))
	}
	place := site.Symbol
	if site.Offset != 0 {
		place += fmt.Sprintf("+%d", site.Offset)
	}
	if err := t.command(kind + ":" + traceGroup + "/" + name + " " + place); err != nil {
		if errno, ok := errors.AsType[unix.Errno](err); ok {
			err = errno
		}
		return -1, err
	}
	s.kernel.events = append(s.kernel.events, event{name, ret})
	b, err := os.ReadFile(filepath.Join(t.dir, "events", traceGroup, name, "id"))
	if err != nil {
		return -1, err
	}
	id, err := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 64)
	if err != nil {
		return -1, err
	}
	return kern.PerfTracepoint(id)
}

// maxMaxActive is the most that tracefs takes (KRETPROBE_MAXACTIVE_MAX).
const maxMaxActive = 4096

// missed adds up what the kernel counts for the events.
func (ev events) missed() Missed {
	t, _ := traceEvents()
	if len(ev) == 0 || t == nil {
		return Missed{}
	}
	b, err := os.ReadFile(filepath.Join(t.dir, "kprobe_profile"))
	if err != nil {
		return Missed{}
	}
	own := map[string]event{}
	for _, e := range ev {
		own[e.name] = e
	}
	return profileMissed(string(b), own)
}

// profileMissed reads kprobe_profile: name, hits, missed.
func profileMissed(text string, own map[string]event) (m Missed) {
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) != 3 {
			continue
		}
		e, ok := own[f[0]]
		n, err := strconv.ParseUint(f[2], 10, 64)
		switch {
		case !ok || err != nil:
		case e.ret:
			m.Returns += n
		default:
			m.Entries += n
		}
	}
	return m
}

// removal gives what is to be written where to take the events away; -1 if there are none.
func (ev events) removal() (to int, lines [][]byte) {
	t, _ := traceEvents()
	if t == nil || len(ev) == 0 {
		return -1, nil
	}
	to, err := unix.Open(filepath.Join(t.dir, "kprobe_events"), unix.O_WRONLY|unix.O_APPEND|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, nil
	}
	for _, e := range ev {
		lines = append(lines, []byte("-:"+traceGroup+"/"+e.name+"\n"))
	}
	return to, lines
}

// remove takes the events away, which are closed by now.
func (ev events) remove() {
	t, _ := traceEvents()
	if t == nil {
		return
	}
	for _, e := range ev {
		for range 20 {
			if err := t.command("-:" + traceGroup + "/" + e.name); !errors.Is(err, unix.EBUSY) {
				break
			}
			time.Sleep(5 * time.Millisecond) // somebody reads its files
		}
	}
}
