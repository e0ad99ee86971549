package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/gostap/gostap/cmd/internal/asked"
	"github.com/gostap/gostap/cmd/internal/remote"
	"github.com/gostap/gostap/cmd/internal/remote/agent/traces"
	"github.com/gostap/gostap/cmd/internal/remote/ledger"
	"github.com/gostap/gostap/cmd/internal/remote/mtls"
	"github.com/gostap/gostap/cmd/internal/slip"
)

// standing are the options for a directory of Traces.
type standing struct {
	traces, state string
	exports       asked.Exports
	guru          bool
	// quiet is that nothing listens; unsure, that nothing does where there are no certificates.
	quiet, unsure bool
}

func (o *standing) addTraces(f *pflag.FlagSet) {
	f.StringVar(&o.traces, "traces", "", "")
	f.StringVar(&o.state, "state", traces.StateDir, "")
	f.Var(&o.exports, "export", "")
	f.BoolVar(&o.guru, "guru", false, "")
}

// checkTraces looks at what was said.
func (o *standing) checkTraces(f *pflag.FlagSet) error {
	if !f.Changed("traces") {
		for _, name := range []string{"state", "export", "guru"} {
			if f.Changed(name) {
				return slip.New("--"+name+" is about traces from a directory, and there is none",
					"--traces /etc/gostap/traces")
			}
		}
		return nil
	}
	for name, dir := range map[string]*string{"traces": &o.traces, "state": &o.state} {
		if *dir == "" {
			return slip.New("--"+name+" takes a directory, and there is none", "")
		}
		abs, err := filepath.Abs(*dir)
		if err != nil {
			return err
		}
		*dir = abs
	}
	if o.traces == o.state {
		return slip.New("--traces and --state are the same directory", "")
	}
	o.unsure = !f.Changed("tls")
	o.quiet = o.unsure && !f.Changed("listen") && !f.Changed("allow")
	return nil
}

// door opens what clients come in by, nil if nothing is to listen.
func (o *options) door(log *log) (net.Listener, *mtls.Source, error) {
	if o.quiet {
		return nil, nil, nil
	}
	if _, err := os.Lstat(o.dir); o.unsure && errors.Is(err, fs.ErrNotExist) {
		log.line("nothing listens: there is no " + o.dir)
		return nil, nil, nil
	}
	keys, err := mtls.Open(o.dir, mtls.Agent, log.line)
	if err != nil {
		return nil, nil, err
	}
	l, err := net.Listen("tcp", o.listen)
	if err != nil {
		if op := (*net.OpError)(nil); errors.As(err, &op) {
			err = op.Err
		}
		return nil, nil, slip.New(fmt.Sprintf("--listen %s: %v", o.listen, err), "")
	}
	return l, keys, nil
}

// does says what the agent does.
func (o *options) does(l net.Listener) string {
	switch {
	case l == nil:
		return "running what is in " + o.traces
	case o.traces == "":
		return "listening at " + l.Addr().String()
	}
	return "listening at " + l.Addr().String() + ", and running what is in " + o.traces
}

// runTraces begins with the directory, if there is to be one.
func (a *agent) runTraces(o *options) (err error) {
	if o.traces == "" {
		return nil
	}
	a.traces, err = traces.Begin(traces.Config{Dir: o.traces, State: o.state, Command: a.command[:1], Env: a.env,
		Exports: o.exports, Guru: o.guru, Log: a.log.line, Take: a.place,
		Begun: a.note})
	if err == nil {
		a.log.line("running what is in " + o.traces + "; what comes of it is in " + o.state)
	}
	return err
}

// place takes a place for a session of the directory, and gives what gives it back, nil if there is none.
func (a *agent) place() func() {
	select {
	case a.slots <- struct{}{}:
		return func() { <-a.slots }
	default:
		return nil
	}
}

// note has a session of the directory among those that run, until what it gives is called.
func (a *agent) note() func(err error, lost int64) {
	entry := a.ledger.Begin()
	return func(err error, lost int64) {
		result := ledger.Failed
		switch {
		case err == nil:
			result = ledger.OK
		case signalled(err):
			result = ledger.Lost
		}
		entry.Told(remote.Report{Missing: uint64(max(lost, 0))})
		entry.End(result)
	}
}
