package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/gostap/gostap/compiler/backend"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/source"
)

// timeReport prints for -t how often each handler ran, and what that took. What runs only to see that a hit is not for it, such as one
// of another process, counts too.
func timeReport(w io.Writer, files *source.FileSet, prog *ir.Program, times []backend.ProbeTime) {
	fmt.Fprintln(w, "----- probe hit report:")
	for _, t := range times {
		if t.Hits == 0 {
			continue
		}
		pr := prog.Probes[t.Probe]
		name := pr.Name
		if len(pr.Sites) > 0 && pr.Sites[0].Alias != "" {
			name = pr.Sites[0].Alias // as the script has it: one program may serve many aliases
		}
		at := files.Position(pr.Pos)
		fmt.Fprintf(w, "%s, (%s:%d:%d), runs: %d, average: %v, total: %v, places: %d\n", diag.Visible(name), at.File.Name, at.Line, at.Col, t.Hits,
			t.Took/time.Duration(t.Hits), t.Took, len(pr.Sites))
	}
}
