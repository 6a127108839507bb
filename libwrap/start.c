// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* The calls of <profil.h>: one command each. */
#include <stdint.h>
#include "internal.h"

atomic_bool libprofil_started;
atomic_bool libprofil_fell_back;

static int command(unsigned long cmd, void *arg)
{
	int fd = libprofil_open();

	if (fd < 0) {
		libprofil_complain("");
		return -1;
	}
	return libprofil_close(fd, libprofil_ioctl(fd, cmd, arg));
}

int libprofil_start(int fd, const struct profil_region *regions, size_t num,
		    size_t len, unsigned int rate)
{
	struct profil_start start = {
		.size = sizeof(start),
		.region_num = num < UINT32_MAX ? num : UINT32_MAX,
		.region_len = len < UINT32_MAX ? len : UINT32_MAX,
		.regions_uptr = (uintptr_t)regions,
		.rate = rate,
	};

	if (atomic_load(&libprofil_fell_back))
		libprofil_next()(NULL, 0, 0, 0);
	/* Before the command, so that a stop right after it finds the flag. */
	atomic_store(&libprofil_started, true);
	return libprofil_ioctl(fd, PROFIL_IOC_START, &start);
}

PROFIL_API
int profil_start(const struct profil_region *regions, size_t num, size_t len,
		 unsigned int rate)
{
	int fd = libprofil_open();

	if (fd < 0) {
		libprofil_complain("");
		return -1;
	}
	return libprofil_close(fd, libprofil_start(fd, regions, num, len, rate));
}

PROFIL_API
int profil_stop(void)
{
	struct profil_stop stop = { .size = sizeof(stop) };

	if (atomic_load(&libprofil_fell_back) &&
	    libprofil_next()(NULL, 0, 0, 0))
		return -1;
	if (!atomic_load(&libprofil_started))
		return 0;
	return command(PROFIL_IOC_STOP, &stop);
}

PROFIL_API
int profil_stats(struct profil_stats *stats)
{
	return command(PROFIL_IOC_STATS, stats);
}

PROFIL_API
int profil_query(struct profil_query *query)
{
	return command(PROFIL_IOC_QUERY, query);
}
