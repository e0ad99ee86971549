// Package shape is what is known, when a script is compiled, of values that are shown whole: the text around them,
// where their bytes come from, and the types that are reached from there, down to a bound. It goes two ways: as a
// table of numbers to the program in the kernel that copies what pointers lead to (Plan.Table), and as types to the
// host, which writes the text (package runtime/host/values).
//
// In: types.Ctype and locations. Out: Plan; its text form travels in a constant of the program.
package shape

import (
	"encoding/json"
	"fmt"

	"github.com/gostap/gostap/compiler/stdtype"
	"github.com/gostap/gostap/compiler/types"
)

// Plan is one text with values in it.
type Plan struct {
	// Go is the minor version of the Go release that built the program, 0 for another language. Swiss: its maps are the
	// tables of Go 1.24 and later.
	Go    int  `json:"go,omitempty"`
	Swiss bool `json:"swiss,omitempty"`
	// Path is the program's file; Bias, where the file may be moved, is 1 + the number that says by how much.
	Path string `json:"path,omitempty"`
	Bias int    `json:"bias,omitempty"`
	// Depth is how many pointers are followed. One: values are shown one level deep ("$x$"); the depth is for what
	// interfaces hold then.
	Depth int  `json:"depth"`
	One   bool `json:"one,omitempty"`
	// Elems is the most elements of a slice, array or map that are shown, Str the most bytes of a string.
	Elems int    `json:"elems"`
	Str   int    `json:"str"`
	Parts []Part `json:"parts"`
	Types []Type `json:"types,omitempty"`
}

// Part is literal text, or a value.
type Part struct {
	Lit string `json:"lit,omitempty"`
	// Type is an index into Plan.Types. Words are where the value's bytes are among the numbers that the kernel sends;
	// with Addr its one word is the address of all of them.
	Type  int    `json:"type,omitempty"`
	Words []Word `json:"words,omitempty"`
	Addr  bool   `json:"addr,omitempty"`
	// Live, where it is not 0, is 1 + the number that is 0 at a hit where the value is not known.
	Live int `json:"live,omitempty"`
	// Deref: the value is a pointer, and what it leads to is shown.
	Deref bool `json:"deref,omitempty"`
	// TypeOnly: the value is an interface, of which the name of the dynamic type is shown.
	TypeOnly bool `json:"typeonly,omitempty"`
}

// Word says that Size bytes at Off of the value are the low ones of the number At.
type Word struct {
	At   int   `json:"at"`
	Off  int64 `json:"off"`
	Size int64 `json:"size"`
}

// Type is a types.Ctype whose Elem, Key and fields are indexes into Plan.Types, from 1; 0 for none. With Cut what it is
// made of is beyond the bound.
type Type struct {
	Kind   types.Kind `json:"k"`
	Name   string     `json:"n,omitempty"`
	Size   int64      `json:"s,omitempty"`
	Signed bool       `json:"sg,omitempty"`
	Count  int64      `json:"c,omitempty"`
	Empty  bool       `json:"em,omitempty"`
	Elem   int        `json:"e,omitempty"`
	Key    int        `json:"ke,omitempty"`
	Fields []Field    `json:"f,omitempty"`
	Cut    bool       `json:"cut,omitempty"`
	// Of C++ and Rust: the language, the name to be written, a reference, the constants of an enumeration, and how it
	// is read where that is not by its members.
	Lang types.Lang `json:"l,omitempty"`
	Own  string     `json:"w,omitempty"`
	Ref  bool       `json:"r,omitempty"`
	// Vptr is 1 + where an object of C++ says of which class it really is, 0 if it does not.
	Vptr  int64              `json:"vp,omitempty"`
	Enums []types.Enumerator `json:"es,omitempty"`
	Form  *Form              `json:"fm,omitempty"`
}

// Form is a stdtype.Form whose types are indexes; its Elem and Key are those of the Type.
type Form struct {
	Kind     stdtype.Kind `json:"k"`
	At       []int64      `json:"at,omitempty"`
	Pre      string       `json:"pre,omitempty"`
	Post     string       `json:"post,omitempty"`
	Variants []Variant    `json:"v,omitempty"`
}

// Variant is one form of an enum: while its tag is Val, or none of the others' if Default is set.
type Variant struct {
	Field
	Val     uint64 `json:"val,omitempty"`
	Default bool   `json:"def,omitempty"`
}

