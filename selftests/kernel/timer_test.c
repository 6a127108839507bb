// SPDX-License-Identifier: GPL-2.0-only
/*
 * The timer source: samples in proportion to CPU time, however short threads
 * and processes live, and no timer where none of them runs.
 *
 * How many samples there are is looked at only where time is the count of
 * instructions.  Elsewhere a machine may stand still, between what the clock
 * shows and what the timer does, and then any number is right.
 */
#include <sys/resource.h>

#include "ticks.h"

#define ONLINE	"/sys/devices/system/cpu/cpu1/online"

static __u64 clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* In a lane of its own, time is the count of instructions: no machine stands still. */
static bool time_is_exact(void)
{
	return getenv("profil_exact");
}

/*
 * Rounds of hot_b() that take 2 ms where time is the count of instructions, 8 ns each.  It is
 * not measured: the time of a CPU goes on while the machine has another one run.
 */
#define ROUNDS_OF_2_MS	125000UL

/* What the process' clock of CPU time showed around START and STOP. */
struct span {
	__u64 before, begun;
	__u64 last, ended;
};

static int span_begin(struct span *span, int fd, const struct profil_region *regions,
		      __u32 num, __u32 rate, __u32 jitter)
{
	int err;

	span->before = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	err = profil_start_timer(fd, regions, num, rate, jitter);
	span->begun = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	return err;
}

static int span_end(struct span *span, int fd, struct profil_ioc_stats *stats)
{
	int err;

	span->last = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	err = profil_stop(fd);
	span->ended = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	return err ? err : profil_stats(fd, stats);
}

/*
 * Whether chance makes @samples of a mean from @least to @most: 5 standard
 * deviations, so that it does not one time in a million.
 */
static bool chance_allows(__u64 samples, double least, double most)
{
	double less = least - samples, more = samples - most;

	if (!time_is_exact() ||
	    ((less <= 0 || less * less <= 25 * least) &&
	     (more <= 0 || more * more <= 25 * most)))
		return true;
	printf("# %llu samples, from %g to %g are to be expected\n", samples,
	       least, most);
	return false;
}

/*
 * Whether there is one sample in each period, 2 more or less for each CPU, where it
 * began and ended, and 10 % for thousands of switches, each of which clock and timer
 * see at another point; period_test has their exact number, too.
 */
static bool are_of_span(__u64 samples, const struct span *span, __u32 rate)
{
	double least = (span->last - span->begun) * (double)rate / 1e9;
	double most = (span->ended - span->before) * (double)rate / 1e9;
	long ends = 2 * sysconf(_SC_NPROCESSORS_CONF);

	if (!time_is_exact())
		return true;
	printf("# %llu samples in %g to %g periods\n", samples, least, most);
	return samples + ends >= least * 0.9 && samples <= most * 1.1 + ends;
}

static bool are_at_least(__u64 samples, __u64 least)
{
	return !time_is_exact() || samples >= least;
}

static double periods_of(const struct rusage *usage, __u32 rate)
{
	return rate * (usage->ru_utime.tv_sec + usage->ru_stime.tv_sec +
		       usage->ru_utime.tv_usec / 1e6 +
		       usage->ru_stime.tv_usec / 1e6);
}

FIXTURE(timer) {
	int fd;
	__u16 *counter;			/* of hot_a, hot_b, hot_c; shared */
	struct profil_region region[3];
	struct profil_ioc_stats stats;
	struct profil_ioc_query query;
};

FIXTURE_SETUP(timer)
{
	void (*const hot[])(unsigned long) = { hot_a, hot_b, hot_c };
	int i;

	self->fd = profil_open();
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, profil_query(self->fd, &self->query));
	self->counter = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->counter);
	for (i = 0; i < 3; i++)
		self->region[i] = page_region(hot[i], &self->counter[i]);
}

FIXTURE_TEARDOWN(timer)
{
	close(self->fd);
}

/* Where timers are no finer than the tick there is no such source. */
static bool absent(FIXTURE_DATA(timer) *self)
{
	return !self->query.out_timer_rate_max;
}

static int start(FIXTURE_DATA(timer) *self, __u32 rate, __u32 jitter)
{
	return profil_start_timer(self->fd, self->region, 3, rate, jitter);
}

TEST_F(timer, is_there_if_and_only_if_the_kernel_has_fine_timers)
{
	struct timespec resolution;

	ASSERT_EQ(0, clock_getres(CLOCK_MONOTONIC, &resolution));
	EXPECT_EQ(resolution.tv_nsec == 1 ? 10000 : 0,
		  self->query.out_timer_rate_max);
	EXPECT_EQ(absent(self) ? -EOPNOTSUPP : 0, start(self, 1, 0));
}

