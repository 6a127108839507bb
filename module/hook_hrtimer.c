// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hook of last resort: a timer of our own on each CPU, one tick apart.  It
 * costs an interrupt a tick and wakes idle CPUs, but works everywhere.
 */
#include <linux/cpuhotplug.h>
#include <linux/hrtimer.h>
#include <linux/percpu.h>
#include <linux/profil.h>

#include "profil.h"
#include "tick.h"

static DEFINE_PER_CPU(struct hrtimer, profil_hrtimer);
static enum cpuhp_state profil_hrtimer_state;

static enum hrtimer_restart profil_hrtimer_expired(struct hrtimer *timer)
{
	if (get_irq_regs())
		profil_hook_tick(&profil_hook_hrtimer);
	hrtimer_forward_now(timer, NSEC_PER_SEC / HZ);
	return HRTIMER_RESTART;
}

/* Task, on the CPU that comes.  A CPU that is kept free of ticks stays so. */
static int profil_hrtimer_online(unsigned int cpu)
{
	struct hrtimer *timer = per_cpu_ptr(&profil_hrtimer, cpu);

	hrtimer_setup(timer, profil_hrtimer_expired, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_PINNED_HARD);
	if (!profil_nohz_left_alone(cpu))
		hrtimer_start(timer, NSEC_PER_SEC / HZ,
			      HRTIMER_MODE_REL_PINNED_HARD);
	return 0;
}

/* Task, on the CPU that goes, before its timers are moved to another. */
static int profil_hrtimer_offline(unsigned int cpu)
{
	hrtimer_cancel(per_cpu_ptr(&profil_hrtimer, cpu));
	return 0;
}

static int profil_hrtimer_arm(void)
{
	int state = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "profil:online",
				      profil_hrtimer_online,
				      profil_hrtimer_offline);

	if (state < 0)
		return state;
	profil_hrtimer_state = state;
	return 0;
}

static void profil_hrtimer_disarm(void)
{
	cpuhp_remove_state(profil_hrtimer_state);
}

const struct profil_hook profil_hook_hrtimer = {
	.id	= PROFIL_HOOK_HRTIMER,
	.name	= "hrtimer",
	.arm	= profil_hrtimer_arm,
	.disarm	= profil_hrtimer_disarm,
};
