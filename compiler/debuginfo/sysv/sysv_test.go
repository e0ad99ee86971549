package sysv

import (
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/machine"
	"github.com/gostap/gostap/compiler/types"
)

var (
	char       = &types.Ctype{Kind: types.Char, Name: "char", Size: 1}
	long       = &types.Ctype{Kind: types.Int, Name: "long", Size: 8, Signed: true}
	float      = &types.Ctype{Kind: types.Float, Name: "float", Size: 4}
	double     = &types.Ctype{Kind: types.Float, Name: "double", Size: 8}
	longDouble = &types.Ctype{Kind: types.Float, Name: "long double", Size: 16}
)

// of is a struct of members, each at the next multiple of its size.
func of(kind types.Kind, members ...*types.Ctype) *types.Ctype {
	t := &types.Ctype{Kind: kind, Name: "struct t"}
	var fields []types.Field
	for _, m := range members {
		off := int64(0)
		if kind == types.Struct {
			off = (t.Size + m.Size - 1) / m.Size * m.Size
		}
		fields = append(fields, types.Field{Type: m, Off: off})
		t.Size = max(t.Size, off+m.Size)
	}
	t.SetFields(fields)
	return t
}

// TestResult: where the ABI's own examples, and what gcc and clang agree on, are returned.
func TestResult(t *testing.T) {
	quad := &types.Ctype{Kind: types.Float, Name: "_Float128", Size: 16}
	for name, c := range map[string]struct {
		t    *types.Ctype
		want string // places of its parts, or a part of the reason
	}{
		"long":                       {long, "rax"},
		"double":                     {double, "xmm0"},
		"long double":                {longDouble, "x87"},
		"a quad":                     {quad, "xmm0"},
		"two longs":                  {of(types.Struct, long, long), "rax rdx"},
		"two doubles":                {of(types.Struct, double, double), "xmm0 xmm1"},
		"a long and a double":        {of(types.Struct, long, double), "rax xmm0"},
		"a double and a long":        {of(types.Struct, double, long), "xmm0 rax"},
		"a float and a char":         {of(types.Struct, float, char), "rax"},
		"two floats":                 {of(types.Struct, float, float), "xmm0"},
		"a long or a double":         {of(types.Union, long, double), "rax"},
		"a char or a long double":    {of(types.Union, char, longDouble), "memory"},
		"three longs":                {of(types.Struct, long, long, long), "memory"},
		"nothing":                    {of(types.Struct), ""},
		"an incomplete type":         {&types.Ctype{Kind: types.Struct, Size: -1}, "not known"},
		"a struct that holds a char": {of(types.Struct, of(types.Struct, char)), "rax"},
	} {
		pl, why := Result(machine.Default, c.t, false)
		var parts []string
		if pl.InMemory {
			parts = append(parts, "memory")
		}
		for _, p := range pl.Pieces {
			switch {
			case p.Vector > 0:
				parts = append(parts, "xmm"+string(rune('0'+p.Vector-1)))
			case len(p.Val.Steps) == 1 && p.Val.Steps[0].Op == loc.Reg:
				parts = append(parts, machine.Default.RegName(uint64(p.Val.Steps[0].N)))
			}
		}
		if got := strings.Join(parts, " "); why == "" && got != c.want || why != "" && !strings.Contains(why, c.want) {
			t.Errorf("%s is in %q (%s), not in %q", name, got, why, c.want)
		}
	}
	// A class whose copying is code is where the caller wants it, however small it is.
	if pl, why := Result(machine.Default, long, true); !pl.InMemory || why != "" {
		t.Errorf("by reference: %v %s", pl, why)
	}
}
