package interp

import (
	"fmt"
	"slices"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/types"
)

// A handler that loops over an array and prints it would hold the lock of its globals for as long as that takes,
// and every handler in the kernel that wants the lock meanwhile gives its hit up. Where all that a handler does with
// the globals of the class is to read them, and perhaps to empty some of them for certain, it needs the lock only for a
// moment: it takes a copy of what it reads, empties what it will empty, and goes on with the copy. That is what it
// would have seen, had it run in that moment.

// viewPlan says what such a handler takes with it.
type viewPlan struct {
	class  int
	reads  []int // globals
	clears []bool
}

// planView looks whether f is such a handler; nil if not, and where there is no loop that would make it worthwhile.
func planView(p *ir.Program, f *ir.Func) *viewPlan {
	var lock *ir.Instr
	at, index := 0, 0
	for b, bl := range f.Blocks {
		for i := range bl.Instrs {
			if bl.Instrs[i].Op != ir.OpLock {
				continue
			}
			if lock != nil {
				return nil
			}
			lock, at, index = &bl.Instrs[i], b, i
		}
	}
	if lock == nil {
		return nil
	}
	class := int(lock.N)
	inClass := func(g int) bool { return p.Globals[g].Class == class }
	plan := &viewPlan{class: class}
	add := func(g int, clears bool) {
		i := slices.Index(plan.reads, g)
		if i < 0 {
			i = len(plan.reads)
			plan.reads, plan.clears = append(plan.reads, g), append(plan.clears, false)
		}
		plan.clears[i] = plan.clears[i] || clears
	}
	long := false
	for _, bl := range f.Blocks {
		for i := range bl.Instrs {
			in := &bl.Instrs[i]
			switch in.Op {
			case ir.OpCall, ir.OpEmbed:
				if touchesClass(p, class) {
					return nil
				}
			case ir.OpGGet, ir.OpMGet, ir.OpMHas, ir.OpSGet, ir.OpPrintHist, ir.OpSprintHist:
				if inClass(in.Glob) {
					add(in.Glob, false)
				}
			case ir.OpIterOpen:
				if inClass(in.Glob) {
					add(in.Glob, false)
					long = true
				}
			case ir.OpMClear:
				if inClass(in.Glob) {
					add(in.Glob, true)
				}
			case ir.OpGSet, ir.OpGAdd, ir.OpMSet, ir.OpMAdd, ir.OpMDel, ir.OpSAdd:
				if inClass(in.Glob) {
					return nil
				}
			}
		}
	}
	if !long {
		return nil
	}
	for i, g := range plan.reads {
		if plan.clears[i] && mayKeep(f, at, index, g) {
			return nil
		}
	}
	return plan
}

// touchesClass reports whether any function of p, or C in it, may use a global of the class.
func touchesClass(p *ir.Program, class int) bool {
	if len(p.Codes) > 0 {
		return true
	}
	for _, f := range p.Funcs {
		for _, bl := range f.Blocks {
			for i := range bl.Instrs {
				if in := &bl.Instrs[i]; in.Op.OnGlobal() && p.Globals[in.Glob].Class == class {
					return true
				}
			}
		}
	}
	return false
}

// mayKeep reports whether f can come from its lock, instruction index of block at, to a regular end without clearing g.
func mayKeep(f *ir.Func, at, index, g int) bool {
	seen := make([]bool, len(f.Blocks))
	var walk func(b, from int) bool
	walk = func(b, from int) bool {
		bl := f.Blocks[b]
		for i := from; i < len(bl.Instrs); i++ {
			in := &bl.Instrs[i]
			if in.Op == ir.OpMClear && in.Glob == g {
				return false
			}
			if in.Op.CanFail() && in.OnErr != ir.NoBlock && !seen[in.OnErr] {
				seen[in.OnErr] = true
				if walk(int(in.OnErr), 0) {
					return true
				}
			}
		}
		var next []ir.BlockID
		switch bl.Term.Kind {
		case ir.TermJump:
			next = []ir.BlockID{bl.Term.Then}
		case ir.TermBranch:
			next = []ir.BlockID{bl.Term.Then, bl.Term.Else}
		case ir.TermFail:
			if bl.Term.OnErr == ir.NoBlock {
				return false // an error, which puts things back
			}
			next = []ir.BlockID{bl.Term.OnErr}
		default:
			return true
		}
		for _, n := range next {
			if !seen[n] {
				seen[n] = true
				if walk(int(n), 0) {
					return true
				}
			}
		}
		return false
	}
	return walk(at, index+1)
}

// plan has f, the decoded src, go on with copies where it can.
func (f *fn) plan(p *ir.Program, src *ir.Func) {
	plan := planView(p, src)
	for i := range f.code {
		if f.code[i].op == ir.OpLock {
			f.code[i].view = plan
		}
	}
}

