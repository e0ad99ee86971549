package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/pflag"
	"k8s.io/klog/v2"

	"github.com/gostap/gostap/cmd/internal/fleet/install"
	"github.com/gostap/gostap/cmd/internal/fleet/kubectl"
)

// installer is "gostap-fleet install" and "gostap-fleet uninstall".
type installer struct {
	out  io.Writer
	ends bool
	o    install.Options
}

func (i *installer) flags(fs *pflag.FlagSet) {
	fs.BoolVar(&i.o.DryRun, "dry-run", false, "")
	fs.DurationVar(&i.o.Wait, "wait", 5*time.Minute, "")
	if i.ends {
		fs.BoolVar(&i.o.DeleteTraces, "delete-traces", false, "")
		i.o.Image, i.o.AgentImage, i.o.Valid = "gostap", "gostap", time.Hour // of nothing that is made
		return
	}
	made(fs, &i.o.Options)
	fs.StringVar(&i.o.AgentImage, "agent-image", "", "")
	fs.IntVar(&i.o.AgentMetrics, "agent-metrics", 0, "")
}

func (i *installer) run() error {
	if i.o.AgentImage == "" {
		i.o.AgentImage = i.o.Image
	}
	if err := i.o.Check(); err != nil { // whatever cluster there is
		return err
	}
	klog.SetLogger(logr.Discard()) // all that matters of what the library has to say comes as an error
	config, err := kubectl.Config()
	if err != nil {
		return install.Unknown(err)
	}
	c, err := install.New(config, i.out, os.Stderr)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if i.ends {
		return install.Uninstall(ctx, c, i.o)
	}
	return install.Install(ctx, c, i.o)
}