TEST_F(timer, rate_above_the_highest_is_not_supported)
{
	EXPECT_EQ(-EOPNOTSUPP, start(self, self->query.out_timer_rate_max + 1, 0));
	EXPECT_EQ(-EOPNOTSUPP, start(self, ~0U, 100));
}

TEST_F(timer, user_only_leaves_out_samples_of_the_kernel)
{
	struct profil_ioc_start args = {
		.size = sizeof(args),
		.flags = PROFIL_START_F_USER_ONLY,
		.region_num = 3,
		.region_len = sizeof(self->region[0]),
		.regions_uptr = UPTR(self->region),
		.rate = 1000,
		.source = PROFIL_SOURCE_TIMER,
	};
	int i;

	if (absent(self))
		SKIP(return, "no timers that are finer than the tick");
	ASSERT_EQ(0, profil_ioctl(self->fd, PROFIL_IOC_START, &args));
	do {
		for (i = 0; i < 10000; i++)
			syscall(SYS_getppid);
		ASSERT_EQ(0, profil_stats(self->fd, &self->stats));
	} while (self->stats.out_system < 20);
	ASSERT_TRUE(profil_finish(self->fd, &self->stats));
	EXPECT_EQ(0, self->counter[0] + self->counter[1] + self->counter[2]);
}

FIXTURE(rate) {
	int unused;
};

FIXTURE_VARIANT(rate) {
	__u32 rate;
	__u32 jitter;
};

FIXTURE_VARIANT_ADD(rate, below_the_tick) {
	.rate = 99,
};

FIXTURE_VARIANT_ADD(rate, below_the_tick_at_random) {
	.rate = 99,
	.jitter = 100,
};

FIXTURE_VARIANT_ADD(rate, above_the_tick) {
	.rate = 1999,
};

FIXTURE_VARIANT_ADD(rate, above_the_tick_partly_at_random) {
	.rate = 1999,
	.jitter = 50,
};

FIXTURE_VARIANT_ADD(rate, highest) {
	.rate = 10000,
	.jitter = 100,
};

FIXTURE_SETUP(rate) { }

FIXTURE_TEARDOWN(rate) { }

TEST_F(rate, is_of_cpu_time)
{
	__u16 *counter = page_alloc();
	struct profil_region region = page_region(hot_a, counter);
	struct profil_ioc_stats stats;
	int err, fd = profil_open();
	struct span span;

	ASSERT_NE(NULL, counter);
	err = span_begin(&span, fd, &region, 1, variant->rate, variant->jitter);
	if (err == -EOPNOTSUPP)
		SKIP(return, "no timer source: timers are no finer than the tick");
	ASSERT_EQ(0, err);
	/* Half a second of CPU time, or more. */
	ASSERT_TRUE(burn(fd, hot_a, 10 + variant->rate / 2));
	ASSERT_EQ(0, span_end(&span, fd, &stats));
	EXPECT_TRUE(are_of_span(stats.out_ticks, &span, variant->rate));
	EXPECT_TRUE(check_identity(&stats));
	EXPECT_TRUE(none_lost_before_the_end(&stats));
	EXPECT_EQ(0, stats.out_not_due);
	EXPECT_EQ(stats.out_in_range, *counter);
	EXPECT_LT(0, *counter);
	EXPECT_EQ(variant->rate, stats.out_rate);
	EXPECT_EQ(PROFIL_SOURCE_TIMER, stats.out_source);
}

static void *spend_a_little(void *rounds)
{
	hot_b(*(unsigned long *)rounds);
	return NULL;
}

/* With a countdown that begins with the thread none of them would have one. */
TEST_F(timer, threads_that_live_for_less_than_a_period_have_their_share)
{
	unsigned long rounds = ROUNDS_OF_2_MS;
	struct span span;
	pthread_t thread;
	int i;

	if (absent(self))
		SKIP(return, "no timer source: timers are no finer than the tick");
	ASSERT_EQ(0, span_begin(&span, self->fd, self->region, 3, 50, 0));
	for (i = 0; i < 300; i++) {
		ASSERT_EQ(0, pthread_create(&thread, NULL, spend_a_little,
					    &rounds));
		pthread_join(thread, NULL);
	}
	ASSERT_EQ(0, span_end(&span, self->fd, &self->stats));
	EXPECT_TRUE(are_of_span(self->stats.out_ticks, &span, 50));
	EXPECT_TRUE(check_identity(&self->stats));
	/* 30 but for chance; the others are of what makes threads and ends them. */
	EXPECT_TRUE(are_at_least(self->counter[1], 5));
}

