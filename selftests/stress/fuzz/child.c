// SPDX-License-Identifier: GPL-2.0-only
/* Children and late threads. */
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <linux/kcov.h>

#include "fuzz.h"

bool may(unsigned int *used, unsigned int limit)
{
	return __atomic_fetch_add(used, 1, __ATOMIC_RELAXED) < limit;
}

/* What a child or a late thread does: a few commands, and a tick or two. */
void few(struct thread *t)
{
	int i;

	for (i = 1 + below(t, 4); i; i--) {
		switch (below(t, 12)) {
		case 0:
		case 1:
			guarded(t, op_start);
			break;
		case 2:
			guarded(t, op_burn);
			break;
		case 3:
			guarded(t, op_munmap);
			break;
		case 4:
			guarded(t, op_session);
			break;
		case 5:
		case 6:
			guarded(t, op_join);
			break;
		case 7:
			guarded(t, op_attach);
			break;
		case 8:
			guarded(t, op_object);
			break;
		case 9:
			guarded(t, op_other_of_session);
			break;
		default:
			guarded(t, op_other_command);
		}
	}
}

void exec_self(void)
{
	char name[] = "fuzz", *args[] = { name, NULL }, *env[] = { NULL };

	execve("/proc/self/exe", args, env);
	_exit(1);
}

/* One child at a time tells what it reaches, to the end, whatever it executes. */
void become_child(struct thread *t)
{
	t->index = -1;
	t->fail_nth = -1;
	t->cover = NULL;
	if (!ioctl(slot->kcov[THREADS], KCOV_ENABLE, KCOV_TRACE_PC))
		t->cover = slot->cover[THREADS];
}

/* Of a child, which shares all memory if @vfork. */
static void run_child(struct thread *t, bool vfork, bool exec)
{
	struct profil_ioc_stats stats = { .size = sizeof(stats) };

	if (vfork) {
		ioctl(descriptor[0], PROFIL_IOC_STATS, &stats);
	} else {
		become_child(t);
		few(t);
	}
	if (exec)
		exec_self();
	_exit(0);
}

void op_fork(struct thread *t)
{
	bool shares = once_in(t, 4), exec = once_in(t, 4);
	pid_t pid;

	if (!may(&children, CHILDREN))
		return;
	no_escape();
	/*
	 * It allocates for each mapping, the anchor among the last.  Where it
	 * can have no stack, at first, the kernel complains with a trace.
	 */
	begin_faulty(t, once_in(t, 2) ? 40 + below(t, 400) : 0);
	pid = shares ? vfork() : fork();
	if (!pid)
		run_child(t, shares, exec);
	end_faulty(t, pid);
	if (pid < 0)
		return;
	last_child = pid;
	if (once_in(t, 6))
		kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	see(slot->cover[THREADS]);
}

static void *late_thread(void *arg)
{
	struct thread *t = arg;

	few(t);
	munmap(t, sizeof(*t));
	__atomic_sub_fetch(&late_threads, 1, __ATOMIC_RELEASE);
	return NULL;
}

struct thread *make_thread(u64 seed)
{
	struct thread *t = mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (t == MAP_FAILED)
		_exit(2);
	t->rng = seed | 1;
	t->index = -1;
	t->fail_nth = -1;
	return t;
}

void op_birth(struct thread *t)
{
	u64 seed = next(&t->rng);
	struct thread *late;
	pthread_t thread;

	if (!may(&births, BIRTHS))
		return;
	/* The C library would keep its locks. */
	no_escape();
	late = make_thread(seed);
	__atomic_add_fetch(&late_threads, 1, __ATOMIC_RELAXED);
	if (!CALL(t, pthread_create(&thread, NULL, late_thread, late))) {
		pthread_detach(thread);
		return;
	}
	munmap(late, sizeof(*late));
	__atomic_sub_fetch(&late_threads, 1, __ATOMIC_RELAXED);
}
