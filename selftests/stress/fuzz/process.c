// SPDX-License-Identifier: GPL-2.0-only
/* A process, which runs some programs. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <linux/kcov.h>

#include "fuzz.h"

struct slot *slot;
int descriptor[DESCRIPTORS], memfd, maps, first_descriptor;
struct stat device;
unsigned int children, members, births, late_threads;
pid_t tid[THREADS], last_child;
static volatile unsigned int signals;

static struct program program;
static pthread_barrier_t barrier;

static void prepare_thread(struct thread *t)
{
	tid[t->index] = gettid();
	t->fail_nth = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (!ioctl(slot->kcov[t->index], KCOV_ENABLE, KCOV_TRACE_PC))
		t->cover = slot->cover[t->index];
	if (t->fail_nth < 0 || !t->cover)
		__atomic_add_fetch(&shared->blind, 1, __ATOMIC_RELAXED);
}

bool enough(void)
{
	return shared->calls >= shared->limit && shared->programs >= nr_listed;
}

/* One thread's part of a program. */
static void run_part(struct thread *t)
{
	int i, round;

	move_to(3);
	for (round = 0; round < program.rounds && !enough(); round++) {
		for (i = 0; i < program.genes[t->index]; i++) {
			const struct op *op = op_of(program.gene[t->index][i]);

			slot->last[t->index] = op->name;
			/* Each round is the same calls with other values. */
			t->rng = scatter(program.gene[t->index][i] + round);
			guarded(t, op->run);
		}
	}
}

static void *run_thread(void *arg)
{
	struct thread *t = arg;

	prepare_thread(t);
	pthread_barrier_wait(&barrier);
	for (;;) {
		pthread_barrier_wait(&barrier);
		if (t->index < program.threads)
			run_part(t);
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

static void count_signal(int sig)
{
	signals += sig;
}

static void set_handlers(void)
{
	struct sigaction action = { .sa_handler = segv, .sa_flags = SA_NODEFER };
	static const int faults[] = { SIGSEGV, SIGBUS };
	static const int others[] = { SIGUSR1, SIGUSR2, SIGPROF, SIGVTALRM, SIGALRM };
	unsigned int i;

	for (i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		sigaction(faults[i], &action, NULL);
	action = (struct sigaction){ .sa_handler = count_signal, .sa_flags = SA_RESTART };
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		sigaction(others[i], &action, NULL);
}

static void open_descriptors(void)
{
	int i;

	for (i = 0; i < DESCRIPTORS; i++)
		descriptor[i] = open("/dev/profil", O_RDWR | O_CLOEXEC);
	open_sessions();
}

static void map_arena(void)
{
	if (ftruncate(memfd, 0) || ftruncate(memfd, ARENA_BYTES) ||
	    mmap((void *)ARENA, ARENA_BYTES, PROT_READ | PROT_WRITE,
		 MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
		_exit(4);
}

/* Nothing of a program is left to the next one. */
static void tidy_up(void)
{
	static const struct itimerval off;
	unsigned long anchor;
	int i;

	for (i = ITIMER_REAL; i <= ITIMER_PROF; i++)
		setitimer(i, &off, NULL);
	while (__atomic_load_n(&late_threads, __ATOMIC_ACQUIRE))
		usleep(1000);
	for (i = 0; i < 8 && (anchor = find_anchor()); i++)
		munmap((void *)anchor, PAGE);
	map_arena();
	syscall(SYS_close_range, first_descriptor, ~0U, 0);
	open_descriptors();
	children = 0;
	members = 0;
	births = 0;
}

static void prepare_process(void)
{
	static const struct rlimit no_core;

	setpgid(0, 0);
	setrlimit(RLIMIT_CORE, &no_core);
	if (slot == &shared->slot[SLOTS - 1]) {
		if (setgid(1000) || setuid(1000))
			_exit(3);
		/* or /proc/thread-self is root's */
		prctl(PR_SET_DUMPABLE, 1);
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	memfd = memfd_create("fuzz", MFD_CLOEXEC);
	maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	if (maps < 0 || stat("/dev/profil", &device))
		_exit(7);
	map_arena();
	set_handlers();
}

/* Returns the first one, which is the caller. */
static struct thread *prepare_threads(void)
{
	struct thread *t, *first = NULL;
	pthread_t thread;
	int i;

	pthread_barrier_init(&barrier, NULL, THREADS);
	for (i = 0; i < THREADS; i++) {
		t = make_thread(1);
		t->index = i;
		if (!i)
			first = t;
		else if (pthread_create(&thread, NULL, run_thread, t))
			_exit(5);
	}
	prepare_thread(first);
	pthread_barrier_wait(&barrier);
	return first;
}

static void choose_name(struct name *name, u64 *rng)
{
	unsigned int kept = __atomic_load_n(&shared->in_corpus, __ATOMIC_RELAXED);

	if (listed) {
		/* Each slot begins elsewhere: its own suspects come first. */
		*name = listed[((slot - shared->slot) * nr_listed / SLOTS +
				slot->started) % nr_listed];
		return;
	}
	*name = (struct name){ };
	if (kept && next(rng) >> 32 & 3)
		*name = shared->corpus[(next(rng) >> 32) % (kept < CORPUS ? kept : CORPUS)];
	/* One that is full has its last mutation changed. */
	if (name->parts == NAME_PARTS)
		name->parts--;
	name->part[name->parts++] = next(rng) >> 24;
}

/* To the log, which a panic prints, and to who keeps a list. */
static void log_start(void)
{
	char text[96 + NAME_CHARS] = "<7>", *out = text + strlen(text);

	out += sprintf(out, "fuzz: slot %d starts ", (int)(slot - shared->slot));
	print_name(out, &slot->name);
	sprintf(out + strlen(out), " after %lu calls\n", shared->calls);
	if (write(kmsg, text, strlen(text)) < 0 ||
	    write(STDOUT_FILENO, text + 3, strlen(text + 3)) < 0)
		_exit(6);
}

static void start_program(u64 *rng)
{
	struct name name;

	choose_name(&name, rng);
	slot->name = name;
	slot->fresh = 0;
	memset(slot->last, 0, sizeof(slot->last));
	__atomic_add_fetch(&slot->started, 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&shared->programs, 1, __ATOMIC_RELAXED);
	log_start();
	make_program(&program, &name);
}

static void end_program(void)
{
	unsigned int at;

	if (!slot->fresh || listed)
		return;
	at = __atomic_fetch_add(&shared->in_corpus, 1, __ATOMIC_RELAXED);
	shared->corpus[at % CORPUS] = slot->name;
}

/* The other threads may still run the last program; this ends them. */
static void end_process(u64 how)
{
	switch (how % 8) {
	case 0:
		exec_self();
		break;
	case 1:
		kill(getpid(), SIGKILL);
		break;
	case 2:
	case 3:
		_exit(0);
	}
	pthread_barrier_wait(&barrier);
	end_program();
	_exit(0);
}

void run_process(u64 rng)
{
	/* What is replayed may need an end of the process. */
	unsigned int n = 1 + next(&rng) % (listed ? 4 : PROGRAMS);
	struct thread *first;

	prepare_process();
	first = prepare_threads();
	open_descriptors();
	/* No lower number is free, for nothing was closed since the start. */
	first_descriptor = descriptor[0];
	for (;;) {
		start_program(&rng);
		pthread_barrier_wait(&barrier);
		run_part(first);
		if (!--n || enough())
			end_process(next(&rng) >> 32);
		pthread_barrier_wait(&barrier);
		end_program();
		tidy_up();
	}
}
