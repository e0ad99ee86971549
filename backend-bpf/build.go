package bpf

import (
	"context"
	"errors"
	"fmt"
	maps2 "maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/backend-bpf/internal/features"
	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/maps"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/backend-bpf/internal/price"
	"github.com/gostap/gostap/backend-bpf/internal/regalloc"
	"github.com/gostap/gostap/backend-bpf/internal/sel"
	"github.com/gostap/gostap/backend-bpf/internal/session"
	"github.com/gostap/gostap/compiler/backend"
	"github.com/gostap/gostap/compiler/backend/traced"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/partition"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/snapshot"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/runtime/cpus"
	"github.com/gostap/gostap/runtime/wire"
)

// build translates p. It enters the formats of log() and warn() into p.Formats.
func build(ctx context.Context, p *ir.Program, o backend.BuildOptions) (*plan.Plan, diag.List) {
	handlers, ds := partition.Decide(ctx, p, partition.Options{Translates: sel.Translates})
	if ds.HasErrors() {
		return nil, ds
	}
	pl := &plan.Plan{Program: p, Fired: o.Fired, Hits: o.Hits, Schema: &wire.Schema{},
		Spec: &ebpf.CollectionSpec{Programs: map[string]*ebpf.ProgramSpec{}}}
	ncpus, err := cpus.Possible()
	if err != nil {
		ncpus = runtime.NumCPU()
	}
	lay, err := maps.New(p, touched(p, handlers), maps.Options{CPUs: ncpus})
	if err != nil {
		ds.Errorf(diag.Build, "bpf-map", source.Span{}, "%v", err)
		return nil, ds
	}
	pl.Globals = lay.Globals
	u := &sel.Unit{Shared: sel.Shared{P: p, Layout: lay, CPUs: ncpus, Name: o.Name, Schema: pl.Schema,
		CanStop: canStop(p, handlers, o.Share), Fired: o.Fired, Hits: o.Hits, Scope: o.Scope,
		Share: o.Share, Types: kernelTypes{}, OtherPidNS: features.OtherPidNS(),
		Feat: sel.Features{MayGoto: features.Has(features.MayGoto), FuncIP: features.Has(features.UprobeMulti),
			Sleepable: func() bool { return features.Has(features.Sleepable) },
			WriteRegs: func() error { return features.Probe(features.WriteRegs) },
			WriteUser: func() error { return features.Probe(features.WriteUser) },
			Override:  func() error { return features.Probe(features.Override) }, Overridable: traced.Overridable,
			Events: sync.OnceValue(func() bool {
				return !crowded(handlers) && features.Has(features.RawTPPreempted) &&
					features.Has(features.EventTracepoint)
			})}}}
	if o.Share > 0 {
		if u.Prices, err = price.Of(o.Cache); err != nil {
			u.Prices = backend.UsualPrices
		}
	}
	var listed []func(*strings.Builder)
	for _, h := range handlers {
		if h.Where == partition.Host {
			pl.HostProbes = append(pl.HostProbes, h.Probe)
			continue
		}
		name := fmt.Sprintf("probe_%d", len(pl.Attach))
		sh := &sel.Handler{Handler: h, Name: name, Capture: len(pl.Schema.Captures)}
		pr := p.Probes[h.Probe]
		if !shown(&ds, pr, h.Sites) {
			continue
		}
		h.Body, _ = snapshot.Expand(h.Body)
		h.Subs = maps2.Clone(h.Subs)
		for sub, f := range h.Subs {
			h.Subs[sub], _ = snapshot.Expand(f)
		}
		res, err := u.Handler(sh)
		if err != nil {
			refused(&ds, pr, err)
			continue
		}
		if h.Where == partition.Deferred {
			pl.Schema.Captures = append(pl.Schema.Captures, h.Record(res.Args))
			pl.Deferred = append(pl.Deferred, h.HostBody)
			if o.Logf != nil && o.Verbose > 0 {
				o.Logf("probe %s runs on the host because of %s", pr.Name, h.Why)
			}
		}
		pl.Spec.Programs[name] = res.Spec
		at := plan.Attach{Prog: name, Kind: h.Sites[0].Kind, Probe: h.Probe, Funcs: res.Funcs}
		for k, s := range h.Sites {
			at.Sites = append(at.Sites, plan.Target{Site: s, Cookie: res.Cookies[k]})
		}
		pl.Attach = append(pl.Attach, at)
		listed = append(listed, func(w *strings.Builder) { list(w, name, pr, h, res) })
	}
	ds = append(ds, u.Diags...)
	if ds.HasErrors() {
		return nil, ds
	}
	watchers, err := u.Watchers()
	if err != nil {
		ds.Errorf(diag.Build, "bpf", source.Span{}, "%v", err)
		return nil, ds
	}
	pl.Spec.Maps = u.Maps(session.DefaultRing)
	if u.Walks {
		spec, err := u.Changes()
		if err != nil {
			ds.Errorf(diag.Build, "bpf", source.Span{}, "%v", err)
			return nil, ds
		}
		pl.Spec.Programs[spec.Name] = spec
	}
	for _, w := range watchers {
		pl.Spec.Maps[w.Map.Name], pl.Spec.Programs[w.Spec.Name] = w.Map, w.Spec
		site := &probe.Site{Kind: probe.ProcessBegin, Program: probe.ProgramPart{Path: w.Path},
			Point: "(watches for " + w.Path + ")"}
		if w.Path == "" {
			site.Point = "(watches for processes that the target makes)"
		}
		at := plan.Attach{Prog: w.Spec.Name, Kind: probe.ProcessBegin, Sites: []plan.Target{{Site: site}}}
		if w.Enters {
			at.Watch = w.Map.Name
		}
		pl.Attach = append([]plan.Attach{at}, pl.Attach...)
	}
	for k, m := range lay.Maps {
		pl.Spec.Maps[k] = m
	}
	pl.Peeks = partition.HostPeek(p).What != ""
	for _, body := range pl.Deferred {
		pl.Peeks = pl.Peeks || partition.PeekIn(p, body).What != ""
	}
	if err := dispatch(u, pl); err != nil {
		ds.Errorf(diag.Build, "bpf", source.Span{}, "%v", err)
		return nil, ds
	}
	pl.Listing = sync.OnceValue(func() string { // takes a quarter of what making the programs does
		var text strings.Builder
		for _, write := range listed {
			write(&text)
		}
		return text.String()
	})
	return pl, ds
}

