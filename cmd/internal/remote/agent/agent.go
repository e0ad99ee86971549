// Package agent is the command "gostap agent": it waits on a plain host for clients that prove by a certificate who
// they are, and has a process of its own serve each; it runs what lies in a directory (docs/remote.md).
//
// In: the command's arguments, connections, a directory. Out: processes "gostap remote-session", between which and the
// clients it passes bytes; those of package traces; a line for each session that begins or ends, and for who is
// refused.
package agent

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	bpf "github.com/gostap/gostap/backend-bpf"
	"github.com/gostap/gostap/cmd/internal/ready"
	"github.com/gostap/gostap/cmd/internal/remote/agent/traces"
	"github.com/gostap/gostap/cmd/internal/remote/authority"
	"github.com/gostap/gostap/cmd/internal/remote/ledger"
	"github.com/gostap/gostap/cmd/internal/remote/mtls"
	"github.com/gostap/gostap/cmd/internal/slip"
	"github.com/gostap/gostap/compiler/diag"
)

const usage = `gostap agent - runs sessions on a host without ssh: for clients with certificates, and of a directory

usage: gostap agent [--listen [HOST]:PORT] [--tls DIR] [--allow NAME]... [--sessions N] [--metrics [HOST]:PORT]
       gostap agent --traces DIR [--state DIR] [--export NAME=DESTINATION]... [--guru] [--tls DIR ...]
       gostap agent traces [--state DIR] [NAME]                             what came of traces of the directory
       gostap agent keys DIR [NAME...] [--client NAME]... [--valid TIME]    makes certificates

  gostap agent keys certs web1 web2 --client ann      # here; certs/web1 goes to web1 as /etc/gostap/tls
  gostap agent                                        # there, as root
  gostap --tls certs/ann --remote tls://web1 -T 10 slow.stp

  --listen [HOST]:PORT  where it waits, :` + mtls.Port + ` if not said
  --tls DIR             has ca.crt, tls.crt and tls.key; /etc/gostap/tls if not said. They are read anew when they
                        change
  --allow NAME          only clients whose certificate has this common name; any number of times
  --sessions N          so many sessions at a time, 8 if not said
  --metrics [HOST]:PORT answers /metrics, /healthz and /readyz there, by plain HTTP; nobody does if not said
  --traces DIR          runs a session for each file of DIR: NAME.yaml, NAME.yml and NAME.json are Traces as of
                        Kubernetes (docs/remote.md), NAME.stp are scripts. Without --tls, --listen and --allow nothing
                        listens then
  --state DIR           where what came of them is, ` + traces.StateDir + ` if not said
  --export NAME=DESTINATION  a destination that Traces can name; any number of times
  --guru                Traces may change what they trace

A client with a certificate of the authority in ca.crt runs what it likes with the rights of the agent, as if it were
logged in there. INT or TERM ends the agent: its sessions end in order, and tell their clients.

keys:
  DIR                   has the authority in DIR/authority, which is made if it is not there, and whose key is kept by
                        who makes certificates, away from agents and clients; and a directory for each name
  NAME                  an agent, by the name or address of its host as clients name it; NAME,NAME... if it has several
  --client NAME         a client, by any name; any number of times
  --valid TIME          how long: 365d if not said, at most as long as the authority, which has ten years

Nothing is overwritten: a directory that is there is an error. See docs/remote.md.
`

// Streams are where it prints.
type Streams struct{ Out, Err io.Writer }

