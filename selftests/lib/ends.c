// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls leaf() N times, and then does what the first argument says: ends, or goes
 * on for ever.
 *
 *	ends WAY N
 */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <glob.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

#pragma weak profil_dump
#pragma weak profil_reset
int profil_dump(void);
int profil_reset(void);

static long number;
static volatile int stop;

NOINLINE void leaf(void);
NOINLINE void leaf(void)
{
	__asm__ volatile("");
}

static NOINLINE void *calls(void *arg)
{
	long i;

	for (i = 0; i < number; i++)
		leaf();
	return arg;
}

static void end(void)
{
	kill(getpid(), SIGKILL);
}

static void by_exit(void)
{
	_exit(3);
}

static void by_Exit(void)
{
	_Exit(3);
}

static void by_quick_exit(void)
{
	quick_exit(3);
}

static void by_assert(void)
{
	assert(!number);
}

static void by_term(void)
{
	kill(getpid(), SIGTERM);
}

/* The one whose number is in SIGNAL. */
static void by_signal(void)
{
	kill(getpid(), atoi(getenv("SIGNAL")));
}

static void by_segv(void)
{
	*(volatile int *)number = 0;
}

/* Each process has made as many calls as the other. */
static void fork_exit(void)
{
	pid_t pid = fork();

	if (pid)
		waitpid(pid, NULL, 0);
	else
		calls(NULL);
	_exit(0);
}

/* The child has its parent's memory, and writes nothing. */
static void vfork_exit(void)
{
	pid_t pid = vfork();

	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	end();
}

static void asked(void)
{
	raise(SIGUSR1);
	calls(NULL);
	raise(SIGUSR1);
	end();
}

/* A call that was waiting goes on when the file is there. */
static void asked_amid(void)
{
	int ends[2];
	char byte;

	if (pipe(ends))
		exit(1);
	if (!fork()) {
		usleep(200000);
		kill(getppid(), SIGUSR1);
		usleep(200000);
		_exit(write(ends[1], "", 1) != 1);
	}
	if (read(ends[0], &byte, 1) != 1)
		puts("interrupted");
	fflush(stdout);
	end();
}

/* Before a file is written, it is not told that counts began anew. */
static void functions(void)
{
	if (profil_reset())
		end();
	calls(NULL);
	if (profil_dump())
		end();
	calls(NULL);
	if (profil_dump() || profil_reset())
		end();
	calls(NULL);
	exit(0);
}

/* The second file finds no room for its last bytes, calls, and the third does. */
static void full_disk(void)
{
	struct rlimit old, full;
	struct stat file;

	signal(SIGXFSZ, SIG_IGN);
	if (profil_dump() || stat("gmon.out", &file))
		exit(1);
	calls(NULL);
	getrlimit(RLIMIT_FSIZE, &old);
	full = old;
	full.rlim_cur = file.st_size - 100;
	setrlimit(RLIMIT_FSIZE, &full);
	if (!profil_dump())
		exit(1);
	setrlimit(RLIMIT_FSIZE, &old);
	calls(NULL);
	profil_dump();
	end();
}

/* Whether another file of that name is there than the last time. */
static int is_another(const char *name)
{
	static struct timespec last;
	struct stat file;

	if (stat(name, &file) || (file.st_mtim.tv_sec == last.tv_sec &&
				  file.st_mtim.tv_nsec == last.tv_nsec))
		return 0;
	last = file.st_mtim;
	return 1;
}

/*
 * Nothing that can be interrupted is, and no signal goes astray, until files were
 * written: the second that is new here was begun when all calls had been made.
 */
static void idle_beside(const char *name)
{
	/* longer than the interval of the test, so that each wait meets a file */
	struct timespec time = { 0, 300000000 };
	int i, bad = 0, written = 0;
	sigset_t set;

	is_another(name);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	kill(getpid(), SIGUSR2);
	bad |= sigtimedwait(&set, NULL, &time) != SIGUSR2;
	for (i = 0; written < 2 && i < 1000; i++) {
		bad |= nanosleep(&time, NULL) != 0;
		bad |= poll(NULL, 0, 300) != 0;
		written += is_another(name);
	}
	if (bad)
		puts("interrupted");
	fflush(stdout);
	end();
}

