// SPDX-License-Identifier: GPL-2.0-only
/*
 * The flat profile by function, and how the ticks were accounted for.
 * Usage: report [--tsv] FILE...    (several files are added up)
 *
 * With --tsv, for programs: lines of "count KEY VALUE" and of
 * "function SAMPLES NAME OBJECT", separated by tabs; all functions, all counts.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "report.h"

#define TOP 20
#define SECONDS(ns) ((double)(ns) / 1e9)

static __u64 count_of(const struct profile *profile, size_t i)
{
	const char *stats = (const char *)&profile->run.stats;
	__u64 value;

	memcpy(&value, stats + profile_counts[i].offset, sizeof(value));
	return value;
}

static __u64 period_ns(const struct profile_run *run)
{
	return run->rate ? 1000000000 / run->rate : run->tick_ns;
}

static __u64 samples_of(const struct profile *profile)
{
	__u64 sum = 0;

	for (size_t i = 0; i < profile->num; i++)
		sum += profile->samples[i].count;
	return sum;
}

static bool several_objects(const struct profile *profile)
{
	for (size_t i = 1; i < profile->num; i++)
		if (strcmp(profile->samples[0].object, profile->samples[i].object))
			return true;
	return false;
}

static void print_tsv(const struct profile *profile)
{
	const struct profile_run *run = &profile->run;

	printf("count\tprocesses\t%llu\n", profile->processes);
	printf("count\ttick_ns\t%llu\n", run->tick_ns);
	printf("count\tperiod_ns\t%llu\n", period_ns(run));
	printf("count\twall_ns\t%llu\n", run->wall_ns);
	printf("count\tuser_ns\t%llu\n", run->user_ns);
	printf("count\tsystem_ns\t%llu\n", run->system_ns);
	for (size_t i = 0; i < profile_counts_num; i++)
		printf("count\t%s\t%llu\n", profile_counts[i].key,
		       count_of(profile, i));
	for (size_t i = 0; i < profile->num; i++) {
		const struct sample *s = &profile->samples[i];
		char *object = printable_copy(s->object);

		printf("function\t%llu\t%s\t%s\n", s->count, s->function, object);
		free(object);
	}
}

static void print_functions(const struct profile *profile)
{
	size_t shown = profile->num < TOP ? profile->num : TOP;
	bool objects = several_objects(profile);
	const struct profil_ioc_stats *stats = &profile->run.stats;
	__u64 uncounted = stats->out_saturated + stats->out_pending + stats->out_lost;
	__u64 left = samples_of(profile);
	__u64 all = left + stats->out_outside + uncounted;

	printf("%9s %9s  %s\n", "samples", "per cent", "function");
	for (size_t i = 0; i < shown; i++) {
		const struct sample *s = &profile->samples[i];
		const char *slash = strrchr(s->object, '/');
		char *object = printable_copy(slash ? slash + 1 : s->object);

		printf("%9llu %8.1f%%  %s", s->count, 100.0 * s->count / all,
		       s->function);
		if (objects)
			printf("  (%s)", object);
		printf("\n");
		free(object);
		left -= s->count;
	}
	if (left)
		printf("%9llu %8.1f%%  (%zu more)\n", left, 100.0 * left / all,
		       profile->num - shown);
	if (stats->out_outside)
		printf("%9llu %8.1f%%  (outside, in code loaded later)\n",
		       stats->out_outside, 100.0 * stats->out_outside / all);
	if (uncounted)
		printf("%9llu %8.1f%%  (not counted, see below)\n", uncounted,
		       100.0 * uncounted / all);
}

/* Two measures of the same time, of which the first is a sample. */
static void print_difference(const struct profile_run *run)
{
	double ticks = (double)run->stats.out_ticks * run->tick_ns;
	double used = run->user_ns + run->system_ns;
	double difference = ticks - used;

	if (difference < 0)
		difference = -difference;
	if (difference > 0.05 * used + 2.0 * run->tick_ns)
		printf("%8.2fs  apart: a tick charges whole periods, late on a busy machine\n",
		       SECONDS(difference));
}

static void print_accounting(const struct profile *profile)
{
	const struct profile_run *run = &profile->run;

	printf("\nof %s", profile->command ? profile->command : "a program");
	if (profile->processes > 1)
		printf(" and others, %llu programs", profile->processes);
	printf("\n");
	for (size_t i = 0; i < profile_counts_num; i++) {
		const char *key = profile_counts[i].key;
		__u64 value = count_of(profile, i);

		/* Reasons and rarities are shown when there are any. */
		if (value || (strncmp(key, "lost_", 5) && strcmp(key, "system") &&
			      strcmp(key, "borrowed") && strcmp(key, "forks_missed") &&
			      strcmp(key, "not_due")))
			printf("%9llu  %s\n", value, profile_counts[i].text);
	}
	printf("%8.2fs  ticks x %.3g ms\n", SECONDS(run->stats.out_ticks) * run->tick_ns,
	       run->tick_ns / 1e6);
	if (run->rate)
		printf("%8.2fs  (in range + outside) x %.3g ms\n",
		       (double)(run->stats.out_in_range + run->stats.out_outside) / run->rate,
		       1e3 / run->rate);
	printf("%8.2fs  getrusage: %.2f user + %.2f system\n",
	       SECONDS(run->user_ns + run->system_ns), SECONDS(run->user_ns),
	       SECONDS(run->system_ns));
	print_difference(run);
	printf("%8.2fs  wall%s\n", SECONDS(run->wall_ns),
	       profile->processes > 1 ? ", of all programs added up" : "");
}

int main(int argc, char **argv)
{
	struct profile profile = { 0 };
	int arg = 1;
	bool tsv;

	tsv = argc > 1 && !strcmp(argv[1], "--tsv");
	if (tsv)
		arg++;
	if (arg == argc || argv[arg][0] == '-') {
		fprintf(stderr, "usage: report [--tsv] FILE...\n");
		return 2;
	}
	while (arg < argc)
		profile_read(&profile, argv[arg++]);

	profile_symbolise(&profile);
	if (tsv) {
		print_tsv(&profile);
		return 0;
	}
	print_functions(&profile);
	print_accounting(&profile);
	return 0;
}
