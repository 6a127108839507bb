// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPUs that the administrator freed from the tick (nohz_full): what runs there
 * alone is not sampled.  That is left so, unless parameter nohz_full=tick has
 * them tick while a hook is armed.
 */
#include <linux/cpuhotplug.h>
#include <linux/tick.h>

#include "choice.h"
#include "profil.h"

static PROFIL_CHOICE(profil_nohz, "leave", "tick");
module_param_cb(nohz_full, &profil_choice_ops, &profil_nohz, 0444);
MODULE_PARM_DESC(nohz_full, "leave (default): leave CPUs without a tick alone; tick: have them tick while somebody is profiled");

/* Of the reasons for a tick that a whole CPU can have, nobody uses this one. */
#define PROFIL_NOHZ_REASON	TICK_DEP_BIT_POSIX_TIMER

/* Under profil_hook_mutex; 0 is none. */
static int profil_nohz_state;

/* Whether a CPU may be without a tick, and stays so. */
bool profil_nohz_left_alone(unsigned int cpu)
{
	return tick_nohz_full_cpu(cpu) && !profil_nohz.chosen;
}

/* Whether some CPU may be without a tick, and stays so. */
bool profil_nohz_any_left_alone(void)
{
	return tick_nohz_full_enabled() && !profil_nohz.chosen;
}

/* Task, on the CPU that comes. */
static int profil_nohz_online(unsigned int cpu)
{
	if (tick_nohz_full_cpu(cpu))
		tick_nohz_dep_set_cpu(cpu, PROFIL_NOHZ_REASON);
	return 0;
}

/* Task, on the CPU that goes. */
static int profil_nohz_offline(unsigned int cpu)
{
	if (tick_nohz_full_cpu(cpu))
		tick_nohz_dep_clear_cpu(cpu, PROFIL_NOHZ_REASON);
	return 0;
}

/* Has all CPUs tick, if that is asked for.  Under profil_hook_mutex; sleeps. */
void profil_nohz_arm(void)
{
	int state;

	if (!tick_nohz_full_enabled() || !profil_nohz.chosen)
		return;
	state = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "profil:nohz",
				  profil_nohz_online, profil_nohz_offline);
	if (state < 0)
		pr_warn_ratelimited("CPUs of nohz_full stay without a tick: error %d\n", state);
	else
		profil_nohz_state = state;
}

/* Undoes profil_nohz_arm().  Under profil_hook_mutex; sleeps. */
void profil_nohz_disarm(void)
{
	if (profil_nohz_state)
		cpuhp_remove_state(profil_nohz_state);
	profil_nohz_state = 0;
}
