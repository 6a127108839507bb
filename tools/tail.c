// SPDX-License-Identifier: GPL-2.0-only
#include <float.h>
#include <math.h>
#include "tail.h"

#define TERMS_MAX 1000000	/* of the fraction; it takes about the root of a + b */
#define ALMOST (4 * DBL_EPSILON)
#define TINY (1e8 * DBL_MIN)
#define FARTHEST 1e150		/* whose square is still a number */

/* No divisor of the fraction may be 0. */
static double not_zero(double x)
{
	return fabs(x) < TINY ? TINY : x;
}

/* By what one more term of the fraction changes its value. */
static double step(double factor, double *c, double *d)
{
	*d = 1 / not_zero(1 + factor * *d);
	*c = not_zero(1 + factor / *c);
	return *c * *d;
}

/* The continued fraction of I_x(a, b), by Lentz's method; it converges fast below the mean. */
static double fraction(double x, double a, double b)
{
	double c = 1, d = 1 / not_zero(1 - (a + b) * x / (a + 1)), value = d;

	for (int m = 1; m < TERMS_MAX; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double change;

		value *= step(even, &c, &d);
		change = step(odd, &c, &d);
		value *= change;
		if (fabs(change - 1) < ALMOST)
			break;
	}
	return value;
}

static double below_mean(double x, double y, double a, double b)
{
	return a * log(x) + b * log(y) + lgamma(a + b) - lgamma(a) - lgamma(b) - log(a) +
		log(fraction(x, a, b));
}

double tail_beta(double x, double y, double a, double b)
{
	double rest;

	if (a <= 0 || y <= 0)
		return 0;
	if (b <= 0 || x <= 0)
		return -INFINITY;
	if (x * (a + b + 2) < a + 1)
		return below_mean(x, y, a, b);
	rest = below_mean(y, x, b, a);
	return rest < 0 ? log1p(-exp(rest)) : -INFINITY;
}

double tail_normal(double z)
{
	z = fabs(z);
	if (z < 30)
		return log(erfc(z / M_SQRT2));
	/* beyond that erfc() is 0, and its series needs few terms */
	return log(M_2_SQRTPI / M_SQRT2 / z) - z * z / 2 +
		log1p(-1 / (z * z) + 3 / (z * z * z * z));
}

double tail_student(double t, double freedom)
{
	double square = t * t;

	if (isinf(freedom))
		return tail_normal(t);
	return tail_beta(freedom / (freedom + square), square / (freedom + square), freedom / 2,
			 0.5);
}

double tail_student_inverse(double log_p, double freedom)
{
	double low = 0, high = 1;

	while (high < FARTHEST && tail_student(high, freedom) > log_p) {
		low = high;
		high *= 2;
	}
	for (int i = 0; i < 60; i++) {
		double middle = low + (high - low) / 2;

		if (tail_student(middle, freedom) > log_p)
			low = middle;
		else
			high = middle;
	}
	return high;
}
