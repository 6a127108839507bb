// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>
#include "lines.h"
#include "say.h"

/* Lines of another build would have samples that are not theirs. */
void lines_check(const struct row *row, const struct body *body)
{
	if (row->build_id[0] && strcmp(row->build_id, body->build_id))
		die("%s is not the file that was profiled: its build id is %s, and was %s; profile it again",
		    row->object, body->build_id[0] ? body->build_id : "missing", row->build_id);
	if (!body->num_ranges && body->missing[0])
		die("the code of %s in %s cannot be shown: %s", row->name, row->object,
		    body->missing);
	if (!body->num_ranges)
		die("%s has no code where the samples of %s are; profile it again if it has changed",
		    row->object, row->name);
}

void lines_list(struct profile *profile, struct about *about, struct form form,
		struct sources *sources, struct listing *listing)
{
	const struct body *body = about->body;
	const char *path = listing_source_of(body);

	if (path[0])
		about->source = sources_find(sources, path);
	if (!form.source && !form.instructions)
		form.source = about->source && about->source->num;
	if (form.source && !about->source)
		die("%s says no line of source of %s; compile it with -g, or use profil annotate -i",
		    about->row->object, about->row->name);
	if (form.source && !form.instructions) {
		listing_source(profile, body, sources, listing);
		return;
	}
	if (body->missing[0])
		die("the instructions of %s cannot be shown: %s", about->row->name, body->missing);
	listing_code(profile, body, form.source ? sources : NULL, listing);
}
