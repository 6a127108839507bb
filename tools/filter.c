// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include "filter.h"
#include "say.h"
#include "table.h"
#include "unit.h"

enum { KEY_UNIT = 3072, KEY_CONTAINER, KEY_PROGRAM };

static const struct argp_option options[] = {
	{ "unit", KEY_UNIT, "NAME", 0,
	  "Leave out what is not of this unit, in a profile of the whole machine; * and ? are as in a shell",
	  0 },
	{ "container", KEY_CONTAINER, "NAME", 0, "Leave out what is not of this container", 0 },
	{ "program", KEY_PROGRAM, "NAME", 0,
	  "Leave out what is not of this program, of run --per-process as well", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct filter *filter = state->input;

	switch (key) {
	case KEY_UNIT:
		unit_shorten(arg);
		filter->unit = arg;
		break;
	case KEY_CONTAINER:
		unit_shorten(arg);
		filter->container = arg;
		break;
	case KEY_PROGRAM:
		filter->program = arg;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

const struct argp filter_argp = { options, parse, NULL, NULL, NULL, NULL, NULL };

/* Names have backslashes, and brackets that mean themselves. */
static bool fits_one(const char *pattern, const char *name)
{
	return !pattern || !strcmp(pattern, name) || !fnmatch(pattern, name, FNM_NOESCAPE);
}

static bool fits(const struct filter *filter, const char *unit, const char *container,
		 const char *program)
{
	return fits_one(filter->unit, unit) && fits_one(filter->program, program) &&
		fits_one(filter->container, container);
}

static const char *kind_of(const struct filter *filter)
{
	return filter->unit ? "unit" : filter->container ? "container" : "program";
}

static bool is_any(const struct filter *filter)
{
	return filter->unit || filter->container || filter->program;
}

static bool has_units(const struct profile *profile)
{
	for (size_t i = 0; i < profile->num_samples; i++)
		if (profile->samples[i].unit[0])
			return true;
	return false;
}

/* Of processes of run --per-process it is known what program they are, and no more. */
static bool tells_apart(const struct profile *profile, const char *kind)
{
	return has_units(profile) ||
		(!strcmp(kind, "program") && table_knows(profile, BY_PROGRAM));
}

/* Ends the program where no sample of a profile says whose it is. */
static void check_kinds(const struct filter *filter, const struct profile *profile,
			const char *what)
{
	const char *kind = kind_of(filter);

	if (profile->num_samples && !tells_apart(profile, kind))
		die("%s does not tell %ss apart; profil run -a … does%s", what, kind,
		    strcmp(kind, "program") ? "" : ", and so does profil run --per-process …");
}

static _Noreturn void nothing(const struct filter *filter, const char *what)
{
	die("%s nothing of %s %s; profil report --by %s shows what there is", what,
	    kind_of(filter), filter->unit ?: filter->container ?: filter->program,
	    kind_of(filter));
}

/* Returns whether anything is left. */
static bool cut(const struct filter *filter, struct profile *profile)
{
	size_t samples = 0, processes = 0;
	uint64_t sum = 0;

	for (size_t i = 0; i < profile->num_samples; i++) {
		const struct sample *sample = &profile->samples[i];

		if (!fits(filter, sample->unit, sample->container, sample->program))
			continue;
		add(&sum, sample->samples);
		profile->samples[samples++] = *sample;
	}
	for (size_t i = 0; i < profile->num_processes; i++) {
		const struct process *process = &profile->processes[i];

		if (fits(filter, process->unit, process->container, process->program))
			profile->processes[processes++] = *process;
	}
	profile->num_samples = samples;
	profile->num_processes = processes;
	profile->filtered = true;
	/* classes, and what was lost, are known of the whole alone */
	memset(profile->counts, 0, sizeof(profile->counts));
	profile->counts[COUNT_TICKS] = sum;
	profile->counts[COUNT_IN_SLOTS] = sum;
	return samples || (processes && profile->processes->unit[0]);
}

void filter_profile(const struct filter *filter, struct profile *profile)
{
	if (!is_any(filter))
		return;
	check_kinds(filter, profile, "this profile");
	if (!cut(filter, profile))
		nothing(filter, "this profile has");
}

bool filter_one(const struct filter *filter, struct profile *profile, const char *file)
{
	if (!is_any(filter))
		return true;
	check_kinds(filter, profile, file);
	return cut(filter, profile);
}

void filter_none(const struct filter *filter)
{
	nothing(filter, "these profiles have");
}
