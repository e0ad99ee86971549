package backend

import "encoding/binary"

// Keeper is implemented by Sessions whose handlers keep stacks.
type Keeper interface {
	// Keeps reports whether any handler does.
	Keeps() bool
	// Stack gives a stack by its number, which a handler has passed on; ok is false if there is none.
	Stack(number int64) (s KeptStack, ok bool, err error)
}

// KeptStack is a stack of the kernel, or of the program with the number Tgid: return addresses, innermost first, as of
// wire.Stack.
type KeptStack struct {
	PCs  []uint64
	User bool
	Tgid uint32
	// Walked says that the handler has found each caller for sure, and not by frame pointers alone: Cut then tells
	// whether the stack goes on, Exact are the indexes, other than 0, of places that were interrupted.
	Walked, Cut bool
	Exact       []int
	// Created is the address to which the go statement returned that made the goroutine, 0 if it does not belong to the
	// stack. It lies below all PCs.
	Created uint64
	// Folded are its functions where nothing else is known of it, as another machine has them: the outermost first,
	// with semicolons between.
	Folded string
}

// MaxStacks is how many different stacks a session keeps.
const MaxStacks = 1 << 14

// What the fourth word of a stack says that an executor keeps, for one of a program: StackWalked was walked by tables,
// StackCut goes on and nothing is known of that, the last address of StackCreated is that of the go statement.
const StackUser, StackWalked, StackCut, StackCreated = 1, 2, 4, 8

// Interrupted is set in addresses of a kept stack that was walked where it was interrupted, and no call returns to; not
// in the first.
const (
	InterruptedBit = 63
	Interrupted    = 1 << InterruptedBit
)

// KeptHead is the bytes of a kept stack in front of its addresses.
const KeptHead = 16

// ParseKept takes a stack apart that an executor keeps: u32 n, u32 room, u32 tgid, u32 0 for the kernel's or else
// StackUser with others, and the addresses. ok is false if it is none.
func ParseKept(val []byte) (out KeptStack, ok bool) {
	if len(val) < KeptHead {
		return out, false
	}
	word := func(i int) uint32 { return binary.NativeEndian.Uint32(val[4*i:]) }
	n, is := int(word(0)), word(3)
	if n == 0 && is&StackCut == 0 || n > (len(val)-KeptHead)/8 {
		return out, false
	}
	out = KeptStack{Tgid: word(2), User: is != 0, Walked: is&StackWalked != 0, Cut: is&StackCut != 0}
	for i := range n {
		pc := binary.NativeEndian.Uint64(val[KeptHead+8*i:])
		if out.Walked && i > 0 && pc&Interrupted != 0 {
			pc &^= Interrupted
			out.Exact = append(out.Exact, i)
		}
		out.PCs = append(out.PCs, pc)
	}
	if is&StackCreated != 0 && n > 0 {
		out.Created, out.PCs = out.PCs[n-1], out.PCs[:n-1]
	}
	return out, true
}
