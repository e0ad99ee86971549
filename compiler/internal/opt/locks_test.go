package opt

import (
	"math/rand/v2"
	"testing"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/interp"
	"github.com/gostap/gostap/compiler/ir/irgen"
	"github.com/gostap/gostap/compiler/ir/textfmt"
)

// watch is a store and an output that note what one run of a handler does.
type watch struct {
	*interp.MemStore
	p *ir.Program
	// deny makes locks fail.
	deny bool

	held     int
	taken    int
	accesses int // to Shared globals
	outside  int // of those, without the lock of their class
	unheld   int // to globals with a class whose lock is not held
	traces   int // prints and writes
}

func (w *watch) begin() {
	w.held, w.taken, w.accesses, w.outside, w.unheld, w.traces = -1, 0, 0, 0, 0, 0
}

func (w *watch) access(g int, write bool) {
	gl := w.p.Globals[g]
	if write {
		w.traces++
	}
	if gl.Sharing != ir.Shared {
		return
	}
	w.accesses++
	if w.held < 0 || gl.Class != w.held {
		w.outside++
		if gl.Class >= 0 {
			w.unheld++
		}
	}
}

func (w *watch) Get(g int, k interp.Key) (interp.Val, bool, error) {
	w.access(g, false)
	return w.MemStore.Get(g, k)
}
func (w *watch) Set(g int, k interp.Key, v interp.Val) error {
	w.access(g, true)
	return w.MemStore.Set(g, k, v)
}
func (w *watch) Add(g int, k interp.Key, n int64) (int64, error) {
	w.access(g, true)
	return w.MemStore.Add(g, k, n)
}
func (w *watch) Delete(g int, k interp.Key) error {
	w.access(g, true)
	return w.MemStore.Delete(g, k)
}
func (w *watch) Clear(g int) error {
	w.access(g, true)
	return w.MemStore.Clear(g)
}
func (w *watch) AddStat(g int, k interp.Key, v int64) error {
	w.access(g, true)
	return w.MemStore.AddStat(g, k, v)
}
func (w *watch) Stat(g int, k interp.Key) (interp.Agg, bool, error) {
	w.access(g, false)
	return w.MemStore.Stat(g, k)
}
func (w *watch) Elems(g int) ([]interp.Elem, error) {
	w.access(g, false)
	return w.MemStore.Elems(g)
}
func (w *watch) Lock(class int) error {
	w.taken++
	if w.deny {
		return interp.ErrLocked
	}
	w.held = class
	return nil
}
func (w *watch) Unlock(int) { w.held = -1 }

func (w *watch) Print([]byte)           { w.traces++ }
func (w *watch) Warn(string)            { w.traces++ }
func (w *watch) Log(string)             { w.traces++ }
func (w *watch) Error(f *textfmt.Fault) {}
func (w *watch) Exit()                  { w.traces++ }

// TestLocksHold: in random programs, handlers that can interleave touch globals of a class only with its
// lock, take it at most once, are atomic, and leave no trace when they do not get it.
func TestLocksHold(t *testing.T) {
	locked, skipped := 0, 0
	for seed := range uint64(600) {
		p := irgen.Program(rand.New(rand.NewPCG(seed, 11)))
		Run(p, Options{Off: seed%2 == 0})
		if p.Locks == 0 {
			continue
		}
		for _, deny := range []bool{false, true} {
			w := &watch{MemStore: interp.NewMemStore(p), p: p, deny: deny}
			m, err := interp.New(p, w, w)
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				for i, pr := range p.Probes {
					w.begin()
					res, err := m.Run(i, &irgen.Context{At: pr.Sites[0], All: seed%3 == 0})
					if err != nil {
						t.Fatal(err)
					}
					if !concurrent(pr) {
						if w.taken > 0 {
							t.Fatalf("probe %d runs alone but takes a lock\n%s", i, p)
						}
						continue
					}
					lockSkip := res.Skipped && res.Cause == ir.SkipLock
					switch {
					case w.held >= 0:
						t.Fatalf("probe %d: lock %d is still held\n%s", i, w.held, p)
					case w.taken > 1:
						t.Fatalf("probe %d takes its lock %d times\n%s", i, w.taken, p)
					case w.unheld > 0:
						t.Fatalf("probe %d: %d accesses without the lock\n%s", i, w.unheld, p)
					case w.accesses > 1 && w.outside > 0:
						t.Fatalf("probe %d is not atomic: %d of %d accesses outside\n%s", i, w.outside, w.accesses, p)
					case lockSkip != (deny && w.taken > 0):
						t.Fatalf("probe %d: result %v\n%s", i, res, p)
					case lockSkip && w.traces > 0:
						t.Fatalf("probe %d was skipped but left %d traces\n%s", i, w.traces, p)
					}
					if w.taken > 0 && !deny {
						locked++
					}
					if lockSkip {
						skipped++
					}
				}
			}
		}
	}
	if locked < 100 || skipped < 100 {
		t.Errorf("only %d runs took a lock and %d were skipped", locked, skipped)
	}
}

// TestLocksApart: where handlers need not be atomic, those that touch more than one element take no lock, and strings
// are whole all the same.
func TestLocksApart(t *testing.T) {
	taken, spared := 0, 0
	for seed := range uint64(600) {
		all := irgen.Program(rand.New(rand.NewPCG(seed, 11)))
		some := irgen.Program(rand.New(rand.NewPCG(seed, 11)))
		Run(all, Options{})
		Run(some, Options{Apart: true})
		for i, pr := range some.Probes {
			l := newLocker(some, true)
			whole := 0
			eachInstr(pr.Handler, func(in *ir.Instr) {
				if l.weight(in) > 1 {
					whole++
				}
			})
			has := func(p *ir.Program) (n int) {
				eachInstr(p.Probes[i].Handler, func(in *ir.Instr) {
					if in.Op == ir.OpLock {
						n++
					}
				})
				return n
			}
			if concurrent(pr) && whole > 0 && has(some) == 0 {
				t.Errorf("probe %d takes no lock\n%s", i, some)
			}
			if has(some) > 0 {
				taken++
			} else if has(all) > 0 {
				spared++
			}
		}
	}
	if taken < 100 || spared < 20 {
		t.Errorf("only %d handlers took a lock and %d were spared one", taken, spared)
	}
}
