package cdwarf

import (
	"debug/dwarf"

	"github.com/go-delve/delve/pkg/dwarf/godwarf"

	"github.com/gostap/gostap/compiler/debuginfo/dw"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/types"
)

// class is the class of an eightbyte (System V psABI for amd64, 3.2.3).
type class uint8

const (
	noClass class = iota
	integer
	sse
	sseUp // the upper half of a 16-byte vector
	x87
	x87Up
	memory
)

// classes are those of the two eightbytes of a value. MEMORY stands alone.
type classes [2]class

// classify says how values of t are passed. ok is false for types that it does not know.
func classify(t *types.Ctype) (c classes, ok bool) {
	if t == nil || t.Size < 0 {
		return c, false
	}
	if t.Size == 0 {
		return c, t.Kind == types.Struct || t.Kind == types.Union
	}
	if !classifyAt(t, 0, &c, 0) {
		return c, false
	}
	switch {
	case c[0] == memory || c[1] == memory || t.Size > 16 && !(t.Kind == types.Complex && c[0] == x87):
		c = classes{memory}
	case c[1] == x87Up && c[0] != x87:
		c = classes{memory}
	case c[1] == sseUp && c[0] != sse:
		c[1] = sse
	}
	return c, true
}

func classifyAt(t *types.Ctype, off int64, c *classes, depth int) bool {
	if t == nil || t.Size < 0 || depth > 32 {
		return false
	}
	if off+t.Size > 16 && t.Kind != types.Complex {
		if hasVector(t, 0) {
			return false // __m256 and larger go in registers, depending on the compiler's flags
		}
		c[0] = memory
		return true
	}
	put := func(off int64, k class) {
		if i := off / 8; i < 2 {
			c[i] = merge(c[i], k)
		}
	}
	scalar := func(size int64, k class) bool {
		if off%size != 0 {
			c[0] = memory // not aligned: packed
			return true
		}
		put(off, k)
		return true
	}
	switch t.Kind {
	case types.Int, types.Char, types.Bool, types.Enum, types.Pointer:
		if t.Size == 16 {
			put(off, integer)
			put(off+8, integer)
			return off == 0
		}
		return t.Size <= 8 && scalar(t.Size, integer)
	case types.Float:
		switch {
		case t.Size == 4 || t.Size == 8 || t.Size == 2:
			return scalar(t.Size, sse)
		case t.Size == 16 && isLongDouble(t):
			put(off, x87)
			put(off+8, x87Up)
			return off == 0
		case t.Size == 16:
			put(off, sse)
			put(off+8, sseUp)
			return off == 0
		}
		return false
	case types.Complex:
		switch t.Size {
		case 8, 16:
			half := t.Size / 2
			if off%half != 0 || off+t.Size > 16 {
				c[0] = memory
				return true
			}
			put(off, sse)
			put(off+half, sse)
			return true
		case 32:
			c[0], c[1] = x87, noClass
			if off != 0 || depth > 0 {
				c[0] = memory
			}
			return true
		}
		return false
	case types.Array:
		if t.Vector {
			put(off, sse)
			if t.Size == 16 {
				put(off+8, sseUp)
			}
			return off%t.Size == 0 && (t.Size == 8 || t.Size == 16)
		}
		e := t.Elem()
		if depth == 0 || e == nil || t.Count < 0 || t.Count > 16 {
			return false
		}
		for i := range t.Count {
			if !classifyAt(e, off+i*e.Size, c, depth+1) {
				return false
			}
		}
		return true
	case types.Struct, types.Union:
		for _, f := range t.Fields() {
			if f.BitSize > 0 {
				first := 8*(off+f.Off) + f.BitOff
				put(first/64*8, integer)
				put((first+f.BitSize-1)/64*8, integer)
				continue
			}
			if f.Type != nil && f.Type.Kind == types.Array && f.Type.Count < 0 {
				continue // a flexible array has no bytes of its own
			}
			if !classifyAt(f.Type, off+f.Off, c, depth+1) {
				return false
			}
		}
		return len(t.Fields()) > 0 || t.Size <= 1 // nothing in it is nowhere; C++ gives it a byte of room
	}
	return false
}

// hasVector reports whether t is a SIMD vector or contains one.
func hasVector(t *types.Ctype, depth int) bool {
	if t == nil || depth > 8 {
		return false
	}
	switch t.Kind {
	case types.Array:
		return t.Vector || hasVector(t.Elem(), depth+1)
	case types.Struct, types.Union:
		for _, f := range t.Fields() {
			if hasVector(f.Type, depth+1) {
				return true
			}
		}
	}
	return false
}

// merge is the class of an eightbyte that two fields share.
func merge(a, b class) class {
	switch {
	case a == b || b == noClass:
		return a
	case a == noClass:
		return b
	case a == memory || b == memory:
		return memory
	case a == integer || b == integer:
		return integer
	case a == x87 || a == x87Up || b == x87 || b == x87Up:
		return memory
	}
	return sse
}

func isLongDouble(t *types.Ctype) bool {
	switch t.Name {
	case "_Float128", "__float128", "_Float64x", "__ieee128":
		return t.Name == "_Float64x"
	}
	return true
}

