// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* The anchor: the page of the device by which the kernel ties a profile to the process. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include "internal.h"

/* All of it is plain memory: a forked child, which has the anchor, knows it as well. */
static atomic_uintptr_t anchor;	/* that of our last START; 0: there is none */
static uint64_t cookie;		/* of that START, or 0; under the lock */
static atomic_int starts;	/* on their way: there may be a profile, and nobody knows of it */
static atomic_int holder;	/* the thread that has the lock, or 0 */

static bool is_thread_of_ours(int thread)
{
	return thread != gettid() && (!tgkill(getpid(), thread, 0) || errno != ESRCH);
}

/*
 * Between the question whether a page is the anchor and its munmap(), no other thread may
 * unmap it: the address could be somebody's memory then.  No signal handler of this thread
 * runs meanwhile, for it may want the same.  A forked child may have the lock of a thread
 * that it does not have, and takes it over.  Cancellation is off here.
 */
static void lock(sigset_t *mask)
{
	static const struct timespec soon = { .tv_nsec = 100000 };
	int me = gettid(), former = 0;
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, mask);
	while (!atomic_compare_exchange_strong(&holder, &former, me)) {
		if (!former || !is_thread_of_ours(former))
			continue;
		nanosleep(&soon, NULL);
		former = 0;
	}
}

static void unlock(const sigset_t *mask)
{
	atomic_store(&holder, 0);
	pthread_sigmask(SIG_SETMASK, mask, NULL);
}

/*
 * Another library may have unmapped the anchor, and the address may be another's now.
 * The second question is for locked memory.  A filter of system calls that forbids
 * them leaves us with what we know.
 */
static bool is_anchor(uintptr_t page, size_t size)
{
	if (!madvise((void *)page, size, MADV_COLD) || errno == ENOMEM)
		return false;
	return !msync((void *)page, size, MS_INVALIDATE) ||
	       (errno != EBUSY && errno != ENOMEM);
}

static bool unmap(uintptr_t page)
{
	size_t size = getauxval(AT_PAGESZ);

	return page && is_anchor(page, size) && !munmap((void *)page, size);
}

/* Before a START, so that a child that is forked right after it sees this. */
void libprofil_anchor_begin(void)
{
	atomic_fetch_add(&starts, 1);
}

/*
 * Ends libprofil_anchor_begin().  Other threads may have started and stopped since the
 * kernel answered: what is older than what is known is over.
 * @start: the answer of a START, or NULL if it failed
 */
void libprofil_anchor_end(const struct profil_ioc_start *start)
{
	int err = errno;
	sigset_t mask;

	lock(&mask);
	if (start && start->out_anchor && start->out_cookie > cookie) {
		/* In a forked child that inherited no profile, nothing hangs on it. */
		if (anchor != start->out_anchor)
			unmap(anchor);
		anchor = start->out_anchor;
		cookie = start->out_cookie;
	}
	atomic_fetch_sub(&starts, 1);
	unlock(&mask);
	errno = err;
}

bool libprofil_on(void)
{
	return atomic_load(&anchor) || atomic_load(&starts);
}

bool libprofil_anchor_unmap(bool is_off)
{
	int err = errno;
	sigset_t mask;
	bool done;

	lock(&mask);
	done = unmap(anchor);
	/* After that, for who sees none is told that the profile is off. */
	if (done || is_off) {
		anchor = 0;
		/* Without an anchor the module may be loaded anew, and begin at 1 again. */
		cookie = 0;
	}
	unlock(&mask);
	errno = err;
	return done;
}
