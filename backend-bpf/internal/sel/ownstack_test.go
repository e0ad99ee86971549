package sel_test

import (
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/load"
	"github.com/gostap/gostap/backend-bpf/internal/maps"
	"github.com/gostap/gostap/backend-bpf/internal/sel"
	"github.com/gostap/gostap/compiler/ir/irtest"
	"github.com/gostap/gostap/compiler/partition"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/runtime/wire"
)

// ownStacks checks that the kernel has given no program of a uprobe a stack that belongs to the CPU. As every test that
// loads handlers does it, it is done for all handlers there are.
func (m *machine) ownStacks(feat sel.Features) {
	m.t.Helper()
	if !feat.MayGoto {
		return // these are for kernels without such stacks
	}
	for name, pr := range m.coll.Programs {
		if !m.uprobe(name) {
			continue
		}
		if shares, err := load.SharesStack(pr.FD()); err != nil || shares {
			m.t.Errorf("program %s has a stack for each CPU: %t, %v", name, shares, err)
		}
	}
}

// uprobe reports whether all probes of a program are at places in programs.
func (m *machine) uprobe(name string) bool {
	for _, pr := range m.p.Probes {
		for _, s := range pr.Sites {
			if s.Kind != probe.Uprobe && s.Kind != probe.Uretprobe {
				return false
			}
		}
	}
	return true
}

// TestOwnStack: where the kernel may give programs a stack for each CPU, those of uprobes, which can be preempted, hold
// a tail call that is never made, which keeps it from that; others do not have one, and no table of programs is needed.
func TestOwnStack(t *testing.T) {
	const count, text = "gadd @n, 1", "r0 = intr user_string(4096)\n  print \"%s\"(r0)"
	for _, c := range []struct {
		site, body string
		mayGoto    bool
		tailCall   bool
	}{
		{"uprobe", count, true, true}, {"uretprobe", count, true, true}, {"uprobe", text, true, true},
		{"uretprobe", text, true, true},
		{"uprobe", count, false, false}, {"kprobe symbol=\"vfs_read\"", count, true, false},
	} {
		p := irtest.Parse(t, "global n long\nprobe \"p\" {\n  site "+c.site+"\n  string r0 200\nb0:\n  "+c.body+
			"\n  end\n}\n")
		lay, err := maps.New(p, all(p), maps.Options{CPUs: 2})
		if err != nil {
			t.Fatal(err)
		}
		hs, ds := partition.Decide(t.Context(), p, partition.Options{Translates: sel.Translates})
		if len(ds) > 0 || len(hs) != 1 {
			t.Fatal(ds)
		}
		u := &sel.Unit{Shared: sel.Shared{P: p, Layout: lay,
			Feat: sel.Features{MayGoto: c.mayGoto, Sleepable: func() bool { return true }}, CPUs: 2,
			Schema: &wire.Schema{}, CanStop: true, Types: kernelTypes{}}}
		res, err := u.Handler(&sel.Handler{Handler: hs[0], Name: "p0"})
		if err != nil {
			t.Fatal(err)
		}
		if (res.Spec.Flags != 0) != (c.body == text) {
			t.Errorf("%s, %s: flags %#x", c.site, c.body, res.Spec.Flags)
		}
		found := false
		for _, in := range res.Spec.Instructions {
			found = found || in.IsBuiltinCall() && asm.BuiltinFunc(in.Constant) == asm.FnTailCall
		}
		if found != c.tailCall {
			t.Errorf("%s, new kernel %t: tail call %t", c.site, c.mayGoto, found)
		}
		for name, m := range u.Maps(1 << 20) {
			if m.Type == ebpf.ProgramArray {
				t.Errorf("%s: table of programs %s", c.site, name)
			}
		}
	}
}
