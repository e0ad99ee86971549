package attach

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/backend-bpf/internal/features"
	"github.com/gostap/gostap/backend-bpf/internal/kern"
	"github.com/gostap/gostap/compiler/backend/traced"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/runtime/cpus"
)

// KernelSite is one place in the kernel.
type KernelSite struct {
	// Symbol is a function, or "module:function", or a base from which Offset, in bytes, leads to the instruction.
	Symbol string
	Offset uint64
	Cookie uint64
	// Name says in messages what is there, such as kernel.function("vfs_read").
	Name string
	// MaxActive is how many calls a return probe has room for, 0 for DefaultMaxActive.
	MaxActive int
	// Wild: the site may be left out where the kernel refuses it.
	Wild bool
}

// Place gives symbol and offset.
func (k *KernelSite) Place() string { return probe.KernelPlace(k.Symbol, k.Offset) }

// Kprobes is one program at places in the kernel.
type Kprobes struct {
	Prog   int
	Return bool
	// Multi: the program was loaded for kprobe.multi links.
	Multi bool
	Sites []KernelSite
}

// ErrNoKprobes says that the kernel has nothing to attach to.
var ErrNoKprobes = errors.New("this kernel has no kprobes (CONFIG_KPROBE_EVENTS)")

// DefaultMaxActive is how many calls at a time a return probe has room for, where the kernel wants a number.
func DefaultMaxActive() int {
	n, err := cpus.Possible()
	if err != nil {
		n = 1
	}
	return max(64, 4*n)
}

// Kprobes attaches k. Of a program that was loaded for kprobe.multi links it gives the sites back that the kernel takes
// only by themselves: functions that the function tracer does not know. Sites that may be left out and are refused are
// given back with the reason. On an error nothing of k stays.
func (s *Set) Kprobes(k *Kprobes) (rest []KernelSite, left []*KernelError, err error) {
	if len(k.Sites) == 0 {
		return nil, nil, nil
	}
	if k.Multi {
		rest, err := s.kprobeMulti(k)
		return rest, nil, err
	}
	m := s.kernel.mark()
	how, left, err := s.kprobeEvents(k)
	if err != nil {
		s.kernel.undo(m)
		return nil, nil, err
	}
	kind := "kprobe"
	if k.Return {
		kind = "kretprobe"
	}
	s.note("%s %s, %d of them", kind, how, len(k.Sites)-len(left))
	return nil, left, nil
}

// kernelSet is the part of a Set that is in the kernel.
type kernelSet struct {
	links []link
	perfs []int // perf events under them
	// counted are the links whose missed hits the kernel counts.
	counted []counted
	events  events // in tracefs
	behind  []int  // processes that take events away
}

func (s *kernelSet) mark() [4]int {
	return [...]int{len(s.links), len(s.perfs), len(s.counted), len(s.events)}
}

// undo takes away what came after m.
func (s *kernelSet) undo(m [4]int) {
	part := kernelSet{s.links[m[0]:], s.perfs[m[1]:], s.counted[m[2]:], s.events[m[3]:], nil}
	*s = kernelSet{s.links[:m[0]:m[0]], s.perfs[:m[1]:m[1]], s.counted[:m[2]:m[2]], s.events[:m[3]:m[3]], s.behind}
	part.detach()
	s.behind = append(s.behind, part.behind...)
}

// detach takes everything away. Perf events of kprobes take the kernel long, each: many are left to a child.
func (s *kernelSet) detach() {
	links, perfs, ev := s.links, s.perfs, s.events
	*s = kernelSet{behind: s.behind}
	if len(perfs) <= few || len(links) == 0 {
		closeAll(links)
		for _, fd := range perfs {
			kern.Close(fd)
		}
		ev.remove()
		return
	}
	kern.Close(links[0].fd) // one of the waits is for all handlers
	var fds []int
	for _, l := range links[1:] {
		fds = append(fds, l.fd)
	}
	to, lines := ev.removal()
	if child, _ := closeInBackground(append(fds, perfs...), to, lines); child > 0 && to >= 0 {
		s.behind = append(s.behind, child)
	}
}

