// SPDX-License-Identifier: GPL-2.0-only
/* The process that is counted: started, or only looked at; signals; its end. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "clock.h"
#include "program.h"
#include "reader.h"
#include "refusal.h"
#include "say.h"

enum { EXIT_CANNOT_EXECUTE = 126, EXIT_NOT_FOUND = 127, EXIT_SIGNAL = 128 };

#define AGAIN 2		/* seconds in which a second Ctrl-C means that it is meant */
#define ATTACH_AGAIN 100	/* times that a process may be in exec, or its thread may end */
#define OF_THE_KERNEL 0x200000	/* among the flags of a thread, which /proc shows */

static const int passed_on[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 };
/* What Ctrl-C does to the file that is being read, its reader sees itself. */
static const int ends[] = { SIGTERM, SIGHUP, SIGQUIT };
static sigset_t mask_before;
static struct sigaction child_action_before, pipe_action_before;

void program_init(struct program *program)
{
	sigset_t mask;

	*program = (struct program) { .also = { -1, -1, -1, -1 }, .io = { -1, -1, -1 } };
	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	for (size_t i = 0; i < sizeof(passed_on) / sizeof(passed_on[0]); i++)
		sigaddset(&mask, passed_on[i]);
	sigprocmask(SIG_BLOCK, &mask, &mask_before);
	/* where SIGCHLD is ignored, there is nothing to wait for */
	sigaction(SIGCHLD, &(struct sigaction) { .sa_handler = SIG_DFL }, &child_action_before);
	/* whoever reads our output may go: that is no end of ours, nor of the program */
	sigaction(SIGPIPE, &(struct sigaction) { .sa_handler = SIG_IGN }, &pipe_action_before);
	program->signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (program->signals < 0)
		die("signals cannot be had from a descriptor: %s; raise ulimit -n",
		    strerror(errno));
	sigemptyset(&mask);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		sigaddset(&mask, ends[i]);
	reader_ends = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* What kept a child of ours from being what it is for. */
struct failure {
	int joining;	/* an errno: before the program */
	int executing;	/* an errno: of execve() */
};

static _Noreturn void child(const struct program *program, struct session *session, char **argv,
			    int tell)
{
	struct failure failure = { .joining = session ? session_join(session) : 0 };

	for (int i = 0; i < 3; i++)
		if (program->io[i] >= 0)
			dup2(program->io[i], i);
	sigaction(SIGCHLD, &child_action_before, NULL);
	sigaction(SIGPIPE, &pipe_action_before, NULL);
	sigprocmask(SIG_SETMASK, &mask_before, NULL);
	if (!failure.joining) {
		execvp(argv[0], argv);
		failure.executing = errno;
	}
	_exit(write(tell, &failure, sizeof(failure)) < 0);
}

static _Noreturn void helper(struct session *session, pid_t pid, int tell)
{
	struct failure failure = { 0 };
	int seizing = ptrace(PTRACE_SEIZE, pid, NULL, NULL) ? errno : 0;

	failure.joining = session_attach(session, pid);
	if (failure.joining && seizing)
		failure.joining = seizing;
	/* the target was never stopped, and nobody traces it after this */
	_exit(write(tell, &failure, sizeof(failure)) < 0);
}

/* Runs one of the two in a child; what it says, until exec() closes the pipe. */
static pid_t start(const struct program *program, struct session *session, char **argv,
		   pid_t target, struct failure *failure)
{
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		die("a pipe cannot be had: %s; raise ulimit -n", strerror(errno));
	pid = fork();
	if (pid < 0)
		die("a process cannot be had: %s; raise ulimit -u", strerror(errno));
	if (!pid && argv)
		child(program, session, argv, ends[1]);
	if (!pid)
		helper(session, target, ends[1]);
	close(ends[1]);
	memset(failure, 0, sizeof(*failure));
	while (read(ends[0], failure, sizeof(*failure)) < 0 && errno == EINTR)
		;
	close(ends[0]);
	return pid;
}

void program_start(struct program *program, struct session *session, char **argv)
{
	struct failure failure;

	/* the one before has ended */
	program->ended = false;
	program->empty = false;
	program->left = false;
	program->stopped = false;
	program->interrupted = 0;
	program->pid = start(program, session, argv, 0, &failure);
	if (failure.joining)
		die("%s cannot be counted: %s", argv[0], refusal_to_count(failure.joining));
	if (!failure.executing)
		return;
	die_status = failure.executing == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_EXECUTE;
	die("%s cannot be executed: %s; give the path of a program, or a name that is in PATH",
	    argv[0], strerror(failure.executing));
}

static int attach_once(struct session *session, pid_t pid)
{
	struct failure failure;
	pid_t child = start(NULL, session, NULL, pid, &failure);

	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	return failure.joining;
}

/* What the kernel does not tell apart from what nobody may trace; or what the error says. */
static const char *why_not(pid_t pid, int error)
{
	char path[64], line[1024] = "", state = 0, *rest;
	unsigned int flags = 0;
	long threads = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "re");
	if (file && fgets(line, sizeof(line), file)) {
		/* the name may have any characters */
		rest = strrchr(line, ')');
		if (rest)
			sscanf(rest, ") %c %*d %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld",
			       &state, &flags, &threads);
	}
	if (file)
		fclose(file);
	if (state && flags & OF_THE_KERNEL)
		return "it is a thread of the kernel's, which has no program; "
			"sudo profil run -a --kernel counts those";
	if ((state == 'Z' || state == 'X') && threads > 1)
		return "its first thread has ended; give the number of another, "
			"which ls /proc/PID/task lists";
	if (state == 'Z' || state == 'X')
		return "it has ended, which its parent has not looked at yet; "
			"pgrep -a NAME finds others";
	return refusal_to_count(error);
}

