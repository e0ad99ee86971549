package ir

import (
	"fmt"
	"iter"
	"slices"

	"github.com/gostap/gostap/compiler/intrinsic"
)

// unsaid is the row of a function that is in no table.
var unsaid intrinsic.Func

// Builtin is the row of the function that an OpIntr calls. Of a name that stands for none, which Verify refuses, it
// says nothing.
func (in *Instr) Builtin() *intrinsic.Func {
	if f := intrinsic.Lookup(in.Name); f != nil {
		return f
	}
	return &unsaid
}

// MayFail reports whether in can really raise an error: some operations that have an OnErr
// never do, such as adding to a scalar aggregate.
func (p *Program) MayFail(in *Instr) bool {
	switch in.Op {
	case OpMSet, OpMAdd, OpSAdd:
		return p.Globals[in.Glob].IsArray() && !p.Globals[in.Glob].Wrap
	case OpSGet:
		return Stat(in.N) != StatCount && Stat(in.N) != StatSum
	case OpIntr:
		return in.Builtin().Fails != intrinsic.Never
	}
	return in.Op.CanFail()
}

// MayEnd reports whether in calls a function that can end the session.
func (in *Instr) MayEnd() bool {
	return in.Op == OpIntr && in.Builtin().MayEnd()
}

// Succs calls fn for every block that control can go to from b without an error, and then for every
// block that errors of b lead to.
func (f *Func) Succs(b BlockID, fn func(to BlockID, onErr bool)) {
	blk := f.Blocks[b]
	switch t := &blk.Term; t.Kind {
	case TermJump:
		fn(t.Then, false)
	case TermBranch:
		fn(t.Then, false)
		if t.Else != t.Then {
			fn(t.Else, false)
		}
	case TermFail:
		if t.OnErr != NoBlock {
			fn(t.OnErr, true)
		}
	}
	for i := range blk.Instrs {
		if in := &blk.Instrs[i]; in.Op.CanFail() && in.OnErr != NoBlock {
			fn(in.OnErr, true)
		}
	}
}

// PostOrder lists the blocks that can be reached, each behind those that it leads to, loops aside.
func (f *Func) PostOrder() (post []BlockID) {
	seen := make([]bool, len(f.Blocks))
	var visit func(BlockID)
	visit = func(b BlockID) {
		seen[b] = true
		f.Succs(b, func(to BlockID, _ bool) {
			if !seen[to] {
				visit(to)
			}
		})
		post = append(post, b)
	}
	visit(0)
	return post
}

// Reached goes through functions and those that they call, directly or through others; none of p's functions comes
// twice.
func (p *Program) Reached(from ...*Func) iter.Seq[*Func] {
	return func(yield func(*Func) bool) {
		seen := map[string]bool{}
		for work := from; len(work) > 0; {
			f := work[0]
			work = work[1:]
			if !yield(f) {
				return
			}
			for _, b := range f.Blocks {
				for i := range b.Instrs {
					in := &b.Instrs[i]
					if in.Op != OpCall || seen[in.Name] {
						continue
					}
					seen[in.Name] = true
					if c := p.Func(in.Name); c != nil && !slices.Contains(from, c) {
						work = append(work[:len(work):len(work)], c)
					}
				}
			}
		}
	}
}

// recursive finds the functions that can reach themselves through calls.
func (p *Program) recursive() map[string]bool {
	calls := map[string][]string{}
	for _, f := range p.Funcs {
		for _, b := range f.Blocks {
			for i := range b.Instrs {
				if b.Instrs[i].Op == OpCall {
					calls[f.Name] = append(calls[f.Name], b.Instrs[i].Name)
				}
			}
		}
	}
	// Tarjan's algorithm, with an explicit stack since the depth comes from the input.
	type node struct{ index, low int }
	nodes := map[string]*node{}
	on := map[string]bool{}
	var stack []string
	rec := map[string]bool{}
	type frame struct {
		name string
		next int
	}
	for _, f := range p.Funcs {
		if nodes[f.Name] != nil {
			continue
		}
		frames := []frame{{f.Name, 0}}
		for len(frames) > 0 {
			fr := &frames[len(frames)-1]
			n := nodes[fr.name]
			if n == nil {
				n = &node{len(nodes), len(nodes)}
				nodes[fr.name] = n
				stack = append(stack, fr.name)
				on[fr.name] = true
			}
			if fr.next < len(calls[fr.name]) {
				c := calls[fr.name][fr.next]
				fr.next++
				switch m := nodes[c]; {
				case m == nil:
					frames = append(frames, frame{c, 0})
				case on[c]:
					n.low = min(n.low, m.index)
				}
				if c == fr.name {
					rec[c] = true
				}
				continue
			}
			name := fr.name
			frames = frames[:len(frames)-1]
			if len(frames) > 0 {
				up := nodes[frames[len(frames)-1].name]
				up.low = min(up.low, n.low)
			}
			if n.low != n.index {
				continue
			}
			for size := 0; ; size++ {
				last := stack[len(stack)-1]
				stack = stack[:len(stack)-1]
				on[last] = false
				if last != name || size > 0 {
					rec[last] = true
				}
				if last == name {
					break
				}
			}
		}
	}
	return rec
}

