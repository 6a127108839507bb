// SPDX-License-Identifier: GPL-2.0-only
/*
 * The timer source's arithmetic: as many samples as there are periods, however
 * the time is cut up, and a share for each in proportion to its time.
 */
#include <math.h>
#include "kernel.h"
#include "../../module/period.h"
#include "tap.h"

#define LENGTH	1000000	/* of a period */

/* Of a process that leaves its CPU and comes back. */
struct process {
	struct profil_period period;
	s64 due, left, samples;
};

/* It has a CPU for @time, which begins at @now. */
static void run(struct process *process, s64 now, s64 time)
{
	struct profil_period *period = &process->period;
	s64 end = now + time;

	process->due = profil_period_resume(period, process->left, now);
	while (process->due <= end) {
		process->samples++;
		period->start += period->length;
		/* The timer is late as often as not. */
		now = max(process->due, min(end, process->due + (s64)any(3) * 500));
		process->due = profil_period_due(period, now);
	}
	process->left = profil_period_keep(period, end);
}

static bool total(u32 spread, s64 longest)
{
	struct process process = {
		.period = { .gen = 0x700000001, .length = LENGTH, .spread = spread },
	};
	s64 ran = 0, now = 0, time;

	while (ran < 2000LL * LENGTH) {
		now += any(10 * LENGTH);
		time = any(longest);
		run(&process, now, time);
		now += time;
		ran += time;
		/* At both ends a period may be cut, before its sample or after. */
		if (fabs(process.samples - (double)ran / LENGTH) >
		    1 + (double)spread / LENGTH)
			return tap_fail("%lld samples in %lld ns", (long long)process.samples,
					(long long)ran);
	}
	return true;
}

static bool totals(void)
{
	static const u32 spreads[] = { 0, 1, LENGTH / 10, LENGTH / 2, LENGTH - 1, LENGTH };
	static const s64 longest[] = { 2000, LENGTH / 20, LENGTH, 5LL * LENGTH };

	for (int i = 0; i < 24; i++)
		TAP_CHECK(total(spreads[i % 6], longest[i / 6]));
	return true;
}

/* Processes that are new each time, and run for @time only: their samples. */
static bool share(u32 spread, s64 time)
{
	const int processes = 200000;
	double mean = (double)processes * time / LENGTH;
	s64 samples = 0;

	for (int i = 0; i < processes; i++) {
		struct process process = {
			.period = { .gen = 1, .length = LENGTH, .spread = spread },
		};

		run(&process, any(LENGTH), time);
		samples += process.samples;
	}
	/* The numbers are the same in each run; of others one in a million differs more. */
	if (fabs(samples - mean) <= 5 * sqrt(mean))
		return true;
	return tap_fail("%lld samples of %g", (long long)samples, mean);
}

static bool shares(void)
{
	static const u32 spreads[] = { 0, LENGTH / 3, LENGTH };
	static const s64 times[] = { LENGTH / 1000, LENGTH / 10, LENGTH / 2, LENGTH - 1 };

	for (int i = 0; i < 12; i++)
		TAP_CHECK(share(spreads[i % 3], times[i / 3]));
	return true;
}

/* With all of a period random, each part of it has as many as any other. */
static bool places(void)
{
	struct process process = {
		.period = { .gen = 1, .length = LENGTH, .spread = LENGTH },
	};
	int place[10] = { 0 };
	s64 now = 0;

	profil_period_first(&process.period, 0);
	for (int i = 0; i < 100000; i++) {
		now = profil_period_due(&process.period, process.period.start);
		place[(now - process.period.start) * 10 / LENGTH]++;
		process.period.start += LENGTH;
	}
	for (int i = 0; i < 10; i++)
		if (place[i] < 9500 || place[i] > 10500)
			return tap_fail("place %d has %d of 10000", i, place[i]);
	return true;
}

/* What was kept for one profile is of no use for the next. */
static bool generations(void)
{
	struct profil_period period = { .gen = 5, .length = LENGTH };
	s64 left = profil_period_keep(&period, LENGTH), due;

	period.gen = 6;
	due = profil_period_resume(&period, left, 0);
	TAP_CHECK(due >= 0 && due <= LENGTH);
	period.gen = 5;
	TAP_CHECK(profil_period_resume(&period, left, 7 * LENGTH) == 6 * LENGTH);
	return true;
}

int main(void)
{
	tap_fork(totals, "periods: their number is that of the samples, however time is cut up");
	tap_fork(shares, "periods: what is short has its share of the samples");
	tap_fork(places, "periods: a sample may be anywhere in the random part");
	tap_fork(generations, "periods: what is left is of one generation");
	return tap_plan();
}
