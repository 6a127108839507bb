// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Ways to end a program that pass exit() by, and a signal to write meanwhile, as
 * the environment asks for them.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include "gmon.h"
#include "internal.h"

static bool leaving;	/* by _exit() */

static const struct {
	const char *name;
	int number;
} signals[] = {
	{ "abort", SIGABRT }, { "ABRT", SIGABRT }, { "ALRM", SIGALRM }, { "BUS", SIGBUS },
	{ "FPE", SIGFPE }, { "HUP", SIGHUP }, { "ILL", SIGILL }, { "INT", SIGINT },
	{ "PIPE", SIGPIPE }, { "QUIT", SIGQUIT }, { "SEGV", SIGSEGV }, { "SYS", SIGSYS },
	{ "TERM", SIGTERM }, { "TRAP", SIGTRAP }, { "USR1", SIGUSR1 }, { "USR2", SIGUSR2 },
	{ "WINCH", SIGWINCH }, { "XCPU", SIGXCPU }, { "XFSZ", SIGXFSZ },
};

static int signal_number(const char *name)
{
	char *end;
	long number = strtol(name, &end, 10);

	if (*name && !*end)
		return number > 0 && number < NSIG ? number : 0;
	if (!strncmp(name, "SIG", 3))
		name += 3;
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		if (!strcmp(name, signals[i].name))
			return signals[i].number;
	return 0;
}

static void not_understood(const char *variable, const char *word)
{
	const char *const parts[LIBPROFIL_PARTS] = {
		"profil: cannot understand ", word, " in ", variable,
		"; see libprofil(7) for what may stand there\n",
	};

	libprofil_say(parts);
}

/* Someone may have it, or have been started with it ignored. */
static bool handle(int number, void (*handler)(int sig), int flags)
{
	struct sigaction new = { .sa_handler = handler, .sa_flags = flags | SA_ONSTACK };
	struct sigaction old;

	if (sigaction(number, NULL, &old))
		return false;
	/* What KILL and STOP do can be read, but not changed. */
	return old.sa_handler != SIG_DFL || !sigaction(number, &new, NULL);
}

static void dump_and_go_on(int number)
{
	int err = errno;

	(void)number;
	libprofil_dump(DUMP_ASYNC);
	errno = err;
}

/* Blocked until this returns; then it does what it would have done without. */
static void dump_and_die(int number)
{
	int err = errno;

	libprofil_dump(DUMP_ASYNC | DUMP_LAST);
	raise(number);
	errno = err;
}

/**
 * libprofil_exits_leave() - Write files in _exit(), if that was asked for
 */
void libprofil_exits_leave(void)
{
	if (leaving)
		libprofil_dump(DUMP_ASYNC | DUMP_LAST);
}

static void dump_at_quick_exit(void)
{
	libprofil_dump(DUMP_LAST);
}

static void cover(const char *word)
{
	int number = signal_number(word);

	if (!strcmp(word, "_exit"))
		leaving = true;
	else if (!strcmp(word, "quick_exit"))
		at_quick_exit(dump_at_quick_exit);
	else if (!number || !handle(number, dump_and_die, SA_RESETHAND))
		not_understood("PROFIL_EXIT", word);
}

/**
 * libprofil_exits_begin() - Do as PROFIL_EXIT and PROFIL_SIGNAL say
 */
void libprofil_exits_begin(void)
{
	const char *exits = secure_getenv("PROFIL_EXIT");
	const char *number = secure_getenv("PROFIL_SIGNAL");
	char words[256] = "", *word, *rest;

	if (exits && strlen(exits) < sizeof(words))
		strcpy(words, exits);
	else if (exits)
		not_understood("PROFIL_EXIT", exits);
	for (word = strtok_r(words, ", ", &rest); word; word = strtok_r(NULL, ", ", &rest))
		cover(word);
	if (number && !handle(signal_number(number), dump_and_go_on, SA_RESTART))
		not_understood("PROFIL_SIGNAL", number);
}
