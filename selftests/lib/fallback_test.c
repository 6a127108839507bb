// SPDX-License-Identifier: GPL-2.0-only
/*
 * PROFIL_FALLBACK=signal in the shared library, with the C library's real
 * profil() behind it.  open(), ioctl(), close() and setitimer() are this file's own:
 * there is no device until a test says so.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include <profil.h>
#include "tap.h"

int open(const char *path, int flags, ...);
int ioctl(int fd, unsigned long cmd, ...);
int close(int fd);

extern char __executable_start[];
#define BINS 65536
static unsigned short bins[BINS];
static atomic_int opened;

#define DEVICE_FD 1234
static atomic_bool have_device;
static int start_error;
static atomic_ulong last_command;
static _Alignas(4096) char anchor[4096];	/* an address where there is none */

int open(const char *path, int flags, ...)
{
	(void)path;
	(void)flags;
	opened++;
	errno = ENOENT;
	return have_device ? DEVICE_FD : -1;
}

static void tell(struct profil_ioc_start *start)
{
	static atomic_uint cookies;

	start->out_anchor = (uintptr_t)anchor;
	start->out_cookie = ++cookies;
}

int ioctl(int fd, unsigned long cmd, ...)
{
	va_list args;

	last_command = cmd;
	if (fd != DEVICE_FD || (cmd == PROFIL_IOC_START && start_error)) {
		errno = fd == DEVICE_FD ? start_error : EBADF;
		return -1;
	}
	va_start(args, cmd);
	if (cmd == PROFIL_IOC_QUERY)
		va_arg(args, struct profil_ioc_query *)->out_regions_max = 1;
	else if (cmd == PROFIL_IOC_START)
		tell(va_arg(args, struct profil_ioc_start *));
	va_end(args);
	return 0;
}

int close(int fd)
{
	return fd == DEVICE_FD ? 0 : -1;
}

static unsigned long counted(void)
{
	unsigned long sum = 0;

	for (size_t i = 0; i < BINS; i++)
		sum += bins[i];
	return sum;
}

/* In this program's own code, and seldom in the C library's clock(). */
static void spin(void)
{
	clock_t end = clock() + CLOCKS_PER_SEC / 5;
	volatile int i;

	while (clock() < end)
		for (i = 0; i < 100000; i++)
			;
}

static bool timer_runs(void)
{
	struct itimerval timer;

	getitimer(ITIMER_PROF, &timer);
	return timer.it_interval.tv_usec || timer.it_interval.tv_sec;
}

static bool handler_is_gone(void)
{
	struct sigaction act;

	sigaction(SIGPROF, NULL, &act);
	return act.sa_handler == SIG_DFL;
}

static int start(void)
{
	return profil(bins, sizeof(bins), (size_t)__executable_start, 65536);
}

static bool falls_back(void)
{
	struct profil_ioc_query query = { .size = sizeof(query) };
	unsigned long sum;

	setenv("PROFIL_FALLBACK", "signal", 1);
	errno = 77;
	TAP_CHECK(!start());
	TAP_CHECK(errno == 77);
	TAP_CHECK(opened == 1);
	TAP_CHECK(timer_runs());
	/* The program can still find out. */
	setenv("PROFIL_QUIET", "1", 1);
	TAP_CHECK(profil_query(&query) == -1 && errno == ENOENT);

	/* Scale 0, which the C library itself does not take for an end. */
	TAP_CHECK(!profil(bins, sizeof(bins), 0, 0));
	TAP_CHECK(!timer_runs());
	sum = counted();
	spin();
	TAP_CHECK(counted() == sum);
	return true;
}

static bool counts(void)
{
	setenv("PROFIL_FALLBACK", "signal", 1);
	TAP_CHECK(!start());
	for (int turn = 0; turn < 50 && !counted(); turn++)
		spin();
	TAP_CHECK(!profil_stop());
	TAP_CHECK(counted() > 0);
	return true;
}

static bool signal_waits(void)
{
	sigset_t pending;

	return !sigpending(&pending) && sigismember(&pending, SIGPROF);
}

/* Blocks it and starts, until it waits. */
static bool let_signal_wait(sigset_t *prof)
{
	setenv("PROFIL_FALLBACK", "signal", 1);
	sigemptyset(prof);
	sigaddset(prof, SIGPROF);
	TAP_CHECK(!sigprocmask(SIG_BLOCK, prof, NULL));
	TAP_CHECK(!start());
	do {
		spin();
	} while (!signal_waits());
	return true;
}

