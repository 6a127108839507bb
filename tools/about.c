// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "about.h"
#include "quote.h"
#include "say.h"

#define OTHERS 3

static const char *name_of(const struct row *row)
{
	const struct object object = { .file = row->object };

	return object_name(&object);
}

static void put_object(FILE *out, const struct about *about)
{
	const struct row *row = about->row;
	double changed = about->object.st_mtim.tv_sec * 1e9 + about->object.st_mtim.tv_nsec;

	fprintf(out, "  object   %s", about->path);
	if (row->build_id[0])
		fprintf(out, ", with the build id of the profile\n");
	else if (about->profile->time_ns && changed > about->profile->time_ns)
		fprintf(out, ", which was changed after the profile was made: this may be other code\n");
	else
		fprintf(out, ", of which the profile has no build id to compare\n");
}

static void put_source(FILE *out, const struct about *about)
{
	const struct source *source = about->source;

	if (!source)
		fprintf(out, "  source   none is known: compile it with -g, or install its debug symbols\n");
	else if (source->error)
		fprintf(out, "  source   %s cannot be read: %s\n", source->path,
			strerror(source->error));
	else if (source->st.st_mtime > about->object.st_mtime)
		fprintf(out, "  source   %s, which is newer than the object: its lines may have moved\n",
			source->path);
	else
		fprintf(out, "  source   %s\n", source->path);
}

/* What tells another function of that name from this one. */
static const char *handle(const struct about *about, const struct row *other)
{
	if (strcmp(name_of(other), name_of(about->row)))
		return name_of(other);
	return other->object != about->row->object ? other->object : other->build_id;
}

static void put_other(FILE *out, const struct about *about, const struct row *other)
{
	const char *object = handle(about, other);
	char *word;

	if (asprintf(&word, "%s%s%s", other->name, object[0] ? "@" : "", object) < 0)
		allocated(NULL);
	fprintf(out, "  also     %s in %s, %" PRIu64 " samples: profil annotate ", other->name,
		other->object, other->samples);
	quote(out, word);
	putc('\n', out);
	free(word);
}

static void put_others(FILE *out, const struct about *about)
{
	const struct choice *choice = about->choice;
	size_t num = 0;

	for (size_t i = 0; i < choice->num && !choice->near; i++) {
		if (choice->rows[i] == about->row)
			continue;
		if (num++ < OTHERS)
			put_other(out, about, choice->rows[i]);
	}
	if (num > OTHERS)
		fprintf(out, "           and %zu more: profil report --all shows them\n",
			num - OTHERS);
}

void about_title(FILE *out, const struct about *about)
{
	const struct cost *sum = &about->body->sum;
	uint64_t all = about->table->sum.samples;

	fprintf(out, "%s in %s: %" PRIu64 " of %" PRIu64 " samples, %.1f %%, %.2f s of CPU\n",
		about->row->name, name_of(about->row), sum->samples, all,
		all ? 100.0 * sum->samples / all : 0, sum->cpu_ns / 1e9);
}

void about_head(FILE *out, const struct about *about)
{
	about_title(out, about);
	put_object(out, about);
	put_source(out, about);
	put_others(out, about);
	putc('\n', out);
}

void about_tail(FILE *out)
{
	fputs("\n  skid     a sample is charged to the instruction that was next:\n"
	      "           the slow one may be the one before\n", out);
}