// bitset is a set of small numbers.
type bitset []uint64

func (s bitset) has(i int) bool { return s[i>>6]>>(i&63)&1 != 0 }
func (s bitset) set(i int)      { s[i>>6] |= 1 << (i & 63) }
func (s bitset) clear(i int)    { s[i>>6] &^= 1 << (i & 63) }

// meet takes out of s what is not in t and reports whether that changed s.
func (s bitset) meet(t bitset) bool {
	changed := false
	for i := range s {
		n := s[i] & t[i]
		changed = changed || n != s[i]
		s[i] = n
	}
	return changed
}

// defined checks that registers, iterators and the pending error are set on every path to their
// use. It is a forward flow of sets, met by intersection.
func (v *verifier) defined() error {
	f := v.f
	iter0 := len(f.Regs)
	pending := iter0 + MaxIters
	words := pending>>6 + 1
	all := make([]uint64, words*(len(f.Blocks)+1))
	in := make([]bitset, len(f.Blocks))
	for i := range in {
		in[i] = all[i*words : (i+1)*words]
	}
	cur := bitset(all[len(f.Blocks)*words:])
	seen := make([]bool, len(f.Blocks))
	for _, r := range f.Params {
		in[0].set(int(r))
	}
	seen[0] = true
	work := []BlockID{0}
	reach := func(to BlockID, err bool) {
		had := cur.has(pending)
		if err {
			cur.set(pending)
		}
		if !seen[to] {
			seen[to] = true
			copy(in[to], cur)
			work = append(work, to)
		} else if in[to].meet(cur) {
			work = append(work, to)
		}
		if !had {
			cur.clear(pending)
		}
	}
	define := func(i *Instr) {
		if i.Op == OpIterOpen {
			cur.set(iter0 + i.Iter)
		}
		if i.Dst != NoReg {
			cur.set(int(i.Dst))
		}
	}
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		blk := f.Blocks[b]
		copy(cur, in[b])
		for j := range blk.Instrs {
			i := &blk.Instrs[j]
			if i.Op.CanFail() && i.OnErr != NoBlock {
				reach(i.OnErr, true)
			}
			define(i)
		}
		switch t := &blk.Term; t.Kind {
		case TermJump:
			reach(t.Then, false)
		case TermBranch:
			reach(t.Then, false)
			reach(t.Else, false)
		case TermFail:
			if t.OnErr != NoBlock {
				reach(t.OnErr, true)
			}
		}
	}
	use := func(vs ...Val) error {
		for _, a := range vs {
			if a.Kind == ValReg && !cur.has(int(a.Reg)) {
				return fmt.Errorf("r%d is not set on every path to here", a.Reg)
			}
		}
		return nil
	}
	for b, blk := range f.Blocks {
		if !seen[b] {
			continue
		}
		copy(cur, in[b])
		for j := range blk.Instrs {
			i := &blk.Instrs[j]
			err := use(i.Args...)
			switch i.Op {
			case OpIterNext, OpIterKey, OpIterVal:
				if !cur.has(iter0 + i.Iter) {
					err = fmt.Errorf("iterator %d is not open on every path to here", i.Iter)
				}
			case OpErrMsg, OpReport:
				if !cur.has(pending) {
					err = fmt.Errorf("no error is pending here")
				}
			}
			if err != nil {
				return fmt.Errorf("b%d, %s: %w", b, v.show(i), err)
			}
			define(i)
		}
		if err := use(append([]Val{blk.Term.Cond}, blk.Term.Args...)...); err != nil {
			return fmt.Errorf("b%d, end: %w", b, err)
		}
	}
	return nil
}

// locks checks that locks are paired on every path.
func (v *verifier) locks() error {
	if v.p.Locks == 0 {
		return nil // instr refused every lock
	}
	_, err := heldLocks(v.p, v.f)
	return err
}

