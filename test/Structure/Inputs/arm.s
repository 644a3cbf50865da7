// One loop with FMA.
kernel:
	.cfi_startproc
.LBB0_1:
	ldr	q0, [x0], #16
	ldr	s1, [x1, #4]
	fmla	v2.4s, v0.4s, v1.s[0]
	fmla	v3.4s, v0.4s, v1.s[0]
	str	q3, [sp, #16]                   // 16-byte Folded Spill
	subs	x2, x2, #1
	b.ne	.LBB0_1
	ret
.Lfunc_end0:
