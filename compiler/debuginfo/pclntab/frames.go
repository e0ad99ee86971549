package pclntab

import (
	"slices"

	"github.com/gostap/gostap/compiler/debuginfo/cfi"
)

// FrameRows packs what Pushed tells of function i, of one that keeps to the stack that it is called on.
func (t *Table) FrameRows(i int) (rows []cfi.Row) {
	r := t.record(i)
	if r == nil {
		return nil
	}
	saved := cfi.PackBelow
	if t.Flags(i)&FlagAsm != 0 { // which may have a frame without
		saved = cfi.PackLost
	}
	p := t.pcvalue(le.Uint32(r[recPCSP:]), t.Entry(i))
	add := func(pc uint64, depth int64) {
		rule := cfi.Packed(cfi.PackUnknown)
		if depth == 0 {
			rule = cfi.PackFrame(8, 0)
		} else if depth > 0 {
			rule = cfi.PackFrame(depth+8, saved)
		}
		if n := len(rows); n == 0 || rows[n-1].Rule != rule {
			rows = append(rows, cfi.Row{PC: pc, Rule: rule})
		}
	}
	at := t.Entry(i)
	for p.next() && p.pc > at {
		add(at, int64(p.val))
		at = p.pc
	}
	add(at, -1)
	return rows
}

// FrameChanges lists the addresses in function i at which what it has pushed may change, and others, sorted.
func (t *Table) FrameChanges(i int, others ...uint64) []uint64 {
	if r := t.record(i); r != nil {
		p := t.pcvalue(le.Uint32(r[recPCSP:]), t.Entry(i))
		for at := t.Entry(i); ; at = p.pc {
			others = append(others, at)
			if !p.next() || p.pc <= at {
				break
			}
		}
	}
	slices.Sort(others)
	return others
}
