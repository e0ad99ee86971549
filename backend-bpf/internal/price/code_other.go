//go:build !amd64

package price

// measured: there are no instructions here that the kernel is known to emulate and to single-step.
const measured = false

func atNop() {}
func atRet() {}

func addressNop() uint64 { return 0 }
func addressRet() uint64 { return 0 }
