// SPDX-License-Identifier: GPL-2.0-only
/* What a file says in comments: "KEY VALUE", one a line, for people as well. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "comments.h"
#include "say.h"

struct teller {
	void (*tell)(void *data, const char *comment);
	void *data;
};

__attribute__((format(printf, 2, 3)))
static void tell(struct teller *teller, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		allocated(NULL);
	va_end(args);
	teller->tell(teller->data, text);
	free(text);
}

static void tell_process(struct teller *teller, const struct process *process)
{
	tell(teller, "process %" PRId64 " parent %" PRId64 " programs %" PRIu64 " samples %" PRIu64
	     " user_ns %" PRIu64 " system_ns %" PRIu64 " %s", process->pid, process->parent,
	     process->images, process->samples, process->user_ns, process->system_ns,
	     process->program);
}

/* A name as one word: \x20 is a space in it, and \x5c what the others begin with. */
static char *to_word(const char *name)
{
	char *word = allocated(malloc(4 * strlen(name) + 2)), *to = word;

	for (; *name; name++)
		if (*name == ' ' || *name == '\\')
			to += sprintf(to, "\\x%02x", *name);
		else
			*to++ = *name;
	/* no name is one, too */
	if (to == word)
		*to++ = '-';
	*to = '\0';
	return word;
}

static const char *from_word(struct profile *profile, char *word)
{
	char *to = word;

	if (!strcmp(word, "-"))
		return profile_string(profile, "");
	for (const char *from = word; *from; to++) {
		bool space = !strncmp(from, "\\x20", 4), other = !strncmp(from, "\\x5c", 4);

		*to = space ? ' ' : *from;
		from += space || other ? 4 : 1;
	}
	*to = '\0';
	return profile_string(profile, word);
}

/* A program in a unit. */
static void tell_row(struct teller *teller, const struct process *row)
{
	char *unit = to_word(row->unit), *container = to_word(row->container);

	tell(teller, "row samples %" PRIu64 " user_ns %" PRIu64 " system_ns %" PRIu64
	     " unit %s container %s program %s", row->samples, row->user_ns, row->system_ns,
	     unit, container, row->program);
	free(unit);
	free(container);
}

static void tell_processes(struct teller *teller, const struct profile *profile)
{
	struct process others = { .program = "others" };

	for (size_t i = 0; i < profile->num_processes; i++) {
		const struct process *process = &profile->processes[i];

		if (process->unit[0]) {
			if (process->samples)
				tell_row(teller, process);
			continue;
		}
		if (i < PROCESSES_MAX && process->pid) {
			tell_process(teller, process);
			continue;
		}
		add(&others.images, process->images);
		add(&others.samples, process->samples);
		add(&others.user_ns, process->user_ns);
		add(&others.system_ns, process->system_ns);
	}
	if (others.images || others.samples)
		tell_process(teller, &others);
}

static void tell_runs(struct teller *teller, const struct profile *profile)
{
	for (size_t i = 0; i < profile->num_runs; i++) {
		const struct run *run = &profile->runs[i];

		tell(teller, "run %zu from_ns %" PRIu64 " to_ns %" PRIu64 " slice_ns %" PRIu64
		     " user_ns %" PRIu64 " system_ns %" PRIu64, i + 1, run->from_ns, run->to_ns,
		     run->slice_ns, run->user_ns, run->system_ns);
	}
}

void comments_write(const struct profile *profile,
		    void (*call)(void *data, const char *comment), void *data)
{
	struct teller teller = { call, data };

	for (size_t i = 0; i < profile->num_facts; i++)
		tell(&teller, "%s", profile->facts[i]);
	if (profile->command[0])
		tell(&teller, "command %s", profile->command);
	for (int i = 0; i < COUNTS; i++)
		if (profile->counts[i] || i <= COUNT_FULL)
			tell(&teller, "%s %" PRIu64, count_names[i], profile->counts[i]);
	tell_runs(&teller, profile);
	tell_processes(&teller, profile);
}

/* Is the comment "NAME NUMBER"? */
static bool read_count(struct profile *profile, const char *comment)
{
	for (int i = 0; i < COUNTS; i++) {
		size_t length = strlen(count_names[i]);
		uint64_t value;
		char end;

		if (strncmp(comment, count_names[i], length) || comment[length] != ' ')
			continue;
		if (sscanf(comment + length, " %" SCNu64 "%c", &value, &end) != 1)
			return false;
		add(&profile->counts[i], value);
		return true;
	}
	return false;
}

static bool read_process(struct profile *profile, const char *comment)
{
	struct process process = { 0 };
	int program = 0, fields;

	fields = sscanf(comment, "process %" SCNd64 " parent %" SCNd64 " programs %" SCNu64
			" samples %" SCNu64 " user_ns %" SCNu64 " system_ns %" SCNu64 " %n",
			&process.pid, &process.parent, &process.images, &process.samples,
			&process.user_ns, &process.system_ns, &program);
	if (fields != 6 || !program)
		return false;
	process.program = profile_string(profile, comment + program);
	profile_add_process(profile, process);
	return true;
}

static bool read_row(struct profile *profile, const char *comment)
{
	struct process row = { 0 };
	char *unit = NULL, *container = NULL;
	int program = 0, fields;

	fields = sscanf(comment, "row samples %" SCNu64 " user_ns %" SCNu64 " system_ns %" SCNu64
			" unit %ms container %ms program %n", &row.samples, &row.user_ns,
			&row.system_ns, &unit, &container, &program);
	if (fields == 5 && program) {
		row.unit = from_word(profile, unit);
		row.container = from_word(profile, container);
		row.program = profile_string(profile, comment + program);
		profile_add_process(profile, row);
	}
	free(unit);
	free(container);
	return fields == 5 && program;
}

static bool is_possible(const struct run *run)
{
	uint64_t slice = run->slice_ns;

	return run->from_ns <= run->to_ns && run->to_ns <= INT64_MAX && slice <= INT64_MAX &&
		slice % NS_OF_MS == 0 && (!slice || (run->to_ns + slice - 1) / slice <= SLICES_MAX);
}

/* They are numbered in each file, and what is out of order is none. */
static bool read_run(struct profile *profile, size_t runs_before, const char *comment)
{
	struct run run = { 0 };
	size_t number;
	int fields;
	char end;

	fields = sscanf(comment, "run %zu from_ns %" SCNu64 " to_ns %" SCNu64 " slice_ns %" SCNu64
			" user_ns %" SCNu64 " system_ns %" SCNu64 "%c", &number, &run.from_ns,
			&run.to_ns, &run.slice_ns, &run.user_ns, &run.system_ns, &end);
	if (fields != 6 || number != profile->num_runs - runs_before + 1 || !is_possible(&run))
		return false;
	profile_add_run(profile, run);
	return true;
}

void comments_read(struct profile *profile, size_t runs_before, const char *comment)
{
	static const char command[] = "command ";

	if (read_count(profile, comment) || read_process(profile, comment) ||
	    read_row(profile, comment) || read_run(profile, runs_before, comment))
		return;
	if (profile->files)
		return;		/* the first file has said what it is */
	if (!strncmp(comment, command, strlen(command)))
		profile->command = profile_string(profile, comment + strlen(command));
	else
		profile_add_fact(profile, comment);
}