// kprobeEvents attaches to each place by an event of its own. Events of the kprobe PMU go away with their
// descriptors, whatever becomes of this process; but a return probe has room for a few calls there, and before 6.7 the
// kernel does not say what such events missed. Then it is an event of tracefs.
func (s *Set) kprobeEvents(k *Kprobes) (how string, left []*KernelError, err error) {
	p, err := kprobePMU()
	if err != nil {
		return "", nil, &KernelError{Site: k.Sites[0], Err: err}
	}
	ev, why := traceEvents()
	if ev == nil {
		for _, site := range k.Sites {
			if site.MaxActive != 0 {
				s.warn("%s: maxactive has no effect, since tracefs cannot be used: %v", site.Name, why)
			}
		}
	}
	if ev != nil && !k.Return && features.Has(features.KprobeMissed) {
		ev = nil
	}
	for _, site := range k.Sites {
		var perf int
		switch {
		case !moduleThere(site.Symbol):
			err = unix.ENOENT // tracefs takes names of modules that are not there yet
		case ev != nil:
			perf, err = s.tracefsEvent(ev, &site, k.Return)
		default:
			perf, err = kern.PerfKprobe(p.typ, site.Symbol, site.Offset, k.Return, p.retBit)
		}
		if err != nil && site.Wild && ofPlace(err) {
			left = append(left, &KernelError{Site: site, Return: k.Return, Err: err})
			continue
		}
		if err == nil {
			s.kernel.perfs = append(s.kernel.perfs, perf)
			var fd int
			if fd, err = kern.LinkPerf(k.Prog, perf, site.Cookie); err == nil {
				s.kernel.links = append(s.kernel.links, link{fd})
				if ev == nil {
					s.kernel.counted = append(s.kernel.counted, counted{fd: fd, ret: k.Return})
				}
				err = kern.PerfEnable(perf)
			}
		}
		if err != nil {
			return "", nil, &KernelError{Site: site, Return: k.Return, Err: err}
		}
	}
	if ev != nil {
		return "events in tracefs", left, nil
	}
	return "perf events", left, nil
}

// moduleThere reports whether the module of a "module:function" is loaded.
func moduleThere(symbol string) bool {
	mod, _, ok := strings.Cut(symbol, ":")
	if !ok {
		return true
	}
	_, err := os.Stat(filepath.Join("/sys/module", mod))
	return err == nil
}

// ofPlace reports whether the kernel's number says that it does not like the place, not that it has no more room or
// does not let us.
func ofPlace(err error) bool {
	switch err {
	case unix.EINVAL, unix.EILSEQ, unix.ENOENT, unix.EADDRNOTAVAIL, unix.ERANGE, unix.EOPNOTSUPP, unix.EBUSY,
		unix.EEXIST:
		return true
	}
	return false
}

// counted is a link whose missed hits the kernel counts.
type counted struct {
	fd         int
	multi, ret bool
}

// kprobeMulti attaches to as many functions with one link as the kernel takes.
func (s *Set) kprobeMulti(k *Kprobes) (rest []KernelSite, err error) {
	// By themselves the kernel finds those too whose address is not known here.
	named, others, rest := sortOut(k.Sites)
	m := s.kernel.mark()
	n := 0
	for _, part := range [][]addressed{named, others} {
		if len(part) == 0 {
			continue
		}
		bad, err := s.linkMulti(k, part, true)
		if err != nil {
			s.kernel.undo(m)
			return nil, err
		}
		rest = append(rest, bad...)
		n += len(part) - len(bad)
	}
	if n > 0 {
		how := "kprobe.multi"
		if k.Return {
			how = "kretprobe.multi"
		}
		s.note("%s, %d links for %d functions", how, len(s.kernel.links)-m[0], n)
	}
	return rest, nil
}

// addressed is a site with its address, 0 for one that the kernel is to find by its name.
type addressed struct {
	KernelSite
	addr uint64
}

