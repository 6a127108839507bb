/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * What gcc -pg (mcount) and gcc -pg -mfentry (__fentry__) have each function
 * call.  All registers but r11 may hold an argument of that function, or what
 * its nested function needs.  They are kept below the stack pointer, where the
 * ABI lets no signal handler write.
 */
#ifdef __x86_64__

/* With -fcf-protection, one object without its mark would take it from the whole library. */
#include <cet.h>
#include "arcs.h"

#define SELF	(%rsp)

	.text

	.hidden	libprofil_arcs_memory, libprofil_arcs_state

	/* @from: where the address is that the function will return to */
	.macro count from:vararg
	.cfi_startproc
	_CET_ENDBR
	cmpb	$ARCS_ON_FS, libprofil_arcs_state(%rip)
	jae	5f
	movq	%rax, -8(%rsp)
	movq	%rcx, -16(%rsp)
	rdfsbase %rcx

	/* The first slot of the thread, as libprofil_arcs_slot() has it. */
6:	incq	%rcx
	imull	$ARCS_HASH, %ecx, %r11d
	leaq	libprofil_arcs_memory(%rip), %rax
	shrl	$ARCS_SHIFT, %r11d
	cmpq	%rcx, ARCS_THREADS(%rax, %r11, 8)
	movq	(%rax, %r11, 8), %r11
	movq	SELF, %rax
	jne	7f

	/* Its table is in r11. */
	imulq	$ARCS_HASH, \from, %rcx
	addq	%rax, %rcx
	andq	(%r11), %rcx
	addq	%rcx, %r11
	movq	\from, %rcx
1:	cmpq	%rax, ARCS_FIRST(%r11)
	jne	2f
	cmpq	%rcx, ARCS_FIRST+ARC_FROM(%r11)
	jne	3f
	incq	ARCS_FIRST+ARC_COUNT(%r11)
	movq	-8(%rsp), %rax
	movq	-16(%rsp), %rcx
9:	ret
2:	cmpq	$0, ARCS_FIRST(%r11)
	je	4f
3:	addq	$ARC_BYTES, %r11
	jmp	1b

5:	ja	9b
	movq	%rax, -8(%rsp)
	movq	%rcx, -16(%rsp)
	movq	%fs:0, %rcx
	jmp	6b
7:	movq	\from, %rcx

	/* Not there: what rax and rcx held is below the stack pointer. */
4:	movq	%rcx, %r11
	movq	-16(%rsp), %rcx
	leaq	-8(%rsp), %rsp		/* rax is there already */
	.cfi_adjust_cfa_offset 8
	.irp	reg, rcx, rdx, rsi, rdi, r8, r9, r10, rbp
	pushq	%\reg
	.cfi_adjust_cfa_offset 8
	.endr
	movq	%r11, %rdi
	movq	%rax, %rsi
	movq	%rsp, %rbp
	.cfi_def_cfa_register rbp
	andq	$-16, %rsp
	call	libprofil_arcs_add
	movq	%rbp, %rsp
	.cfi_def_cfa_register rsp
	.irp	reg, rbp, r10, r9, r8, rdi, rsi, rdx, rcx, rax
	popq	%\reg
	.cfi_adjust_cfa_offset -8
	.endr
	ret
	.cfi_endproc
	.endm

	.globl	mcount, _mcount
	.type	mcount, @function
	.type	_mcount, @function
	.p2align 4
mcount:
_mcount:
	count	8(%rbp)
	.size	mcount, . - mcount
	.size	_mcount, . - _mcount

	.globl	__fentry__
	.type	__fentry__, @function
	.p2align 4
__fentry__:
	count	8(%rsp)
	.size	__fentry__, . - __fentry__

#endif

	.section .note.GNU-stack, "", @progbits
