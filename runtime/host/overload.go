package host

import (
	"fmt"

	"github.com/gostap/gostap/compiler/backend"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/source"
)

// CodeOverload is the kind of the message that the session was ended for what its handlers took.
const CodeOverload diag.Code = "overload"

// overloaded says why the session has ended by itself, if it has for what its handlers took.
func (r *run) overloaded() error {
	g, ok := r.Session.(backend.Guarded)
	if !ok {
		return nil
	}
	o, over := g.Overloaded()
	if !over {
		return nil
	}
	d := &diag.Diagnostic{Phase: diag.Load, Code: CodeOverload,
		Message: "probe overhead exceeded threshold",
		Hint: "make it do less; -D STP_OVERLOAD_THRESHOLD and -D STP_OVERLOAD_INTERVAL, in cycles, allow more, -D " +
			"STP_NO_OVERLOAD everything"}
	all := "handlers"
	if r.MaxCPU > 0 {
		d.Message, all = fmt.Sprintf("hits take more than the %.3g %% of a CPU of --max-cpu", 100*r.MaxCPU), "hits"
		d.Hint = "probe less, or allow more; what was counted until now is there"
	}
	if o.Of > 0 {
		what := all
		if o.Probe >= 0 && o.Probe < len(r.Program.Probes) {
			p := r.Program.Probes[o.Probe]
			what = p.Name
			d.Span = source.At(p.Pos)
			if len(r.Program.Probes) > 1 {
				what = all + ", most of all that of " + what + ","
			}
		}
		d.Message += fmt.Sprintf(": %s took %.0f %% of a CPU for %.2f s", what, 100*o.Took.Seconds()/o.Of.Seconds(),
			o.Of.Seconds())
	}
	return d
}
