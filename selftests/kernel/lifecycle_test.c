// SPDX-License-Identifier: GPL-2.0-only
/* Whose profile it is, and when it ends: threads, fork, exec, kill, munmap. */
#include <sched.h>
#include <sys/socket.h>

#include "profil_common.h"

#define LIMIT_FILE	"/sys/module/profil/parameters/max_profiles_user"

FIXTURE_WITH_PAGE(lifecycle)

/* Ends the profile; every count of it must be in @counter. */
static void expect_all_in(struct __test_metadata *_metadata,
			  FIXTURE_DATA(lifecycle) *self, __u16 *counter)
{
	ASSERT_TRUE(profil_finish(self->fd, &self->stats));
	EXPECT_EQ(self->stats.out_in_range, *counter);
}

/* More than a fork takes, on a slow machine with a kernel that looks for bugs. */
#define MANY_TICKS	500

/*
 * In a forked child: counts @ticks in its copy of @counter.  0 if the copy grew
 * by what the child's own statistics say, and they began at nothing.
 */
static int count_in_child(int fd, volatile __u16 *counter, __u64 ticks)
{
	struct profil_ioc_stats stats;
	__u16 base;

	if (profil_stats(fd, &stats) || stats.out_ticks > MANY_TICKS / 2 ||
	    stats.out_state != PROFIL_STATE_ON)
		return 1;
	if (!settle(fd, &stats))
		return 2;
	/* Where the child began; a tick in between would show in in_range. */
	do {
		base = *counter - stats.out_in_range;
		if (profil_stats(fd, &stats))
			return 3;
	} while ((__u16)(*counter - stats.out_in_range) != base ||
		 stats.out_pending);
	if (!burn(fd, hot_a, ticks))
		return 4;
	if (!profil_finish(fd, &stats) || lost_before_the_end(&stats))
		return 5;
	if ((__u16)(*counter - base) != stats.out_in_range)
		return 6;
	return stats.out_in_range < ticks / 3 ? 7 : 0;
}

TEST_F(lifecycle, forked_child_counts_from_zero_in_its_own_copy)
{
	__u64 ticks;
	pid_t pid;

	ASSERT_EQ(0, profil_start_page(self->fd, hot_a, self->counter));
	ASSERT_TRUE(burn(self->fd, hot_a, MANY_TICKS));
	ASSERT_EQ(0, profil_stats(self->fd, &self->stats));
	ticks = self->stats.out_ticks;
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		_exit(count_in_child(self->fd, self->counter, MANY_TICKS));
	EXPECT_EQ(0, wait_for(pid));
	ASSERT_EQ(0, profil_stats(self->fd, &self->stats));
	EXPECT_EQ(PROFIL_STATE_ON, self->stats.out_state);
	/* None of the child's is among the parent's. */
	EXPECT_GT(ticks + MANY_TICKS / 2, self->stats.out_ticks);
	ASSERT_TRUE(burn(self->fd, hot_a, 10));
	expect_all_in(_metadata, self, self->counter);
	EXPECT_EQ(0, self->stats.out_forks_missed);
}

TEST_F(lifecycle, grandchildren_are_profiled_too)
{
	pid_t pid;

	ASSERT_EQ(0, profil_start_page(self->fd, hot_a, self->counter));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		pid = fork();
		if (!pid)
			_exit(count_in_child(self->fd, self->counter, 20));
		_exit(pid < 0 || wait_for(pid));
	}
	EXPECT_EQ(0, wait_for(pid));
}

TEST_F(lifecycle, stop_in_the_child_leaves_the_parent_on)
{
	pid_t pid;

	ASSERT_EQ(0, profil_start_page(self->fd, hot_a, self->counter));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		_exit(-profil_stop(self->fd));
	EXPECT_EQ(0, wait_for(pid));
	ASSERT_TRUE(burn(self->fd, hot_a, 10));
	expect_all_in(_metadata, self, self->counter);
	EXPECT_LT(2, *self->counter);
}

TEST_F(lifecycle, child_of_a_stopped_profile_is_off)
{
	struct profil_ioc_stats stats;
	pid_t pid;

	ASSERT_EQ(0, profil_start_page(self->fd, hot_a, self->counter));
	ASSERT_EQ(0, profil_stop(self->fd));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		burn_uncounted(self->fd, hot_a, 5);
		/* Whether a record of it is kept or not: nothing is counted. */
		if (!profil_stats(self->fd, &stats) &&
		    (stats.out_state != PROFIL_STATE_OFF || stats.out_ticks))
			_exit(1);
		_exit(*self->counter != 0 ||
		      profil_start_page(self->fd, hot_a, self->counter) ||
		      !burn(self->fd, hot_a, 5));
	}
	EXPECT_EQ(0, wait_for(pid));
}

