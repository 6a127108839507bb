/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For the programs that run beside soak.c: PROGRAM SECONDS SEED GROUP.  Each goes through laps
 * until the time is over, one at least, and says what it counted and which checks held.
 */
#ifndef BESIDE_H
#define BESIDE_H

#include <stdarg.h>

#include "hook.h"
#include "../kernel/session.h"

#define BESIDE_MAX	16	/* sums, and checks, of a program */
#define BESIDE_NICE	(-10)	/* or hundreds of threads of soak.c leave them nothing */
#define BESIDE_SAID	10	/* times that a check says why */

/* All processes of a program have it. */
static struct {
	__u64 sums[BESIDE_MAX];
	__u64 bad[BESIDE_MAX];
} *beside;

static __u64 beside_seed;
static time_t beside_end;
static const char *beside_group;
static bool beside_own_timers;	/* what is counted are no ticks of the kernel */

static inline void add(int sum, __u64 n)
{
	__atomic_add_fetch(&beside->sums[sum], n, __ATOMIC_RELAXED);
}

__attribute__((format(printf, 2, 3)))
static inline void fail(int check, const char *format, ...)
{
	va_list args;

	if (__atomic_add_fetch(&beside->bad[check], 1, __ATOMIC_RELAXED) > BESIDE_SAID)
		return;
	va_start(args, format);
	printf("# ");
	vprintf(format, args);
	puts("");
	va_end(args);
}

static inline __u64 draw(void)
{
	beside_seed ^= beside_seed << 13;
	beside_seed ^= beside_seed >> 7;
	beside_seed ^= beside_seed << 17;
	return beside_seed >> 11;
}

static inline unsigned int choose(unsigned int n)
{
	return draw() % n;
}

static inline bool beside_over(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec >= beside_end;
}

/* False, with what the program wants said, if it cannot begin. */
static inline bool beside_begin(int argc, char **argv)
{
	struct timespec now;

	setvbuf(stdout, NULL, _IOLBF, 0);
	beside = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (argc != 4 || beside == MAP_FAILED || setpriority(PRIO_PROCESS, 0, BESIDE_NICE)) {
		fprintf(stderr, "%s: give SECONDS, SEED and the folder of a control group\n",
			argv[0]);
		return false;
	}
	clock_gettime(CLOCK_MONOTONIC, &now);
	beside_end = now.tv_sec + atoi(argv[1]);
	beside_seed = strtoull(argv[2], NULL, 10) * 0x9e3779b97f4a7c15ULL | 1;
	beside_group = argv[3];
	beside_own_timers = own_timers_chosen();
	return true;
}

/* Into the group whose memory is short, with all children. */
static inline int beside_enter(void)
{
	char procs[256];

	snprintf(procs, sizeof(procs), "%s/cgroup.procs", beside_group);
	return write_file(procs, 0, "0");
}

static inline int beside_report(const char *const sums[], int nr_sums,
				const char *const checks[], int nr_checks)
{
	int i, bad = 0;

	printf("# sums");
	for (i = 0; i < nr_sums; i++)
		printf(" %s=%llu", sums[i], beside->sums[i]);
	puts("");
	for (i = 0; i < nr_checks; i++) {
		printf("%sok - %s\n", beside->bad[i] ? "not " : "", checks[i]);
		bad |= !!beside->bad[i];
	}
	return bad;
}

/* ---- a session: its rows, and the classes of its ticks */

struct rows {
	__u64 user, all;
};

static inline struct rows rows_read(const struct view *view)
{
	__u32 i, used = __atomic_load_n(&view->page->processes_used, __ATOMIC_ACQUIRE);
	struct rows rows = { 0, 0 };
	__u64 user;

	for (i = 0; i < used; i++) {
		user = __atomic_load_n(&view_row(view, i)->user, __ATOMIC_RELAXED);
		rows.user += user;
		rows.all += user + __atomic_load_n(&view_row(view, i)->system, __ATOMIC_RELAXED);
	}
	return rows;
}

/* All but idle, which has no row. */
static inline __u64 classes_read(const struct view *view)
{
	const struct profil_session_page *page = view->page;
	const struct profil_slot *slot;
	__u64 sum;
	__u32 i;

	sum = __atomic_load_n(&page->not_due, __ATOMIC_RELAXED) +
	      __atomic_load_n(&page->exec, __ATOMIC_RELAXED) +
	      __atomic_load_n(&page->full, __ATOMIC_RELAXED) +
	      __atomic_load_n(&page->kthreads, __ATOMIC_RELAXED) +
	      __atomic_load_n(&page->interrupts, __ATOMIC_RELAXED);
	for (i = 0; i < page->slots; i++) {
		slot = view_slot(view, i);
		/* These count once more where the kernel was. */
		if (__atomic_load_n(&slot->object, __ATOMIC_ACQUIRE) != PROFIL_OBJECT_KERNEL)
			sum += __atomic_load_n(&slot->user, __ATOMIC_RELAXED) +
			       __atomic_load_n(&slot->system, __ATOMIC_RELAXED);
	}
	return sum;
}

/*
 * A tick is in its row before it is in a class, and each CPU can be in one tick.  So what is
 * in classes is no more than what is in rows afterwards, and at most so much less than before.
 */
static inline void view_look(const struct view *view, int check)
{
	struct rows before = rows_read(view), after;
	__u64 classes = classes_read(view);

	after = rows_read(view);
	if (classes > after.all || classes + sysconf(_SC_NPROCESSORS_CONF) < before.all)
		fail(check, "at a look: %llu in classes, %llu to %llu in rows", classes,
		     before.all, after.all);
}

/* Stops it; what it counted, all of which is in one class each. */
static inline struct rows view_last(const struct view *view, int check)
{
	const struct profil_session_page *page = view->page;
	int err = session_stop(view);
	struct rows rows = rows_read(view);
	__u64 classes = classes_read(view);

	if (err || page->state != PROFIL_SESSION_STOPPED || page->members)
		fail(check, "STOP: %d, state %u, %u members", err, page->state, page->members);
	if (classes != rows.all)
		fail(check, "in the end: %llu in classes (not due %llu exec %llu full %llu), %llu in rows",
		     classes, page->not_due, page->exec, page->full, rows.all);
	return rows;
}

#endif /* BESIDE_H */
