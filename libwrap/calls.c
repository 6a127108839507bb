// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* The calls of <profil.h>: one command each. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/auxv.h>
#include "internal.h"

/* What the anchor is while the first START is on its way: there may be a profile. */
#define UNKNOWN 1

/*
 * The anchor of our last START, until a stop; 0: there is none.  Plain memory, so that
 * a forked child, which has the anchor, knows it as well.
 */
static atomic_uintptr_t anchor;

bool libprofil_on(void)
{
	return atomic_load(&anchor);
}

int libprofil_start(struct profil_start *start)
{
	uintptr_t none = 0, unknown = UNKNOWN;
	int ret;

	/* Before the command, so that a stop right after it sees this. */
	atomic_compare_exchange_strong(&anchor, &none, UNKNOWN);
	ret = libprofil_command(PROFIL_IOC_START, start);
	if (!ret && start->out_anchor)
		atomic_store(&anchor, start->out_anchor);
	else
		atomic_compare_exchange_strong(&anchor, &unknown, 0);
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

static int or_complain(int ret)
{
	if (ret != NO_DEVICE)
		return ret;
	libprofil_complain("");
	return -1;
}

PROFIL_API
int profil_start(struct profil_start *start)
{
	return or_complain(libprofil_start(start));
}

/*
 * Another library may have unmapped the anchor, and the address may be another's now.
 * A filter of system calls that forbids the question leaves us with what we know.
 */
static bool is_anchor(uintptr_t page)
{
	return madvise((void *)page, getauxval(AT_PAGESZ), MADV_COLD) && errno != ENOMEM;
}

static int stop(bool unmap)
{
	struct profil_stop args = { .size = sizeof(args) };
	uintptr_t page = atomic_load(&anchor);
	int ret;

	if (!page)
		return 0;
	/* It delivers what is pending in other threads, but may not be possible. */
	ret = libprofil_command_kept(PROFIL_IOC_STOP, &args);
	if (!ret && !unmap)
		return 0;
	page = atomic_exchange(&anchor, 0);
	if (page > UNKNOWN && is_anchor(page) &&
	    !munmap((void *)page, getauxval(AT_PAGESZ)))
		return 0;
	return ret ? libprofil_command(PROFIL_IOC_STOP, &args) : 0;
}

static int stop_all(bool unmap)
{
	int err = errno;
	int ret;

	if (libprofil_c_library_stop())
		return -1;
	ret = stop(unmap);
	if (!ret)
		errno = err;
	return or_complain(ret);
}

int libprofil_pause(void)
{
	return stop_all(false);
}

int libprofil_stop(void)
{
	return stop_all(true);
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
	return or_complain(libprofil_command(PROFIL_IOC_STATS, stats));
}

PROFIL_API
int profil_query(struct profil_query *query)
{
	return or_complain(libprofil_command(PROFIL_IOC_QUERY, query));
}
