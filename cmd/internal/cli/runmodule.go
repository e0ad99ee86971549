package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/gostap/gostap"
	"github.com/gostap/gostap/cmd/internal/slip"
)

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// withModule are the options that go with "run NAME.ko", others than --rlimit-...; the rest is about translating.
// withPlan are those that go with a plan beyond that.
var (
	withModule = []string{"command", "pid", "timeout", "output", "rotate", "flight-recorder", "buffer", "verbose",
		"no-warnings", "color", "runtime", "vp", "format", "export", "every"}
	withPlan = []string{"guru", "file", "digest", "remote", "remote-prefix", "in-order", "timing", "monitor", "serve",
		"cgroup", "pod", "http", "max-hits", "max-cpu", "suppress-handler-errors"}
)

// setModule takes the words behind "run".
func (o *options) setModule(fs *pflag.FlagSet, rest []string) error {
	plan := o.planSent || isPlan(rest[0])
	var err error
	fs.Visit(func(f *pflag.Flag) {
		switch {
		case err != nil || slices.Contains(withModule, f.Name) || strings.HasPrefix(f.Name, "rlimit-"):
		case plan && slices.Contains(withPlan, f.Name):
		case f.Name == "timing":
			err = slip.New("-t: handlers of modules are not timed", "--runtime=bpf times them")
		default:
			err = slip.New(fmt.Sprintf("%s is about translating a script, which \"run\" does not do", flagName(f)),
				map[bool]string{true: "give it when the plan is made", false: "give it when the module is built"}[plan])
		}
	})
	switch path := rest[0]; {
	case err != nil:
		return err
	case len(rest) > 1:
		return slip.New(fmt.Sprintf("%s takes no arguments: those of the script went into it when it was built",
			path), "")
	case plan:
		o.plan = path
		return nil
	case strings.HasSuffix(path, ".bpf.o"):
		return slip.New(path+": running eBPF object files is not available in this version",
			"gostap -p4 -o FILE.plan SCRIPT makes what can be run without the script")
	case !strings.HasSuffix(path, ".ko") && !exists(path):
		return slip.New(fmt.Sprintf("run: there is no file %s", path), "")
	case !strings.HasSuffix(path, ".ko"):
		return slip.New(fmt.Sprintf("run takes a plan or a module, NAME.ko, and %s is neither", path),
			"gostap -p4 -o FILE.plan SCRIPT makes a plan, gostap -p4 -m NAME --runtime=kernel SCRIPT a module")
	case o.runtime != "" && o.runtime != "kernel":
		return slip.New(fmt.Sprintf("a module cannot run with --runtime=%s", o.runtime), "")
	}
	o.module = rest[0]
	return nil
}

// runModule runs a module that was built before.
func (c *command) runModule() error {
	ctx, hangs, done := untilSignal()
	defer done()
	p, err := gostap.OpenModule(c.module, c.sessionOptions())
	if err != nil {
		return c.shown(err)
	}
	defer p.Close()
	return c.shown(c.trace(ctx, p, hangs))
}
