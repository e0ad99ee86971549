package cli

import (
	"fmt"

	bpf "github.com/gostap/gostap/backend-bpf"
	kmod "github.com/gostap/gostap/backend-kmod"
	"github.com/gostap/gostap/compiler/backend"
)

// kernelBackend is the back end for probes that fire in the kernel.
func (c *command) kernelBackend() backend.Backend {
	if c.runtime == "kernel" {
		return kmod.NewFor(kmod.Options{Release: c.release})
	}
	return bpf.New()
}

// info serves --info: what this kernel allows, each yes or no with the reason.
func info(s Streams) int {
	if release, machine := uname(); release != "" {
		fmt.Fprintf(s.Out, "gostap %s on Linux %s %s\n\n", Version, release, machine)
	}
	for _, r := range bpf.Info() {
		answer := "no "
		switch {
		case r.Unknown:
			answer = "?  "
		case r.OK:
			answer = "yes"
		}
		fmt.Fprintf(s.Out, "%s  %-22s  %s", answer, r.Name, r.What)
		switch {
		case r.Reason != "" && r.What != "":
			fmt.Fprintf(s.Out, ": %s", r.Reason)
		case r.Reason != "":
			fmt.Fprint(s.Out, r.Reason)
		}
		fmt.Fprintln(s.Out)
	}
	return 0
}
