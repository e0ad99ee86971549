package insn

// Again is how a Go function begins again, once its check for room on the stack has failed: it calls the runtime, which
// makes room or lets others run, and then jumps to its first byte. In front of the call it saves the argument registers
// that it will use, and restores them behind it. In all others is what the runtime has left there.
type Again struct {
	More uint64 // what is called
	From uint64 // where the call returns to
	// Restored are the registers, of those that were asked about, that are restored.
	Restored map[int]bool
}

// maxAgain is how many instructions BeginsAgain looks at.
const maxAgain = 64

// BeginsAgain finds out how the function whose code begins at address entry begins again. check is the address behind
// its stack check, isMore recognises what the runtime has for such calls, regs are the registers to know about. ok is
// false where it is not told.
func BeginsAgain(d Decoder, code []byte, entry, check uint64, isMore func(uint64) bool, regs []int) (a Again, ok bool) {
	at := uint64(0)
	if Walk(d, code, entry, func(pc uint64, in Inst) bool {
		if in.Kind == CondJump && pc < check {
			at = in.Target(pc)
		}
		return pc < check
	}) != nil || at <= check {
		return a, false
	}
	a.Restored = map[int]bool{}
	for range maxAgain {
		if at < entry || at-entry >= uint64(len(code)) {
			return a, false
		}
		b := code[at-entry:]
		in, known := d.Decode(b)
		switch {
		case !known:
			return a, false
		case in.Kind == Jump:
			return a, a.From != 0 && in.Target(at) == entry
		case in.Kind == Call:
			if a.From != 0 || !isMore(in.Target(at)) {
				return a, false
			}
			a.More, a.From = in.Target(at), at+uint64(in.Len)
		case in.Kind != Other && in.Kind != Nop && in.Kind != Nop5:
			return a, false
		case a.From != 0:
			for _, r := range regs {
				if use, _ := d.Into(b, r, 1); use != Keeps {
					a.Restored[r] = true
				}
			}
		}
		at += uint64(in.Len)
	}
	return a, false
}
