package interp

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/irtest"
)

func TestMemStore(t *testing.T) {
	p := irtest.Parse(t, `global n long init 7
global a long [string 9, long] size 2
global w long [long] size 2 wrap
global st stats hist_log`)
	s := NewMemStore(p)
	if v, ok, err := s.Get(0, nil); v.Int != 7 || !ok || err != nil {
		t.Error(v, ok, err)
	}
	key := Key{{Str: "a"}, {Int: 1}}
	if err := s.Set(1, key, Val{Int: 5}); err != nil {
		t.Error(err)
	}
	key[0].Str = "b" // the store keeps its own copy
	if v, ok, _ := s.Get(1, Key{{Str: "a"}, {Int: 1}}); v.Int != 5 || !ok {
		t.Error(v, ok)
	}
	if before, err := s.Add(1, key, 3); before != 0 || err != nil {
		t.Error(before, err)
	}
	if err := s.Set(1, Key{{Str: "c"}, {}}, Val{}); err != ErrFull {
		t.Error(err)
	}
	if err := s.Delete(1, Key{{Str: "a"}, {Int: 1}}); err != nil {
		t.Error(err)
	}
	if err := s.Set(1, Key{{Str: "c"}, {}}, Val{}); err != nil {
		t.Error(err)
	}
	elems, _ := s.Elems(1)
	if len(elems) != 2 || elems[0].Key[0].Str != "b" || elems[1].Key[0].Str != "c" {
		t.Error(elems)
	}
	for i := range int64(5) {
		if err := s.Set(2, Key{{Int: i}}, Val{Int: i}); err != nil {
			t.Error(err)
		}
	}
	if elems, _ := s.Elems(2); len(elems) != 2 || elems[0].Val.Int != 3 || elems[1].Val.Int != 4 {
		t.Error(elems)
	}
	if err := s.Clear(2); err != nil {
		t.Error(err)
	}
	if elems, _ := s.Elems(2); len(elems) != 0 {
		t.Error(elems)
	}
	if err := s.AddStat(3, nil, 8); err != nil {
		t.Error(err)
	}
	a, ok, _ := s.Stat(3, nil)
	a.Hists[0][0] = 99 // a copy
	if b, _, _ := s.Stat(3, nil); !ok || b.Count != 1 || b.Hists[0][0] != 0 || b.Hists[0][68] != 1 {
		t.Error(b.Count, b.Hists)
	}
}

func TestLock(t *testing.T) {
	p := irtest.Parse(t, "limits MAXTRYLOCK=2 TRYLOCKDELAY=1\nlocks 1\nprobe \"p\" {\nb0:\n  lock 0\n  print "+
		"\"in\"()\n  unlock 0\n  end\n}")
	s := NewMemStore(p)
	out := &said{}
	m, err := New(p, s, out)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Lock(0); err != nil {
		t.Fatal(err)
	}
	if res, err := m.Run(0, &HostContext{}); !res.Skipped || res.Cause != ir.SkipLock || err != nil {
		t.Error(res, err)
	}
	s.Unlock(0)
	if res, err := m.Run(0, &HostContext{}); res.Skipped || err != nil || out.String() != "in" {
		t.Error(res, err, out.String())
	}
}

// TestConcurrent: machines that share a store lose nothing.
func TestConcurrent(t *testing.T) {
	p := irtest.Parse(t, "global n long\nglobal a long [long] size 4\nprobe \"p\" {\nb0:\n  gadd @n, 1\n  madd "+
		"@a[3], 2\n  end\n}")
	s := NewMemStore(p)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			m, err := New(p, s, &said{})
			if err != nil {
				t.Error(err)
				return
			}
			for range 500 {
				if _, err := m.Run(0, &HostContext{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	n, _, _ := s.Get(0, nil)
	a, _, _ := s.Get(1, Key{{Int: 3}})
	if n.Int != 2000 || a.Int != 4000 {
		t.Error(n, a)
	}
}

func TestVariance(t *testing.T) {
	for _, c := range []struct {
		vals []int64
		want int64
	}{
		{nil, 0},
		{[]int64{5}, 0},
		{[]int64{2, 4, 4, 4, 5, 5, 7, 9}, 4}, // 32 / 7
		{[]int64{1, 2}, 0},                   // 0.5 rounded down
		{[]int64{-10, 10}, 200},
		{[]int64{444, 999}, 154012},
		{[]int64{1 << 31, -1 << 31}, 1<<63 - 1}, // 2^63 does not fit
		{[]int64{1 << 30, -1 << 30, 0}, 1 << 60},
		{[]int64{1<<62 + 1, 1<<62 - 1}, 0}, // the sum wraps: no panic
	} {
		var a Agg
		for _, v := range c.vals {
			a.Add(v, &ir.StatNeeds{Variance: true})
		}
		got := a.Variance()
		if c.want != 0 && got != c.want {
			t.Errorf("%d: got %d, want %d", c.vals, got, c.want)
		}
	}
}

// TestMerge: values put into parts that are merged give what they give together.
func TestMerge(t *testing.T) {
	needs := &ir.StatNeeds{Variance: true, Hists: []ir.Hist{{}, {Linear: true, Low: -9, High: 9, Width: 2}}}
	r := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		var all, sum Agg
		var parts [3]Agg
		for range r.IntN(20) {
			v := r.Int64N(100) - 50
			all.Add(v, needs)
			parts[r.IntN(3)].Add(v, needs)
		}
		for i := range parts {
			sum.Merge(&parts[i])
		}
		if sum.Hists = append([][]int64(nil), sum.Hists...); fmt.Sprint(sum) != fmt.Sprint(all) {
			t.Fatalf("got %v, want %v", sum, all)
		}
	}
}

func BenchmarkLongs(b *testing.B) {
	p := irtest.Parse(b, `limits MAXACTION=1000000
probe "p" {
  long r0, r1, r2
b0:
  r0 = mov 0
  r1 = mov 0
  jump b1
b1:
  budget 1
  r2 = lt r0, 1000
  branch r2, b2, b3
b2:
  r1 = add r1, r0
  r1 = xor r1, 85
  r0 = add r0, 1
  jump b1
b3:
  end
}`)
	m, err := New(p, NewMemStore(p), &said{})
	if err != nil {
		b.Fatal(err)
	}
	ctx := &HostContext{}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Run(0, ctx); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/7000, "ns/insn")
}

func BenchmarkGlobals(b *testing.B) {
	p := irtest.Parse(b, `global n long
global a long [string 15] size 100
global st stats [long] size 100
probe "p" {
  long r0
  string r1 15
b0:
  r1 = mov "name"
  gadd @n, 1
  madd @a[r1], 1
  r0 = mget @a[r1]
  sadd @st[5], r0
  end
}`)
	m, err := New(p, NewMemStore(p), &said{})
	if err != nil {
		b.Fatal(err)
	}
	ctx := &HostContext{}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Run(0, ctx); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNew(b *testing.B) {
	p := irtest.Parse(b, "global n long\n"+
		strings.Repeat("\nprobe \"p\" {\n  long r0\nb0:\n  r0 = gget @n\n  gset @n, r0\n"+
			"  print \"%d\\n\"(r0)\n  end\n}", 5))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := New(p, NewMemStore(p), &said{}); err != nil {
			b.Fatal(err)
		}
	}
}
