package goabi

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/machine"
	"github.com/gostap/gostap/compiler/types"
)

// parser reads types in a short form: i8 u16 f32 c64 b p m(ap) s(tring) sl(ice) if(ace),
// [n]T and {T T}.
type parser struct {
	t testing.TB
	s string
}

func (p *parser) list(end byte) (ts []*types.Ctype) {
	for {
		p.s = strings.TrimLeft(p.s, " ")
		if p.s == "" && end == 0 {
			return ts
		}
		if p.s != "" && p.s[0] == end {
			p.s = p.s[1:]
			return ts
		}
		ts = append(ts, p.one())
	}
}

func (p *parser) one() *types.Ctype {
	whole := p.s
	switch p.s[0] {
	case '[':
		n, rest, _ := strings.Cut(p.s[1:], "]")
		count, err := strconv.Atoi(n)
		if err != nil {
			p.t.Fatal(err)
		}
		p.s = rest
		el := p.one()
		a := &types.Ctype{Kind: types.Array, Name: whole, Count: int64(count), Size: int64(count) * el.Size, Go: true}
		a.SetElem(el)
		return a
	case '{':
		p.s = p.s[1:]
		var fields []types.Field
		off, align := int64(0), int64(1)
		for i, t := range p.list('}') {
			al := alignOf(t)
			align = max(align, al)
			off = roundUp(off, al)
			fields = append(fields, types.Field{Name: fmt.Sprint("f", i), Type: t, Off: off})
			off += t.Size
		}
		if n := len(fields); n > 0 && off > 0 && fields[n-1].Type.Size == 0 {
			off++ // Go pads so that the last field has an address of its own
		}
		s := &types.Ctype{Kind: types.Struct, Name: whole, Size: roundUp(off, align), Go: true}
		s.SetFields(fields)
		return s
	}
	end := strings.IndexAny(p.s+" ", " }")
	word := p.s[:end]
	p.s = p.s[end:]
	fixed := map[string]*types.Ctype{
		"b": {Kind: types.Bool, Size: 1}, "p": {Kind: types.Pointer, Size: 8}, "m": {Kind: types.GoMap, Size: 8},
		"ch": {Kind: types.GoChan, Size: 8}, "fn": {Kind: types.GoFunc, Size: 8},
		"s": {Kind: types.GoString, Size: 16}, "sl": {Kind: types.GoSlice, Size: 24},
		"if": {Kind: types.GoInterface, Size: 16},
	}
	t := &types.Ctype{Name: word, Go: true}
	if f, ok := fixed[word]; ok {
		t.Kind, t.Size = f.Kind, f.Size
		return t
	}
	bits, err := strconv.Atoi(word[1:])
	if err != nil {
		p.t.Fatalf("type %q", word)
	}
	t.Size = int64(bits / 8)
	t.Kind = map[byte]types.Kind{'i': types.Int, 'u': types.Int, 'f': types.Float, 'c': types.Complex}[word[0]]
	return t
}

func alignOf(t *types.Ctype) int64 {
	switch t.Kind {
	case types.Array:
		return alignOf(t.Elem())
	case types.Struct:
		n := int64(1)
		for _, f := range t.Fields() {
			n = max(n, alignOf(f.Type))
		}
		return n
	case types.Complex:
		return t.Size / 2
	}
	return min(t.Size, 8)
}

func parse(t testing.TB, s string) []*types.Ctype { return (&parser{t, s}).list(0) }

var names = map[int]string{0: "AX", 3: "BX", 2: "CX", 5: "DI", 4: "SI", 8: "R8", 9: "R9", 10: "R10", 11: "R11"}

func show(slots []Slot) string {
	var out []string
	for _, s := range slots {
		var rs []string
		at := int64(0)
		for _, p := range s.Parts {
			r := names[p.Reg]
			if p.Vector > 0 {
				r = fmt.Sprint("X", p.Vector-1)
			}
			if p.Off != at {
				r = fmt.Sprintf("@%d:%s", p.Off, r)
			}
			at = p.Off + p.Size
			rs = append(rs, r)
		}
		str := strings.Join(rs, ",")
		if s.Off >= 0 {
			str += fmt.Sprintf("+%d", s.Off)
		}
		out = append(out, str)
	}
	return strings.Join(out, " ")
}

