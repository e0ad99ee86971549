package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/gostap/gostap/cmd/internal/kube/wait"
	"github.com/gostap/gostap/cmd/internal/remote"
	"github.com/gostap/gostap/cmd/internal/slip"
	"github.com/gostap/gostap/compiler/foreign"
)

// remoteFlags are the options about other machines.
type remoteFlags struct {
	remotes  []string      // --remote
	hosts    []remote.Host // what they name
	prefix   bool          // --remote-prefix
	tls      string        // --tls: the certificates for hosts of tls://
	here     bool          // --remote-plan: translate on this machine
	merge    bool          // --merge: one answer
	elements int           // --elements: how many of an array of numbers hosts tell, 0: all
	inOrder  time.Duration // --in-order: how long lines are held back, 0 if they are not
}

// notRemote are the options that do not go with --remote, with the reason.
var notRemote = map[string]string{
	"module":          "files with a translation are made on this machine only",
	"keep":            "files with a translation are made on this machine only",
	"tmpdir":          "files with a translation are made on this machine only",
	"release":         "each host's own kernel is traced",
	"kernel-btf":      "each host's own kernel is traced",
	"kernel-map":      "each host's own kernel is traced",
	"flight-recorder": "the session ends with the connection",
	"interactive":     "scripts are built and run on this machine",
	"monitor":         "its window shows a session of this machine",
	"clean-cache":     "it is about this machine",
	"poison-cache":    "it is about this machine",
}

// checkRemote reads the names of hosts.
func (o *options) checkRemote(fs *pflag.FlagSet) error {
	if len(o.remotes) == 0 {
		if o.prefix {
			return slip.New("--remote-prefix: there is no --remote whose name could be printed", "")
		}
		if o.inOrder != 0 {
			return slip.New("--in-order is about lines of several machines, and there is no --remote", "")
		}
		if o.here {
			return slip.New("--remote-plan translates for the machines of --remote, and there is none", "")
		}
		return remote.UseKeys(nil, o.tls, nil)
	}
	for _, s := range o.remotes {
		h, err := remote.ParseHost(s)
		if err != nil {
			return err
		}
		o.hosts = append(o.hosts, h)
	}
	if o.http != "" && !o.merge {
		return slip.New("--http does not go with --remote: its page shows one session",
			"--merge makes one answer of all hosts, which it shows")
	}
	err := refuses(fs, notRemote, "--remote")
	if err == nil && o.pass == 4 {
		err = slip.New("-p4 does not go with --remote: "+notRemote["module"], "")
	}
	return err
}

// sentArgs is the command line for the other machines: without what this one does itself. Planned: a plan is sent, and
// what is about translating was done.
func sentArgs(args []string, format string, planned bool) ([]string, error) {
	fs := flagSet(new(options), new(values))
	var out []string
	err := fs.ParseAll(colours(args), func(f *pflag.Flag, value string) error {
		switch f.Name {
		case "remote", "remote-prefix", "remote-plan", "merge", "elements", "in-order", "tls", "output", "rotate",
			"color", "format", "export", "http":
		default:
			if planned && !slices.Contains(withModule, f.Name) && !slices.Contains(withPlan, f.Name) &&
				!strings.HasPrefix(f.Name, "rlimit-") || planned && f.Name == "digest" {
				return nil
			}
			out = append(out, "--"+f.Name)
			if value != noValue {
				out[len(out)-1] += "=" + value
			}
		}
		return nil
	})
	if format != "" {
		out = append(out, "--format="+format)
	}
	if planned {
		return append(out, "--", "run", sentPlan), err
	}
	return append(append(out, "--"), fs.Args()...), err
}

