// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>
#include "stats.h"

void stats_interval(uint64_t part, uint64_t all, double *low, double *high)
{
	const double z = 1.959963984540054;	/* 95 % of a normal distribution */
	double share, middle, half;

	*low = 0;
	*high = 1;
	if (!all)
		return;
	share = (double)part / all;
	middle = (share + z * z / (2.0 * all)) / (1 + z * z / all);
	half = z * sqrt(share * (1 - share) / all + z * z / (4.0 * all * all)) / (1 + z * z / all);
	*low = middle - half > 0 ? middle - half : 0;
	*high = middle + half < 1 ? middle + half : 1;
}