/* In a forked child: 0 if it is not profiled, and neither is a child of it. */
static int expect_unprofiled(int fd, const __u16 *counter)
{
	struct profil_ioc_stats stats;
	pid_t pid;

	if (profil_stats(fd, &stats) != -ENOENT)
		return 1;
	burn_uncounted(fd, hot_a, 5);
	if (profil_stats(fd, &stats) != -ENOENT || counter[0])
		return 2;
	pid = fork();
	if (!pid)
		_exit(profil_stats(fd, &stats) == -ENOENT ? 0 : 1);
	if (pid < 0 || wait_for(pid))
		return 3;
	/* It may be, on its own account, and its own children with it. */
	if (profil_start_page(fd, hot_a, (void *)counter) ||
	    !burn(fd, hot_a, 5))
		return 4;
	pid = fork();
	if (!pid)
		_exit(burn(fd, hot_a, 5) ? 0 : 1);
	return pid < 0 || wait_for(pid) ? 5 : 0;
}

TEST_F(lifecycle, noinherit_means_no_child_and_all_threads)
{
	struct profil_region regions[] = {
		page_region(hot_a, self->counter),
		page_region(hot_b, self->counter + 1),
	};
	struct burner burner;
	pid_t pid;

	ASSERT_EQ(0, profil_start_flags(self->fd, regions, 2, PROFIL_START_F_NOINHERIT));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		_exit(expect_unprofiled(self->fd, self->counter));
	EXPECT_EQ(0, wait_for(pid));
	ASSERT_EQ(0, burner_start(&burner, hot_b));
	do {
		ASSERT_TRUE(burn(self->fd, hot_a, 10));
	} while (!*(volatile __u16 *)(self->counter + 1));
	burner_join(&burner);
	ASSERT_TRUE(profil_finish(self->fd, &self->stats));
	EXPECT_TRUE(none_lost_before_the_end(&self->stats));
	EXPECT_EQ(self->stats.out_in_range, self->counter[0] + self->counter[1]);
	EXPECT_EQ(0, self->stats.out_forks_missed);
}

/* What runs after exec: 0 if no profile came along. */
static int executed_image(void)
{
	struct profil_ioc_stats stats;
	int fd = profil_open();

	if (fd < 0)
		return 1;
	if (profil_stats(fd, &stats) != -ENOENT)
		return 2;
	burn_uncounted(fd, hot_a, 20);
	if (profil_stats(fd, &stats) != -ENOENT)
		return 3;
	return find_anchor(NULL) ? 4 : 0;
}

static void exec_self(void)
{
	execl("/proc/self/exe", "lifecycle_test", "--executed", NULL);
	_exit(100);
}

TEST_F(lifecycle, executed_image_is_not_profiled_and_survives)
{
	struct burner burners[3];
	pid_t pid;
	size_t j;
	int i;

	/* Every tick, so that some are pending when exec takes the memory. */
	ASSERT_EQ(0, profil_start_page(self->fd, hot_a, self->counter));
	for (i = 0; i < 15; i++) {
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid) {
			/* Every third has threads that count, and its own profile. */
			for (j = 0; i % 3 == 2 && j < ARRAY_SIZE(burners); j++)
				if (burner_start(&burners[j], hot_a))
					_exit(101);
			if (i % 3 == 2 &&
			    profil_start_page(self->fd, hot_a, self->counter))
				_exit(102);
			if (!burn(self->fd, hot_a, 5))
				_exit(103);
			exec_self();
		}
		EXPECT_EQ(0, wait_for(pid));
	}
	ASSERT_TRUE(burn(self->fd, hot_a, 5));
	expect_all_in(_metadata, self, self->counter);
}

struct shared_child {
	int fd;
	bool counted;
};

static int shared_child_fn(void *arg)
{
	struct shared_child *child = arg;

	child->counted = burn(child->fd, hot_a, 20);
	return 0;
}

TEST_F(lifecycle, child_that_shares_the_memory_shares_the_profile)
{
	static const int flags[] = { CLONE_VM | CLONE_VFORK, CLONE_VM };
	struct shared_child child = { .fd = self->fd };
	__u64 ticks;
	char *stack;
	size_t i;
	pid_t pid;

	stack = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	ASSERT_NE(MAP_FAILED, stack);
	ASSERT_EQ(0, profil_start_page(self->fd, hot_a, self->counter));
	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		child.counted = false;
		ASSERT_EQ(0, profil_stats(self->fd, &self->stats));
		ticks = self->stats.out_ticks;
		pid = clone(shared_child_fn, stack + 16 * PAGE,
			    flags[i] | SIGCHLD, &child);
		ASSERT_LE(0, pid);
		EXPECT_EQ(0, wait_for(pid));
		EXPECT_TRUE(child.counted);
		ASSERT_EQ(0, profil_stats(self->fd, &self->stats));
		EXPECT_EQ(PROFIL_STATE_ON, self->stats.out_state);
		EXPECT_LE(ticks + 20, self->stats.out_ticks);
	}
	expect_all_in(_metadata, self, self->counter);
	EXPECT_LT(15, *self->counter);
}