// Field is a member of a structure.
type Field struct {
	Name     string `json:"n"`
	Type     int    `json:"t"`
	Off      int64  `json:"o,omitempty"`
	Embedded bool   `json:"em,omitempty"`
	// Bits, where it is not 0, are how many there are of a bit field, from bit Bit of the member's word on.
	Bit  int64 `json:"b,omitempty"`
	Bits int64 `json:"bs,omitempty"`
	// Base marks the part of a class of C++ that it has from another one.
	Base bool `json:"ba,omitempty"`
}

// Bounds of what a plan describes: the types in it, and the fields of all of them.
const (
	maxTypes  = 400
	maxFields = 4000
)

// Builder makes a Plan.
type Builder struct {
	p      Plan
	index  map[*types.Ctype]int
	hops   []int
	todo   []*types.Ctype
	fields int
}

// New begins a plan; see Plan for what the numbers are.
func New(p Plan) *Builder { return &Builder{p: p, index: map[*types.Ctype]int{}} }

// Lit adds text.
func (b *Builder) Lit(s string) {
	if n := len(b.p.Parts); n > 0 && len(b.p.Parts[n-1].Words) == 0 {
		b.p.Parts[n-1].Lit += s
		return
	}
	b.p.Parts = append(b.p.Parts, Part{Lit: s})
}

// Value adds a value of type t.
func (b *Builder) Value(t *types.Ctype, part Part) {
	hops := 0
	if part.Deref {
		hops = -1
	}
	part.Type = b.add(t, hops)
	b.p.Parts = append(b.p.Parts, part)
}

// add gives the index of t, hops pointers away from a value.
func (b *Builder) add(t *types.Ctype, hops int) int {
	if t == nil {
		return 0
	}
	if i, ok := b.index[t]; ok {
		return i
	}
	name := t.Name
	if t.Lang != types.OtherLang {
		name = "" // long, and written nowhere
	}
	b.p.Types = append(b.p.Types, Type{Kind: t.Kind, Name: name, Size: t.Size, Signed: t.Signed, Count: t.Count,
		Empty: t.Empty})
	b.index[t] = len(b.p.Types)
	b.hops = append(b.hops, hops)
	b.todo = append(b.todo, t)
	return len(b.p.Types)
}

// Plan gives what was added, with the types in the order of their distance.
func (b *Builder) Plan() *Plan {
	for i := 0; i < len(b.todo); i++ {
		t, hops := b.todo[i], b.hops[i]
		d := b.p.Types[i] // b.p.Types grows meanwhile
		full := len(b.p.Types) >= maxTypes || b.fields >= maxFields
		far := full || hops >= b.p.Depth || b.p.One && hops > 0
		kind := t.Kind
		if t.Lang != types.OtherLang {
			d.Lang = t.Lang
			b.described(t, &d, hops, far, full)
			kind = types.Void // that is all
		}
		switch kind {
		case types.Pointer, types.GoSlice, types.GoChan:
			if e := t.Elem(); far && !leafless(e) {
				d.Cut = true
			} else {
				d.Elem = b.add(e, hops+1)
			}
		case types.GoMap:
			if far {
				d.Cut = true
			} else {
				d.Key, d.Elem = b.add(t.Key(), hops+1), b.add(t.Elem(), hops+1)
			}
		case types.Array:
			if full {
				d.Cut = true
			} else {
				d.Elem = b.add(t.Elem(), hops)
			}
		case types.Struct, types.Union:
			fs := t.Fields()
			if t.Name == "time.Location" { // long, and times are shown in UTC
				d.Cut = true
				break
			}
			if full || b.fields+len(fs) > maxFields {
				d.Cut = true
				break
			}
			b.fields += len(fs)
			for _, f := range fs {
				d.Fields = append(d.Fields,
					Field{Name: f.Name, Type: b.add(behind(t, f), hops), Off: f.Off, Embedded: f.Embedded})
			}
		}
		b.p.Types[i] = d
	}
	return &b.p
}

// leafless reports whether t is a type that leads to no others.
func leafless(t *types.Ctype) bool {
	if t == nil {
		return false
	}
	switch t.Kind {
	case types.Int, types.Bool, types.Char, types.Float, types.Complex, types.Enum, types.GoString:
		return true
	}
	return false
}

