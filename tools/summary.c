// SPDX-License-Identifier: GPL-2.0-only
/* What a profile is worth: where its samples come from, and what is not in it. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "debuginfod.h"
#include "kernel.h"
#include "machine.h"
#include "reader.h"
#include "say.h"
#include "spread.h"
#include "stats.h"
#include "summary.h"
#include "times.h"

#define FEW 100			/* samples, of which shares are not worth much */
#define OBJECTS_SHOWN 4
#define COMMAND_MAX 60
#define BREAK "\n           "	/* what mends it is a line below what is said */

static double seconds(uint64_t ns)
{
	return ns / 1e9;
}

/* Samples, also those that found no place in the table. */
static uint64_t all_samples(const struct profile *profile)
{
	uint64_t all = machine_ticks(profile);

	add(&all, profile->counts[COUNT_IN_SLOTS]);
	add(&all, profile->counts[COUNT_EXEC]);
	add(&all, profile->counts[COUNT_FULL]);
	return all;
}

static uint64_t charged(const struct profile *profile)
{
	uint64_t all = profile->counts[COUNT_CHARGED_USER_NS];

	add(&all, profile->counts[COUNT_CHARGED_SYSTEM_NS]);
	return all;
}

static double sampled_ns(const struct profile *profile)
{
	return (double)all_samples(profile) * profile->period_ns;
}

/* The beginning of a long one. */
static void put_command(FILE *out, const char *command)
{
	const char *end = command;

	for (size_t i = 0; i < COMMAND_MAX && *end; i++)
		while ((*++end & 0xc0) == 0x80)
			;
	fwrite(command, 1, end - command, out);
	if (*end)
		fputs("…", out);
}

static void put_span(FILE *out, const struct profile *profile)
{
	uint64_t from, to;

	if (times_span(profile, &from, &to))
		fprintf(out, ", from %.4g s to %.4g s", seconds(from), seconds(to));
}

void summary_head(FILE *out, const struct profile *profile, const struct table *table)
{
	const uint64_t *counts = profile->counts;
	bool known = charged(profile);
	double user = seconds(known ? counts[COUNT_CHARGED_USER_NS] : table->sum.user_ns);
	double system = seconds(known ? counts[COUNT_CHARGED_SYSTEM_NS] : table->sum.system_ns);
	double wall = seconds(profile->duration_ns), low, high;

	if (profile->command[0]) {
		put_command(out, profile->command);
		if (profile->files > 1)
			fputs(" and others", out);
		if (profile->num_runs > profile->files)
			fprintf(out, ", %zu runs", profile->num_runs);
		put_span(out, profile);
		fputs(": ", out);
	}
	if (machine_is(profile)) {
		machine_head(out, profile);
	} else {
		fprintf(out, "%.2f s of CPU", user + system);
		if (wall > 0)
			fprintf(out, " in %.2f s (%.0f %% running)", wall,
				100 * (user + system) / wall);
		fprintf(out, ", %.2f user + %.2f system\n", user, system);
	}
	if (table->sum.samples && table->sum.samples < FEW) {
		stats_interval(table->sum.samples / 2, table->sum.samples, &low, &high);
		fprintf(out, "only %" PRIu64 " samples: shares are good to ±%.0f %%; run it longer%s\n",
			table->sum.samples, 50 * (high - low),
			machine_is(profile) ? "" : ", or with -F 1000");
	}
	putc('\n', out);
}

/* The first ones; @title has the width of all titles. */
static void put_most(FILE *out, struct profile *profile, enum by by, const char *title)
{
	struct table table;
	uint64_t rest = 0;

	table_make(profile, by, &table);
	fprintf(out, "  %-8s ", title);
	for (size_t i = 0; i < table.num; i++) {
		const struct object object = { .file = table.rows[i].name };

		if (i < OBJECTS_SHOWN)
			fprintf(out, "%s%s %.1f %%", i ? ", " : "", object_name(&object),
				100.0 * table.rows[i].samples / table.sum.samples);
		else
			add(&rest, table.rows[i].samples);
	}
	if (table.num > OBJECTS_SHOWN)
		fprintf(out, ", %zu more %.1f %%", table.num - OBJECTS_SHOWN,
			100.0 * rest / table.sum.samples);
	putc('\n', out);
	table_free(&table);
}

/* Nobody has been asked where a profile is only read. */
static void put_stripped(FILE *out, const char *name)
{
	fprintf(out, "%s is stripped" BREAK, name);
	if (!debuginfod_servers())
		fprintf(out, "DEBUGINFOD_URLS=%s profil run … gets them,"
			BREAK "and profil report --names DIR reads those that are in DIR\n",
			debuginfod_server());
	else if (!debuginfod_is_there())
		fputs("debuginfod is not asked without its library: sudo apt-get install libdebuginfod1; then profil report --names=/ asks it\n",
		      out);
	else if (reader_has_asked)
		fputs("debuginfod gave none: install the debug symbols of its package; then profil report --names=/ has them\n",
		      out);
	else
		fputs("profil report --names=/ asks debuginfod for them\n", out);
}

/* Which object has most of the samples without a name, and what mends that. */
static void put_unnamed(FILE *out, struct profile *profile, const struct table *functions)
{
	const struct row *most = NULL;
	struct object object;
	struct table table;

	table_make(profile, BY_OBJECT, &table);
	for (size_t i = 0; i < table.num; i++)
		if (!most || table.rows[i].unnamed > most->unnamed)
			most = &table.rows[i];
	object.file = most->name;
	fprintf(out, "  names    %.0f %% of the samples have none: ",
		100.0 * functions->sum.unnamed / functions->sum.samples);
	if (!strcmp(object.file, "[anonymous]") || !strcmp(object.file, "[not looked up]"))
		fputs("code made at run time" BREAK "node --perf-basic-prof, java -XX:+DumpPerfMapAtExit, python3 -X perf name theirs\n",
		      out);
	else if (!strcmp(object.file, KERNEL_NAME))
		fputs(most->unnamed < most->samples ? "the kernel has no function there\n" :
		      "the kernel hides its functions" BREAK "sudo sysctl kernel.kptr_restrict=1; then sudo profil run --kernel … has them\n",
		      out);
	else if (object.file[0] == '[')
		fprintf(out, "%s is no file\n", object.file);
	else
		put_stripped(out, object_name(&object));
	table_free(&table);
}

