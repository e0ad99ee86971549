package bpf

import (
	"fmt"
	"slices"

	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/backend-bpf/internal/sel"
	"github.com/gostap/gostap/compiler/partition"
	"github.com/gostap/gostap/compiler/probe"
)

// A program at a tracepoint of system calls costs every call about 20 ns, whichever call it is for. So where a script
// has more than a few, one program goes to the handler by the call's number. Several handlers of one call go to as many
// arrays, each with a program of its own.

// fewSyscalls is how many programs are attached by themselves, at the entries and at the returns.
const fewSyscalls = 2

// dispatch puts the programs of system calls behind dispatchers.
func dispatch(u *sel.Unit, pl *plan.Plan) error {
	for _, kind := range []probe.Kind{probe.ProcessSyscall, probe.ProcessSyscallReturn} {
		var progs []int
		for i := range pl.Attach {
			if pl.Attach[i].Kind == kind && !unnumbered(&pl.Attach[i]) {
				progs = append(progs, i)
			}
		}
		if len(progs) <= fewSyscalls {
			continue
		}
		suffix := map[probe.Kind]string{probe.ProcessSyscall: "enter", probe.ProcessSyscallReturn: "exit"}[kind]
		var layers []map[int]bool
		var made []plan.Attach
		for _, i := range progs {
			a := &pl.Attach[i]
			n := 0
			for n < len(layers) && slices.ContainsFunc(a.Sites,
				func(t plan.Target) bool { return layers[n][t.Site.Syscall.Nr] }) {
				n++
			}
			name, table := fmt.Sprintf("sys_%s_%d", suffix, n), fmt.Sprintf("gostap_%s%d", suffix, n)
			if n == len(layers) {
				spec, m, err := u.Dispatcher(name, table, kind)
				if err != nil {
					return err
				}
				layers = append(layers, map[int]bool{})
				pl.Spec.Programs[name], pl.Spec.Maps[table] = spec, m
				site := &probe.Site{Kind: kind, Syscall: probe.SyscallPart{Nr: probe.AnySyscall},
					Point: "(goes to the handlers by the call's number)"}
				made = append(made, plan.Attach{Prog: name, Kind: kind, Probe: a.Probe,
					Sites: []plan.Target{{Site: site}}})
			}
			a.Table = table
			for _, t := range a.Sites {
				layers[n][t.Site.Syscall.Nr] = true
			}
		}
		pl.Attach = append(pl.Attach, made...)
	}
	return nil
}

// unnumbered reports whether a program is for calls without a number of their own.
func unnumbered(a *plan.Attach) bool {
	return slices.ContainsFunc(a.Sites, func(t plan.Target) bool { return t.Site.Syscall.Nr == probe.AnySyscall })
}

// mostAtEvent is how many programs of one kind go to an event of tracefs. The kernel takes 64 there, of all tracers
// (BPF_TRACE_MAX_PROGS), and up to three kinds come together.
const mostAtEvent = 16

// crowded reports whether there may be more programs at an event than the kernel takes.
func crowded(handlers []*partition.Handler) bool {
	type place struct {
		kind  probe.Kind
		call  int
		event string
	}
	at := map[place]int{}
	for _, h := range handlers {
		for _, s := range h.Sites {
			p := place{s.Kind, s.Syscall.Nr, s.Event} // handlers of different calls share a program that goes to them
			if at[p]++; at[p] <= mostAtEvent {
				continue
			}
			switch s.Kind.Class() {
			case probe.Syscall, probe.Lifetime, probe.Event:
				return true
			}
		}
	}
	return false
}
