package dwexpr

import (
	"encoding/binary"
	"errors"
	"math/rand"
	"strings"
	"testing"

	"github.com/go-delve/delve/pkg/dwarf/op"

	"github.com/gostap/gostap/compiler/debuginfo/elftest"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/types"
)

var (
	tInt  = &types.Ctype{Kind: types.Int, Name: "int", Size: 4, Signed: true}
	tLong = &types.Ctype{Kind: types.Int, Name: "long", Size: 8, Signed: true}
	tPair = structOf(false, types.Field{Name: "a", Type: tInt}, types.Field{Name: "b", Type: tLong, Off: 8})
)

func structOf(isGo bool, fields ...types.Field) *types.Ctype {
	t := &types.Ctype{Kind: types.Struct, Name: "struct test", Go: isGo}
	for _, f := range fields {
		t.Size = max(t.Size, (f.Off+f.Type.Size+7)&^7)
	}
	t.SetFields(fields)
	return t
}

// placeText writes a place down.
func placeText(p loc.Place) string {
	if p.InMemory {
		return "[" + p.Addr.String() + "]"
	}
	var s []string
	for _, x := range p.Pieces {
		v := x.Val.String()
		if x.Lost {
			v = "lost"
		} else if x.Vector > 0 {
			v = "xmm" + string(rune('0'+x.Vector-1))
		}
		s = append(s, string(rune('0'+x.Off/10))+string(rune('0'+x.Off%10))+"+"+string(rune('0'+x.Size))+" "+v)
	}
	return strings.Join(s, ", ")
}

func testEnv() *Env {
	return &Env{
		CFA:       func() (loc.Prog, error) { return loc.Register(7).Plus(16), nil },
		FrameBase: func() (loc.Prog, error) { return loc.Register(6), nil },
		Addrx:     func(i uint64) (uint64, error) { return 0x9000 + i, nil },
		TLS: func(off uint64) (loc.Prog, error) {
			return loc.Value(loc.Step{Op: loc.TLS}).Plus(int64(off) - 64), nil
		},
		BaseType: func(off uint64) (BaseType, error) {
			switch off {
			case 0x10:
				return BaseType{4, true, true}, nil
			case 0x14:
				return BaseType{4, false, true}, nil
			case 0x18:
				return BaseType{8, true, true}, nil
			}
			return BaseType{8, true, false}, nil
		},
	}
}

