// SPDX-License-Identifier: GPL-2.0-only
/* A histogram whose page a program makes itself, and may be late with. */
#include <poll.h>

#include "profil_common.h"

/*
 * A histogram page that does not exist until a handler makes it.  The handler
 * may be a thread of the same process, and may want to STOP first.
 */
FIXTURE(userfault) {
	int fd;
	int uffd;
	bool task_work;
	__u16 *counter;
	struct profil_ioc_stats stats;
};

FIXTURE_SETUP(userfault)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = {
		.range.len = PAGE,
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	struct profil_ioc_query query;

	self->fd = profil_open();
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, profil_query(self->fd, &query));
	self->task_work = query.out_features & PROFIL_FEATURE_TASK_WORK;
	self->counter = page_alloc();
	ASSERT_NE(NULL, self->counter);
	self->uffd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	if (self->uffd < 0)
		SKIP(return, "no userfaultfd: %s", strerror(errno));
	ASSERT_EQ(0, ioctl(self->uffd, UFFDIO_API, &api));
	reg.range.start = UPTR(self->counter);
	ASSERT_EQ(0, ioctl(self->uffd, UFFDIO_REGISTER, &reg));
}

FIXTURE_TEARDOWN(userfault)
{
	close(self->fd);
	close(self->uffd);
}

struct handler {
	int fd;
	int uffd;
	__u16 *counter;
	bool stop_first;
	int stopped;		/* what STOP returned */
	volatile int faults;
	volatile bool end;
};

static void *handler_fn(void *arg)
{
	struct handler *handler = arg;
	struct pollfd pollfd = { .fd = handler->uffd, .events = POLLIN };
	struct uffd_msg msg;

	while (!handler->end) {
		if (poll(&pollfd, 1, 10) != 1 ||
		    read(handler->uffd, &msg, sizeof(msg)) != sizeof(msg))
			continue;
		if (handler->stop_first)
			handler->stopped = profil_stop(handler->fd);
		/* Before whoever waits for the page can look. */
		handler->faults++;
		userfault_resolve(handler->uffd, handler->counter);
	}
	return NULL;
}

/* So many samples in @counter from ticks, of which some find other code. */
static bool burn_until_counted(int fd, const volatile __u16 *counter, __u16 num)
{
	while (*counter < num)
		if (!burn(fd, hot_a, 1))
			return false;
	return true;
}

TEST_F(userfault, page_made_by_a_handler_is_counted_in)
{
	struct handler handler = {
		.fd = self->fd,
		.uffd = self->uffd,
		.counter = self->counter,
	};
	pthread_t thread;

	ASSERT_EQ(0, pthread_create(&thread, NULL, handler_fn, &handler));
	ASSERT_EQ(0, profil_start_page(self->fd, hot_a, self->counter));
	ASSERT_TRUE(burn(self->fd, hot_a, 30));
	if (self->task_work) {
		/* The sample waited for the handler, and that was all. */
		while (!handler.faults)
			hot_a(HOT_ROUNDS);
		ASSERT_TRUE(burn_until_counted(self->fd, self->counter, 9));
		ASSERT_TRUE(settle(self->fd, &self->stats));
		EXPECT_TRUE(none_lost(&self->stats));
	} else {
		/* A worker does not wait, and asks for nothing. */
		do {
			hot_a(HOT_ROUNDS);
			ASSERT_EQ(0, profil_stats(self->fd, &self->stats));
		} while (!self->stats.out_lost_unready);
		EXPECT_EQ(0, handler.faults);
		/* Makes the page, and may see a sample already. */
		(void)*(volatile __u16 *)self->counter;
		ASSERT_TRUE(burn_until_counted(self->fd, self->counter, 9));
	}
	EXPECT_EQ(1, handler.faults);
	ASSERT_TRUE(settle(self->fd, &self->stats));
	ASSERT_EQ(0, profil_stop(self->fd));
	handler.end = true;
	pthread_join(thread, NULL);
	ASSERT_EQ(0, profil_stats(self->fd, &self->stats));
	EXPECT_EQ(self->stats.out_in_range, *self->counter);
	EXPECT_EQ(self->stats.out_lost_unready,
		  lost_before_the_end(&self->stats));
	EXPECT_TRUE(check_identity(&self->stats));
}

TEST_F(userfault, stop_by_the_handler_does_not_wait_for_the_sample)
{
	struct handler handler = {
		.fd = self->fd,
		.uffd = self->uffd,
		.counter = self->counter,
		.stop_first = true,
		.stopped = 1,
	};
	pthread_t thread;

	ASSERT_EQ(0, pthread_create(&thread, NULL, handler_fn, &handler));
	ASSERT_EQ(0, profil_start_page(self->fd, hot_a, self->counter));
	if (self->task_work) {
		while (!handler.faults)
			hot_a(HOT_ROUNDS);
	} else {
		/* Until one waits for the page, or is lost for want of it. */
		do {
			hot_a(HOT_ROUNDS);
			ASSERT_EQ(0, profil_stats(self->fd, &self->stats));
		} while (!self->stats.out_deferred);
	}
	/* By now, or else by this, the handler has been asked. */
	EXPECT_EQ(0, *(volatile __u16 *)self->counter);
	handler.end = true;
	pthread_join(thread, NULL);
	EXPECT_EQ(0, handler.stopped);
	ASSERT_EQ(0, profil_stats(self->fd, &self->stats));
	EXPECT_EQ(PROFIL_STATE_OFF, self->stats.out_state);
	EXPECT_LT(0, self->stats.out_lost_stopped + self->stats.out_lost_unready);
	EXPECT_EQ(0, self->stats.out_in_range);
	EXPECT_EQ(0, self->stats.out_pending);
	EXPECT_TRUE(check_identity(&self->stats));
}

