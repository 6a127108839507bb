// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* What a program of gcc -pg may ask for while it runs, as <profil.h> declares it. */
#include <errno.h>
#include "gmon.h"
#include "internal.h"

static bool forget_arc(void *arg, struct libprofil_arc *arc)
{
	(void)arg;
	arc->told = atomic_load(&arc->count);
	return true;
}

static void forget(const struct libprofil_object *object)
{
	for (size_t i = 0; i < (object->high - object->low) / 2; i++)
		if (object->counts[i])
			__atomic_store_n(&object->counts[i], 0, __ATOMIC_RELAXED);
	/* Also of what is unmapped. */
	libprofil_object_arcs(object, forget_arc, NULL);
}

PROFIL_API
int profil_dump(void)
{
	if (!libprofil_profile.num) {
		errno = ENOENT;
		return -1;
	}
	libprofil_gmon_follow();
	return libprofil_dump(0);
}

PROFIL_API
int profil_reset(void)
{
	struct libprofil_hold hold;

	if (!libprofil_profile.num) {
		errno = ENOENT;
		return -1;
	}
	libprofil_gmon_follow();
	libprofil_own_take(&hold);
	libprofil_fallback_take(libprofil_profile.objects);
	for (size_t i = 0; i < libprofil_profile.num; i++)
		forget(&libprofil_profile.objects[i]);
	/* And those of no object. */
	libprofil_arcs_each(forget_arc, NULL);
	libprofil_dump_series();
	libprofil_own_give(&hold);
	return 0;
}
