package symbols

import "github.com/gostap/gostap/compiler/debuginfo"

// A stack that a script keeps as text is a row of addresses: whose they are is not in it. The table remembers what
// it gave away.

// maxSaved bounds the addresses that are remembered.
const maxSaved = 1 << 18

// several says that an address was noted of processes that have different code there.
const several = ^uint32(0)

// Saw notes that a stack of pid becomes a text of addresses.
func (t *Table) Saw(pid uint32, stack Trace) {
	if t.saved == nil || len(t.saved) > maxSaved {
		t.saved, t.interrupted = map[uint64]uint32{}, map[uint64]bool{}
	}
	for _, i := range stack.Exact {
		t.interrupted[stack.PCs[i]] = true
	}
	for _, addr := range stack.PCs {
		was, ok := t.saved[addr]
		if ok && was != pid && (was == several || !t.same(was, pid, addr)) {
			t.saved[addr] = several
			continue
		}
		t.saved[addr] = pid
	}
}

// same reports whether two processes have the same code at addr.
func (t *Table) same(a, b uint32, addr uint64) bool {
	ma, mb := t.mapping(a, addr), t.mapping(b, addr)
	return ma != nil && mb != nil && ma.path == mb.path && addr-ma.lo+ma.off == addr-mb.lo+mb.off
}

// mapping is what pid has at addr.
func (t *Table) mapping(pid uint32, addr uint64) *mapping {
	if m := t.process(pid).find(addr); m != nil {
		return m
	}
	return t.mapped(pid, addr)
}

// Whose is the process that an address of a saved stack belongs to, otherwise if none was noted. Where programs
// have different code there it is the number of none, and the address has no name.
func (t *Table) Whose(addr uint64, otherwise uint32) uint32 {
	if pid, ok := t.saved[addr]; ok {
		return pid
	}
	return otherwise
}

// Caller names the code at an address of a saved stack that is not the first: the call before it, unless it was
// interrupted there.
func (t *Table) Caller(pid uint32, addr uint64) Frame { return t.Name(pid, addr, !t.interrupted[addr]) }

// At names the code at an address of which it is not known whether a call returns there. It is named by itself
// where a function begins and where the instruction before it is no call, else by that call: a function that ends
// in a call that never returns has the beginning of another function, or nothing, behind it, and the line of a call
// is not that of what comes next.
func (t *Table) At(pid uint32, addr uint64) Frame {
	f := t.Name(pid, addr, false)
	if n := len(f.Frames); n > 0 && f.Frames[n-1].Off == 0 {
		return f
	}
	p := t.process(pid)
	key := namedAddr{addr, either}
	if fr, ok := p.names[key]; ok {
		return fr
	}
	if r := t.Name(pid, addr, true); len(r.Frames) > 0 && t.called(pid, r) {
		f = r
	}
	if _, keep := p.names[namedAddr{addr, pc}]; keep {
		p.names[key] = f
	}
	return f
}

// called reports whether an address that was named as a return address is one: the instruction before it is a call.
func (t *Table) called(pid uint32, f Frame) bool {
	m := t.mapping(pid, f.Addr-1)
	if m == nil {
		return false
	}
	img := t.image(pid, m.path)
	if img == nil {
		return false
	}
	calls, ok := img.(debuginfo.Calls)
	fn := img.FuncAt(f.Rel)
	if !ok || fn == nil {
		return false
	}
	key := imageFunc{img, fn.Entry}
	rets, ok := t.returns[key]
	if !ok {
		if list, err := calls.Calls(fn); err == nil {
			rets = map[uint64]bool{}
			for _, c := range list {
				if !c.Jump {
					rets[c.Ret] = true
				}
			}
		}
		if t.returns == nil || len(t.returns) >= maxNames {
			t.returns = map[imageFunc]map[uint64]bool{}
		}
		t.returns[key] = rets
	}
	return rets[f.Rel+1]
}

// imageFunc is a function of an image, by where it begins.
type imageFunc struct {
	img   debuginfo.Image
	entry uint64
}
