package interp

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Numbers with a fraction are those of IEEE 754 with 64 bits; a script holds them as the number that has the same bits.

func fraction(n int64) float64 { return math.Float64frombits(uint64(n)) }

func fromFraction(f float64) (Val, error) { return long(int64(math.Float64bits(f))) }

// onTwo makes an intrinsic of an operation on two of them.
func onTwo(op func(a, b float64) float64) builtin {
	return func(_ *Machine, a []Val, _ int) (Val, error) {
		return fromFraction(op(fraction(a[0].Int), fraction(a[1].Int)))
	}
}

// compared makes an intrinsic of a comparison, which is false for what is no number.
func compared(op func(a, b float64) bool) builtin {
	return func(_ *Machine, a []Val, _ int) (Val, error) {
		return long(truth(op(fraction(a[0].Int), fraction(a[1].Int))))
	}
}

// fractionToLong rounds: 0 to the nearest, to the even one of two; 1 towards 0; 2 down; 3 up; 4 to the nearest, away
// from 0 of two; 6 to the odd one of two. exact refuses what has a fraction.
func fractionToLong(f float64, mode int64, exact bool) (Val, error) {
	var r float64
	switch mode {
	case 0:
		r = math.RoundToEven(f)
	case 1:
		r = math.Trunc(f)
	case 2:
		r = math.Floor(f)
	case 3:
		r = math.Ceil(f)
	case 4:
		r = math.Round(f)
	case 6:
		if r = math.Trunc(f); r != f && math.Mod(r, 2) == 0 {
			r += math.Copysign(1, f)
		}
	default:
		return Val{}, badArg(fmt.Sprintf("fp_to_long: there is no way %d to round", mode))
	}
	switch {
	case !(r >= -1<<63 && r < 1<<63):
		return Val{}, badArg("fp_to_long: " + strconv.FormatFloat(f, 'g', -1, 64) + " does not fit into 64 bits")
	case exact && r != f:
		return Val{}, badArg("fp_to_long: " + strconv.FormatFloat(f, 'g', -1, 64) + " has a fraction")
	}
	return long(int64(r))
}

// loadAverage gives one of the three load averages of the machine, times 100.
func loadAverage(file string, n int64) (Val, error) {
	fields := strings.Fields(file)
	if n < 0 || n > 2 || len(fields) < 3 {
		return Val{}, badArg(fmt.Sprintf("there is no load average %d, they go from 0 to 2", n))
	}
	f, err := strconv.ParseFloat(fields[n], 64)
	if err != nil {
		return Val{}, badArg("loadavg: " + err.Error())
	}
	return Val{Int: int64(math.Round(f * 100))}, nil
}
