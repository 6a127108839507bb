// SPDX-License-Identifier: GPL-2.0-only
/* The program's own signals and timers, and its sleeps, are none of ours. */
#include <poll.h>
#include <sys/epoll.h>
#include <sys/time.h>

#include "profil_common.h"

static volatile sig_atomic_t handled;

static void count_signal(int signal)
{
	(void)signal;
	handled++;
}

FIXTURE_WITH_PAGE(signals)

/* The program's timer of 20 ms of CPU time, and its handler, as it left them. */
static void expect_own_timer(struct __test_metadata *_metadata)
{
	struct sigaction action;
	struct itimerval timer;

	ASSERT_EQ(0, getitimer(ITIMER_PROF, &timer));
	EXPECT_EQ(0, timer.it_interval.tv_sec);
	EXPECT_EQ(20000, timer.it_interval.tv_usec);
	EXPECT_LT(0, timer.it_value.tv_sec * 1000000 + timer.it_value.tv_usec);
	ASSERT_EQ(0, sigaction(SIGPROF, NULL, &action));
	EXPECT_TRUE(action.sa_handler == count_signal);
}

TEST_F(signals, own_sigprof_timer_keeps_working)
{
	const struct itimerval every = {
		.it_interval.tv_usec = 20000,
		.it_value.tv_usec = 20000,
	};
	const struct sigaction action = { .sa_handler = count_signal };
	int before;

	ASSERT_EQ(0, sigaction(SIGPROF, &action, NULL));
	ASSERT_EQ(0, setitimer(ITIMER_PROF, &every, NULL));
	ASSERT_EQ(0, profil_start_page(self->fd, hot_a, self->counter));
	expect_own_timer(_metadata);
	while (handled < 5)
		ASSERT_TRUE(burn(self->fd, hot_a, 1));
	expect_own_timer(_metadata);
	ASSERT_TRUE(profil_finish(self->fd, &self->stats));
	expect_own_timer(_metadata);
	EXPECT_EQ(self->stats.out_in_range, *self->counter);
	/* And goes on without us. */
	before = handled;
	while (handled < before + 5)
		hot_a(HOT_ROUNDS);
}

TEST_F(signals, no_handler_is_run_and_no_timer_set)
{
	struct itimerval timer;
	sigset_t pending, all;

	/* All blocked: what came would be seen waiting. */
	sigfillset(&all);
	ASSERT_EQ(0, sigprocmask(SIG_BLOCK, &all, NULL));
	ASSERT_EQ(0, profil_start_page(self->fd, hot_a, self->counter));
	ASSERT_TRUE(burn(self->fd, hot_a, 50));
	ASSERT_EQ(0, sigpending(&pending));
	EXPECT_TRUE(sigisemptyset(&pending));
	ASSERT_EQ(0, getitimer(ITIMER_PROF, &timer));
	EXPECT_EQ(0, timer.it_interval.tv_usec);
	EXPECT_EQ(0, timer.it_value.tv_usec);
}

/*
 * Sleeps with a sample to be delivered.  A tick that comes while the call is
 * on its way to sleep leaves one behind, and what asks the thread to deliver
 * it must not wake it up.
 */
enum call {
	CALL_POLL,
	CALL_EPOLL,
	CALL_NANOSLEEP,
	CALL_READ,
};

FIXTURE(sleep) {
	int fd;
	int epoll;
	int pipe[2];
	__u16 *counter;
	struct pollfd pollfds[1000];
};

FIXTURE_VARIANT(sleep) {
	enum call call;
};

FIXTURE_VARIANT_ADD(sleep, poll) {
	.call = CALL_POLL,
};

FIXTURE_VARIANT_ADD(sleep, epoll_wait) {
	.call = CALL_EPOLL,
};

FIXTURE_VARIANT_ADD(sleep, nanosleep) {
	.call = CALL_NANOSLEEP,
};

FIXTURE_VARIANT_ADD(sleep, read) {
	.call = CALL_READ,
};

FIXTURE_SETUP(sleep)
{
	struct epoll_event event = { .events = EPOLLIN };
	size_t i;

	ASSERT_OPEN_WITH_PAGE(self->fd, self->counter);
	ASSERT_EQ(0, pipe(self->pipe));
	self->epoll = epoll_create1(EPOLL_CLOEXEC);
	ASSERT_LE(0, self->epoll);
	ASSERT_EQ(0, epoll_ctl(self->epoll, EPOLL_CTL_ADD, self->pipe[0],
			       &event));
	/* So many that a tick among the questions is likely. */
	for (i = 0; i < ARRAY_SIZE(self->pollfds); i++) {
		self->pollfds[i].fd = self->pipe[0];
		self->pollfds[i].events = POLLIN;
	}
}

FIXTURE_TEARDOWN(sleep)
{
	close(self->fd);
}

/* Wakes the reader of the pipe, which is asleep by then. */
static void *writer_fn(void *arg)
{
	int fd = *(int *)arg;

	const struct timespec ts = { .tv_nsec = 20000 };

	prctl(PR_SET_TIMERSLACK, 1);
	while (write(fd, "x", 1) == 1)
		nanosleep(&ts, NULL);
	return NULL;
}

/* What the call returned where it slept as it should: 0. */
static int sleep_in(FIXTURE_DATA(sleep) *self, enum call call, int i)
{
	/* Mostly too short to sleep at all: ticks find the thread in the call. */
	const struct timespec ts = { .tv_nsec = i % 8 ? 1 : 20000 };
	struct epoll_event event;
	char c;

	switch (call) {
	case CALL_POLL:
		return ppoll(self->pollfds, ARRAY_SIZE(self->pollfds), &ts,
			     NULL);
	case CALL_EPOLL:
		return epoll_pwait2(self->epoll, &event, 1, &ts, NULL);
	case CALL_NANOSLEEP:
		return nanosleep(&ts, NULL);
	case CALL_READ:
		return read(self->pipe[0], &c, 1) - 1;
	}
	return -1;
}

TEST_F(sleep, is_not_interrupted)
{
	struct profil_region region = any_region(self->counter);
	int i, interrupted = 0, other = 0;
	struct profil_ioc_stats stats = { 0 };
	pthread_t writer;

	if (variant->call == CALL_EPOLL && sleep_in(self, CALL_EPOLL, 1))
		SKIP(return, "this kernel has no epoll_pwait2()");
	if (variant->call == CALL_READ)
		ASSERT_EQ(0, pthread_create(&writer, NULL, writer_fn,
					    &self->pipe[1]));
	ASSERT_EQ(0, prctl(PR_SET_TIMERSLACK, 1));
	ASSERT_EQ(0, profil_start(self->fd, &region, 1));
	/* Until there were ticks in the calls, however long that takes. */
	for (i = 0; stats.out_deferred < 30; i++) {
		if (sleep_in(self, variant->call, i)) {
			interrupted += errno == EINTR;
			other += errno != EINTR;
		}
		if (i % 16 == 0)
			ASSERT_EQ(0, profil_stats(self->fd, &stats));
	}
	printf("# %d calls\n", i);
	EXPECT_EQ(0, interrupted);
	EXPECT_EQ(0, other);
	EXPECT_TRUE(check_identity(&stats));
}

TEST_HARNESS_MAIN
