package bpf

import (
	"context"

	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/compiler/backend"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/source"
)

// build translates p.
func build(_ context.Context, _ *ir.Program, _ backend.BuildOptions) (*plan.Plan, diag.List) {
	var ds diag.List
	ds.Errorf(diag.Build, "no-code-generator", source.Span{}, "this build of gostap cannot translate scripts for eBPF").
		Hintf("--runtime=host runs what needs no probes")
	return nil, ds
}