TEST_F(lifecycle, threads_of_before_and_after_start_are_profiled)
{
	__u16 *counters = self->counter;
	struct profil_region regions[] = {
		page_region(hot_a, counters),
		page_region(hot_b, counters + 1),
	};
	struct burner before, after;

	ASSERT_EQ(0, burner_start(&before, hot_a));
	ASSERT_EQ(0, profil_start(self->fd, regions, 2));
	ASSERT_EQ(0, burner_start(&after, hot_b));
	while (*(volatile __u16 *)counters < 10 ||
	       *(volatile __u16 *)(counters + 1) < 10)
		hot_c(HOT_ROUNDS);
	burner_join(&before);
	burner_join(&after);
	ASSERT_TRUE(profil_finish(self->fd, &self->stats));
	EXPECT_EQ(self->stats.out_in_range, counters[0] + counters[1]);
	EXPECT_EQ(0, self->stats.out_lost_full);
}

/* Threads that come and go by the hundred leave no sample behind. */
TEST_F(lifecycle, samples_of_ended_threads_are_accounted_for)
{
	struct burner burners[4];
	size_t j;
	int i;

	ASSERT_EQ(0, profil_start_page(self->fd, hot_a, self->counter));
	for (i = 0; i < 30; i++) {
		for (j = 0; j < ARRAY_SIZE(burners); j++)
			ASSERT_EQ(0, burner_start(&burners[j], hot_a));
		ASSERT_TRUE(burn(self->fd, hot_a, 2));
		for (j = 0; j < ARRAY_SIZE(burners); j++)
			burner_join(&burners[j]);
	}
	expect_all_in(_metadata, self, self->counter);
	EXPECT_EQ(0, self->stats.out_pending);
	EXPECT_EQ(0, self->stats.out_lost_full);
	EXPECT_EQ(self->stats.out_lost_exit, lost_before_the_end(&self->stats));
}

/* In a forked child: counts into the first page of @file until it is killed. */
static void count_until_killed(int fd, int file, void (*others)(unsigned long))
{
	__u16 *counter = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED,
			      file, 0);
	struct burner burners[4];
	size_t j;

	if (counter == MAP_FAILED)
		_exit(1);
	for (j = 0; j < ARRAY_SIZE(burners); j++)
		if (burner_start(&burners[j], others))
			_exit(2);
	if (profil_start_page(fd, hot_a, counter))
		_exit(3);
	for (;;)
		hot_a(HOT_ROUNDS);
}

static __u16 counted(int file)
{
	__u16 count = 0;

	return pread(file, &count, sizeof(count), 0) == sizeof(count) ? count : 0;
}

TEST_F(lifecycle, killed_process_with_threads_just_ends)
{
	int i, polls, file;
	__u16 count;
	pid_t pid;

	for (i = 0; i < 10; i++) {
		file = memfd_create("histogram", MFD_CLOEXEC | MFD_ALLOW_SEALING);
		ASSERT_LE(0, file);
		ASSERT_EQ(0, ftruncate(file, PAGE));
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid)
			count_until_killed(self->fd, file, i & 1 ? hot_a : hot_b);
		while (counted(file) < 3)
			sched_yield();
		ASSERT_EQ(0, kill(pid, SIGKILL));
		EXPECT_EQ(-SIGKILL, wait_for(pid));
		/*
		 * A worker that is amid a delivery keeps the address space for
		 * so long; while anybody can write to the file, this fails.
		 */
		for (polls = 0; fcntl(file, F_ADD_SEALS, F_SEAL_WRITE); polls++) {
			ASSERT_EQ(EBUSY, errno);
			ASSERT_GT(20000, polls);
			usleep(500);
		}
		count = counted(file);
		burn_uncounted(self->fd, hot_a, 2);
		EXPECT_EQ(count, counted(file));
		close(file);
	}
}

