// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* The calls of <profil.h>: one command each. */
#include <errno.h>
#include "internal.h"

int libprofil_start(const struct profil_start *start)
{
	int ret = libprofil_command(PROFIL_IOC_START, (void *)start);

	/*
	 * What ends an earlier profile of the device ends the C library's too.
	 * After the command: see libprofil_next_start().
	 */
	if (!ret || (ret != NO_DEVICE && errno == EFAULT))
		libprofil_next_stop();
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
int profil_start(const struct profil_start *start)
{
	return or_complain(libprofil_start(start));
}

PROFIL_API
int profil_stop(void)
{
	struct profil_stop stop = { .size = sizeof(stop) };

	if (libprofil_next_stop())
		return -1;
	if (!atomic_load(&libprofil_started))
		return 0;
	return or_complain(libprofil_command(PROFIL_IOC_STOP, &stop));
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
