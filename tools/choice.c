// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "body.h"
#include "choice.h"
#include "order.h"
#include "say.h"

#define ID_LEAST 4	/* digits of a build id */
#define SIMILAR 5

/* What somebody has written, in its parts. */
struct wish {
	const char *name;
	const char *object;	/* NULL: any */
	bool by_address;
	uint64_t address;
};

static bool read_address(const char *text, uint64_t *address)
{
	char *end;

	if (strncmp(text, "0x", 2) || !text[2])
		return false;
	*address = strtoull(text, &end, 16);
	return !*end;
}

static bool is_object(const struct row *row, const char *wanted)
{
	const struct object object = { .file = row->object };

	return !strcmp(row->object, wanted) || !strcmp(object_name(&object), wanted) ||
		(strlen(wanted) >= ID_LEAST && !strncmp(row->build_id, wanted, strlen(wanted)));
}

/* By what row_has() compares: of one profile, texts that are equal have one address. */
static int by_texts(const void *a, const void *b)
{
	const struct row *x = *(const struct row *const *)a, *y = *(const struct row *const *)b;

	return compare_numbers((uintptr_t)x->object, (uintptr_t)y->object) ?:
		compare_numbers((uintptr_t)x->build_id, (uintptr_t)y->build_id) ?:
		compare_numbers((uintptr_t)x->name, (uintptr_t)y->name);
}

/* To be freed. */
static const struct row **sort(const struct table *table)
{
	const struct row **rows = allocated(calloc(table->num + 1, sizeof(*rows)));

	for (size_t i = 0; i < table->num; i++)
		rows[i] = &table->rows[i];
	qsort(rows, table->num, sizeof(*rows), by_texts);
	return rows;
}

/* The row that has a place: profiles have many of both. */
static const struct row *row_of(struct profile *profile, const struct row **rows, size_t num,
				const struct place *place)
{
	const struct object *object = &profile->objects[place->object];
	const struct row wanted = {
		.object = object->file, .build_id = object->build_id,
		.name = place_name(profile, place),
	}, *key = &wanted;
	const struct row **found = bsearch(&key, rows, num, sizeof(*rows), by_texts);

	return found ? *found : NULL;
}

/* Also by the name that the symbol had before it was demangled. */
static bool fits(const struct place *place, const struct wish *wish)
{
	return wish->by_address ? place->address == wish->address :
		!strcmp(place->symbol, wish->name);
}

/* Those whose places fit, or whose name does. */
static void mark(struct profile *profile, const struct table *table, const struct wish *wish,
		 bool *marks)
{
	const struct row **rows = sort(table);

	for (size_t i = 0; i < profile->num_places; i++) {
		const struct place *place = &profile->places[i];
		const struct row *row = NULL;

		if (fits(place, wish))
			row = row_of(profile, rows, table->num, place);
		if (row)
			marks[row - table->rows] = true;
	}
	for (size_t i = 0; i < table->num && !wish->by_address; i++)
		if (!strcmp(table->rows[i].name, wish->name))
			marks[i] = true;
	free(rows);
}

/* No sample is at the address: its function may be the nearest one of an object. */
static void mark_near(struct profile *profile, const struct table *table,
		      const struct wish *wish, bool *marks)
{
	const struct place **nearest = allocated(calloc(profile->num_objects + 1,
							sizeof(*nearest)));
	const struct row **rows = sort(table);

	for (size_t i = 0; i < profile->num_places; i++) {
		const struct place *place = &profile->places[i];
		const struct place **best = &nearest[place->object];

		if (!*best || difference(place->address, wish->address) <
		    difference((*best)->address, wish->address))
			*best = place;
	}
	for (size_t i = 0; i < profile->num_objects; i++) {
		const struct row *row = nearest[i] ? row_of(profile, rows, table->num,
							     nearest[i]) : NULL;

		if (row)
			marks[row - table->rows] = true;
	}
	free(rows);
	free(nearest);
}

/* Rows are in the order of their samples. */
static void choose(struct profile *profile, const struct table *table, const struct wish *wish,
		   struct choice *choice, bool near)
{
	bool *marks = allocated(calloc(table->num + 1, sizeof(*marks)));

	(near ? mark_near : mark)(profile, table, wish, marks);
	for (size_t i = 0; i < table->num; i++)
		if (marks[i] && (!wish->object || is_object(&table->rows[i], wish->object)))
			choice->rows[choice->num++] = &table->rows[i];
	free(marks);
	choice->near = near;
}

/* "fn@4e40" is a name, and what is behind the last @ of others an object. */
void choice_make(struct profile *profile, const struct table *table, const char *wanted,
		 struct choice *choice)
{
	char *name = allocated(strdup(wanted)), *at = strrchr(name, '@');
	struct wish wish = { .name = wanted };

	*choice = (struct choice) {
		.rows = allocated(calloc(table->num + 1, sizeof(*choice->rows))),
	};
	wish.by_address = read_address(wanted, &wish.address);
	choose(profile, table, &wish, choice, false);
	if (!choice->num && at) {
		*at = '\0';
		wish = (struct wish) { .name = name, .object = at + 1 };
		wish.by_address = read_address(name, &wish.address);
		choose(profile, table, &wish, choice, false);
	}
	if (!choice->num && wish.by_address)
		choose(profile, table, &wish, choice, true);
	choice->address = wish.address;
	free(name);
}

void choice_free(struct choice *choice)
{
	free(choice->rows);
}

void choice_none(const struct table *table, const char *wanted)
{
	char *like = allocated(strdup(""));
	size_t num = 0;

	for (size_t i = 0; i < table->num && num < SIMILAR; i++) {
		const char *name = table->rows[i].name;
		char *longer;

		if (!strcasestr(name, wanted) && !(name[0] && name[1] && strcasestr(wanted, name)))
			continue;
		if (asprintf(&longer, "%s%s%s", like, num++ ? ", " : "", name) < 0)
			allocated(NULL);
		free(like);
		like = longer;
	}
	if (num)
		die("no sample is in %s, but there are some in %s; profil report shows all functions that have any",
		    wanted, like);
	die("no sample is in %s; profil report shows the functions that have any", wanted);
}