// TestAssign: the cases are those that the toolchain's abiutils_test.go and abi-internal.md
// are about. "+n" is an offset from the CFA: of the value, or behind registers of its spill slot.
func TestAssign(t *testing.T) {
	in, zero := debuginfo.GoABIInternal, debuginfo.GoABI0
	for _, c := range []struct {
		abi                                  debuginfo.ABI
		params, results, wantIn, wantOut, sp string
	}{
		{in, "i32", "i32", "AX+0", "AX", "0+8"},
		{in, "i8 {i8 i8 {} i8 i16} i64", "{i8 i8 {} i8 i16} i8 i32",
			"AX+0 BX,CX,DI,@4:SI+2 R8+8", "AX,BX,CX,@4:DI SI R8", "0+16"},
		{in, "i8 i16 i32 i64 f32 f32 f64 f64 i8 i16 i32 i64 f32 f32 f64 f64 c128 c128 c128 c128 c64 i8 i16 i32 i64 " +
			"i8 i16 i32 i64", "i32 f64 f64", "AX+56 BX+58 CX+60 DI+64 X0+72 X1+76 X2+80 X3+88 SI+96 R8+98 R9+100 " +
			"R10+104 X4+112 X5+116 X6+120 X7+128 X8,X9+136 X10,X11+152 X12,X13+168 +0 +16 R11+184 +24 +28 +32 +40 " +
			"+42 +44 +48",
			"AX X0 X1", "56+136"},
		{in, "[1]i32 [0]i32 [1][1]i32 [2]i32", "[2]i32 [1]i32 [0]i32 [1][1]i32", "AX+16 +0 BX+20 +0", "+8 AX +16 BX",
			"16+8"},
		{in, "{i64 {}} {i64 {}} {f64 {i64 {}} {}}", "{f64 {i64 {}} {}} {f64 {i64 {}} {}}",
			"AX+0 BX+16 X0,CX+32", "X0,AX X1,BX", "0+64"},
		{in, "{[2]i64 {}} [2]b {[3]i16 {}} {f64 {[2]i64 {}} {}} {f64 {[2]i64 {}} {}}",
			"{f64 {[2]i64 {}} {}} [2]b {f64 {[2]i64 {}} {}}", "+0 +24 +26 +40 +80", "+120 +160 +168", "208+0"},
		{in, "sl i8 sl i8 s i8 i64 sl", "s i64 s sl",
			"AX,BX,CX+48 DI+72 SI,R8,R9+80 R10+104 +0 R11+105 +16 +24", "AX,BX CX DI,SI R8,R9,R10", "48+64"},
		{in, "{i16 i16 i16} p [7]p f64 i16 i16 i16", "[7]p f64 i64",
			"AX,BX,CX+112 DI+120 +0 X0+128 SI+136 R8+138 R9+140", "+56 X0 AX", "112+32"},
		{in, "{i16 i16 b} if if if p if i16", "if if p",
			"AX,BX,CX+32 DI,SI+40 R8,R9+56 R10,R11+72 +0 +8 +24", "AX,BX CX,DI SI", "32+56"},
		{in, "i32 {i8 i16 {} i32 i64} {} [1]i32", "", "AX+0 BX,@2:CX,DI,SI+8 +0 R8+24", "", "0+32"},
		// A padded struct, an array of two, results beyond the registers: as measured in a running program.
		{in, "{i32 i64 s} p [1]i64 [2]i64", "", "AX,@8:BX,CX,DI+16 SI+48 R8+56 +0", "", "16+48"},
		{in, "i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64", "i64 i64 i64 i64 i64 i64 i64 i64 i64 i64",
			"AX+24 BX+32 CX+40 DI+48 SI+56 R8+64 R9+72 R10+80 R11+88 +0 +8", "AX BX CX DI SI R8 R9 R10 R11 +16",
			"24+72"},
		{in, "m ch fn c64", "{b [0]i64} {[2]{} i8}", "AX+8 BX+16 CX+24 X0,X1+32", "AX +0", "8+32"},
		// An array of empty structs takes no room and yet keeps what contains it out of registers.
		{in, "{i64 [2]{}}", "", "+0", "", "16+0"},
		{zero, "sl sl sl u64", "u64", "+0 +24 +48 +72", "+80", "88+0"},
		{zero, "b i64 i8", "i8 i16", "+0 +8 +16", "+24 +26", "32+0"},
		{zero, "", "i64", "", "+0", "8+0"},
	} {
		l, err := Assign(machine.AMD64, c.abi, parse(t, c.params), parse(t, c.results))
		if err != nil {
			t.Errorf("func(%s): %v", c.params, err)
			continue
		}
		if g := show(l.Params); g != c.wantIn {
			t.Errorf("func(%s):\n got %s\nwant %s", c.params, g, c.wantIn)
		}
		if g := show(l.Results); g != c.wantOut {
			t.Errorf("func(%s) (%s):\n got %s\nwant %s", c.params, c.results, g, c.wantOut)
		}
		if g := fmt.Sprintf("%d+%d", l.Spill, l.SpillSize); g != c.sp {
			t.Errorf("func(%s) (%s): spill area %s, want %s", c.params, c.results, g, c.sp)
		}
	}
}

