package host

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/gostap/gostap/compiler/backend"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/runtime/host/served"
)

// files are the script's files where the session has none itself: a server takes requests, the loop runs the handlers.
type files struct {
	server *served.Server
	// probes are the handlers of each file, for reading and for writing; probe is -1 if there is none.
	probes [][2]timer
	asked  chan *asking
	// over is closed when no handler runs any more. mu: not while somebody wakes the session.
	mu   sync.RWMutex
	over chan struct{}
	cut  map[int]bool // it was told that the text of this file was cut
}

// asking is a request with its answer.
type asking struct {
	*served.Request
	answer string
	err    error
	done   chan struct{}
}

// errNothingServed refuses addresses of a script without files.
var errNothingServed = errors.New("there is nothing to serve: the script has no probe procfs, json_data or prometheus")

// openFiles makes the sockets for the script's files.
func (r *run) openFiles() error {
	if f, ok := r.Session.(backend.Filer); ok && f.Files() {
		if len(r.Serve) > 0 {
			return errors.New("a kernel module has its files in /proc: they are served with eBPF only")
		}
		return nil
	}
	f := &files{asked: make(chan *asking, 64), over: make(chan struct{}), cut: map[int]bool{}}
	c := served.Config{Name: cmp.Or(r.Name, fmt.Sprintf("gostap_%d", os.Getpid())), Asked: r.Named, Addresses: r.Serve,
		Piece: r.Program.Limits.MaxString - 1}
	c.Run = func(q *served.Request) (string, error) { return f.ask(r.Session, q) }
	for i, pr := range r.Program.Probes {
		for _, s := range pr.Sites {
			if s.Kind.Class() != probe.File {
				continue
			}
			n := slices.IndexFunc(c.Files, func(o served.File) bool { return o.Path == s.Event })
			if n < 0 {
				n = len(c.Files)
				c.Files = append(c.Files, served.File{Path: s.Event})
				f.probes = append(f.probes, [2]timer{{probe: -1}, {probe: -1}})
			}
			c.Files[n].Mode |= s.Procfs.Mode
			if s.Kind == probe.ProcfsRead {
				c.Files[n].Reads, f.probes[n][0] = true, timer{probe: i, site: s}
			} else {
				c.Files[n].Writes, f.probes[n][1] = true, timer{probe: i, site: s}
			}
		}
	}
	switch {
	case len(c.Files) > 0:
	case len(r.Serve) > 0:
		return errNothingServed
	default:
		return nil
	}
	var err error
	if f.server, err = served.Listen(c); err != nil {
		return fmt.Errorf("serve the script's files: %w", err)
	}
	r.files = f
	return nil
}

// ask has the loop answer a request. It is called by goroutines of the server.
func (f *files) ask(session backend.Session, q *served.Request) (string, error) {
	a := &asking{Request: q, done: make(chan struct{})}
	select {
	case f.asked <- a:
	case <-f.over:
		return "", served.ErrEnded
	}
	f.mu.RLock()
	select {
	case <-f.over: // the session may be gone
	default:
		session.Wake()
	}
	f.mu.RUnlock()
	select {
	case <-a.done:
		return a.answer, a.err
	case <-f.over:
	}
	select {
	case <-a.done: // both
		return a.answer, a.err
	default:
		return "", served.ErrEnded
	}
}

// close takes the files away.
func (f *files) close() {
	if f == nil {
		return
	}
	f.mu.Lock()
	select {
	case <-f.over:
		f.mu.Unlock()
		return
	default:
	}
	close(f.over)
	f.mu.Unlock()
	f.server.Close()
}

// serve answers the requests that are waiting, those that come meanwhile another time.
func (r *run) serve() error {
	if r.files == nil {
		return nil
	}
	for range len(r.files.asked) {
		if !r.running() {
			return nil
		}
		if err := r.reply(<-r.files.asked); err != nil {
			return err
		}
	}
	return nil
}

// reply runs the handler that a request is for.
func (r *run) reply(a *asking) error {
	defer close(a.done)
	which := 0
	if a.Write {
		which = 1
	}
	p := r.files.probes[a.File][which]
	c := &fileContext{hostContext: &r.hosted.ctx, peer: a.Peer, written: a.Text,
		room: cmp.Or(p.site.Procfs.MaxSize, r.Program.Limits.MaxString-1)}
	done, err := r.hosted.file(p.probe, p.site, c)
	if a.answer = string(c.reply); !done {
		a.answer, a.err = "", served.ErrBroken
	}
	if c.lost > 0 && done && !r.files.cut[a.File] {
		r.files.cut[a.File] = true
		hint := ".maxsize"
		if p.site.Procfs.MaxSize > 0 {
			hint = "a larger .maxsize"
		}
		r.out.warn(fmt.Sprintf("%s: the text was cut, %d bytes of %d are read; %s takes more", p.site.Point,
			len(c.reply), len(c.reply)+c.lost, hint))
	}
	return err
}
