package insn

// Spill is an argument, or a part of one, that comes in a register: what the function does with it in front of a call
// for more room on the stack, behind which it begins again.
type Spill struct {
	// Reg is the DWARF number of a general or vector register, whose first Size bytes are kept.
	Reg int
	// Off is where, from the stack pointer at the function's entry.
	Off, Size int64
}

// maxSpills is how many there are at most: registers of both kinds.
const maxSpills = 32

// Spills tells which registers the Go function whose code begins at address entry takes arguments in: Go's assembler
// keeps all of them around the call for more stack, be they used or not, unless none is used. ok is false where it
// keeps none, and for a function without a check for room on the stack, or with one that is not understood. isMore
// recognises what is called.
func Spills(d Decoder, code []byte, entry uint64, isMore func(uint64) bool) (out []Spill, ok bool) {
	n := d.StackCheck(code)
	if n <= 0 || n > len(code) {
		return nil, false
	}
	target := uint64(0)
	err := Walk(d, code[:n], entry, func(pc uint64, in Inst) bool {
		if in.Kind == CondJump {
			target = in.Target(pc)
		}
		return true
	})
	if err != nil || target < entry {
		return nil, false
	}
	for at := target - entry; at < uint64(len(code)) && len(out) < maxSpills; {
		in, known := d.Decode(code[at:])
		switch {
		case !known:
			return nil, false
		case in.Kind == Nop || in.Kind == Nop5 || d.Fills(code[at:], in):
		case in.Kind == Call && isMore(in.Target(entry+at)):
			return out, len(out) > 0
		case in.Kind != Other:
			return nil, false
		default:
			u := d.Frame(code[at:])
			if !u.Writes || u.Unknown || u.Address || u.Reg < 0 {
				return nil, false
			}
			out = append(out, Spill{u.Reg, u.Off, u.Size})
		}
		at += uint64(in.Len)
	}
	return nil, false
}