/* The C library gives back an action for it that is to end the program. */
static bool pending_is_no_end(void)
{
	sigset_t prof;

	TAP_CHECK(let_signal_wait(&prof));
	TAP_CHECK(!profil_stop());
	TAP_CHECK(!timer_runs());
	TAP_CHECK(handler_is_gone());
	TAP_CHECK(!sigprocmask(SIG_UNBLOCK, &prof, NULL));
	return true;
}

/*
 * It does so for a moment in a start, too, in which another thread may take a signal: none is
 * left, and the next one needs a hundredth of a second of the CPU.
 */
static bool pending_is_gone_at_start(void)
{
	sigset_t prof;

	TAP_CHECK(let_signal_wait(&prof));
	TAP_CHECK(!start());
	TAP_CHECK(!signal_waits());
	TAP_CHECK(timer_runs());
	TAP_CHECK(!sigprocmask(SIG_UNBLOCK, &prof, NULL));
	TAP_CHECK(!profil_stop());
	TAP_CHECK(!timer_runs());
	TAP_CHECK(handler_is_gone());
	return true;
}

/* They are for the device. */
static bool without_a_rate(void)
{
	struct itimerval without, with;

	setenv("PROFIL_FALLBACK", "signal", 1);
	TAP_CHECK(!start());
	getitimer(ITIMER_PROF, &without);
	TAP_CHECK(!profil_stop());
	setenv("PROFIL_RATE", "1000", 1);
	setenv("PROFIL_SOURCE", "timer", 1);
	TAP_CHECK(!start());
	getitimer(ITIMER_PROF, &with);
	TAP_CHECK(timer_runs());
	TAP_CHECK(!memcmp(&with.it_interval, &without.it_interval, sizeof(with.it_interval)));
	return !profil_stop();
}

static bool not_unasked(void)
{
	setenv("PROFIL_FALLBACK", "none", 1);
	setenv("PROFIL_QUIET", "1", 1);
	TAP_CHECK(start() == -1);
	TAP_CHECK(errno == ENOENT);
	TAP_CHECK(!timer_runs());
	return true;
}

static struct profil_region region;
static struct profil_ioc_start command = { .size = sizeof(command) };
static struct prof range = { &region, sizeof(region), 0, 65536 };

static bool fallen_back(void)
{
	setenv("PROFIL_FALLBACK", "signal", 1);
	have_device = false;
	start_error = 0;
	TAP_CHECK(!start());
	TAP_CHECK(timer_runs());
	return true;
}

static void none(int sig)
{
	(void)sig;
}

/* What the program has of its own is left alone where nothing is counted. */
static bool only_its_own(void)
{
	struct itimerval own = { { 1000, 0 }, { 1000, 0 } };
	struct sigaction act;

	TAP_CHECK(fallen_back());
	TAP_CHECK(!profil_stop());
	signal(SIGPROF, none);
	TAP_CHECK(!setitimer(ITIMER_PROF, &own, NULL));
	TAP_CHECK(!profil_stop());
	TAP_CHECK(timer_runs());
	TAP_CHECK(!sigaction(SIGPROF, NULL, &act) && act.sa_handler == none);
	return true;
}

static bool starts_again(void)
{
	for (int i = 0; i < 3; i++) {
		TAP_CHECK(fallen_back());
		TAP_CHECK(fallen_back());
		TAP_CHECK(!profil_stop());
		TAP_CHECK(!timer_runs());
		TAP_CHECK(handler_is_gone());
		TAP_CHECK(!profil_stop());
	}
	return true;
}

static bool device_replaces(void)
{
	TAP_CHECK(fallen_back());
	have_device = true;
	errno = 77;
	TAP_CHECK(!profil_start(&command));
	TAP_CHECK(errno == 77);
	TAP_CHECK(last_command == PROFIL_IOC_START);
	TAP_CHECK(!timer_runs());
	TAP_CHECK(handler_is_gone());
	return true;
}

static bool sprofil_replaces(void)
{
	TAP_CHECK(fallen_back());
	/* The device is still missing: nothing changes. */
	setenv("PROFIL_QUIET", "1", 1);
	TAP_CHECK(sprofil(&range, 1, NULL, PROF_USHORT) == -1);
	TAP_CHECK(errno == ENOENT);
	TAP_CHECK(timer_runs());
	TAP_CHECK(!sprofil(NULL, 0, NULL, PROF_USHORT));
	TAP_CHECK(!timer_runs());
	TAP_CHECK(handler_is_gone());

	TAP_CHECK(fallen_back());
	have_device = true;
	TAP_CHECK(!sprofil(&range, 1, NULL, PROF_USHORT));
	TAP_CHECK(last_command == PROFIL_IOC_START);
	TAP_CHECK(!timer_runs());
	TAP_CHECK(handler_is_gone());
	return true;
}

