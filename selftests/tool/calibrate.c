// SPDX-License-Identifier: GPL-2.0-only
/*
 * How often profil diff is right: comparisons of what is drawn at random, from a fixed
 * seed, so that each time the same ones are made.
 *
 *   calibrate SCENARIO TIMES [RATIO]
 *	prints how often anything "changed", how often what was planted was found, and how
 *	often anything else was; RATIO is planted instead of what the scenario has
 *   calibrate least SCENARIO	the ratio that is said to be found 4 times of 5
 *   calibrate tails		answers lines of standard input, for what knows it exactly:
 *				beta X A B, normal Z 0 0, student T N 0, inverse P N 0, p A B RATE
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "say.h"
#include "sides.h"
#include "tail.h"

#define SEED 20261127
#define PLANTED 300.0		/* samples of the planted function in a run of A */

static const struct scenario {
	const char *name;
	size_t runs[SIDES];
	size_t functions;
	double samples;		/* of all functions in a run */
	double own;		/* by how much a function varies between runs: a part of it */
	double common;		/* by how much all of a run does */
	double rate;		/* B's samples a second in parts of A's */
	double planted;		/* B's seconds of one function in parts of A's; 0: none */
	bool shares;
} scenarios[] = {
	/* what is equal */
	{ "once", { 1, 1 }, 250, 1500, 0, 0, 1, 0, false },
	{ "few-functions", { 1, 1 }, 3, 3000, 0, 0, 1, 0, false },
	{ "few-samples", { 1, 1 }, 20, 40, 0, 0, 1, 0, false },
	{ "rates", { 1, 1 }, 100, 1000, 0, 0, 4, 0, false },
	{ "twice", { 2, 2 }, 100, 1500, 0.1, 0.05, 1, 0, false },
	{ "uneven", { 1, 4 }, 100, 1500, 0.1, 0.05, 1, 0, false },
	{ "five", { 5, 5 }, 100, 1500, 0, 0, 1, 0, false },
	{ "own", { 3, 3 }, 100, 5000, 0.2, 0, 1, 0, false },
	{ "common", { 3, 3 }, 20, 5000, 0.02, 0.2, 1, 0, false },
	{ "bursts", { 4, 4 }, 50, 500, 2, 0, 1, 0, false },
	{ "shares", { 1, 1 }, 20, 1500, 0, 0, 1, 0, true },
	{ "shares-runs", { 5, 5 }, 50, 1500, 0.1, 0.5, 1, 0, true },
	{ "one-share", { 1, 1 }, 2, 100, 0, 0, 1, 0, true },
	/* what is not */
	{ "slower", { 5, 5 }, 20, 1000, 0, 0, 1, 1.3, false },
	{ "faster", { 5, 5 }, 20, 1000, 0, 0, 1, 0.7, false },
	{ "slower-rates", { 5, 5 }, 20, 1000, 0, 0, 4, 1.3, false },
	{ "slower-varies", { 10, 10 }, 100, 1500, 0.05, 0.02, 1, 1.3, false },
	{ "slower-share", { 8, 8 }, 20, 1000, 0, 0.3, 1, 1.3, true },
	{ "slower-once", { 1, 1 }, 100, 3000, 0, 0, 1, 1.3, false },
	{ "among-many", { 3, 3 }, 500, 2000, 0, 0, 1, 2, false },
	{ "new", { 1, 1 }, 100, 3000, 0, 0, 1, 1, false },
};

static uint64_t state;

