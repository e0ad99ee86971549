// Package bpf is the eBPF back end: it translates an ir.Program into programs and maps
// of the kernel's virtual machine, loads and attaches them, and writes them as an object
// file. It uses no compiler, no headers and no files but the running kernel.
package bpf

import (
	"context"

	"github.com/gostap/gostap/backend-bpf/internal/attach"
	"github.com/gostap/gostap/backend-bpf/internal/features"
	"github.com/gostap/gostap/compiler/backend"
	"github.com/gostap/gostap/compiler/backend/traced"
	"github.com/gostap/gostap/compiler/caps"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/ir"
)

type bpfBackend struct{}

// New gives the back end.
func New() backend.Backend { return bpfBackend{} }

// Name implements backend.Backend.
func (bpfBackend) Name() string { return "bpf" }

// Provides implements backend.Backend. What every kernel with tracing programs has is not tried here: a kernel
// without it says so when the program is loaded. Writing memory of the traced program is tried when a
// script does it, since the kernel takes note of each try in its log.
func (bpfBackend) Provides() caps.Set {
	s := caps.Of(caps.Uprobe, caps.Uretprobe, caps.Kprobe, caps.Tracepoint, caps.Perf, caps.ReadUser, caps.ReadKernel,
		caps.ReadRegs, caps.WriteUser, caps.Loops, caps.Recursion, caps.Iterate, caps.HostCommands)
	if features.Has(features.WriteRegs) {
		s[caps.WriteRegs] = true
	}
	return s
}

// Build implements backend.Backend.
func (bpfBackend) Build(ctx context.Context, p *ir.Program, o backend.BuildOptions) (backend.Artifact, diag.List) {
	if ds := backend.NoEmbedded(p, "in eBPF"); len(ds) > 0 {
		return nil, ds
	}
	pl, ds := build(ctx, p, o)
	if ds.HasErrors() || pl == nil {
		return nil, ds
	}
	return &artifact{plan: pl, name: o.Name, files: traced.Identify(p)}, ds
}

// Warm makes attaching faster: called when it is known that a script is going to be run, it does in the background
// what the kernel would otherwise make the first probe wait for, 6 to 14 ms. cool takes it back if the
// script is not run after all; a session that attaches takes it over.
func Warm() (cool func()) { return attach.Warm() }
