package amd64

import "bytes"

// Exec is Machine.Exec.
var Exec = []byte{
	0x48, 0x8b, 0x7c, 0x24, 0x10, // mov  rdi, [rsp+16]        argv[1]
	0x48, 0x8d, 0x74, 0x24, 0x18, // lea  rsi, [rsp+24]        argv + 2
	0x48, 0x8b, 0x04, 0x24, //       mov  rax, [rsp]           argc
	0x48, 0x8d, 0x54, 0xc4, 0x10, // lea  rdx, [rsp+rax*8+16]  behind the NULL of argv
	0xb8, 0x3b, 0x00, 0x00, 0x00, // mov  eax, 59              execve
	0x0f, 0x05, //                   syscall
	0xbf, 0x7f, 0x00, 0x00, 0x00, // mov  edi, 127
	0xb8, 0xe7, 0x00, 0x00, 0x00, // mov  eax, 231             exit_group
	0x0f, 0x05, //                   syscall
}

// PrivateStack looks for the beginning of a function with a stack of the processor: movabs $stack,%r9; add
// %gs:offset,%r9 (emit_priv_frame_ptr of arch/x86/net/bpf_jit_comp.c).
func PrivateStack(code []byte) bool {
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
