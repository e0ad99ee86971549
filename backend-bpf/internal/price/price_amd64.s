#include "textflag.h"

// func atNop()
TEXT ·atNop(SB), NOSPLIT|NOFRAME, $0-0
	BYTE $0x90
	RET

// func atRet()
TEXT ·atRet(SB), NOSPLIT|NOFRAME, $0-0
	RET

// func addressNop() uint64
TEXT ·addressNop(SB), NOSPLIT, $0-8
	LEAQ ·atNop(SB), AX
	MOVQ AX, ret+0(FP)
	RET

// func addressRet() uint64
TEXT ·addressRet(SB), NOSPLIT, $0-8
	LEAQ ·atRet(SB), AX
	MOVQ AX, ret+0(FP)
	RET
