package bpf

import (
	"github.com/gostap/gostap/backend-bpf/internal/attach"
	"github.com/gostap/gostap/backend-bpf/internal/features"
	"github.com/gostap/gostap/backend-bpf/internal/session"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/probe"
)

// Row is one line of what gostap --info tells about the kernel.
type Row struct {
	Name string
	// OK is the answer yes or no, unless it is Unknown. Reason says why it is no, or adds to a yes; What says what it
	// is good for.
	OK, Unknown  bool
	What, Reason string
}

// Sweep removes what sessions that were killed have left in the kernel: events of tracefs, whose names it gives.
// All else goes away with its process.
func Sweep() []string { return attach.Sweep() }

// Lacks says why this kernel has no probes of kind k that eBPF could take, nil if it has.
func Lacks(k probe.Kind) *diag.Diagnostic { return session.Lacks(k) }

// Ready says why no program can be traced here, nil if one can. It asks the kernel each time, which takes a few
// milliseconds.
func Ready() error { return features.Ready() }

// Info tries everything that the back end can make use of.
func Info() []Row {
	var rows []Row
	for _, r := range features.Info() {
		rows = append(rows, Row(r))
	}
	return rows
}
