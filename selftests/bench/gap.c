// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a tick takes from a program, in instructions.
 *
 *   gap WHO [WORK [NUMBER [THREADS]]]
 *
 * WHO is profiled, and by what: nobody; other, a process that sleeps, by us;
 * profil, sigprof, glibc, perf: this one; hundred: this one by us, as profil() does,
 * 100 times a second; floor: this one by that module; member: this one by a session
 * of ours; members: processes that sleep, by a session; machine: all, by a session.  WORK
 * is what it does: user; few, the same in few instructions, where a session soon has
 * a slot for each; five, as user, where a worker comes once in five ticks, which
 * are a period then; kernel, where it is nearly always in a system call; or
 * long, one call over many ticks.  NUMBER is of regions, for profil; of processes,
 * for other and members; of bytes of code, for text, which is this process by us; of samples
 * in a period of the tick, for timer, which is our other source, and perf.
 * THREADS take turns on the one CPU.
 *
 * Prints what was taken from it in a period, which is that of the tick but for five, as
 * typical() has it; and the same of single interruptions in which a sample was counted,
 * and of those in which none was.  Of long, what the call takes, and how many ticks there
 * are in it.
 */
#include <pthread.h>
#include <sys/uio.h>

#include "who.h"

#define PERIODS		320
#define GAPS_MAX	100000
#define THREADS_MAX	256
#define ZEROS		(64 << 10)
#define LONG_ZEROS	(256 << 10)

struct gap {
	uint64_t begin;
	uint64_t length;
	bool sampled;
};

static struct gap gaps[GAPS_MAX];
static uint64_t values[GAPS_MAX];
static unsigned int nr_gaps;
static int threads = 1;
static unsigned int ticks = 1;	/* in a period */

static const struct who *who;
static void (*work)(void);
static uint64_t base, end;
static volatile uint64_t last;	/* of all threads: there is one CPU */

static int zero;
static char zeros[LONG_ZEROS];
static struct iovec parts[1024];	/* as many as a call takes */
static int nr_parts = 1;

static void work_kernel(void)
{
	if (read(zero, zeros, ZEROS) < 0)
		fail("read");
}

static void work_long(void)
{
	if (readv(zero, parts, nr_parts) != (ssize_t)nr_parts * LONG_ZEROS)
		fail("readv");
}

/*
 * Of several threads, an interruption that ends in another one is longer or
 * shorter by what that one had left of its work: in the mean by nothing.
 */
static void *measure(void *arg __attribute__((unused)))
{
	unsigned long seen = who->samples(), count;
	uint64_t now, length;

	while (last < end && nr_gaps < GAPS_MAX) {
		work();
		now = instructions();
		length = now - last - base;
		last = now;
		if ((int64_t)length < (threads > 1 ? 1500 : 300))
			continue;
		count = who->samples();
		gaps[nr_gaps++] = (struct gap){
			.begin = now - length,
			.length = length,
			.sampled = count != seen,
		};
		seen = count;
		last = instructions();
	}
	return NULL;
}

static void measure_all(void)
{
	pthread_t thread[THREADS_MAX];
	int i;

	base = base_of(work);
	last = instructions();
	end = last + PERIODS * tick_ns();
	for (i = 1; i < threads; i++)
		if (pthread_create(&thread[i], NULL, measure, NULL))
			fail("pthread_create");
	measure(NULL);
	for (i = 1; i < threads; i++)
		pthread_join(thread[i], NULL);
}

/*
 * A tick has one of four lengths, up to 25 apart and each as likely as another;
 * a profile adds the same to each of them.  So medians of two runs may lie on
 * two of them.  The shortest is the same in all runs, and a 32nd of the list is
 * beyond the few ticks that do not meet the program at work.  Of threads, where
 * an interruption is not of one, the mean of the middle half.
 */