func TestPlace(t *testing.T) {
	goPair := structOf(true, types.Field{Name: "a", Type: tInt}, types.Field{Name: "b", Type: tLong, Off: 8},
		types.Field{Name: "s", Type: &types.Ctype{Kind: types.GoString, Size: 16, Go: true}, Off: 16})
	cases := []struct {
		name string
		expr []byte
		typ  *types.Ctype
		want string // a place, or "error: " and part of a text
	}{
		{"reg5", elftest.Encode(uint8(0x55)), tInt, "00+4 reg 5"},
		{"regx 3", elftest.Encode(uint8(0x90), 3), tLong, "00+8 reg 3"},
		{"xmm1", elftest.Encode(uint8(0x62)), &types.Ctype{Kind: types.Float, Size: 8}, "00+8 xmm1"},
		{"x87", elftest.Encode(uint8(0x90), 33), tLong, "error: register st0"},
		{"breg7+8", elftest.Encode(uint8(0x77), uint8(8)), tInt, "[reg 7; const 8; add .0 .1]"},
		{"breg7-8", elftest.Encode(uint8(0x77), uint8(0x78)), tInt, "[reg 7; const -8; add .0 .1]"},
		{"bregx", elftest.Encode(uint8(0x92), 6, uint8(0)), tInt, "[reg 6]"},
		{"fbreg", elftest.Encode(uint8(0x91), uint8(0x70)), tInt, "[reg 6; const -16; add .0 .1]"},
		{"cfa", elftest.Encode(uint8(0x9c)), tInt, "[reg 7; const 16; add .0 .1]"},
		{"cfa+8", elftest.Encode(uint8(0x9c), uint8(0x23), 8), tInt, "[reg 7; const 24; add .0 .1]"},
		{"addr", elftest.Encode(uint8(3), uint64(0x4010)), tInt, "[const 16400]"},
		{"addrx", elftest.Encode(uint8(0xa1), 2), tInt, "[const 36866]"},
		{"constx", elftest.Encode(uint8(0xa2), 2, uint8(0x9f)), tInt, "00+4 const 36866"},
		{"deref", elftest.Encode(uint8(0x75), uint8(0), uint8(6)), tInt, "[reg 5; deref64 .0]"},
		{"deref_size", elftest.Encode(uint8(0x75), uint8(4), uint8(0x94), uint8(2), uint8(0x9f)), tInt,
			"00+4 reg 5; const 4; add .0 .1; deref16 .2"},
		{"stack value", elftest.Encode(uint8(0x75), uint8(1), uint8(0x9f)), tInt, "00+4 reg 5; const 1; add .0 .1"},
		{"literals fold", elftest.Encode(uint8(0x33), uint8(0x34), uint8(0x1e), uint8(0x9f)), tInt, "00+4 const 12"},
		{"implicit value", elftest.Encode(uint8(0x9e), 4, "\x01\x02\x03\x04"), tInt, "00+4 const 67305985"},
		{"implicit value, short", elftest.Encode(uint8(0x9e), 2, "\x01\x02"), tInt, "00+2 const 513, 02+2 lost"},
		{"register too small", elftest.Encode(uint8(0x50)), tPair, "00+8 reg 0, 08+8 lost"},
		{"C pieces", elftest.Encode(uint8(0x50), uint8(0x93), 4, uint8(0x93), 4, uint8(0x51), uint8(0x93), 8), tPair,
			"00+4 reg 0, 04+4 lost, 08+8 reg 1"},
		{"C pieces, rest missing", elftest.Encode(uint8(0x50), uint8(0x93), 4), tPair, "00+4 reg 0"},
		{"too many bytes", elftest.Encode(uint8(0x50), uint8(0x93), 8, uint8(0x50), uint8(0x93), 12), tPair,
			"error: pieces of 20 bytes for an object of 16"},
		{"Go pieces", elftest.Encode(uint8(0x50), uint8(0x93), 4, uint8(0x51), uint8(0x93), 8, uint8(0x52), uint8(0x93),
			8,
			uint8(0x93), 8), goPair, "00+4 reg 0, 08+8 reg 1, 16+8 reg 2, 24+8 lost"},
		{"Go pieces in memory", elftest.Encode(uint8(0x91), uint8(0), uint8(0x93), 4, uint8(0x91), uint8(8),
			uint8(0x93), 8,
			uint8(0x91), uint8(16), uint8(0x93), 16), goPair, "[reg 6]"},
		{"Go pieces scattered", elftest.Encode(uint8(0x91), uint8(0), uint8(0x93), 4, uint8(0x91), uint8(4),
			uint8(0x93), 8,
			uint8(0x91), uint8(16), uint8(0x93), 16), goPair, "00+4 reg 6; deref32 .0, 08+8 reg 6; const 4; add .0 " +
			".1; deref64 .2, 16+8 reg 6; const 16; add .0 .1; deref64 .2, 24+8 reg 6; const 24; add .0 .1; deref64 .2"},
		{"Go pieces that fit nothing", elftest.Encode(uint8(0x50), uint8(0x93), 5, uint8(0x51), uint8(0x93), 8), goPair,
			"error: do not match the fields"},
		{"bit piece", elftest.Encode(uint8(0x50), uint8(0x9d), 32, 32, uint8(0x93), 12), tPair,
			"00+4 reg 0; const 32; shr .0 .1, 04+< lost"},
		{"bits of a byte", elftest.Encode(uint8(0x50), uint8(0x9d), 3, 0), tInt, "error: not whole bytes"},
		{"all lost", elftest.Encode(uint8(0x93), 16), tPair, "error: optimised out"},
		{"empty", nil, tInt, "error: optimised out"},
		{"TLS", elftest.Encode(uint8(0x0e), uint64(8), uint8(0x9b)), tInt, "[tls; const -56; add .0 .1]"},
		{"GNU TLS", elftest.Encode(uint8(0x0e), uint64(8), uint8(0xe0)), tInt, "[tls; const -56; add .0 .1]"},
		{"entry value", elftest.Encode(uint8(0xa3), 1, uint8(0x55), uint8(0x9f)), tInt,
			"error: at the function's entry"},
		{"GNU entry value", elftest.Encode(uint8(0xf3), 1, uint8(0x55), uint8(0x9f)), tInt,
			"error: at the function's entry"},
		{"implicit pointer", elftest.Encode(uint8(0xa0), uint32(0), 0), tInt, "error: the pointer itself"},
		{"parameter ref", elftest.Encode(uint8(0xfa), uint32(0)), tInt, "error: depends on the caller"},
		{"division", elftest.Encode(uint8(0x33), uint8(0x31), uint8(0x1b)), tInt, "error: uses a division"},
		{"unknown", elftest.Encode(uint8(0xe7)), tInt, "error: unknown operation 0xe7"},
		{"cut short", elftest.Encode(uint8(3), "\x01\x02"), tInt, "error: cut short"},
		{"underflow", elftest.Encode(uint8(0x22)), tInt, "error: empty stack"},
		{"behind a register", elftest.Encode(uint8(0x55), uint8(0x30)), tInt, "error: behind a complete location"},
		{"no size", elftest.Encode(uint8(0x55), uint8(0x93), 4, uint8(0x50)), tPair,
			"error: ends with a part that has no size"},
		{"uninitialised", elftest.Encode(uint8(0x55), uint8(0xf0)), tInt, "error: has not been initialised"},
		{"convert", elftest.Encode(uint8(0x75), uint8(0), uint8(0xa8), 0x10, uint8(0xa8), 0x18, uint8(0x9f)), tLong,
			"00+8 reg 5; bits .0 0:32s"},
		{"convert unsigned", elftest.Encode(uint8(0x75), uint8(0), uint8(0xa8), 0x14, uint8(0xa8), 0, uint8(0x9f)),
			tLong,
			"00+8 reg 5; bits .0 0:32"},
		{"convert float", elftest.Encode(uint8(0x75), uint8(0), uint8(0xa8), 0x20, uint8(0x9f)), tLong,
			"error: not an integer"},
		{"regval", elftest.Encode(uint8(0xa5), 5, 0x10, uint8(0x9f)), tLong, "00+8 reg 5; bits .0 0:32s"},
		{"const type", elftest.Encode(uint8(0xa4), 0x10, "\x04\xff\xff\xff\xff", uint8(0x9f)), tLong, "00+8 const -1"},
		{"deref type", elftest.Encode(uint8(0x75), uint8(0), uint8(0xa6), "\x04", 0x10, uint8(0x9f)), tLong,
			"00+8 reg 5; deref32s .0"},
		{"high register", elftest.Encode(uint8(0x92), 49, uint8(0)), tLong, "error: register number 49"},
	}
	for _, c := range cases {
		p, err := Place(c.expr, c.typ, testEnv())
		got := placeText(p)
		if err != nil {
			got = "error: " + err.Error()
		}
		if part, isErr := strings.CutPrefix(c.want, "error: "); isErr {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %s, want %s", c.name, got, c.want)
			}
		} else if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	// At the entry the entry value is the value.
	env := testEnv()
	env.AtEntry = true
	if p, err := Place(elftest.Encode(uint8(0xa3), 1, uint8(0x55), uint8(0x9f)), tInt, env); err != nil ||
		placeText(p) != "00+4 reg 5" {
		t.Errorf("entry value at the entry: %v, %v", placeText(p), err)
	}
	env.Relocated = true
	if p, err := Place(elftest.Encode(uint8(3), uint64(0x4010)), tInt, env); err != nil ||
		placeText(p) != "[image; const 16400; add .0 .1]" {
		t.Errorf("relocated address: %v, %v", placeText(p), err)
	}
	// Doubling programs are cut off.
	bomb := elftest.Encode(uint8(0x75), uint8(0))
	for range 60 {
		bomb = append(bomb, 0x12, 0x1e) // dup, mul
	}
	var un *Unavailable
	if _, err := Place(bomb, tInt, env); !errors.As(err, &un) {
		t.Errorf("doubling expression: %v", err)
	}
}

