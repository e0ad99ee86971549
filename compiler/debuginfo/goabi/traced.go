package goabi

import "github.com/gostap/gostap/compiler/types"

// Traced gives the offsets and sizes of the words by which the compiler describes arguments in those slots for
// tracebacks.
func Traced(slots []Slot) [][2]int64 {
	w := argWalk{}
	for _, sl := range slots {
		if !w.visit(sl.Off, sl.Type, 0) {
			break
		}
	}
	return w.out
}

// argWalk repeats what the compiler does to describe arguments for tracebacks
// (cmd/compile/internal/ssagen, EmitArgInfo).
type argWalk struct {
	out [][2]int64 // offset, size
	n   int
}

const (
	argLimit    = 10 // internal/abi.TraceArgsLimit
	argMaxDepth = 5  // internal/abi.TraceArgsMaxDepth
)

func (w *argWalk) visit(off int64, t *types.Ctype, depth int) bool {
	if w.n >= argLimit {
		return false
	}
	word := func(o int64) bool {
		if w.n >= argLimit {
			return false
		}
		w.out = append(w.out, [2]int64{o, 8})
		w.n++
		return true
	}
	switch t.Kind {
	case types.Struct, types.Array, types.Complex, types.GoInterface, types.GoString, types.GoSlice:
	default:
		w.out = append(w.out, [2]int64{off, t.Size})
		w.n++
		return true
	}
	if depth++; depth >= argMaxDepth {
		w.n++
		return true
	}
	switch t.Kind {
	case types.GoInterface, types.GoString:
		_ = word(off) && word(off+8)
	case types.GoSlice:
		_ = word(off) && word(off+8) && word(off+16)
	case types.Complex:
		half := &types.Ctype{Kind: types.Float, Size: t.Size / 2}
		_ = w.visit(off, half, depth) && w.visit(off+half.Size, half, depth)
	case types.Array:
		if t.Count == 0 {
			w.n++
		}
		for k := range t.Count {
			if !w.visit(off+k*t.Elem().Size, t.Elem(), depth) {
				break
			}
		}
	case types.Struct:
		if len(t.Fields()) == 0 {
			w.n++
		}
		for _, f := range t.Fields() {
			if !w.visit(off+f.Off, f.Type, depth) {
				break
			}
		}
	}
	return true
}
