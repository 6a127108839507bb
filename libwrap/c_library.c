// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * The C library's own profil(), if it has one: behind the shared library.  A static
 * program has one profil(), and it is this library's: there is none behind it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include "internal.h"

#ifdef LIBPROFIL_STATIC

bool libprofil_c_library_exists(void)
{
	return false;
}

int libprofil_c_library_profil(unsigned short *buf, size_t bufsiz, size_t offset,
			       unsigned int scale)
{
	(void)buf;
	(void)bufsiz;
	(void)offset;
	(void)scale;
	return -1;
}

int libprofil_c_library_stop(void)
{
	return 0;
}

#else

/*
 * The C library's function changes its variables, a signal's handler and a
 * timer, one after the other: a start and a stop at the same time would leave
 * the handler with a NULL histogram.
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/*
 * Never cleared: then a stop and a start at the same time, in two threads, cannot leave
 * a running profile that is thought off.
 */
static atomic_bool fell_back;

/* Under the lock. */
static bool counting;	/* the timer and the signal are the C library's */
static sigset_t mask;	/* that the lock's owner had before */

/* No signal handler of this thread runs meanwhile, for it may want the same. */
static void lock_profil(void)
{
	sigset_t all, old;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pthread_mutex_lock(&lock);
	mask = old;
}

static void unlock_profil(void)
{
	sigset_t old = mask;

	pthread_mutex_unlock(&lock);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* A forked child must not inherit the lock from a thread it does not have. */
static __attribute__((constructor)) void follow_fork(void)
{
	pthread_atfork(lock_profil, unlock_profil, unlock_profil);
}

/* Looked for once: who has asked whether there is one may call it with any lock. */
static libprofil_fn *next(void)
{
	static void *_Atomic found;

	if (!found)
		found = dlsym(RTLD_NEXT, "profil");
	return (libprofil_fn *)found;
}

bool libprofil_c_library_exists(void)
{
	return next();
}

/*
 * A signal may wait where all threads have it blocked, as in libprofil_state_lock(), or be on
 * its way to a thread.  It would end the program as soon as the C library gives back the
 * action that was there before, which is also the first that it does in a start while one
 * is on.  To ignore a signal throws away those that wait.
 */
static void quiet(void)
{
	struct itimerval never = { 0 };
	struct sigaction ignore = { .sa_handler = SIG_IGN };

	/* Without a profile they are the program's. */
	if (!counting)
		return;
	setitimer(ITIMER_PROF, &never, NULL);
	sigaction(SIGPROF, &ignore, NULL);
}

int libprofil_c_library_profil(unsigned short *buf, size_t bufsiz, size_t offset,
			       unsigned int scale)
{
	int ret = -1;

	lock_profil();
	/*
	 * Pairs with libprofil_start(): either that one sees this and stops what
	 * begins here, or it is seen to have begun.
	 */
	atomic_store(&fell_back, true);
	/* A profile of the device could not be stopped any more. */
	if (!libprofil_on()) {
		quiet();
		ret = next()(buf, bufsiz, offset, scale);
	}
	if (!ret)
		counting = true;
	unlock_profil();
	return ret;
}

int libprofil_c_library_stop(void)
{
	int err = errno;
	int ret;

	if (!atomic_load(&fell_back))
		return 0;
	lock_profil();
	quiet();
	counting = false;
	ret = next()(NULL, 0, 0, 0);
	unlock_profil();
	if (!ret)
		errno = err;
	return ret;
}

#endif
