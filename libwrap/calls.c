// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* The calls of <profil.h>: one command each. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include "internal.h"

/* What the anchor is while the first START is on its way: there may be a profile. */
#define UNKNOWN 1

/*
 * The anchor of our last START, until a stop; 0: there is none.  Plain memory, so that
 * a forked child, which has the anchor, knows it as well.
 */
static atomic_uintptr_t anchor;

void libprofil_begins(void)
{
	uintptr_t none = 0;

	atomic_compare_exchange_strong(&anchor, &none, UNKNOWN);
}

bool libprofil_on(void)
{
	return atomic_load(&anchor);
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

/* Whether it was there, and is not any more. */
static bool unmap(uintptr_t page)
{
	size_t size = getauxval(AT_PAGESZ);

	return page > UNKNOWN && is_anchor(page, size) && !munmap((void *)page, size);
}

int libprofil_start(struct profil_start *start)
{
	uintptr_t unknown = UNKNOWN, former = atomic_load(&anchor);
	int err = errno;
	int ret;

	ret = libprofil_command(PROFIL_IOC_START, start);
	if (!ret && start->out_anchor) {
		/* In a forked child that inherited no profile, nothing hangs on it. */
		if (former != start->out_anchor)
			unmap(former);
		errno = err;
		atomic_store(&anchor, start->out_anchor);
	} else {
		atomic_compare_exchange_strong(&anchor, &unknown, 0);
	}
	/*
	 * What ends an earlier profile of the device ends the C library's too.
	 * After the command: see libprofil_c_library_profil().
	 */
	if (!ret || (ret != NO_DEVICE && errno == ENXIO))
		libprofil_c_library_stop();
	return ret;
}

int libprofil_as_profil(int ret)
{
	if (ret == -1 && errno == ENXIO)
		errno = EFAULT;
	return ret;
}

int libprofil_or_complain(int ret)
{
	if (ret != NO_DEVICE)
		return ret;
	libprofil_complain("");
	return -1;
}

PROFIL_API
int profil_start(struct profil_start *start)
{
	return libprofil_or_complain(libprofil_start(start));
}

static int stop(bool pause)
{
	struct profil_stop args = { .size = sizeof(args) };
	uintptr_t page = atomic_load(&anchor), none = 0;
	int ret;

	if (!page)
		return 0;
	/* It delivers what is pending in other threads, but may not be possible. */
	ret = libprofil_command_kept(PROFIL_IOC_STOP, &args);
	if (!ret && pause)
		return 0;
	page = atomic_exchange(&anchor, 0);
	if (unmap(page) || !ret)
		return 0;
	ret = libprofil_command(PROFIL_IOC_STOP, &args);
	/* The next stop tries it again. */
	if (ret)
		atomic_compare_exchange_strong(&anchor, &none, page);
	return ret;
}

static int stop_all(bool pause)
{
	int err = errno;
	int cancel, ret;

	if (libprofil_c_library_stop())
		return -1;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	ret = stop(pause);
	pthread_setcancelstate(cancel, NULL);
	if (!ret)
		errno = err;
	return libprofil_or_complain(ret);
}

int libprofil_pause(void)
{
	return stop_all(true);
}

int libprofil_stop(void)
{
	return stop_all(false);
}

PROFIL_API
int profil_stop(void)
{
	int ret = libprofil_stop();

	libprofil_device_close();
	return ret;
}

PROFIL_API
int profil_stats(struct profil_stats *stats)
{
	return libprofil_or_complain(libprofil_command(PROFIL_IOC_STATS, stats));
}

PROFIL_API
int profil_query(struct profil_query *query)
{
	return libprofil_or_complain(libprofil_command(PROFIL_IOC_QUERY, query));
}
