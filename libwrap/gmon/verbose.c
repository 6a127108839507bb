// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* What became of the samples that no file tells of, for who asks. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "gmon.h"
#include "internal.h"

/**
 * libprofil_verbose() - Tell of all samples, if PROFIL_VERBOSE says so
 *
 * Those in the files include such as were written before counts began anew.
 */
void libprofil_verbose(void)
{
	const char *value = secure_getenv("PROFIL_VERBOSE");
	struct profil_stats stats = { .size = sizeof(stats) };
	char line[192];
	const char *const parts[LIBPROFIL_PARTS] = { line };

	if (!value || strcmp(value, "1") || profil_stats(&stats))
		return;
	/* What a rate below the tick's leaves out is no sample. */
	snprintf(line, sizeof(line),
		 "profil: of %llu samples %llu are in files, %llu in no object, %llu lost; "
		 "the rate is %u a second\n",
		 stats.out_ticks - stats.out_not_due, stats.out_in_range,
		 stats.out_outside, stats.out_lost + stats.out_saturated, libprofil_profile.rate);
	libprofil_say(parts);
}