/* STOP of who has not begun it leaves a profile alone, and with it the sample that waits. */
TEST_F(userfault, stop_of_another_loses_no_sample_that_waits)
{
	struct burner burner;
	__u64 former;

	if (!self->task_work)
		SKIP(return, "a worker gives up samples by itself");
	ASSERT_EQ(0, profil_start_page(self->fd, read_loop, page_alloc()));
	ASSERT_EQ(0, profil_stats(self->fd, &self->stats));
	former = self->stats.out_cookie;
	ASSERT_EQ(0, profil_start_page(self->fd, read_loop, self->counter));
	ASSERT_EQ(0, burner_start(&burner, long_call));
	do {
		ASSERT_EQ(0, profil_stats(self->fd, &self->stats));
	} while (!self->stats.out_pending);
	EXPECT_EQ(-ESTALE, stop_cookie(self->fd, former));
	ASSERT_EQ(0, userfault_resolve(self->uffd, self->counter));
	burner_join(&burner);
	ASSERT_TRUE(settle(self->fd, &self->stats));
	EXPECT_TRUE(none_lost(&self->stats));
	EXPECT_LT(0, *self->counter);
	EXPECT_EQ(self->stats.out_in_range, *self->counter);
}

/* Nobody resolves the fault, and yet nothing waits but the thread itself. */
TEST_F(userfault, unresolved_page_does_not_stop_the_others)
{
	struct burner burner;
	struct handler handler = {
		.uffd = self->uffd,
		.counter = self->counter,
	};
	struct pollfd pollfd = { .fd = self->uffd, .events = POLLIN };

	ASSERT_EQ(0, profil_start_page(self->fd, hot_a, self->counter));
	ASSERT_EQ(0, burner_start(&burner, hot_a));
	if (self->task_work) {
		/* The thread's first sample is what makes this readable. */
		ASSERT_EQ(1, poll(&pollfd, 1, -1));
		ASSERT_TRUE(burn(self->fd, hot_b, 20));
		ASSERT_EQ(0, profil_stats(self->fd, &self->stats));
		EXPECT_LT(0, self->stats.out_pending);
	} else {
		ASSERT_TRUE(burn(self->fd, hot_a, 60));
		do {
			hot_a(HOT_ROUNDS);
			ASSERT_EQ(0, profil_stats(self->fd, &self->stats));
		} while (!self->stats.out_lost_unready);
	}
	EXPECT_EQ(0, self->stats.out_in_range);
	EXPECT_EQ(PROFIL_STATE_ON, self->stats.out_state);
	EXPECT_TRUE(check_identity(&self->stats));
	userfault_resolve(handler.uffd, handler.counter);
	ASSERT_TRUE(burn(self->fd, hot_a, 20));
	burner_join(&burner);
	ASSERT_TRUE(profil_finish(self->fd, &self->stats));
	EXPECT_EQ(self->stats.out_in_range, *self->counter);
	EXPECT_LT(0, *self->counter);
}

/* It waits for a page that then is none of the process any more. */
TEST_F(userfault, unmapping_the_histogram_while_a_sample_waits_ends_the_profile)
{
	struct pollfd pollfd = { .fd = self->uffd, .events = POLLIN };
	struct uffdio_range range = {
		.start = UPTR(self->counter),
		.len = PAGE,
	};
	struct burner burner;

	ASSERT_EQ(0, profil_start_page(self->fd, hot_a, self->counter));
	ASSERT_EQ(0, burner_start(&burner, hot_a));
	if (self->task_work)
		ASSERT_EQ(1, poll(&pollfd, 1, -1));
	ASSERT_EQ(0, munmap(self->counter, PAGE));
	do {
		usleep(1000);
		ASSERT_EQ(0, ioctl(self->uffd, UFFDIO_WAKE, &range));
		ASSERT_EQ(0, profil_stats(self->fd, &self->stats));
	} while (self->stats.out_state == PROFIL_STATE_ON);
	EXPECT_EQ(PROFIL_STATE_FAULT, self->stats.out_state);
	EXPECT_EQ(UPTR(self->counter), self->stats.out_fault_addr);
	burner_join(&burner);
	ASSERT_EQ(0, profil_stop(self->fd));
	ASSERT_EQ(0, profil_stats(self->fd, &self->stats));
	EXPECT_LT(0, self->stats.out_lost_fault);
	EXPECT_EQ(0, self->stats.out_lost_denied);
	EXPECT_TRUE(check_identity(&self->stats));
}

TEST_F(userfault, process_whose_sample_waits_can_be_killed)
{
	struct pollfd pollfd = { .events = POLLIN };
	struct burner burner;
	int ready[2];
	pid_t pid;
	char c;

	ASSERT_EQ(0, pipe(ready));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		/* A userfaultfd serves the address space that opened it. */
		self->counter = page_alloc();
		pollfd.fd = userfault_create(self->counter);
		if (!self->counter || pollfd.fd < 0 ||
		    profil_start_page(self->fd, hot_a, self->counter) ||
		    burner_start(&burner, hot_a))
			_exit(1);
		if (self->task_work ? poll(&pollfd, 1, -1) != 1 :
				      !burn(self->fd, hot_a, 20))
			_exit(2);
		if (write(ready[1], "x", 1) != 1)
			_exit(3);
		for (;;)
			pause();
	}
	close(ready[1]);
	ASSERT_EQ(1, read(ready[0], &c, 1));
	ASSERT_EQ(0, kill(pid, SIGKILL));
	EXPECT_EQ(-SIGKILL, wait_for(pid));
}

TEST_HARNESS_MAIN
