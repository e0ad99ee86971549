package insn

// maxDead is how many instructions Dead looks at.
const maxDead = 64

// Dead reports whether every way through code from pc on overwrites DWARF register reg before an
// instruction reads it. code begins at address base. It follows direct jumps; what is not known is
// taken for a reader: calls, other jumps, ways out of code, and instructions that are not common. A return counts as
// one unless freed says that the caller has no use for reg.
func Dead(d Decoder, code []byte, base, pc uint64, reg int, freed bool) bool {
	left := maxDead
	seen := map[uint64]bool{}
	todo := []uint64{pc}
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for !seen[at] {
			seen[at] = true
			if left--; left < 0 || at < base || at-base >= uint64(len(code)) {
				return false
			}
			b := code[at-base:]
			in, ok := d.Decode(b)
			if !ok {
				return false
			}
			next := at + uint64(in.Len)
			switch in.Kind {
			case Nop, Nop5:
				at = next
				continue
			case Jump:
				at = in.Target(at)
				continue
			case CondJump:
				todo = append(todo, in.Target(at))
				at = next
				continue
			case Ret:
				if !freed {
					return false
				}
				continue // seen: this way has come to its end
			case Other, Push:
			default:
				return false
			}
			reads, sets := d.Effect(b, reg)
			if reads {
				return false
			}
			if sets {
				break
			}
			at = next
		}
	}
	return true
}