TEST_F(lifecycle, there_is_one_anchor_and_it_cannot_be_used)
{
	unsigned long anchor;
	int i, num;

	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, profil_start_page(self->fd, hot_a, self->counter));
	anchor = find_anchor(&num);
	EXPECT_EQ(1, num);
	EXPECT_EQ(-1, mprotect((void *)anchor, PAGE, PROT_READ));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(-1, mprotect((void *)anchor, PAGE, PROT_READ | PROT_WRITE));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(MAP_FAILED, mremap((void *)anchor, PAGE, 2 * PAGE,
				     MREMAP_MAYMOVE));
	ASSERT_TRUE(burn(self->fd, hot_a, 5));
	EXPECT_EQ(anchor, find_anchor(&num));
	EXPECT_EQ(1, num);
}

/* The profile is gone, its memory is at rest, and another can be had. */
static void expect_gone(struct __test_metadata *_metadata,
			FIXTURE_DATA(lifecycle) *self)
{
	__u16 was = *self->counter;

	EXPECT_EQ(-ENOENT, profil_stats(self->fd, &self->stats));
	burn_uncounted(self->fd, hot_a, 5);
	EXPECT_EQ(was, *self->counter);
	EXPECT_EQ(0, profil_stop(self->fd));
	*self->counter = 0;
	ASSERT_EQ(0, profil_start_page(self->fd, hot_a, self->counter));
	ASSERT_TRUE(burn(self->fd, hot_a, 5));
	expect_all_in(_metadata, self, self->counter);
}

/* What tells an anchor from memory that is at its address by now. */
static bool is_anchor(__u64 at)
{
	void *page = (void *)(uintptr_t)at;

	return madvise(page, PAGE, MADV_COLD) && errno == EINVAL &&
	       !msync(page, PAGE, MS_INVALIDATE);
}

TEST_F(lifecycle, start_tells_where_the_anchor_is)
{
	void *elsewhere = page_alloc();
	__u64 anchor, child;
	pid_t pid;
	int num;

	ASSERT_NE(NULL, elsewhere);
	anchor = profil_start_anchor(self->fd, hot_a, self->counter);
	EXPECT_EQ(find_anchor(&num), anchor);
	EXPECT_EQ(1, num);
	EXPECT_TRUE(is_anchor(anchor));
	EXPECT_EQ(anchor, profil_start_anchor(self->fd, hot_a, self->counter));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		child = profil_start_anchor(self->fd, hot_a, self->counter);
		if (child != find_anchor(&num) || num != 1)
			_exit(1);
		if (munmap((void *)(uintptr_t)child, PAGE))
			_exit(2);
		if (profil_stats(self->fd, &self->stats) != -ENOENT || find_anchor(NULL))
			_exit(3);
		_exit(0);
	}
	EXPECT_EQ(0, wait_for(pid));
	ASSERT_EQ(0, profil_stats(self->fd, &self->stats));
	EXPECT_EQ(PROFIL_STATE_ON, self->stats.out_state);
	ASSERT_EQ(elsewhere, mremap((void *)(uintptr_t)anchor, PAGE, PAGE,
				    MREMAP_MAYMOVE | MREMAP_FIXED, elsewhere));
	EXPECT_EQ(UPTR(elsewhere), profil_start_anchor(self->fd, hot_a, self->counter));
	EXPECT_TRUE(is_anchor(UPTR(elsewhere)));
	ASSERT_TRUE(burn(self->fd, hot_a, 5));
	ASSERT_EQ(0, munmap(elsewhere, PAGE));
	EXPECT_EQ(0, find_anchor(NULL));
	expect_gone(_metadata, self);
}

/* Also while all memory is locked, which the anchor is not. */
TEST_F(lifecycle, nothing_but_an_anchor_looks_like_one)
{
	void *page = page_alloc(), *reserved;
	int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	void *mapped = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, file, 0);
	int locked;

	ASSERT_NE(NULL, page);
	ASSERT_NE(MAP_FAILED, mapped);
	close(file);
	for (locked = 0; locked < 2; locked++) {
		if (locked)
			ASSERT_EQ(0, mlockall(MCL_CURRENT | MCL_FUTURE));
		reserved = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		ASSERT_NE(MAP_FAILED, reserved);
		EXPECT_TRUE(is_anchor(profil_start_anchor(self->fd, hot_a, self->counter)));
		EXPECT_FALSE(is_anchor(UPTR(page)));
		EXPECT_FALSE(is_anchor(UPTR(mapped)));
		EXPECT_FALSE(is_anchor(UPTR(reserved)));
		EXPECT_FALSE(is_anchor(UPTR(hot_a)));
		ASSERT_EQ(0, munmap((void *)find_anchor(NULL), PAGE));
		ASSERT_EQ(0, munmap(reserved, PAGE));
		EXPECT_FALSE(is_anchor(UPTR(reserved)));
	}
	ASSERT_EQ(0, munlockall());
}

