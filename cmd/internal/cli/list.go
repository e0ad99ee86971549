package cli

import (
	"context"
	"fmt"

	"github.com/gostap/gostap/compiler"
	"github.com/gostap/gostap/compiler/diag"
)

// listPoints serves -l and -L. No match is an error, as in stap.
func (c *command) listPoints(o compiler.Options) error {
	lines, res, ds := compiler.List(context.Background(), c.list, o, compiler.ListOptions{Vars: c.listVars, Details: c.verbose > 0})
	defer res.Close()
	if err := c.printLines(lines, res, ds); err != nil || len(lines) > 0 {
		return err
	}
	return errShown
}

// listLibrary serves --dump-functions, --dump-probe-types and --dump-probe-aliases.
func (c *command) listLibrary(o compiler.Options) error {
	lines, res, ds := compiler.DumpLibrary(context.Background(), c.listing, o)
	defer res.Close()
	return c.printLines(lines, res, ds)
}

// printLines prints a listing, unless an error was found in making it.
func (c *command) printLines(lines []string, res *compiler.Result, ds diag.List) error {
	if !c.show(c.printer(res.Files), ds) {
		return errShown
	}
	for _, l := range lines {
		fmt.Fprintln(c.Out, diag.Visible(l)) // names come from the programs
	}
	return nil
}
