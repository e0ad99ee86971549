package lower

import (
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/types"
)

// Calls that end without a return (an exception, a panic, longjmp) are told from the others by a note that the
// entry of the function leaves and its return takes away. Where an entry finds the note of a call with a frame in
// the same place, that call is over without having returned. What is left at the end, of processes that have ended,
// did not return either (ir.OpenCalls).

// openCalls is how many calls can be under way for all of them to be told; of more the oldest are forgotten.
const openCalls = 8192

// markSlot finds room for the notes about the calls of pr.
func (l *lowerer) markSlot(pr *elab.Probe) *slot {
	if l.open < 0 {
		name := ir.OpenCalls
		for l.taken(name) {
			name += "_"
		}
		long := ir.Key{Type: types.Long}
		l.open = l.out.AddGlobal(&ir.Global{Name: name, Pos: pr.Req.Span.From, Type: types.Long,
			Keys: []ir.Key{long, long, long}, Wrap: true, Internal: true, Size: openCalls})
	}
	s := &slot{typ: types.Long, glob: l.open, id: int64(l.slots)}
	l.slots++
	return s
}

// mark notes that a call is under way, with the process that makes it, and counts the one that was noted there
// before. It is the last that a handler does.
func (f *fn) mark(m *slot, call []ir.Val) {
	had, pid := f.b.Long(""), f.b.Long("")
	f.b.OnGlobal(ir.OpMHas, m.glob, had, m.of(call)...)
	f.b.Intr("pid", pid)
	f.b.OnGlobal(ir.OpMSet, m.glob, ir.NoReg, append(m.of(call), ir.R(pid))...)
	over, end := f.b.Block(), f.b.Block()
	f.b.Branch(ir.R(had), over, end)
	f.to(over)
	f.b.Skip(ir.LostUnwound)
	f.to(end)
}

// unmark takes the note about the call that returns here away.
func (f *fn) unmark(m *slot, call []ir.Val) {
	f.b.OnGlobal(ir.OpMDel, m.glob, ir.NoReg, m.of(call)...)
}

// unmarkOnly is unmark in a handler that does not ask which call it is.
func (f *fn) unmarkOnly(m *slot) {
	f.at(f.pr.Req.Span)
	body := f.b.Block()
	shared := f.snapshot()
	f.unmark(m, f.reading().frameOr(f.pr.Req.Span, func() { f.b.Jump(body) }))
	f.b.Jump(body)
	f.restore(shared)
	f.to(body)
}
