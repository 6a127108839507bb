// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* Shared library: behind it is the C library's profil(), if it has one. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include "internal.h"

libprofil_fn *libprofil_next(void)
{
	return (libprofil_fn *)dlsym(RTLD_NEXT, "profil");
}
