// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which ticks are due: of each window exactly so many; no CPU, thread or phase is
 * favoured; and no two windows that are neighbours depend on each other.  The bounds are
 * six deviations of a binomial distribution: with the units that there are, shares vary by
 * a tenth more than that at most.  The numbers are the same in each run.
 */
#include <math.h>
#include <stdio.h>
#include "kernel.h"
#include "../../module/due.c"
#include "tap.h"

#define DEVIATIONS	6
#define WINDOWS_MAX	1000

/* take, window: rates of 1 to 1000 a second at 100 to 1000 ticks, in lowest terms */
static const struct rate {
	u32 take, window;
} rates[] = {
	{ 2, 5 }, { 1, 10 }, { 1, 2 }, { 1, 3 }, { 99, 100 }, { 2, 3 }, { 249, 250 },
	{ 1, 250 }, { 999, 1000 }, { 1, 1000 }, { 127, 250 }, { 33, 100 },
};

#define for_each_rate(r) \
	for (const struct rate *(r) = rates; (r) < rates + sizeof(rates) / sizeof(rates[0]); (r)++)

/* As the module draws it when it is loaded, and START then. */
static struct profil_due draw(const struct rate *rate)
{
	struct profil_due due = {
		.secret = profil_due_secret(),
		.window = rate->window,
		.take = rate->take,
	};

	for (int i = 0; i < PROFIL_DUE_UNITS; i++)
		do
			profil_due_units[i] = any(1 << 16);
		while (gcd(profil_due_units[i], rate->window) != 1);
	return due;
}

static bool is_due(const struct profil_due *due, u64 tick)
{
	return profil_due(due, profil_due_units, tick / due->window, tick % due->window);
}

static bool exactly_so_many(void)
{
	for_each_rate(rate)
		for (int run = 0; run < 100; run++) {
			struct profil_due due = draw(rate);
			u64 first = any(1ULL << 40);

			for (u64 window = first; window < first + 100; window++) {
				u32 sum = 0;

				for (u32 pos = 0; pos < rate->window; pos++)
					sum += profil_due(&due, profil_due_units, window, pos);
				if (sum != rate->take)
					return tap_fail("%u of %u, not %u", sum, rate->window,
							rate->take);
			}
		}
	return true;
}

/* What is computed of so many ticks is what was said of each. */
static bool not_due_adds_up(void)
{
	for_each_rate(rate) {
		struct profil_due due = draw(rate);
		u64 not = 0;

		for (u64 tick = 0; tick < 3000; tick++) {
			TAP_CHECK(profil_due_not(&due, tick) == not);
			not += !is_due(&due, tick);
		}
	}
	return true;
}

/* Of @own ticks that are somebody's: whether so many are due as chance has it. */
static bool fair(const struct rate *rate, u64 own, u64 sum, const char *whose, u64 which)
{
	double share = (double)rate->take / rate->window;
	double off = sum - own * share, sigma = sqrt(own * share * (1 - share));

	return fabs(off) <= DEVIATIONS * sigma + 1 ||
	       tap_fail("%u of %u: %s %llu has %.1f deviations", rate->take, rate->window, whose,
			(unsigned long long)which, off / sigma);
}

/* One to ten CPUs, each with its thread, that tick in the same order all the time. */
static bool cpus_in_order(void)
{
	for_each_rate(rate)
		for (u32 cpus = 1; cpus <= 10; cpus++)
			for (int run = 0; run < 10; run++) {
				u64 sum[10] = { 0 }, ticks = 200ULL * rate->window;
				struct profil_due due = draw(rate);

				for (u64 tick = 0; tick < ticks * cpus; tick++)
					sum[tick % cpus] += is_due(&due, tick);
				for (u32 cpu = 0; cpu < cpus; cpu++)
					if (!fair(rate, ticks, sum[cpu], "CPU", cpu))
						return false;
			}
	return true;
}

/* A program that does one thing in every so manieth tick. */
static bool in_step(void)
{
	for_each_rate(rate)
		for (u32 step = 2; step <= 64; step++) {
			struct profil_due due = draw(rate);
			u64 sum = 0, own = 20000, phase = any(step);

			for (u64 i = 0; i < own; i++)
				sum += is_due(&due, i * step + phase);
			if (!fair(rate, own, sum, "step", step))
				return false;
		}
	return true;
}

/* The due places of two windows with @apart between, where one in each window is due. */
static bool windows_apart(u32 apart)
{
	static const struct rate rate = { 1, 5 };
	double square = 0, want = 300000 / 25.;
	struct profil_due due = draw(&rate);
	u32 pairs[5][5] = { 0 };

	for (u64 window = 0; window < 300000; window++) {
		u32 at[2] = { 0 };

		for (int i = 0; i < 2; i++)
			while (!profil_due(&due, profil_due_units, window + i * apart, at[i]))
				at[i]++;
		pairs[at[0]][at[1]]++;
	}
	for (int i = 0; i < 25; i++)
		square += pow(pairs[i / 5][i % 5] - want, 2) / want;
	/* of 24 degrees of freedom: 66 is had once in 100,000 times */
	return square < 66 || tap_fail("windows %u apart: chi squared is %.1f", apart, square);
}

static bool windows_are_independent(void)
{
	for (u32 apart = 1; apart <= 16; apart++)
		if (!windows_apart(apart))
			return false;
	return true;
}

int main(void)
{
	profil_due_init();
	tap_fork(exactly_so_many, "of each window exactly so many ticks are due");
	tap_fork(not_due_adds_up, "and those that were not add up, at any moment");
	tap_fork(cpus_in_order, "no CPU of one to ten that tick in order is favoured");
	tap_fork(in_step, "a program in step has its share");
	tap_fork(windows_are_independent, "neighbouring windows do not depend on each other");
	return tap_plan();
}
