// Package wait is what the process of an agent in a cluster does, "gostap kube wait": it waits for others to enter its
// pod, and keeps a ledger of the sessions that they begin there. "gostap kube health" says whether it can trace its
// node.
//
// In: arguments, a socket at which sessions report. Out: a ledger, by HTTP if that is asked for; a word for the
// kubelet.
package wait

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"github.com/gostap/gostap"
	bpf "github.com/gostap/gostap/backend-bpf"
	"github.com/gostap/gostap/cmd/internal/remote"
	"github.com/gostap/gostap/cmd/internal/remote/crowd"
	"github.com/gostap/gostap/cmd/internal/remote/ledger"
	"github.com/gostap/gostap/cmd/internal/slip"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/runtime/cgroup"
	"github.com/gostap/gostap/runtime/unixsocket"
)

const usage = `gostap kube wait - the process of an agent in a cluster

usage: gostap kube wait [--metrics [HOST]:PORT]
       gostap kube health

  --metrics [HOST]:PORT  answers /metrics, /healthz and /readyz there, by plain HTTP; nothing listens if not said

health says whether programs of this node can be traced from here, with status 0 if they can. See docs/kubernetes.md.
`

// Streams are where it prints.
type Streams struct{ Out, Err io.Writer }

// Is says whether arguments of "gostap kube" are for Run.
func Is(args []string) bool { return len(args) > 0 && (args[0] == "wait" || args[0] == "health") }

// Socket is where sessions of this user report to an agent, "" for nowhere.
func Socket(env []string) string {
	if dir := gostap.CacheDir(env); dir != "" {
		return dir + "-agent/agent.sock" // not among what sessions keep, which they would look at
	}
	return ""
}

// Run runs "gostap kube wait" or "gostap kube health" and gives its exit status.
func Run(args []string, s Streams, env []string, version string) int {
	name, metrics := args[0], ""
	f := pflag.NewFlagSet(name, pflag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	if name == "wait" {
		f.StringVar(&metrics, "metrics", "", "")
	}
	err := f.Parse(args[1:])
	switch {
	case errors.Is(err, pflag.ErrHelp):
		fmt.Fprint(s.Out, usage)
		return 0
	case err != nil:
		err = slip.New("kube "+name+": "+err.Error(), "gostap kube "+name+" --help")
	case f.NArg() > 0:
		err = slip.New(fmt.Sprintf("kube %s takes no %q", name, f.Arg(0)),
			"-n NAMESPACE in front has "+name+" be the name of a pod")
	case name == "health":
		if err = Ready(); err == nil {
			fmt.Fprintln(s.Out, "ready")
		}
	default:
		err = wait(s, env, version, metrics, f.Changed("metrics"))
	}
	if err != nil {
		return slip.Failed(s.Err, err)
	}
	return 0
}

// wait waits for a signal. metrics is where it answers meanwhile, if it serves.
func wait(s Streams, env []string, version, metrics string, serves bool) error {
	ctx, stop := signal.NotifyContext(context.Background(), unix.SIGINT, unix.SIGTERM)
	defer stop()
	said := sync.Mutex{}
	say := func(format string, args ...any) {
		said.Lock()
		defer said.Unlock()
		fmt.Fprintln(s.Err, diag.Visible(fmt.Sprintf(format, args...)))
	}
	d := &desk{ledger: ledger.New(version, Ready), waiting: crowd.Crowd[*net.UnixConn]{Most: mostWaiting}}
	if serves {
		at, err := ledger.Listen("--metrics", metrics)
		if err != nil {
			return err
		}
		defer at.Close()
		say("metrics are at http://%s/metrics", at.Addr())
		go func() {
			if err := d.ledger.Serve(at); err != nil {
				say("WARNING: metrics are not told any more: %v", err)
			}
		}()
	}
	if l, err := listen(env); err != nil {
		say("WARNING: sessions are not counted: %v", err)
	} else {
		defer l.Close()
		go d.serve(l)
	}
	<-ctx.Done()
	return nil
}

// listen makes the socket.
func listen(env []string) (*unixsocket.Listener, error) {
	path := Socket(env)
	if path == "" {
		return nil, errors.New("there is no folder for a socket ($XDG_CACHE_HOME or $HOME)")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, slip.Plain(err)
	}
	return unixsocket.Listen(path, 0o600)
}

// Bounds on who connects to the socket, who is of the same user: so many that have said nothing yet, for so long, and
// so many sessions.
const (
	mostWaiting  = 64
	within       = 10 * time.Second
	mostSessions = 1000
)

// desk is where sessions report.
type desk struct {
	ledger  *ledger.Ledger
	waiting crowd.Crowd[*net.UnixConn]

	mu       sync.Mutex
	sessions int
}

// serve takes reports until l is closed.
func (d *desk) serve(l *unixsocket.Listener) {
	for {
		c, err := l.AcceptUnix()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(100 * time.Millisecond) // too many open files, perhaps
			continue
		}
		if !remote.SameUser(c) {
			c.Close()
			continue
		}
		if late, full := d.waiting.Add(c, netip.Addr{}); full {
			late.Close()
		}
		go d.listen(c)
	}
}

// listen takes what one session reports, until it ends: a session that was killed has not said that it did.
func (d *desk) listen(c *net.UnixConn) {
	defer c.Close()
	defer d.waiting.Remove(c)
	c.SetReadDeadline(time.Now().Add(within))
	var s *ledger.Session
	var last remote.Report
	remote.ReadReports(c, func(r remote.Report) {
		if s == nil {
			if !d.enter() {
				c.Close()
				return
			}
			d.waiting.Remove(c)
			c.SetReadDeadline(time.Time{})
			s = d.ledger.Begin()
		}
		last = r
		s.Told(r)
	})
	if s != nil {
		s.End(ledger.Of(last, false))
		d.leave()
	}
}

func (d *desk) enter() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.sessions >= mostSessions {
		return false
	}
	d.sessions++
	return true
}

func (d *desk) leave() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sessions--
}

// Ready says why programs in the pods of this node cannot be traced, nil if they can.
func Ready() error {
	if err := bpf.Ready(); err != nil {
		return err
	}
	if _, err := cgroup.FindPods(nil); err != nil {
		return err
	}
	var rights [2]unix.CapUserData
	err := unix.Capget(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &rights[0])
	if err != nil || rights[0].Effective>>unix.CAP_SYS_PTRACE&1 == 0 {
		return errors.New("programs of the pods cannot be looked at: an agent needs CAP_SYS_PTRACE")
	}
	// Where a pod has processes of its own alone, the first of them is the agent.
	first, err := os.Stat("/proc/1/exe")
	if own, e := os.Stat("/proc/self/exe"); err == nil && e == nil && os.SameFile(first, own) {
		return errors.New("no process of the pods is seen here: an agent needs the node's processes (hostPID)")
	}
	return nil
}
