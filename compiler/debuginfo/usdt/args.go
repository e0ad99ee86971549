package usdt

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/machine"
	"github.com/gostap/gostap/compiler/machine/insn"
	"github.com/gostap/gostap/compiler/types"
)

// An argument is written SIZE@OPERAND: the bytes, negative if signed, with an f behind for floating-point numbers, and
// an operand of the assembler. Notes of the first versions have no SIZE@: such arguments are words.

// args reads the arguments of a note.
func (f *File) args(text string) []*debuginfo.Var {
	var vars []*debuginfo.Var
	for i, s := range strings.Fields(text) {
		v := &debuginfo.Var{Name: fmt.Sprintf("arg%d", i+1), Kind: debuginfo.Param, Type: intType(8, true)}
		size, operand, ok := strings.Cut(s, "@")
		if !ok {
			size, operand = "-8", s
		}
		if err := f.arg(v, size, operand); err != nil {
			v.Err = &debuginfo.NotLiveError{Name: v.Name, Reason: err.Error()}
		}
		vars = append(vars, v)
	}
	return vars
}

func (f *File) arg(v *debuginfo.Var, size, operand string) error {
	size, float := strings.CutSuffix(size, "f")
	n, err := strconv.Atoi(size)
	signed := n < 0
	n = max(n, -n)
	switch {
	case err != nil || n != 1 && n != 2 && n != 4 && n != 8:
		return fmt.Errorf("the note says that it has %q bytes", size)
	case float:
		v.Type = &types.Ctype{Kind: types.Float, Name: map[int]string{4: "float", 8: "double"}[n], Size: int64(n),
			Signed: true}
	default:
		v.Type = intType(n, signed)
	}
	v.Place = loc.Place{Type: v.Type}
	m := cmp.Or(f.Machine, machine.Default)
	o, err := m.Operand(operand)
	if err != nil {
		return err
	}
	switch o.Kind {
	case insn.InVector:
		v.Place.Pieces = []loc.Piece{{Size: int64(n), Vector: o.Reg + 1}}
	case insn.InRegister:
		val := loc.Register(o.Reg)
		if o.Shift > 0 {
			val = val.Then(loc.Step{Op: loc.Bits, N: int64(o.Shift), Size: 8 * o.Size})
		}
		v.Place.Pieces = []loc.Piece{{Size: int64(n), Val: val, Part: n < 8}} // only the bits of that name are defined
	case insn.Constant:
		v.Place.Pieces = []loc.Piece{{Size: int64(n), Val: loc.Constant(o.Const)}}
	default:
		addr, err := f.memory(o)
		if err != nil {
			return err
		}
		v.Place.InMemory, v.Place.Addr, v.Place.Writable = true, addr, true
	}
	return nil
}

// memory makes the address of an operand in memory.
func (f *File) memory(o insn.Operand) (addr loc.Prog, err error) {
	if o.Base >= 0 {
		addr = loc.Register(o.Base)
	}
	if o.Index >= 0 {
		index := loc.Register(o.Index)
		if o.Scale > 1 {
			index = index.With(loc.Constant(o.Scale), loc.Step{Op: loc.Mul})
		}
		addr = plus(addr, index)
	}
	if o.Symbol != "" {
		p, ok := loc.Prog{}, false
		if f.Symbol != nil && !o.Thread {
			p, ok = f.Symbol(o.Symbol)
		}
		if !ok {
			return loc.Prog{}, fmt.Errorf("its place is relative to %s, which is not among the symbols of the file",
				o.Symbol)
		}
		addr = plus(addr, p)
	}
	if o.Thread {
		addr = plus(addr, loc.Value(loc.Step{Op: loc.TLS}))
	}
	if addr.Empty() {
		return loc.Constant(o.Const), nil
	}
	return addr.Plus(o.Const), nil
}

func plus(a, b loc.Prog) loc.Prog {
	if a.Empty() {
		return b
	}
	return a.With(b, loc.Step{Op: loc.Add})
}

func intType(size int, signed bool) *types.Ctype {
	name := map[int]string{1: "char", 2: "short", 4: "int", 8: "long"}[size]
	switch {
	case !signed:
		name = "unsigned " + name
	case size == 1:
		name = "signed char"
	}
	return &types.Ctype{Kind: types.Int, Name: name, Size: int64(size), Signed: signed}
}
