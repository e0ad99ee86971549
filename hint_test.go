package gostap

import "testing"

// TestPossible: what is hinted at and cannot be done now is said to be so.
func TestPossible(t *testing.T) {
	locked := func() string { return "this kernel is locked down" }
	for hint, want := range map[string]string{
		"the kernel-module back end can do this: --runtime=kernel": "the kernel-module back end can do this: " +
			"--runtime=kernel; but this kernel is locked down",
		"use --runtime=bpf": "use --runtime=bpf",
	} {
		if got := possible(hint, locked); got != want {
			t.Errorf("%q: %q", hint, got)
		}
		if got := possible(hint, func() string { return "" }); got != hint {
			t.Errorf("%q: %q", hint, got)
		}
	}
}
