package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/gostap/gostap"
	"github.com/gostap/gostap/cmd/internal/monitor"
	"github.com/gostap/gostap/cmd/internal/slip"
	"github.com/gostap/gostap/cmd/internal/tty"
)

// setMonitor reads the seconds of --monitor.
func (o *options) setMonitor(s string) error {
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || !(n >= 0.1 && n <= 3600) {
		return slip.New(fmt.Sprintf("--monitor takes the seconds between two drawings, 0.1 to 3600, not %q", s),
			"--monitor alone draws every second")
	}
	o.monitor = time.Duration(n * float64(time.Second))
	return nil
}

// checkMonitor sees whether there is a terminal for the window.
func (c *command) checkMonitor() error {
	in, ok := c.In.(*os.File)
	out, ok2 := c.Out.(*os.File)
	switch {
	case c.behind:
		return slip.New("--monitor is a window, and -F runs in the background", "")
	case c.module != "":
		return slip.New("--monitor shows scripts, and a module was built without what it needs", "")
	case !ok || !ok2 || !tty.Is(in) || !tty.Is(out):
		return slip.New("--monitor needs a terminal, as standard input and as standard output",
			"-t tells at the end how often each handler ran; a timer probe can print globals")
	}
	c.log = monitor.NewLog()
	return nil
}

// window runs a session in a window of the terminal.
func (c *command) window(ctx context.Context, s *gostap.Session, out io.Writer, started func() error) error {
	cfg := monitor.Config{Session: s, Name: cmp.Or(c.name, fmt.Sprintf("gostap_%d", os.Getpid())), Every: c.monitor,
		In: c.In.(*os.File), Out: c.Out.(*os.File), Log: c.log, Started: started}
	if c.output != "" {
		cfg.Output = out
	}
	errw := c.Err
	c.Err = c.log // while there is a window, messages are for it
	defer func() { c.Err = errw }()
	return monitor.Run(ctx, cfg)
}
