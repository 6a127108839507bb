// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* profil(), in an archive member of its own: see internal.h for why. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "internal.h"

/* Without the environment, one command is enough. */
static int start_device(struct profil_ioc_start *start)
{
	struct profil_ioc_query query = { .size = sizeof(query) };
	int ret;

	if (libprofil_rate_asked()) {
		ret = libprofil_command(PROFIL_IOC_QUERY, &query);
		if (ret)
			return ret;
		libprofil_rate_choose(start, &query);
	}
	return libprofil_start(start);
}

static int start_c_library(unsigned short *buf, size_t bufsiz, size_t offset,
			   unsigned int scale)
{
	const char *fallback = secure_getenv("PROFIL_FALLBACK");

	if (!fallback || strcmp(fallback, "signal")) {
		libprofil_complain("");
		return -1;
	}
	if (!libprofil_c_library_exists()) {
		libprofil_complain("; PROFIL_FALLBACK needs the shared libprofil");
		return -1;
	}
	return libprofil_c_library_profil(buf, bufsiz, offset, scale);
}

PROFIL_API
int profil(unsigned short *buf, size_t bufsiz, size_t offset,
	   unsigned int scale)
{
	struct profil_region region = {
		.buf_uptr = (uintptr_t)buf,
		.bytes = bufsiz,
		.offset = offset,
		.scale = scale,
	};
	struct profil_ioc_start start = {
		.size = sizeof(start),
		.region_num = 1,
		.region_len = sizeof(region),
		.regions_uptr = (uintptr_t)&region,
		.rate = SAMPLES_PER_SECOND,
	};
	int err = errno;
	int ret;

	if (!buf || !scale)
		return libprofil_stop();
	ret = libprofil_as_profil(start_device(&start));
	if (ret == NO_DEVICE)
		ret = start_c_library(buf, bufsiz, offset, scale);
	if (!ret)
		errno = err;
	return ret;
}