void program_attach(struct session *session, pid_t pid)
{
	static const struct timespec pause = { .tv_nsec = 10000000 };
	int error = attach_once(session, pid);

	for (int i = 0; i < ATTACH_AGAIN && error == EAGAIN; i++) {
		nanosleep(&pause, NULL);
		error = attach_once(session, pid);
	}
	if (error)
		die("process %d cannot be counted: %s", pid, why_not(pid, error));
}

/* Signals that a terminal makes have come to the program as well. */
static void pass_on(struct program *program, const struct signalfd_siginfo *signal)
{
	bool ends = signal->ssi_signo != SIGUSR1 && signal->ssi_signo != SIGUSR2;

	program->stopped = program->stopped || ends;
	/* there is nobody to pass it on to: it ends the waiting */
	if (!program->pid || program->ended) {
		program->left = ends;
		return;
	}
	if (signal->ssi_signo == SIGINT) {
		program->left = program->interrupted && clock_now() - program->interrupted < AGAIN;
		program->interrupted = clock_now();
	}
	if (signal->ssi_code != SI_KERNEL)
		kill(program->pid, signal->ssi_signo);
}

static void take_signals(struct program *program)
{
	struct signalfd_siginfo signal;

	while (read(program->signals, &signal, sizeof(signal)) == sizeof(signal)) {
		/* SIGCHLD may have come before what has a lower number, and is read after it */
		if (program->pid && !program->ended)
			program->ended = wait4(program->pid, &program->status, WNOHANG,
					       &program->usage) == program->pid;
		if (signal.ssi_signo != SIGCHLD)
			pass_on(program, &signal);
	}
}

bool program_wait(struct program *program, struct session *session, bool all, double most)
{
	struct pollfd polled[2 + ALSO] = {
		{ .fd = program->signals, .events = POLLIN },
		{ .fd = session_fd(session) },
	};
	double began = clock_now();

	for (int i = 0; i < ALSO; i++)
		polled[2 + i] = (struct pollfd) { .fd = program->also[i], .events = POLLIN };
	all = all || !program->pid;
	for (;;) {
		double left = began + most - clock_now();
		int timeout = most < 0 ? -1 : left > 1e6 ? 1000000000 : left * 1000 + 1;

		bool ended = program->ended || !program->pid;

		if (program->left || (ended && (program->empty || !all)))
			return true;
		if (most >= 0 && left <= 0)
			return false;
		/* without members it says so again and again */
		polled[1].fd = all && !program->empty ? session_fd(session) : -1;
		if (poll(polled, 2 + ALSO, timeout) < 0 && errno != EINTR)
			return true;
		program->empty = program->empty || (all && polled[1].revents & POLLHUP);
		take_signals(program);
		for (int i = 0; i < ALSO; i++)
			if (polled[2 + i].revents)
				most = 0;
	}
}

static uint64_t timeval_ns(const struct timeval *time)
{
	return time->tv_sec * 1000000000ULL + time->tv_usec * 1000ULL;
}

bool program_stopped(struct program *program)
{
	take_signals(program);
	return program->stopped;
}

void program_read(struct program *program)
{
	struct signalfd_siginfo signal;

	if (read(reader_ends, &signal, sizeof(signal)) != sizeof(signal))
		return;
	program->cut = signal.ssi_signo;
	program->stopped = true;
}

void program_charged(const struct program *program, uint64_t *user_ns, uint64_t *system_ns)
{
	*user_ns = timeval_ns(&program->usage.ru_utime);
	*system_ns = timeval_ns(&program->usage.ru_stime);
}

int program_exit_status(const struct program *program)
{
	if (program->cut)
		return EXIT_SIGNAL + program->cut;
	if (!program->pid)
		return 0;
	if (!program->ended)
		return EXIT_SIGNAL + SIGINT;
	return WIFSIGNALED(program->status) ? EXIT_SIGNAL + WTERMSIG(program->status) :
		WEXITSTATUS(program->status);
}
