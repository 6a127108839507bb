// SPDX-License-Identifier: GPL-2.0-only
/* Runs of a program one after another, each of them counted by a session of its own. */
#include "clock.h"
#include "gather.h"
#include "program.h"
#include "run.h"
#include "say.h"
#include "series.h"
#include "slices.h"
#include "units.h"

#define LEAST 0.001	/* seconds to wait, so that signals are looked at */
#define UNITS 1		/* seconds after which new units are looked for */

/* Seconds to the end of the slice, or to that of the counting; negative: there is none. */
static double time_left(const struct series *series, const struct slices *slices, uint64_t now)
{
	uint64_t due = slices_due(slices);
	double left = due == UINT64_MAX ? -1 : due <= now ? 0 : (due - now) / 1e9;
	double all = series->seconds - now / 1e9;

	if (series->seconds >= 0 && (left < 0 || all < left))
		left = all;
	if (series->counting.wish.system && (left < 0 || left > UNITS))
		left = UNITS;
	return left >= 0 && left < LEAST ? LEAST : left;
}

/* Returns whether what was to be waited for has come. */
static bool watch(const struct series *series, struct program *program, struct session *session,
		  struct slices *slices, struct units *units, uint64_t began)
{
	uint64_t units_read_at = 0;

	for (;;) {
		uint64_t now = clock_ns(CLOCK_MONOTONIC) - began;

		if (program_wait(program, session, series->counting.wait,
				 time_left(series, slices, now)))
			return true;
		now = clock_ns(CLOCK_MONOTONIC) - began;
		if (series->seconds >= 0 && now >= series->seconds * 1e9)
			return false;
		if (now >= slices_due(slices))
			slices_take(slices, now, false);
		if (units && now >= units_read_at + UNITS * 1000000000ULL) {
			units_read(units, session);
			units_read_at = now;
		}
	}
}

/* Returns whether it was counted from the program's begin to its end. */
static bool count(const struct series *series, struct program *program, struct session *session,
		  struct slices *slices, struct units *units, struct run *run)
{
	uint64_t began = units ? session_began_ns(session) : clock_ns(CLOCK_MONOTONIC);
	bool whole = watch(series, program, session, slices, units, began);

	session_stop(session);
	run->to_ns = units ? session_length_ns(session) : clock_ns(CLOCK_MONOTONIC) - began;
	slices_take(slices, run->to_ns, true);
	run->slice_ns = slices_length(slices);
	/* A program that goes on after that is not ours to end. */
	if (!whole && series->counting.argv)
		program_wait(program, session, false, -1);
	/* what the kernel charged the program is not what all have used */
	if (!whole || !program->ended || units)
		return false;
	program_charged(program, &run->user_ns, &run->system_ns);
	return true;
}

static void add_run(struct profile *profile, const struct run *run)
{
	profile_add_run(profile, *run);
	add(&profile->duration_ns, run->to_ns);
	add(&profile->counts[COUNT_CHARGED_USER_NS], run->user_ns);
	add(&profile->counts[COUNT_CHARGED_SYSTEM_NS], run->system_ns);
}

/* What there is of a series. */
static struct {
	const struct series *series;
	struct profile *profile;
	bool whole;
} under_way;

static void end(void)
{
	struct profile *profile = under_way.profile;

	/* of a part of all, nobody knows what the kernel charged */
	if (!under_way.whole) {
		profile->counts[COUNT_CHARGED_USER_NS] = 0;
		profile->counts[COUNT_CHARGED_SYSTEM_NS] = 0;
	}
	if (profile->num_runs < under_way.series->runs)
		say("the series was interrupted; the profile has %zu of %zu runs",
		    profile->num_runs, under_way.series->runs);
}

/* Where a run cannot be begun, the end of the program is near. */
static void keep(void)
{
	end();
	run_end(under_way.profile, &under_way.series->counting, under_way.series->rows);
}

/* Where others are in the profile, one that was interrupted does not come into it. */
static void run_once(const struct series *series, struct program *program,
		     struct profile *profile)
{
	struct session *session;
	struct slices *slices;
	struct units *units;
	struct run run = { 0 };

	die_keep = profile->num_runs ? keep : NULL;
	session = session_open(&series->counting.wish);
	slices = slices_make(session, series->slice_ns, PARTS_MAX / series->runs);
	units = series->counting.wish.system ? units_make() : NULL;
	if (!profile->time_ns)
		profile->time_ns = clock_ns(CLOCK_REALTIME);
	if (series->counting.pid)
		program_attach(session, series->counting.pid);
	else if (series->counting.argv)
		program_start(program, units ? NULL : session, series->counting.argv);
	die_keep = NULL;
	if (!count(series, program, session, slices, units, &run))
		under_way.whole = false;
	/* what fails from here on is no matter of the program's status */
	die_status = program_exit_status(program);
	if (!program->stopped || !profile->num_runs) {
		add_run(profile, &run);
		gather(session, slices, series->counting.wish.kernel, units, profile);
	}
	program_read(program);
	if (units)
		units_free(units);
	slices_free(slices);
	session_close(session);
}

int series_run(const struct series *series, struct profile *profile)
{
	struct program program;
	int status = 0, ours = die_status;

	under_way.series = series;
	under_way.profile = profile;
	under_way.whole = true;
	program_init(&program);
	for (size_t i = 0; i < series->runs && !program_stopped(&program); i++) {
		die_status = ours;
		run_once(series, &program, profile);
		if (!status || program.cut)
			status = program_exit_status(&program);
	}
	end();
	return status;
}