// Text is the plan's text form.
func (p *Plan) Text() string {
	b, err := json.Marshal(p)
	if err != nil {
		panic(err) // numbers, texts and lists of those
	}
	return string(b)
}

// Parse reads what Text gave. All indexes in it are good.
func Parse(text string) (*Plan, error) {
	var p Plan
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return nil, fmt.Errorf("a value's shape: %w", err)
	}
	ok := func(i int) bool { return i >= 0 && i <= len(p.Types) }
	bad := fmt.Errorf("a value's shape is damaged")
	if p.Bias < 0 || p.Bias > MaxWords || p.Depth < 0 || p.Elems < 0 || p.Str < 0 {
		return nil, bad
	}
	for _, pt := range p.Parts {
		if !ok(pt.Type) || len(pt.Words) > 0 && pt.Type == 0 || pt.Addr && len(pt.Words) != 1 {
			return nil, bad
		}
		if pt.Live < 0 || pt.Live > MaxWords {
			return nil, bad
		}
		for _, w := range pt.Words {
			if w.At < 0 || w.At >= MaxWords || w.Off < 0 || w.Off > 1<<20 || w.Size < 0 || w.Size > 8 {
				return nil, bad
			}
		}
	}
	for _, t := range p.Types {
		if !ok(t.Elem) || !ok(t.Key) || t.Size < -1 {
			return nil, bad
		}
		for _, f := range t.Fields {
			if !ok(f.Type) || f.Off < 0 || f.Bits < 0 || f.Bit < 0 || f.Bit+f.Bits > 64 {
				return nil, bad
			}
		}
		if t.Vptr < 0 {
			return nil, bad
		}
		if t.Form == nil {
			continue
		}
		if !stdtype.Good(t.Form.Kind, t.Form.At) {
			return nil, bad
		}
		for _, v := range t.Form.Variants {
			if !ok(v.Type) || v.Off < 0 {
				return nil, bad
			}
		}
	}
	state := make([]uint8, len(p.Types))
	for i := range p.Types {
		if !p.ends(i, state) {
			return nil, bad
		}
	}
	return &p, nil
}

// ends reports whether no type lies in itself, from type i on. Of state, 1 is a type that is being looked at, 2 one
// that is good.
func (p *Plan) ends(i int, state []uint8) bool {
	if state[i] != 0 {
		return state[i] == 2
	}
	state[i] = 1
	in := func(k int) bool { return k == 0 || p.ends(k-1, state) }
	t := &p.Types[i]
	kind := t.Kind
	if f := t.Form; f != nil {
		kind = types.Struct
		for _, v := range f.Variants {
			if !in(v.Type) {
				return false
			}
		}
		if f.Kind == stdtype.Wrap && !in(t.Elem) {
			return false
		}
	}
	switch kind {
	case types.Array:
		if !in(t.Elem) {
			return false
		}
	case types.Struct, types.Union:
		for _, f := range t.Fields {
			if !in(f.Type) {
				return false
			}
		}
	}
	state[i] = 2
	return true
}

// Ctypes gives the types of a plan for reading.
func (p *Plan) Ctypes() []*types.Ctype {
	out := make([]*types.Ctype, len(p.Types))
	for i := range out {
		t := &p.Types[i]
		out[i] = &types.Ctype{Kind: t.Kind, Name: t.Name, Size: t.Size, Signed: t.Signed, Count: t.Count,
			Empty: t.Empty, Go: p.Go > 0, Lang: t.Lang, Own: t.Own, Ref: t.Ref}
		out[i].SetEnums(t.Enums)
	}
	at := func(i int) *types.Ctype {
		if i == 0 {
			return nil
		}
		return out[i-1]
	}
	for i := range out {
		t := &p.Types[i]
		out[i].SetElem(at(t.Elem))
		out[i].SetKey(at(t.Key))
		fs := make([]types.Field, 0, len(t.Fields))
		for _, f := range t.Fields {
			fs = append(fs, types.Field{Name: f.Name, Type: at(f.Type), Off: f.Off, Embedded: f.Embedded,
				BitOff: f.Bit, BitSize: f.Bits, Base: f.Base})
		}
		out[i].SetFields(fs)
	}
	return out
}
