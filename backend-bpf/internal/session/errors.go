package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/backend-bpf/internal/attach"
	"github.com/gostap/gostap/backend-bpf/internal/features"
	"github.com/gostap/gostap/backend-bpf/internal/load"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/compiler/backend/traced"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/source"
)

// Codes of what can go wrong between a translated program and a running one.
const (
	CodeRights   diag.Code = "no-permission"
	CodeVerifier diag.Code = "program-refused"
	CodeKernel   diag.Code = "kernel-refused"
	CodeAttach   diag.Code = "cannot-attach"
	CodeReplaced diag.Code = "file-replaced"
)

// explain turns a refusal to load into a message at the script's line.
func (s *Session) explain(err error) error {
	d := &diag.Diagnostic{Phase: diag.Load, Code: CodeKernel}
	// Whatever was refused: if the kernel takes no program at all, that is what there is to say.
	if why := features.Probe(features.BPF); why != nil {
		d.Code, d.Message = CodeRights, fmt.Sprintf("cannot load the programs: %v", why)
		if !errors.Is(err, unix.EPERM) {
			d.Code = CodeKernel
		}
		return d
	}
	if e, ok := errors.AsType[*load.ProgError](err); ok {
		s.logf(2, "the kernel's verifier on program %s:\n%s\nthe instructions there:\n%s", e.Prog, e.Log, e.Near(8))
		d.Code = CodeVerifier
		pr := s.probeOf(e.Prog)
		at, inner := s.posOf(pr, e)
		handler := "the handler"
		if pr != nil {
			handler += " of " + pr.Name
		}
		d.Span = source.At(at)
		d.Within(inner)
		reason := e.Reason()
		switch {
		case errors.Is(e.Err, unix.EPERM) && reason == "":
			d.Message = "the kernel refuses the program of " + handler
			d.Hint = features.Refusal()
		case errors.Is(e.Err, unix.E2BIG):
			if reason == "" {
				reason = "it gives up after a million instructions"
			}
			if pr != nil {
				d.Span = source.At(pr.Pos) // where it gives up says nothing about what is too much
			}
			d.Message = handler + " is too long for the kernel's verifier: " + reason
			d.Hint = "let it do less: fewer values as text, shorter loops; newer kernels take longer handlers, and " +
				"--runtime=kernel takes all"
		default:
			if reason == "" {
				reason = e.Err.Error()
			}
			d.Message = "the kernel's verifier refuses " + handler + ": " + reason
			d.Hint = "gostap has not foreseen what this kernel wants; -v -v shows the verifier's log, " +
				"--runtime=kernel may work"
		}
		return d
	}
	if e, ok := errors.AsType[*load.MapError](err); ok {
		d.Message = fmt.Sprintf("the kernel refuses to make %s: %v", s.mapName(e.Map), e.Err)
		switch {
		case errors.Is(e.Err, unix.EPERM):
			d.Hint = features.Refusal()
		case errors.Is(e.Err, unix.ENOMEM), errors.Is(e.Err, unix.E2BIG):
			d.Hint = "there is not enough kernel memory for it: declare smaller arrays, or lower MAXMAPENTRIES, " +
				"MAXSTRINGLEN or -s"
		}
		for i := range s.plan.Globals {
			if g := &s.plan.Globals[i]; !g.Absent && g.Map == e.Map && e.Map != plan.MapScalars {
				d.Span = source.At(s.plan.Program.Globals[i].Pos)
			}
		}
		return d
	}
	d.Message = err.Error()
	return d
}

// patience is how long the verifier may look at programs before the user is told what he waits for; tests wait less.
var patience = 3 * time.Second

// loading is load.Load, but for that it is left alone when ctx ends: the verifier can take a minute over a handler.
// What it makes after all is closed then.
func loading(ctx context.Context, spec *ebpf.CollectionSpec, o load.Options) (*load.Collection, error) {
	type result struct {
		col *load.Collection
		err error
	}
	done := make(chan result, 1)
	go func() {
		col, err := load.Load(spec, o)
		if ctx.Err() != nil && err == nil {
			col.Close()
			col, err = nil, ctx.Err()
		}
		done <- result{col, err}
	}()
	select {
	case r := <-done:
		return r.col, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// slow tells that the verifier takes long: it may go on for a minute before it refuses a handler.
func (s *Session) slow(progs []string) {
	if s.cfg.Warnf == nil {
		return
	}
	var names []string
	for _, a := range s.plan.Attach {
		if slices.Contains(progs, a.Prog) {
			names = append(names, s.plan.Program.Probes[a.Probe].Name)
		}
	}
	what := "the programs"
	if len(names) > 0 {
		what = strings.Join(names, ", ")
	}
	s.cfg.Warnf("the kernel's verifier has been looking at the handler of %s for %v: it may be too long, which shows "+
		"after a million steps. --runtime=kernel has no such limit", what, patience)
}

// posOf gives the place in the script of the instruction that the verifier stopped at, and that in the library if it
// is there.
func (s *Session) posOf(pr *ir.Probe, e *load.ProgError) (at, inner source.Pos) {
	if pr != nil {
		at = pr.Pos
	}
	if n, ok := e.Source().(plan.Source); ok && n.Pos.IsValid() {
		return s.plan.Program.Blame(pr, n.Pos, source.NoPos)
	}
	return at, source.NoPos
}

// probeOf gives the probe whose handler a program is, nil if it is none's.
func (s *Session) probeOf(prog string) *ir.Probe {
	for _, a := range s.plan.Attach {
		if a.Prog == prog && a.Probe >= 0 && a.Probe < len(s.plan.Program.Probes) {
			return s.plan.Program.Probes[a.Probe]
		}
	}
	return nil
}

// mapName says what a map is in the script's words.
func (s *Session) mapName(name string) string {
	for i := range s.plan.Globals {
		if g := &s.plan.Globals[i]; !g.Absent && g.Map == name && name != plan.MapScalars {
			return fmt.Sprintf("the map of global %q", s.plan.Program.Globals[i].Name)
		}
	}
	switch name {
	case plan.MapOutput:
		return "the output buffer"
	case plan.MapScratch:
		return "the handlers' working memory"
	}
	return "map " + name
}

// at puts an error of attaching at the probe's line.
func (s *Session) at(a *plan.Attach, err error) error {
	d := &diag.Diagnostic{Phase: diag.Load, Code: CodeAttach, Message: err.Error()}
	if errors.Is(err, traced.ErrReplaced) {
		d.Code = CodeReplaced
	}
	if e, ok := errors.AsType[*attach.KernelError](err); ok {
		d.Hint = e.Hint()
	}
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		d.Code = CodeRights
		d.Hint = features.Refusal()
	}
	if a.Probe >= 0 && a.Probe < len(s.plan.Program.Probes) {
		d.Span = source.At(s.plan.Program.Probes[a.Probe].Pos)
	}
	return d
}
