package cli

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/gostap/gostap"
	"github.com/gostap/gostap/cmd/internal/slip"
	"github.com/gostap/gostap/compiler/foreign"
	"github.com/gostap/gostap/compiler/manifest"
)

// isPlan looks whether a file is a plan.
func isPlan(path string) bool {
	f, err := foreign.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, 16))
	return err == nil && manifest.Is(head)
}

// checkPlan refuses options that do not go together where a plan is made or run.
func (o *options) checkPlan() error {
	switch {
	case len(o.files) > 0 && o.plan == "" && !o.here:
		return slip.New("--file is about a plan that is run", "gostap run FILE.plan --file=PATH")
	case o.digest != "" && o.plan == "":
		return slip.New("--digest is about a plan that is run", "gostap run FILE.plan --digest=SHA256")
	case o.pass == 4 && o.output != "" && (o.name != "" || o.keep):
		return slip.New("-p4 -o makes a plan, and -m and -k leave other files", "make them one by one")
	case o.pass == 4 && o.output != "" && o.runtime == "kernel":
		return slip.New("-p4 -o makes a plan, which has no use for --runtime=kernel",
			"-p4 -m NAME --runtime=kernel makes a module")
	}
	return nil
}

// makePlan writes the program down for "gostap run".
func (c *command) makePlan(p *gostap.Program) error {
	b, err := c.written(p)
	if err != nil {
		return err
	}
	if err := os.WriteFile(c.output, b, 0o644); err != nil {
		return plain(err)
	}
	fmt.Fprintln(c.Out, c.output)
	if c.level(4) > 0 {
		c.logf("%d bytes, sha256 %x", len(b), sha256.Sum256(b))
	}
	return nil
}

// sentPlan is what a plan is called that came from another machine.
const sentPlan = "the plan"

// readPlan reads the plan that is to be run.
func (c *command) readPlan() ([]byte, error) {
	if c.sent != nil {
		return c.sent.Plan, nil
	}
	b, err := foreign.ReadFile(c.plan, manifest.MaxBytes)
	if err != nil {
		return nil, plain(err)
	}
	if got := fmt.Sprintf("%x", sha256.Sum256(b)); c.digest != "" && c.digest != got {
		return nil, slip.New(fmt.Sprintf("%s is not the plan with the digest %s: it has %s", c.plan, c.digest, got), "")
	}
	return b, nil
}

// planOf is the plan for other machines: the one that is named, or that of the script.
func (c *command) planOf() ([]byte, error) {
	if c.plan != "" {
		return c.readPlan()
	}
	script, o, err := c.compileOptions()
	if err != nil {
		return nil, err
	}
	if usesRemote(script) {
		return nil, slip.New("--remote-plan: remote_id() and remote_uri() differ from host to host, and one plan is "+
			"for all", "without --remote-plan each host translates the script itself")
	}
	o.PID, o.Elsewhere, o.Portable, o.Tool.Soon = 0, true, true, false
	ctx, _, done := untilSignal()
	defer done()
	p, err := gostap.Compile(ctx, script, o)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	if !c.show(p.Warnings()) {
		return nil, errShown
	}
	return c.written(p)
}

// usesRemote reports whether a script may ask which of the hosts it runs on.
func usesRemote(script string) bool {
	return strings.Contains(script, "remote_id") || strings.Contains(script, "remote_uri")
}

// written is the plan of p. One that fits one kernel alone is told with a warning.
func (c *command) written(p interface {
	Bytes() ([]byte, error)
	Fits() (*gostap.Diagnostic, error)
}) ([]byte, error) {
	b, err := p.Bytes()
	if err != nil {
		return nil, err
	}
	only, err := p.Fits()
	if err == nil && only != nil && !c.show([]gostap.Diagnostic{*only}) {
		err = errShown
	}
	return b, err
}

// runPlan runs a plan that was made before, perhaps on another machine.
func (c *command) runPlan() error {
	b, err := c.readPlan()
	if err != nil {
		return err
	}
	ctx, hangs, done := untilSignal()
	defer done()
	return c.shown(c.tracePlan(ctx, b, hangs))
}

// startsWithin is how long the program of a pod that has just come may need to be there.
const startsWithin = 600 * time.Millisecond

// tracePlan runs the plan b.
func (c *command) tracePlan(ctx context.Context, b []byte, hangs func()) error {
	o := c.sessionOptions()
	o.Guru, o.Files = c.guru, c.files
	if c.quietErrors {
		o.Limits = c.limits
	}
	p, err := gostap.Load(b, o)
	for end := time.Now().Add(startsWithin); err != nil && c.sent != nil && c.sent.Follow && time.Now().Before(end); {
		time.Sleep(startsWithin / 10)
		p, err = gostap.Load(b, o)
	}
	if err != nil {
		return err
	}
	defer p.Close()
	if err := p.Build(ctx); err != nil {
		return err
	}
	if !c.show(p.Warnings()) {
		return errShown
	}
	return c.trace(ctx, p, hangs)
}
