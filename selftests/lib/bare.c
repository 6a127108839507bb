// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls leaf() N times where little is allowed:
 *
 *	bare seccomp N	in a thread that may read, write, exit and return from signals
 *	bare handler N	in a signal handler of such a thread, as its first calls
 *	bare pointer N	with the thread pointers of other runtimes, or of none: three times
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <linux/seccomp.h>
#include <unistd.h>
#ifdef __x86_64__
#include <asm/prctl.h>
#endif

#define NOINLINE __attribute__((noinline, noclone))
#define BARE __attribute__((no_instrument_function, optimize("no-stack-protector")))
#define CALLS_4()	do { leaf(); leaf(); leaf(); leaf(); } while (0)
#define CALLS_16()	do { CALLS_4(); CALLS_4(); CALLS_4(); CALLS_4(); } while (0)
#define CALLS_64()	do { CALLS_16(); CALLS_16(); CALLS_16(); CALLS_16(); } while (0)

static long number;
static int by_handler;

NOINLINE void leaf(void);
NOINLINE void leaf(void)
{
	__asm__ volatile("");
}

/* So many places that a table has to grow; as often as a multiple of them. */
static BARE void calls(void)
{
	long i;

	for (i = 0; i < number / 256; i++) {
		CALLS_64();
		CALLS_64();
		CALLS_64();
		CALLS_64();
	}
}

static BARE void handler(int sig)
{
	(void)sig;
	calls();
}

static BARE void *confined(void *arg)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	if (by_handler) {
		pthread_sigmask(SIG_BLOCK, &set, NULL);
		pthread_kill(pthread_self(), SIGUSR1);
		pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	}
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
		return arg;
	calls();
	syscall(SYS_exit, 0);
	return NULL;
}

static BARE int confine(void)
{
	pthread_t thread;
	void *failed;

	signal(SIGUSR1, handler);
	return pthread_create(&thread, NULL, confined, (void *)1) ||
	       pthread_join(thread, &failed) || failed;
}

#ifdef __x86_64__

static BARE uintptr_t pointer(void)
{
	uintptr_t value;

	__asm__ volatile("movq %%fs:0, %0" : "=r" (value));
	return value;
}

static BARE void set_pointer(uintptr_t value)
{
	long nr = SYS_arch_prctl;

	__asm__ volatile("syscall" : "+a" (nr) : "D" ((long)ARCH_SET_FS), "S" (value)
			 : "rcx", "r11", "memory");
}

/* Bit 1: the register can be read. */
static int any_pointer(void)
{
	return getauxval(AT_HWCAP2) & 2;
}

#else

static BARE uintptr_t pointer(void)
{
	return (uintptr_t)__builtin_thread_pointer();
}

static BARE void set_pointer(uintptr_t value)
{
	__asm__ volatile("msr tpidr_el0, %0" : : "r" (value) : "memory");
}

static int any_pointer(void)
{
	return 1;
}

#endif

static BARE int with_others(void)
{
	static uintptr_t block[2];
	uintptr_t ours = pointer();
	uintptr_t others[3] = { (uintptr_t)block, 0, 0x10 };
	int any = any_pointer();
	int i;

	block[0] = (uintptr_t)block;
	for (i = 0; i < 3; i++) {
		set_pointer(others[any ? i : 0]);
		calls();
		set_pointer(ours);
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 1;
	number = atol(argv[2]);
	if (!strcmp(argv[1], "pointer"))
		return with_others();
	by_handler = !strcmp(argv[1], "handler");
	return confine();
}