struct turns {
	int link[2];
	int left;
	unsigned long rounds;
};

static void *take_turns(void *arg)
{
	struct turns *turns = arg;
	bool go_on = true;
	char turn;

	while (go_on && read(turns->link[0], &turn, 1) == 1) {
		hot_b(turns->rounds);
		/* The CPU goes to nobody. */
		usleep(1);
		go_on = turns->left-- > 0;
		if (write(turns->link[1], &turn, 1) != 1)
			break;
	}
	return NULL;
}

TEST_F(timer, threads_that_run_for_less_than_a_period_have_one_in_each)
{
	struct turns turns = { .left = 2000, .rounds = ROUNDS_OF_2_MS / 7 };
	pthread_t thread[5];
	struct span span;
	size_t i;

	if (absent(self))
		SKIP(return, "no timer source: timers are no finer than the tick");
	ASSERT_EQ(0, pipe(turns.link));
	/* A turn that begins on another CPU, before the last one's end, has no rest of a period. */
	pin(0);
	/* Not in step: each sample makes a turn longer, until one comes with each tenth turn. */
	ASSERT_EQ(0, span_begin(&span, self->fd, self->region, 3, 200, 50));
	for (i = 0; i < ARRAY_SIZE(thread); i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, take_turns, &turns));
	ASSERT_EQ(1, write(turns.link[1], "", 1));
	for (i = 0; i < ARRAY_SIZE(thread); i++)
		pthread_join(thread[i], NULL);
	ASSERT_EQ(0, span_end(&span, self->fd, &self->stats));
	EXPECT_TRUE(are_of_span(self->stats.out_ticks, &span, 200));
	EXPECT_TRUE(check_identity(&self->stats));
	EXPECT_TRUE(are_at_least(self->counter[1], 40));
}

TEST_F(timer, processes_that_live_for_less_than_a_period_have_their_share)
{
	struct profil_region region = any_region(self->counter);
	unsigned long rounds = ROUNDS_OF_2_MS;
	__u64 used = 0, own, samples;
	struct rusage all;
	struct span span;
	int i, link[2];
	pid_t pid;

	if (absent(self))
		SKIP(return, "no timer source: timers are no finer than the tick");
	ASSERT_EQ(0, pipe(link));
	ASSERT_EQ(0, span_begin(&span, self->fd, &region, 1, 100, 0));
	for (i = 0; i < 300; i++) {
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid) {
			own = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
			hot_b(rounds);
			own = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - own;
			_exit(write(link[1], &own, sizeof(own)) != sizeof(own));
		}
		ASSERT_EQ(0, wait_for(pid));
		ASSERT_EQ(sizeof(own), read(link[0], &own, sizeof(own)));
		used += own;
	}
	ASSERT_TRUE(settle(self->fd, &self->stats));
	ASSERT_EQ(0, span_end(&span, self->fd, &self->stats));
	/* Those of the children: between what they measured and all they had. */
	samples = *self->counter - self->stats.out_in_range;
	ASSERT_EQ(0, getrusage(RUSAGE_CHILDREN, &all));
	EXPECT_TRUE(chance_allows(samples, used / 1e7, periods_of(&all, 100)));
}

TEST_F(timer, threads_on_all_cpus_have_as_many_as_their_cpu_time)
{
	struct burner burners[3];
	struct span span;
	size_t i;

	if (absent(self))
		SKIP(return, "no timer source: timers are no finer than the tick");
	ASSERT_EQ(0, span_begin(&span, self->fd, self->region, 3, 1000, 100));
	for (i = 0; i < ARRAY_SIZE(burners); i++)
		ASSERT_EQ(0, burner_start(&burners[i], hot_b));
	ASSERT_TRUE(burn(self->fd, hot_a, 2000));
	for (i = 0; i < ARRAY_SIZE(burners); i++)
		burner_join(&burners[i]);
	ASSERT_EQ(0, span_end(&span, self->fd, &self->stats));
	EXPECT_TRUE(are_of_span(self->stats.out_ticks, &span, 1000));
	EXPECT_TRUE(check_identity(&self->stats));
	EXPECT_TRUE(none_lost_before_the_end(&self->stats));
	EXPECT_EQ(self->stats.out_in_range,
		  self->counter[0] + self->counter[1] + self->counter[2]);
}

/* Whether all there is are the kernel's ticks; were the timer still on, there were more. */
static bool are_ticks(FIXTURE_DATA(timer) *self, const struct instance *instance)
{
	__u64 events_first, events_last;
	struct profil_ioc_stats first;

	return take_pair(instance, self->fd, &events_first, &first) &&
	       burn(self->fd, hot_a, 20) &&
	       take_pair(instance, self->fd, &events_last, &self->stats) &&
	       self->stats.out_ticks - first.out_ticks == events_last - events_first;
}