// shown reports whether the kernel shows programs the packets that sites are for: those of IPv4 and IPv6, but to nobody
// first or last.
func shown(ds *diag.List, pr *ir.Probe, sites []*probe.Site) bool {
	for _, s := range sites {
		if s.Kind.Class() != probe.Packet {
			continue
		}
		h, err := probe.ParseNetHook(s.Event)
		switch {
		case err != nil:
			ds.Errorf(diag.Build, "bpf", source.At(pr.Pos), "%s: %v", s.Point, err)
		case h.Family != unix.NFPROTO_IPV4 && h.Family != unix.NFPROTO_IPV6:
			ds.Errorf(diag.Build, "bpf-packets", source.At(pr.Pos),
				"%s: the kernel shows eBPF programs packets of IPv4 and IPv6 alone", s.Point).
				Hintf("the kernel-module back end can do this: --runtime=kernel")
		case h.Priority == math.MinInt32 || h.Priority == math.MaxInt32:
			ds.Errorf(diag.Build, "bpf-packets", source.At(pr.Pos),
				"%s: the kernel lets no eBPF program be the first or the last of all", s.Point).
				Hintf("take a priority beside it, such as \"%d\", or --runtime=kernel",
					h.Priority-max(-1, min(1, h.Priority)))
		default:
			continue
		}
		return false
	}
	return true
}

// refused says that a handler could not be translated.
func refused(ds *diag.List, pr *ir.Probe, err error) {
	switch {
	case errors.Is(err, regalloc.ErrStack), errors.Is(err, mach.ErrTooLarge):
		ds.Errorf(diag.Build, "bpf-size", source.At(pr.Pos), "%v", err).
			Hintf("split the probe, or let the kernel-module back end run it: --runtime=kernel")
	default:
		ds.Errorf(diag.Build, "bpf", source.At(pr.Pos), "the eBPF back end cannot translate this handler: %v", err)
	}
}

// touched says which globals handlers in the kernel use; the others stay on the host.
func touched(p *ir.Program, handlers []*partition.Handler) []bool {
	out := make([]bool, len(p.Globals))
	for _, h := range handlers {
		if h.Where == partition.Host {
			continue
		}
		if c := p.Probes[h.Probe].Cond; c >= 0 {
			out[c] = true
		}
		mark := func(f *ir.Func) {
			for _, b := range f.Blocks {
				for i := range b.Instrs {
					if g := b.Instrs[i].Glob; g >= 0 {
						out[g] = true
					}
				}
			}
		}
		mark(h.Body)
		for _, f := range h.Subs {
			mark(f)
		}
	}
	return out
}

// canStop reports whether the session's state can change while probes are in place: by exit(), by errors that nobody
// catches, or since entries and returns are paired. Handlers look at it only then.
func canStop(p *ir.Program, handlers []*partition.Handler, share int) bool {
	if slices.ContainsFunc(p.Globals, func(g *ir.Global) bool { return g.Internal }) {
		return true // both begin to count at the same moment (session.Attach)
	}
	for _, pr := range p.Probes {
		for _, b := range pr.Handler.Blocks {
			for i := range b.Instrs {
				switch in := &b.Instrs[i]; {
				case in.MayEnd(),
					in.Op.CanFail() && in.OnErr == ir.NoBlock && p.MayFail(in), in.Op == ir.OpReport,
					in.Op == ir.OpBudget, in.Op == ir.OpCall:
					return true
				}
			}
			if b.Term.Kind == ir.TermFail {
				return true
			}
		}
	}
	for _, h := range handlers {
		if h.Body != nil && h.Where != partition.Host && (share > 0 || partition.Heavy(p, h.Body)) {
			return true // it may be stopped for what it takes
		}
	}
	for _, f := range p.Funcs {
		for _, b := range f.Blocks {
			for i := range b.Instrs {
				if b.Instrs[i].MayEnd() {
					return true
				}
			}
		}
	}
	return false
}

// list writes the readable translation of one handler: instructions below the lines of the script that they come from.
func list(w *strings.Builder, name string, pr *ir.Probe, h *partition.Handler, res *sel.Result) {
	where := ""
	if h.Where == partition.Deferred {
		where = ", only what is read at the probed place: " + h.Why + " is for the host"
	}
	fmt.Fprintf(w, "# %s: probe %s, %d sites, %d instructions, %d bytes of stack%s\n%v\n", name, pr.Name, len(h.Sites),
		res.Insns, res.Stack, where, res.Spec.Instructions)
}
