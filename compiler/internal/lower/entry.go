package lower

import (
	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/internal/sema"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/compiler/types"
)

// Values of a function's entry are kept until its return in two arrays that the compiler
// makes, one of numbers and one of strings. Their key says which call it is and which value. In
// Go programs the call is the goroutine and the distance of the frame from the top of the
// goroutine's stack, since thread numbers and stack addresses change under a goroutine; the
// goroutine's structure stands for it, as that never moves and system goroutines have no number
// of their own. In C programs it is the process and the frame's address, in the kernel the thread and that. A frame
// that never returns (it was skipped by a recover, or ended by Goexit) leaves values behind, which the next frame
// at the same place writes over, or which are evicted.

// slotKey names one value: part of t, -1 for t itself.
type slotKey struct {
	t    *elab.Target
	part int
}

// slot is one value that is kept.
type slot struct {
	key  slotKey
	expr ast.Expr // where it is used, for messages
	typ  types.Type
	glob int
	id   int64 // tells the values of one call apart
}

// of gives the key of s for a call.
func (s *slot) of(call []ir.Val) []ir.Val { return append(append([]ir.Val(nil), call...), ir.I(s.id)) }

// entryStore is what one probe keeps.
type entryStore struct{ slots []slot }

// Sizes of the arrays: so many calls at the same time for each value, within bounds. More calls
// than that lose values, which is counted.
const (
	entryLongs, maxEntryLongs     = 65536, 1 << 18
	entryStrings, maxEntryStrings = 4096, 1 << 14
)

// pairs lists the entry values that the live parts of pr use.
func (l *lowerer) pairs(pr *elab.Probe) []slot {
	var out []slot
	seen := map[slotKey]bool{}
	add := func(s slot) {
		if !seen[s.key] {
			seen[s.key] = true
			out = append(out, s)
		}
	}
	for _, b := range pr.Bodies {
		if b == nil {
			continue
		}
		sema.InspectLive(&pr.Info, b, func(n ast.Node) bool {
			e, ok := n.(ast.Expr)
			if !ok {
				return true
			}
			if _, folded := pr.Info.Const[e]; folded {
				return false
			}
			t := pr.Info.Targets[e]
			if t == nil || t.Err != nil {
				return true
			}
			if len(t.Pretty) > 0 {
				for i, p := range t.Pretty {
					if p.AtEntry {
						typ := types.Long
						if p.Conv == 's' || p.Conv == 'v' {
							typ = types.String
						}
						add(slot{key: slotKey{t, i}, expr: e, typ: typ})
					}
				}
			} else if t.AtEntry {
				typ := t.Type
				if t.Inner != nil {
					typ = pr.Info.Types[t.Inner]
				}
				if typ != types.String {
					typ = types.Long // of a float its bits
				}
				add(slot{key: slotKey{t, -1}, expr: e, typ: typ})
				return false // what is inside belongs to the entry
			}
			return true
		})
	}
	return out
}

// entryStore finds room for slots.
func (l *lowerer) entryStore(pr *elab.Probe, slots []slot) *entryStore {
	more, most := map[types.Type]int{types.Long: entryLongs, types.String: entryStrings},
		map[types.Type]int{types.Long: maxEntryLongs, types.String: maxEntryStrings}
	for _, c := range pr.Req.Comps {
		if c.Name == "maxactive" && c.Arg != nil && c.Arg.Num > 0 {
			n := int(min(c.Arg.Num, maxEntryLongs))
			more[types.Long], more[types.String] = n, n
		}
	}
	for i := range slots {
		s := &slots[i]
		g, ok := l.entries[s.typ]
		if !ok {
			name := "entry__" + s.typ.String()
			for l.taken(name) {
				name += "_"
			}
			long := ir.Key{Type: types.Long}
			gl := &ir.Global{Name: name, Pos: s.expr.Range().From, Type: s.typ, Keys: []ir.Key{long, long, long},
				Wrap: true, Internal: true}
			if s.typ == types.String {
				gl.Cap = l.maxStr()
			}
			g = l.out.AddGlobal(gl)
			l.entries[s.typ] = g
		}
		s.glob, s.id = g, int64(l.slots)
		l.slots++
		gl := l.out.Globals[g]
		gl.Size = min(gl.Size+more[s.typ], most[s.typ])
	}
	return &entryStore{slots}
}

// taken reports whether a global of the program has the name.
func (l *lowerer) taken(name string) bool {
	for _, g := range l.out.Globals {
		if g.Name == name {
			return true
		}
	}
	return false
}

