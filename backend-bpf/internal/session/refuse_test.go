package session

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/features"
	"github.com/gostap/gostap/backend-bpf/internal/load"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/compiler/backend"
	"github.com/gostap/gostap/compiler/backend/traced"
	"github.com/gostap/gostap/compiler/diag/diagtest"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/irtest"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/types"
	"github.com/gostap/gostap/runtime/wire"
)

// TestReplaced: the file that was resolved is not the one that is there.
func TestReplaced(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "prog")
	s, _, _ := setup(t, func(c *Config) {
		bin := c.Plan.Attach[0].Sites[0].Site.Program.Path
		b, _ := os.ReadFile(bin)
		if err := os.WriteFile(path, b, 0o755); err != nil {
			t.Fatal(err)
		}
		id, err := traced.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		c.Files[path] = id
		for _, a := range c.Plan.Attach[0].Sites {
			a.Site.Program.Path = path
		}
	})
	b, _ := os.ReadFile(path)
	os.WriteFile(path+".new", b, 0o755)
	os.Rename(path+".new", path)
	err := s.Attach(t.Context())
	if d := diagtest.Find(t, err, CodeReplaced); !d.Span.From.IsValid() {
		t.Errorf("got %v", err)
	}
	if len(s.Report()) != 0 {
		t.Errorf("report of a failed attach: %v", s.Report())
	}
}

// TestAttachErrorDetachesAll: the second program's place is bad, the first program's is taken away again.
func TestAttachErrorDetachesAll(t *testing.T) {
	s, p, _ := setup(t, func(c *Config) {
		bad := *c.Plan.Attach[0].Sites[0].Site
		bad.Program.Offset, bad.Func = 1<<40, "nowhere"
		c.Plan.Attach = append(c.Plan.Attach,
			plan.Attach{Prog: "x", Kind: probe.Uprobe, Sites: []plan.Target{{Site: &bad}}})
	})
	err := s.Attach(t.Context())
	if d := diagtest.Find(t, err, CodeAttach); !strings.Contains(d.Message, "nowhere") {
		t.Fatalf("got %v", err)
	}
	s.SetState(wire.Running)
	p.run(t, 50)
	if v, _, _ := s.Store().Get(0, nil); v.Int != 7 {
		t.Errorf("n is %d: something is still attached", v.Int)
	}
}

func TestVerifierRefusal(t *testing.T) {
	bin := traceable(t)
	pl := handmade(t, bin)
	in := pl.Spec.Programs["x"].Instructions
	// A store through a number, at the place in the script that position 9 stands for.
	in[8] = asm.StoreMem(asm.R2, 0, asm.R3, asm.DWord)
	var log strings.Builder
	cfg := Config{Plan: pl, LoadOptions: backend.LoadOptions{Verbose: 2,
		Logf: func(f string, a ...any) { fmt.Fprintf(&log, f+"\n", a...) }}}
	_, err := Load(t.Context(), cfg)
	if d := diagtest.Find(t, err, CodeVerifier); d.Span.From != 9 {
		t.Errorf("got %v %+v", err, d)
	}
	if !strings.Contains(log.String(), "processed") {
		t.Errorf("the verifier's log is missing:\n%s", log.String())
	}
}

func TestMapRefusal(t *testing.T) {
	bin := traceable(t)
	pl := handmade(t, bin)
	pl.Program.Globals = append(pl.Program.Globals,
		&ir.Global{Name: "huge", Type: types.Long, Keys: []ir.Key{{Type: types.Long}}, Pos: 3})
	pl.Globals = append(pl.Globals, plan.GlobalLayout{Map: "huge_1", ValueSize: 8, SeqOff: -1, KeySize: 8,
		Keys: []plan.Column{{Size: 8}}})
	pl.Spec.Maps["huge_1"] = &ebpf.MapSpec{Type: ebpf.Hash, KeySize: 8, ValueSize: 1 << 30, MaxEntries: 1 << 31}
	_, err := Load(t.Context(), Config{Plan: pl})
	if d := diagtest.Find(t, err, CodeKernel); d.Span.From != 3 || !strings.Contains(d.Message, `"huge"`) ||
		d.Hint == "" {
		t.Errorf("got %v %+v", err, d)
	}
}

func TestBadPlans(t *testing.T) {
	bin, err := target()
	if err != nil {
		t.Fatal(err)
	}
	for i, change := range []func(*plan.Plan){
		func(p *plan.Plan) { p.Spec = nil },
		func(p *plan.Plan) { delete(p.Spec.Maps, plan.MapControl) },
		func(p *plan.Plan) { p.Spec.Maps[plan.MapControl].ValueSize = 8 },
		func(p *plan.Plan) { p.Spec.Maps[plan.MapCounters].MaxEntries = 1 },
		func(p *plan.Plan) { p.Attach[0].Prog = "y" },
		func(p *plan.Plan) { p.Globals = nil },
	} {
		pl := handmade(t, bin)
		change(pl)
		if s, err := Load(context.Background(), Config{Plan: pl}); err == nil {
			s.Close()
			t.Errorf("plan %d was taken", i)
		}
	}
}

// TestNoKprobes: on a kernel without probes in itself nothing is loaded, and the script's line is named.
func TestNoKprobes(t *testing.T) {
	if features.Has(features.Kprobe) {
		t.Skip("this kernel has kprobes; the tests in virtual machines use them")
	}
	p := irtest.Parse(t, "probe \"p\" {\n  site kprobe symbol=\"vfs_read\"\nb0:\n  end\n}\n")
	p.Probes[0].Pos = 7
	pl := &plan.Plan{Program: p, Schema: &wire.Schema{},
		Spec: &ebpf.CollectionSpec{Programs: map[string]*ebpf.ProgramSpec{"p": {Type: ebpf.Kprobe}},
			Maps: map[string]*ebpf.MapSpec{plan.MapOutput: {}, plan.MapControl: {ValueSize: plan.CtlSize},
				plan.MapCounters: {MaxEntries: uint32(plan.CounterRow)}}},
		Attach: []plan.Attach{{Prog: "p", Kind: probe.Kprobe, Sites: []plan.Target{{Site: p.Probes[0].Sites[0]}}}}}
	_, err := Load(t.Context(), Config{Plan: pl})
	if features.Probe(features.BPF) != nil {
		diagtest.Find(t, err, CodeRights)
		return
	}
	if d := diagtest.Find(t, err, CodeNoKprobes); d.Span.From != 7 {
		t.Errorf("got %v", err)
	}
}

// TestSharedStack: no session begins with a program at a uprobe whose variables are on a stack that belongs to the CPU.
func TestSharedStack(t *testing.T) {
	bin := traceable(t)
	pl := handmade(t, bin)
	pl.Spec.Programs["x"].Instructions = append(asm.Instructions{asm.StoreImm(asm.RFP, -64, 1, asm.Word)},
		pl.Spec.Programs["x"].Instructions...)
	s, err := Load(t.Context(), Config{Plan: pl})
	if err == nil {
		defer s.Close()
		if shares, err := load.SharesStack(s.col.Progs["x"].FD()); err != nil || shares {
			t.Fatal("the session would begin", err)
		}
		t.Skip("this kernel gives programs no stack for each CPU (they are new in 6.13)")
	}
	if d := diagtest.Find(t, err, CodeKernel); !d.Span.From.IsValid() || !strings.Contains(d.Message, "stack") ||
		d.Hint == "" {
		t.Errorf("got %v %+v", err, d)
	}
}