/* splitmix64 */
static uint64_t draw(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/* Between 0 and 1, neither of them. */
static double uniform(void)
{
	return ((draw() >> 11) + 0.5) / 9007199254740992.0;
}

static uint64_t poisson(double mean)
{
	uint64_t num = 0;

	/* a sum of some is one, too, and exp() of a large mean is 0 */
	for (; mean > 0; mean -= 30) {
		double left = exp(-fmin(mean, 30));

		for (double product = uniform(); product > left; product *= uniform())
			num++;
	}
	return num;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

/* Gamma of mean 1 and this deviation, by Marsaglia and Tsang. */
static double vary(double deviation)
{
	double shape = deviation > 0 ? 1 / (deviation * deviation) : 0;
	double d = (shape < 1 ? shape + 1 : shape) - 1 / 3.0, c = 1 / sqrt(9 * d);

	if (deviation <= 0)
		return 1;
	for (;;) {
		double x = normal(), v = pow(1 + c * x, 3);

		if (v > 0 && log(uniform()) < x * x / 2 + d - d * v + d * log(v))
			return d * v / shape * (shape < 1 ? pow(uniform(), 1 / shape) : 1);
	}
}

/* How many samples a function has in a run, if chance does not change it. */
static double mean_of(const struct scenario *scenario, size_t function, bool is_b)
{
	double sum = 0;

	if (!function && !strcmp(scenario->name, "new"))
		return is_b ? 40 : 0;
	if (!function && scenario->planted > 0)
		return PLANTED * (is_b ? scenario->planted : 1);
	for (size_t i = 0; i < scenario->functions; i++)
		sum += 1.0 / (i + 1);
	return scenario->samples / (function + 1) / sum;
}

static void fill(struct sides *sides, const struct scenario *scenario, bool exact)
{
	size_t runs = scenario->runs[SIDE_A] + scenario->runs[SIDE_B];

	for (size_t run = 0; run < runs; run++) {
		bool is_b = run >= scenario->runs[SIDE_A];
		double rate = is_b ? scenario->rate : 1;
		double common = exact ? 1 : vary(scenario->common);
		uint64_t all = 0;

		for (size_t i = 0; i < scenario->functions; i++) {
			double mean = mean_of(scenario, i, is_b) * rate * common;
			uint64_t samples = exact ? (uint64_t)lrint(mean) :
				poisson(mean * vary(scenario->own));

			/* as it is in profiles, for every other function */
			if (samples || i % 2)
				sides->pairs[i].counted[sides->pairs[i].num++] =
					(struct counted) { run, samples };
			all += samples;
		}
		sides->total.counted[run] = (struct counted) { run, all };
		sides->runs.samples[run] = scenario->shares ? all : rate;
	}
}

static void make(struct sides *sides, const struct scenario *scenario, bool exact)
{
	size_t runs = scenario->runs[SIDE_A] + scenario->runs[SIDE_B];

	*sides = (struct sides) {
		.runs = {
			.num = { scenario->runs[SIDE_A], scenario->runs[SIDE_B] },
			.samples = allocated(calloc(runs, sizeof(double))),
			.shares = scenario->shares,
		},
		.profiles = allocated(calloc(runs, sizeof(struct profile))),
		.pairs = allocated(calloc(scenario->functions, sizeof(struct pair))),
		.num = scenario->functions,
		.counted = allocated(calloc(scenario->functions * runs, sizeof(struct counted))),
		.total.counted = allocated(calloc(runs, sizeof(struct counted))),
	};
	for (size_t i = 0; i < sides->num; i++)
		sides->pairs[i] = (struct pair) {
			.name = i ? "another" : "planted", .object = "program", .id = "",
			.counted = &sides->counted[i * runs],
		};
	fill(sides, scenario, exact);
}

static void simulate(const struct scenario *scenario, unsigned long times)
{
	unsigned long any = 0, found = 0, others = 0;

	state = SEED;
	for (unsigned long i = 0; i < times; i++) {
		bool is_found = false, is_other = false;
		struct sides sides;

		make(&sides, scenario, false);
		sides_compare(&sides);
		for (size_t j = 0; j < sides.num; j++) {
			bool changed = sides.pairs[j].comparison.changed;

			if (!strcmp(sides.pairs[j].name, "planted"))
				is_found = changed;
			else
				is_other = is_other || changed;
		}
		any += sides.changed || sides.total.comparison.changed;
		found += is_found;
		others += is_other;
		sides_free(&sides);
	}
	printf("%s %lu %lu %lu\n", scenario->name, any, found, others);
}

static void tell_least(const struct scenario *scenario)
{
	struct scenario equal = *scenario;
	struct sides sides;

	equal.planted = 1;
	make(&sides, &equal, true);
	sides_compare(&sides);
	for (size_t i = 0; i < sides.num; i++)
		if (!strcmp(sides.pairs[i].name, "planted"))
			printf("%.4f\n", 1 + compare_least(&sides.runs, &sides.pairs[i].comparison,
							   sides.log_p));
	sides_free(&sides);
}

/* One run of each side, of which B has so many samples a second in parts of A's. */
static double log_p(double a, double b, double rate)
{
	double samples[SIDES] = { 1, rate };
	struct runs runs = { .num = { 1, 1 }, .samples = samples };
	const struct counted counted[SIDES] = { { 0, a }, { 1, b } };
	struct comparison comparison;

	compare_sum(&runs);
	compare(&runs, counted, SIDES, &comparison);
	return comparison.log_p;
}

static void answer(const char *what, double x, double y, double z)
{
	if (!strcmp(what, "beta"))
		printf("%.17g\n", tail_beta(x, 1 - x, y, z));
	else if (!strcmp(what, "normal"))
		printf("%.17g\n", tail_normal(x));
	else if (!strcmp(what, "student"))
		printf("%.17g\n", tail_student(x, y));
	else if (!strcmp(what, "inverse"))
		printf("%.17g\n", tail_student(tail_student_inverse(x, y), y));
	else if (!strcmp(what, "p"))
		printf("%.17g\n", log_p(x, y, z));
	else
		die("there is no question %s", what);
}

static const struct scenario *find(const char *name)
{
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
		if (!strcmp(name, scenarios[i].name))
			return &scenarios[i];
	die("there is no scenario %s", name);
}

int main(int argc, char **argv)
{
	char what[16];
	double x, y, z;

	if (argc == 2 && !strcmp(argv[1], "tails")) {
		while (scanf("%15s %lf %lf %lf", what, &x, &y, &z) == 4)
			answer(what, x, y, z);
	} else if (argc == 3 && !strcmp(argv[1], "least")) {
		tell_least(find(argv[2]));
	} else if (argc == 3 || argc == 4) {
		struct scenario scenario = *find(argv[1]);

		if (argc == 4)
			scenario.planted = strtod(argv[3], NULL);
		simulate(&scenario, strtoul(argv[2], NULL, 10));
	} else {
		die("calibrate SCENARIO TIMES [RATIO]");
	}
	return 0;
}