TEST_F(lifecycle, unmapping_the_anchor_ends_the_profile)
{
	ASSERT_EQ(0, profil_start_page(self->fd, hot_a, self->counter));
	ASSERT_TRUE(burn(self->fd, hot_a, 5));
	ASSERT_EQ(0, munmap((void *)find_anchor(NULL), PAGE));
	expect_gone(_metadata, self);
}

TEST_F(lifecycle, mapping_over_the_anchor_ends_the_profile)
{
	void *anchor;

	ASSERT_EQ(0, profil_start_page(self->fd, hot_a, self->counter));
	ASSERT_TRUE(burn(self->fd, hot_a, 5));
	anchor = (void *)find_anchor(NULL);
	ASSERT_EQ(anchor, mmap(anchor, PAGE, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
	expect_gone(_metadata, self);
}

TEST_F(lifecycle, moving_the_anchor_ends_nothing_or_everything)
{
	void *elsewhere = page_alloc();
	int num;

	ASSERT_NE(NULL, elsewhere);
	ASSERT_EQ(0, profil_start_page(self->fd, hot_a, self->counter));
	ASSERT_TRUE(burn(self->fd, hot_a, 5));
	mremap((void *)find_anchor(NULL), PAGE, PAGE,
	       MREMAP_MAYMOVE | MREMAP_FIXED, elsewhere);
	find_anchor(&num);
	EXPECT_GE(1, num);
	if (profil_stats(self->fd, &self->stats)) {
		expect_gone(_metadata, self);
		return;
	}
	ASSERT_EQ(1, num);
	ASSERT_TRUE(burn(self->fd, hot_a, 10));
	/* Wherever it is now, it still is the anchor. */
	ASSERT_EQ(0, munmap((void *)find_anchor(NULL), PAGE));
	expect_gone(_metadata, self);
}

TEST_F(lifecycle, profile_needs_no_descriptor)
{
	ASSERT_EQ(0, profil_start_page(self->fd, hot_a, self->counter));
	ASSERT_EQ(0, close(self->fd));
	while (*(volatile __u16 *)self->counter < 10)
		hot_a(HOT_ROUNDS);
	self->fd = profil_open();
	ASSERT_LE(0, self->fd);
	expect_all_in(_metadata, self, self->counter);
	EXPECT_LE(10, self->stats.out_in_range);
}

static int send_fd(int socket, int fd)
{
	char data = 'x', control[CMSG_SPACE(sizeof(fd))] = { 0 };
	struct iovec iov = { .iov_base = &data, .iov_len = 1 };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);

	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(cmsg), &fd, sizeof(fd));
	return sendmsg(socket, &msg, 0) == 1 ? 0 : -1;
}

static int receive_fd(int socket)
{
	char data, control[CMSG_SPACE(sizeof(int))];
	struct iovec iov = { .iov_base = &data, .iov_len = 1 };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *cmsg;
	int fd;

	if (recvmsg(socket, &msg, 0) != 1)
		return -1;
	cmsg = CMSG_FIRSTHDR(&msg);
	if (!cmsg || cmsg->cmsg_type != SCM_RIGHTS)
		return -1;
	memcpy(&fd, CMSG_DATA(cmsg), sizeof(fd));
	return fd;
}

TEST_F(lifecycle, passed_descriptor_acts_on_its_caller)
{
	struct profil_ioc_stats stats;
	int sockets[2], fd;
	pid_t pid;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
	/* Before the parent has a profile, so that the child inherits none. */
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		close(self->fd);
		fd = receive_fd(sockets[1]);
		if (fd < 0)
			_exit(1);
		if (profil_stats(fd, &stats) != -ENOENT)
			_exit(2);
		if (profil_start_page(fd, hot_a, self->counter) ||
		    !burn(fd, hot_a, 10))
			_exit(3);
		if (profil_stop(fd) || profil_stats(fd, &stats) ||
		    stats.out_in_range != *self->counter)
			_exit(4);
		_exit(0);
	}
	ASSERT_EQ(0, profil_start_page(self->fd, hot_b, self->counter));
	ASSERT_EQ(0, send_fd(sockets[0], self->fd));
	EXPECT_EQ(0, wait_for(pid));
	ASSERT_EQ(0, profil_stats(self->fd, &self->stats));
	EXPECT_EQ(PROFIL_STATE_ON, self->stats.out_state);
	ASSERT_TRUE(burn(self->fd, hot_b, 5));
	expect_all_in(_metadata, self, self->counter);
}

struct starter {
	int fd;
	__u16 *counter;
	pthread_barrier_t *barrier;
	int failed;
};