// runRemote has the command run on the hosts of --remote.
func (c *command) runRemote() (status int, err error) {
	if err := remote.UseKeys(c.hosts, c.tls, c.env); err != nil {
		return 0, err
	}
	r := remote.Request{Color: useColor(c.options, c.Err, c.env), Name: cmp.Or(c.plan, c.file)}
	args := c.argv
	if c.tool != nil {
		args = c.tool.args
	}
	planned := c.plan != "" || c.here || c.merge
	if c.fleet != nil && c.program != "" {
		return 0, slip.New("kube: the program of pods is named in front of --, by --program NAME", "")
	}
	if c.fleet != nil && c.fleet.Named() && !planned {
		return 0, slip.New("kube: --program is about a script that is translated here, and each agent translates this "+
			"one", "--merge or --remote-plan behind -- has it translated here")
	}
	if r.Args, err = sentArgs(slices.Concat(c.rc, args), c.format, planned); err != nil {
		return 0, err
	}
	if planned && !c.merge {
		if r.Plan, err = c.planOf(); err != nil {
			return c.tell(c.shown(err)), nil
		}
		if c.fleet != nil {
			c.fleet.Plan, c.fleet.Translate = r.Plan, c.planOf
		}
	}
	if c.file != "" && !planned {
		name, text, err := c.text()
		if err != nil {
			return 0, err
		}
		r.Script = &remote.File{Name: name, Text: []byte(text)}
	}
	left := remote.MaxIncluded
	for _, path := range c.include {
		if planned {
			break
		}
		d, err := remote.ReadDir(path, &left)
		if err != nil {
			return 0, err
		}
		r.Include = append(r.Include, d)
	}
	out, done, err := c.openOutput()
	if err != nil {
		return 0, plain(err)
	}
	all, delivered, err := c.gather(out)
	if err != nil {
		return 0, err
	}
	if c.merge {
		// The session here ends those of the hosts.
		r.Args = withoutTimeout(r.Args)
		status, err := c.runMerged(r, out, all)
		if derr := cmp.Or(delivered(), plain(done())); err == nil {
			err = derr
		}
		return status, err
	}
	sigs := make(chan os.Signal, 2)
	signal.Notify(sigs, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(sigs)
	o := remote.Options{Hosts: c.hosts, Request: r, Prefix: c.prefix, Out: out, Err: c.hostsErr(), Signals: sigs,
		Verbose: c.verbose > 0}
	if c.fleet != nil {
		o.Request.Args = withoutTimeout(r.Args) // of those that come late it would end later
		if c.timeout > 0 {
			stop := time.AfterFunc(c.timeout, func() {
				select {
				case sigs <- syscall.SIGTERM:
				default: // the user was faster
				}
			})
			defer stop.Stop()
		}
		defer c.follow(&o)()
	}
	if all != nil {
		if o.Record = all.Recorder(); all.Begin(c.begin()) != nil {
			o.Hosts, o.Joins = nil, nil // which its end tells
		}
	}
	status = remote.Run(context.Background(), o)
	if all != nil {
		if err = all.End(status); err != nil {
			err = plain(fmt.Errorf("write output: %w", err))
		}
	}
	return status, cmp.Or(err, delivered(), plain(done()))
}

// hostsErr takes what is said of hosts.
func (c *command) hostsErr() io.Writer {
	if c.fleet != nil && c.fleet.TellsJSON() {
		return c.fleet.Messages(true)
	}
	return c.Err
}

func withoutTimeout(args []string) []string {
	return slices.DeleteFunc(slices.Clone(args), func(a string) bool { return strings.HasPrefix(a, "--timeout") })
}

// follow has the hosts of o be those of the fleet, until the function it gives is called.
func (c *command) follow(o *remote.Options) (end func()) {
	o.Hosts, o.Joins = c.fleet.Hosts(), c.fleet.Joins()
	ctx, cancel := context.WithCancel(context.Background())
	gone := make(chan struct{})
	go func() {
		c.fleet.Run(ctx)
		close(gone)
	}()
	return func() {
		cancel()
		<-gone
		c.fleet.Summary()
	}
}

// remoteSession is "gostap remote-session": the other end of --remote.
func remoteSession(args []string, s Streams, env []string) int {
	return remote.Main(args, s.Err, Version, wait.Socket(env), func(r remote.Session) int {
		defer foreign.Goroutine()()
		o, err := parseSent(r.Args, r.Plan != nil)
		if err == nil && (len(o.remotes) > 0 || o.module != "" || o.behind) {
			err = slip.New("what was sent is no command line for another machine", "")
		}
		if err != nil {
			return slip.Failed(r.Err, err)
		}
		o.color = "never"
		if r.Color {
			o.color = "always"
		}
		o.include = r.Dirs
		o.noCache = o.noCache || len(r.Dirs) > 0 // they are elsewhere the next time
		streams := Streams{In: strings.NewReader(""), Out: r.Out, Err: r.Err}
		c := &command{options: o, Streams: streams, argv: r.Args, env: env, sent: &r.Request, link: &r,
			counted: r.Counted}
		return c.do()
	})
}