static bool failure_keeps(void)
{
	TAP_CHECK(fallen_back());
	have_device = true;
	start_error = ENOSPC;
	TAP_CHECK(profil_start(&command) == -1);
	TAP_CHECK(errno == ENOSPC);
	TAP_CHECK(timer_runs());
	start_error = ENXIO;
	TAP_CHECK(profil_start(&command) == -1);
	TAP_CHECK(errno == ENXIO);
	TAP_CHECK(!timer_runs());
	return true;
}

static bool not_beside_the_device(void)
{
	setenv("PROFIL_FALLBACK", "signal", 1);
	have_device = true;
	TAP_CHECK(!start());
	TAP_CHECK(!timer_runs());
	have_device = false;
	TAP_CHECK(start() == -1);
	TAP_CHECK(errno == ENOENT);
	TAP_CHECK(!timer_runs());
	/* That the one of the device may go on is not hidden. */
	setenv("PROFIL_QUIET", "1", 1);
	TAP_CHECK(profil_stop() == -1);
	TAP_CHECK(errno == ENOENT);
	return true;
}

static atomic_int amid;		/* of what the handler of SIGUSR1 is still to come */
static atomic_bool handled;

static void stop_in_handler(int sig)
{
	(void)sig;
	profil(bins, sizeof(bins), 0, 0);
	profil_stop();
	handled = true;
}

static void signal_amid(void)
{
	if (amid) {
		amid = 0;
		raise(SIGUSR1);
	}
}

/* The library's, while it stops the C library's. */
int setitimer(__itimer_which_t which, const struct itimerval *new, struct itimerval *old)
{
	signal_amid();
	return syscall(SYS_setitimer, which, new, old);
}

/* It begins before the library, whose lock is thus taken before this is called. */
static void begin(void)
{
	pthread_atfork(signal_amid, NULL, NULL);
}

static __attribute__((section(".preinit_array"), used)) void (*const first)(void) = begin;

static bool handler_waits(void)
{
	sigset_t now;

	alarm(60);
	signal(SIGUSR1, stop_in_handler);
	TAP_CHECK(fallen_back());
	amid = 1;
	TAP_CHECK(!profil_stop());
	TAP_CHECK(handled);
	TAP_CHECK(!timer_runs());
	TAP_CHECK(!pthread_sigmask(SIG_BLOCK, NULL, &now) && !sigismember(&now, SIGUSR1));
	return true;
}

static bool handler_waits_for_fork(void)
{
	sigset_t now;
	int status;
	pid_t pid;

	alarm(60);
	signal(SIGUSR1, stop_in_handler);
	TAP_CHECK(fallen_back());
	amid = 1;
	pid = fork();
	pthread_sigmask(SIG_BLOCK, NULL, &now);
	if (!pid)
		_exit(handled || sigismember(&now, SIGUSR1));
	TAP_CHECK(handled);
	TAP_CHECK(!sigismember(&now, SIGUSR1));
	TAP_CHECK(waitpid(pid, &status, 0) == pid);
	TAP_CHECK(status == 0);
	return true;
}

static atomic_bool enough;

static void *start_and_stop(void *unused)
{
	while (!atomic_load(&enough)) {
		start();
		profil_stop();
	}
	return unused;
}

#define THREADS 3
static pthread_t thread[THREADS];

static bool threads_begin(void)
{
	setenv("PROFIL_FALLBACK", "signal", 1);
	for (int i = 0; i < THREADS; i++)
		TAP_CHECK(!pthread_create(&thread[i], NULL, start_and_stop, NULL));
	return true;
}

static bool threads_end(void)
{
	atomic_store(&enough, true);
	for (int i = 0; i < THREADS; i++)
		TAP_CHECK(!pthread_join(thread[i], NULL));
	TAP_CHECK(!timer_runs());
	TAP_CHECK(handler_is_gone());
	return true;
}

/* The C library's own would be left with its timer or its handler. */
static bool many_threads(void)
{
	TAP_CHECK(threads_begin());
	for (int i = 0; i < 20000; i++) {
		start();
		profil_stop();
	}
	return threads_end();
}

