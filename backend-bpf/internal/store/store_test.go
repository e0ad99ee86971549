package store

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/backend-bpf/internal/kern"
	"github.com/gostap/gostap/backend-bpf/internal/load"
	"github.com/gostap/gostap/backend-bpf/internal/maps"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/interp"
	"github.com/gostap/gostap/compiler/layout"
	"github.com/gostap/gostap/compiler/types"
	"github.com/gostap/gostap/runtime/cpus"
	"github.com/gostap/gostap/runtime/priority"
)

// bed is a program's globals in the kernel.
type bed struct {
	*Store
	col  *load.Collection
	plan *maps.Layout
}

// program makes globals; those with Internal set stay on the host.
func program(gs ...*ir.Global) *ir.Program {
	for _, g := range gs {
		g.Class = -1
		if g.IsArray() && g.Size == 0 {
			g.Size = 100
		}
	}
	return &ir.Program{Globals: gs, Limits: layout.Default(), Locks: 4}
}

func newBed(t testing.TB, p *ir.Program, perCPU bool) *bed {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root: makes BPF maps")
	}
	ncpus, err := cpus.Possible()
	if err != nil {
		t.Fatal(err)
	}
	kernel := make([]bool, len(p.Globals))
	for i, g := range p.Globals {
		kernel[i] = !g.Internal
	}
	l, err := maps.New(p, kernel, maps.Options{CPUs: ncpus, PerCPUKeyed: perCPU})
	if err != nil {
		t.Fatal(err)
	}
	spec := &ebpf.CollectionSpec{Maps: l.Maps}
	spec.Maps[plan.MapControl] = &ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: plan.CtlSize, MaxEntries: 1,
		Flags: kern.FlagMmapable}
	col, err := load.Load(spec, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(col.Close)
	c := Config{Program: p, Globals: l.Globals, Maps: col.Maps, CPUs: ncpus,
		Control: mapped(t, col.Maps[plan.MapControl])}
	if m := col.Maps[plan.MapScalars]; m != nil {
		c.Scalars = mapped(t, m)
	}
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return &bed{s, col, l}
}

func mapped(t testing.TB, m *load.Map) []byte {
	b, err := unix.Mmap(m.FD(), 0, int(m.ValueSize), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(b) })
	return b
}

func long(n int64) interp.Val { return interp.Val{Int: n} }
func str(s string) interp.Val { return interp.Val{Str: s} }
func key(n int64) interp.Key  { return interp.Key{long(n)} }
func longKey() []ir.Key       { return []ir.Key{{Type: types.Long}} }
func strKey(cap int) ir.Key   { return ir.Key{Type: types.String, Cap: cap} }
func must(t testing.TB, e error) {
	t.Helper()
	if e != nil {
		t.Fatal(e)
	}
}

var allStats = ir.StatNeeds{Variance: true, Hists: []ir.Hist{{}, {Linear: true, Low: 0, High: 100, Width: 10}}}

// readAll makes a program in which a handler reads everything of every aggregate and loops over every array,
// so that the layout keeps it all.
func readAll(p *ir.Program) *ir.Program {
	b := &ir.Block{Term: ir.Term{Kind: ir.TermEnd}}
	for i, g := range p.Globals {
		if g.Type == types.Stats {
			for _, st := range []ir.Stat{ir.StatCount, ir.StatSum, ir.StatMin, ir.StatMax, ir.StatVariance} {
				b.Instrs = append(b.Instrs, ir.Instr{Op: ir.OpSGet, Glob: i, N: int64(st)})
			}
			for h := range g.Stat.Hists {
				b.Instrs = append(b.Instrs, ir.Instr{Op: ir.OpPrintHist, Glob: i, N: int64(h)})
			}
		}
		if g.IsArray() {
			b.Instrs = append(b.Instrs, ir.Instr{Op: ir.OpIterOpen, Glob: i})
		}
	}
	p.Probes = []*ir.Probe{{Handler: &ir.Func{Blocks: []*ir.Block{b}}, Cond: -1}}
	return p
}

