// SPDX-License-Identifier: GPL-2.0-only
/* What profil run needs of the module, as the module says itself. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "causes.h"
#include "counts.h"
#include "refusal.h"
#include "session.h"

#define BURN_NS 200000000	/* CPU time of the test of itself */

void cause_device(struct cause *cause)
{
	struct profil_ioc_query query;
	int error = session_query(&query);
	struct stat st;

	if (!error) {
		cause->text = cause_text("%s opens, interface %u", session_device, query.out_abi);
		return;
	}
	cause->state = CAUSE_FAIL;
	cause->text = cause_text("%s: %s", session_device, strerror(-error));
	if (error == -EACCES)
		cause->mend = cause_text("sudo chmod 666 %s, or ask who is in charge of it",
					 session_device);
	else if (error == -EPERM || (module_is_loaded() && stat(session_device, &st)))
		cause->mend = cause_text("in a container: start it with --device %s",
					 session_device);
	else if (module_is_loaded())
		cause->mend = cause_text("another program's module has the name; sudo rmmod profil && sudo modprobe profil");
	else
		cause->mend = cause_text("the module has to be loaded first");
}

void cause_sessions(struct cause *cause)
{
	struct profil_ioc_query query;

	if (session_query(&query))
		return;
	if (query.out_session_flags) {
		cause->text = cause_text("this module has them");
		return;
	}
	cause->text = cause_text("none: its max_sessions_user is 0, or this kernel has no tracepoints");
	cause->state = CAUSE_FAIL;
	cause->mend = cause_text("sudo rmmod profil && sudo modprobe profil max_sessions_user=16, or install a newer one");
}

void cause_machine(struct cause *cause)
{
	const struct session_wish wish = { .slots = PROFIL_SLOTS_MIN, .system = true };
	struct profil_ioc_query query;
	int error;

	if (session_query(&query) || !query.out_session_flags)
		return;
	error = session_possible(&wish);
	if (!error) {
		cause->text = cause_text("the whole machine can be profiled (run -a)");
		return;
	}
	cause->state = CAUSE_NOTE;
	if (!(query.out_session_flags & PROFIL_SESSION_F_SYSTEM)) {
		cause->text = cause_text("this module is too old for the whole machine (run -a)");
		cause->mend = cause_text("install a newer one");
	} else if (error == EPERM) {
		cause->text = cause_text("the whole machine (run -a) needs CAP_PERFMON");
		cause->mend = cause_text("sudo profil run -a …");
	} else {
		cause->text = cause_text("the whole machine (run -a): %s", strerror(error));
		cause->mend = cause_text("four sessions of it may be there already: end another profil run -a");
	}
}

void cause_tick(struct cause *cause)
{
	static const char *const hooks[] = {
		"not hooked now", "hooked by ftrace", "hooked by a kprobe", "by own timers",
	};
	struct profil_ioc_query query;
	bool random;

	if (session_query(&query))
		return;
	random = query.out_session_sources & (1 << PROFIL_SOURCE_TIMER);
	cause->text = cause_text("%u a second, %s; other rates (-F) %s", query.out_tick_hz,
				 query.out_hook < 4 ? hooks[query.out_hook] : "hooked",
				 random ? "at random times" : "below that");
	if (!query.out_hooks_lost)
		return;
	cause->state = CAUSE_NOTE;
	cause->mend = cause_text("others have switched %u hooks off, and own timers replaced them: sudo sysctl kernel.ftrace_enabled=1",
				 query.out_hooks_lost);
}

void cause_cpus(struct cause *cause)
{
	const char *list = first_line("/sys/devices/system/cpu/nohz_full");
	struct profil_ioc_query query;

	if (session_query(&query) || !(query.out_features & PROFIL_FEATURE_NOHZ_FULL))
		return;
	cause->state = CAUSE_NOTE;
	cause->text = cause_text("%s have no tick while one program has them alone",
				 list[0] ? list : "CPUs of nohz_full");
	cause->mend = cause_text("what runs there alone is not counted: sudo rmmod profil && sudo modprobe profil nohz_full=tick");
}

/* A process that counts itself while it uses CPU time; the errno of JOIN is its status. */
static _Noreturn void burn(struct session *session)
{
	int error = session_join(session);
	struct timespec used;

	if (error)
		_exit(error);
	do {
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	} while (!used.tv_sec && used.tv_nsec < BURN_NS);
	_exit(0);
}

/* Whether there was a process that counted itself; else the cause says why not. */
static bool counts_itself(struct cause *cause, struct session *session)
{
	int status = 0, error;
	pid_t pid = fork();

	if (!pid)
		burn(session);
	if (pid < 0) {
		cause->text = cause_text("a process cannot be had: %s", strerror(errno));
		cause->mend = cause_text("raise ulimit -u");
		return false;
	}
	waitpid(pid, &status, 0);
	error = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
	if (!error)
		return true;
	cause->text = cause_text("a process cannot be counted: %s", strerror(error));
	cause->mend = cause_text("%s", refusal_to_count(error));
	return false;
}

void cause_itself(struct cause *cause)
{
	const struct session_wish wish = { .slots = PROFIL_SLOTS_MIN };
	struct counts table;
	struct profil_ioc_query query;
	struct session *session;
	unsigned long long ticks = 0;
	bool counted;

	if (session_query(&query) || !query.out_session_flags)
		return;
	session = session_open(&wish);
	counted = counts_itself(cause, session);
	session_stop(session);
	counts_read(session, &table);
	session_close(session);
	for (size_t i = 0; i < table.num_processes; i++)
		ticks += table.processes[i].user + table.processes[i].system;
	free(table.processes);
	if (!counted || !ticks)
		cause->state = CAUSE_FAIL;
	if (!counted)
		return;
	cause->text = cause_text("%llu ticks in %.2f s of CPU", ticks, BURN_NS / 1e9);
	if (!ticks)
		cause->mend = cause_text("the module does not see the kernel's tick; sudo dmesg says why, if it knows");
}
