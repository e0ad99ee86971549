package softfloat_test

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/interp"
	"github.com/gostap/gostap/compiler/ir/textfmt"
	"github.com/gostap/gostap/compiler/layout"
	"github.com/gostap/gostap/compiler/softfloat"
)

// printed takes what a program prints.
type printed struct {
	interp.Output
	text string
}

func (p *printed) Print(b []byte) { p.text += string(b) }

func (p *printed) Error(*textfmt.Fault) { p.text += "error" }

// registers gives the arguments.
type registers struct {
	interp.HostContext
	args []int64
}

func (r *registers) Reg(n int) int64 { return r.args[n] }

// machine runs the function that does what, which takes n numbers.
func machine(t *testing.T, what string, n int) func(args ...int64) (int64, bool) {
	t.Helper()
	p := &ir.Program{Limits: layout.Default()}
	name := softfloat.Add(p, what)
	form := p.AddFormat(&ir.Format{Pieces: []ir.Piece{ir.Conv('d')}})
	b := ir.NewBuilder("")
	var vals []ir.Val
	for i := range n {
		r := b.Long("")
		in := b.Make(ir.OpReg, r)
		in.N = int64(i)
		b.Emit(in)
		vals = append(vals, ir.R(r))
	}
	r := b.Long("")
	b.Call(name, r, vals...)
	b.Print(form, ir.R(r))
	b.End()
	p.Probes = []*ir.Probe{{Name: "x", Handler: b.Finish(), Cond: -1}}
	if err := ir.Verify(p); err != nil {
		t.Fatal(err)
	}
	out := &printed{}
	m, err := interp.New(p, interp.NewMemStore(p), out)
	if err != nil {
		t.Fatal(err)
	}
	return func(args ...int64) (int64, bool) {
		out.text = ""
		if _, err := m.Run(0, &registers{args: args}); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.text, "error") {
			return 0, false
		}
		v, err := strconv.ParseInt(out.text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return v, true
	}
}

// edges are numbers at which something changes.
var edges = []float64{0, math.Copysign(0, -1), 1, -1, 2, 0.5, 1.5, 3, 10, 0.1, math.Inf(1), math.Inf(-1), math.NaN(),
	math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, -math.SmallestNonzeroFloat64, 0x1p-1022,
	-0x1p-1022, 0x1.fffffffffffffp-1023, 0x1p52, 0x1p53, 0x1p53 - 1, 0x1p62, 0x1p63, -0x1p63, 0x1p64,
	0x1.fffffffffffffp62, 0x1.fffffffffffffp1023, 0x1p1023, 0x1p-1074, 0x1p-1073, 0x1.8p-1073, 0x1p-537, 0x1p-538,
	0x1.0000000000001p0, 0x1.fffffffffffffp0, 1e300, 1e-300, 1e15, 123456.789}

// number gives an edge, or any bits, or a number near to of.
func number(r *rand.Rand, of float64) float64 {
	switch r.IntN(8) {
	case 0:
		return edges[r.IntN(len(edges))]
	case 1:
		return math.Float64frombits(math.Float64bits(of) ^ uint64(r.IntN(16)))
	case 2:
		return -math.Float64frombits(math.Float64bits(of) + uint64(r.IntN(8)))
	case 3:
		return of * math.Ldexp(1+float64(r.IntN(4)), r.IntN(130)-65)
	case 4:
		return float64(r.IntN(2000)-1000) / float64(1+r.IntN(20))
	case 5:
		return math.Float64frombits(r.Uint64() >> 12 >> r.IntN(50)) // subnormal
	}
	return math.Float64frombits(r.Uint64())
}

func bits(f float64) int64 { return int64(math.Float64bits(f)) }

// TestArithmetic holds the functions against the processor's arithmetic.
func TestArithmetic(t *testing.T) {
	add, mul, div, cmp := machine(t, "add", 2), machine(t, "mul", 2), machine(t, "div", 2), machine(t, "cmp", 2)
	r := rand.New(rand.NewPCG(1, 2))
	wrong := 0
	check := func(op string, got int64, a, b, want float64) {
		g := math.Float64frombits(uint64(got))
		if g != g && want != want || got == bits(want) {
			return
		}
		if wrong++; wrong < 20 {
			t.Errorf("%x %s %x (%x %x) is %x, not %x", a, op, b, bits(a), bits(b), g, want)
		}
	}
	try := func(a, b float64) {
		got, _ := add(bits(a), bits(b))
		check("+", got, a, b, a+b)
		got, _ = mul(bits(a), bits(b))
		check("*", got, a, b, a*b)
		got, _ = div(bits(a), bits(b))
		check("/", got, a, b, a/b)
		want := int64(2)
		switch {
		case a < b:
			want = -1
		case a == b:
			want = 0
		case a > b:
			want = 1
		}
		if got, _ := cmp(bits(a), bits(b)); got != want {
			t.Errorf("%x and %x compare as %d, not %d", a, b, got, want)
		}
	}
	for _, a := range edges {
		for _, b := range edges {
			try(a, b)
		}
	}
	for range 30000 {
		a := number(r, 1)
		try(a, number(r, a))
	}
}

// TestConversions holds the conversions against the processor's.
func TestConversions(t *testing.T) {
	norm, trunc, wide := machine(t, "norm", 3), machine(t, "trunc", 1), machine(t, "wide", 1)
	round := machine(t, "round", 1)
	r := rand.New(rand.NewPCG(3, 4))
	for i := range 20000 {
		n := int64(r.Uint64()) >> r.IntN(64)
		switch i {
		case 0:
			n = math.MinInt64
		case 1:
			n = math.MaxInt64
		case 2:
			n = 0
		}
		sign, abs := int64(0), n
		if n < 0 {
			sign, abs = 1, -n
		}
		if got, _ := norm(sign, softfloat.Whole, abs); got != bits(float64(n)) {
			t.Fatalf("%d becomes %x, not %x", n, got, bits(float64(n)))
		}
		f := number(r, float64(n))
		if i < len(edges) {
			f = edges[i]
		}
		got, ok := trunc(bits(f))
		if fits := f >= -0x1p63 && f < 0x1p63; ok != fits || ok && got != int64(f) {
			t.Fatalf("%v begins with %d (%v), not %d", f, got, ok, int64(f))
		}
		for _, f := range []float64{f, float64(n) / 2, math.Trunc(f) + 0.5, math.Nextafter(float64(n)/2, math.Inf(1)),
			math.Nextafter(float64(n)/2, math.Inf(-1))} {
			got, ok := round(bits(f))
			if fits := f >= -0x1p63 && f < 0x1p63; ok != fits || ok && got != int64(math.RoundToEven(f)) {
				t.Fatalf("%v is nearest to %d (%v), not %v", f, got, ok, math.RoundToEven(f))
			}
		}
		w := math.Float32frombits(r.Uint32() >> (r.IntN(2) * r.IntN(32)))
		if got, _ := wide(int64(math.Float32bits(w))); got != bits(float64(w)) && w == w {
			t.Fatalf("%x becomes %x, not %x", w, got, bits(float64(w)))
		}
	}
}