static void *starter_fn(void *arg)
{
	struct starter *starter = arg;
	int i;

	for (i = 0; i < 200; i++) {
		pthread_barrier_wait(starter->barrier);
		if (profil_start_page(starter->fd, hot_a, starter->counter))
			starter->failed++;
		pthread_barrier_wait(starter->barrier);
	}
	return NULL;
}

TEST_F(lifecycle, two_threads_start_at_once_and_one_profile_is_left)
{
	struct starter starters[2];
	pthread_barrier_t barrier;
	pthread_t threads[2];
	unsigned long anchor;
	int i, num;

	ASSERT_EQ(0, pthread_barrier_init(&barrier, NULL, 3));
	for (i = 0; i < 2; i++) {
		starters[i] = (struct starter){
			.fd = self->fd,
			.counter = self->counter + i,
			.barrier = &barrier,
		};
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, starter_fn,
					    &starters[i]));
	}
	for (i = 0; i < 200; i++) {
		/* No anchor when they begin, so that both have to map one. */
		anchor = find_anchor(&num);
		EXPECT_GE(1, num);
		if (anchor)
			munmap((void *)anchor, PAGE);
		pthread_barrier_wait(&barrier);
		/* Nobody unmaps it under START's hands. */
		pthread_barrier_wait(&barrier);
	}
	for (i = 0; i < 2; i++) {
		pthread_join(threads[i], NULL);
		EXPECT_EQ(0, starters[i].failed);
	}
	ASSERT_EQ(0, profil_start_page(self->fd, hot_a, self->counter));
	find_anchor(&num);
	EXPECT_EQ(1, num);
	ASSERT_TRUE(burn(self->fd, hot_a, 3));
	ASSERT_EQ(0, profil_stop(self->fd));
	ASSERT_EQ(0, profil_stats(self->fd, &self->stats));
	EXPECT_TRUE(check_identity(&self->stats));
}

struct unmapper {
	volatile bool stop;
	unsigned long done;
};

static void *unmapper_fn(void *arg)
{
	struct unmapper *unmapper = arg;
	unsigned long anchor;

	while (!unmapper->stop) {
		anchor = find_anchor(NULL);
		if (anchor && !munmap((void *)anchor, PAGE))
			unmapper->done++;
	}
	return NULL;
}

TEST_F(lifecycle, start_against_munmap_of_the_anchor_succeeds_or_says_again)
{
	struct unmapper unmapper = { .stop = false };
	unsigned long started = 0;
	pthread_t thread;
	int ret;

	ASSERT_EQ(0, pthread_create(&thread, NULL, unmapper_fn, &unmapper));
	while (started < 300 || *(volatile unsigned long *)&unmapper.done < 20) {
		ret = profil_start_page(self->fd, hot_a, self->counter);
		EXPECT_TRUE(!ret || ret == -EAGAIN)
			TH_LOG("START: %d", ret);
		started += !ret;
		hot_a(HOT_ROUNDS / 10);
		ret = profil_stop(self->fd);
		EXPECT_EQ(0, ret);
	}
	unmapper.stop = true;
	pthread_join(thread, NULL);
	ASSERT_EQ(0, profil_start_page(self->fd, hot_a, self->counter));
	ASSERT_TRUE(burn(self->fd, hot_a, 3));
}

/*
 * Off means off.  Other threads hit the counter on every tick, and once STOP
 * or a replacing START has returned, the memory is the program's again.
 */
enum end {
	END_STOP,
	END_REPLACE,
};

static int end_profile(int fd, enum end end, void *other)
{
	return end == END_STOP ? profil_stop(fd) :
				 profil_start_page(fd, hot_b, other);
}

FIXTURE(off) {
	int fd;
	__u16 *counters[2];
	struct burner burners[3];
};

FIXTURE_VARIANT(off) {
	enum end end;
};

FIXTURE_VARIANT_ADD(off, by_stop) {
	.end = END_STOP,
};

FIXTURE_VARIANT_ADD(off, by_replacement) {
	.end = END_REPLACE,
};

FIXTURE_SETUP(off)
{
	size_t i;

	self->fd = profil_open();
	ASSERT_LE(0, self->fd);
	self->counters[0] = page_alloc();
	self->counters[1] = page_alloc();
	ASSERT_NE(NULL, self->counters[0]);
	ASSERT_NE(NULL, self->counters[1]);
	for (i = 0; i < ARRAY_SIZE(self->burners); i++)
		ASSERT_EQ(0, burner_start(&self->burners[i], hot_a));
}

FIXTURE_TEARDOWN(off)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(self->burners); i++)
		burner_join(&self->burners[i]);
	close(self->fd);
}