static uint64_t typical(uint64_t *list, size_t num)
{
	uint64_t sum = 0;
	size_t i;

	if (!num)
		return 0;
	qsort(list, num, sizeof(*list), compare);
	if (threads == 1)
		return list[num / 32];
	for (i = num / 4; i < num - num / 4; i++)
		sum += list[i];
	return sum / (num - num / 4 * 2);
}

static uint64_t typical_of(bool sampled, size_t *num)
{
	unsigned int i;

	*num = 0;
	for (i = 0; i < nr_gaps; i++)
		if (gaps[i].sampled == sampled)
			values[(*num)++] = gaps[i].length;
	return typical(values, *num);
}

/*
 * Periods begin a third of a tick before the first interruption, so with none
 * that comes 1, 4 or 16 times a tick.  Where each tick is a sample, a period without one
 * met the program outside its histogram, and is left out.
 */
static uint64_t typical_period(uint64_t period, size_t *num)
{
	uint64_t begin = gaps[0].begin - period / 3;
	size_t i, at, all = (gaps[nr_gaps - 1].begin - begin) / period;
	static bool counts[GAPS_MAX];

	memset(values, 0, sizeof(values));
	for (i = 0; i < nr_gaps; i++) {
		at = (gaps[i].begin - begin) / period;
		if (at >= all)
			continue;
		values[at] += gaps[i].length;
		counts[at] |= gaps[i].sampled || !who->every;
	}
	for (i = 0, *num = 0; i < all; i++)
		if (counts[i])
			values[(*num)++] = values[i];
	return typical(values, *num);
}

static void report(void)
{
	size_t periods, with, without;
	uint64_t taken = typical_period(ticks * tick_ns(), &periods);
	uint64_t sampled = typical_of(true, &with);
	uint64_t others = typical_of(false, &without);

	printf("%llu %zu %llu %zu %llu %zu\n", (unsigned long long)taken, periods,
	       (unsigned long long)sampled, with, (unsigned long long)others, without);
}

/* Until a tick has just been. */
static void await_tick(void)
{
	uint64_t before;

	do {
		before = instructions();
		burst();
	} while (instructions() - before < BURST + 1500);
}

/* Where zeros come slowly, of fewer; and so that no tick is near its end. */
static void make_long(void)
{
	int i;

	for (i = 0; i < 1024; i++)
		parts[i] = (struct iovec){ zeros, sizeof(zeros) };
	nr_parts = tick_ns() * 27 / 2 / base_of(work_long) / 16 * 16;
	if (nr_parts > 1024)
		nr_parts = 1024;
}

static void report_long(void)
{
	uint64_t before, length, least = ~0ULL;
	int i;

	make_long();
	for (i = 0; i < 32; i++) {
		await_tick();
		before = instructions();
		work_long();
		length = instructions() - before;
		if (length < least)
			least = length;
	}
	printf("%llu %llu 0 0\n", (unsigned long long)least,
	       (unsigned long long)(least / tick_ns()));
}

int main(int argc, char **argv)
{
	const char *what;

	who = find_who(argc > 1 ? argv[1] : "nobody");
	what = argc > 2 ? argv[2] : "user";
	in_kernel = !strcmp(what, "kernel") || !strcmp(what, "long");
	work = in_kernel ? work_kernel : !strcmp(what, "few") ? burst_few : burst;
	if (!strcmp(what, "five")) {
		ticks = 5;
	} else if (!in_kernel && work == burst && strcmp(what, "user")) {
		errno = EINVAL;
		fail(what);
	}
	if (argc > 3)
		number = strtoul(argv[3], NULL, 0);
	if (argc > 4)
		threads = atoi(argv[4]);
	zero = open("/dev/zero", O_RDONLY);
	memset(gaps, 0, sizeof(gaps));
	memset(bins, 0, sizeof(bins));
	who->begin();
	if (!strcmp(what, "long")) {
		report_long();
		return 0;
	}
	measure_all();
	if (nr_gaps)
		report();
	return !nr_gaps;
}
