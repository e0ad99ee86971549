package sel_test

import (
	"testing"

	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/maps"
	"github.com/gostap/gostap/backend-bpf/internal/sel"
	"github.com/gostap/gostap/compiler/ir/irtest"
	"github.com/gostap/gostap/compiler/partition"
	"github.com/gostap/gostap/runtime/wire"
)

// What older kernels want cannot be seen by running on a newer one, so the instructions are looked at.

func translate(t *testing.T, text string, feat sel.Features) asm.Instructions {
	t.Helper()
	p := irtest.Parse(t, text)
	kernel := make([]bool, len(p.Globals))
	for i := range kernel {
		kernel[i] = true
	}
	lay, err := maps.New(p, kernel, maps.Options{CPUs: 2})
	if err != nil {
		t.Fatal(err)
	}
	u := &sel.Unit{Shared: sel.Shared{P: p, Layout: lay, Feat: feat, CPUs: 2, Schema: &wire.Schema{}}}
	res, err := u.Handler(&sel.Handler{Name: "test",
		Handler: &partition.Handler{Body: p.Probes[0].Handler, Sites: p.Probes[0].Sites, IDs: []int{0}}})
	if err != nil {
		t.Fatal(err)
	}
	return res.Spec.Instructions
}

// TestCommPadding: before Linux 6.2 bpf_get_current_comm leaves what is behind the NUL as it was.
func TestCommPadding(t *testing.T) {
	for _, size := range []string{"15", "40", "8"} { // in place, with more room, by way of a temporary
		ins := translate(t, "global a long [string 15] size 4\nprobe \"comm\" {\n  site uprobe\n  string r0 "+size+
			"\nb0:\n  r0 = intr execname()\n  madd @a[r0], 1\n  end\n}\n", sel.Features{})
		zeros := map[int16]bool{}
		done := false
		for i, in := range ins {
			if in.OpCode.Class() == asm.StClass && in.OpCode.Size() == asm.DWord && in.Dst == asm.RFP &&
				in.Constant == 0 {
				zeros[in.Offset] = true
			}
			if in.IsBuiltinCall() && asm.BuiltinFunc(in.Constant) == asm.FnGetCurrentComm {
				done = true
				buf := int16(0)
				for _, b := range ins[i-3 : i] {
					if b.OpCode.ALUOp() == asm.Add && b.Dst == asm.R1 {
						buf = int16(b.Constant)
					}
				}
				if buf == 0 || !zeros[buf] || !zeros[buf+8] {
					t.Errorf("string of %s bytes: the buffer at %d is not zeroed:\n%v", size, buf, ins[:i+1])
				}
			}
		}
		if !done {
			t.Errorf("no call:\n%v", ins)
		}
	}
}

// TestUpdateResult: the result of a map update is an int before Linux 6.4, whose upper half says nothing.
func TestUpdateResult(t *testing.T) {
	ins := translate(t, "global a long [long] size 4\nglobal s string 20 [long] size 4\nprobe \"up\" {\n  site "+
		"uprobe\n  long r0\nb0:\n  madd @a[7], 1\n  mset @a[8], 1\n  mset @s[1], \"x\"\n  end\n}\n", sel.Features{})
	calls := 0
	for i, in := range ins {
		if !in.IsBuiltinCall() || asm.BuiltinFunc(in.Constant) != asm.FnMapUpdateElem {
			continue
		}
		calls++
		tests := 0
		for _, b := range ins[i+1:] {
			if b.OpCode.JumpOp() == asm.Call || b.OpCode.JumpOp() == asm.Exit {
				break
			}
			if b.OpCode.Class() == asm.JumpClass && b.OpCode.JumpOp() != asm.Ja {
				t.Errorf("%v compares all of a result", b)
			}
			if b.OpCode.Class() == asm.Jump32Class {
				tests++
			}
			if b.OpCode.JumpOp() == asm.Ja {
				break
			}
		}
		if tests == 0 {
			t.Errorf("the result of call %d is not looked at:\n%v", calls, ins)
		}
	}
	if calls < 3 {
		t.Errorf("%d calls", calls)
	}
}

// TestIndexFillsSlot: keys of 4 bytes are written as 8, so that the verifier of Linux 6.1 need not tell apart what was
// in their slots of the stack before.
func TestIndexFillsSlot(t *testing.T) {
	ins := translate(t, "global s stats size 1\nglobal t string 100 [long] size 10\nprobe \"keys\" {\n  site uprobe\n"+
		"  long r0\n  string r1 100\nb0:\n  r0 = reg 0\n  sadd @s, r0\n  r1 = sprint \"%d %u\"(r0, r0)\n"+
		"  mset @t[r0], r1\n  print \"%s\\n\"(r1)\n  end\n}\n", sel.Features{})
	stores := 0
	for _, in := range ins {
		if c := in.OpCode.Class(); c != asm.StClass && c != asm.StXClass || in.Dst != asm.RFP {
			continue
		}
		stores++
		if in.OpCode.Size() == asm.Word || in.OpCode.Size() == asm.Half {
			t.Errorf("%v leaves a part of a slot as it was", in)
		}
	}
	if stores < 4 {
		t.Errorf("only %d stores to the stack", stores)
	}
}