TEST_F(timer, and_tick_replace_each_other_at_once)
{
	struct instance instance;
	pid_t tid = getpid();
	int i;

	if (absent(self))
		SKIP(return, "no timer source: timers are no finer than the tick");
	ASSERT_EQ(0, event_create());
	ASSERT_EQ(0, instance_create(&instance));
	ASSERT_EQ(0, instance_watch(&instance, &tid, 1, ALL_TICKS));
	for (i = 0; i < 6; i++) {
		ASSERT_EQ(0, start(self, 2000 + i, 20 * i));
		ASSERT_TRUE(burn(self->fd, hot_a, 20));
		ASSERT_EQ(0, profil_stats(self->fd, &self->stats));
		EXPECT_EQ(PROFIL_SOURCE_TIMER, self->stats.out_source);
		ASSERT_EQ(0, profil_start(self->fd, self->region, 3));
		EXPECT_TRUE(are_ticks(self, &instance));
		EXPECT_EQ(PROFIL_SOURCE_TICK, self->stats.out_source);
	}
	EXPECT_TRUE(check_identity(&self->stats));
	instance_destroy(&instance);
	event_remove();
}

/*
 * How many of our timers the kernel has, or -1 if it does not tell; and when CPU 0
 * went idle last, if asked.
 */
static int timers(__u64 *idle_since)
{
	FILE *list = fopen("/proc/timer_list", "re");
	char line[512], *at;
	int cpu = -1, num = 0;

	if (!list)
		return -1;
	while (fgets(line, sizeof(line), list)) {
		if (!strncmp(line, "cpu: ", 5))
			cpu = atoi(line + 5);
		at = strstr(line, ".idle_entrytime :");
		if (at && cpu == 0 && idle_since)
			*idle_since = strtoull(strchr(at, ':') + 1, NULL, 10);
		num += !!strstr(line, "profil_timer_expired");
	}
	fclose(list);
	return num;
}

TEST_F(timer, wakes_no_cpu_on_which_nobody_is_profiled)
{
	volatile int *spins = (int *)(self->counter + 100);
	bool several = sysconf(_SC_NPROCESSORS_ONLN) > 1;
	__u64 was = 0, is;
	pid_t pid;

	if (absent(self))
		SKIP(return, "no timer source: timers are no finer than the tick");
	if (time_is_exact())
		SKIP(return, "a CPU may starve where time is the count of instructions");
	/* Who looks on the other's CPU has taken its place there, and sees no timer. */
	pin(1);
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		pin(0);
		if (start(self, 1, 0))
			_exit(1);
		for (*spins = 1; *spins; )
			hot_a(HOT_ROUNDS / 100);
		for (;;)
			pause();
	}
	while (!*spins)
		usleep(1000);
	/* One that expires while the kernel lists it is listed twice, or not at all. */
	while (several && !timers(NULL))
		usleep(1000);
	ASSERT_LE(0, timers(&was));
	for (*spins = 0, is = was; is == was; ) {
		usleep(1000);
		ASSERT_LE(0, timers(&is));
	}
	/* Nobody is on that CPU.  Its period is a second, and it would go on for that long. */
	EXPECT_EQ(0, timers(NULL));
	kill(pid, SIGKILL);
	EXPECT_EQ(-SIGKILL, wait_for(pid));
}

TEST_F(timer, goes_on_while_a_cpu_goes_and_comes)
{
	struct burner burners[3];
	int i, file = open(ONLINE, O_WRONLY | O_CLOEXEC);
	struct span span;

	if (absent(self))
		SKIP(return, "no timer source: timers are no finer than the tick");
	if (file < 0)
		SKIP(return, "there is no second CPU");
	ASSERT_EQ(0, span_begin(&span, self->fd, self->region, 3, 500, 100));
	for (i = 0; i < (int)ARRAY_SIZE(burners); i++)
		ASSERT_EQ(0, burner_start(&burners[i], hot_b));
	for (i = 0; i < 10; i++) {
		ASSERT_EQ(1, pwrite(file, i % 2 ? "1" : "0", 1, 0));
		ASSERT_TRUE(burn(self->fd, hot_a, 50));
	}
	for (i = 0; i < (int)ARRAY_SIZE(burners); i++)
		burner_join(&burners[i]);
	ASSERT_EQ(0, span_end(&span, self->fd, &self->stats));
	EXPECT_TRUE(are_of_span(self->stats.out_ticks, &span, 500));
	EXPECT_TRUE(check_identity(&self->stats));
	close(file);
}

TEST_HARNESS_MAIN
