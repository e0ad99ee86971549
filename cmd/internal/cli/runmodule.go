package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	kmod "github.com/gostap/gostap/backend-kmod"
	"github.com/gostap/gostap/compiler/ir"
)

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// withModule are the options that go with "run NAME.ko", others than --rlimit-...; the rest is about translating.
var withModule = []string{"command", "pid", "timeout", "output", "rotate", "flight-recorder", "buffer", "verbose", "no-warnings", "color", "runtime", "vp"}

// setModule takes the words behind "run".
func (o *options) setModule(fs *pflag.FlagSet, rest []string) error {
	var err error
	fs.Visit(func(f *pflag.Flag) {
		switch {
		case err != nil || slices.Contains(withModule, f.Name) || strings.HasPrefix(f.Name, "rlimit-"):
		case f.Name == "timing":
			err = &usageError{"-t: handlers of modules are not timed", "--runtime=bpf times them"}
		default:
			err = &usageError{fmt.Sprintf("%s is about translating a script, which \"run\" does not do", flagName(f)), "give it when the module is built"}
		}
	})
	switch path := rest[0]; {
	case err != nil:
		return err
	case len(rest) > 1:
		return &usageError{fmt.Sprintf("%s takes no arguments: those of the script went into it when it was built", path), ""}
	case strings.HasSuffix(path, ".bpf.o"):
		return &usageError{path + ": running eBPF object files is not available in this version", "run the script itself; it is translated in a fraction of a second"}
	case !strings.HasSuffix(path, ".ko"):
		return &usageError{fmt.Sprintf("run takes a module, NAME.ko, not %s", path), "gostap -p4 -m NAME --runtime=kernel SCRIPT makes one"}
	case o.runtime != "" && o.runtime != "kernel":
		return &usageError{fmt.Sprintf("a module cannot run with --runtime=%s", o.runtime), ""}
	}
	o.module = rest[0]
	return nil
}

// runModule runs a module that was built before.
func (c *command) runModule() error {
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer cancel()
	p := c.printer(nil)
	prog, art, err := kmod.Open(c.module)
	if err != nil {
		return shown(p, err)
	}
	p.Files = prog.Files
	if err := c.sameTarget(prog); err != nil {
		return err
	}
	s, err := c.load(ctx, art)
	if err != nil {
		return shown(p, err)
	}
	return shown(p, c.trace(ctx, s, prog, nil))
}

// sameTarget checks that -c or -x is the program that a bare "process" meant when the module was built.
func (c *command) sameTarget(prog *ir.Program) error {
	path := ""
	for _, pr := range prog.Probes {
		for _, s := range pr.Sites {
			if s.Target && s.Path != "" {
				path = s.Path
			}
		}
	}
	if path == "" {
		return nil
	}
	got, err := c.targetPath()
	if err != nil || got == "" {
		return err // without a target, attaching says so
	}
	a, aerr := os.Stat(path)
	b, berr := os.Stat(got)
	if aerr == nil && berr == nil && !os.SameFile(a, b) || aerr != nil && filepath.Clean(got) != path {
		return fmt.Errorf("%s was built to trace %s, not %s", c.module, path, got)
	}
	return nil
}
