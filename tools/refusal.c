// SPDX-License-Identifier: GPL-2.0-only
/* Why the module makes no session, or counts no process. */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include "refusal.h"
#include "say.h"

void refuse_rate(const struct profil_ioc_query *query, unsigned int rate)
{
	if (query->out_session_sources & (1 << PROFIL_SOURCE_TIMER)) {
		if (rate > query->out_timer_rate_max)
			die("%u samples a second are too many: this module takes at most %u (its parameter max_timer_rate); give -F a lower rate",
			    rate, query->out_timer_rate_max);
		return;
	}
	if (rate > query->out_tick_hz)
		die("%u samples a second are too many: this module samples at the tick, at most %u times; leave out -F, or give it a lower rate",
		    rate, query->out_tick_hz);
}

_Noreturn void refuse(int error)
{
	switch (error) {
	case ENOTTY:
	case EOPNOTSUPP:
		die("this module has no sessions: %s; profil check says what is missing",
		    strerror(error));
	case EINVAL:
		die("no session could be made: --slots must be a power of 2, from %u to %u",
		    PROFIL_SLOTS_MIN, PROFIL_SLOTS_MAX);
	case ENODEV:
		die("no session could be made: the module found no way to the kernel's tick; profil check says more");
	default:
		die("no session could be made: %s; profil check says what is missing",
		    strerror(error));
	}
}

/* The limits that an administrator has set: a session as small as can be has but one. */
static _Noreturn void over_limit(int device, struct profil_ioc_session *ask)
{
	bool refused;

	ask->slots = PROFIL_SLOTS_MIN;
	ask->processes = PROFIL_PROCESSES_MIN;
	ask->objects = PROFIL_OBJECTS_MIN;
	refused = ioctl(device, PROFIL_IOC_SESSION, ask);
	if (refused && ask->flags & PROFIL_SESSION_F_SYSTEM)
		die("no session could be made: four of the whole machine are there already, or your user has as many as max_sessions_user allows; end another profil run, or raise that in /sys/module/profil/parameters");
	if (refused)
		die("no session could be made: your user has as many as max_sessions_user allows; end another profil run, or raise that in /sys/module/profil/parameters");
	die("no session could be made: those of your user have as many places as max_slots_user allows; ask for fewer --slots, end another profil run, or raise that in /sys/module/profil/parameters");
}

/* What the module says to --kernel, or would if it knew it. */
static void check_kernel(const struct profil_ioc_query *query, int error)
{
	if (error == EPERM)
		die("where the kernel is cannot be counted: --kernel needs CAP_PERFMON; sudo profil run --kernel …, or, for all who may execute profil, sudo setcap cap_perfmon,cap_syslog+ep $(command -v profil)");
	if (query->out_session_flags && !(query->out_session_flags & PROFIL_SESSION_F_KERNEL))
		die("where the kernel is cannot be counted: this module is too old for --kernel; install a newer one, or leave it out");
}

/*
 * The same of the whole machine.  It has the files of all users in it, and what may read any
 * file for its names is not to be given to whoever may execute profil.
 */
static void check_system(const struct profil_ioc_query *query, const char *command, int error)
{
	if (query->out_session_flags && !(query->out_session_flags & PROFIL_SESSION_F_SYSTEM))
		die("the whole machine cannot be profiled: this module is too old for %s; install a newer one, or profile a PROGRAM with profil run",
		    command);
	if (error == EPERM)
		die("the whole machine cannot be profiled: %s needs CAP_PERFMON; sudo %s …",
		    command, command);
}

_Noreturn void refuse_session(int device, const struct session_wish *wish,
			      const struct profil_ioc_query *query,
			      struct profil_ioc_session *ask, int error)
{
	if (wish->system)
		check_system(query, wish->command, error);
	if (wish->kernel)
		check_kernel(query, error);
	if (error == ENOSPC)
		over_limit(device, ask);
	refuse(error);
}

const char *refusal_to_count(int error)
{
	switch (error) {
	case EPERM:
	case EACCES:
		return "you may not trace it; ask as root, with sudo, or, if it is yours, first "
			"sudo sysctl kernel.yama.ptrace_scope=0";
	case ESRCH:
		return "there is no such process; pgrep -a NAME finds one";
	case EALREADY:
		return "this session counts it already";
	case EAGAIN:
		return "it executes one program after another; try again, or profile who starts it";
	case ENOSPC:
		return "four sessions count it already, or all have as many processes as "
			"max_profiles and max_profiles_user allow; end another profil run";
	case ENOTTY:
		return "this module has no sessions; profil check says what is missing";
	default:
		return strerror(error);
	}
}
