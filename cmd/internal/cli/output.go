package cli

import (
	"io"
	"os"
	"time"
)

// openOutput opens what the script prints to: standard output, the file of -o, or the files that -S turns.
func (c *command) openOutput() (out io.Writer, done func() error, err error) {
	if c.output == "" {
		return c.Out, func() error { return nil }, nil
	}
	path := strftime(c.output, time.Now())
	if c.rotate.size > 0 {
		w, err := newRotator(path, c.rotate)
		return w, w.Close, err
	}
	f, err := os.Create(path)
	return f, f.Close, err
}
