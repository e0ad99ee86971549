// Package goabi says where Go's calling conventions put arguments and results.
//
// In: the machine, and the types of a function's receiver, arguments and results. Out: for each the registers
// that hold its parts, or its offset from the canonical frame address (CFA, the stack pointer before the
// call instruction). DWARF does not tell this for results in registers and for
// assembly functions.
//
// The rules are those of the Go toolchain's cmd/compile/abi-internal.md and
// cmd/compile/internal/abi/abiutils.go: ABIInternal passes in registers (from Go 1.17
// on); ABI0, which assembly uses, passes everything on the stack.
package goabi

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/machine"
	"github.com/gostap/gostap/compiler/types"
)

// Part is a piece of a value that is in one register.
type Part struct {
	Off, Size int64 // in the value
	Reg       int   // DWARF number of a general register, if Vector is 0
	Vector    int   // 1 + number of the vector register
}

// Slot is where one argument or result is.
type Slot struct {
	Type *types.Ctype
	// Parts are the registers that hold it, in order. None: it is on the stack.
	Parts []Part
	// Off counts from the CFA: the value itself if it is on the stack, the place that the function
	// may spill it to if it is an argument in registers (garbage at the entry), -1 for a result in registers.
	Off int64
}

// OnStack reports whether the value is in memory.
func (s Slot) OnStack() bool { return len(s.Parts) == 0 }

// Place describes the value where registers are as at the call (arguments) or at the return
// (results); cfa computes the CFA there.
func (s Slot) Place(cfa loc.Prog) loc.Place {
	if s.OnStack() {
		return loc.Place{Type: s.Type, InMemory: true, Addr: cfa.Plus(s.Off), Writable: true}
	}
	p := loc.Place{Type: s.Type, Writable: true}
	for _, r := range s.Parts {
		piece := loc.Piece{Off: r.Off, Size: r.Size, Vector: r.Vector}
		if r.Vector == 0 {
			piece.Val = loc.Register(r.Reg)
		}
		p.Pieces = append(p.Pieces, piece)
	}
	return p
}

// Layout is the assignment of a whole signature.
type Layout struct {
	Params, Results []Slot
	// Spill and SpillSize are the caller's room for spilling register arguments, from the CFA.
	Spill, SpillSize int64
}

// Assign computes the layout of a function of m with the given convention. params has the receiver
// first and a generic function's hidden dictionary where it stands: see Dictionary. The error
// says which type cannot be assigned.
func Assign(m *machine.Machine, abi debuginfo.ABI, params, results []*types.Ctype) (Layout, error) {
	var l Layout
	a := assigner{m: m}
	switch abi {
	case debuginfo.GoABIInternal:
		a.ints, a.floats = len(m.Go.Args), m.Go.Vectors
	case debuginfo.GoABI0:
	default:
		return l, fmt.Errorf("%v is not a calling convention of Go", abi)
	}
	var err error
	if l.Params, err = a.all(params, false); err != nil {
		return Layout{}, err
	}
	a.stack = roundUp(a.stack, 8)
	a.usedInts, a.usedFloats = 0, 0
	if l.Results, err = a.all(results, true); err != nil {
		return Layout{}, err
	}
	l.Spill = roundUp(a.stack, 8)
	l.SpillSize = roundUp(a.spill, 8)
	for i := range l.Params {
		if !l.Params[i].OnStack() {
			l.Params[i].Off += l.Spill
		}
	}
	return l, nil
}

// Dictionary tells whether the function with this linker name takes a hidden pointer to a
// dictionary of type arguments, as code shared between instantiations does, and at which
// position: first, or behind the receiver of a method.
func Dictionary(name string) (position int, ok bool) {
	i := strings.Index(name, "[go.shape.")
	if i < 0 || strings.HasPrefix(name, "type:") || strings.HasPrefix(name, "go:") { // comparisons of types
		return 0, false
	}
	depth, end := 0, -1
	for j := i; j < len(name); j++ {
		switch name[j] {
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 && end < 0 {
				end = j
			}
		}
	}
	if end < 0 {
		return 0, false
	}
	// Closures within a generic function (".func1", ".gowrap2") get the dictionary as a captured variable.
	rest := name[end+1:]
	if rest == "" {
		return 0, true
	}
	if m := strings.TrimPrefix(rest, ")"); strings.HasPrefix(m, ".") && !strings.ContainsAny(m[1:], ".-") {
		if rest[0] == ')' || !closureName(m[1:]) {
			return 1, true
		}
	}
	return 0, false
}

// closureName reports whether s is how the compiler names a function literal.
func closureName(s string) bool {
	for _, p := range []string{"func", "gowrap", "deferwrap"} {
		if d, ok := strings.CutPrefix(s, p); ok && d != "" && strings.Trim(d, "0123456789") == "" {
			return true
		}
	}
	return false
}

type assigner struct {
	m                    *machine.Machine
	ints, floats         int
	usedInts, usedFloats int
	stack, spill         int64
}

