// SPDX-License-Identifier: GPL-2.0-only
/*
 * All that a function can be given and give back gets past mcount: each value
 * that is not as it was counts in the exit status.
 */
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline, noclone))

struct big {
	long part[5];
};

struct pair {
	double d;
	long l;
};

static int bad;

static void want(int good)
{
	bad += !good;
}

static NOINLINE long
integers(long a, long b, long c, long d, long e, long f, long g, long h)
{
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h;
}

static NOINLINE double
doubles(double a, double b, double c, double d, double e, double f, double g, double h)
{
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h;
}

#define VECTOR	double __attribute__((vector_size(16)))

static NOINLINE VECTOR vectors(VECTOR a, VECTOR b)
{
	return a * b;
}

#ifdef __x86_64__
/* 1 if mcount, or else __fentry__, has left all registers alone but r11. */
int kept_by_mcount(void);
int kept_by_fentry(void);

#define KEPT(name, function)						\
	".type " name ", @function\n"					\
	name ":\n"							\
	"push %rbp; mov %rsp, %rbp; push %rbx\n"			\
	"mov $1, %eax; mov $2, %ecx; mov $3, %edx; mov $4, %esi\n"	\
	"mov $5, %edi; mov $6, %r8d; mov $7, %r9d; mov $8, %r10d\n"	\
	"mov $9, %ebx; call " function "@PLT\n"			\
	"cmp $1, %rax; jne 1f; cmp $2, %rcx; jne 1f\n"			\
	"cmp $3, %rdx; jne 1f; cmp $4, %rsi; jne 1f\n"			\
	"cmp $5, %rdi; jne 1f; cmp $6, %r8; jne 1f\n"			\
	"cmp $7, %r9; jne 1f; cmp $8, %r10; jne 1f\n"			\
	"cmp $9, %rbx; jne 1f; mov $1, %eax; jmp 2f\n"			\
	"1: xor %eax, %eax\n"						\
	"2: pop %rbx; pop %rbp; ret\n"

__asm__(".text\n"
	KEPT("kept_by_mcount", "mcount")
	KEPT("kept_by_fentry", "__fentry__"));

/* The first call of a thread has a table made, the second a new arc. */
__attribute__((no_instrument_function))
static void *first_calls(void *arg)
{
	int i;

	for (i = 0; i < 2; i++) {
		bad += !(arg ? kept_by_mcount() : kept_by_fentry());
		bad += !(arg ? kept_by_fentry() : kept_by_mcount());
	}
	return arg;
}

static void in_threads(void)
{
	pthread_t thread;
	int i;

	for (i = 0; i < 2; i++) {
		want(!pthread_create(&thread, NULL, first_calls, i ? &bad : NULL));
		pthread_join(thread, NULL);
	}
}

#define WIDE	double __attribute__((vector_size(32)))

__attribute__((target("avx"), noinline, noclone))
static void wide_add(WIDE *sum, WIDE a)
{
	*sum += a;
}

__attribute__((target("avx"), noinline, noclone))
static double wide_sum(WIDE a, WIDE b)
{
	WIDE sum = { 0 };

	wide_add(&sum, a);
	sum += b;
	return sum[0] + sum[1] + sum[2] + sum[3];
}

__attribute__((target("avx"), noinline, noclone))
static void wides(void)
{
	WIDE a = { 1, 2, 3, 4 }, b = { 10, 20, 30, 40 };

	want(wide_sum(a, b) == 110);
}
#endif

static NOINLINE double variadic(int num, ...)
{
	double sum = 0;
	va_list list;

	va_start(list, num);
	while (num--) {
		sum += va_arg(list, double);
		sum += va_arg(list, int);
	}
	va_end(list);
	return sum;
}

static NOINLINE struct big bigs(long first)
{
	struct big big = { { first, 2, 3, 4, 5 } };

	return big;
}

static NOINLINE struct pair pairs(double d, long l)
{
	struct pair pair = { d, l };

	return pair;
}

int main(void)
{
	VECTOR a = { 2, 3 }, b = { 5, 7 }, v = vectors(a, b);
	int i;

	/* The first time an arc is new, and the slow way is taken. */
	for (i = 0; i < 3; i++) {
		want(integers(1, 2, 3, 4, 5, 6, 7, 8) == 204);
		want(doubles(1, 2, 3, 4, 5, 6, 7, 8) == 204);
		want(v[0] == 10 && v[1] == 21);
		want(variadic(3, 1.5, 1, 2.5, 2, 3.5, 3) == 13.5);
		want(bigs(i).part[0] == i && bigs(9).part[4] == 5);
		want(pairs(2.5, 7).d == 2.5 && pairs(2.5, 7).l == 7);
	}
#ifdef __x86_64__
	in_threads();
	if (__builtin_cpu_supports("avx"))
		wides();
#endif
	exit(bad);
}
