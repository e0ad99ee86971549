package insn

// Effects are what the code of a function does to the places of its variables.
type Effects struct {
	Stores []Store
	calls  []uint64            // where those end that leave no register as it was
	next   map[uint64][]uint64 // where instructions lead to, but for computed jumps
}

// Store is an instruction that writes to the frame, or some bytes of that.
type Store struct {
	PC        uint64
	Off, Size int64 // in bytes, Off from the canonical frame address
}

// Meets reports whether s and t have a byte in common.
func (s Store) Meets(t Store) bool { return s.Off < t.Off+t.Size && t.Off < s.Off+s.Size }

// NewEffects reads the function whose code begins at address base. keeps reports whether what a call leads to keeps all
// registers, or never returns. cfa is the distance from the stack pointer to the canonical frame address in front of an
// instruction. The error is a *CodeError.
func NewEffects(d Decoder, code []byte, base uint64, keeps func(target uint64) bool,
	cfa func(pc uint64) (int64, bool)) (*Effects, error) {
	x := &Effects{next: map[uint64][]uint64{}}
	err := Walk(d, code, base, func(pc uint64, in Inst) bool {
		end := pc + uint64(in.Len)
		if in.Kind == Jump || in.Kind == CondJump {
			x.next[pc] = append(x.next[pc], in.Target(pc))
		}
		switch in.Kind {
		case Jump, IndirectJump, Ret, Trap:
		default:
			x.next[pc] = append(x.next[pc], end)
		}
		switch {
		case in.Kind == IndirectCall, in.Kind == Call && !keeps(in.Target(pc)):
			x.calls = append(x.calls, end)
		case in.Kind == Other:
			u := d.Frame(code[pc-base:])
			if to, ok := cfa(pc); ok && u.Writes && !u.Unknown {
				x.Stores = append(x.Stores, Store{pc, u.Off - to, u.Size})
			}
		}
		return true
	})
	return x, err
}

// Lost reports whether a way from the end of a call leads to pc without leaving the addresses from lo to hi.
func (x *Effects) Lost(lo, pc, hi uint64) bool {
	var todo []uint64
	seen := map[uint64]bool{}
	for _, end := range x.calls {
		if lo < end && end < hi {
			todo = append(todo, end)
		}
	}
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[at] || at < lo || at >= hi {
			continue
		}
		if at == pc {
			return true
		}
		seen[at] = true
		todo = append(todo, x.next[at]...)
	}
	return false
}
