package pclntab

// Arg is one word, or smaller part, of a function's arguments.
type Arg struct {
	// Off is where it is, or would be spilled to if it comes in a register, from the canonical
	// frame address. -1: further away than the table can say.
	Off, Size int64
}

// Operations of FUNCDATA_ArgInfo (internal/abi, type.go).
const (
	argEndSeq         = 0xff
	argStartAgg       = 0xfe
	argEndAgg         = 0xfd
	argDotdotdot      = 0xfc
	argOffsetTooLarge = 0xfb
	argSpecial        = 0xf0
	argMaxLen         = 256
)

// Args lists the parts of function i's arguments in order, about ten at most: all says that there are
// no more. A function whose name contains "[" has its first argument, receiver or
// dictionary, left out by the compiler. ok is false for functions without the information: assembly,
// and everything before Go 1.17.
func (t *Table) Args(i int) (args []Arg, all, ok bool) {
	r := t.record(i)
	if r == nil || t.mem == nil {
		return nil, false, false
	}
	at := t.funcdata(r, funcdataArgInfo)
	if at == 0 {
		return nil, false, false
	}
	b, err := t.mem(at, argMaxLen)
	if err != nil {
		return nil, false, false
	}
	all = true
	for len(b) > 0 {
		op := b[0]
		b = b[1:]
		switch {
		case op == argEndSeq:
			return args, all, true
		case op == argStartAgg || op == argEndAgg:
		case op == argDotdotdot:
			all = false
		case op == argOffsetTooLarge:
			args = append(args, Arg{-1, 0})
		case op >= argSpecial || len(b) == 0:
			return nil, false, false
		default:
			args = append(args, Arg{int64(op), int64(b[0])})
			b = b[1:]
		}
	}
	return nil, false, false
}