static void idle(void)
{
	idle_beside("gmon.out");
}

static void daemonize(void)
{
	char name[32];

	if (fork())
		_exit(0);
	calls(NULL);
	snprintf(name, sizeof(name), "gmon.out.%d", getpid());
	idle_beside(name);
}

/* As if by chdir() to a folder that is not for it. */
static void leave_folder(void)
{
	if (mkdir("gone", 0700) || chdir("gone") || rmdir("../gone"))
		end();
	exit(0);
}

static void *last(void *arg)
{
	usleep(100000);
	return calls(arg);
}

static void last_thread(void)
{
	pthread_t id;

	if (pthread_create(&id, NULL, last, NULL))
		end();
	pthread_exit(NULL);
}

/* It waits before a file finds no room, and comes when it is let. */
static void own_xfsz(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGXFSZ);
	sigprocmask(SIG_BLOCK, &set, NULL);
	kill(getpid(), SIGXFSZ);
	if (!profil_dump())
		exit(1);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	exit(2);
}

static void other_file(const char *start)
{
	char name[32];
	FILE *file;

	snprintf(name, sizeof(name), "%s%d", start, getpid());
	file = fopen(name, "w");
	if (!file || fputs("other\n", file) < 0 || fclose(file))
		exit(1);
}

/* Somebody else has the name, and that of the part. */
static void taken(void)
{
	other_file("p.");
	other_file("gmon.out.tmp");
	raise(SIGUSR1);
	calls(NULL);
	exit(0);
}

static size_t files(void)
{
	size_t num = 0;
	glob_t found;

	if (!glob("gmon.out*", 0, NULL, &found)) {
		num = found.gl_pathc;
		globfree(&found);
	}
	return num;
}

/* Until files were written of it; and says how often all have made their calls. */
static void busy_threads(void)
{
	int i, turns = 1;
	pthread_t id[2];

	for (; files() < 4 && turns < 2000; turns += 2) {
		for (i = 0; i < 2; i++)
			if (pthread_create(&id[i], NULL, calls, NULL))
				end();
		for (i = 0; i < 2; i++)
			pthread_join(id[i], NULL);
	}
	if (files() < 4)
		end();
	printf("%d\n", turns);
	exit(0);
}

static void *ask(void *arg)
{
	while (!stop)
		kill(getpid(), SIGUSR1);
	return arg;
}

/* By a signal and by the program, at the same time. */
static void all_at_once(void)
{
	pthread_t id;
	int i;

	if (pthread_create(&id, NULL, ask, NULL))
		end();
	for (i = 0; i < 100; i++) {
		calls(NULL);
		if (profil_dump())
			end();
	}
	stop = 1;
	pthread_join(id, NULL);
	exit(0);
}

static const struct {
	const char *name;
	void (*end)(void);
} ways[] = {
	{ "_exit", by_exit }, { "_Exit", by_Exit }, { "quick_exit", by_quick_exit },
	{ "abort", abort }, { "assert", by_assert }, { "term", by_term }, { "segv", by_segv },
	{ "signal", by_signal },
	{ "kill", end }, { "fork", fork_exit }, { "vfork", vfork_exit }, { "asked", asked },
	{ "amid", asked_amid },
	{ "functions", functions }, { "idle", idle }, { "daemon", daemonize },
	{ "lastthread", last_thread }, { "busy", busy_threads }, { "atonce", all_at_once },
	{ "gone", leave_folder }, { "full", full_disk }, { "xfsz", own_xfsz },
	{ "taken", taken },
};

int main(int argc, char **argv)
{
	size_t i;

	number = argc > 2 ? atol(argv[2]) : 0;
	printf("%d\n", getpid());
	fflush(stdout);
	calls(NULL);
	for (i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		if (argc > 1 && !strcmp(argv[1], ways[i].name))
			ways[i].end();
	return 2;
}
