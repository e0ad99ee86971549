package amd64

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/gostap/gostap/compiler/machine/insn"
)

// Operand reads an operand of the AT&T assembler. The error says what it is.
func Operand(s string) (insn.Operand, error) {
	switch {
	case strings.HasPrefix(s, "%") && !strings.Contains(s, ":"):
		if x, err := strconv.ParseUint(strings.TrimPrefix(s, "%xmm"), 10, 4); err == nil {
			return insn.Operand{Kind: insn.InVector, Reg: int(x)}, nil
		}
		r, ok := parts()[s[1:]]
		switch {
		case ok:
			return insn.Operand{Kind: insn.InRegister, Reg: r.n, Shift: r.shift, Size: r.size}, nil
		case vectorName(s[1:]):
			return insn.Operand{}, fmt.Errorf("it is in the vector register %s", s[1:])
		}
		return insn.Operand{}, fmt.Errorf("it is in %q, which is no register", s[1:])
	case strings.HasPrefix(s, "$"):
		c, err := constant(s[1:])
		if err != nil {
			return insn.Operand{}, fmt.Errorf("its constant is %q", s[1:])
		}
		return insn.Operand{Kind: insn.Constant, Const: c}, nil
	}
	m, ok := memory(s)
	if !ok {
		return m, fmt.Errorf("its place is %q", s)
	}
	return m, nil
}

func vectorName(s string) bool {
	for _, p := range []string{"xmm", "ymm", "zmm", "st"} {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// constant reads a constant of the assembler. Those above the largest signed one wrap, as they do in a register.
func constant(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 0, 64)
	if errors.Is(err, strconv.ErrRange) {
		u, uerr := strconv.ParseUint(s, 0, 64)
		return int64(u), uerr
	}
	return n, err
}

// memory reads [SEGMENT:]DISPLACEMENT(BASE,INDEX,SCALE). The displacement is a sum of numbers and at most one symbol,
// whose own address is meant where the base is the instruction pointer.
func memory(s string) (m insn.Operand, ok bool) {
	m = insn.Operand{Kind: insn.InMemory, Base: -1, Index: -1, Scale: 1}
	s, m.Thread = strings.CutPrefix(s, "%fs:")
	disp, inner, indirect := strings.Cut(s, "(")
	if m.Symbol, m.Const, ok = displacement(disp); !ok {
		return m, false
	}
	if !indirect {
		return m, m.Symbol != "" || m.Thread || disp != ""
	}
	inner, ok = strings.CutSuffix(inner, ")")
	regs := strings.Split(inner, ",")
	if !ok || len(regs) > 3 {
		return m, false
	}
	for i := range regs {
		regs[i] = strings.TrimPrefix(regs[i], "%")
	}
	switch {
	case regs[0] == "rip" || regs[0] == "eip":
		if m.Symbol == "" || len(regs) > 1 {
			return m, false
		}
	case regs[0] != "":
		if m.Base, ok = address(regs[0]); !ok {
			return m, false
		}
	}
	if len(regs) > 1 && regs[1] != "" {
		if m.Index, ok = address(regs[1]); !ok {
			return m, false
		}
		if len(regs) == 3 {
			scale, err := strconv.Atoi(regs[2])
			if err != nil || scale != 1 && scale != 2 && scale != 4 && scale != 8 {
				return m, false
			}
			m.Scale = int64(scale)
		}
	}
	return m, true
}

// displacement splits "8+name-4" into the symbol and the sum of the numbers.
func displacement(s string) (symbol string, off int64, ok bool) {
	for s != "" {
		end := 1 // a sign of its own belongs to the part
		for end < len(s) && s[end] != '+' && s[end] != '-' {
			end++
		}
		part := strings.TrimPrefix(s[:end], "+")
		s = s[end:]
		if n, err := constant(part); err == nil {
			off += n
			continue
		}
		if symbol != "" || part == "" || strings.ContainsAny(part[:1], "-0123456789%$*") {
			return "", 0, false
		}
		symbol = part
	}
	return symbol, off, true
}

// part is a part of a general register: DWARF's number, the first bit, and how many bytes.
type part struct{ n, shift, size int }

// parts are the names of the assembler, with DWARF's numbers (System V psABI, figure 3.36).
var parts = sync.OnceValue(func() map[string]part {
	m := map[string]part{}
	for n, l := range []string{"ax", "dx", "cx", "bx", "si", "di", "bp", "sp"} {
		m["r"+l], m["e"+l], m[l] = part{n, 0, 8}, part{n, 0, 4}, part{n, 0, 2}
		if low := l[:1]; n < 4 {
			m[low+"l"], m[low+"h"] = part{n, 0, 1}, part{n, 8, 1}
		} else {
			m[l+"l"] = part{n, 0, 1}
		}
	}
	for n := 8; n < 16; n++ {
		name := fmt.Sprintf("r%d", n)
		m[name], m[name+"d"], m[name+"w"], m[name+"b"] = part{n, 0, 8}, part{n, 0, 4}, part{n, 0, 2}, part{n, 0, 1}
	}
	return m
})

// address finds a register that an address is computed from.
func address(name string) (int, bool) {
	r, ok := parts()[name]
	if !ok || r.size != 8 {
		return -1, false
	}
	return r.n, true
}
