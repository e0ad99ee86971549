package load

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
)

// walks makes a program of which the verifier walks some instructions for each of n rounds.
func walks(n int32) *ebpf.CollectionSpec {
	return &ebpf.CollectionSpec{Programs: map[string]*ebpf.ProgramSpec{"walks": {Name: "walks",
		Type: ebpf.RawTracepoint, AttachTo: "sys_enter", License: "GPL", Instructions: asm.Instructions{
			asm.Mov.Imm(asm.R0, 0),
			asm.Add.Imm(asm.R0, 1).WithSymbol("loop"),
			asm.JLT.Imm(asm.R0, n, "loop"),
			asm.Mov.Imm(asm.R0, 0),
			asm.Return(),
		}}}}
}

// TestSlow: who waits for the verifier hears of it.
func TestSlow(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	told := make(chan []string, 8)
	o := Options{Patience: time.Millisecond, Slow: func(names []string) { told <- names }}
	if c, err := Load(walks(60000), o); err != nil {
		t.Fatal(err)
	} else {
		c.Close()
	}
	if len(told) != 1 || !slices.Equal(<-told, []string{"walks"}) {
		t.Errorf("told %d times", len(told))
	}
}
