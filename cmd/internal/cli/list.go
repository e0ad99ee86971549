package cli

import (
	"bufio"
	"context"

	"github.com/gostap/gostap"
	"github.com/gostap/gostap/compiler/diag"
)

// listPoints serves -l and -L. No match is an error, as in stap.
func (c *command) listPoints(o gostap.Options) error {
	defer lessCollecting(200)()
	lines, warnings, err := gostap.List(context.Background(), c.list, o,
		gostap.ListOptions{Vars: c.listVars, Details: c.verbose > 0})
	if err := c.printLines(lines, warnings, err); err != nil || len(lines) > 0 {
		return err
	}
	return errShown
}

// listLibrary serves --dump-functions, --dump-probe-types and --dump-probe-aliases.
func (c *command) listLibrary(o gostap.Options) error {
	return c.printLines(gostap.Library(context.Background(), c.listing, o))
}

// printLines prints a listing, unless an error was found in making it.
func (c *command) printLines(lines []string, warnings []gostap.Diagnostic, err error) error {
	if err != nil {
		return c.shown(err)
	}
	if !c.show(warnings) {
		return errShown
	}
	w := bufio.NewWriterSize(c.Out, 1<<16)
	for _, l := range lines {
		w.WriteString(diag.Visible(l)) // names come from the programs
		w.WriteByte('\n')
	}
	w.Flush()
	return nil
}
