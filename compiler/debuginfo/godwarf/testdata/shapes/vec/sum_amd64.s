#include "textflag.h"

// func Sum(a, b int64, s []int64) (total int64, n int32)
TEXT ·Sum(SB), NOSPLIT, $0-52
	MOVQ a+0(FP), AX
	ADDQ b+8(FP), AX
	MOVQ s_base+16(FP), SI
	MOVQ s_len+24(FP), CX
	MOVL CX, DX
	JMP  test
loop:
	ADDQ (SI), AX
	ADDQ $8, SI
	DECQ CX
test:
	TESTQ CX, CX
	JNZ  loop
	MOVQ AX, total+40(FP)
	MOVL DX, n+48(FP)
	RET

// func product(a int64, b uint16, f float64) int64
TEXT ·product(SB), NOSPLIT, $0-32
	MOVQ a+0(FP), AX
	MOVWQZX b+8(FP), CX
	IMULQ CX, AX
	MOVQ AX, ret+24(FP)
	RET