func TestRefused(t *testing.T) {
	long := &types.Ctype{Kind: types.Struct, Name: "T"}
	f := []types.Field{{Name: "self", Type: long}}
	long.SetFields(f)
	for _, c := range []struct {
		t    *types.Ctype
		want string
	}{
		{nil, "a type is missing"},
		{&types.Ctype{Kind: types.Void, Name: "void", Size: -1}, "type void of -1 bytes cannot be passed"},
		{&types.Ctype{Kind: types.Union, Name: "U", Size: 8}, "type U of 8 bytes cannot be passed"},
		{&types.Ctype{Kind: types.Struct, Name: "S", Size: -1}, "type S is incomplete"},
		{&types.Ctype{Kind: types.Struct, Name: "S", Size: 8}, "fields of type S are unknown"},
		{&types.Ctype{Kind: types.Int, Name: "i128", Size: 16}, "type i128 of 16 bytes"},
		{&types.Ctype{Kind: types.GoSlice, Name: "[]x", Size: 16}, "type []x has 16 bytes where 24"},
		{&types.Ctype{Kind: types.Struct, Name: "simd/archsimd.Int8x16", Size: 16}, "vectors"},
		{long, "nested too deeply"},
	} {
		if _, err := Assign(machine.AMD64, debuginfo.GoABIInternal, []*types.Ctype{c.t}, nil); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.t, err, c.want)
		}
		if _, err := Assign(machine.AMD64, debuginfo.GoABI0, nil, []*types.Ctype{c.t}); err == nil {
			t.Errorf("%v as a result: no error", c.t)
		}
	}
	if _, err := Assign(machine.AMD64, debuginfo.SysV, nil, nil); err == nil {
		t.Error("SysV: no error")
	}
}

func TestPlace(t *testing.T) {
	l, err := Assign(machine.AMD64, debuginfo.GoABIInternal, parse(t, "{i32 i64 f64} [2]i64"), nil)
	if err != nil {
		t.Fatal(err)
	}
	cfa := loc.Register(7).Plus(8)
	p := l.Params[0].Place(cfa)
	if p.InMemory || len(p.Pieces) != 3 || !p.Writable {
		t.Fatalf("%+v", p)
	}
	if q := p.Pieces[1]; q.Off != 8 || q.Size != 8 || q.Val.String() != "reg 3" || q.Vector != 0 {
		t.Errorf("second piece %+v", q)
	}
	if q := p.Pieces[2]; q.Off != 16 || q.Vector != 1 || !q.Val.Empty() {
		t.Errorf("third piece %+v", q)
	}
	if p := l.Params[1].Place(cfa); !p.InMemory || p.Addr.String() != "reg 7; const 8; add .0 .1" {
		t.Errorf("on the stack: %+v %s", p, p.Addr)
	}
}

func TestDictionary(t *testing.T) {
	for name, want := range map[string]int{
		"main.main":                                             -1,
		"main.Map[go.shape.int,go.shape.string]":                0,
		"main.Map[go.shape.[]int]":                              0,
		"main.Map[go.shape.map[string]int,go.shape.[2]uint8]":   0,
		"main.(*List[go.shape.string]).Push":                    1,
		"main.List[go.shape.string].Len":                        1,
		"main.(*List[go.shape.string]).Push.func1":              -1,
		"main.Map[go.shape.int].func1":                          -1,
		"main.Map[go.shape.int].func1.2":                        -1,
		"main.Map[go.shape.int]-range1":                         -1,
		"main.Map[go.shape.int].gowrap1":                        -1,
		"main.List[go.shape.string].Len-fm":                     -1,
		"main.(*List[string]).Push":                             -1,
		"main.Map[go.shape.struct { main.a main.B[int] }]":      0,
		"example.com/a.(*B[go.shape.*uint8,go.shape.int]).Func": 1,
		"main.Map[go.shape.int":                                 -1,
		"type:.eq.sync/atomic.Pointer[go.shape.int]":            -1,
	} {
		got, ok := Dictionary(name)
		if !ok {
			got = -1
		}
		if got != want {
			t.Errorf("Dictionary(%q) = %d, want %d", name, got, want)
		}
	}
}
