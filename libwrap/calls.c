// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* The calls of <profil.h>: one command each. */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include "internal.h"

int libprofil_start(struct profil_ioc_start *start)
{
	uintptr_t unknown = ANCHOR_UNKNOWN, former = atomic_load(&libprofil_anchor);
	int err = errno;
	int ret;

	ret = libprofil_command(PROFIL_IOC_START, start);
	if (!ret && start->out_anchor) {
		/* In a forked child that inherited no profile, nothing hangs on it. */
		if (former != start->out_anchor)
			libprofil_anchor_unmap(former);
		errno = err;
		atomic_store(&libprofil_anchor, start->out_anchor);
	} else {
		atomic_compare_exchange_strong(&libprofil_anchor, &unknown, 0);
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
int profil_start(struct profil_ioc_start *start)
{
	return libprofil_or_complain(libprofil_start(start));
}

static int stop(bool pause)
{
	struct profil_ioc_stop args = { .size = sizeof(args) };
	uintptr_t page = atomic_load(&libprofil_anchor), none = 0;
	int ret;

	if (!page)
		return 0;
	/* It delivers what is pending in other threads, but may not be possible. */
	ret = libprofil_command_kept(PROFIL_IOC_STOP, &args);
	if (!ret && pause)
		return 0;
	page = atomic_exchange(&libprofil_anchor, 0);
	if (libprofil_anchor_unmap(page) || !ret)
		return 0;
	ret = libprofil_command(PROFIL_IOC_STOP, &args);
	/* The next stop tries it again. */
	if (ret)
		atomic_compare_exchange_strong(&libprofil_anchor, &none, page);
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
int profil_stats(struct profil_ioc_stats *stats)
{
	return libprofil_or_complain(libprofil_command(PROFIL_IOC_STATS, stats));
}

PROFIL_API
int profil_query(struct profil_ioc_query *query)
{
	return libprofil_or_complain(libprofil_command(PROFIL_IOC_QUERY, query));
}
