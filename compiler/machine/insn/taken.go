package insn

// maxTaken is how many instructions Taken looks at.
const maxTaken = 200

// Taken reports what becomes of that which a call has left in DWARF register reg: whether some way through code from
// pc on, which is behind the call, reads it before it is overwritten, and whether one comes to a return with it. code
// begins at address base. Ways are followed over direct jumps, and end where it is not known what happens to reg.
func Taken(d Decoder, code []byte, base, pc uint64, reg int) (taken, returned bool) {
	left, seen := maxTaken, map[uint64]bool{}
	todo := []uint64{pc}
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for ; !seen[at] && left > 0 && at >= base && at-base < uint64(len(code)); left-- {
			seen[at] = true
			b := code[at-base:]
			in, ok := d.Decode(b)
			if !ok {
				break
			}
			next := at + uint64(in.Len)
			switch in.Kind {
			case Jump:
				at = in.Target(at)
				continue
			case CondJump:
				todo = append(todo, in.Target(at))
				at = next
				continue
			case Nop, Nop5, Push:
				at = next
				continue
			case Ret:
				returned = true
			case Other:
				if d.Takes(b, reg) {
					return true, returned
				}
				if use, _ := d.Into(b, reg, 8); use == Keeps {
					at = next
					continue
				}
			}
			break
		}
	}
	return false, returned
}
