// SPDX-License-Identifier: GPL-2.0-only
/* profil annotate: the lines of a function, with the samples of profiles. */
#define _GNU_SOURCE
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "about.h"
#include "columns.h"
#include "command.h"
#include "lines.h"
#include "order.h"
#include "output.h"
#include "records.h"
#include "say.h"
#include "sheet.h"
#include "span.h"
#include "store.h"
#include "sysroot.h"

enum { KEY_ALL = 256 };

struct annotate {
	const char *function;
	struct form form;
	bool all, read;
	struct output output;
	struct span span;
	struct sysroot sysroot;
	struct profile profile;
	struct sources sources;
};

static const struct argp_option options[] = {
	{ "source", 's', NULL, 0, "Show lines of source", 0 },
	{ "instructions", 'i', NULL, 0,
	  "Show instructions; with -s, those of each line", 0 },
	{ "all", KEY_ALL, NULL, 0, "Show also lines that are far from those with samples", 0 },
	{ 0 }
};

static void take_argument(struct annotate *annotate, const char *arg)
{
	if (!annotate->function) {
		annotate->function = arg;
		return;
	}
	store_read(&annotate->profile, arg);
	annotate->read = true;
}

static void check(struct annotate *annotate, struct argp_state *state)
{
	if (!annotate->function)
		argp_error(state, "a function has to be named, as profil report shows it");
	if (!annotate->read)
		store_read(&annotate->profile, STORE_FILE);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct annotate *annotate = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &annotate->span;
		state->child_inputs[1] = &annotate->sysroot;
		state->child_inputs[2] = &annotate->output;
		break;
	case 's':
		annotate->form.source = true;
		break;
	case 'i':
		annotate->form.instructions = true;
		break;
	case KEY_ALL:
		annotate->all = true;
		break;
	case ARGP_KEY_ARG:
		take_argument(annotate, arg);
		break;
	case ARGP_KEY_END:
		check(annotate, state);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_child children[] = {
	{ &span_argp, 0, NULL, 0 }, { &sysroot_argp, 0, NULL, 0 }, { &output_argp, 0, NULL, 0 },
	{ 0 }
};

static const struct argp argp = {
	options, parse, "FUNCTION [FILE...]",
	"Shows which lines of a function have the samples of profiles: lines of its source, or instructions where that is not there.\v"
	"FUNCTION is a name as profil report shows it, such as main or fn@4e40, or an address such as 0x4e40; FUNCTION@OBJECT is that of one object.  "
	"Without FILE, " STORE_FILE " is read; - is standard input.",
	children, NULL, NULL
};

static int open_code(struct annotate *annotate, const struct row *row, struct about *about)
{
	/* where neither has a build id, the path says that a file is it */
	const struct object object = {
		.file = row->object, .build_id = row->build_id, .limit = 1,
	};

	return sysroot_open(&annotate->sysroot, &annotate->profile, &object, &about->path,
			    &about->object);
}

static int open_object(struct annotate *annotate, const struct row *row, struct about *about)
{
	int fd;

	if (row->object[0] == '[')
		die("the code of %s is in %s, which is no file, so it cannot be shown", row->name,
		    row->object);
	fd = open_code(annotate, row, about);
	if (fd >= 0)
		return fd;
	if (errno == EINVAL)
		die("%s is no ordinary file, so the code of %s cannot be shown", row->object,
		    row->name);
	die("%s cannot be read for the code of %s: %m; profile it again if it is gone, or give its folder with --names",
	    row->object, row->name);
}

/* Only the file says how far a function reaches, which has no sample at an address. */
static const struct row *find_near(struct annotate *annotate, const struct choice *choice,
				   struct about *about, struct body *body)
{
	for (size_t i = 0; i < choice->num; i++) {
		const struct row *row = choice->rows[i];
		int fd = row->object[0] == '[' ? -1 : open_code(annotate, row, about);

		if (fd < 0 || !body_read(&annotate->profile, row, fd, about->path, body))
			continue;
		if (body_has(body, choice->address))
			return row;
		body_free(body);
	}
	return NULL;
}

static void find(struct annotate *annotate, const struct choice *choice, struct about *about,
		 struct body *body)
{
	if (choice->near)
		about->row = find_near(annotate, choice, about, body);
	else if (choice->num)
		about->row = choice->rows[0];
	if (!about->row)
		choice_none(about->table, annotate->function);
	if (!choice->near) {
		int fd = open_object(annotate, about->row, about);

		if (!body_read(&annotate->profile, about->row, fd, about->path, body))
			exit(die_status);
	}
	lines_check(about->row, body);
}

static void print(struct annotate *annotate, const struct about *about, struct listing *listing)
{
	if (annotate->output.tsv) {
		records_tsv(stdout, about->row, about->body, listing);
	} else if (annotate->output.json) {
		records_json(stdout, about->row, about->body, listing);
	} else {
		if (!annotate->all)
			listing_fold(listing);
		about_head(stdout, about);
		sheet_put(stdout, about->body, listing, columns_of(stdout));
		about_tail(stdout);
	}
}

int command_annotate(int argc, char **argv)
{
	struct annotate annotate = { 0 };
	struct listing listing = { 0 };
	struct choice choice;
	struct table table;
	struct body body;
	struct about about = {
		.profile = &annotate.profile, .table = &table, .choice = &choice, .body = &body,
	};

	profile_init(&annotate.profile);
	argp_parse(&argp, argc, argv, 0, NULL, &annotate);
	sysroot_names(&annotate.sysroot, &annotate.profile);
	span_cut(&annotate.span, &annotate.profile, NULL);
	profile_order(&annotate.profile);
	table_make(&annotate.profile, BY_FUNCTION, &table);
	choice_make(&annotate.profile, &table, annotate.function, &choice);
	find(&annotate, &choice, &about, &body);
	lines_list(&annotate.profile, &about, annotate.form, &annotate.sources, &listing);
	print(&annotate, &about, &listing);
	free(listing.lines);
	sources_free(&annotate.sources);
	body_free(&body);
	choice_free(&choice);
	table_free(&table);
	sysroot_free(&annotate.sysroot);
	profile_free(&annotate.profile);
	output_end("lines");
	return 0;
}