// enterView goes on with a view in place of taking a lock. It stays until the handler ends: what a handler does behind
// its OpUnlock does not look at the globals of the class. ErrLocked if the lock was not to be had.
func (m *Machine) enterView(plan *viewPlan) error {
	v, err := takeView(m.p, m.store, plan)
	if err == nil {
		m.view, m.store = v, v
	}
	return err
}

func (m *Machine) leaveView() error {
	v := m.view
	m.view, m.store = nil, v.Store
	lost, err := v.putBack()
	for _, l := range lost {
		m.out.Warn(l)
	}
	return err
}

// view is a Store with the copies of a plan's globals; everything else is the store below.
type view struct {
	Store
	mem *MemStore
	has []bool
	// owed are the globals that were emptied below and not yet here, with what they held.
	owed map[int]bool
}

// Copier is implemented by Stores that can copy globals with their lock held for a very short time.
type Copier interface {
	// CopyLocked takes the lock of a class, copies globals, empties those for which clears is set, and lets the lock
	// go. It gives ErrLocked when the lock cannot be had.
	CopyLocked(class int, globs []int, clears []bool) ([]Copied, error)
}

// Copied is what a global held: the elements of an array, or a scalar.
type Copied struct {
	Elems []Elem
	Val   Val
	Agg   Agg
}

// CopyOf copies a global of s.
func CopyOf(s Store, g *ir.Global, i int) (c Copied, err error) {
	switch {
	case g.IsArray():
		c.Elems, err = s.Elems(i)
	case g.Type == types.Stats:
		c.Agg, _, err = s.Stat(i, nil)
	default:
		c.Val, _, err = s.Get(i, nil)
	}
	return c, err
}

// copies takes the lock, copies what the plan says and empties what it says.
func (plan *viewPlan) copies(p *ir.Program, s Store) ([]Copied, error) {
	if c, ok := s.(Copier); ok {
		return c.CopyLocked(plan.class, plan.reads, plan.clears)
	}
	if s.Lock(plan.class) != nil {
		return nil, ErrLocked
	}
	defer s.Unlock(plan.class)
	var out []Copied
	for i, g := range plan.reads {
		c, err := CopyOf(s, p.Globals[g], g)
		if err == nil && plan.clears[i] {
			err = s.Clear(g)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// takeView makes the copies.
func takeView(p *ir.Program, s Store, plan *viewPlan) (*view, error) {
	copies, err := plan.copies(p, s)
	if err != nil {
		return nil, err
	}
	v := &view{Store: s, mem: &MemStore{globs: make([]memGlobal, len(p.Globals)), limits: p.Limits},
		has: make([]bool, len(p.Globals)), owed: map[int]bool{}}
	for i, g := range plan.reads {
		m := &v.mem.globs[g]
		m.g, v.has[g] = p.Globals[g], true
		m.scalar, m.agg = copies[i].Val, copies[i].Agg
		if m.g.IsArray() {
			v.mem.fill(m, copies[i].Elems)
		}
		if plan.clears[i] {
			v.owed[g] = true
		}
	}
	return v, nil
}

// fill enters elements that came from another store.
func (s *MemStore) fill(m *memGlobal, elems []Elem) {
	m.elems = make(map[string]*memElem, len(elems))
	for i := range elems {
		m.append(&memElem{hash: string(s.encode(m.g, elems[i].Key)), key: elems[i].Key, val: elems[i].Val,
			agg: elems[i].Agg})
	}
}

// putBack gives back what was to be emptied when the handler ended before it came to that. Aggregates cannot be put
// together again: they are named in the error.
func (v *view) putBack() (lost []string, err error) {
	for g := range v.owed {
		m := &v.mem.globs[g]
		switch {
		case m.g.Type == types.Stats:
			if m.first != nil || m.agg.Count > 0 {
				lost = append(lost, fmt.Sprintf("%s was emptied although the handler did not come to its end",
					m.g.Name))
			}
		case m.elems == nil && m.g.Type == types.Long:
			_, err = v.Store.Add(g, nil, m.scalar.Int)
		case m.elems == nil:
			err = v.Store.Set(g, nil, m.scalar)
		default:
			for e := m.first; e != nil && err == nil; e = e.next {
				if m.g.Type == types.Long {
					_, err = v.Store.Add(g, e.key, e.val.Int)
				} else if _, ok, gerr := v.Store.Get(g, e.key); gerr == nil && !ok {
					err = v.Store.Set(g, e.key, e.val)
				}
			}
		}
	}
	slices.Sort(lost)
	return lost, err
}

func (v *view) of(g int) Store {
	if v.has[g] {
		return v.mem
	}
	return v.Store
}

// Get implements Store, as do the next ones.
func (v *view) Get(g int, k Key) (Val, bool, error)  { return v.of(g).Get(g, k) }
func (v *view) Stat(g int, k Key) (Agg, bool, error) { return v.of(g).Stat(g, k) }
func (v *view) Elems(g int) ([]Elem, error)          { return v.of(g).Elems(g) }
func (v *view) Clear(g int) error {
	delete(v.owed, g)
	return v.of(g).Clear(g)
}
