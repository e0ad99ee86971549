package load

import (
	"github.com/gostap/gostap/backend-bpf/internal/kern"
	"github.com/gostap/gostap/compiler/machine"
)

// SharesStack reports whether the kernel lets the program fd keep its variables on a stack that belongs to the CPU
// (Linux 6.13 and later), which programs that can be preempted must not: it looks at the machine code. What the kernel
// does not show is taken to be right.
func SharesStack(fd int) (bool, error) {
	st, err := kern.ProgInfo(fd)
	if err != nil || st.JITed == 0 {
		return false, err
	}
	code, err := kern.ProgCode(fd, int(st.JITed))
	return machine.Host.PrivateStack(code), err
}