static bool fork_between(void)
{
	TAP_CHECK(threads_begin());
	for (int i = 0; i < 300; i++) {
		int status;
		pid_t pid = fork();

		if (!pid) {
			/* It would wait for ever for a thread it does not have. */
			alarm(60);
			_exit(profil_stop() || start() || profil_stop());
		}
		TAP_CHECK(waitpid(pid, &status, 0) == pid);
		TAP_CHECK(status == 0);
	}
	return threads_end();
}

/* The C library's goes on until the device's begins, whichever thread is first. */
static void *start_soon(void *unused)
{
	start();
	return unused;
}

static bool never_both(void)
{
	setenv("PROFIL_FALLBACK", "signal", 1);
	setenv("PROFIL_QUIET", "1", 1);
	for (int i = 0; i < 2000; i++) {
		pid_t pid = fork();
		int status;

		if (!pid) {
			pthread_t falls_back;

			have_device = false;
			if (pthread_create(&falls_back, NULL, start_soon, NULL))
				_exit(2);
			for (volatile int j = 0; j < i * 10; j++)
				;
			have_device = true;
			if (profil_start(&command))
				_exit(3);
			pthread_join(falls_back, NULL);
			_exit(timer_runs());
		}
		TAP_CHECK(waitpid(pid, &status, 0) == pid);
		TAP_CHECK(status == 0);
	}
	return true;
}

/*
 * A program that never writes to stderr has no signal of a line of ours.  One of its own
 * that waits is not taken away.
 */
static bool lets_live(int number, bool own)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, number);
	if (own)
		TAP_CHECK(!sigprocmask(SIG_BLOCK, &set, NULL) && !raise(number));
	unsetenv("PROFIL_FALLBACK");
	TAP_CHECK(profil(bins, sizeof(bins), 0, 65536) == -1 && errno == ENOENT);
	TAP_CHECK(!sigpending(&set) && sigismember(&set, number) == own);
	return true;
}

static bool unread(bool own)
{
	int ends[2];

	TAP_CHECK(!pipe(ends) && dup2(ends[1], STDERR_FILENO) == STDERR_FILENO);
	TAP_CHECK(!syscall(SYS_close, ends[0]) && !syscall(SYS_close, ends[1]));
	return lets_live(SIGPIPE, own);
}

static bool broken_stderr(void)
{
	return unread(false);
}

static bool own_broken_pipe(void)
{
	return unread(true);
}

static bool full_stderr(void)
{
	static const struct rlimit none;
	int fd = syscall(SYS_memfd_create, "stderr", 0);

	TAP_CHECK(fd >= 0 && dup2(fd, STDERR_FILENO) == STDERR_FILENO);
	TAP_CHECK(!setrlimit(RLIMIT_FSIZE, &none));
	return lets_live(SIGXFSZ, false);
}

int main(void)
{
	tap_fork(falls_back, "PROFIL_FALLBACK=signal starts and stops the C library's");
	tap_fork(counts, "PROFIL_FALLBACK=signal counts");
	tap_fork(pending_is_no_end, "a signal that waits does not end the program");
	tap_fork(pending_is_gone_at_start, "nor where the C library's is started once more");
	tap_fork(without_a_rate, "the C library's ignores PROFIL_RATE and PROFIL_SOURCE");
	tap_fork(only_its_own, "an end where nothing is counted leaves the program's timer");
	tap_fork(not_unasked, "any other value does not fall back");
	tap_fork(starts_again, "the C library's is replaced, ended and started again");
	tap_fork(device_replaces, "a START of the device ends the C library's");
	tap_fork(sprofil_replaces, "sprofil() ends the C library's, and replaces it if it can");
	tap_fork(failure_keeps, "a failed START ends the C library's with ENXIO alone");
	tap_fork(not_beside_the_device, "no C library's while the device's may go on");
	tap_fork(handler_waits, "a handler of a signal may end it amid an end");
	tap_fork(handler_waits_for_fork, "or amid a fork, and then the child has the same signals");
	tap_fork(many_threads, "threads may start and end the C library's at once");
	tap_fork(fork_between, "a child forked meanwhile can end the C library's");
	tap_fork(never_both, "of the C library's and the device's one is left");
	tap_fork(broken_stderr, "a line on a stderr that nobody reads does not end the program");
	tap_fork(own_broken_pipe, "and takes no signal that the program has waiting");
	tap_fork(full_stderr, "nor does one that ulimit -f lets not grow");
	return tap_plan();
}