static void put_elsewhere(FILE *out, const struct table *functions)
{
	uint64_t num = 0;

	for (size_t i = 0; i < functions->num; i++)
		if (is_elsewhere(functions->rows[i].name))
			add(&num, functions->rows[i].samples);
	if (num && functions->by == BY_FUNCTION)
		fprintf(out, "  places   %.1f %% of the samples are elsewhere in their object: the table had no room for more of its places"
			BREAK "profil run --slots=1048576 … makes it larger\n",
			100.0 * num / functions->sum.samples);
}

/* A profile that another program has made knows none of these. */
static bool has_counts(const struct profile *profile)
{
	for (size_t i = 0; i < COUNTS; i++)
		if (profile->counts[i])
			return true;
	return false;
}

static void put_ticks(FILE *out, const struct profile *profile)
{
	const uint64_t *counts = profile->counts;
	uint64_t all = all_samples(profile);

	if (!has_counts(profile))
		return;
	fprintf(out, "  ticks    %" PRIu64, all);
	if (profile->period_ns)
		fprintf(out, " of %.4g ms = %.2f s", profile->period_ns / 1e6,
			sampled_ns(profile) / 1e9);
	if (profile->cut || profile->filtered) {
		fputs("; what was lost is known of the whole alone\n", out);
		return;
	}
	fprintf(out, ": %" PRIu64 " counted, %" PRIu64 " in exec, %" PRIu64 " lost",
		counts[COUNT_IN_SLOTS], counts[COUNT_EXEC], counts[COUNT_FULL]);
	if (counts[COUNT_NOT_DUE])
		fprintf(out, ", and %" PRIu64 " were not due", counts[COUNT_NOT_DUE]);
	if (machine_is(profile))
		fprintf(out, ", %" PRIu64 " of kernel threads, %" PRIu64 " in interrupts, %" PRIu64 " idle",
			counts[COUNT_KTHREADS], counts[COUNT_INTERRUPTS], counts[COUNT_IDLE]);
	if (charged(profile))
		fprintf(out, "; the kernel charged %.2f s", seconds(charged(profile)));
	putc('\n', out);
	if (counts[COUNT_TICKS] - all != counts[COUNT_NOT_DUE])
		fprintf(out, "  remark   there were %" PRIu64 " ticks, which is not the sum: a bug of the module's\n",
			counts[COUNT_TICKS]);
}

/* Beyond what chance and the last tick of each process can make. */
static bool differs(const struct profile *profile)
{
	double account = charged(profile);
	double difference = account - sampled_ns(profile);

	return account && profile->period_ns && !profile->counts[COUNT_NOT_DUE] &&
		difference > 0.05 * account + 2.0 * profile->period_ns;
}

static void remark(FILE *out, const char *what, const char *mend)
{
	fprintf(out, "  remark   %s" BREAK "%s\n", what, mend);
}

static void remark_count(FILE *out, uint64_t num, const char *what, const char *mend)
{
	if (num)
		fprintf(out, "  remark   %s: %" PRIu64 BREAK "%s\n", what, num, mend);
}

static void put_remarks(FILE *out, const struct profile *profile, const struct table *table)
{
	const uint64_t *counts = profile->counts;
	double cpu = charged(profile) ? charged(profile) : table->sum.cpu_ns;

	if (differs(profile))
		remark(out, "the ticks are less than 95 % of that: a busy machine, or in step with it",
		       "profil run -F 997 … samples at random times");
	if (!profile->filtered && !machine_is(profile) && profile->duration_ns > 100000000 &&
	    cpu < 0.5 * profile->duration_ns)
		remark(out, "it waited half of the time or more, which no profile of CPU time sees",
		       "strace -c -w … does");
	remark_count(out, counts[COUNT_FULL_OBJECTS], "ticks in files for which there was no room",
		     "profil run -d SECONDS, or -p PID, profiles a part of it");
	remark_count(out, counts[COUNT_FULL] - counts[COUNT_FULL_OBJECTS],
		     "ticks for which the table of places had no room",
		     "profil run --slots=1048576 … makes it larger");
	remark_count(out, counts[COUNT_EXECS_DENIED],
		     "processes that executed what you may not trace (set-user-ID, unreadable)",
		     "sudo profil run … counts them as well");
	remark_count(out, counts[COUNT_FORKS_MISSED],
		     "processes that are not counted, because there were too many at a time",
		     "the module's max_profiles and max_profiles_user are limits");
}

void summary_tail(FILE *out, struct profile *profile, const struct table *table)
{
	/* what is by units may have no sample at a place */
	if (table->sum.samples && profile->num_samples) {
		putc('\n', out);
		put_most(out, profile, BY_OBJECT, "objects");
		if (profile->samples->unit[0])
			put_most(out, profile, BY_UNIT, "units");
	}
	put_elsewhere(out, table);
	/* one in a hundred is not worth a line */
	if (table->sum.unnamed > table->sum.samples / 100)
		put_unnamed(out, profile, table);
	spread_line(out, profile);
	put_ticks(out, profile);
	put_remarks(out, profile, table);
}
