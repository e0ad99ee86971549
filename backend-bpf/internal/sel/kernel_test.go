package sel_test

import (
	"fmt"
	"testing"

	"github.com/gostap/gostap/backend-bpf/internal/maps"
	"github.com/gostap/gostap/backend-bpf/internal/sel"
	"github.com/gostap/gostap/compiler/ir/irtest"
	"github.com/gostap/gostap/compiler/partition"
	"github.com/gostap/gostap/runtime/wire"
)

// TestKernelSites: which handlers a kprobe.multi link can serve, and that the kernel's verifier takes them all.
func TestKernelSites(t *testing.T) {
	for _, c := range []struct {
		name, sites, body string
		multi             bool
	}{
		{"arguments", `site kprobe symbol="f"`, `r0 = reg 5
  r1 = reg 4
  r2 = reg 7`, true},
		{"other registers", `site kprobe symbol="f"`, `r0 = reg 3`, false},
		{"by name", `site kprobe symbol="f"`, `r0 = intr register("rdi")`, true},
		{"other by name", `site kprobe symbol="f"`, `r0 = intr register("rbx")`, false},
		{"address", `site kprobe symbol="f"`, `r0 = intr addr()
  r1 = reg 16
  r2 = intr uaddr()`, true},
		{"inside", `site kprobe symbol="f" offset=5`, `r0 = intr addr()`, false},
		{"from the base", `site kprobe symbol="_stext" offset=64`, `r0 = intr addr()`, false},
		{"module", `site kprobe symbol="m:f"`, `r0 = load8k 16
  r1 = intr tid()`, true},
		{"result", `site kretprobe symbol="f"`, `r0 = reg 0
  r1 = reg 7
  r2 = intr addr()`, true},
		{"arguments at a return", `site kretprobe symbol="f"`, `r0 = reg 5`, false},
		{"stack", `site kprobe symbol="f"`, `r3 = intr sprint_backtrace()
  r4 = intr sprint_ubacktrace()
  print "%s%s"(r3, r4)`, true},
		{"names", "site kprobe symbol=\"f\" func=\"f\"\n  site kprobe symbol=\"g\" func=\"g\"", `r3 = site ppfunc
  print "%s"(r3)`, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := fmt.Sprintf("probe \"x\" {\n  %s\n  long r0, r1, r2\n  string r3 200, r4 200\nb0:\n  r0 = mov "+
				"0\n  r1 = mov 0\n  r2 = mov 0\n  %s\n  r0 = add r0, r1\n  r0 = add r0, r2\n  print "+
				"\"%%d\\n\"(r0)\n  end\n}\n", c.sites, c.body)
			p := irtest.Parse(t, text)
			lay, err := maps.New(p, all(p), maps.Options{CPUs: 2})
			if err != nil {
				t.Fatal(err)
			}
			u := &sel.Unit{Shared: sel.Shared{P: p, Layout: lay, CPUs: 2, Schema: &wire.Schema{}, CanStop: true,
				Types: kernelTypes{}}}
			hs, ds := partition.Decide(t.Context(), p, partition.Options{Translates: sel.Translates})
			if len(ds) > 0 || len(hs) != 1 {
				t.Fatal(ds)
			}
			res, err := u.Handler(&sel.Handler{Handler: hs[0], Name: "x"})
			if err != nil || len(u.Diags) > 0 {
				t.Fatal(err, u.Diags)
			}
			if res.Funcs != c.multi {
				t.Errorf("kprobe.multi: %v, want %v", res.Funcs, c.multi)
			}
			loadUprobes(t, p, sel.Features{}) // all are programs of the same kind
		})
	}
}
