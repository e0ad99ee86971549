package sel_test

import (
	"testing"

	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/maps"
	"github.com/gostap/gostap/backend-bpf/internal/sel"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/place"
	"github.com/gostap/gostap/runtime/wire"
)

// TestOwnStack: where the kernel may give programs a stack for each CPU, those of uprobes, which can be preempted, hold
// a tail call, which keeps it from that; others do not pay for one.
func TestOwnStack(t *testing.T) {
	for _, c := range []struct {
		site     string
		mayGoto  bool
		tailCall bool
	}{{"uprobe", true, true}, {"uretprobe", true, true}, {"uprobe", false, false}, {"kprobe symbol=\"vfs_read\"", true, false}} {
		p, err := ir.ParseText("global n long\nprobe \"p\" {\n  site " + c.site + "\nb0:\n  gadd @n, 1\n  end\n}\n")
		if err != nil {
			t.Fatal(err)
		}
		lay, err := maps.New(p, all(p), maps.Options{CPUs: 2})
		if err != nil {
			t.Fatal(err)
		}
		hs, ds := place.Decide(t.Context(), p, place.Options{Translates: sel.Translates})
		if len(ds) > 0 || len(hs) != 1 {
			t.Fatal(ds)
		}
		u := &sel.Unit{P: p, Layout: lay, Feat: sel.Features{MayGoto: c.mayGoto}, CPUs: 2, Schema: &wire.Schema{}, CanStop: true, Types: kernelTypes{}}
		res, err := u.Handler(&sel.Handler{Handler: hs[0], Name: "p0"})
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, in := range res.Spec.Instructions {
			found = found || in.IsBuiltinCall() && asm.BuiltinFunc(in.Constant) == asm.FnTailCall
		}
		if found != c.tailCall {
			t.Errorf("%s, new kernel %t: tail call %t", c.site, c.mayGoto, found)
		}
	}
}