TEST_F(off, means_that_the_memory_stays_as_it_is)
{
	__u16 *was = self->counters[1], *now;
	struct profil_ioc_stats stats;
	size_t j;
	int i;

	memset(was, 0xa5, PAGE);
	for (i = 0; i < 80; i++) {
		now = self->counters[i & 1];
		/*
		 * A page that is not there yet: the first samples go the
		 * longer way, by a fault.
		 */
		ASSERT_EQ(0, madvise(now, PAGE, MADV_DONTNEED));
		ASSERT_EQ(0, profil_start_page(self->fd, hot_a, now));
		ASSERT_TRUE(burn(self->fd, hot_a, 2));
		ASSERT_EQ(0, end_profile(self->fd, variant->end, was));
		memset(now, 0xa5, PAGE);
		burn_uncounted(self->fd, hot_c, 1);
		for (j = 0; j < PAGE / 2; j++)
			ASSERT_EQ(0xa5a5, now[j]);
		if (variant->end == END_STOP)
			for (j = 0; j < PAGE / 2; j++)
				ASSERT_EQ(0xa5a5, was[j]);
		was = now;
	}
	ASSERT_EQ(0, profil_stop(self->fd));
	ASSERT_EQ(0, profil_stats(self->fd, &stats));
	EXPECT_TRUE(check_identity(&stats));
}

TEST_F(off, means_that_the_memory_may_be_given_back)
{
	__u16 *counter = self->counters[0], *other = self->counters[1];
	struct profil_ioc_stats stats;
	int i;

	for (i = 0; i < 60; i++) {
		ASSERT_EQ(0, profil_start_page(self->fd, hot_a, counter));
		ASSERT_TRUE(burn(self->fd, hot_a, 2));
		ASSERT_EQ(0, end_profile(self->fd, variant->end, other));
		/* A late write would find nothing, or what is there next. */
		ASSERT_EQ(0, munmap(counter, PAGE));
		ASSERT_EQ(counter, mmap(counter, PAGE, PROT_READ | PROT_WRITE,
					MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
					-1, 0));
		burn_uncounted(self->fd, hot_c, 1);
		ASSERT_EQ(0, *counter);
		ASSERT_EQ(0, profil_stats(self->fd, &stats));
		ASSERT_NE(PROFIL_STATE_FAULT, stats.out_state);
	}
	ASSERT_EQ(0, profil_stop(self->fd));
	ASSERT_EQ(0, profil_stats(self->fd, &stats));
	EXPECT_EQ(0, stats.out_lost_fault);
	EXPECT_TRUE(check_identity(&stats));
}

/*
 * Fills a large pipe, which takes so long that a tick is likely meanwhile, and
 * sleeps for room with that tick's sample still to be delivered.
 */
#define PIPE_BYTES	(1UL << 20)

struct filler {
	pthread_t thread;
	int pipe[2];
	int round;
	char *bytes;		/* twice as many as there is room for */
	volatile bool filling;
};

static void *filler_fn(void *arg)
{
	struct filler *filler = arg;

	/* Each time another while after the tick that let us begin. */
	hot_b(1 + filler->round * 99991UL % 2000000);
	filler->filling = true;
	if (write(filler->pipe[1], filler->bytes, 2 * PIPE_BYTES) < 0)
		filler->round = -1;
	return NULL;
}

static void pipe_drain(const struct filler *filler, size_t left)
{
	ssize_t done;

	for (; left; left -= done) {
		done = read(filler->pipe[0], filler->bytes, left);
		if (done <= 0)
			return;
	}
}

TEST_F(lifecycle, stop_does_not_wait_for_a_sleeping_thread)
{
	struct profil_region region = any_region(self->counter);
	struct profil_ioc_query query;
	struct filler filler;
	int i, waited = 0;
	bool worker;

	ASSERT_EQ(0, profil_query(self->fd, &query));
	/* Where there is no task_work, a worker may have been faster. */
	worker = !(query.out_features & PROFIL_FEATURE_TASK_WORK);
	ASSERT_EQ(0, pipe(filler.pipe));
	ASSERT_LE(PIPE_BYTES, fcntl(filler.pipe[1], F_SETPIPE_SZ, PIPE_BYTES));
	filler.bytes = malloc(2 * PIPE_BYTES);
	ASSERT_NE(NULL, filler.bytes);
	memset(filler.bytes, 1, 2 * PIPE_BYTES);
	for (i = 0; waited < 3 && !(worker && i == 100); i++) {
		ASSERT_EQ(0, profil_start(self->fd, &region, 1));
		filler.round = i;
		filler.filling = false;
		ASSERT_EQ(0, pthread_create(&filler.thread, NULL, filler_fn,
					    &filler));
		while (!filler.filling)
			usleep(100);
		ASSERT_TRUE(burn(self->fd, hot_b, 2));
		/* A sample of our own is delivered before we ask again. */
		ASSERT_EQ(0, profil_stats(self->fd, &self->stats));
		ASSERT_EQ(0, profil_stats(self->fd, &self->stats));
		waited += self->stats.out_pending > 0;
		/* If this waited, it would for what is read only below. */
		ASSERT_EQ(0, profil_stop(self->fd));
		pipe_drain(&filler, 2 * PIPE_BYTES);
		pthread_join(filler.thread, NULL);
		ASSERT_LE(0, filler.round);
		ASSERT_EQ(0, profil_stats(self->fd, &self->stats));
		EXPECT_TRUE(check_identity(&self->stats));
		EXPECT_EQ(0, self->stats.out_pending);
	}
}

