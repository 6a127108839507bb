// SPDX-License-Identifier: GPL-2.0-only
/*
 * The profile that profil run would write if it read the tables of PROFIL_FAKE at the times
 * that their lines "until MS" say, and a last time at the end.  Tests of slices of time need
 * no clock.
 *
 *   plant FILE END [SLICE [MOST [kernel]]]	END and SLICE in milliseconds, MOST parts
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "gather.h"
#include "order.h"
#include "say.h"
#include "store.h"

static void take_all(struct slices *slices)
{
	FILE *table = fopen(getenv("PROFIL_FAKE"), "re");
	char line[4096];
	uint64_t ms;

	if (!table)
		die("PROFIL_FAKE: %m");
	while (fgets(line, sizeof(line), table))
		if (sscanf(line, "until %lu", &ms) == 1)
			slices_take(slices, ms * NS_OF_MS, false);
	fclose(table);
}

int main(int argc, char **argv)
{
	const struct session_wish wish = { 0 };
	struct session *session;
	struct slices *slices;
	struct profile profile;
	struct run run = { 0 };
	long long bytes;

	if (argc < 3)
		die("plant FILE END [SLICE [MOST [kernel]]]");
	session = session_open(&wish);
	slices = slices_make(session, (argc > 3 ? strtoul(argv[3], NULL, 10) : 100) * NS_OF_MS,
			     argc > 4 ? strtoul(argv[4], NULL, 10) : PARTS_MAX);
	take_all(slices);
	session_stop(session);
	run.to_ns = strtoul(argv[2], NULL, 10) * NS_OF_MS;
	slices_take(slices, run.to_ns, true);
	run.slice_ns = slices_length(slices);
	profile_init(&profile);
	profile.command = profile_string(&profile, "planted");
	profile.duration_ns = run.to_ns;
	profile_add_run(&profile, run);
	gather(session, slices, argc > 5, NULL, &profile);
	bytes = store_write(&profile, argv[1]);
	slices_free(slices);
	session_close(session);
	profile_free(&profile);
	return bytes < 0;
}
