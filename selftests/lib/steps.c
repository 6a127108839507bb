// SPDX-License-Identifier: GPL-2.0-only
/*
 * A signal handler forks between any two instructions of the runtime: of a call that is new,
 * and of the same once more.  Each child goes on from there, and it fails if one of them does
 * not come to its end.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

/* What the handler does is no call, nor a block, of its child. */
#define PLAIN __attribute__((no_instrument_function, no_sanitize_coverage))

#define CALLS 2

__attribute__((noinline, noclone)) void leaf(void);
void leaf(void)
{
	__asm__ volatile("");	/* a step */
}

#ifdef __x86_64__
#define TRAP 0x100		/* of the flags: SIGTRAP after each instruction */

static int child, steps, bad;

PLAIN static void step(int sig, siginfo_t *info, void *context)
{
	ucontext_t *stopped = context;
	pid_t pid = fork();
	int status;

	(void)sig;
	(void)info;
	if (!pid) {
		child = 1;
		stopped->uc_mcontext.gregs[REG_EFL] &= ~TRAP;
		return;
	}
	bad += waitpid(pid, &status, 0) != pid || status;
	steps++;
}

/* The memory below the stack pointer may be in use. */
#define BELOW(code) "lea -128(%%rsp), %%rsp; pushfq; " code "; popfq; lea 128(%%rsp), %%rsp"

PLAIN static void call_in_steps(void)
{
	__asm__ volatile(BELOW("orq %0, (%%rsp)") : : "i" (TRAP) : "memory", "cc");
	leaf();
	__asm__ volatile(BELOW("andq %0, (%%rsp)") : : "i" (~TRAP) : "memory", "cc");
	if (child)
		_exit(0);
}

PLAIN int main(void)
{
	struct sigaction action = { .sa_sigaction = step, .sa_flags = SA_SIGINFO };
	int i;

	sigaction(SIGTRAP, &action, NULL);
	for (i = 0; i < CALLS; i++)
		call_in_steps();
	return bad || steps < CALLS * 20;
}
#else
int main(void)
{
	int i;

	for (i = 0; i < CALLS; i++)
		leaf();
	return 0;
}
#endif