// memory8 is the memory of the differential tests: a function of the address.
func memory8(addr uint64, size int) uint64 {
	v := addr*0x9e3779b97f4a7c15 ^ addr>>7
	return v << (64 - 8*size) >> (64 - 8*size)
}

// runProg is the meaning of a Prog.
func runProg(p loc.Prog, regs []uint64) uint64 {
	v := make([]uint64, len(p.Steps))
	at := func(i int) uint64 {
		if i < len(v) {
			return v[i]
		}
		return 0
	}
	for i, s := range p.Steps {
		a, b := at(s.A), at(s.B)
		switch s.Op {
		case loc.Reg:
			v[i] = regs[s.N]
		case loc.Const:
			v[i] = uint64(s.N)
		case loc.Add:
			v[i] = a + b
		case loc.Sub:
			v[i] = a - b
		case loc.Mul:
			v[i] = a * b
		case loc.And:
			v[i] = a & b
		case loc.Or:
			v[i] = a | b
		case loc.Xor:
			v[i] = a ^ b
		case loc.Shl:
			v[i] = a << b
		case loc.Shr:
			v[i] = a >> b
		case loc.Sar:
			v[i] = uint64(int64(a) >> b)
		case loc.Neg:
			v[i] = -a
		case loc.Not:
			v[i] = ^a
		case loc.Deref:
			v[i] = memory8(a, s.Size)
		case loc.Bits:
			v[i] = a >> uint(s.N) << (64 - s.Size) >> (64 - s.Size)
		default:
			panic(s.Op.String())
		}
	}
	return v[len(v)-1]
}

