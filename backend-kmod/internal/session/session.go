// Package session runs a built module: it loads it, attaches its probes, passes its
// records on, and takes everything away again.
//
// In: a cgen.Unit with its .ko. Out: a backend.Session.
package session

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/backend-kmod/internal/cgen"
	"github.com/gostap/gostap/backend-kmod/internal/relay"
	"github.com/gostap/gostap/backend-kmod/internal/stage"
	"github.com/gostap/gostap/backend-kmod/internal/store"
	"github.com/gostap/gostap/compiler/backend"
	"github.com/gostap/gostap/compiler/backend/traced"
	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/interp"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/runtime/cpus"
	"github.com/gostap/gostap/runtime/wire"
)

// Codes of what the kernel can refuse.
const (
	CodeLoad     diag.Code = "module-refused"
	CodeAttach   diag.Code = "cannot-attach"
	CodeReplaced diag.Code = "file-replaced"
)

// Config is what a session runs.
type Config struct {
	Unit *cgen.Unit
	Name string
	KO   []byte
	// Files says what each traced file was when the program was built.
	Files map[string]debuginfo.FileID
	backend.LoadOptions
}

// control is what a running session needs of a stage.Module.
type control interface {
	Do(op stage.Op, glob uint32, n int64, key, val []byte) (int64, error)
	Close() error
}

// Session implements backend.Session.
type Session struct {
	cfg    Config
	m      control
	mem    []byte
	relay  *relay.Reader
	store  *store.Store
	report []string
	notes  []string
	files  []traced.File
	mu     sync.Mutex
	closed bool
	fired  []byte        // by probe, once somebody has asked
	final  wire.Counters // once closed
	over   backend.Overload
}

// stackBuffer is the megabytes of output buffer where stacks are sent with their memory, unless -s says otherwise.
const stackBuffer = 16

// Load puts the module into the kernel. Nothing is attached.
func Load(ctx context.Context, cfg Config) (_ *Session, err error) {
	s := &Session{cfg: cfg}
	kb := 0
	if cfg.BufferMB == 0 && cfg.Unit.Schema.Stacks() {
		cfg.BufferMB = stackBuffer
	}
	if cfg.BufferMB > 0 {
		n, err := cpus.Possible()
		if err != nil {
			n = 1
		}
		for kb = 16; kb < cfg.BufferMB*1024/n && kb < 1<<20; kb *= 2 {
		}
	}
	start, taint := time.Now(), stage.Taint()
	m, err := stage.Load(cfg.KO, cfg.Name, kb, func(format string, args ...any) { s.logf(1, format, args...) })
	if err != nil {
		d := &diag.Diagnostic{Phase: diag.Load, Code: CodeLoad, Message: err.Error()}
		if e, ok := errors.AsType[*stage.Error](err); ok {
			d.Hint = e.Hint
		}
		return nil, d
	}
	s.m = m
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	if s.mem, err = m.Map(); err != nil {
		return nil, fmt.Errorf("map the output buffers: %w", err)
	}
	if s.relay, err = relay.New(s.mem, m.CPUs, m.RingSize, m.Fd()); err != nil {
		return nil, err
	}
	s.store = store.New(cfg.Unit.Program, cfg.Unit.Globals, m)
	if cfg.Target != 0 {
		if err := s.SetTarget(cfg.Target); err != nil {
			return nil, err
		}
	}
	if why := stage.Tainted(stage.Taint() &^ taint); why != "" {
		s.logf(1, "%s", why)
	}
	s.logf(1, "loaded module %s in %v", cfg.Name, time.Since(start).Round(time.Microsecond))
	return s, ctx.Err()
}

func (s *Session) logf(level int, format string, args ...any) {
	if s.cfg.Logf != nil && s.cfg.Verbose >= level {
		s.cfg.Logf(format, args...)
	}
}

// Store implements backend.Session, as do the next ones.
func (s *Session) Store() interp.Store { return s.store }

