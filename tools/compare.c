// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>
#include <stdlib.h>
#include "compare.h"
#include "say.h"
#include "tail.h"

#define WORTH_MAX 1e8	/* samples: what more of them would show is below a tenth of a percent */
#define RATIO_MAX 1e6
#define INCREASE_MAX 20	/* larger ones are no help to know */

/* What runs of both sides can say of how much runs differ; infinite: nothing. */
static double freedom(const struct runs *runs)
{
	size_t num = runs->num[SIDE_A] + runs->num[SIDE_B];

	return num > SIDES ? num - SIDES : INFINITY;
}

static enum side side_of(const struct runs *runs, size_t run)
{
	return run < runs->num[SIDE_A] ? SIDE_A : SIDE_B;
}

void compare_sum(struct runs *runs)
{
	for (enum side side = 0; side < SIDES; side++)
		runs->all[side] = 0;
	for (size_t i = 0; i < runs->num[SIDE_A] + runs->num[SIDE_B]; i++)
		runs->all[side_of(runs, i)] += runs->samples[i];
}

/* B's part of all samples, if its rate is @ratio times that of A. */
static double part_of_b(const struct runs *runs, double ratio)
{
	double b = runs->all[SIDE_B] * ratio;

	return b / (runs->all[SIDE_A] + b);
}

/*
 * Pearson's: squares of how far each run is from its side's rate, in parts of a variance.
 * That of a run without samples is its mean.
 */
static double squares(const struct runs *runs, const struct counted *counted, size_t num,
		      const double rate[SIDES])
{
	double sum = 0, without[SIDES] = { runs->all[SIDE_A], runs->all[SIDE_B] };

	for (size_t i = 0; i < num; i++) {
		enum side side = side_of(runs, counted[i].run);
		double samples = runs->samples[counted[i].run], mean = samples * rate[side];
		double far = counted[i].samples - mean;

		without[side] -= samples;
		if (mean > 0)
			sum += far * far / mean;
	}
	for (enum side side = 0; side < SIDES; side++)
		sum += fmax(0, without[side]) * rate[side];
	return sum;
}

/*
 * The variance of chance alone: that of a count, which is its mean.  A share of what is
 * counted cannot vary that much if it is large.
 */
static double variance_of_chance(const struct runs *runs, const struct comparison *comparison)
{
	double all = runs->all[SIDE_A] + runs->all[SIDE_B];
	double count = comparison->count[SIDE_A] + comparison->count[SIDE_B];

	if (!runs->shares || count <= 0)
		return 1;
	return fmax(1 - count / all, 1 / all);
}

/* Fewer samples, or more, whose chance varies in parts of them as these do. */
static double worth(double count, double all, double variance)
{
	return count / fmax(variance, all / WORTH_MAX);
}

/* The logarithm of the probability of so many of B's or more, or of so few or fewer. */
static double one_tail(double a, double b, double part, bool few)
{
	return few ? tail_beta(1 - part, part, a, b + 1) : tail_beta(part, 1 - part, b, a + 1);
}

/* Of both tails of a binomial distribution the smaller one, twice. */
static double both_tails(double a, double b, double part)
{
	return fmin(0, M_LN2 + fmin(one_tail(a, b, part, false), one_tail(a, b, part, true)));
}

/* The p where the variance is itself only known from runs. */
static double with_freedom(const struct runs *runs, double log_p)
{
	return log_p >= 0 ? 0 :
		tail_student(tail_student_inverse(log_p, INFINITY), freedom(runs));
}

/* The reverse: what p a binomial distribution has to give, so that it becomes @log_p. */
static double without_freedom(const struct runs *runs, double log_p)
{
	return tail_normal(tail_student_inverse(log_p, freedom(runs)));
}

/*
 * By chance alone, and where several runs show it, by the variance that they have: the
 * larger p of both holds, so that the variance is never below that of chance.
 */
static double find_p(const struct runs *runs, const struct comparison *comparison, double part)
{
	double a = comparison->count[SIDE_A], b = comparison->count[SIDE_B], all = a + b;
	double chance = both_tails(worth(a, all, comparison->chance),
				   worth(b, all, comparison->chance), part);

	if (isinf(freedom(runs)))
		return chance;
	return fmax(chance, with_freedom(runs, both_tails(worth(a, all, comparison->shown),
							  worth(b, all, comparison->shown),
							  part)));
}

/* That of all samples on one side, if the runs show no more than chance. */
static double find_least_p(const struct runs *runs, double all, double part)
{
	double log_p = fmin(0, M_LN2 + all * log(fmin(part, 1 - part)));

	return isinf(freedom(runs)) ? log_p : with_freedom(runs, log_p);
}

void compare(const struct runs *runs, const struct counted *counted, size_t num,
	     struct comparison *comparison)
{
	double part = part_of_b(runs, 1), sum, all;

	*comparison = (struct comparison) { .chance = 1, .dispersion = 1, .adjusted = 1 };
	for (size_t i = 0; i < num; i++)
		comparison->count[side_of(runs, counted[i].run)] += counted[i].samples;
	for (enum side side = 0; side < SIDES; side++)
		if (runs->all[side] > 0)
			comparison->rate[side] = comparison->count[side] / runs->all[side];
	sum = squares(runs, counted, num, comparison->rate);
	all = comparison->count[SIDE_A] + comparison->count[SIDE_B];
	if (all <= 0 || !(part > 0 && part < 1))
		return;
	comparison->chance = variance_of_chance(runs, comparison);
	/* less is below that of chance anyway, and takes long */
	comparison->shown = fmax(sum / freedom(runs), comparison->chance / 100);
	comparison->dispersion = fmax(comparison->chance, comparison->shown);
	comparison->log_p = find_p(runs, comparison, part);
	comparison->log_least = find_least_p(runs, worth(all, all, comparison->chance), part);
}

