package bpf

import (
	"os"
	"testing"

	"github.com/gostap/gostap/compiler/caps"
)

func TestInfo(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	have := map[string]bool{}
	for _, r := range Info() {
		have[r.Name] = r.OK
		t.Logf("%-24s %-5v %s %s", r.Name, r.OK, r.What, r.Reason)
	}
	if !have["bpf"] || !have["uprobe"] {
		t.Errorf("no BPF or uprobes: %v", have)
	}
}

func TestProvides(t *testing.T) {
	p := New().Provides()
	for _, c := range []caps.Cap{caps.Uprobe, caps.ReadUser, caps.ReadRegs, caps.Iterate} {
		if !p.Has(c) {
			t.Errorf("%s is missing", c)
		}
	}
	for _, c := range []caps.Cap{caps.EmbeddedC, caps.ReadFloat} {
		if p.Has(c) {
			t.Errorf("%s is promised", c)
		}
	}
}
