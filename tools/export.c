// SPDX-License-Identifier: GPL-2.0-only
/* profil export: files of profiles, added up, in the formats of other programs, or as a page. */
#define _GNU_SOURCE
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "command.h"
#include "formats.h"
#include "order.h"
#include "page.h"
#include "quote.h"
#include "rows.h"
#include "say.h"
#include "span.h"
#include "store.h"
#include "sysroot.h"
#include "whole.h"

struct export {
	const struct format *format;
	const char *file;
	char **profiles;	/* those that were named, and how many */
	int num;
	struct span span;
	struct sysroot sysroot;
	struct profile profile;
};

typedef void rows_writer(FILE *out, const struct profile *profile, const struct table *table);

static void write_rows(struct profile *profile, FILE *out, rows_writer *rows)
{
	struct table table;

	table_make(profile, BY_ADDRESS, &table);
	rows(out, profile, &table);
	table_free(&table);
}

static void write_json(struct profile *profile, FILE *out)
{
	write_rows(profile, out, rows_json);
}

static void write_tsv(struct profile *profile, FILE *out)
{
	write_rows(profile, out, rows_tsv);
}

/*
 * What --format and the end of a file's name say.  Without write: not into one stream.
 * A format has as many rows as there are ends of names for it.
 */
static const struct format {
	const char *name, *suffix;
	void (*write)(struct profile *profile, FILE *out);
} formats[] = {
	{ "pprof", ".pb.gz", NULL },
	{ "callgrind", ".callgrind", callgrind_write },
	{ "collapsed", ".folded", collapsed_write },
	{ "cpuprofile", ".prof", cpuprofile_write },
	{ "cpuprofile", ".cpuprofile", cpuprofile_write },
	{ "gmon", ".gmon", NULL },
	{ "html", ".html", page_write },
	{ "json", ".json", write_json },
	{ "tsv", ".tsv", write_tsv },
};

#define FORMATS "pprof, callgrind, collapsed, cpuprofile, gmon, html, json or tsv"

static const struct argp_option options[] = {
	{ "output", 'o', "FILE", 0, "Write FILE; the end of its name says the format", 0 },
	{ "format", 'f', "FORMAT", 0, "Write this format: " FORMATS, 0 },
	{ 0 }
};

static const struct format *format_called(const char *name)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (!strcmp(name, formats[i].name))
			return &formats[i];
	return NULL;
}

static const struct format *format_of(const char *file)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		size_t length = strlen(file), end = strlen(formats[i].suffix);

		if (length > end && !strcmp(file + length - end, formats[i].suffix))
			return &formats[i];
	}
	return NULL;
}