// sortOut parts sites into those with names of the kernel itself, those with addresses, and those whose symbol is not
// in the list or more than once.
func sortOut(all []KernelSite) (named, others []addressed, unknown []KernelSite) {
	var want []string
	for _, p := range all {
		if p.Offset != 0 || strings.Contains(p.Symbol, ":") {
			want = append(want, p.Symbol)
		}
	}
	var at map[string]uint64
	if want != nil {
		if b, err := os.ReadFile("/proc/kallsyms"); err == nil {
			at = addresses(string(b), want)
		}
	}
	for _, p := range all {
		switch base := at[p.Symbol]; {
		case p.Offset == 0 && !strings.Contains(p.Symbol, ":"):
			named = append(named, addressed{p, 0})
		case base != 0:
			others = append(others, addressed{p, base + p.Offset})
		default:
			unknown = append(unknown, p)
		}
	}
	return named, others, unknown
}

// linkMulti attaches to sites that all have addresses, or none, and gives back what cannot be. sort says that the
// kernel's list of the functions that it traces may help.
func (s *Set) linkMulti(k *Kprobes, sites []addressed, sort bool) (bad []KernelSite, err error) {
	m := kern.KprobeMulti{Return: k.Return}
	for _, p := range sites {
		m.Cookies = append(m.Cookies, p.Cookie)
		if p.addr == 0 {
			m.Syms = append(m.Syms, p.Symbol)
		} else {
			m.Addrs = append(m.Addrs, p.addr)
		}
	}
	fd, err := kern.LinkKprobeMulti(k.Prog, &m)
	switch {
	case err == nil:
		s.kernel.links = append(s.kernel.links, link{fd})
		s.kernel.counted = append(s.kernel.counted, counted{fd, true, k.Return})
		return nil, nil
	case err == unix.EPERM, err == unix.EACCES, err == unix.ENOMEM, err == unix.EMFILE, err == unix.ENFILE:
		return nil, &KernelError{Site: sites[0].KernelSite, Return: k.Return, Err: err}
	case len(sites) == 1:
		return []KernelSite{sites[0].KernelSite}, nil
	}
	// The kernel does not say which of them it does not take. Its list is long, so it is read for many only.
	if sort && len(sites) > 8 {
		if good, others := splitTraced(sites); len(good) > 0 && len(others) > 0 {
			bad, err := s.linkMulti(k, good, false)
			return append(bad, others...), err
		}
	}
	for _, half := range [][]addressed{sites[:len(sites)/2], sites[len(sites)/2:]} {
		b, err := s.linkMulti(k, half, false)
		if err != nil {
			return nil, err
		}
		bad = append(bad, b...)
	}
	return bad, nil
}

// splitTraced parts sites into those that the function tracer knows and others, by its lists of names and of addresses.
func splitTraced(sites []addressed) (good []addressed, others []KernelSite) {
	file := "available_filter_functions" // "name" or "name [module]"
	if sites[0].addr != 0 {
		file = "available_filter_functions_addrs" // "address name", since 6.5
	}
	var b []byte
	for _, dir := range traceDirs {
		if b, _ = os.ReadFile(filepath.Join(dir, file)); b != nil {
			break
		}
	}
	known := make(map[string]bool, len(b)/20)
	for line := range strings.Lines(string(b)) {
		word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		known[strings.TrimPrefix(word, "0x")] = true
	}
	for _, p := range sites {
		name := p.Symbol
		if p.addr != 0 {
			name = strconv.FormatUint(p.addr, 16)
		}
		// A function may begin with a landing mark, behind which it is traced.
		if known[name] || p.addr != 0 && known[strconv.FormatUint(p.addr+4, 16)] {
			good = append(good, p)
		} else {
			others = append(others, p.KernelSite)
		}
	}
	return good, others
}

// Missed counts the hits of kernel probes that ran no program: inside of another probe, or a return for whose call
// there was no room. It keeps the count of what is detached.
func (s *Set) Missed() Missed {
	return s.missed.plus(s.kernel.missed())
}

// Missed counts hits that ran no program: of probes because they came inside of another, of return probes mostly
// because too many calls were under way, which the kernel does not count apart.
type Missed struct{ Entries, Returns uint64 }

