// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* The calls of <profil.h>: one command each. */
#include <errno.h>
#include <pthread.h>
#include "internal.h"

int libprofil_start(struct profil_ioc_start *start)
{
	int ret = libprofil_command(PROFIL_IOC_START, start);

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
	int ret;

	if (!libprofil_on())
		return 0;
	/*
	 * It delivers what is pending in other threads, but may not be possible.  A pause
	 * needs it: the counts of STATS are gone with the anchor.
	 */
	ret = pause ? libprofil_command(PROFIL_IOC_STOP, &args) :
		      libprofil_command_kept(PROFIL_IOC_STOP, &args);
	if (!ret && pause)
		return 0;
	if (libprofil_anchor_unmap(!ret) || !ret)
		return 0;
	/* If this fails, too, the next stop tries it again. */
	ret = libprofil_command(PROFIL_IOC_STOP, &args);
	if (!ret)
		libprofil_anchor_unmap(true);
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
