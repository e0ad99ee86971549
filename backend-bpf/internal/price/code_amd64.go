package price

// measured: measure knows two functions of this machine to probe.
const measured = true

// atNop begins with an instruction that the kernel emulates, atRet with one that it single-steps. They are probed
// here, and called to be measured.
func atNop()
func atRet()

func addressNop() uint64
func addressRet() uint64
