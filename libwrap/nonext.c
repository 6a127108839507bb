// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* Archive: a static program has one profil(), and it is this library's. */
#include "internal.h"

libprofil_fn *libprofil_next(void)
{
	return NULL;
}
