package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/gostap/gostap"
	"github.com/gostap/gostap/cmd/internal/gather"
	"github.com/gostap/gostap/cmd/internal/records"
)

// gather makes the stream of what all hosts say for programs, nil if it is text; it goes to out, or to what delivers.
// delivered waits until all is delivered.
func (c *command) gather(out io.Writer) (all *gather.Stream, delivered func() error, err error) {
	delivered = func() error { return nil }
	if c.format == "" || c.pass < 5 {
		return nil, delivered, nil
	}
	if err := c.openExport(); err != nil {
		return nil, nil, err
	}
	if c.delivery != nil {
		out, delivered = c.delivery, c.delivery.Close
	}
	tell := func(text string) { fmt.Fprintln(c.Err, text) }
	if c.printed {
		out = gather.Text(out, c.hostsErr())
	}
	all = gather.New(out, c.format == formatCSV, c.fleet != nil, tell)
	if c.inOrder != 0 {
		all.InOrder(c.inOrder)
	}
	return all, delivered, nil
}

// gathered runs the session here of a script that is divided, and writes what it says to the stream of all.
func (c *command) gathered(ctx context.Context, p *gostap.Program, s *gostap.Session, all *gather.Stream,
	errw io.Writer) error {
	cfg := c.recorded(all.Here())
	cfg.Err, cfg.Ended = errw, all.Close
	err := records.Run(ctx, p, s, nil, cfg)
	all.Settle()
	return err
}
