package session

import (
	"fmt"
	"slices"

	"github.com/cilium/ebpf"

	"github.com/gostap/gostap/backend-bpf/internal/attach"
	"github.com/gostap/gostap/backend-bpf/internal/features"
	"github.com/gostap/gostap/backend-bpf/internal/load"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/compiler/backend"
	"github.com/gostap/gostap/compiler/backend/traced"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/source"
)

// CodeNoKprobes: the kernel has no probes in itself.
const CodeNoKprobes diag.Code = "no-kprobes"

// lacking is what a kernel may lack that probes of a kind need.
var lacking = []struct {
	of      func(probe.Kind) bool
	needs   features.Feature
	code    diag.Code
	what    string
	instead string
}{
	{probe.Kind.InKernel, features.Kprobe, CodeNoKprobes, "probe functions of the kernel",
		"tracepoints (kernel.trace) and system calls (syscall) need no kprobes; --info lists what this kernel has, " +
			"and --runtime=kernel needs kprobes as well"},
	{func(k probe.Kind) bool { return k.Class() == probe.Packet }, features.Netfilter, CodeKernel,
		"look at packets with eBPF", "use --runtime=kernel"},
	{func(k probe.Kind) bool { return k == probe.LSM }, features.LSM, CodeKernel,
		"probe the hooks of security modules",
		"kernel.function(\"security_...\") sees the same questions with kprobes"},
}

// Lacks says why this kernel has no probes of kind k, nil if it has.
func Lacks(k probe.Kind) *diag.Diagnostic {
	for _, l := range lacking {
		if !l.of(k) {
			continue
		}
		why := features.Probe(l.needs)
		if why == nil {
			continue
		}
		d := &diag.Diagnostic{Phase: diag.Load, Code: l.code, Message: fmt.Sprintf("cannot %s: %v", l.what, why),
			Hint: l.instead}
		if features.Probe(features.BPF) != nil {
			d.Code, d.Hint = CodeRights, features.Refusal()
		}
		return d
	}
	return nil
}

// checkKernel refuses, before anything is loaded, probes of kinds that this kernel does not have.
func (s *Session) checkKernel() error {
	for _, a := range s.plan.Attach {
		d := Lacks(a.Kind)
		if d == nil {
			continue
		}
		if n := a.Probe; n >= 0 && n < len(s.plan.Program.Probes) {
			d.Span = source.At(s.plan.Program.Probes[n].Pos)
		}
		return d
	}
	return nil
}

// kernelSpec prepares programs at functions of the kernel for the kind of link that they get.
func (s *Session) kernelSpec(spec *ebpf.CollectionSpec) {
	users := map[string]bool{}
	for i := range s.plan.Attach {
		a := &s.plan.Attach[i]
		if !a.Kind.InKernel() {
			continue
		}
		need := features.KprobeMulti
		if a.Kind.Returns() {
			need = features.KretprobeMulti
		}
		multi := a.Funcs && !s.cfg.NoMulti && features.Has(need)
		if old, ok := users[a.Prog]; ok {
			multi = multi && old
		}
		users[a.Prog] = multi
	}
	for name, multi := range users {
		s.multi[name] = multi
		if multi {
			ps := *spec.Programs[name]
			ps.AttachType = ebpf.AttachTraceKprobeMulti
			spec.Programs[name] = &ps
		}
	}
}

// kernelLast moves programs in the kernel behind the others, entries in front of returns, so that a return's entry was
// seen, and orders them so that those at one function run in the order of the script. The kernel runs the one first
// that came last (aggr_pre_handler of kernel/kprobes.c, fprobe_fgraph_entry of kernel/trace/fprobe.c), but at
// kretprobes: their entries stack up what the returns then take from the top.
func (s *Session) kernelLast(as []*plan.Attach) []*plan.Attach {
	var others, entries, returns []*plan.Attach
	for _, a := range as {
		switch {
		case !a.Kind.InKernel():
			others = append(others, a)
		case a.Kind.Returns():
			returns = append(returns, a)
		default:
			entries = append(entries, a)
		}
	}
	slices.Reverse(entries)
	if len(returns) > 0 && s.multi[returns[0].Prog] {
		slices.Reverse(returns)
	}
	return append(append(others, entries...), returns...)
}

func (s *Session) attachKernel(a *plan.Attach) error {
	k := &attach.Kprobes{Prog: s.col.Progs[a.Prog].FD(), Return: a.Kind.Returns(), Multi: s.multi[a.Prog]}
	for _, t := range a.Sites {
		st := t.Site
		if err := traced.NeedsTarget(st, s.cfg.Target); err != nil {
			return err
		}
		k.Sites = append(k.Sites, attach.KernelSite{Symbol: st.Kernel.Symbol, Offset: st.Kernel.Offset,
			Cookie: t.Cookie,
			Name:   st.Title(), MaxActive: st.Kernel.MaxActive, Wild: st.Kernel.Wild || st.Optional})
		s.report = append(s.report, fmt.Sprintf("%s: %s at %s", st.Title(), a.Kind, st.Place()))
	}
	rest, left, err := s.set.Kprobes(k)
	if err != nil || len(rest) == 0 {
		return s.leave(a, left, err)
	}
	// The program is loaded once more in the form that single probes take, beside the first. It is the counters of both
	// that count.
	one := a.Prog + "_one"
	if err := s.col.Add(one, s.plan.Spec.Programs[a.Prog], load.Options{}); err != nil {
		return s.explain(err)
	}
	k.Prog, k.Multi, k.Sites = s.col.Progs[one].FD(), false, rest
	_, left, err = s.set.Kprobes(k)
	return s.leave(a, left, err)
}

// leave notes the sites that the kernel refused, unless those were all.
func (s *Session) leave(a *plan.Attach, left []*attach.KernelError, err error) error {
	if err != nil || len(left) == 0 {
		return err
	}
	if len(left) == len(a.Sites) && slices.ContainsFunc(a.Sites, func(t plan.Target) bool { return !t.Site.Optional }) {
		return left[0]
	}
	var names []string
	for _, e := range left {
		names = append(names, e.Site.Place())
	}
	point := left[0].Site.Name
	if a.Probe >= 0 && a.Probe < len(s.plan.Program.Probes) {
		point = s.plan.Program.Probes[a.Probe].Name
	}
	s.notes = append(s.notes, backend.LeftOut(point, names, left[0].Why()))
	return nil
}

// Notes implements backend.Noter.
func (s *Session) Notes() []string { return s.notes }
