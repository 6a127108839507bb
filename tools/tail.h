/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tails of distributions, as natural logarithms: of what is less likely than any double,
 * the order is still known.
 */
#ifndef TOOLS_TAIL_H
#define TOOLS_TAIL_H

/* The regularized incomplete beta function I_x(a, b); @y is 1 - x. */
double tail_beta(double x, double y, double a, double b);

/* How likely it is to be @z or farther from 0, on either side. */
double tail_normal(double z);

/* The same of Student's distribution; with infinite @freedom it is the normal one. */
double tail_student(double t, double freedom);

/* The t whose tail has this logarithm. */
double tail_student_inverse(double log_p, double freedom);

#endif /* TOOLS_TAIL_H */