// HostProbes lists the probes that the host runs.
func (s *Session) HostProbes() []int { return s.cfg.Unit.HostProbes }

// Files implements backend.Filer.
func (s *Session) Files() bool { return true }

// Run implements backend.Runner: handlers with C of the script run in the module, in the tracer's own context.
func (s *Session) Run(probe, site int) (bool, error) {
	n := slices.Index(s.cfg.Unit.Called, probe)
	if n < 0 {
		return false, nil
	}
	if _, err := s.m.Do(stage.Run, uint32(n), int64(site), nil, nil); err != nil {
		return true, fmt.Errorf("run a handler in module %s: %w", s.cfg.Name, err)
	}
	return true, nil
}

// Peeks implements interp.Peeker, as do the next three: every module can do it.
func (s *Session) Peeks() bool { return true }

func (s *Session) ReadKernel(buf []byte, addr uint64) error {
	_, err := s.m.Do(stage.Peek, 0, int64(addr), nil, buf)
	return err
}

func (s *Session) CurrentTask() (uint64, error) {
	n, err := s.m.Do(stage.Task, 0, 0, nil, nil)
	return uint64(n), err
}

func (s *Session) Jiffies() (int64, error) { return s.m.Do(stage.Task, 0, 1, nil, nil) }

// Schema describes the records.
func (s *Session) Schema() *wire.Schema { return s.cfg.Unit.Schema }

// Deferred gives the host's part of a handler that was cut.
func (s *Session) Deferred(capture int) *ir.Func {
	if capture < 0 || capture >= len(s.cfg.Unit.Deferred) {
		return nil
	}
	return s.cfg.Unit.Deferred[capture]
}

// SetTarget names the target process.
func (s *Session) SetTarget(pid int) error {
	if _, err := s.m.Do(stage.Target, 0, int64(pid), nil, nil); err != nil {
		if err == unix.ESRCH {
			return fmt.Errorf("process %d does not exist", pid)
		}
		return err
	}
	s.cfg.Target = pid
	return nil
}

// Attach puts the probes in place.
func (s *Session) Attach(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	u := s.cfg.Unit
	for _, pl := range u.Sites {
		if err := traced.NeedsTarget(pl.Site, s.cfg.Target); err != nil {
			return err
		}
	}
	for i, path := range u.Files {
		if err := s.file(i, path); err != nil {
			return err
		}
	}
	if err := s.walks(); err != nil {
		return err
	}
	if s.cfg.Fired {
		if _, err := s.m.Do(stage.Fired, 0, 0, nil, nil); err != nil {
			return fmt.Errorf("have the handlers note that they ran: %w", err)
		}
	}
	n, err := s.m.Do(stage.Attach, 0, 0, nil, nil)
	if err != nil {
		return s.refused(int(n), err)
	}
	if n > 0 {
		if err := s.leftOut(int(n)); err != nil {
			s.m.Do(stage.Detach, 0, 0, nil, nil)
			return err
		}
	}
	for _, pl := range u.Sites {
		s.report = append(s.report, describe(pl.Site))
	}
	return nil
}

// leftOut notes the places that wildcards found and the kernel refused. A probe of which none is left is an error.
func (s *Session) leftOut(n int) error {
	u := s.cfg.Unit
	type lost struct {
		names []string
		first error
	}
	byProbe := map[int]*lost{}
	var order []int
	for i := range n {
		site, why := s.m.Do(stage.Left, 0, int64(i), nil, nil)
		if why == nil || site < 0 || int(site) >= len(u.Sites) {
			return fmt.Errorf("ask which places the kernel refused: %v", why)
		}
		pl := u.Sites[site]
		l := byProbe[pl.Probe]
		if l == nil {
			l = &lost{first: s.refused(int(site), why)}
			byProbe[pl.Probe] = l
			order = append(order, pl.Probe)
		}
		l.names = append(l.names, pl.Site.Place())
	}
	for _, probe := range order {
		l, all := byProbe[probe], 0
		for _, pl := range u.Sites {
			if pl.Probe == probe {
				all++
			}
		}
		if len(l.names) == all {
			return l.first
		}
		_, why, _ := strings.Cut(l.first.Error(), ": ")
		if d, ok := errors.AsType[*diag.Diagnostic](l.first); ok {
			_, why, _ = strings.Cut(d.Message, ": ")
		}
		s.notes = append(s.notes, backend.LeftOut(u.Program.Probes[probe].Name, l.names, why))
	}
	return nil
}

