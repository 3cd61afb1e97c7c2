#include "textflag.h"

DATA quotes<>+0(SB)/8, $0x2222222222222222
DATA quotes<>+8(SB)/8, $0x2222222222222222
GLOBL quotes<>(SB), RODATA|NOPTR, $16

DATA backslashes<>+0(SB)/8, $0x5c5c5c5c5c5c5c5c
DATA backslashes<>+8(SB)/8, $0x5c5c5c5c5c5c5c5c
GLOBL backslashes<>(SB), RODATA|NOPTR, $16

DATA controls<>+0(SB)/8, $0x1f1f1f1f1f1f1f1f
DATA controls<>+8(SB)/8, $0x1f1f1f1f1f1f1f1f
GLOBL controls<>(SB), RODATA|NOPTR, $16

// func decodeRuns(dst, src []byte) (written, read int)
//
// 32 bytes at a time are copied and compared; the mask of the special ones then
// leads from one escape to the next without looking at the bytes again. SSE2 is
// in every amd64, so there is nothing to detect.
TEXT ·decodeRuns(SB), NOSPLIT, $0-64
	MOVQ  dst_base+0(FP), DI
	MOVQ  src_base+24(FP), SI
	MOVQ  src_len+32(FP), R8
	MOVOU quotes<>(SB), X5
	MOVOU backslashes<>(SB), X6
	MOVOU controls<>(SB), X7
	LEAQ  ·escapes(SB), R11
	ADDQ  SI, R8
	SUBQ  $65, R8               // the last place with 32 bytes, and 32 behind an escape at their end

next:
	CMPQ SI, R8
	JGT  done

	MOVOU (SI), X0
	MOVOU 16(SI), X1
	MOVOU X0, (DI)
	MOVOU X1, 16(DI)

	// The special bytes of each half: a quote, a backslash, at most 0x1f.
	MOVO     X0, X2
	MOVO     X0, X3
	PCMPEQB  X5, X2
	PCMPEQB  X6, X3
	POR      X3, X2
	MOVO     X0, X3
	PMINUB   X7, X3
	PCMPEQB  X0, X3
	POR      X3, X2
	PMOVMSKB X2, R9
	MOVO     X1, X2
	MOVO     X1, X3
	PCMPEQB  X5, X2
	PCMPEQB  X6, X3
	POR      X3, X2
	MOVO     X1, X3
	PMINUB   X7, X3
	PCMPEQB  X1, X3
	POR      X3, X2
	PMOVMSKB X2, R10
	SHLL     $16, R10
	ORL      R10, R9
	JZ       plain

escape:
	BSFL    R9, CX
	ADDQ    CX, SI
	ADDQ    CX, DI
	CMPB    (SI), $0x5c
	JNE     done
	MOVBLZX 1(SI), AX
	MOVBLZX (R11)(AX*1), AX
	TESTL   AX, AX
	JZ      done                // \u, or no escape
	MOVB    AX, (DI)
	INCQ    DI
	ADDQ    $2, SI
	ADDL    $2, CX
	SHRQ    CX, R9              // what is left of the block
	JZ      next
	MOVOU   (SI), X0
	MOVOU   16(SI), X1
	MOVOU   X0, (DI)
	MOVOU   X1, 16(DI)
	JMP     escape

plain:
	ADDQ $32, SI
	ADDQ $32, DI
	JMP  next

done:
	SUBQ dst_base+0(FP), DI
	SUBQ src_base+24(FP), SI
	MOVQ DI, written+48(FP)
	MOVQ SI, read+56(FP)
	RET