// entryProbes makes the handlers at the entries of the functions that pr returns from, which need n. There is a
// store, a mark, or both.
func (l *lowerer) entryProbes(pr *elab.Probe, sites []*probe.Site, n need, store *entryStore, mark *slot) {
	parts, order := map[string]*part{}, []*part(nil)
	for _, s := range sites {
		order = addPart(parts, order, s, n)
	}
	for _, p := range order {
		l.entryHandler(pr, p, store, mark)
	}
	if len(order) == 0 && store != nil {
		l.ds.Errorf(diag.Semantic, CodePairing, store.slots[0].expr.Range(),
			"the entry of the function is not known, so its values cannot be kept")
	}
}

func (l *lowerer) entryHandler(pr *elab.Probe, p *part, store *entryStore, mark *slot) {
	f := l.newFn("", &pr.Info, p.ctx)
	f.pr, f.sites, f.inEntry = pr, p.sites, true
	f.next = func() { f.b.End() }
	at := pr.Req.Span
	if store != nil {
		at = store.slots[0].expr.Range()
	} else {
		store = &entryStore{}
	}
	f.at(at)
	f.fromCallers(p.sites)
	call := f.reading().frameOr(at, func() {
		if len(store.slots) > 0 {
			f.b.Skip(ir.SkipDead)
		} else {
			f.b.End()
		}
	})
	for i := range store.slots {
		s := &store.slots[i]
		f.at(s.expr.Range())
		var v ir.Val
		switch t := s.key.t; {
		case s.key.part >= 0:
			v = f.reading().prettyValue(t, s.key.part)
		case t.Inner != nil:
			v = f.expr(t.Inner)
		default:
			v = f.reading().target(s.expr)
		}
		f.at(s.expr.Range())
		f.b.OnGlobal(ir.OpMSet, s.glob, ir.NoReg, append(s.of(call), v)...)
	}
	if mark != nil {
		f.at(at)
		f.mark(mark, call)
	}
	f.b.End()
	l.out.Probes = append(l.out.Probes, &ir.Probe{
		Name: pr.Req.String() + " (entry)", Pos: at.From, Handler: f.b.Finish(), Sites: p.sites, Cond: -1,
	})
}

// takeEntry reads the entry values of the call that returns here and removes them. If its
// entry was not seen, or one of the values was evicted meanwhile, the hit is skipped and counted.
func (f reading) takeEntry(store *entryStore, call []ir.Val) {
	miss := f.b.Block()
	for i := range store.slots {
		s := &store.slots[i]
		have := f.b.Long("")
		f.b.OnGlobal(ir.OpMHas, s.glob, have, s.of(call)...)
		seen := f.b.Block()
		f.b.Branch(ir.R(have), seen, miss)
		f.to(seen)
		g := f.out.Globals[s.glob]
		r := f.b.Reg("", g.Type, g.Cap)
		f.b.OnGlobal(ir.OpMGet, s.glob, r, s.of(call)...)
		f.b.OnGlobal(ir.OpMDel, s.glob, ir.NoReg, s.of(call)...)
		f.entryVals[s.key] = ir.R(r)
	}
	run := f.b.Block()
	f.b.Jump(run)
	f.to(miss)
	f.b.Skip(ir.SkipNoEntry)
	f.to(run)
}

// frame computes which call this is. A hit without a goroutine is skipped.
func (f reading) frame(at source.Span) []ir.Val {
	return f.frameOr(at, func() { f.b.Skip(ir.SkipDead) })
}

// frameOr is frame with what is done without a goroutine.
func (f reading) frameOr(at source.Span, dead func()) []ir.Val {
	bad := func(why string) []ir.Val {
		d := f.ds.Errorf(diag.Semantic, CodePairing, at, "entries and returns cannot be matched here: %s", why)
		if s := f.ctx.site; s != nil {
			d.Note(source.Span{}, "at %s", s.Point)
		}
		return []ir.Val{ir.I(0), ir.I(0)}
	}
	if f.ctx.cfa.Empty() {
		return bad("the frame's address is not known")
	}
	if !f.ctx.goes {
		who, id := "tid", f.b.Long("")
		if f.ctx.site.Kind.InUser() {
			who = "pid" // a coroutine may go on in another thread; no two frames of a process have the same address
		}
		f.b.Intr(who, id)
		return []ir.Val{ir.R(id), f.loc(f.ctx.cfa, nil)}
	}
	g := f.ctx.g
	if g == nil || g.StackHi < 0 {
		return bad("where the goroutine's stack ends is not known for this program")
	}
	p := f.loc(g.G, nil)
	has, none := f.b.Block(), f.b.Block()
	f.b.Branch(p, has, none)
	f.to(none)
	dead()
	f.to(has)
	hi := f.b.Load(f.b.Bin(ir.OpAdd, p, ir.I(g.StackHi)), 8, false, false)
	return []ir.Val{p, f.b.Bin(ir.OpSub, hi, f.loc(f.ctx.cfa, nil))}
}
