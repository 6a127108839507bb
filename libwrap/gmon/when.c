// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * When files are written, as the environment asks for it: at ends of a program that
 * pass exit() by, at a signal, and time and again.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include "gmon.h"
#include "internal.h"

/* <unistd.h> declares profil(), see internal.h. */
ssize_t read(int fd, void *buf, size_t num);
int close(int fd);
int getpid(void);

static bool leaving;	/* by _exit() */

static const struct {
	const char *name;
	int number;
} signals[] = {
	{ "abort", SIGABRT }, { "ABRT", SIGABRT }, { "ALRM", SIGALRM }, { "BUS", SIGBUS },
	{ "FPE", SIGFPE }, { "HUP", SIGHUP }, { "ILL", SIGILL }, { "INT", SIGINT },
	{ "IO", SIGIO }, { "PIPE", SIGPIPE }, { "POLL", SIGPOLL }, { "PROF", SIGPROF },
	{ "PWR", SIGPWR }, { "QUIT", SIGQUIT }, { "SEGV", SIGSEGV }, { "STKFLT", SIGSTKFLT },
	{ "SYS", SIGSYS }, { "TERM", SIGTERM }, { "TRAP", SIGTRAP }, { "USR1", SIGUSR1 },
	{ "USR2", SIGUSR2 }, { "VTALRM", SIGVTALRM }, { "WINCH", SIGWINCH }, { "XCPU", SIGXCPU },
	{ "XFSZ", SIGXFSZ },
};

/* What ends no program, and what comes again after a handler, for ever. */
static const char staying[] = {
	SIGCHLD, SIGCONT, SIGTSTP, SIGTTIN, SIGTTOU, SIGURG, SIGWINCH, 0	/* the end */
};

static const char faults[] = { SIGBUS, SIGFPE, SIGILL, SIGSEGV, 0 };

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
	libprofil_write(WRITE_AMID);
	errno = err;
}

/* Blocked until this returns; then it does what it would have done without. */
static void dump_and_die(int number)
{
	int err = errno;

	/* The kernel lets none end the first process of a PID namespace, which goes on. */
	libprofil_write(getpid() == 1 ? WRITE_AMID : WRITE_AMID | WRITE_LAST);
	raise(number);
	errno = err;
}

/**
 * libprofil_when_exit() - Write files in _exit(), if that was asked for
 */
void libprofil_when_exit(void)
{
	if (leaving)
		libprofil_write(WRITE_AMID | WRITE_LAST);
}

static void dump_at_quick_exit(void)
{
	libprofil_write(WRITE_LAST);
}

static void arrange(const char *word)
{
	int number = signal_number(word);

	if (!strcmp(word, "_exit"))
		leaving = true;
	else if (!strcmp(word, "quick_exit"))
		at_quick_exit(dump_at_quick_exit);
	/* Nor 0, which is at its end. */
	else if (strchr(staying, number) || !handle(number, dump_and_die, SA_RESETHAND))
		not_understood("PROFIL_EXIT", word);
}

/* Does as PROFIL_EXIT and PROFIL_SIGNAL say. */
static void begin_exits(void)
{
	const char *exits = secure_getenv("PROFIL_EXIT");
	const char *name = secure_getenv("PROFIL_SIGNAL");
	int number = name ? signal_number(name) : 0;
	char words[256] = "", *word, *rest;

	if (exits && strlen(exits) < sizeof(words))
		strcpy(words, exits);
	else if (exits)
		not_understood("PROFIL_EXIT", exits);
	for (word = strtok_r(words, ", ", &rest); word; word = strtok_r(NULL, ", ", &rest))
		arrange(word);
	if (name && (strchr(faults, number) || !handle(number, dump_and_go_on, SA_RESTART)))
		not_understood("PROFIL_SIGNAL", name);
}

/*
 * A thread that writes files time and again.  All signals are blocked in it, and
 * so none is for it that the program would have been given.  It never reads the
 * environment, and takes no lock that the C library does not renew in a child: a program
 * with one thread of its own may change the one and fork at any moment.
 */
#define STACK_BYTES	(256 * 1024)
#define NSEC		1000000000LL
#define SHORTEST	0.001
#define LONGEST		1e9	/* seconds */
#define LOOK_EVERY	NSEC	/* whether other threads are left */

static long long interval;	/* 0 without */

static long long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * NSEC + time.tv_nsec;
}

static void sleep_until(long long when)
{
	struct timespec time = { when / NSEC, when % NSEC };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR)
		;
}

static bool first_thread_ended(void)
{
	char stat[128] = "";
	const char *name_end;
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	read(fd, stat, sizeof(stat) - 1);
	close(fd);
	name_end = strrchr(stat, ')');
	return name_end && !strncmp(name_end, ") Z", 3);
}

/*
 * When the last thread of a program has ended, it exits.  The C library takes
 * this thread for one of them; so this thread does it.  A folder has a link from
 * its parent, one from itself, and one from each folder in it.
 */
static void exit_if_alone(void)
{
	struct stat tasks;

	if (!stat("/proc/self/task", &tasks) && tasks.st_nlink == 2 + 2 &&
	    first_thread_ended())
		exit(0);
}

static void *work(void *arg)
{
	long long due = now() + interval;

	for (;;) {
		long long look = now() + LOOK_EVERY;

		sleep_until(due < look ? due : look);
		exit_if_alone();
		if (now() < due)
			continue;
		libprofil_sampling_follow_unlocked();
		libprofil_write(WRITE_AMID);
		/* What was missed is not made up for. */
		due += (now() - due) / interval * interval + interval;
	}
	return arg;
}

static int start_thread(void)
{
	pthread_attr_t attr;
	sigset_t all, old;
	pthread_t thread;
	int ret;

	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = pthread_create(&thread, &attr, work, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	return ret;
}

static void start_or_complain(void)
{
	int err = start_thread();
	const char *const parts[LIBPROFIL_PARTS] = {
		"profil: cannot start a thread for PROFIL_INTERVAL: ", libprofil_reason(err),
		"; files are written at exit alone\n",
	};

	if (err)
		libprofil_say(parts);
}

static long long parse(const char *seconds)
{
	char *end;
	double value = strtod(seconds, &end);

	if (!*seconds || *end || !(value >= SHORTEST && value <= LONGEST))
		return 0;
	return value * NSEC;
}

/* Does as PROFIL_INTERVAL says. */
static void begin_interval(void)
{
	const char *seconds = secure_getenv("PROFIL_INTERVAL");
	const char *const parts[LIBPROFIL_PARTS] = {
		"profil: cannot understand ", seconds,
		" in PROFIL_INTERVAL; give a number of seconds, from 0.001\n",
	};

	if (!seconds)
		return;
	interval = parse(seconds);
	if (interval)
		start_or_complain();
	else
		libprofil_say(parts);
}

/**
 * libprofil_when_begin() - Look at what the environment says
 */
void libprofil_when_begin(void)
{
	begin_exits();
	begin_interval();
}

/**
 * libprofil_when_forked() - Go on in a child, which does not have the thread
 */
void libprofil_when_forked(void)
{
	if (interval)
		start_or_complain();
}
