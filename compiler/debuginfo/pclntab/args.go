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

// ArgNode is one argument, or a part of one that is made of several.
type ArgNode struct {
	Arg
	// Aggregate: it is a structure, an array, a string, a slice, an interface or a complex number, with Parts, which
	// may be none. Off and Size of Arg are 0 then.
	Aggregate bool
	Parts     []ArgNode
	// Cut: it has more parts, which are not listed.
	Cut bool
}

// Leaves calls f with all parts that are no aggregates, in order.
func (n *ArgNode) Leaves(f func(Arg)) {
	if !n.Aggregate {
		f(n.Arg)
	}
	for i := range n.Parts {
		n.Parts[i].Leaves(f)
	}
}

// Whole reports whether all parts of n are listed, each with its place.
func (n *ArgNode) Whole() bool {
	if n.Cut || !n.Aggregate && n.Off < 0 {
		return false
	}
	for i := range n.Parts {
		if !n.Parts[i].Whole() {
			return false
		}
	}
	return true
}

// Args lists the parts of function i's arguments in order, about ten at most: all says that there are
// no more. A function whose name contains "[" has its first argument, receiver or
// dictionary, left out by the compiler. ok is false for functions without the information: assembly,
// and everything before Go 1.17.
func (t *Table) Args(i int) (args []Arg, all, ok bool) {
	nodes, all, ok := t.ArgTree(i)
	for k := range nodes {
		nodes[k].Leaves(func(a Arg) { args = append(args, a) })
		all = all && !nodes[k].cut()
	}
	return args, all, ok
}

func (n *ArgNode) cut() bool {
	for i := range n.Parts {
		if n.Parts[i].cut() {
			return true
		}
	}
	return n.Cut
}

// ArgTree gives function i's arguments as tracebacks show them, one by one: all says that there are no more, as Args.
func (t *Table) ArgTree(i int) (args []ArgNode, all, ok bool) {
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
	stack := []*ArgNode{{Aggregate: true}}
	top := func() *ArgNode { return stack[len(stack)-1] }
	for len(b) > 0 {
		op := b[0]
		b = b[1:]
		switch {
		case op == argEndSeq:
			if len(stack) != 1 {
				return nil, false, false
			}
			return top().Parts, !top().Cut, true
		case op == argStartAgg:
			stack = append(stack, &ArgNode{Aggregate: true})
		case op == argEndAgg:
			n := top()
			if stack = stack[:len(stack)-1]; len(stack) == 0 {
				return nil, false, false
			}
			top().Parts = append(top().Parts, *n)
		case op == argDotdotdot:
			top().Cut = true
		case op == argOffsetTooLarge:
			top().Parts = append(top().Parts, ArgNode{Arg: Arg{-1, 0}})
		case op >= argSpecial || len(b) == 0:
			return nil, false, false
		default:
			top().Parts = append(top().Parts, ArgNode{Arg: Arg{int64(op), int64(b[0])}})
			b = b[1:]
		}
	}
	return nil, false, false
}