// TestLikeMemory makes the same random changes here and in the interpreter's own store and compares everything.
func TestLikeMemory(t *testing.T) {
	mk := func() *ir.Program {
		return readAll(program(
			&ir.Global{Name: "n", Type: types.Long, InitInt: 42},
			&ir.Global{Name: "s", Type: types.String, Cap: 20, InitStr: "hello"},
			&ir.Global{Name: "a", Type: types.Stats, Stat: allStats},
			&ir.Global{Name: "m", Type: types.Long, Keys: longKey(), Size: 8},
			&ir.Global{Name: "t", Type: types.String, Cap: 700, Keys: []ir.Key{strKey(15), {Type: types.Long}},
				Size: 8},
			&ir.Global{Name: "x", Type: types.Stats, Stat: allStats, Keys: longKey(), Size: 8},
			&ir.Global{Name: "host", Type: types.Long, Keys: longKey(), Internal: true, Size: 8},
			&ir.Global{Name: "hs", Type: types.String, Cap: 9, Internal: true},
		))
	}
	for _, perCPU := range []bool{false, true} {
		t.Run(fmt.Sprint("percpu=", perCPU), func(t *testing.T) {
			p := mk()
			b := newBed(t, p, perCPU)
			ref := interp.NewMemStore(p)
			rnd := rand.New(rand.NewPCG(1, 2))
			texts := []string{"", "a", "bcd", strings.Repeat("long text ", 65)}
			nums := []int64{0, 1, -1, 7, 50, 99, 1000, math.MaxInt64, math.MinInt64, 1 << 40}
			for step := range 4000 {
				g := rnd.IntN(len(p.Globals))
				gl := p.Globals[g]
				var k interp.Key
				for _, c := range gl.Keys {
					if c.Type == types.Long {
						k = append(k, long(int64(rnd.IntN(10))-3))
					} else {
						k = append(k, str([]string{"", "k", "a key", "fifteen letters"}[rnd.IntN(4)]))
					}
				}
				var e1, e2 error
				var what string
				switch n := rnd.IntN(20); {
				case n == 0 && rnd.IntN(10) == 0:
					what = "clear"
					e1, e2 = b.Clear(g), ref.Clear(g)
				case n < 4:
					what = "delete"
					e1, e2 = b.Delete(g, k), ref.Delete(g, k)
				case gl.Type == types.Stats:
					what = "addstat"
					v := nums[rnd.IntN(len(nums))]
					e1, e2 = b.AddStat(g, k, v), ref.AddStat(g, k, v)
				case gl.Type == types.String:
					what = "set"
					v := texts[rnd.IntN(len(texts))]
					v = v[:min(len(v), gl.Cap)]
					e1, e2 = b.Set(g, k, str(v)), ref.Set(g, k, str(v))
				case n < 10:
					what = "set"
					v := nums[rnd.IntN(len(nums))]
					e1, e2 = b.Set(g, k, long(v)), ref.Set(g, k, long(v))
				default:
					what = "add"
					v := nums[rnd.IntN(len(nums))]
					var o1, o2 int64
					o1, e1 = b.Add(g, k, v)
					o2, e2 = ref.Add(g, k, v)
					if o1 != o2 {
						t.Fatalf("step %d: add to %s%v: before %d, want %d", step, gl.Name, k, o1, o2)
					}
				}
				if !errors.Is(e1, e2) {
					t.Fatalf("step %d: %s %s%v: %v, want %v", step, what, gl.Name, k, e1, e2)
				}
				if gl.Type == types.Stats {
					a1, ok1, e1 := b.Stat(g, k)
					a2, ok2, e2 := ref.Stat(g, k)
					sameAgg(t, step, gl, a1, a2)
					if ok1 != ok2 || e1 != nil || e2 != nil {
						t.Fatalf("step %d: %s%v: %v %v, %v %v", step, gl.Name, k, ok1, ok2, e1, e2)
					}
				} else {
					v1, ok1, e1 := b.Get(g, k)
					v2, ok2, e2 := ref.Get(g, k)
					if v1 != v2 || ok1 != ok2 || e1 != nil || e2 != nil {
						t.Fatalf("step %d after %s: %s%v = %v %v %v, want %v %v", step, what, gl.Name, k, v1, ok1, e1,
							v2, ok2)
					}
				}
				if gl.IsArray() {
					l1, e1 := b.Elems(g)
					l2, e2 := ref.Elems(g)
					must(t, e1)
					must(t, e2)
					if len(l1) != len(l2) {
						t.Fatalf("step %d: %s has %d elements, want %d", step, gl.Name, len(l1), len(l2))
					}
					for i := range l1 {
						if !reflect.DeepEqual(l1[i].Key, l2[i].Key) || l1[i].Val != l2[i].Val {
							t.Fatalf("step %d: element %d of %s is %v, want %v", step, i, gl.Name, l1[i], l2[i])
						}
						if l1[i].Agg != nil {
							sameAgg(t, step, gl, *l1[i].Agg, *l2[i].Agg)
						}
					}
				}
			}
		})
	}
}

