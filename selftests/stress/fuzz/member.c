// SPDX-License-Identifier: GPL-2.0-only
/* Who becomes a member of a session, is traced for it, and what becomes of it then. */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "fuzz.h"

static const char *const images[] = {
	"/proc/self/exe", "/proc/self/exe", IMAGE_HIDDEN, IMAGE_SETUID,
};

/* Of this process, of its relatives, of the other slots, or of nobody any more. */
static pid_t any_process(struct thread *t)
{
	switch (below(t, 12)) {
	case 0:
		return getppid();
	case 1:
	case 2:
		return last_child;
	case 3:
		return shared->slot[below(t, SLOTS)].pid;
	case 4:
		return pick(t, 1, 2, 3);
	case 5:
		return gettid();
	case 6:
		return getpid();
	default:
		return tid[below(t, THREADS)];
	}
}

void op_attach(struct thread *t)
{
	attach(t, any_process(t));
}

/* One that burns.  Nobody can read one of them, one is of root, one is on no file system. */
static void exec_image(struct thread *t, unsigned int which)
{
	char name[] = "fuzz", arg[] = "burn", *args[] = { name, arg, NULL }, *env[] = { NULL };
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", image);
	begin(t);
	execve(which < 4 ? images[which] : path, args, env);
	_exit(1);
}

/* As somebody else, perhaps. */
static void become(struct thread *t)
{
	if (once_in(t, 8))
		ptrace(PTRACE_TRACEME, 0, 0, 0);
	switch (below(t, 8)) {
	case 0:
		unshare(CLONE_NEWUSER | pick(t, 0, CLONE_NEWPID));
		break;
	case 1:
		if (setresuid(once_in(t, 2) ? 1000 : -1, 1000, -1))
			_exit(0);
		break;
	}
}

/* Nobody waits for it. */
static void leave_grandchild(struct thread *t)
{
	if (fork())
		return;
	t->cover = NULL;
	if (once_in(t, 2))
		setsid();
	few(t);
	_exit(0);
}

static void run_member(struct thread *t)
{
	bool early = once_in(t, 2);

	if (early)
		guarded(t, op_join);
	become(t);
	if (!early)
		guarded(t, op_join);
	few(t);
	if (once_in(t, 4))
		leave_grandchild(t);
	if (once_in(t, 4))
		op_birth(t);
	if (once_in(t, 2))
		exec_image(t, below(t, 5));
	begin(t);
	if (once_in(t, 2))
		kill(getpid(), SIGKILL);
	_exit(0);
}

/* Attaches another process, as its tracer for that long. */
static void run_tracer(struct thread *t)
{
	pid_t pid = any_process(t);

	if (!once_in(t, 4))
		ptrace(PTRACE_SEIZE, pid, 0, 0);
	attach(t, pid);
	begin(t);
	_exit(0);
}

/* All memory is its parent's. */
static void run_vforked(struct thread *t, int file, unsigned int which)
{
	struct profil_ioc_join join = { .size = sizeof(join) };

	ioctl(file, PROFIL_IOC_JOIN, &join);
	if (which)
		exec_image(t, which - 1);
	_exit(0);
}

/* It may be stopped for us now and then. */
static void wait_for(pid_t pid)
{
	int status, sig;

	while (waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status)) {
		sig = WSTOPSIG(status);
		ptrace(PTRACE_CONT, pid, 0, sig == SIGTRAP || status >> 16 ? 0 : sig);
	}
}

void op_member(struct thread *t)
{
	unsigned int role = below(t, 6), which = below(t, 6);
	int file = any_session(t);
	pid_t pid;

	if (!may(&members, MEMBERS))
		return;
	no_escape();
	begin_faulty(t, once_in(t, 3) ? 40 + below(t, 400) : 0);
	pid = role ? fork() : vfork();
	if (!pid) {
		if (!role)
			run_vforked(t, file, which);
		become_child(t);
		if (role == 1)
			run_tracer(t);
		run_member(t);
	}
	end_faulty(t, pid);
	if (pid < 0)
		return;
	last_child = pid;
	if (once_in(t, 3)) {
		/* Two that trace each other could wait for each other. */
		if (role > 1 && once_in(t, 2))
			ptrace(PTRACE_SEIZE, pid, 0, 0);
		attach(t, pid);
	}
	if (once_in(t, 4))
		op_other_of_session(t);
	if (once_in(t, 6))
		kill(pid, SIGKILL);
	wait_for(pid);
	see(slot->cover[THREADS]);
}