// Random expressions, against Delve's evaluator.
func TestExpressionsDiffer(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	regs := make([]uint64, 17)
	for i := range regs {
		regs[i] = rnd.Uint64()
	}
	var dregs []*op.DwarfRegister
	for _, r := range regs {
		dregs = append(dregs, op.DwarfRegisterFromUint64(r))
	}
	dw := *op.NewDwarfRegisters(0, dregs, binary.LittleEndian, 16, 7, 6, 16)
	dw.CFA = int64(regs[7] + 16)
	dw.FrameBase = int64(regs[6])
	read := func(b []byte, addr uint64) (int, error) {
		var w [8]byte
		binary.LittleEndian.PutUint64(w[:], memory8(addr, len(b)))
		return copy(b, w[:]), nil
	}
	known := 0
	for range 20000 {
		expr, depth := []byte(nil), 0
		for range 1 + rnd.Intn(14) {
			switch k := rnd.Intn(12); {
			case depth == 0 || k < 4:
				depth++
				switch rnd.Intn(8) {
				case 0:
					expr = append(expr, 0x30+byte(rnd.Intn(32)))
				case 1:
					expr = append(expr, 0x70+byte(rnd.Intn(17)), byte(rnd.Intn(128)))
				case 2:
					expr = append(expr, 0x91, byte(rnd.Intn(128)))
				case 3:
					expr = append(expr, 0x9c)
				case 4:
					expr = append(expr, 0x09, byte(rnd.Int()))
				case 5:
					expr = append(expr, elftest.Encode(uint8(0x0e), rnd.Uint64())...)
				case 6:
					expr = append(expr, elftest.Encode(uint8(0x0d), rnd.Uint32())...)
				case 7:
					expr = append(expr, elftest.Encode(uint8(0x03), uint64(rnd.Uint32()))...)
				}
			case k < 6 && depth >= 2:
				depth--
				expr = append(expr, []byte{0x1a, 0x1c, 0x1e, 0x21, 0x22, 0x27}[rnd.Intn(6)])
			case k == 6:
				expr = append(expr, 0x30+byte(rnd.Intn(32)), []byte{0x24, 0x25, 0x26}[rnd.Intn(3)])
			case k == 7:
				expr = append(expr, []byte{0x19, 0x1f, 0x20}[rnd.Intn(3)])
			case k == 8:
				expr = append(expr, 0x23, byte(rnd.Intn(128)))
			case k == 9:
				expr = append(expr, []byte{0x06, 0x96}[rnd.Intn(2)])
			case k == 10:
				expr = append(expr, 0x12)
				depth++
			case k == 11 && depth >= 2:
				expr = append(expr, 0x16)
			}
		}
		env := testEnv()
		p, err := evaluate(expr, env)
		if err != nil {
			var un *Unavailable
			if errors.As(err, &un) && strings.Contains(un.Reason, "too long") {
				continue
			}
			t.Fatalf("%x: %v", expr, err)
		}
		want, _, err := op.ExecuteStackProgram(dw, expr, 8, read)
		if err != nil {
			t.Fatalf("%x: Delve: %v", expr, err)
		}
		known++
		if got := runProg(p[0].prog, regs); got != uint64(want) {
			t.Fatalf("%x: %#x, Delve has %#x\n%v", expr, got, uint64(want), p[0].prog)
		}
	}
	if known < 15000 {
		t.Errorf("only %d expressions compared", known)
	}
}

// fieldsOf makes fields of 8, 4 and 1 bytes with padding between them, of at most size bytes and 20 fields.
func fieldsOf(size int64) []types.Field {
	var fs []types.Field
	for off, i := int64(0), 0; off < min(size, 200) && i < 20; i++ {
		n := []int64{4, 8, 1}[i%3]
		off = (off + n - 1) &^ (n - 1)
		fs = append(fs, types.Field{Name: "f", Off: off, Type: &types.Ctype{Kind: types.Int, Size: n}})
		off += n
	}
	return fs
}

func checkProg(t *testing.T, steps []loc.Step) {
	t.Helper()
	if len(steps) == 0 {
		t.Error("empty program")
	}
	for i, s := range steps {
		binary := s.Op >= loc.Add && s.Op <= loc.Sar
		if binary && (s.A >= i || s.B >= i || s.A < 0 || s.B < 0) ||
			(s.Op == loc.Deref || s.Op == loc.Bits || s.Op == loc.Neg || s.Op == loc.Not) && (s.A >= i || s.A < 0) {
			t.Errorf("step %d refers forward: %+v", i, s)
		}
		if s.Op == loc.Reg && (s.N < 0 || s.N > 16) {
			t.Errorf("register %d", s.N)
		}
	}
}