func sameAgg(t *testing.T, step int, g *ir.Global, a, b interp.Agg) {
	t.Helper()
	for len(b.Hists) < len(a.Hists) {
		b.Hists = append(b.Hists, make([]int64, len(a.Hists[len(b.Hists)])))
	}
	if len(a.Hists) == 0 {
		b.Hists = nil
	}
	if fmt.Sprint(a) != fmt.Sprint(b) {
		t.Fatalf("step %d: %s is\n%v, want\n%v", step, g.Name, a, b)
	}
}

func TestOrderWithoutNumbers(t *testing.T) {
	p := program(&ir.Global{Name: "m", Type: types.Long, Keys: longKey(), Size: 5000})
	b := newBed(t, p, false)
	perm := rand.Perm(3000)
	for _, n := range perm {
		must(t, b.Set(0, key(int64(n)-1500), long(int64(n))))
	}
	es, err := b.Elems(0)
	must(t, err)
	if len(es) != 3000 {
		t.Fatalf("%d elements", len(es))
	}
	if !sort.SliceIsSorted(es, func(i, j int) bool { return es[i].Key[0].Int < es[j].Key[0].Int }) {
		t.Error("not sorted by key")
	}
	must(t, b.Clear(0))
	if es, err = b.Elems(0); len(es) != 0 || err != nil {
		t.Errorf("%d elements after Clear, %v", len(es), err)
	}
}

func TestFull(t *testing.T) {
	p := program(&ir.Global{Name: "m", Type: types.Long, Keys: longKey(), Size: 3},
		&ir.Global{Name: "x", Type: types.Stats, Keys: longKey(), Size: 3})
	b := newBed(t, p, true)
	for g := range 2 {
		put := func(n int64) error {
			if g == 0 {
				return b.Set(g, key(n), long(n))
			}
			return b.AddStat(g, key(n), n)
		}
		for n := range int64(3) {
			must(t, put(n))
		}
		if err := put(3); err != interp.ErrFull {
			t.Errorf("a fourth element: %v", err)
		}
		if err := put(2); err != nil {
			t.Errorf("an old element of a full map: %v", err)
		}
		must(t, b.Delete(g, key(0)))
		if err := put(3); err != nil {
			t.Errorf("after Delete: %v", err)
		}
	}
}

func TestWrap(t *testing.T) {
	p := program(&ir.Global{Name: "m", Type: types.Long, Keys: longKey(), Size: 1000, Wrap: true})
	b := newBed(t, p, false)
	for n := range int64(5000) {
		must(t, b.Set(0, key(n), long(n)))
	}
	es, err := b.Elems(0)
	must(t, err)
	if len(es) == 0 || len(es) > 1000 {
		t.Errorf("%d elements", len(es))
	}
	if last := es[len(es)-1]; last.Key[0].Int != 4999 {
		t.Errorf("the newest element is %v", last)
	}
}

// TestWithTheKernel adds to the same elements from here and from a program in the kernel at the same time.
func TestWithTheKernel(t *testing.T) {
	p := readAll(program(&ir.Global{Name: "n", Type: types.Long},
		&ir.Global{Name: "m", Type: types.Long, Keys: longKey()}))
	b := newBed(t, p, false)
	must(t, b.Set(1, key(5), long(0)))
	g := &b.globals[1]
	insns := asm.Instructions{
		asm.LoadMapPtr(asm.R1, g.m.FD()), asm.StoreImm(asm.RFP, -8, 5, asm.Word),
		asm.StoreImm(asm.RFP, -4, 0, asm.Word),
		asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, -8), asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "out"),
		asm.Mov.Imm(asm.R1, 1), asm.AddAtomic.Mem(asm.R0, asm.R1, asm.DWord, int16(g.ValueOff)),
		asm.LoadMapValue(asm.R2, b.col.Maps[plan.MapScalars].FD(), uint32(b.globals[0].ValueOff)),
		asm.AddAtomic.Mem(asm.R2, asm.R1, asm.DWord, 0),
		asm.Mov.Imm(asm.R0, 0).WithSymbol("out"), asm.Return(),
	}
	col, err := load.Load(&ebpf.CollectionSpec{Programs: map[string]*ebpf.ProgramSpec{"p": {Type: ebpf.SocketFilter,
		Instructions: insns, License: "GPL"}}}, load.Options{})
	must(t, err)
	defer col.Close()
	const total = 300000
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 100 {
			if _, err := kern.TestRun(col.Progs["p"].FD(), packet[:], total/100); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	var mine int64
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		for range 10 {
			_, err := b.Add(1, key(5), 1)
			must(t, err)
			_, err = b.Add(0, nil, 1)
			must(t, err)
			mine++
		}
	}
	v, ok, err := b.Get(1, key(5))
	must(t, err)
	n, _, err := b.Get(0, nil)
	must(t, err)
	if want := total + mine; !ok || v.Int != want || n.Int != want {
		t.Errorf("element %d, scalar %d, want %d (%d of them from here)", v.Int, n.Int, want, mine)
	}
}

