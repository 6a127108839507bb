// SPDX-License-Identifier: GPL-2.0-only
/* One interval of profil watch: from a session that was stopped to its file. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "gather.h"
#include "interval.h"
#include "kernel.h"
#include "metrics.h"
#include "say.h"
#include "slices.h"
#include "store.h"
#include "tables.h"

static void make_profile(struct interval *interval, struct profile *profile)
{
	struct slices *slices;

	profile_init(profile);
	profile->command = profile_string(profile, "watch");
	profile->time_ns = interval->time_ns;
	profile->duration_ns = interval->length_ns;
	profile_add_run(profile, (struct run) { .to_ns = interval->length_ns });
	slices = slices_make(interval->session, 0, PARTS_MAX);
	slices_take(slices, interval->length_ns, true);
	gather(interval->session, slices, interval->kernel, interval->units, profile);
	slices_free(slices);
}

/* The disk may be full: then the oldest files are worth less than this one. */
static void write_profile(struct interval *interval, struct profile *profile, FILE *out)
{
	const struct spool *spool = interval->spool;
	char name[SPOOL_NAME];
	uint64_t dropped = 0;
	size_t length;
	unsigned char *bytes = store_pack(profile, &length);
	uint64_t end_ns = interval->time_ns + interval->length_ns;
	int error = spool_write(spool, interval->time_ns, end_ns, bytes, length, name,
				&dropped);

	if (error)
		say("the profile of an interval cannot be written to %s, and is lost: %s",
		    spool->path, strerror(error));
	else if (dropped)
		say("%s is on a full disk: %" PRIu64 " old profiles went for a new one",
		    spool->path, dropped);
	spool_trim(spool, end_ns, &dropped);
	fprintf(out, "%s 1\n", tally_names[error ? TALLY_LOST : TALLY_INTERVALS]);
	if (dropped)
		fprintf(out, "%s %" PRIu64 "\n", tally_names[TALLY_DROPPED], dropped);
	free(bytes);
}

void interval_work(void *data, FILE *out)
{
	struct interval *interval = data;
	struct profile profile;
	int error;

	/* the one that follows is not this process's */
	session_leave(interval->session);
	error = session_inherit(interval->session);
	if (error)
		die("the tables of the session cannot be mapped: %s; raise ulimit -v",
		    strerror(error));
	if (!tables_use(interval->spool->fd, interval->naming))
		say("names cannot be kept in %s: %m; files are read again each time",
		    interval->spool->path);
	make_profile(interval, &profile);
	write_profile(interval, &profile, out);
	if (interval->metrics)
		metrics_add(&profile, interval->tallies, interval->metrics);
	/* after this the next one may be written */
	fflush(out);
	profile_free(&profile);
	session_close(interval->session);
	if (!interval->finishing)
		return;
	kernel_finish();
	tables_finish();
}
