// SPDX-License-Identifier: GPL-2.0-only
/* How much runs differ. */
#include <math.h>
#include <stdlib.h>
#include "say.h"
#include "spread.h"

struct spread {
	double mean, deviation, low, high;
};

static struct spread spread_of(const double *seconds, size_t num)
{
	struct spread spread = { .low = INFINITY };
	double squares = 0;

	for (size_t i = 0; i < num; i++) {
		spread.mean += seconds[i] / num;
		spread.low = fmin(spread.low, seconds[i]);
		spread.high = fmax(spread.high, seconds[i]);
	}
	for (size_t i = 0; i < num; i++)
		squares += (seconds[i] - spread.mean) * (seconds[i] - spread.mean);
	spread.deviation = sqrt(squares / (num - 1));
	return spread;
}

/* What the kernel charged, where that is known of all runs; or else what was sampled. */
static void get_cpu(const struct profile *profile, double *cpu)
{
	bool known = true;

	for (size_t i = 0; i < profile->num_runs; i++) {
		const struct run *run = &profile->runs[i];

		cpu[i] = (run->user_ns + (double)run->system_ns) / 1e9;
		known = known && cpu[i] > 0;
	}
	if (known)
		return;
	for (size_t i = 0; i < profile->num_runs; i++)
		cpu[i] = 0;
	for (size_t i = 0; i < profile->num_samples; i++)
		cpu[profile->samples[i].run] += profile->samples[i].cpu_ns / 1e9;
}

void spread_line(FILE *out, const struct profile *profile)
{
	size_t num = profile->num_runs;
	double *seconds = allocated(calloc(num + 1, sizeof(*seconds)));
	struct spread cpu, wall;

	if (num > 1) {
		get_cpu(profile, seconds);
		cpu = spread_of(seconds, num);
		for (size_t i = 0; i < num; i++)
			seconds[i] = (profile->runs[i].to_ns - profile->runs[i].from_ns) / 1e9;
		wall = spread_of(seconds, num);
		fprintf(out, "  runs     %zu of %.2f s ± %.2f s of CPU (%.2f to %.2f) in %.2f s ± %.2f s\n",
			num, cpu.mean, cpu.deviation, cpu.low, cpu.high, wall.mean, wall.deviation);
	}
	free(seconds);
}
