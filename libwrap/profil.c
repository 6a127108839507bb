// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* profil(), in an archive member of its own: see internal.h for why. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "internal.h"

#define SAMPLES_PER_SECOND 100

static int start_device(int fd, const struct profil_region *region)
{
	struct profil_query query = { .size = sizeof(query) };
	unsigned int rate = SAMPLES_PER_SECOND;

	if (libprofil_ioctl(fd, PROFIL_IOC_QUERY, &query))
		return -1;
	if (rate > query.out_tick_hz)
		rate = query.out_tick_hz;
	return libprofil_start(fd, region, 1, sizeof(*region), rate);
}

static int start_next(unsigned short *buf, size_t bufsiz, size_t offset,
		      unsigned int scale)
{
	const char *fallback = getenv("PROFIL_FALLBACK");
	bool wanted = fallback && !strcmp(fallback, "signal");
	libprofil_fn *next = wanted ? libprofil_next() : NULL;

	if (!next) {
		libprofil_complain(wanted ?
			"; PROFIL_FALLBACK needs the shared libprofil" : "");
		return -1;
	}
	/* A profile of the device could not be stopped any more. */
	if (atomic_load(&libprofil_started))
		return -1;

	atomic_store(&libprofil_fell_back, true);
	return next(buf, bufsiz, offset, scale);
}

static int start(unsigned short *buf, size_t bufsiz, size_t offset,
		 unsigned int scale)
{
	struct profil_region region = {
		.buf_uptr = (uintptr_t)buf,
		.bytes = bufsiz,
		.offset = offset,
		.scale = scale,
	};
	int fd = libprofil_open();

	if (fd < 0)
		return start_next(buf, bufsiz, offset, scale);
	return libprofil_close(fd, start_device(fd, &region));
}

PROFIL_API
int profil(unsigned short *buf, size_t bufsiz, size_t offset,
	   unsigned int scale)
{
	int err = errno;
	int ret;

	if (!buf || !scale)
		ret = profil_stop();
	else
		ret = start(buf, bufsiz, offset, scale);

	if (!ret)
		errno = err;
	return ret;
}
