// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * What is counted, and what each process has for itself.  The latter is empty in a
 * forked child, whatever call made it, and also if another thread held the lock
 * meanwhile; but not in a child of vfork(), whose memory is its parent's.
 */
#define _GNU_SOURCE
#include <stddef.h>
#include <sys/mman.h>
#include <time.h>
#include "gmon.h"
#include "internal.h"

/* <unistd.h> declares profil(), see internal.h. */
int getpid(void);

#define RATE_UNKNOWN	100	/* without the device; gprof divides by it */

struct libprofil_profile libprofil_profile = { .rate = RATE_UNKNOWN };

static struct libprofil_state first;
struct libprofil_state *libprofil_state = &first;

bool libprofil_forked;

static void forked(void)
{
	libprofil_forked = true;
}

/* Also where nothing is profiled until a child begins to. */
static __attribute__((constructor)) void follow_fork(void)
{
	pthread_atfork(NULL, NULL, forked);
}

/**
 * libprofil_map_zero() - Have memory that a forked child finds empty again
 * @bytes: How much
 *
 * Return: NULL without.
 */
void *libprofil_map_zero(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	madvise(memory, bytes, MADV_WIPEONFORK);
	return memory;
}

/**
 * libprofil_state_begin() - Have memory that a forked child finds empty
 *
 * Where there is none, libprofil_state_forked() does as much for all but _Fork().
 */
void libprofil_state_begin(void)
{
	void *memory;

	if (libprofil_state != &first)
		return;
	first.first = true;
	memory = mmap(NULL, sizeof(first), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return;
	madvise(memory, sizeof(first), MADV_WIPEONFORK);
	libprofil_state = memory;
	libprofil_state->pid = getpid();
	libprofil_state->first = true;
}

/**
 * libprofil_state_forked() - Begin anew in a forked child
 */
void libprofil_state_forked(void)
{
	*libprofil_state = (struct libprofil_state) { .pid = getpid() };
}

/**
 * libprofil_state_is_ours() - Whether the counts are those of this process
 *
 * Return: False in a child of vfork(): they are its parent's.
 */
bool libprofil_state_is_ours(void)
{
	int pid = getpid();
	int owner = 0;

	return atomic_compare_exchange_strong(&libprofil_state->pid, &owner, pid) ||
	       owner == pid;
}

/**
 * libprofil_state_lock() - Change what is counted, or write it
 * @hold: For libprofil_state_unlock()
 *
 * No signal handler of this thread runs meanwhile, for it may want the same; and
 * it does not end amid it.
 */
void libprofil_state_lock(struct libprofil_hold *hold)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &hold->mask);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &hold->cancel);
	sigpending(&hold->pending);
	hold->state = libprofil_state;
	pthread_mutex_lock(&hold->state->lock);
	hold->state->mask = hold->mask;
}

/**
 * libprofil_state_unlock() - End what libprofil_state_lock() began
 * @hold: As that one left it
 */
void libprofil_state_unlock(const struct libprofil_hold *hold)
{
	pthread_mutex_unlock(&hold->state->lock);
	pthread_setcancelstate(hold->cancel, NULL);
	/* From what was written: a file's limit, a pipe without reader. */
	libprofil_signal_drop(SIGXFSZ, &hold->pending);
	libprofil_signal_drop(SIGPIPE, &hold->pending);
	pthread_sigmask(SIG_SETMASK, &hold->mask, NULL);
}

/**
 * libprofil_state_may_die() - Let signals end the process, or not any more
 * @may: Those that no handler is for, and that were not blocked before
 *
 * Context: The lock, and what may take for ever.
 */
void libprofil_state_may_die(bool may)
{
	struct sigaction action;
	sigset_t mask;

	sigfillset(&mask);
	for (int number = 1; may && number < NSIG; number++)
		if (number != SIGXFSZ && number != SIGPIPE &&
		    !sigismember(&libprofil_state->mask, number) &&
		    !sigaction(number, NULL, &action) && action.sa_handler == SIG_DFL)
			sigdelset(&mask, number);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
}
