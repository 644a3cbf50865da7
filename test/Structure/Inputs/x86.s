# Two loops with FMA inside another loop, two of exp2, and one after the end.
kernel:
	.cfi_startproc
.LBB0_1:
	xorl	%eax, %eax
.LBB0_2:
	vbroadcastss	(%rdi,%rax,4), %ymm0
	vfmadd231ps	%ymm0, %ymm1, %ymm2
	vfmadd231ps	32(%rsp), %ymm0, %ymm3  # 32-byte Folded Reload
	vmovups	%ymm2, 64(%rsp)         # 32-byte Spill
	vfmadd231ps	(%rsi), %ymm0, %ymm4
	addq	$32, %rsi
	incq	%rax
	cmpq	$64, %rax
	jne	.LBB0_2
.LBB0_3:
	vfmadd231ps	(%rsi), %ymm0, %ymm4
	callq	expf@PLT
	incq	%rax
	cmpq	$64, %rax
	jne	.LBB0_3
.LBB0_4:
	vpslld	$23, %ymm0, %ymm0
	vfmadd231ps	%ymm0, %ymm1, %ymm2
	jne	.LBB0_4
.LBB0_6:
	vscalefps	%zmm0, %zmm1, %zmm1
	vfmadd231ps	%zmm0, %zmm1, %zmm2
	jne	.LBB0_6
	decq	%rcx
	jne	.LBB0_1
	retq
.Lfunc_end0:
other_end:
.LBB0_5:
	vfmadd231ps	%ymm0, %ymm1, %ymm2
	jne	.LBB0_5
