// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whether the hook on the tick still sees ticks, judged by the time that the
 * CPUs account for without it.
 */
#include <linux/kernel_stat.h>
#include <linux/math64.h>

#include "profil.h"
#include "tick.h"

/* Busy for this many ticks, and not one was seen. */
#define PROFIL_WATCH_BUSY	8

/* Under profil_hook_mutex: what there was when a tick was seen last. */
static u64 profil_watch_hits, profil_watch_busy;

/* Of all CPUs, since the module was loaded. */
static u64 profil_watch_read_hits(void)
{
	u64 hits = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		hits += READ_ONCE(per_cpu(profil_tick_hits, cpu));
	return hits;
}

/* Ticks of CPU time, as the CPUs themselves account for it. */
static u64 profil_watch_read_busy(void)
{
	u64 ns = 0, *stat;
	int cpu;

	for_each_possible_cpu(cpu) {
		if (profil_nohz_left_alone(cpu))
			continue;
		stat = kcpustat_cpu(cpu).cpustat;
		ns += READ_ONCE(stat[CPUTIME_USER]) +
		      READ_ONCE(stat[CPUTIME_NICE]) +
		      READ_ONCE(stat[CPUTIME_SYSTEM]);
	}
	return div_u64(ns, NSEC_PER_SEC / HZ);
}

/* From here on ticks are to be seen.  Under profil_hook_mutex. */
void profil_watch_reset(void)
{
	profil_watch_hits = profil_watch_read_hits();
	profil_watch_busy = profil_watch_read_busy();
}

/*
 * Whether the hook is dead: CPUs were busy for several ticks, and the hook saw none since
 * it was seen alive, or since profil_watch_reset().  Under profil_hook_mutex.
 */
bool profil_watch_dead(void)
{
	if (profil_watch_read_hits() == profil_watch_hits)
		return profil_watch_read_busy() - profil_watch_busy >=
		       PROFIL_WATCH_BUSY;
	profil_watch_reset();
	return false;
}
