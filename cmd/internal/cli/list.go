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
	p := &diag.Printer{W: c.Err, Files: res.Files, Color: useColor(c.options, c.Err, c.env)}
	if !c.show(p, ds) || len(lines) == 0 {
		return errShown
	}
	for _, l := range lines {
		fmt.Fprintln(c.Out, l)
	}
	return nil
}

// listLibrary serves --dump-functions, --dump-probe-types and --dump-probe-aliases.
func (c *command) listLibrary(o compiler.Options) error {
	lines, res, ds := compiler.DumpLibrary(context.Background(), c.listing, o)
	defer res.Close()
	p := &diag.Printer{W: c.Err, Files: res.Files, Color: useColor(c.options, c.Err, c.env)}
	if !c.show(p, ds) {
		return errShown
	}
	for _, l := range lines {
		fmt.Fprintln(c.Out, l)
	}
	return nil
}