// arguments applies the calling convention to the parameters of fn, at its first instruction. vector
// is whether one is in a vector register. The map is nil when the convention cannot be told: functions
// with classes of which that is not clear, old-style definitions with floats, copies that the optimiser gave
// parameters of its own. Where it cannot be told from some parameter on (structs on the stack, whose alignment
// DWARF does not always say), the rest is missing.
func (im reader) arguments(fn *function) (args map[dwarf.Offset]loc.Place, vector bool) {
	if _, suffix, _ := cloneOf(fn.Symbol); suffix != "" {
		return nil, false
	}
	args = map[dwarf.Offset]loc.Place{}
	intArgs := im.m.C.Args
	ints, floats := 0, 0
	stack, known := int64(0), true // bytes of arguments in memory, from the CFA up
	if t, err := im.d.TypeOf(fn.tree); err != nil {
		return nil, false
	} else if t.Kind != types.Void {
		c, ok := classify(t)
		switch im.passing(fn, fn.tree, t) {
		case dw.PassingUnknown:
			return nil, false
		case dw.ByReference:
			c, ok = classes{memory}, true
		}
		if !ok {
			return nil, false
		}
		if c[0] == memory {
			ints++ // the address of the result
		}
	}
	oldStyle := !dw.Flag(fn.tree, dwarf.AttrPrototyped) && isC(fn.u)
	for _, p := range fn.tree.Children {
		if p.Tag != dwarf.TagFormalParameter {
			continue
		}
		t, err := im.d.TypeOf(p)
		if err != nil {
			return nil, false
		}
		c, ok := classify(t)
		how := im.passing(fn, p, t)
		if how == dw.ByReference {
			addr := loc.Prog{}
			if ints < len(intArgs) {
				addr = loc.Register(intArgs[ints])
				ints++
			} else if known {
				addr = dw.EntryFrame(im.m).CFA.Plus(stack).Load(8, false, false)
				stack += 8
			} else {
				continue
			}
			args[p.Offset] = loc.Place{Type: t, InMemory: true, Addr: addr, Writable: true}
			continue
		}
		if !ok || how == dw.PassingUnknown || oldStyle && t.Kind == types.Float {
			return nil, false
		}
		ni, nf := 0, 0
		for _, k := range c {
			switch k {
			case integer:
				ni++
			case sse:
				nf++
			}
		}
		if c[0] == memory || c[0] == x87 || ints+ni > len(intArgs) || floats+nf > im.m.C.Vectors {
			if t.Kind == types.Struct || t.Kind == types.Union || t.Vector {
				known = false
			}
			if !known {
				continue
			}
			if t.Size == 16 { // long double, __int128
				stack = (stack + 15) &^ 15
			}
			args[p.Offset] = loc.Place{Type: t, InMemory: true, Addr: dw.EntryFrame(im.m).CFA.Plus(stack),
				Writable: true}
			stack += (t.Size + 7) &^ 7
			continue
		}
		pl := loc.Place{Type: t, Writable: true}
		for i, k := range c {
			off := 8 * int64(i)
			size := min(t.Size-off, 8)
			switch k {
			case integer:
				pl.Pieces = append(pl.Pieces, loc.Piece{Off: off, Size: size, Val: loc.Register(intArgs[ints])})
				ints++
			case sse:
				if i == 0 && c[1] == sseUp {
					size = t.Size
				}
				floats++
				vector = true
				pl.Pieces = append(pl.Pieces, loc.Piece{Off: off, Size: size, Vector: floats})
			}
		}
		args[p.Offset] = pl
	}
	return args, vector
}

func isC(u *dw.Unit) bool {
	switch u.Lang() {
	case dw.LangC, dw.LangC89, dw.LangC99, dw.LangC11, dw.LangC17, dw.LangC23:
		return true
	}
	return false
}

func isCpp(u *dw.Unit) bool {
	switch u.Lang() {
	case dw.LangCpp, dw.LangCpp03, dw.LangCpp11, dw.LangCpp14, dw.LangCpp17, dw.LangCpp20, dw.LangCpp23:
		return true
	}
	return false
}

// passing tells how a value of t, the type of e, a parameter of fn or fn itself, is handed over: by reference if it
// is of a class whose copying may be code. Of languages with a convention of their own (Rust) it is known for what
// has one register alone.
func (im reader) passing(fn *function, e godwarf.Entry, t *types.Ctype) dw.Passing {
	switch {
	case isC(fn.u):
		return dw.ByValue
	case !isCpp(fn.u):
		switch t.Kind {
		case types.Int, types.Bool, types.Char, types.Enum, types.Pointer, types.Float:
			if t.Size <= 8 {
				return dw.ByValue
			}
		}
		return dw.PassingUnknown
	case t.Kind != types.Struct && t.Kind != types.Union:
		return dw.ByValue
	}
	p, err := im.d.Passing(e)
	if err != nil {
		return dw.PassingUnknown
	}
	return p
}

// resultPlace is where a value of type t is right after the function returned, given how it is handed over.
func (im reader) resultPlace(t *types.Ctype, how dw.Passing) (loc.Place, string) {
	c, ok := classify(t)
	if how == dw.ByReference {
		c, ok = classes{memory}, true
	}
	switch {
	case !ok:
		return loc.Place{}, "how its type is returned is not known"
	case c[0] == memory:
		return loc.Place{Type: t, InMemory: true, Addr: loc.Register(im.m.C.Results[0]), Writable: true}, ""
	case c[0] == x87 || c[1] == x87:
		return loc.Place{}, "it is in a floating-point register (x87), which cannot be read"
	case c[0] == noClass:
		return loc.Place{Type: t}, ""
	}
	pl := loc.Place{Type: t, Writable: true}
	ints := im.m.C.Results
	ni, nf := 0, 0
	for i, k := range c {
		off := 8 * int64(i)
		size := min(t.Size-off, 8)
		switch k {
		case integer:
			pl.Pieces = append(pl.Pieces, loc.Piece{Off: off, Size: size, Val: loc.Register(ints[ni])})
			ni++
		case sse:
			if i == 0 && c[1] == sseUp {
				size = t.Size
			}
			nf++
			pl.Pieces = append(pl.Pieces, loc.Piece{Off: off, Size: size, Vector: nf})
		}
	}
	return pl, ""
}
