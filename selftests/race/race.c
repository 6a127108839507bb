// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test builds only: wider windows between two steps that others may separate,
 * and a hash of the order in which CPUs came there.
 */
#include <linux/atomic.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <asm/processor.h>

#include "race.h"

#define PROFIL_RACE_PRIME	1099511628211ULL

static const char *const profil_race_names[] = {
	[PROFIL_RACE_ENTER]	= "enter",
	[PROFIL_RACE_USE]	= "use",
	[PROFIL_RACE_LEAVE]	= "leave",
	[PROFIL_RACE_ACCOUNT]	= "account",
	[PROFIL_RACE_MOVE]	= "move",
	[PROFIL_RACE_BUMP]	= "bump",
	[PROFIL_RACE_DELIVER]	= "deliver",
	[PROFIL_RACE_FAULT]	= "fault",
	[PROFIL_RACE_WORKER]	= "worker",
	[PROFIL_RACE_BORROW]	= "borrow",
	[PROFIL_RACE_SWITCH]	= "switch",
	[PROFIL_RACE_CLOSE]	= "close",
	[PROFIL_RACE_ANCHOR]	= "anchor",
	[PROFIL_RACE_FIND]	= "find",
	[PROFIL_RACE_RETIRE]	= "retire",
	[PROFIL_RACE_SETTLE]	= "settle",
	[PROFIL_RACE_TAKEOVER]	= "takeover",
	[PROFIL_RACE_GONE]	= "gone",
	[PROFIL_RACE_COUNT]	= "count",
	[PROFIL_RACE_LOOK]	= "look",
	[PROFIL_RACE_FREE]	= "free",
	[PROFIL_RACE_FILL]	= "fill",
	[PROFIL_RACE_CHECK]	= "check",
	[PROFIL_RACE_ADD]	= "add",
	[PROFIL_RACE_STOPPED]	= "stopped",
	[PROFIL_RACE_EXEC]	= "exec",
	[PROFIL_RACE_POLL]	= "poll",
	[PROFIL_RACE_LATE]	= "late",
	[PROFIL_RACE_BEGIN]	= "begin",
};

static int profil_race_held = -1;
static atomic64_t profil_race_hashed = ATOMIC64_INIT(0);
static atomic_t profil_race_counted = ATOMIC_INIT(0);

static int profil_race_hold_set(const char *value, const struct kernel_param *kp)
{
	int point = sysfs_match_string(profil_race_names, value);

	WRITE_ONCE(profil_race_held, point);
	return sysfs_streq(value, "") ? 0 : min(point, 0);
}

static const struct kernel_param_ops profil_race_hold_ops = {
	.set	= profil_race_hold_set,
};

module_param_cb(race_hold, &profil_race_hold_ops, NULL, 0200);
MODULE_PARM_DESC(race_hold, "where to stay for race_hold_us, one of the points in race.h");

bool profil_race_late;
module_param_named(race_late, profil_race_late, bool, 0444);
MODULE_PARM_DESC(race_late, "do as in a kernel for real time");

static unsigned int profil_race_hold_us;
module_param_named(race_hold_us, profil_race_hold_us, uint, 0644);
MODULE_PARM_DESC(race_hold_us, "how long to stay there, in microseconds");

static unsigned int profil_race_spins;
module_param_named(race_spins, profil_race_spins, uint, 0644);
MODULE_PARM_DESC(race_spins, "pauses at each point; 0 if it is not given");

static int profil_race_hash_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%u %016llx\n",
			  atomic_read(&profil_race_counted),
			  (u64)atomic64_read(&profil_race_hashed));
}

/* insmod calls this of each parameter that it is given, 0444 or not. */
static int profil_race_hash_set(const char *value, const struct kernel_param *kp)
{
	return -EPERM;
}

static const struct kernel_param_ops profil_race_hash_ops = {
	.set	= profil_race_hash_set,
	.get	= profil_race_hash_get,
};

module_param_cb(race_hash, &profil_race_hash_ops, NULL, 0444);
MODULE_PARM_DESC(race_hash, "how many points were passed, and a hash of all (CPU, point) in their order");

static void profil_race_log(enum profil_race_point point)
{
	u64 word = (raw_smp_processor_id() << 8 | point) + 1;
	s64 old = atomic64_read(&profil_race_hashed);

	while (!atomic64_try_cmpxchg(&profil_race_hashed, &old,
				     (old ^ word) * PROFIL_RACE_PRIME))
		;
	atomic_inc(&profil_race_counted);
}

static void profil_race_stay(void)
{
	u64 end = ktime_get_mono_fast_ns() +
		  READ_ONCE(profil_race_hold_us) * (u64)NSEC_PER_USEC;

	while (ktime_get_mono_fast_ns() < end) {
		cpu_relax();
		/* The other side may need this very CPU. */
		if (preemptible())
			cond_resched();
	}
}

static unsigned int profil_race_failures;
module_param_named(race_failures, profil_race_failures, uint, 0644);
MODULE_PARM_DESC(race_failures, "so many anchors fail to be mapped after they were published");

bool profil_race_fails(void)
{
	unsigned int left = READ_ONCE(profil_race_failures);

	if (!left || cmpxchg(&profil_race_failures, left, left - 1) != left)
		return false;
	profil_race_stay();
	return true;
}

/**
 * profil_race - Let other CPUs run
 * @point: Where
 *
 * An emulator that runs its CPUs in turns goes on to the next one at a pause,
 * for as long as a tenth of a second: more than a few make tests crawl, and only
 * tests of races need any.  A tick may last until the next one is due, and so may
 * what it leaves for the way back to user mode, so that its CPU would never come
 * to anything else: of 32 jiffies there are eight in which nothing takes longer.
 *
 * Context: Any.
 */
void profil_race(enum profil_race_point point)
{
	bool wide = jiffies & 24;
	unsigned int i;

	profil_race_log(point);
	for (i = 0; wide && i < READ_ONCE(profil_race_spins); i++)
		cpu_relax();
	/* Who holds somebody who is not in a tick waits for that one. */
	if (READ_ONCE(profil_race_held) == point && (wide || !hardirq_count()))
		profil_race_stay();
}
