package maps

import (
	"reflect"
	"strings"
	"testing"

	"github.com/cilium/ebpf"

	"github.com/gostap/gostap/backend-bpf/internal/kern"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/compiler/ir"
)

const program = `
global n long init 7
global s string 20 init "abc"
global names long [string 15, long] size 10
global texts string 100 [long] size 3 wrap
global st stats
global hists stats [long] size 5 variance hist_log hist_linear(0, 10, 2)
global huge string 500 [string 500, string 500] size 1000000
global unused long

probe "begin" {
  site begin
  long r0
  string r1 15
b0:
  r0 = sget.avg @st !b4
  r0 = sget.max @hists[1] !b4
  printhist 1 @hists[1]
  iteropen i0 @names "@sum-"
  jump b1
b1:
  r0 = iternext i0 @names
  branch r0, b2, b3
b2:
  r1 = iterkey i0 @names 0
  jump b1
b3:
  end
b4:
  end
}
`

func TestLayout(t *testing.T) {
	p, err := ir.ParseText(program)
	if err != nil {
		t.Fatal(err)
	}
	kernel := make([]bool, len(p.Globals))
	for i := range kernel {
		kernel[i] = p.Globals[i].Name != "unused"
	}
	l, err := New(p, kernel, Options{CPUs: 4})
	if err != nil {
		t.Fatal(err)
	}
	g := l.Globals
	if g[0].Map != plan.MapScalars || g[1].Map != plan.MapScalars || g[1].ValueSize != 24 ||
		g[0].ValueOff/64 == g[1].ValueOff/64 {
		t.Errorf("scalars at %+v and %+v", g[0], g[1])
	}
	first := l.Maps[plan.MapScalars].Contents[0].Value.([]byte)
	if first[g[0].ValueOff] != 7 || string(first[g[1].ValueOff:g[1].ValueOff+4]) != "abc\x00" {
		t.Errorf("first values %q", first)
	}
	if want := []plan.Column{{Off: 0, Size: 16}, {Off: 16, Size: 8}}; !reflect.DeepEqual(g[2].Keys, want) ||
		g[2].KeySize != 24 {
		t.Errorf("key %+v", g[2])
	}
	if g[2].SeqOff != 0 || g[2].ValueOff != 8 {
		t.Error("an array that is iterated over has no numbers")
	}
	if g[3].SeqOff != 0 || l.Maps[g[3].Map].Type != ebpf.Hash {
		t.Error("an array that wraps needs numbers, not the kernel's LRU")
	}
	if !g[4].PerCPU || l.Maps[g[4].Map].Type != ebpf.PerCPUArray {
		t.Error("a scalar aggregate is per CPU")
	}
	// Only what is read is kept: the average takes count and sum; a maximum and a histogram that and their own.
	if s := g[4].Stat; s.Count != 0 || s.Sum != 8 || s.Min != -1 || s.Max != -1 || s.Size != 16 {
		t.Errorf("%+v", s)
	}
	if s := g[5].Stat; s.Count != 0 || s.Sum != -1 || s.Max != 8 || s.SqLo != -1 || s.Hists[0] != -1 ||
		s.Hists[1] != 16 || s.Size != 16+8*8 {
		t.Errorf("%+v", s)
	}
	if l.Maps[g[6].Map].Flags&kern.FlagNoPrealloc == 0 || l.Maps[g[2].Map].Flags&kern.FlagNoPrealloc != 0 {
		t.Error("large arrays are allocated as they grow, small ones at once")
	}
	if !g[7].Absent || g[7].Map != "" {
		t.Errorf("%+v", g[7])
	}
}

func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for i, n := range []string{"a", "a_very_long_name_of_a_global", "a_very_long_name_of_another", "with space",
		"naïve", ""} {
		m := name(i, n)
		if len(m) > 15 || seen[m] || strings.ContainsAny(m, " ï") {
			t.Errorf("%q gives %q", n, m)
		}
		seen[m] = true
	}
}
