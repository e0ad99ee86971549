package cdwarf

import (
	"debug/dwarf"

	"github.com/go-delve/delve/pkg/dwarf/godwarf"

	"github.com/gostap/gostap/compiler/debuginfo/clone"
	"github.com/gostap/gostap/compiler/debuginfo/dw"
	"github.com/gostap/gostap/compiler/debuginfo/dwtype"
	"github.com/gostap/gostap/compiler/debuginfo/elffile"
	"github.com/gostap/gostap/compiler/debuginfo/sysv"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/types"
)

// arguments applies the calling convention to the parameters of fn, at its first instruction. vector
// is whether one is in a vector register. The map is nil when the convention cannot be told: functions
// with classes of which that is not clear, old-style definitions with floats, copies that the optimiser gave
// parameters of its own. Where it cannot be told from some parameter on (structs on the stack, whose alignment
// DWARF does not always say), the rest is missing.
func (im reader) arguments(fn *function) (args map[dwarf.Offset]loc.Place, vector bool) {
	if _, suffix, _ := clone.Of(fn.Symbol); suffix != "" {
		return nil, false
	}
	args = map[dwarf.Offset]loc.Place{}
	intArgs := im.m.C.Args
	ints, floats := 0, 0
	stack, known := int64(0), true // bytes of arguments in memory, from the CFA up
	if t, err := im.types.TypeOf(fn.tree); err != nil {
		return nil, false
	} else if t.Kind != types.Void {
		c, ok := sysv.Classify(t)
		switch im.passing(fn, fn.tree, t) {
		case dwtype.PassingUnknown:
			return nil, false
		case dwtype.ByReference:
			c, ok = sysv.Classes{sysv.Memory}, true
		}
		if !ok {
			return nil, false
		}
		if c[0] == sysv.Memory {
			ints++ // the address of the result
		}
	}
	oldStyle := !dw.Flag(fn.tree, dwarf.AttrPrototyped) && isC(fn.u)
	for _, p := range fn.tree.Children {
		if p.Tag != dwarf.TagFormalParameter {
			continue
		}
		t, err := im.types.TypeOf(p)
		if err != nil {
			return nil, false
		}
		c, ok := sysv.Classify(t)
		how := im.passing(fn, p, t)
		if how == dwtype.ByReference {
			addr := loc.Prog{}
			if ints < len(intArgs) {
				addr = loc.Register(intArgs[ints])
				ints++
			} else if known {
				addr = elffile.EntryFrame(im.m).CFA.Plus(stack).Load(8, false, false)
				stack += 8
			} else {
				continue
			}
			args[p.Offset] = loc.Place{Type: t, InMemory: true, Addr: addr, Writable: true}
			continue
		}
		if !ok || how == dwtype.PassingUnknown || oldStyle && t.Kind == types.Float {
			return nil, false
		}
		ni, nf := 0, 0
		for _, k := range c {
			switch k {
			case sysv.Integer:
				ni++
			case sysv.SSE:
				nf++
			}
		}
		if c[0] == sysv.Memory || c[0] == sysv.X87 || ints+ni > len(intArgs) || floats+nf > im.m.C.Vectors {
			if t.Kind == types.Struct || t.Kind == types.Union || t.Vector {
				known = false
			}
			if !known {
				continue
			}
			if t.Size == 16 { // long double, __int128
				stack = (stack + 15) &^ 15
			}
			args[p.Offset] = loc.Place{Type: t, InMemory: true, Addr: elffile.EntryFrame(im.m).CFA.Plus(stack),
				Writable: true}
			stack += (t.Size + 7) &^ 7
			continue
		}
		pl := loc.Place{Type: t, Writable: true}
		for i, k := range c {
			off := 8 * int64(i)
			size := min(t.Size-off, 8)
			switch k {
			case sysv.Integer:
				pl.Pieces = append(pl.Pieces, loc.Piece{Off: off, Size: size, Val: loc.Register(intArgs[ints])})
				ints++
			case sysv.SSE:
				if i == 0 && c[1] == sysv.SSEUp {
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

func isCpp(u *dw.Unit) bool { return dw.IsCpp(u.Lang()) }

// passing tells how a value of t, the type of e, a parameter of fn or fn itself, is handed over: by reference if it
// is of a class whose copying may be code. Of languages with a convention of their own (Rust) it is known for what
// has one register alone.
func (im reader) passing(fn *function, e godwarf.Entry, t *types.Ctype) dwtype.Passing {
	switch {
	case isC(fn.u):
		return dwtype.ByValue
	case !isCpp(fn.u):
		switch t.Kind {
		case types.Int, types.Bool, types.Char, types.Enum, types.Pointer, types.Float:
			if t.Size <= 8 {
				return dwtype.ByValue
			}
		}
		return dwtype.PassingUnknown
	case t.Kind != types.Struct && t.Kind != types.Union:
		return dwtype.ByValue
	}
	p, err := im.types.Passing(e)
	if err != nil {
		return dwtype.PassingUnknown
	}
	return p
}
