// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* The anchor: the page of the device by which the kernel ties a profile to the process. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include "internal.h"

/* Plain memory, so that a forked child, which has the anchor, knows it as well. */
atomic_uintptr_t libprofil_anchor;

void libprofil_begins(void)
{
	uintptr_t none = 0;

	atomic_compare_exchange_strong(&libprofil_anchor, &none, ANCHOR_UNKNOWN);
}

bool libprofil_on(void)
{
	return atomic_load(&libprofil_anchor);
}

/*
 * Another library may have unmapped the anchor, and the address may be another's now.
 * The second question is for locked memory.  A filter of system calls that forbids
 * them leaves us with what we know.
 */
static bool is_anchor(uintptr_t page, size_t size)
{
	if (!madvise((void *)page, size, MADV_COLD) || errno == ENOMEM)
		return false;
	return !msync((void *)page, size, MS_INVALIDATE) ||
	       (errno != EBUSY && errno != ENOMEM);
}

bool libprofil_anchor_unmap(uintptr_t page)
{
	size_t size = getauxval(AT_PAGESZ);

	return page > ANCHOR_UNKNOWN && is_anchor(page, size) && !munmap((void *)page, size);
}
