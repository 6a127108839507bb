// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sessions whose samples are those of timers, and sessions that count where the kernel was.
 *
 * How many samples there are is looked at only where time is the count of instructions; see
 * timer_test.c.  What is equal in any case is looked at everywhere.
 */
#include <pthread.h>

#include "session.h"

#define USER		1000
#define RATE		1000	/* samples a second */
#define SESSIONS	4	/* that count one process */

FIXTURE(source) {
	struct view view;
	struct sums sums;
	struct profil_ioc_session args;
	struct profil_ioc_query query;
};

FIXTURE_SETUP(source)
{
	int fd = profil_open();

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, profil_query(fd, &self->query));
	close(fd);
	self->args = session_args();
	self->args.source = PROFIL_SOURCE_TIMER;
	self->args.rate = RATE;
	self->args.jitter = 50;
}

FIXTURE_TEARDOWN(source)
{
}

/* Where timers are no finer than the tick there is no such source. */
#define SKIP_WITHOUT_TIMER(self)							\
	do {									\
		if (!((self)->query.out_session_sources & 1 << PROFIL_SOURCE_TIMER))	\
			SKIP(return, "timers are no finer than the tick");		\
	} while (0)

static double periods_of(const struct rusage *usage)
{
	return (usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * (double)RATE +
	       (usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) * (RATE / 1e6);
}

/*
 * Whether there is one sample in each period: as many more or less as places where a thread
 * begins or ends, each of which the clock and the timer see a little apart.
 */
static bool are_periods(__u64 samples, double periods, unsigned int ends)
{
	double apart = samples > periods ? samples - periods : periods - samples;

	printf("# %llu samples, %g periods\n", samples, periods);
	return !getenv("profil_exact") || apart <= ends + periods / 50;
}

TEST_F(source, samples_are_one_in_each_period_of_cpu_time)
{
	struct rusage usage;
	pid_t pid;

	SKIP_WITHOUT_TIMER(self);
	ASSERT_EQ(0, view_open(&self->view, &self->args));
	CHILD(self->view, pid) {
		burn_ms(400);
		_exit(0);
	}
	wait_none(&self->view);
	ASSERT_EQ(pid, wait4(pid, NULL, 0, &usage));
	ASSERT_TRUE(view_finish(&self->view, &self->sums));
	EXPECT_TRUE(are_periods(self->sums.ticks, periods_of(&usage), 4));
	/* Its end may take longer than all the rest, where the kernel looks for bugs. */
	EXPECT_LT(getenv("profil_exact") ? self->sums.ticks / 2 : TICKS, self->sums.hot);
	EXPECT_EQ(0, self->view.page->not_due);
	view_close(&self->view);
}

/* Each lives shorter than a period. */
TEST_F(source, short_lives_have_their_share)
{
	struct rusage usage;
	pid_t pid, child;
	int i, status;

	SKIP_WITHOUT_TIMER(self);
	self->args.rate = 100;
	ASSERT_EQ(0, view_open(&self->view, &self->args));
	CHILD(self->view, pid) {
		for (i = 0; i < 100; i++) {
			child = fork();
			if (!child) {
				burn_ms(2);
				_exit(0);
			}
			waitpid(child, &status, 0);
		}
		_exit(0);
	}
	wait_none(&self->view);
	ASSERT_EQ(pid, wait4(pid, &status, 0, &usage));
	ASSERT_EQ(0, status);
	ASSERT_TRUE(view_finish(&self->view, &self->sums));
	EXPECT_EQ(102, self->view.page->processes_used);
	/* Chance says which of them have a sample: five deviations of a hundred games. */
	EXPECT_TRUE(are_periods(self->sums.ticks, periods_of(&usage) * self->args.rate / RATE, 25));
	view_close(&self->view);
}

static void *spin_thread(void *unused)
{
	burn_for_ever();
	return unused;
}

/* All of them run already, on all CPUs. */
TEST_F(source, attach_begins_the_timers_of_running_threads)
{
	pthread_t thread;
	pid_t pid;

	SKIP_WITHOUT_TIMER(self);
	ASSERT_EQ(0, view_open(&self->view, &self->args));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		pthread_create(&thread, NULL, spin_thread, NULL);
		burn_for_ever();
	}
	usleep(20000);
	ASSERT_EQ(0, session_attach(self->view.fd, pid));
	wait_hot(&self->view, 5 * TICKS);
	ASSERT_EQ(0, kill(pid, SIGKILL));
	ASSERT_EQ(pid, waitpid(pid, NULL, 0));
	ASSERT_TRUE(view_finish(&self->view, &self->sums));
	view_close(&self->view);
}