// Notes implements backend.Noter.
func (s *Session) Notes() []string { return s.notes }

// refused explains why a site could not be attached.
func (s *Session) refused(n int, err error) error {
	d := &diag.Diagnostic{Phase: diag.Load, Code: CodeAttach}
	if n < 0 || n >= len(s.cfg.Unit.Sites) {
		d.Message = fmt.Sprintf("the kernel refuses the probes: %v", err)
		return d
	}
	pl := s.cfg.Unit.Sites[n]
	d.Span = source.At(s.cfg.Unit.Program.Probes[pl.Probe].Pos)
	d.Message = fmt.Sprintf("the kernel refuses %s: %v", pl.Site.Title(), err)
	switch k := pl.Site.Kind; {
	case err == unix.EINVAL && k.InKernel():
		d.Message, d.Hint = whyNot(pl.Site)
	case err == unix.ENOENT && k.InKernel():
		d.Message = fmt.Sprintf("cannot probe %s: the kernel has no function of that name", pl.Site.Place())
		if mod, _, ok := strings.Cut(pl.Site.Kernel.Symbol, ":"); ok {
			d.Message += fmt.Sprintf(", or module %s is not loaded", mod)
		}
	case err == unix.EILSEQ && k == probe.Kprobe:
		d.Message = fmt.Sprintf("cannot probe %s: no instruction begins there", pl.Site.Place())
	case err == unix.EADDRNOTAVAIL && k.InKernel():
		d.Message = fmt.Sprintf("cannot probe %s: the kernel has more than one function of that name, or none",
			pl.Site.Place())
	case err == unix.ENOENT && k == probe.Tracepoint:
		d.Message = fmt.Sprintf("the kernel has no tracepoint %s", pl.Site.Event)
	case k == probe.Netfilter && (err == unix.ENOENT || err == unix.EINVAL || err == unix.EOPNOTSUPP):
		d.Message = fmt.Sprintf("cannot probe %s: this kernel does not show packets of that family there "+
			"(CONFIG_NETFILTER_FAMILY_...)", pl.Site.Title())
	case err == unix.EXDEV && k == probe.Tracepoint:
		d.Message = fmt.Sprintf("cannot probe %s: this kernel checks the type of each function that it calls by "+
			"address (CONFIG_CFI), and a module does not know that of a tracepoint's", pl.Site.Title())
		d.Hint = "use --runtime=bpf"
	case err == unix.Errno(524) || err == unix.EOPNOTSUPP:
		d.Message = fmt.Sprintf("the kernel cannot place a probe on the instruction at %s", pl.Site.Title())
	case err == unix.EIO && k == probe.Uprobe:
		d.Message = fmt.Sprintf("%s: the file lies on a file system that uprobes cannot be placed on",
			pl.Site.Program.Path)
	}
	return d
}

// whyNot says why the kernel refuses a place in itself.
func whyNot(st *probe.Site) (message, hint string) {
	message = fmt.Sprintf("cannot probe %s: the kernel refuses this place: ", st.Place())
	on, known := traced.Blacklisted(st.Kernel.Symbol)
	switch {
	case on:
		return fmt.Sprintf("cannot probe %s: %s", st.Place(), traced.OnBlacklist), traced.BlacklistHint
	case !known:
		return message + "it is on its blacklist, or no function begins there", ""
	}
	return message + "it lies in code that must not be probed, or no function begins there", ""
}

