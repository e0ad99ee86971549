package session

import (
	"fmt"

	"github.com/gostap/gostap/backend-bpf/internal/load"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/source"
)

// checkStacks sees to it that no program of a uprobe keeps its variables where another thread that comes to the same
// probe writes over them (load.SharesStack). The generator writes programs that the kernel does not do this to; a
// kernel that does nevertheless would print wrong numbers, or worse, so the session does not begin.
func (s *Session) checkStacks() error {
	for i := range s.plan.Attach {
		a := &s.plan.Attach[i]
		if !a.Kind.InUser() {
			continue
		}
		shares, err := load.SharesStack(s.col.Progs[a.Prog].FD())
		if err != nil {
			return fmt.Errorf("look at program %s: %w", a.Prog, err)
		}
		if !shares {
			continue
		}
		d := &diag.Diagnostic{Phase: diag.Load, Code: CodeKernel,
			Message: "the kernel gives this handler's program one stack for all threads of a CPU, though they can " +
				"interrupt each other: its values would be wrong",
			Hint: "this kernel does something that gostap does not know; --runtime=kernel does without such programs"}
		if a.Probe >= 0 && a.Probe < len(s.plan.Program.Probes) {
			d.Span = source.At(s.plan.Program.Probes[a.Probe].Pos)
		}
		return d
	}
	return nil
}
