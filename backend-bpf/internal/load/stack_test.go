package load

import (
	"fmt"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"
)

// TestSharesStack: what is looked for in the machine code is what the running kernel writes there, for each function of
// a program; a tail call that can never be made keeps it from that.
func TestSharesStack(t *testing.T) {
	needRoot(t)
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		t.Fatal(err)
	}
	major, minor := 0, 0
	if _, err := fmt.Sscanf(unix.ByteSliceToString(u.Release[:]), "%d.%d", &major, &minor); err != nil {
		t.Fatal(err)
	}
	has := major > 6 || major == 6 && minor >= 13
	leaf := func(name string, stack int16) asm.Instructions {
		return asm.Instructions{asm.StoreImm(asm.RFP, -stack, 1, asm.Word).WithSymbol(name), asm.Mov.Imm(asm.R0, 0),
			asm.Return()}
	}
	caller := append(asm.Instructions{asm.Call.Label("sub").WithSymbol("p"), asm.Mov.Imm(asm.R0, 0), asm.Return()},
		leaf("sub", 64)...)
	never := append(asm.Instructions{asm.Mov.Imm(asm.R0, 0).WithSymbol("p"), asm.JEq.Imm(asm.R0, 0, "on"),
		asm.FnTailCall.Call(), asm.Return(), asm.Call.Label("sub").WithSymbol("on"),
		asm.StoreImm(asm.RFP, -64, 1, asm.Word), asm.Mov.Imm(asm.R0, 0), asm.Return()}, leaf("sub", 64)...)
	for _, c := range []struct {
		name   string
		ins    asm.Instructions
		shares bool
	}{{"small", leaf("p", 48), false}, {"large", leaf("p", 64), has}, {"called", caller, has},
		{"tail call", never, false}} {
		for _, flags := range []uint32{0, 1 << 4} { // and as a program that may sleep
			col, err := Load(&ebpf.CollectionSpec{Programs: map[string]*ebpf.ProgramSpec{"p": {Name: "p",
				Type: ebpf.Kprobe, License: "GPL", Flags: flags, Instructions: c.ins}}}, Options{})
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if got, err := SharesStack(col.Progs["p"].FD()); err != nil || got != c.shares {
				t.Errorf("%s, flags %d: %t, %v", c.name, flags, got, err)
			}
			col.Close()
		}
	}
}