TEST_F(source, each_session_has_its_own_rate)
{
	const __u32 rate[SESSIONS] = { 0, 500, 1000, 2000 };
	struct view view[SESSIONS];
	struct sums sums[SESSIONS];
	struct rusage usage;
	pid_t pid;
	size_t i;

	SKIP_WITHOUT_TIMER(self);
	for (i = 0; i < ARRAY_SIZE(view); i++) {
		self->args = session_args();
		self->args.rate = rate[i];
		self->args.source = rate[i] ? PROFIL_SOURCE_TIMER : PROFIL_SOURCE_TICK;
		ASSERT_EQ(0, view_open(&view[i], &self->args));
	}
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		for (i = 0; i < ARRAY_SIZE(view); i++)
			if (session_join(view[i].fd))
				_exit(100);
		burn_ms(300);
		_exit(0);
	}
	ASSERT_EQ(pid, wait4(pid, NULL, 0, &usage));
	for (i = 0; i < ARRAY_SIZE(view); i++) {
		ASSERT_TRUE(view_finish(&view[i], &sums[i]));
		EXPECT_LT(0, sums[i].ticks);
		if (rate[i])
			EXPECT_TRUE(are_periods(sums[i].ticks,
						periods_of(&usage) * rate[i] / RATE, 6));
		view_close(&view[i]);
	}
}

/* The process' own profile has a timer, too, and neither disturbs the other. */
TEST_F(source, own_profile_has_another_timer)
{
	static __u16 counter;
	struct profil_region region = page_region(hot_a, &counter);
	struct profil_ioc_stats stats;
	struct rusage usage;
	int fd, to[2];
	pid_t pid;

	SKIP_WITHOUT_TIMER(self);
	ASSERT_EQ(0, pipe(to));
	ASSERT_EQ(0, view_open(&self->view, &self->args));
	CHILD(self->view, pid) {
		fd = profil_open();
		if (profil_start_timer(fd, &region, 1, 2 * RATE, 0))
			_exit(1);
		burn_ms(300);
		if (profil_stop(fd) || profil_stats(fd, &stats) ||
		    write(to[1], &stats, sizeof(stats)) != sizeof(stats))
			_exit(2);
		_exit(0);
	}
	ASSERT_EQ(sizeof(stats), read(to[0], &stats, sizeof(stats)));
	ASSERT_EQ(pid, wait4(pid, NULL, 0, &usage));
	ASSERT_TRUE(view_finish(&self->view, &self->sums));
	EXPECT_TRUE(are_periods(self->sums.ticks, periods_of(&usage), 4));
	EXPECT_TRUE(are_periods(stats.out_ticks, 2 * periods_of(&usage), 8));
	EXPECT_LT(0, stats.out_ticks);
	close(to[0]);
	close(to[1]);
	view_close(&self->view);
}

TEST_F(source, user_only_leaves_out_samples_of_the_kernel)
{
	char buf[4096];
	pid_t pid;
	int fd;

	SKIP_WITHOUT_TIMER(self);
	self->args.flags = PROFIL_SESSION_F_USER_ONLY;
	ASSERT_EQ(0, view_open(&self->view, &self->args));
	CHILD(self->view, pid) {
		fd = open("/dev/zero", O_RDONLY);
		while (read(fd, buf, sizeof(buf)) > 0)
			;
	}
	wait_ticks(&self->view, 5 * TICKS);
	ASSERT_EQ(0, kill(pid, SIGKILL));
	ASSERT_EQ(pid, waitpid(pid, NULL, 0));
	ASSERT_TRUE(view_finish(&self->view, &self->sums));
	EXPECT_EQ(self->sums.system, self->view.page->not_due);
	EXPECT_LT(0, self->view.page->not_due);
	view_close(&self->view);
}

TEST_F(source, stopped_session_has_no_more_samples)
{
	__u64 ticks;
	pid_t pid;

	SKIP_WITHOUT_TIMER(self);
	self->args.rate = self->query.out_timer_rate_max;
	ASSERT_EQ(0, view_open(&self->view, &self->args));
	CHILD(self->view, pid)
		burn_for_ever();
	wait_ticks(&self->view, TICKS);
	ASSERT_EQ(0, session_stop(&self->view));
	ticks = view_ticks(&self->view);
	usleep(50000);
	EXPECT_EQ(ticks, view_ticks(&self->view));
	ASSERT_EQ(0, kill(pid, SIGKILL));
	ASSERT_EQ(pid, waitpid(pid, NULL, 0));
	view_close(&self->view);
}