static int by_least(const void *a, const void *b)
{
	const struct comparison *x = *(struct comparison *const *)a;
	const struct comparison *y = *(struct comparison *const *)b;

	return (x->log_least > y->log_least) - (x->log_least < y->log_least);
}

static int by_p(const void *a, const void *b)
{
	const struct comparison *x = *(struct comparison *const *)a;
	const struct comparison *y = *(struct comparison *const *)b;

	return y->tested - x->tested ?: (x->log_p > y->log_p) - (x->log_p < y->log_p);
}

/*
 * Tarone's: how many have so many samples that all of them on one side would be found,
 * among so many.  How many samples there are on both sides says nothing of a difference:
 * so this is no choice of those that look good.
 */
static size_t mark_tested(struct comparison **family, size_t num)
{
	size_t have = num, among = 1;

	qsort(family, num, sizeof(*family), by_least);
	for (;; among++) {
		while (have && family[have - 1]->log_least > log(COMPARE_ALPHA / among))
			have--;
		if (have <= among)
			break;
	}
	for (size_t i = 0; i < num; i++)
		family[i]->tested = i < have;
	return have;
}

double compare_family(struct comparison **family, size_t num)
{
	size_t tested;
	double largest = 0;

	if (!num)
		return log(COMPARE_ALPHA);
	tested = mark_tested(family, num);
	qsort(family, num, sizeof(*family), by_p);
	for (size_t i = 0; i < tested; i++) {
		double adjusted = fmin(1, exp(family[i]->log_p) * (tested - i));

		largest = fmax(largest, adjusted);
		family[i]->adjusted = largest;
		family[i]->changed = largest <= COMPARE_ALPHA;
	}
	return log(COMPARE_ALPHA / (tested ? tested : 1));
}

/* A variance, and what p is asked for with it. */
struct wanted {
	double variance, log_p;
};

/* Both have to be met; the second one only where there are several runs. */
static size_t find_wanted(const struct runs *runs, const struct comparison *comparison,
			  double log_p, struct wanted wanted[2])
{
	wanted[0] = (struct wanted) { comparison->chance, log_p };
	if (isinf(freedom(runs)))
		return 1;
	wanted[1] = (struct wanted) { comparison->shown, without_freedom(runs, log_p) };
	return 2;
}

/* At which ratio one tail has the probability: the lower bound, or the upper one. */
static double bound(const struct runs *runs, const struct comparison *comparison,
		    const struct wanted *wanted, bool upper)
{
	double a = comparison->count[SIDE_A], b = comparison->count[SIDE_B];
	double low = -log(RATIO_MAX), high = log(RATIO_MAX);
	double worth_a = worth(a, a + b, wanted->variance);
	double worth_b = worth(b, a + b, wanted->variance);

	for (int i = 0; i < 60; i++) {
		double middle = (low + high) / 2;
		double tail = one_tail(worth_a, worth_b, part_of_b(runs, exp(middle)), upper);

		if ((tail > wanted->log_p - M_LN2) == upper)
			low = middle;
		else
			high = middle;
	}
	return exp(low);
}

void compare_interval(const struct runs *runs, const struct comparison *comparison, double *low,
		      double *high)
{
	struct wanted wanted[2];
	size_t num = find_wanted(runs, comparison, log(COMPARE_ALPHA), wanted);

	*low = comparison->count[SIDE_B] > 0 ? INFINITY : 0;
	*high = comparison->count[SIDE_A] > 0 ? 0 : INFINITY;
	for (size_t i = 0; i < num; i++) {
		*low = fmin(*low, bound(runs, comparison, &wanted[i], false));
		*high = fmax(*high, bound(runs, comparison, &wanted[i], true));
	}
}

/* The same for one variance. */
static double least_of(const struct runs *runs, double all, const struct wanted *wanted)
{
	double part = part_of_b(runs, 1), low = 0, high = log(1 + INCREASE_MAX);
	double a = worth(all, all, wanted->variance) * (1 - part);
	double b = worth(all, all, wanted->variance) * part, deviations;

	if (both_tails(a, b * exp(high), part) > wanted->log_p)
		return INFINITY;
	for (int i = 0; i < 40; i++) {
		double middle = (low + high) / 2;

		if (both_tails(a, b * exp(middle), part) > wanted->log_p)
			low = middle;
		else
			high = middle;
	}
	/* that one is found every other time; 0.84 deviations more, 4 times of 5 */
	deviations = tail_student_inverse(wanted->log_p, INFINITY);
	return expm1(high * (deviations + 0.84) / deviations);
}

double compare_least(const struct runs *runs, const struct comparison *comparison, double log_p)
{
	double all = comparison->count[SIDE_A] + comparison->count[SIDE_B], least = 0;
	struct wanted wanted[2];
	size_t num = find_wanted(runs, comparison, log_p, wanted);

	if (!comparison->tested || all <= 0)
		return INFINITY;
	/* other runs will not show less than chance makes */
	wanted[num - 1].variance = comparison->dispersion;
	for (size_t i = 0; i < num; i++)
		least = fmax(least, least_of(runs, all, &wanted[i]));
	return least;
}