func TestLocks(t *testing.T) {
	b := newBed(t, program(&ir.Global{Name: "n", Type: types.Long}), false)
	must(t, b.Lock(0))
	must(t, b.Lock(3))
	b.Unlock(3)
	if b.control[plan.CtlLocks+12] != 0 {
		t.Error("lock 3 is not free")
	}
	var wg sync.WaitGroup
	wg.Add(1)
	var waited time.Duration
	waits := make(chan bool)
	go func() {
		defer wg.Done()
		start := time.Now()
		close(waits)
		if err := b.Lock(0); err != nil {
			t.Error(err)
		}
		waited = time.Since(start)
	}()
	<-waits
	time.Sleep(20 * time.Millisecond)
	b.Unlock(0)
	wg.Wait()
	if waited < 20*time.Millisecond || waited > 10*time.Minute {
		t.Errorf("waited %v", waited)
	}
	b.lock(1).Store(3) // a handler on CPU 2 holds it and never comes back
	start := time.Now()
	if err := b.Lock(1); err != interp.ErrLocked {
		t.Errorf("got %v", err)
	}
	if d := time.Since(start); d < priority.Patience || d > priority.Patience+10*time.Minute {
		t.Errorf("gave up after %v", d)
	}
	b.Unlock(1) // not ours
	if b.lock(1).Load() != 3 {
		t.Error("somebody else's lock was released")
	}
	if err := b.Lock(5000); err == nil {
		t.Error("a lock that is not there")
	}
}

func TestNewRefuses(t *testing.T) {
	p := program(&ir.Global{Name: "n", Type: types.Long}, &ir.Global{Name: "m", Type: types.Long, Keys: longKey()})
	m := &load.Map{Name: "m", KeySize: 8, ValueSize: 8}
	ok := []plan.GlobalLayout{
		{Map: plan.MapScalars, ValueSize: 8, SeqOff: -1},
		{Map: "m", ValueSize: 8, SeqOff: -1, KeySize: 8, Keys: []plan.Column{{Off: 0, Size: 8}}},
	}
	try := func(change func(l []plan.GlobalLayout)) error {
		l := append([]plan.GlobalLayout(nil), ok...)
		l[1].Keys = append([]plan.Column(nil), ok[1].Keys...)
		change(l)
		_, err := New(Config{Program: p, Globals: l, Maps: map[string]*load.Map{"m": m}, Scalars: make([]byte, 8),
			CPUs: 1})
		return err
	}
	if err := try(func([]plan.GlobalLayout) {}); err != nil {
		t.Fatal(err)
	}
	for i, c := range []func(l []plan.GlobalLayout){
		func(l []plan.GlobalLayout) { l[0].ValueOff = 8 },
		func(l []plan.GlobalLayout) { l[0].ValueOff = -8 },
		func(l []plan.GlobalLayout) { l[1].Map = "x" },
		func(l []plan.GlobalLayout) { l[1].ValueOff = 4 },
		func(l []plan.GlobalLayout) { l[1].SeqOff = 8 },
		func(l []plan.GlobalLayout) { l[1].Keys[0].Off = 4 },
		func(l []plan.GlobalLayout) { l[1].Keys = nil },
		func(l []plan.GlobalLayout) { l[1].ValueSize = 4 },
	} {
		if err := try(c); err == nil {
			t.Errorf("layout %d was taken", i)
		}
	}
}

func BenchmarkAdd(b *testing.B) {
	bd := newBed(b, program(&ir.Global{Name: "m", Type: types.Long, Keys: longKey()}), false)
	for b.Loop() {
		bd.Add(0, key(1), 1)
	}
}

// BenchmarkElems lists 2000 aggregates that are kept per CPU.
func BenchmarkElems(b *testing.B) {
	p := readAll(program(&ir.Global{Name: "x", Type: types.Stats, Keys: longKey(), Size: 2048}))
	bd := newBed(b, p, true)
	for n := range int64(2000) {
		must(b, bd.AddStat(0, key(n), n))
	}
	b.ResetTimer()
	for b.Loop() {
		if es, err := bd.Elems(0); len(es) != 2000 || err != nil {
			b.Fatal(len(es), err)
		}
	}
}