/* Timers of members that come and go while others are at the same tables. */
TEST_F(source, timers_end_with_sessions_and_processes)
{
	struct view view;
	pid_t pid, child;
	int i, status;

	SKIP_WITHOUT_TIMER(self);
	self->args.rate = self->query.out_timer_rate_max;
	ASSERT_EQ(0, view_open(&self->view, &self->args));
	CHILD(self->view, pid) {
		for (i = 0; i < 40; i++) {
			if (view_open(&view, &self->args))
				_exit(1);
			child = fork();
			if (!child) {
				if (session_join(view.fd))
					_exit(2);
				view_close(&view);
				burn_ms(1);
				if (i % 4 == 1)
					raise(SIGKILL);
				if (i % 4 == 2)
					execl("/proc/self/exe", "session_source_test", "--true",
					      NULL);
				_exit(0);
			}
			if (i % 4 == 3)
				session_stop(&view);
			view_close(&view);
			waitpid(child, &status, 0);
		}
		_exit(0);
	}
	wait_none(&self->view);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	ASSERT_TRUE(view_finish(&self->view, &self->sums));
	view_close(&self->view);
}

TEST_F(source, arguments_of_a_timer_are_those_of_start)
{
	SKIP_WITHOUT_TIMER(self);
	self->args.jitter = 101;
	EXPECT_EQ(-EINVAL, view_open(&self->view, &self->args));
	self->args.jitter = 100;
	self->args.rate = self->query.out_timer_rate_max + 1;
	EXPECT_EQ(-EOPNOTSUPP, view_open(&self->view, &self->args));
	self->args.rate = 0;
	EXPECT_EQ(-EINVAL, view_open(&self->view, &self->args));
	self->args.rate = 1;
	ASSERT_EQ(0, view_open(&self->view, &self->args));
	view_close(&self->view);
}

TEST_F(source, timers_of_a_session_are_refused_where_query_tells_of_none)
{
	__u32 has = self->query.out_session_sources & 1 << PROFIL_SOURCE_TIMER;
	int ret = view_open(&self->view, &self->args);

	EXPECT_EQ(has ? 0 : -EOPNOTSUPP, ret);
	if (!ret)
		view_close(&self->view);
}

/* ---- where the kernel was */

/* Counts where the kernel was, of a child that is there nearly always. */
static int run_in_kernel(FIXTURE_DATA(source) *self, __u64 *places)
{
	const struct profil_slot *slot;
	char buf[65536];
	__u64 sum = 0;
	pid_t pid;
	__u32 i;
	int fd;

	if (view_open(&self->view, &self->args))
		return -1;
	pid = fork();
	if (!pid) {
		if (session_join(self->view.fd))
			_exit(100);
		fd = open("/dev/zero", O_RDONLY);
		while (read(fd, buf, sizeof(buf)) > 0)
			;
	}
	wait_ticks(&self->view, 5 * TICKS);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	if (!view_finish(&self->view, &self->sums))
		return -1;
	*places = 0;
	for (i = 0; i < self->view.page->slots; i++) {
		slot = view_slot(&self->view, i);
		if (slot->object != PROFIL_OBJECT_KERNEL)
			continue;
		++*places;
		/* The kernel is in the upper half. */
		if (slot->user || !(slot->place >> 63))
			return -1;
		sum += slot->system;
	}
	printf("# %llu places, %llu ticks\n", *places, sum);
	return sum + self->view.page->full_kernel == self->sums.system ? 0 : -1;
}

TEST_F(source, ticks_in_the_kernel_are_also_where_it_was)
{
	__u64 places;

	self->args = session_args();
	self->args.flags = PROFIL_SESSION_F_KERNEL;
	ASSERT_EQ(0, run_in_kernel(self, &places));
	EXPECT_LT(0, places);
	EXPECT_LT(0, self->sums.system);
	EXPECT_EQ(0, self->view.page->full_kernel);
	view_close(&self->view);
}

TEST_F(source, samples_in_the_kernel_are_also_where_it_was)
{
	__u64 places;

	SKIP_WITHOUT_TIMER(self);
	self->args.flags = PROFIL_SESSION_F_KERNEL;
	ASSERT_EQ(0, run_in_kernel(self, &places));
	EXPECT_LT(0, places);
	view_close(&self->view);
}

TEST_F(source, nobody_is_told_where_the_kernel_was_without_asking)
{
	__u64 places = ~0ULL;

	self->args = session_args();
	EXPECT_NE(0, run_in_kernel(self, &places));
	EXPECT_EQ(0, places);
	EXPECT_LT(0, self->sums.system);
	view_close(&self->view);
}

TEST_F(source, kernel_places_need_cap_perfmon)
{
	pid_t pid;

	self->args = session_args();
	self->args.flags = PROFIL_SESSION_F_KERNEL;
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		if (become(USER))
			_exit(100);
		_exit(-view_open(&self->view, &self->args));
	}
	EXPECT_EQ(EPERM, wait_for(pid));
}

/* The image that timers_end_with_sessions_and_processes executes. */
int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--true"))
		return 0;
	return test_harness_run(argc, argv);
}
