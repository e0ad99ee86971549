package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"github.com/gostap/gostap"
	"github.com/gostap/gostap/cmd/internal/gather"
	"github.com/gostap/gostap/cmd/internal/merged"
	"github.com/gostap/gostap/cmd/internal/remote"
	"github.com/gostap/gostap/cmd/internal/slip"
)

// notMerged are the options that do not go with --merge, with the reason.
var notMerged = map[string]string{
	"timing":  "handlers run on several machines",
	"summary": "its table is made on each host",
}

// checkMerge looks at what goes with --merge.
func (o *options) checkMerge(fs *pflag.FlagSet) error {
	switch {
	case !o.merge && fs.Changed("elements"):
		return slip.New("--elements is about what hosts tell for one answer", "--merge --elements 100")
	case fs.Changed("elements") && (o.elements < 1 || o.elements > 1<<20):
		return slip.New(fmt.Sprintf("--elements takes a number of elements, 1 to %d, not %d", 1<<20, o.elements), "")
	case !o.merge:
		return nil
	case len(o.remotes) == 0:
		return slip.New("--merge makes one answer of what hosts count, and there is no --remote",
			"gostap --merge --remote HOST --remote HOST SCRIPT")
	case fs.NArg() > 0 && fs.Arg(0) == "run":
		return slip.New("--merge divides a script, and a plan was made of a whole one", "name the script")
	}
	return refuses(fs, notMerged, "--merge")
}

// runMerged has the hosts count, and runs what is about all of them here.
func (c *command) runMerged(r remote.Request, out io.Writer, all *gather.Stream) (status int, err error) {
	if err := c.openPage(); err != nil {
		return 0, err
	}
	if c.page != nil {
		defer c.page.Close()
	}
	script, o, err := c.compileOptions()
	if err != nil {
		return 0, err
	}
	if usesRemote(script) {
		return 0, slip.New("--merge: remote_id() and remote_uri() differ from host to host, and one plan is for all",
			"")
	}
	o.PID, o.Command, o.Elsewhere, o.Portable, o.Tool.Soon, o.Merge = 0, "", true, true, false, true
	ctx, hangs, done := untilSignal()
	defer done()
	hangs()
	divide := func() (p *gostap.Program, m *gostap.Merged, plan []byte, err error) {
		if p, err = gostap.Compile(ctx, script, o); err != nil {
			return nil, nil, nil, err
		}
		if !c.show(p.Warnings()) {
			return p, nil, nil, errShown
		}
		if m, err = p.Merge(); err == nil {
			plan, err = c.written(m)
		}
		return p, m, plan, err
	}
	p, m, plan, err := divide()
	if p != nil {
		defer p.Close()
	}
	if err != nil {
		return c.tell(c.shown(err)), nil
	}
	if c.pass == 3 {
		_, err = io.WriteString(out, m.Listing())
		return 0, plain(err)
	}
	r.Plan, r.Top = plan, c.elements
	ro := remote.Options{Hosts: c.hosts, Request: r, Out: out, Err: c.hostsErr(), Verbose: c.verbose > 0}
	if c.fleet != nil {
		c.fleet.Plan, c.fleet.Translate = plan, func() ([]byte, error) {
			p, other, plan, err := divide()
			if p != nil {
				defer p.Close()
			}
			if err == nil && !m.Like(other) {
				err = errors.New("its globals are others than those of the sessions that run")
			}
			return plan, err
		}
		defer c.follow(&ro)()
	}
	// Lines of JSON do not mix; text of both goes through one writer.
	own := func(errw io.Writer) io.Writer {
		if c.fleet != nil && c.fleet.TellsJSON() {
			return c.Err
		}
		return errw
	}
	print := func(ctx context.Context, s *gostap.Session, out, errw io.Writer) error {
		return s.Print(ctx, out, own(errw), nil)
	}
	if c.page != nil {
		ro.Err = io.MultiWriter(ro.Err, c.page.Messages())
		print = func(ctx context.Context, s *gostap.Session, out, errw io.Writer) error {
			return c.shownAt(ctx, s, out, own(errw), nil)
		}
	}
	if all != nil {
		ro.Record = all.Recorder()
		print = func(ctx context.Context, s *gostap.Session, _, errw io.Writer) error {
			return c.gathered(ctx, p, s, all, own(errw))
		}
	}
	status, err = merged.Run(ctx, m, ro, print)
	return max(status, c.tell(c.shown(err))), nil
}

// teller tells the machine that sent the plan what s counts, if it wants to know.
func (c *command) teller(s *gostap.Session) (*merged.Teller, error) {
	if c.counted == nil || !c.sent.Counts {
		return nil, nil
	}
	return merged.Tell(s, c.sent, c.counted)
}
