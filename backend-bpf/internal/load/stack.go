package load

import (
	"bytes"

	"github.com/gostap/gostap/backend-bpf/internal/kern"
)

// SharesStack reports whether the kernel lets the program fd keep its variables on a stack that belongs to the CPU
// (Linux 6.13 and later), which programs that can be preempted must not: it looks at the machine code. What the kernel
// does not show is taken to be right, as is the code of other machines than x86-64.
func SharesStack(fd int) (bool, error) {
	st, err := kern.ProgInfo(fd)
	if err != nil || st.JITed == 0 {
		return false, err
	}
	code, err := kern.ProgCode(fd, int(st.JITed))
	return sharesStack(code), err
}

// sharesStack looks for the beginning of a function with such a stack: movabs $stack,%r9; add %gs:offset,%r9
// (emit_priv_frame_ptr of arch/x86/net/bpf_jit_comp.c).
func sharesStack(code []byte) bool {
	for {
		at := bytes.Index(code, []byte{0x65, 0x4c, 0x03, 0x0c, 0x25})
		if at < 0 {
			return false
		}
		if at >= 10 && code[at-10] == 0x49 && code[at-9] == 0xb9 {
			return true
		}
		code = code[at+1:]
	}
}
