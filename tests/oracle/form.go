package oracle

import (
	"fmt"
	"os"
)

// Full reports whether the full form was asked for.
func Full() bool { return os.Getenv("GOSTAP_ORACLE") == "full" }

// Seeds lists the seeds of the random programs: small of them, or full in the full form. They are always the same,
// unless GOSTAP_SEED names the first one; GOSTAP_RUNS says how many.
func Seeds(small, full int) []uint64 {
	first, n := uint64(1), small
	if Full() {
		n = full
	}
	fmt.Sscan(os.Getenv("GOSTAP_SEED"), &first)
	fmt.Sscan(os.Getenv("GOSTAP_RUNS"), &n)
	out := make([]uint64, n)
	for i := range out {
		out[i] = first + uint64(i)
	}
	return out
}