// Run runs the command of gostap's version and gives its exit status.
func Run(args []string, s Streams, env []string, version string) int {
	switch {
	case len(args) > 0 && args[0] == "keys":
		return authority.Run(args[1:], s.Out, s.Err, usage)
	case len(args) > 0 && args[0] == "traces":
		return traces.Run(args[1:], s.Out, s.Err, usage)
	}
	o := options{}
	f := pflag.NewFlagSet("agent", pflag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	f.StringVar(&o.listen, "listen", ":"+mtls.Port, "")
	f.StringVar(&o.dir, "tls", "/etc/gostap/tls", "")
	f.StringArrayVar(&o.allow, "allow", nil, "")
	f.IntVar(&o.sessions, "sessions", 8, "")
	o.addTraces(f)
	f.StringVar(&o.metrics, "metrics", "", "")
	err := f.Parse(args)
	o.serves = f.Changed("metrics")
	switch {
	case errors.Is(err, pflag.ErrHelp):
		fmt.Fprint(s.Out, usage)
		return 0
	case err != nil:
		err = slip.New("agent: "+err.Error(), "gostap agent --help lists the options")
	case f.NArg() > 0:
		err = slip.New(fmt.Sprintf("agent: %q is one argument too many", f.Arg(0)), "gostap agent --help tells how it "+
			"is called")
	case o.sessions < 1 || o.sessions > mostSessions:
		err = slip.New(fmt.Sprintf("--sessions takes a number from 1 to %d, not %d", mostSessions, o.sessions), "")
	default:
		if err = o.check(); err == nil {
			err = o.checkTraces(f)
		}
	}
	if err == nil {
		err = o.run(s.Err, env, version)
	}
	if err != nil {
		return slip.Failed(s.Err, err)
	}
	return 0
}

const mostSessions = 1000

// options are the command line.
type options struct {
	listen, dir string
	allow       []string
	sessions    int
	metrics     string
	serves      bool // metrics were asked for
	standing
}

func (o *options) check() error {
	for _, name := range o.allow {
		if name == "" {
			return slip.New("--allow takes the common name of a client's certificate, and there is none", "")
		}
	}
	if _, _, err := net.SplitHostPort(o.listen); err != nil {
		return slip.New(fmt.Sprintf("--listen takes [HOST]:PORT, not %q", o.listen), "--listen :"+mtls.Port)
	}
	if o.serves {
		return ledger.Address("--metrics", o.metrics)
	}
	return nil
}

// run serves until a signal comes.
func (o *options) run(errw io.Writer, env []string, version string) error {
	a := &agent{log: &log{to: errw}, env: ready.Without(env), slots: make(chan struct{}, o.sessions),
		command: []string{"/proc/self/exe", "remote-session", "--agent"}, running: map[*session]bool{},
		ledger: ledger.New(version, bpf.Ready)}
	l, keys, err := o.door(a.log)
	if err != nil {
		return err
	}
	if l != nil {
		defer l.Close()
	}
	if o.serves {
		metrics, err := a.tell(o.metrics)
		if err != nil {
			return err
		}
		defer metrics.Close()
	}
	if err := a.runTraces(o); err != nil {
		return err
	}
	sigs := make(chan os.Signal, 2)
	signal.Notify(sigs, unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
	defer signal.Stop(sigs)
	does := o.does(l)
	if l != nil {
		a.log.line(fmt.Sprintf("listening at %s as %s, whose certificate is valid until %s", l.Addr(),
			keys.Keys().Name(), keys.Keys().Until().UTC().Format("2006-01-02")))
	}
	if err := ready.Tell(env, "READY=1", "STATUS="+does); err != nil {
		a.log.line(fmt.Sprintf("WARNING: whoever waits for this agent was not told that it is %s: %v", does, err))
	}
	served := make(chan struct{})
	if l != nil {
		door := &mtls.Door{Keys: keys, Allow: o.allow, Enter: a.serve, Refused: a.refused}
		go func() {
			door.Serve(l)
			close(served)
		}()
	} else {
		close(served)
	}
	<-sigs
	ready.Tell(env, "STOPPING=1")
	if l != nil {
		l.Close()
	}
	<-served
	a.end(sigs)
	return nil
}

// agent has the sessions.
type agent struct {
	log     *log
	env     []string
	slots   chan struct{}
	command []string
	ledger  *ledger.Ledger
	traces  *traces.Keeper // nil if there is no directory of them

	mu      sync.Mutex
	ending  bool
	count   int
	running map[*session]bool
}

// endWithin is how long sessions have for their end probes when the agent ends.
const endWithin = 25 * time.Second

// end ends the sessions, and waits for that. A further signal cuts it short.
func (a *agent) end(sigs <-chan os.Signal) {
	a.mu.Lock()
	a.ending = true
	for s := range a.running {
		s.hangUp()
	}
	if a.traces != nil {
		a.traces.End()
	}
	if n := len(a.running) + a.traces.Running(); n > 0 {
		a.log.line(fmt.Sprintf("the agent ends, and with it sessions: %d", n))
	}
	a.mu.Unlock()
	late := time.After(endWithin)
	for {
		a.mu.Lock()
		n := len(a.running) + a.traces.Running()
		a.mu.Unlock()
		if n == 0 {
			if a.traces != nil {
				a.traces.Wait()
			}
			return
		}
		select {
		case <-late:
		case <-sigs:
		case <-time.After(20 * time.Millisecond):
			continue
		}
		a.log.line(fmt.Sprintf("WARNING: sessions that have not ended yet, and do so by themselves: %d", n))
		return
	}
}

// log writes lines.
type log struct {
	mu      sync.Mutex
	to      io.Writer
	since   time.Time
	refusal int // that were told since then
	left    int // that were not
}

func (l *log) line(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.write(text)
}

func (l *log) write(text string) {
	fmt.Fprintln(l.to, strings.ReplaceAll(diag.Visible(text), "\n", " "))
}

// mostRefusals are told in a minute: whoever connects brings them about.
const mostRefusals = 30

// refused tells who did not come in. Of many the number is told later.
func (l *log) refused(from, why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := time.Now(); now.Sub(l.since) > time.Minute {
		if l.left > 0 {
			l.write(fmt.Sprintf("refused: %d more", l.left))
		}
		l.since, l.refusal, l.left = now, 0, 0
	}
	if l.refusal++; l.refusal > mostRefusals {
		l.left++
		return
	}
	l.write(fmt.Sprintf("refused: %s: %s", cmp.Or(from, "a connection"), why))
}