func describe(st *probe.Site) string {
	switch {
	case st.Kind.InUser():
		cost := "about three times the cost of an emulated instruction in a module"
		if st.At.Insn.Emulated() {
			cost = "emulated by the kernel"
		}
		return fmt.Sprintf("%s: %s at %#x of %s, %s: %s", st.Title(), st.Kind, st.Program.Offset, st.Program.Path,
			st.At.Insn, cost)
	case st.Kind.InKernel():
		return fmt.Sprintf("%s: %s at %s", st.Title(), st.Kind, st.Place())
	}
	return fmt.Sprintf("%s: %s %s", st.Title(), st.Kind, st.Event)
}

// Read passes records on.
func (s *Session) Read(deadline time.Time, fn func([]byte) error) error {
	return s.relay.Read(deadline, fn)
}

// Wake makes Read return.
func (s *Session) Wake() { s.relay.Wake() }

// State asks the module.
func (s *Session) State() wire.State {
	n, err := s.m.Do(stage.State, 0, 0, nil, nil)
	if err != nil {
		return wire.Stopping
	}
	return wire.State(n)
}

// SetState raises the module's state.
func (s *Session) SetState(st wire.State) error {
	_, err := s.m.Do(stage.State, 0, int64(st), nil, nil)
	return err
}

// Counters adds up over the CPUs.
func (s *Session) Counters() (wire.Counters, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return s.final, nil
	}
	return s.counters()
}

// Fired implements backend.Firer, for the end of a session: what it said once it says again.
func (s *Session) Fired(i int) (fired, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fired == nil && s.cfg.Fired && !s.closed {
		b := make([]byte, len(s.cfg.Unit.Program.Probes))
		if len(b) == 0 {
			return false, false
		}
		if _, err := s.m.Do(stage.Fired, 0, 0, nil, b); err != nil {
			return false, false
		}
		s.fired = b
	}
	if i < 0 || i >= len(s.fired) {
		return false, false
	}
	return s.fired[i] != 0, true
}

// Overloaded implements backend.Guarded.
func (s *Session) Overloaded() (backend.Overload, bool) {
	if _, err := s.Counters(); err != nil {
		return backend.Overload{}, false
	}
	return s.over, s.over.Probe >= 0
}

func (s *Session) counters() (wire.Counters, error) {
	c := wire.Counters{ByCause: make([]uint64, ir.NumCauses)}
	b := make([]byte, 8*(int(ir.NumCauses)+4))
	if _, err := s.m.Do(stage.Counters, 0, 0, nil, b); err != nil {
		return c, err
	}
	for i := range c.ByCause {
		c.ByCause[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	rest := b[8*len(c.ByCause):]
	c.Errors = binary.LittleEndian.Uint64(rest)
	s.over = backend.Overload{Probe: int(binary.LittleEndian.Uint64(rest[8:])) - 1,
		Took: time.Duration(binary.LittleEndian.Uint64(rest[16:])),
		Of:   time.Duration(binary.LittleEndian.Uint64(rest[24:]))}
	return c, nil
}

// Detach removes the probes.
func (s *Session) Detach() error {
	_, err := s.m.Do(stage.Detach, 0, 0, nil, nil)
	return err
}

// Close unloads the module.
func (s *Session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	if s.m != nil {
		s.final, _ = s.counters()
	}
	s.closed = true
	if s.relay != nil {
		s.relay.Close()
	}
	if s.mem != nil {
		unix.Munmap(s.mem)
	}
	if s.m == nil {
		return nil
	}
	return s.m.Close()
}

// Report says how each site was attached.
func (s *Session) Report() []string { return s.report }

var (
	_ backend.Session = (*Session)(nil)
	_ backend.Warner  = (*Session)(nil)
	_ backend.Noter   = (*Session)(nil)
	_ backend.Guarded = (*Session)(nil)
	_ backend.Firer   = (*Session)(nil)
	_ backend.Filer   = (*Session)(nil)
	_ interp.Peeker   = (*Session)(nil)
)