static void check_options(struct argp_state *state, struct export *export)
{
	if (!export->file)
		argp_error(state, "which file shall be written? name it with -o");
	if (!export->format)
		export->format = format_of(export->file);
	if (!export->format)
		argp_error(state, "the end of %s says no format; give one with -f: " FORMATS,
			   export->file);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct export *export = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &export->span;
		state->child_inputs[1] = &export->sysroot;
		break;
	case 'o':
		if (!*arg)
			argp_error(state, "-o takes a file, and was given an empty name");
		export->file = arg;
		break;
	case 'f':
		export->format = format_called(arg);
		if (!export->format)
			argp_error(state, "-f takes " FORMATS ", and was given %s", arg);
		break;
	case ARGP_KEY_ARGS:
		export->profiles = state->argv + state->next;
		export->num = state->argc - state->next;
		break;
	case ARGP_KEY_END:
		check_options(state, export);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_child children[] = {
	{ &span_argp, 0, NULL, 0 }, { &sysroot_argp, 0, NULL, 0 }, { 0 }
};

static const struct argp argp = {
	options, parse, "-o FILE [PROFILE...]",
	"Writes profiles that profil run has made, added up, for other programs.\v"
	"Formats, the ends of names that stand for them, and who reads them:\n"
	"  pprof       .pb.gz       go tool pprof, speedscope, Pyroscope\n"
	"  callgrind   .callgrind   KCachegrind, callgrind_annotate\n"
	"  collapsed   .folded      flamegraph.pl, inferno\n"
	"  cpuprofile  .prof        google-pprof; .cpuprofile stands for it, too\n"
	"  gmon        .gmon        gprof; a file for each object, whose name is added to FILE\n"
	"  html        .html        any browser: one page, to be shown around\n"
	"  json        .json        jq\n"
	"  tsv         .tsv         awk, spreadsheets\n"
	"\n"
	"Without PROFILE, " STORE_FILE " is read; - is standard input, and as FILE standard output.",
	children, NULL, NULL
};

/* A stream into memory: what a file gets is whole. */
struct memory {
	FILE *stream;
	char *bytes;
	size_t length;
};

static void memory_open(struct memory *memory)
{
	memory->stream = allocated(open_memstream(&memory->bytes, &memory->length));
}

static void memory_write(struct memory *memory, const char *file)
{
	if (fclose(memory->stream))
		allocated(NULL);
	if (!whole_write(file, memory->bytes, memory->length))
		die("the profile cannot be written to %s: %s; choose another file with -o", file,
		    strerror(errno));
	free(memory->bytes);
}

static char *with_number(const char *name, unsigned int number)
{
	char *text;

	if (asprintf(&text, "%s.%u", name, number) < 0)
		allocated(NULL);
	return text;
}

static bool is_taken(const struct profile *profile, const char *name)
{
	for (size_t i = 0; i < profile->num_objects; i++)
		if (!strcmp(object_name(&profile->objects[i]), name))
			return true;
	return false;
}

/*
 * The name of an object, or with a number behind it where objects of two folders have one name.
 * There are libraries whose own names are like that: libfoo.so.2.
 */
static char *unique_name(const struct profile *profile, size_t object)
{
	const char *name = object_name(&profile->objects[object]);
	char *text = allocated(strdup(name));
	unsigned int number = 1;

	for (size_t i = 0; i < object; i++) {
		if (strcmp(object_name(&profile->objects[i]), name))
			continue;
		do {
			free(text);
			text = with_number(name, ++number);
		} while (is_taken(profile, text));
	}
	return text;
}

static char *gmon_name(const struct profile *profile, size_t object, const char *file)
{
	char *name = unique_name(profile, object), *text;

	if (asprintf(&text, "%s.%s", file, name) < 0)
		allocated(NULL);
	free(name);
	return text;
}

/* What has no file, gprof could not name. */
static void write_gmon(struct profile *profile, const char *file)
{
	bool any = false;

	if (!strcmp(file, "-"))
		die("gprof reads a file for each object, and standard output is one; "
		    "name the first part of their names with -o");
	for (size_t i = 0; i < profile->num_objects; i++) {
		const struct object *object = &profile->objects[i];
		struct memory memory;
		char *name;

		if (object->file[0] == '[')
			continue;
		memory_open(&memory);
		if (!gmon_write(profile, i, memory.stream)) {
			fclose(memory.stream);
			free(memory.bytes);
			continue;
		}
		any = true;
		name = gmon_name(profile, i, file);
		memory_write(&memory, name);
		fputs("gprof -b -p ", stderr);
		quote(stderr, object->file);
		putc(' ', stderr);
		quote(stderr, name);
		putc('\n', stderr);
		free(name);
	}
	if (!any)
		die("no file for gprof is written: no sample is in a program or in a library; choose another format with -f");
}

static void write_one(struct profile *profile, const struct format *format, const char *file)
{
	struct memory memory;

	memory_open(&memory);
	format->write(profile, memory.stream);
	memory_write(&memory, file);
}

int command_export(int argc, char **argv)
{
	struct export export = { 0 };

	profile_init(&export.profile);
	argp_parse(&argp, argc, argv, 0, NULL, &export);
	for (int i = 0; i < export.num; i++)
		store_read(&export.profile, export.profiles[i]);
	if (!export.num)
		store_read(&export.profile, STORE_FILE);
	store_check(export.file);
	sysroot_names(&export.sysroot, &export.profile);
	span_cut(&export.span, &export.profile, NULL);
	profile_order(&export.profile);
	store_guard(&export.profile);
	if (export.format->write)
		write_one(&export.profile, export.format, export.file);
	else if (!strcmp(export.format->name, "gmon"))
		write_gmon(&export.profile, export.file);
	else if (store_write(&export.profile, export.file) < 0)
		return 1;
	sysroot_free(&export.sysroot);
	profile_free(&export.profile);
	return 0;
}
