package bpf

import (
	"context"
	"fmt"
	"math/bits"
	"runtime"
	"strings"

	"github.com/cilium/ebpf"

	"github.com/gostap/gostap/backend-bpf/internal/maps"
	"github.com/gostap/gostap/backend-bpf/internal/place"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/backend-bpf/internal/sel"
	"github.com/gostap/gostap/compiler/backend"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/runtime/wire"
)

// defaultRing is the size of the output buffer in bytes.
const defaultRing = 8 << 20

// build translates p.
func build(_ context.Context, p *ir.Program, o backend.BuildOptions) (*plan.Plan, diag.List) {
	var ds diag.List
	fail := func(pos source.Pos, err error) (*plan.Plan, diag.List) {
		ds.Errorf(diag.Build, "bpf", source.At(pos), "%v", err)
		return nil, ds
	}
	pl := &plan.Plan{Program: p, Schema: &wire.Schema{}}
	cpus, err := ebpf.PossibleCPU()
	if err != nil {
		cpus = bits.Len(uint(runtime.NumCPU()))
	}
	kernel := make([]bool, len(p.Globals))
	bodies := make([]*ir.Func, len(p.Probes))
	canStop := false
	for i, pr := range p.Probes {
		if onHost(pr) {
			pl.HostProbes = append(pl.HostProbes, i)
			continue
		}
		body, err := place.Inline(p, pr.Handler, p.Nesting())
		if err != nil {
			return fail(pr.Pos, err)
		}
		bodies[i] = body
		canStop = true
		for _, b := range body.Blocks {
			for _, in := range b.Instrs {
				if in.Glob >= 0 {
					kernel[in.Glob] = true
				}
			}
		}
		if pr.Cond >= 0 {
			kernel[pr.Cond] = true
		}
	}
	for _, f := range p.Funcs {
		for _, b := range f.Blocks {
			for _, in := range b.Instrs {
				if in.Glob >= 0 {
					kernel[in.Glob] = true
				}
			}
		}
	}
	lay, err := maps.New(p, kernel, maps.Options{CPUs: cpus})
	if err != nil {
		return fail(0, err)
	}
	pl.Globals = lay.Globals
	u := &sel.Unit{P: p, Layout: lay, CPUs: cpus, Name: o.Name, Schema: pl.Schema, CanStop: canStop, Feat: sel.Features{MayGoto: true}}
	pl.Spec = &ebpf.CollectionSpec{Maps: map[string]*ebpf.MapSpec{}, Programs: map[string]*ebpf.ProgramSpec{}}
	var text strings.Builder
	for i, body := range bodies {
		if body == nil {
			continue
		}
		name := fmt.Sprintf("probe_%d", i)
		res, err := u.Handler(&sel.Handler{Probe: i, Name: name, Body: body, Sites: p.Probes[i].Sites, Capture: -1})
		if err != nil {
			return fail(p.Probes[i].Pos, err)
		}
		pl.Spec.Programs[name] = res.Spec
		at := plan.Attach{Prog: name, Kind: p.Probes[i].Sites[0].Kind, Probe: i}
		for k, s := range p.Probes[i].Sites {
			at.Sites = append(at.Sites, plan.Target{Site: s, Cookie: res.Cookies[k]})
		}
		pl.Attach = append(pl.Attach, at)
		fmt.Fprintf(&text, "%s: %s\n%v\n", name, p.Probes[i].Name, res.Spec.Instructions)
	}
	ds = append(ds, u.Diags...)
	for k, m := range u.Maps(defaultRing) {
		pl.Spec.Maps[k] = m
	}
	for k, m := range lay.Maps {
		pl.Spec.Maps[k] = m
	}
	pl.Listing = text.String()
	return pl, ds
}

// onHost reports whether the host runs all of a probe's sites.
func onHost(p *ir.Probe) bool {
	for _, s := range p.Sites {
		if s.Kind > probe.Timer {
			return false
		}
	}
	return true
}
