// SPDX-License-Identifier: GPL-2.0-only
#include "machine.h"

bool machine_is(const struct profile *profile)
{
	return profile->counts[COUNT_CPUS_NS];
}

uint64_t machine_ticks(const struct profile *profile)
{
	uint64_t ticks = profile->counts[COUNT_IDLE];

	add(&ticks, profile->counts[COUNT_KTHREADS]);
	add(&ticks, profile->counts[COUNT_INTERRUPTS]);
	return ticks;
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static void put_class(FILE *out, const char *name, double ns, double all_ns)
{
	fprintf(out, "  %-14s %10.2f s  %5.1f %%\n", name, ns / 1e9, 100 * ns / all_ns);
}

/* A CPU that has nothing to do has no ticks, or has them: all that is no other's is idle. */
void machine_head(FILE *out, const struct profile *profile)
{
	const uint64_t *counts = profile->counts;
	double period = profile->period_ns, all = counts[COUNT_CPUS_NS], busy;
	double kthreads = counts[COUNT_KTHREADS] * period;
	double interrupts = counts[COUNT_INTERRUPTS] * period;
	uint64_t user = 0, system = 0;

	for (size_t i = 0; i < profile->num_processes; i++) {
		add(&user, profile->processes[i].user_ns);
		add(&system, profile->processes[i].system_ns);
	}
	/* rows have these as well */
	system = less(system, kthreads + interrupts);
	busy = user + system + kthreads + interrupts;
	if (profile->duration_ns)
		fprintf(out, "%.4g CPU%s for %.2f s\n\n", all / profile->duration_ns,
			counts[COUNT_CPUS_NS] == profile->duration_ns ? "" : "s",
			profile->duration_ns / 1e9);
	put_class(out, "user", user, all);
	put_class(out, "system", system, all);
	put_class(out, "kernel threads", kthreads, all);
	put_class(out, "interrupts", interrupts, all);
	put_class(out, "idle", busy < all ? all - busy : 0, all);
}
