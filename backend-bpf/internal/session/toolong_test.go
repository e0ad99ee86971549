package session

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/compiler/backend"
	"github.com/gostap/gostap/compiler/diag/diagtest"
)

// tooLong is a plan whose handler, at line 1 of its script, is more than the verifier looks at: a million instructions.
func tooLong(t *testing.T) *plan.Plan {
	pl := handmade(t, traceable(t))
	pr := pl.Spec.Programs["x"]
	pr.Instructions = append(asm.Instructions{
		asm.Mov.Imm(asm.R0, 0),
		asm.Add.Imm(asm.R0, 1).WithSymbol("loop"),
		asm.JLT.Imm(asm.R0, 600000, "loop"),
	}, pr.Instructions...)
	return pl
}

// impatient tells of a slow verifier at once, for the time of a test.
func impatient(t *testing.T) {
	was := patience
	patience = time.Millisecond
	t.Cleanup(func() { patience = was })
}

// TestTooLong: who waits for the verifier is told which handler he waits for, and at the end, at the probe, that it is
// too long.
func TestTooLong(t *testing.T) {
	pl := tooLong(t)
	impatient(t)
	var told []string
	tell := func(f string, a ...any) { told = append(told, fmt.Sprintf(f, a...)) }
	_, err := Load(t.Context(), Config{Plan: pl, LoadOptions: backend.LoadOptions{Warnf: tell}})
	d := diagtest.Find(t, err, CodeVerifier)
	why, is := strings.CutPrefix(d.Message, "the handler of x is too long for the kernel's verifier: ")
	if !is || !strings.Contains(why, "million") && !strings.Contains(why, "1000001") {
		t.Errorf("got %q", d.Message)
	}
	if d.Span.From != pl.Program.Probes[0].Pos || !strings.Contains(d.Hint, "--runtime=kernel") {
		t.Errorf("at %d, hint %q", d.Span.From, d.Hint)
	}
	if len(told) != 1 || !strings.Contains(told[0], "looking at the handler of x for") {
		t.Errorf("told while waiting: %q", told)
	}
}

// TestInterrupted: who is told that it takes long and presses Ctrl-C then need not wait for the verifier's end.
func TestInterrupted(t *testing.T) {
	pl := tooLong(t)
	impatient(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s, err := Load(ctx, Config{Plan: pl, LoadOptions: backend.LoadOptions{Warnf: func(string, ...any) { cancel() }}})
	if s != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	// It was not late: where the program is one that the kernel takes, nothing of it is left.
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	if s, err := Load(ctx, Config{Plan: handmade(t, traceable(t))}); s != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
