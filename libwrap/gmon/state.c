// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * What each process has for itself.  It is empty in a forked child, whatever call
 * made it, and also if another thread held the lock meanwhile; but not in a child
 * of vfork(), whose memory is its parent's.
 */
#define _GNU_SOURCE
#include <stddef.h>
#include <sys/mman.h>
#include "gmon.h"

/* <unistd.h> declares profil(), see internal.h. */
int getpid(void);

static struct libprofil_own first;
struct libprofil_own *libprofil_own = &first;

/**
 * libprofil_own_begin() - Have memory that a forked child finds empty
 *
 * Where there is none, libprofil_own_forked() does as much for all but _Fork().
 */
void libprofil_own_begin(void)
{
	void *memory;

	if (libprofil_own != &first)
		return;
	memory = mmap(NULL, sizeof(first), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return;
	madvise(memory, sizeof(first), MADV_WIPEONFORK);
	libprofil_own = memory;
	libprofil_own->pid = getpid();
}

/**
 * libprofil_own_forked() - Begin anew in a forked child
 */
void libprofil_own_forked(void)
{
	*libprofil_own = (struct libprofil_own) { .pid = getpid() };
}

/**
 * libprofil_own_is() - Whether the counts are those of this process
 *
 * Return: False in a child of vfork(): they are its parent's.
 */
bool libprofil_own_is(void)
{
	int pid = getpid();
	int owner = 0;

	return atomic_compare_exchange_strong(&libprofil_own->pid, &owner, pid) ||
	       owner == pid;
}

/**
 * libprofil_own_take() - Change what is counted, or write it
 * @hold: For libprofil_own_give()
 *
 * No signal handler of this thread runs meanwhile, for it may want the same; and
 * it does not end amid it.
 */
void libprofil_own_take(struct libprofil_hold *hold)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &hold->mask);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &hold->cancel);
	pthread_mutex_lock(&libprofil_own->lock);
}

/**
 * libprofil_own_give() - End what libprofil_own_take() began
 * @hold: As that one left it
 */
void libprofil_own_give(const struct libprofil_hold *hold)
{
	pthread_mutex_unlock(&libprofil_own->lock);
	pthread_setcancelstate(hold->cancel, NULL);
	pthread_sigmask(SIG_SETMASK, &hold->mask, NULL);
}
