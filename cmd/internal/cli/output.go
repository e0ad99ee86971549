package cli

import (
	"io"
	"time"

	"github.com/gostap/gostap/cmd/internal/outfile"
)

// openOutput opens what the script prints to: standard output, or the file of -o, which -S and switch_file() turn.
func (c *command) openOutput() (out io.Writer, done func() error, err error) {
	if c.output == "" {
		return c.Out, func() error { return nil }, nil
	}
	w, err := outfile.New(outfile.Name(c.output, time.Now()), c.rotate)
	return w, w.Close, err
}
