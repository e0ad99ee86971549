package kmod

import (
	"github.com/gostap/gostap/backend-kmod/internal/cgen"
	"github.com/gostap/gostap/compiler/probe"
)

// Refused says why modules have no probes of kind k, "" if they have or if such probes fire in the tracer.
func Refused(k probe.Kind) string { return cgen.Refused(k) }
