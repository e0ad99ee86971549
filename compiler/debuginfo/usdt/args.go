package usdt

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/types"
)

// An argument is written SIZE@OPERAND: the bytes, negative if signed, with an f behind for floating-point numbers, and
// an operand of the AT&T assembler. Notes of the first versions have no SIZE@: such arguments are words.

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
	switch {
	case strings.HasPrefix(operand, "%") && !strings.Contains(operand, ":"):
		if x, err := strconv.ParseUint(strings.TrimPrefix(operand, "%xmm"), 10, 4); err == nil {
			v.Place.Pieces = []loc.Piece{{Size: int64(n), Vector: int(x) + 1}}
			return nil
		}
		val, err := register(operand[1:])
		if err != nil {
			return err
		}
		v.Place.Pieces = []loc.Piece{{Size: int64(n), Val: val, Part: n < 8}}
	case strings.HasPrefix(operand, "$"):
		c, err := number(operand[1:])
		if err != nil {
			return fmt.Errorf("its constant is %q", operand[1:])
		}
		v.Place.Pieces = []loc.Piece{{Size: int64(n), Val: loc.Constant(c)}}
	default:
		addr, err := f.memory(operand)
		if err != nil {
			return err
		}
		v.Place.InMemory, v.Place.Addr, v.Place.Writable = true, addr, true
	}
	return nil
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

// number reads a constant of the assembler. Those above the largest signed one wrap, as they do in a register.
func number(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 0, 64)
	if errors.Is(err, strconv.ErrRange) {
		u, uerr := strconv.ParseUint(s, 0, 64)
		return int64(u), uerr
	}
	return n, err
}

// memory makes the address of [SEGMENT:]DISPLACEMENT(BASE,INDEX,SCALE). The displacement is a sum of numbers and at
// most one symbol.
func (f *File) memory(s string) (addr loc.Prog, err error) {
	text := s
	unreadable := func() (loc.Prog, error) { return loc.Prog{}, fmt.Errorf("its place is %q", text) }
	s, thread := strings.CutPrefix(s, "%fs:")
	disp, inner, indirect := strings.Cut(s, "(")
	symbol, off, err := displacement(disp)
	if err != nil {
		return unreadable()
	}
	relative := false // to the instruction pointer: the symbol's own address
	if indirect {
		inner, ok := strings.CutSuffix(inner, ")")
		parts := strings.Split(inner, ",")
		if !ok || len(parts) > 3 {
			return unreadable()
		}
		for i := range parts {
			parts[i] = strings.TrimPrefix(parts[i], "%")
		}
		switch relative = parts[0] == "rip" || parts[0] == "eip"; {
		case relative && (symbol == "" || len(parts) > 1):
			return unreadable()
		case relative:
		case parts[0] != "":
			if addr, err = address(parts[0]); err != nil {
				return unreadable()
			}
		}
		if len(parts) > 1 && parts[1] != "" {
			index, err := address(parts[1])
			if err != nil {
				return unreadable()
			}
			if len(parts) == 3 {
				scale, err := strconv.Atoi(parts[2])
				if err != nil || scale != 1 && scale != 2 && scale != 4 && scale != 8 {
					return unreadable()
				}
				if scale > 1 {
					index = index.With(loc.Constant(int64(scale)), loc.Step{Op: loc.Mul})
				}
			}
			addr = plus(addr, index)
		}
	}
	if symbol != "" {
		p, ok := loc.Prog{}, false
		if f.Symbol != nil && !thread {
			p, ok = f.Symbol(symbol)
		}
		if !ok {
			return loc.Prog{}, fmt.Errorf("its place is relative to %s, which is not among the symbols of the file",
				symbol)
		}
		addr = plus(addr, p)
	}
	if thread {
		addr = plus(addr, loc.Value(loc.Step{Op: loc.TLS}))
	}
	if addr.Empty() {
		if !indirect && disp == "" {
			return unreadable()
		}
		return loc.Constant(off), nil
	}
	return addr.Plus(off), nil
}

func plus(a, b loc.Prog) loc.Prog {
	if a.Empty() {
		return b
	}
	return a.With(b, loc.Step{Op: loc.Add})
}

// displacement splits "8+name-4" into the symbol and the sum of the numbers.
func displacement(s string) (symbol string, off int64, err error) {
	for s != "" {
		end := 1 // a sign of its own belongs to the part
		for end < len(s) && s[end] != '+' && s[end] != '-' {
			end++
		}
		part := strings.TrimPrefix(s[:end], "+")
		s = s[end:]
		if n, nerr := number(part); nerr == nil {
			off += n
			continue
		}
		if symbol != "" || part == "" || strings.ContainsAny(part[:1], "-0123456789%$*") {
			return "", 0, fmt.Errorf("bad displacement")
		}
		symbol = part
	}
	return symbol, off, nil
}

// reg is a part of a general register: DWARF's number, and which bits.
type reg struct{ n, shift, size int }

// registers are the names of the assembler, with DWARF's numbers (System V psABI, figure 3.36).
var registers = sync.OnceValue(func() map[string]reg {
	m := map[string]reg{}
	for n, l := range []string{"ax", "dx", "cx", "bx", "si", "di", "bp", "sp"} {
		m["r"+l], m["e"+l], m[l] = reg{n, 0, 8}, reg{n, 0, 4}, reg{n, 0, 2}
		if low := l[:1]; n < 4 {
			m[low+"l"], m[low+"h"] = reg{n, 0, 1}, reg{n, 8, 1}
		} else {
			m[l+"l"] = reg{n, 0, 1}
		}
	}
	for n := 8; n < 16; n++ {
		name := fmt.Sprintf("r%d", n)
		m[name], m[name+"d"], m[name+"w"], m[name+"b"] = reg{n, 0, 8}, reg{n, 0, 4}, reg{n, 0, 2}, reg{n, 0, 1}
	}
	return m
})

// register gives the value of a register; only the bits of that name are defined.
func register(name string) (loc.Prog, error) {
	r, ok := registers()[name]
	switch {
	case !ok && (strings.HasPrefix(name, "xmm") || strings.HasPrefix(name, "ymm") || strings.HasPrefix(name, "zmm") ||
		strings.HasPrefix(name, "st")):
		return loc.Prog{}, fmt.Errorf("it is in the vector register %s", name)
	case !ok:
		return loc.Prog{}, fmt.Errorf("it is in %q, which is no register", name)
	}
	p := loc.Register(r.n)
	if r.shift > 0 {
		p = p.Then(loc.Step{Op: loc.Bits, N: int64(r.shift), Size: 8 * r.size})
	}
	return p, nil
}

// address gives a register that an address is computed from.
func address(name string) (loc.Prog, error) {
	r, ok := registers()[name]
	if !ok || r.size != 8 {
		return loc.Prog{}, fmt.Errorf("%q is no address", name)
	}
	return loc.Register(r.n), nil
}
