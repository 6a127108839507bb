/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Do two sides differ, A and B, each of one or more runs?  profil(1) says in STATISTICS
 * what is assumed and why.
 */
#ifndef TOOLS_COMPARE_H
#define TOOLS_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One wrong "changed" in so many comparisons of what is equal. */
#define COMPARE_ALPHA 0.05

enum side { SIDE_A, SIDE_B, SIDES };

/* How the runs counted; A's are first. */
struct runs {
	size_t num[SIDES];
	double *samples;	/* of each: in a second of CPU time; of shares: in all */
	double all[SIDES];	/* of those, the sum; compare_sum() */
	bool shares;
};

/* What was counted in one run. */
struct counted {
	size_t run;
	uint64_t samples;
};

/* Of one function, or of all together. */
struct comparison {
	double rate[SIDES];	/* seconds of CPU time in a run, or shares */
	double count[SIDES];	/* samples */
	double chance;		/* the variance that chance in them makes, in parts of them */
	double dispersion;	/* the one that the runs show, or that of chance, if it is larger */
	double shown;		/* by the runs */
	double log_p;		/* of so large a difference by chance */
	double log_least;	/* the same, if one side had all samples: it cannot be less */
	double adjusted;	/* p for the whole family, Holm's */
	bool tested;		/* could be found to have changed */
	bool changed;
};

/* Before the first comparison of these runs. */
void compare_sum(struct runs *runs);

/* @counted: each run once; those without samples need not be there */
void compare(const struct runs *runs, const struct counted *counted, size_t num,
	     struct comparison *comparison);

/*
 * Decides which of the family have changed.  Returns the logarithm of the p that the
 * first of them has to have.
 */
double compare_family(struct comparison **family, size_t num);

/* B's rate in parts of A's: the interval in which it is, 19 times of 20. */
void compare_interval(const struct runs *runs, const struct comparison *comparison, double *low,
		      double *high);

/*
 * The smallest increase, in parts of what is there, that would be found 4 times of 5;
 * infinite if there is none.
 */
double compare_least(const struct runs *runs, const struct comparison *comparison, double log_p);

#endif /* TOOLS_COMPARE_H */