// HeldLocks gives for each block the lock class that is held when it begins, -1 for none. An executor
// that ends a handler in the middle (OpBudget) releases what is held there. f must verify.
func (p *Program) HeldLocks(f *Func) []int {
	held, err := heldLocks(p, f)
	if err != nil {
		held = make([]int, len(f.Blocks))
		for i := range held {
			held[i] = -1
		}
	}
	return held
}

func heldLocks(p *Program, f *Func) ([]int, error) {
	const unknown = -2
	held := make([]int, len(f.Blocks))
	for i := range held {
		held[i] = unknown
	}
	held[0] = -1
	work := []BlockID{0}
	var err error
	reach := func(from, to BlockID, class int) {
		switch held[to] {
		case unknown:
			held[to] = class
			work = append(work, to)
		case class:
		default:
			err = fmt.Errorf("b%d: reached from b%d with lock %d held, from elsewhere with %d", to, from, class,
				held[to])
		}
	}
	for len(work) > 0 && err == nil {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		class := held[b]
		leave := func(what string) {
			if class >= 0 {
				err = fmt.Errorf("b%d: %s with lock %d held", b, what, class)
			}
		}
		blk := f.Blocks[b]
		for j := range blk.Instrs {
			switch i := &blk.Instrs[j]; {
			case i.Op == OpLock && class != -1:
				err = fmt.Errorf("b%d: lock %d while %d is held", b, i.N, class)
			case i.Op == OpLock:
				class = int(i.N)
			case i.Op == OpUnlock && class != int(i.N):
				err = fmt.Errorf("b%d: unlock %d while %d is held", b, i.N, class)
			case i.Op == OpUnlock:
				class = -1
			case i.Op.CanFail() && p.MayFail(i):
				if i.OnErr == NoBlock {
					leave("an error leaves the handler")
				} else {
					reach(b, i.OnErr, class)
				}
			case i.Op.CanFail() && i.OnErr != NoBlock:
				reach(b, i.OnErr, class)
			}
		}
		switch t := &blk.Term; t.Kind {
		case TermJump:
			reach(b, t.Then, class)
		case TermBranch:
			reach(b, t.Then, class)
			reach(b, t.Else, class)
		case TermFail:
			if t.OnErr == NoBlock {
				leave("the handler fails")
			} else {
				reach(b, t.OnErr, class)
			}
		default:
			leave("the handler ends")
		}
	}
	for i, h := range held {
		if h == unknown {
			held[i] = -1
		}
	}
	return held, err
}

// Nesting is how deep calls may go from a handler: MAXNESTING if that is set, else the longest
// chain of calls in the program, and 10 more when a function can reach itself.
func (p *Program) Nesting() int {
	if p.Limits.MaxNesting > 0 {
		return p.Limits.MaxNesting
	}
	funcs := make(map[string]*Func, len(p.Funcs))
	for _, f := range p.Funcs {
		funcs[f.Name] = f
	}
	depth := map[*Func]int{}
	rec := false
	var below func(f *Func) int
	below = func(f *Func) int {
		if d, ok := depth[f]; ok {
			rec = rec || d < 0
			return max(d, 0)
		}
		depth[f] = -1 // being looked at
		d := 0
		for _, b := range f.Blocks {
			for i := range b.Instrs {
				if in := &b.Instrs[i]; in.Op == OpCall && funcs[in.Name] != nil {
					d = max(d, 1+below(funcs[in.Name]))
				}
			}
		}
		depth[f] = d
		return d
	}
	most := 0
	for _, pr := range p.Probes {
		most = max(most, below(pr.Handler))
	}
	if rec {
		most += 10
	}
	return most
}

// PrintedOnly finds the registers with one definition that only print statements read.
func PrintedOnly(f *Func) []bool {
	ok := make([]bool, len(f.Regs))
	defs := make([]int, len(f.Regs))
	for i := range ok {
		ok[i] = true
	}
	read := func(v Val, print bool) {
		if v.IsReg() && !print {
			ok[v.Reg] = false
		}
	}
	for _, b := range f.Blocks {
		for i := range b.Instrs {
			in := &b.Instrs[i]
			for _, a := range in.Args {
				read(a, in.Op == OpPrint)
			}
			if in.Dst != NoReg {
				defs[in.Dst]++
			}
		}
		read(b.Term.Cond, false)
		for _, a := range b.Term.Args {
			read(a, false)
		}
	}
	for i := range ok {
		ok[i] = ok[i] && defs[i] == 1
	}
	return ok
}