FIXTURE(limit) {
	char was[32];
	bool set;
};

FIXTURE_SETUP(limit)
{
	int file = open(LIMIT_FILE, O_RDONLY | O_CLOEXEC);
	ssize_t done;

	ASSERT_LE(0, file);
	done = read(file, self->was, sizeof(self->was) - 1);
	close(file);
	ASSERT_LT(0, done);
	if (geteuid())
		SKIP(return, "only root can set " LIMIT_FILE);
	ASSERT_EQ(0, write_file(LIMIT_FILE, 0, "2"));
	self->set = true;
}

FIXTURE_TEARDOWN(limit)
{
	if (self->set)
		EXPECT_EQ(0, write_file(LIMIT_FILE, 0, self->was));
}

/* START until the count of an ended process was given back, which is later. */
static int start_patiently(int fd, void *counter)
{
	int ret;

	while ((ret = profil_start_page(fd, hot_a, counter)) == -ENOSPC)
		usleep(5000);
	return ret;
}

/* In a process of user 1000, whose second profile is @fd's forked child's. */
static int run_into_limit(void)
{
	__u16 *counter = page_alloc();
	struct profil_ioc_stats stats;
	pid_t second, third;
	int fd;

	if (setgid(1000) || setuid(1000))
		return 1;
	fd = profil_open();
	if (fd < 0 || !counter || profil_start_page(fd, hot_a, counter))
		return 2;
	second = fork();
	if (!second)
		for (;;)
			pause();
	/* The third is not profiled, which it can see, and cannot be. */
	third = fork();
	if (!third) {
		if (profil_stats(fd, &stats) != -ENOENT)
			_exit(1);
		burn_uncounted(fd, hot_a, 3);
		if (profil_start_page(fd, hot_a, counter) != -ENOSPC)
			_exit(2);
		if (profil_stop(fd))
			_exit(3);
		kill(second, SIGKILL);
		if (start_patiently(fd, counter))
			_exit(4);
		_exit(burn(fd, hot_a, 3) ? 0 : 5);
	}
	if (second < 0 || third < 0)
		return 3;
	if (profil_stats(fd, &stats) || stats.out_forks_missed != 1)
		return 4;
	if (wait_for(second) != -SIGKILL)
		return 5;
	if (wait_for(third))
		return 6;
	/* START again is no second profile. */
	return profil_start_page(fd, hot_a, counter) ? 7 : 0;
}

TEST_F(limit, of_a_user_leaves_the_child_unprofiled_and_says_so)
{
	pid_t pid = fork();

	ASSERT_LE(0, pid);
	if (!pid)
		_exit(run_into_limit());
	EXPECT_EQ(0, wait_for(pid));
}

TEST_F(limit, of_one_user_is_not_that_of_another)
{
	__u16 *counter = page_alloc();
	pid_t pids[3];
	int ready[2], fd, i;
	char c;

	ASSERT_NE(NULL, counter);
	ASSERT_EQ(0, pipe(ready));
	/* Two of user 1000, which is its limit; then one of user 1001. */
	for (i = 0; i < 3; i++) {
		pids[i] = fork();
		ASSERT_LE(0, pids[i]);
		if (!pids[i]) {
			if (setgid(1000) || setuid(i == 2 ? 1001 : 1000))
				_exit(1);
			fd = profil_open();
			c = start_patiently(fd, counter) ? 'n' : 'y';
			if (write(ready[1], &c, 1) != 1)
				_exit(2);
			for (;;)
				pause();
		}
		ASSERT_EQ(1, read(ready[0], &c, 1));
		EXPECT_EQ('y', c);
	}
	for (i = 0; i < 3; i++) {
		kill(pids[i], SIGKILL);
		EXPECT_EQ(-SIGKILL, wait_for(pids[i]));
	}
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--executed"))
		return executed_image();
	return test_harness_run(argc, argv);
}
