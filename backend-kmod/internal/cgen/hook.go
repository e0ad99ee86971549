package cgen

import (
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/probe"
)

// hook is what the generator knows of some kinds of places that share a table; each has a file of its own here, and
// a header gs_TABLE.h with the functions for it.
type hook struct {
	table string
	// on and off are what else the header's functions take, for a row and for the table.
	on, off string
	// together: all places are attached by one call. left: such as the kernel refuses may be left out.
	together, left bool
	// backwards: of places in one spot, the kernel runs the one first that came last.
	backwards bool
	// alone: handlers share no place, since what each says counts by itself.
	alone bool
	// file: the places are files in /proc, which are made last (procFiles).
	file bool

	// spot completes where a site is; row writes the line of the table for a place. file is the number of the
	// place's file, exe that of its program, -1 for none; common is what all tables have.
	spot func(u *unit, pr *ir.Probe, s *probe.Site, sp *spot)
	row  func(a *at, file, exe int, common string) string
}

// tables are the hooks in the order in which places are attached.
var tables = []*hook{&uprobes, &kprobes, &tracepoints, &lifetimes, &syscalls, &profiles, &counters, &packets}

// hooks are those of the kinds; what has none fires in the tracer.
var hooks = [probe.NumKinds]*hook{
	probe.Uprobe: &uprobes, probe.Uretprobe: &uprobes,
	probe.Kprobe: &kprobes, probe.Kretprobe: &kprobes,
	probe.Tracepoint:   &tracepoints,
	probe.ProcessBegin: &lifetimes, probe.ProcessFork: &lifetimes, probe.ProcessEnd: &lifetimes,
	probe.ThreadBegin: &lifetimes, probe.ThreadEnd: &lifetimes,
	probe.ProcessSyscall: &syscalls, probe.ProcessSyscallReturn: &syscalls,
	probe.Profile: &profiles, probe.Perf: &counters,
	probe.ProcfsRead: &files, probe.ProcfsWrite: &files,
	probe.Netfilter: &packets,
}

// refused says of kinds that fire in the kernel why modules do not serve them.
var refused = [probe.NumKinds]string{
	probe.LSM: "the kernel has hooks of security modules for eBPF programs, not for modules",
}

// Refused says why modules have no probes of kind k, "" if they have or if such probes fire in the tracer.
func Refused(k probe.Kind) string { return refused[k] }
