// SPDX-License-Identifier: GPL-2.0-only
/* Names of places. */
#include <stdlib.h>
#include "file.h"
#include "names.h"
#include "reader.h"
#include "say.h"
#include "tables.h"

#define FETCH_FROM 100	/* an object has this part of all samples, or more */

struct wanted {
	const char *path;
	const uint64_t *offsets;
	size_t num;
	unsigned int how;	/* of enum file_how */
};

bool names_fetched(uint64_t samples, uint64_t all)
{
	return samples >= all / FETCH_FROM;
}

static void tell(void *data, int fd, FILE *out)
{
	const struct wanted *wanted = data;

	file_tell(fd, wanted->path, wanted->offsets, wanted->num, wanted->how, out);
}

/* All of it but the lines, which come last. */
static bool take_names(struct profile *profile, struct told *told, struct object *object,
		       struct place *places, size_t num)
{
	if (!told_string(told, profile, &object->build_id) ||
	    !told_number(told, &object->start) || !told_number(told, &object->limit) ||
	    !told_number(told, &object->offset))
		return false;
	for (size_t i = 0; i < num; i++)
		if (!told_number(told, &places[i].address) ||
		    !told_string(told, profile, &places[i].function) ||
		    !told_string(told, profile, &places[i].symbol))
			return false;
	return true;
}

static bool take_lines(struct profile *profile, struct told *told, struct place *places,
		       size_t num)
{
	for (size_t i = 0; i < num; i++) {
		const char *source;
		uint64_t line;

		if (!told_string(told, profile, &source) || !told_number(told, &line))
			return false;
		places[i].source = source;
		places[i].line = line;
	}
	return true;
}

/* What there is without a reader: offsets for addresses, and no names. */
static void take_none(struct profile *profile, struct object *object, struct place *places,
		      const uint64_t *offsets, size_t num)
{
	const char *none = profile_string(profile, "");

	*object = (struct object) { .file = object->file, .build_id = none };
	for (size_t i = 0; i < num; i++)
		places[i] = (struct place) {
			.object = places[i].object, .address = offsets[i],
			.function = none, .symbol = none, .source = none,
		};
}

static void find(struct profile *profile, int fd, const char *path, bool fetch, unsigned int how,
		 struct object *object, struct place *places, size_t num)
{
	uint64_t *offsets = allocated(calloc(num + 1, sizeof(*offsets)));
	struct wanted wanted = { path, offsets, num, how };
	struct told told;
	bool named, lines = how & FILE_LINES;

	for (size_t i = 0; i < num; i++)
		offsets[i] = places[i].address;
	reader_run(fd, (struct reader_how) { .fetch = fetch }, tell, &wanted, &told);
	named = take_names(profile, &told, object, places, num);
	if (!named)
		take_none(profile, object, places, offsets, num);
	if ((!named || (lines && !take_lines(profile, &told, places, num))) && !reader_ended())
		say("%s could not be read for %s (%s); profil report shows its addresses", path,
		    named ? "lines" : "names", told.failure ? told.failure : "its reader failed");
	free(told.texts);
	free(offsets);
}

void names_find(struct profile *profile, int fd, const char *path, bool fetch, bool few,
		struct object *object, struct place *places, size_t num)
{
	if (!tables_find(profile, fd, path, fetch, object, places, num))
		find(profile, fd, path, fetch, FILE_LINES | (few ? FILE_CHEAP : 0), object, places,
		     num);
}

void names_find_functions(struct profile *profile, int fd, const char *path, bool fetch,
			  struct object *object, struct place *places, size_t num)
{
	find(profile, fd, path, fetch, 0, object, places, num);
}

void names_find_again(struct profile *profile, int fd, const char *path, bool fetch,
		      struct object *object, struct place *places, size_t num)
{
	find(profile, fd, path, fetch, FILE_LINES | FILE_ADDRESSES, object, places, num);
}