func (m Missed) plus(o Missed) Missed { return Missed{m.Entries + o.Entries, m.Returns + o.Returns} }

func (s *kernelSet) missed() (m Missed) {
	for _, c := range s.counted {
		info, err := kern.KprobeInfo(c.fd, c.multi)
		if err != nil {
			continue
		}
		if c.ret {
			m.Returns += info.Missed
		} else {
			m.Entries += info.Missed
		}
	}
	return m.plus(s.events.missed())
}

// Warnings are what the user should know of how things were attached.
func (s *Set) Warnings() []string { return s.warnings }

func (s *Set) warn(format string, args ...any) {
	s.warnings = append(s.warnings, fmt.Sprintf(format, args...))
}

var kprobePMU = sync.OnceValues(func() (*pmu, error) {
	p, err := readPMU("kprobe")
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrNoKprobes, err)
	}
	return p, nil
})

// addresses finds symbols ("function", "module:function") in the text of /proc/kallsyms: those that are there once, and
// whose addresses are told.
func addresses(text string, symbols []string) map[string]uint64 {
	out, seen := map[string]uint64{}, map[string]bool{}
	for _, s := range symbols {
		seen[s] = false
	}
	for line := range strings.Lines(text) {
		f := strings.Fields(line) // address, kind, name, [module]
		if len(f) < 3 {
			continue
		}
		name := f[2]
		if len(f) == 4 {
			name = strings.Trim(f[3], "[]") + ":" + name
		}
		again, wanted := seen[name]
		switch addr, err := strconv.ParseUint(f[0], 16, 64); {
		case !wanted:
		case again || err != nil:
			delete(out, name)
		default:
			out[name], seen[name] = addr, true
		}
	}
	return out
}

// KernelError says which place in the kernel could not be probed and why.
type KernelError struct {
	Site   KernelSite
	Return bool
	Err    error
}

func (e *KernelError) Error() string {
	return fmt.Sprintf("cannot probe %s: %s", e.Site.Place(), e.Why())
}

func (e *KernelError) Unwrap() error { return e.Err }

// Hint tells what can be done, "" if there is nothing to say.
func (e *KernelError) Hint() string {
	if e.Err == unix.EINVAL {
		if on, _ := traced.Blacklisted(e.Site.Symbol); on {
			return traced.BlacklistHint
		}
		if traced.Modules() {
			return "modules may take more places than events do: --runtime=kernel"
		}
	}
	return ""
}

// Why says in words what the kernel does not like.
func (e *KernelError) Why() string {
	errno, ok := errors.AsType[unix.Errno](e.Err)
	if !ok {
		return e.Err.Error()
	}
	switch errno {
	case unix.EPERM, unix.EACCES:
		return "no permission (needs root, or CAP_BPF and CAP_PERFMON)"
	case unix.ENOENT, unix.ESRCH:
		if mod, _, ok := strings.Cut(e.Site.Symbol, ":"); ok {
			return fmt.Sprintf("the kernel has no function of that name, or module %s is not loaded", mod)
		}
		return "the kernel has no function of that name"
	case unix.EADDRNOTAVAIL:
		return "the kernel has more than one function of that name, or none"
	case unix.EINVAL:
		if on, known := traced.Blacklisted(e.Site.Symbol); on {
			return traced.OnBlacklist
		} else if !known {
			return "the kernel refuses this place: it is on its blacklist, is not traced (notrace), or no function " +
				"begins there"
		}
		if e.Return {
			return "the kernel refuses this place: no function begins there, or it lies in code that must not be " +
				"probed or is not traced (notrace)"
		}
		return "the kernel refuses this place: it lies in code that must not be probed or is not traced (notrace)"
	case unix.EILSEQ:
		return "no instruction begins there"
	case unix.ENOSYS, unix.EOPNOTSUPP, 524:
		return ErrNoKprobes.Error()
	case unix.EMFILE, unix.ENFILE:
		return "too many open files: it takes two descriptors for each probe (ulimit -n)"
	case unix.ENOMEM:
		return "no memory in the kernel"
	}
	return errno.Error()
}
