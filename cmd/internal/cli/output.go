package cli

import (
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/gostap/gostap/cmd/internal/outfile"
)

// openOutput opens what the script prints to: standard output, or the file of -o, which -S and switch_file() turn.
func (c *command) openOutput() (out io.Writer, done func() error, err error) {
	if c.output == "" {
		return c.Out, func() error { return nil }, nil
	}
	if c.format == formatCTF {
		// The folder is a new one: what a reader finds in it is one trace.
		c.folder = outfile.Name(c.output, time.Now())
		if err := os.Mkdir(c.folder, 0o777); err != nil {
			return nil, nil, err
		}
		f, err := os.Create(filepath.Join(c.folder, "stream"))
		return f, f.Close, err
	}
	w, err := outfile.New(outfile.Name(c.output, time.Now()), c.rotate)
	return w, w.Close, err
}