func (a *assigner) all(ts []*types.Ctype, results bool) ([]Slot, error) {
	var out []Slot
	for _, t := range ts {
		s, err := a.assign(t, results)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

func (a *assigner) assign(t *types.Ctype, result bool) (Slot, error) {
	m, err := measure(t, 0)
	if err != nil {
		return Slot{}, err
	}
	s := Slot{Type: t, Off: -1}
	if t.Size > 0 && m.ints <= a.ints-a.usedInts && m.floats <= a.floats-a.usedFloats {
		a.registers(&s.Parts, t, 0)
		if !result {
			s.Off = take(&a.spill, t.Size, m.align)
		}
		return s, nil
	}
	s.Off = take(&a.stack, t.Size, m.align)
	return s, nil
}

// take allocates size bytes behind *at.
func take(at *int64, size, align int64) int64 {
	off := roundUp(*at, align)
	*at = off + size
	return off
}

func roundUp(n, align int64) int64 { return (n + align - 1) / align * align }

// registers adds the parts of a value of type t at off, which is known to fit.
func (a *assigner) registers(parts *[]Part, t *types.Ctype, off int64) {
	word := func(off, size int64) {
		*parts = append(*parts, Part{Off: off, Size: size, Reg: a.m.Go.Args[a.usedInts]})
		a.usedInts++
	}
	float := func(off, size int64) {
		a.usedFloats++
		*parts = append(*parts, Part{Off: off, Size: size, Vector: a.usedFloats})
	}
	if t.Size == 0 {
		return
	}
	switch t.Kind {
	case types.Float:
		float(off, t.Size)
	case types.Complex:
		float(off, t.Size/2)
		float(off+t.Size/2, t.Size/2)
	case types.GoString, types.GoInterface:
		word(off, 8)
		word(off+8, 8)
	case types.GoSlice:
		word(off, 8)
		word(off+8, 8)
		word(off+16, 8)
	case types.Array:
		for i := range t.Count {
			a.registers(parts, t.Elem(), off+i*t.Elem().Size)
		}
	case types.Struct:
		for _, f := range t.Fields() {
			a.registers(parts, f.Type, off+f.Off)
		}
	default:
		word(off, t.Size)
	}
}

// tooMany registers: arrays of more than one element are not passed in registers, even
// if their elements are empty.
const tooMany = 255

// measured is what the assignment needs to know of a type.
type measured struct {
	align        int64
	ints, floats int
}

// maxDepth bounds the nesting of types; damaged debug information can make them endless.
const maxDepth = 100

var errDepth = errors.New("types are nested too deeply")

// measure computes alignment and register needs (cmd/compile/internal/types, size.go).
func measure(t *types.Ctype, depth int) (measured, error) {
	if t == nil {
		return measured{}, errors.New("a type is missing")
	}
	if depth > maxDepth {
		return measured{}, errDepth
	}
	if strings.HasPrefix(t.Name, "simd/archsimd.") {
		return measured{}, fmt.Errorf("vectors (%s) are not supported", t.Name)
	}
	word := measured{align: 8, ints: 1}
	want := func(size int64, m measured) (measured, error) {
		if t.Size != size {
			return m, fmt.Errorf("type %s has %d bytes where %d are right", t.Name, t.Size, size)
		}
		return m, nil
	}
	switch t.Kind {
	case types.Int, types.Bool, types.Char, types.Enum, types.Float:
		m := measured{align: t.Size, ints: 1}
		if t.Kind == types.Float {
			m = measured{align: t.Size, floats: 1}
		}
		switch t.Size {
		case 1, 2, 4, 8:
			return m, nil
		}
	case types.Complex:
		if t.Size == 8 || t.Size == 16 {
			return measured{align: t.Size / 2, floats: 2}, nil
		}
	case types.Pointer, types.GoMap, types.GoChan, types.GoFunc:
		return want(8, word)
	case types.GoString, types.GoInterface:
		word.ints = 2
		return want(16, word)
	case types.GoSlice:
		word.ints = 3
		return want(24, word)
	case types.Array:
		m, err := measure(t.Elem(), depth+1)
		if err != nil {
			return m, err
		}
		if t.Count < 0 || t.Size < 0 {
			return m, fmt.Errorf("array %s has an unknown length", t.Name)
		}
		switch t.Count {
		case 0:
			m.ints, m.floats = 0, 0
		case 1:
		default:
			m.ints, m.floats = tooMany, tooMany
		}
		return m, nil
	case types.Struct:
		return measureStruct(t, depth)
	}
	return measured{}, fmt.Errorf("type %s of %d bytes cannot be passed in Go", t.Name, t.Size)
}

func measureStruct(t *types.Ctype, depth int) (measured, error) {
	sum := measured{align: 1}
	if t.Size < 0 {
		return sum, fmt.Errorf("type %s is incomplete", t.Name)
	}
	if strings.HasSuffix(t.Name, "/atomic.align64") { // sync/atomic and internal/runtime/atomic
		sum.align = 8
	}
	end := int64(0)
	for _, f := range t.Fields() {
		m, err := measure(f.Type, depth+1)
		if err != nil {
			return m, err
		}
		if f.Off < end || f.Off%m.align != 0 || f.BitSize != 0 {
			return m, fmt.Errorf("the fields of type %s overlap", t.Name)
		}
		end = f.Off + f.Type.Size
		sum.align = max(sum.align, m.align)
		sum.ints = min(sum.ints+m.ints, tooMany)
		sum.floats = min(sum.floats+m.floats, tooMany)
	}
	if end > t.Size {
		return sum, fmt.Errorf("the fields of type %s are larger than it", t.Name)
	}
	if len(t.Fields()) == 0 && t.Size > 0 {
		return sum, fmt.Errorf("the fields of type %s are unknown", t.Name)
	}
	return sum, nil
}
