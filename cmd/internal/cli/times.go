package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/gostap/gostap"
	"github.com/gostap/gostap/compiler/diag"
)

// timeReport prints for -t how often each handler ran, and what that took.
func timeReport(w io.Writer, times []gostap.HandlerTime) {
	fmt.Fprintln(w, "----- probe hit report:")
	for _, t := range times {
		if t.Hits == 0 {
			continue
		}
		fmt.Fprintf(w, "%s, (%s:%d:%d), runs: %d, average: %v, total: %v, places: %d\n", diag.Visible(t.Point), t.File,
			t.Line, t.Column, t.Hits, t.Took/time.Duration(t.Hits), t.Took, t.Places)
	}
}
