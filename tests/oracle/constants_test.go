package oracle

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
)

// constantTypes is how many types the program of TestConstants has.
const constantTypes = 40

// constantsProgram writes a program with types of whole numbers of all sizes, with constants that count, that are bits,
// that have any value, and that share one; functions take values that are constants, sums of some and neither.
func constantsProgram(r *rand.Rand) string {
	bases := []string{"int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64",
		"uintptr"}
	bits := []int{64, 8, 16, 32, 64, 64, 8, 16, 32, 64, 64}
	var src, calls strings.Builder
	src.WriteString("package main\n\nvar kept []any\n\n")
	for i := range constantTypes {
		b := r.IntN(len(bases))
		signed := b < 5
		fits := func(n int64) string {
			shift := 64 - bits[b]
			if signed {
				return fmt.Sprint(n << shift >> shift)
			}
			return fmt.Sprint(uint64(n) << shift >> shift)
		}
		var vals []string
		n := 1 + r.IntN(11)
		for k := range n {
			switch v := int64(k); i % 4 {
			case 0:
				vals = append(vals, fits(v-int64(i%3)))
			case 1:
				vals = append(vals, fits(1<<r.IntN(64)))
			case 2:
				vals = append(vals, fits(int64(r.Uint64())))
			default:
				vals = append(vals, fits(v/2))
			}
		}
		fmt.Fprintf(&src, "type T%d %s\n\nconst (\n", i, bases[b])
		for k, v := range vals {
			fmt.Fprintf(&src, "\tc%d_%d T%d = %s\n", i, k, i, v)
		}
		fmt.Fprintf(&src, ")\n\ntype s%d struct {\n\tA T%[1]d\n\tB int\n\tC [2]T%[1]d\n}\n\n", i)
		fmt.Fprintf(&src, "//go:noinline\nfunc f%d(all []T%[1]d, one T%[1]d, s s%[1]d, p *s%[1]d) T%[1]d {\n"+
			"\tkept = append(kept, all)\n\treturn one + s.A + p.C[1]\n}\n\n", i)
		pick := func() string { return vals[r.IntN(n)] }
		asked := append([]string{"0"}, vals...)
		for range 30 {
			v := fits(int64(r.IntN(9)))
			if r.IntN(2) == 0 {
				v = fmt.Sprintf("%s | %s", pick(), pick())
			}
			asked = append(asked, v)
		}
		fmt.Fprintf(&calls, "\tf%d([]T%[1]d{%[2]s}, %[3]s, s%[1]d{%[4]s, 1, [2]T%[1]d{%[5]s, 1}}, "+
			"&s%[1]d{C: [2]T%[1]d{3, %[6]s}})\n", i, strings.Join(asked, ", "), pick(), pick(), pick(), pick())
	}
	return src.String() + "func main() {\n" + calls.String() + "}\n"
}

// TestConstants: numbers of types with named constants have the names that Delve gives them.
func TestConstants(t *testing.T) {
	needRoot(t)
	var all Figures
	seeds := Seeds(1, 10)
	for _, seed := range seeds {
		dir := t.TempDir()
		write(t, dir, "main.go", constantsProgram(rand.New(rand.NewPCG(seed, 0))))
		bin := filepath.Join(dir, "prog")
		must(t, dir, []string{"CGO_ENABLED=0"}, "go", "build", "-o", bin, "main.go")
		f, places := againstDelve(t, dir, []string{bin}, []string{`function("main.f*").call`}, false)
		if places != constantTypes {
			t.Errorf("seed %d: %d places of %d", seed, places, constantTypes)
		}
		all.Add(f)
	}
	all.Report(t, 3*constantTypes*len(seeds))
}
