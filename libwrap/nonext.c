// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* Archive: a static program has one profil(), and it is this library's. */
#include "internal.h"

bool libprofil_next_exists(void)
{
	return false;
}

int libprofil_next_start(unsigned short *buf, size_t bufsiz, size_t offset,
			 unsigned int scale)
{
	(void)buf;
	(void)bufsiz;
	(void)offset;
	(void)scale;
	return -1;
}

int libprofil_next_stop(void)
{
	return 0;
}
