#include "textflag.h"

// func nextBlock(b []byte, i int) int
//
// 32 bytes at a time are compared with each byte that stops the scan. SSE2 is
// in every amd64, so there is nothing to detect.
TEXT ·nextBlock(SB), NOSPLIT, $0-40
	MOVQ b_base+0(FP), SI
	MOVQ b_len+8(FP), CX
	MOVQ i+24(FP), AX

#define SPREAD(c, X) \
	MOVQ   $c, DX; \
	MOVQ   DX, X;  \
	PUNPCKLQDQ X, X

	SPREAD(0x2d2d2d2d2d2d2d2d, X8)  // -
	SPREAD(0x5f5f5f5f5f5f5f5f, X9)  // _
	SPREAD(0x4949494949494949, X10) // I
	SPREAD(0x7a7a7a7a7a7a7a7a, X11) // z
	SPREAD(0x5c5c5c5c5c5c5c5c, X12) // backslash, and behind it
	SPREAD(0x7575757575757575, X13) // u

	SUBQ $33, CX // the last place with 32 bytes and one behind them

// STOPS marks in X1 the stops among the 16 bytes at off.
#define STOPS(off, X0, X1, X2) \
	MOVOU   off(SI)(AX*1), X0;   \
	MOVOU   off+1(SI)(AX*1), X2; \
	MOVO    X0, X1;   \
	PCMPEQB X12, X1;  \
	PCMPEQB X13, X2;  \
	PAND    X2, X1;   \
	MOVO    X0, X2;   \
	PCMPEQB X8, X2;   \
	POR     X2, X1;   \
	MOVO    X0, X2;   \
	PCMPEQB X9, X2;   \
	POR     X2, X1;   \
	MOVO    X0, X2;   \
	PCMPEQB X10, X2;  \
	POR     X2, X1;   \
	PCMPEQB X11, X0;  \
	POR     X0, X1

next:
	CMPQ AX, CX
	JGT  done
	STOPS(0, X0, X1, X2)
	STOPS(16, X3, X4, X5)
	PMOVMSKB X1, DX
	PMOVMSKB X4, R8
	SHLL $16, R8
	ORL  R8, DX
	JNZ  stop
	ADDQ $32, AX
	JMP  next

stop:
	BSFL DX, DX
	ADDQ DX, AX

done:
	MOVQ AX, ret+32(FP)
	RET
