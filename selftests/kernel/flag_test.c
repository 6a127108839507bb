// SPDX-License-Identifier: GPL-2.0-only
/* The flags of START: whose ticks, which ticks, which histograms, and its end. */

#include "ticks.h"

#define LAST_PID	"/proc/sys/kernel/ns_last_pid"

FIXTURE(flag) {
	int fd;
	__u16 *counter;
	struct profil_region regions[2];	/* hot_a and hot_b */
	struct instance instance;
	struct profil_stats stats;
};

FIXTURE_SETUP(flag)
{
	ASSERT_OPEN_WITH_PAGE(self->fd, self->counter);
	self->regions[0] = page_region(hot_a, self->counter);
	self->regions[1] = page_region(hot_b, self->counter + 1);
	ASSERT_EQ(0, event_create());
	ASSERT_EQ(0, instance_create(&self->instance));
}

FIXTURE_TEARDOWN(flag)
{
	instance_destroy(&self->instance);
	event_remove();
	close(self->fd);
}

static void finish(struct __test_metadata *_metadata, FIXTURE_DATA(flag) *self)
{
	ASSERT_TRUE(profil_finish(self->fd, &self->stats));
	EXPECT_TRUE(none_lost_before_the_end(&self->stats));
}

/* In a forked child: 0 if it is not profiled, and neither is a child of it. */
static int expect_unprofiled(int fd, const __u16 *counter)
{
	struct profil_stats stats;
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

TEST_F(flag, thread_counts_the_ticks_of_the_caller_alone)
{
	pid_t tid = syscall(SYS_gettid);
	__u64 events_first, events_last;
	struct profil_stats first;
	struct burner burners[3];
	size_t i;

	ASSERT_EQ(0, instance_watch(&self->instance, &tid, 1, ALL_TICKS));
	/* Threads of before and of after. */
	ASSERT_EQ(0, burner_start(&burners[0], hot_b));
	ASSERT_EQ(0, profil_start_flags(self->fd, self->regions, 2,
					PROFIL_START_F_THREAD));
	for (i = 1; i < ARRAY_SIZE(burners); i++)
		ASSERT_EQ(0, burner_start(&burners[i], hot_b));
	ASSERT_TRUE(take_pair(&self->instance, self->fd, &events_first,
			      &first));
	ASSERT_TRUE(burn(self->fd, hot_a, 100));
	ASSERT_TRUE(settle(self->fd, &self->stats));
	ASSERT_TRUE(take_pair(&self->instance, self->fd, &events_last,
			      &self->stats));
	EXPECT_EQ(events_last - events_first,
		  self->stats.out_ticks - first.out_ticks);
	for (i = 0; i < ARRAY_SIZE(burners); i++)
		burner_join(&burners[i]);
	finish(_metadata, self);
	EXPECT_LT(50, self->counter[0]);
	EXPECT_EQ(self->stats.out_in_range, self->counter[0]);
	EXPECT_EQ(0, self->counter[1]);
}

struct lone {
	int fd;
	const struct profil_region *regions;
	pid_t tid;
	int failed;
};

/* A thread that profiles itself alone, and ends. */
static void *lone_fn(void *arg)
{
	struct lone *lone = arg;
	struct profil_stats stats;

	lone->tid = syscall(SYS_gettid);
	lone->failed = profil_start_flags(lone->fd, lone->regions, 2,
					  PROFIL_START_F_THREAD) ||
		       !burn(lone->fd, hot_a, 20) || !settle(lone->fd, &stats);
	return NULL;
}

struct heir {
	int fd;
	pid_t tid;
};

static void *heir_fn(void *arg)
{
	struct heir *heir = arg;

	heir->tid = syscall(SYS_gettid);
	burn_uncounted(heir->fd, hot_a, 5);
	return NULL;
}

/* A thread that was joined has its memory, and is found by ticks, a while longer. */
static void wait_gone(pid_t tid)
{
	while (!syscall(SYS_tgkill, getpid(), tid, 0))
		usleep(1000);
}

/* So that the next thread is @tid, if nobody is faster. */
static bool next_tid(pid_t tid)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", tid - 1);
	return !write_file(LAST_PID, 0, text);
}

TEST_F(flag, thread_that_ended_has_no_heir)
{
	struct lone lone = { .fd = self->fd, .regions = self->regions };
	struct heir heir = { .fd = self->fd };
	int i, same = 0, reuse = 0;
	pthread_t thread;
	__u64 ticks;

	ASSERT_EQ(0, pthread_create(&thread, NULL, lone_fn, &lone));
	pthread_join(thread, NULL);
	ASSERT_EQ(0, lone.failed);
	wait_gone(lone.tid);
	ASSERT_EQ(0, profil_stats(self->fd, &self->stats));
	ticks = self->stats.out_ticks;
	EXPECT_EQ(self->stats.out_in_range, self->counter[0]);
	/* The kernel uses its memory again for the next, and its number. */
	for (i = 0; i < 10; i++) {
		reuse += next_tid(lone.tid);
		ASSERT_EQ(0, pthread_create(&thread, NULL, heir_fn, &heir));
		pthread_join(thread, NULL);
		same += heir.tid == lone.tid;
	}
	burn_uncounted(self->fd, hot_a, 5);
	EXPECT_TRUE(!reuse || same);
	ASSERT_EQ(0, profil_stats(self->fd, &self->stats));
	EXPECT_EQ(ticks, self->stats.out_ticks);
	EXPECT_TRUE(check_identity(&self->stats));
	/* And the process may still be profiled. */
	ASSERT_EQ(0, profil_start(self->fd, self->regions, 2));
	ASSERT_TRUE(burn(self->fd, hot_b, 20));
	finish(_metadata, self);
	EXPECT_LT(3, self->counter[1]);
}

TEST_F(flag, thread_means_no_child)
{
	pid_t pid;

	ASSERT_EQ(0, profil_start_flags(self->fd, self->regions, 2,
					PROFIL_START_F_THREAD));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		_exit(expect_unprofiled(self->fd, self->counter));
	EXPECT_EQ(0, wait_for(pid));
	ASSERT_TRUE(burn(self->fd, hot_a, 10));
	finish(_metadata, self);
	EXPECT_EQ(self->stats.out_in_range, self->counter[0]);
	EXPECT_EQ(0, self->stats.out_forks_missed);
}

TEST_F(flag, noinherit_means_no_child_and_all_threads)
{
	struct burner burner;
	pid_t pid;

	ASSERT_EQ(0, profil_start_flags(self->fd, self->regions, 2,
					PROFIL_START_F_NOINHERIT));
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
	finish(_metadata, self);
	EXPECT_EQ(self->stats.out_in_range,
		  self->counter[0] + self->counter[1]);
	EXPECT_EQ(0, self->stats.out_forks_missed);
}

/* As take_pair(), and of the same moment those that found user mode. */
static bool take_user(FIXTURE_DATA(flag) *self, const struct instance *all,
		      __u64 *events, __u64 *user, struct profil_stats *stats)
{
	do {
		if (!take_pair(all, self->fd, events, stats))
			return false;
		*user = instance_count(&self->instance);
	} while (instance_count(all) != *events);
	return true;
}

TEST_F(flag, user_only_leaves_out_exactly_the_ticks_in_the_kernel)
{
	struct profil_region region = page_region(read_loop, self->counter);
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	__u64 user_first, user_last, all_first, all_last, user, system;
	struct profil_stats first;
	struct instance all;
	static char sink[1 << 14];
	pid_t tid = getpid();

	ASSERT_LE(0, zero);
	ASSERT_EQ(0, instance_create(&all));
	ASSERT_EQ(0, instance_watch(&all, &tid, 1, ALL_TICKS));
	ASSERT_EQ(0, instance_watch(&self->instance, &tid, 1, USER_TICKS));
	ASSERT_EQ(0, profil_start_flags(self->fd, &region, 1,
					PROFIL_START_F_USER_ONLY));
	ASSERT_TRUE(take_user(self, &all, &all_first, &user_first, &first));
	do {
		read_loop(zero, sink, sizeof(sink), 20);
		hot_b(HOT_ROUNDS / 4);
		ASSERT_EQ(0, profil_stats(self->fd, &self->stats));
		system = self->stats.out_system - first.out_system;
		user = self->stats.out_ticks - first.out_ticks - system;
		/* How many of them are of which kind is the machine's affair. */
	} while (system + user < 150 || system <= 10 || user <= 10);
	ASSERT_TRUE(settle(self->fd, &self->stats));
	ASSERT_TRUE(take_user(self, &all, &all_last, &user_last, &self->stats));
	EXPECT_EQ(all_last - all_first, self->stats.out_ticks - first.out_ticks);
	EXPECT_EQ(user_last - user_first,
		  self->stats.out_ticks - self->stats.out_system -
			  (first.out_ticks - first.out_system));
	EXPECT_LT(10, self->stats.out_system);
	EXPECT_LT(10, user_last - user_first);
	finish(_metadata, self);
	EXPECT_EQ(self->stats.out_in_range, *self->counter);
	instance_destroy(&all);
	close(zero);
}

/* Bit 63 of a page's word: it is there; bit 62: it is in the swap. */
static __u64 pagemap(const void *at)
{
	int file = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	__u64 word = 0;

	if (file < 0)
		return 0;
	if (pread(file, &word, sizeof(word),
		  (uintptr_t)at / PAGE * sizeof(word)) != sizeof(word))
		word = 0;
	close(file);
	return word;
}

static bool present(const void *at)
{
	return pagemap(at) >> 63;
}

static void *map_file(size_t pages, int flags)
{
	int file = memfd_create("histogram", MFD_CLOEXEC);
	void *at;

	if (file < 0 || ftruncate(file, pages * PAGE))
		return NULL;
	at = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, flags, file, 0);
	close(file);
	return at == MAP_FAILED ? NULL : at;
}

TEST_F(flag, validate_makes_all_pages_present)
{
	__u8 *at[] = {
		mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
		map_file(8, MAP_SHARED),
		map_file(8, MAP_PRIVATE),
	};
	struct profil_region region;
	__u8 zero;
	size_t i;
	int page;

	for (i = 0; i < ARRAY_SIZE(at); i++) {
		/* From the middle of the second to the middle of the last. */
		region = page_region(hot_a, at[i] + PAGE + PAGE / 2);
		region.bytes = 6 * PAGE;
		/* The page of zeros, or the file's, is there but not ours. */
		zero = ((volatile __u8 *)at[i])[3 * PAGE];
		ASSERT_EQ(0, zero);
		ASSERT_EQ(0, profil_start(self->fd, &region, 1));
		ASSERT_EQ(0, profil_stop(self->fd));
		EXPECT_FALSE(present(at[i] + 2 * PAGE));
		ASSERT_EQ(0, profil_start_flags(self->fd, &region, 1,
						PROFIL_START_F_VALIDATE));
		for (page = 1; page < 8; page++)
			EXPECT_TRUE(present(at[i] + page * PAGE))
				TH_LOG("mapping %zu, page %d", i, page);
		EXPECT_FALSE(present(at[i]));
		ASSERT_TRUE(burn(self->fd, hot_a, 5));
		ASSERT_TRUE(settle(self->fd, &self->stats));
		ASSERT_EQ(0, profil_stop(self->fd));
	}
	finish(_metadata, self);
}

/*
 * Without the flag the first sample of a page never is counted in the tick.
 * With it some are: those that come while the kernel is busy are not.
 */
TEST_F(flag, validate_spares_the_first_tick_the_wait)
{
	struct profil_region region;
	struct profil_query query;
	struct profil_stats was;
	int i, spared = 0;

	ASSERT_EQ(0, profil_query(self->fd, &query));
	if (query.out_features & PROFIL_FEATURE_DEFERRED)
		SKIP(return, "every sample waits");
	for (i = 0; i < 20; i++) {
		region = page_region(hot_a, page_alloc());
		ASSERT_EQ(0, profil_start_flags(self->fd, &region, 1,
						PROFIL_START_F_VALIDATE));
		ASSERT_EQ(0, profil_stats(self->fd, &was));
		ASSERT_TRUE(burn(self->fd, hot_a, 3));
		ASSERT_EQ(0, profil_stats(self->fd, &self->stats));
		spared += self->stats.out_in_range > was.out_in_range &&
			  self->stats.out_deferred == was.out_deferred;
		ASSERT_TRUE(settle(self->fd, &self->stats));
	}
	EXPECT_LE(1, spared);
	finish(_metadata, self);
}

TEST_F(flag, validate_refuses_what_cannot_be_made)
{
	char *at = map_file(2, MAP_SHARED);
	int file = memfd_create("short", MFD_CLOEXEC);
	struct profil_region region;

	ASSERT_NE(NULL, at);
	ASSERT_LE(0, file);
	ASSERT_EQ(0, ftruncate(file, PAGE));
	ASSERT_EQ(at, mmap(at, 2 * PAGE, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_FIXED, file, 0));
	region = page_region(hot_a, at);
	region.bytes = PAGE;
	ASSERT_EQ(0, profil_start_flags(self->fd, &region, 1,
					PROFIL_START_F_VALIDATE));
	/* The second page is beyond the end of the file. */
	region.bytes = PAGE + 2;
	ASSERT_EQ(0, profil_start(self->fd, &region, 1));
	EXPECT_EQ(-EFAULT, profil_start_flags(self->fd, &region, 1,
					      PROFIL_START_F_VALIDATE));
	ASSERT_EQ(0, profil_stats(self->fd, &self->stats));
	EXPECT_EQ(PROFIL_STATE_OFF, self->stats.out_state);
	/* What a START without the flag refuses it refuses as well. */
	ASSERT_EQ(0, mprotect(at, PAGE, PROT_READ));
	region.bytes = 2;
	EXPECT_EQ(-EFAULT, profil_start_flags(self->fd, &region, 1,
					      PROFIL_START_F_VALIDATE));
	close(file);
}

/* Both with and without the flag, which alone makes the difference. */
static void expect_lax(struct __test_metadata *_metadata, int fd,
		       const struct profil_region *regions, __u32 num,
		       const char *what)
{
	EXPECT_EQ(0, profil_start_flags(fd, regions, num, 0))
		TH_LOG("%s", what);
	EXPECT_EQ(-EINVAL, profil_start_flags(fd, regions, num,
					      PROFIL_START_F_STRICT))
		TH_LOG("%s", what);
}

static void expect_legal(struct __test_metadata *_metadata, int fd,
			 const struct profil_region *regions, __u32 num,
			 const char *what)
{
	EXPECT_EQ(0, profil_start_flags(fd, regions, num, PROFIL_START_F_STRICT))
		TH_LOG("%s", what);
}

FIXTURE(strict) {
	int fd;
	struct profil_region regions[3];	/* of hot_a, b, c: legal */
	struct profil_stats stats;
};

FIXTURE_SETUP(strict)
{
	__u16 *counter = page_alloc();

	self->fd = profil_open();
	ASSERT_LE(0, self->fd);
	ASSERT_NE(NULL, counter);
	self->regions[0] = page_region(hot_a, counter);
	self->regions[1] = page_region(hot_b, counter + 64);
	self->regions[2] = page_region(hot_c, counter + 128);
	expect_legal(_metadata, self->fd, self->regions, 3, "ascending");
}

FIXTURE_TEARDOWN(strict)
{
	close(self->fd);
}

TEST_F(strict, scale_above_65536_is_invalid)
{
	self->regions[0].scale = 65536;
	expect_legal(_metadata, self->fd, self->regions, 3, "65536");
	self->regions[0].scale = 65537;
	expect_lax(_metadata, self->fd, self->regions, 1, "65537");
	self->regions[0].scale = 131072;
	expect_lax(_metadata, self->fd, self->regions, 1, "131072");
	self->regions[0].scale = ~0U;
	expect_lax(_metadata, self->fd, self->regions, 1, "the largest");
	self->regions[0].flags = PROFIL_REGION_F_OVERFLOW;
	expect_legal(_metadata, self->fd, self->regions, 1, "one that is not used");
}

TEST_F(strict, size_that_is_zero_or_no_multiple_is_invalid)
{
	static const __u32 flags[] = {
		0, PROFIL_REGION_F_U32, PROFIL_REGION_F_U64,
	};
	__u32 i, bytes;

	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		self->regions[0].flags = flags[i];
		for (bytes = 0; bytes < 24; bytes++) {
			self->regions[0].bytes = bytes;
			if (bytes && bytes % (2U << i) == 0)
				expect_legal(_metadata, self->fd,
					     self->regions, 1, "a multiple");
			else
				expect_lax(_metadata, self->fd, self->regions,
					   1, "no multiple");
		}
	}
}

TEST_F(strict, regions_out_of_order_are_invalid)
{
	struct profil_region first = self->regions[0];

	self->regions[0] = self->regions[1];
	self->regions[1] = first;
	expect_lax(_metadata, self->fd, self->regions, 3, "b, a, c");
	self->regions[0] = self->regions[2];
	expect_lax(_metadata, self->fd, self->regions, 2, "c, a");
}

TEST_F(strict, regions_that_overlap_are_invalid)
{
	struct profil_region *first = &self->regions[0];

	/* Two pages of code, in each of the forms. */
	first->bytes = 4;
	expect_lax(_metadata, self->fd, self->regions, 3, "two counters");
	first->bytes = 2;
	/* A page of code and a little more. */
	first->scale = PAGE_SCALE - 1;
	expect_lax(_metadata, self->fd, self->regions, 3, "a little");
	first->scale = PAGE_SCALE;
	first->offset += 2;
	expect_lax(_metadata, self->fd, self->regions, 3, "one instruction");
	first->offset = self->regions[1].offset;
	expect_lax(_metadata, self->fd, self->regions, 3, "the same offset");
	/* The unit of code is 8 bytes, so that it reaches four times as far. */
	first->offset = UPTR(hot_a);
	first->bytes = 8;
	first->flags = PROFIL_REGION_F_U64 | PROFIL_REGION_F_PER_COUNTER;
	expect_lax(_metadata, self->fd, self->regions, 3, "per counter");
	first->scale = 4 * PAGE_SCALE;
	expect_legal(_metadata, self->fd, self->regions, 3, "touching");
	first->flags = PROFIL_REGION_F_U64 | PROFIL_REGION_F_BYTE17;
	expect_legal(_metadata, self->fd, self->regions, 3, "with a gap");
	first->scale = PAGE_SCALE;
	expect_legal(_metadata, self->fd, self->regions, 3, "touching");
	first->bytes = 16;
	expect_lax(_metadata, self->fd, self->regions, 3, "byte17");
}

TEST_F(strict, overflow_region_must_be_the_last)
{
	struct profil_region *regions = self->regions;
	int i;

	for (i = 0; i < 3; i++) {
		regions[i].flags = PROFIL_REGION_F_OVERFLOW;
		regions[i].offset = 0;
		regions[i].scale = 2;
		if (i == 2)
			expect_legal(_metadata, self->fd, regions, 3, "last");
		else
			expect_lax(_metadata, self->fd, regions, 3,
				   "not the last");
		regions[i] = page_region(i ? hot_b : hot_a,
					 (void *)(uintptr_t)
					 regions[i].buf_uptr);
	}
	regions[0].flags = PROFIL_REGION_F_OVERFLOW;
	expect_legal(_metadata, self->fd, regions, 1, "alone");
}

TEST_F(strict, invalid_set_leaves_the_profile_running)
{
	const volatile __u16 *counter =
		(void *)(uintptr_t)self->regions[0].buf_uptr;

	ASSERT_TRUE(burn(self->fd, hot_a, 5));
	self->regions[1].bytes = 0;
	EXPECT_EQ(-EINVAL, profil_start_flags(self->fd, self->regions, 3,
					      PROFIL_START_F_STRICT));
	ASSERT_TRUE(burn(self->fd, hot_a, 20));
	ASSERT_TRUE(profil_finish(self->fd, &self->stats));
	/* What waits for the last sample is in the third region. */
	EXPECT_EQ(self->stats.out_in_range,
		  counter[0] + counter[64] + counter[128]);
	EXPECT_LT(3, *counter);
}

FIXTURE(svr4) {
	int fd;
	__u8 *page;
	struct profil_stats stats;
};

/* Of the counter, in either half of its word. */
FIXTURE_VARIANT(svr4) {
	__u32 at;
};

FIXTURE_VARIANT_ADD(svr4, low_half) {
	.at = 4,
};

FIXTURE_VARIANT_ADD(svr4, high_half) {
	.at = 6,
};

FIXTURE_SETUP(svr4)
{
	ASSERT_OPEN_WITH_PAGE(self->fd, self->page);
}

FIXTURE_TEARDOWN(svr4)
{
	close(self->fd);
}

static __u16 counter_get(const __u8 *at)
{
	__u16 value;

	memcpy(&value, at, sizeof(value));
	return value;
}

TEST_F(svr4, scale_1_is_left_out)
{
	struct profil_region regions[] = {
		page_region(hot_b, self->page + variant->at),
		page_region(hot_a, self->page + 64),
	};

	regions[0].scale = 1;
	/* Alone it is the end, as scale 0 is. */
	EXPECT_EQ(0, profil_start_flags(self->fd, regions, 1, PROFIL_START_F_SVR4));
	EXPECT_EQ(-ENOENT, profil_stats(self->fd, &self->stats));
	ASSERT_EQ(0, profil_start_flags(self->fd, regions, 2, PROFIL_START_F_SVR4));
	ASSERT_TRUE(burn(self->fd, hot_a, 20));
	ASSERT_TRUE(burn(self->fd, hot_b, 10));
	EXPECT_EQ(0, profil_start_flags(self->fd, regions, 1, PROFIL_START_F_SVR4));
	ASSERT_EQ(0, profil_stats(self->fd, &self->stats));
	EXPECT_EQ(PROFIL_STATE_OFF, self->stats.out_state);
	EXPECT_EQ(0, counter_get(self->page + variant->at));
	EXPECT_EQ(self->stats.out_in_range, counter_get(self->page + 64));
	EXPECT_LT(3, self->stats.out_in_range);
}

TEST_F(svr4, scale_2_has_all_in_the_first_counter)
{
	struct profil_region region = page_region(hot_b, self->page +
						  variant->at);

	region.offset -= 200000;
	region.scale = 2;
	region.bytes = PAGE / 2;
	ASSERT_EQ(0, profil_start_flags(self->fd, &region, 1, PROFIL_START_F_SVR4));
	ASSERT_TRUE(burn(self->fd, hot_b, 20));
	/* And what is below it nowhere. */
	region.offset = UPTR(hot_b);
	ASSERT_EQ(0, profil_start_flags(self->fd, &region, 1, PROFIL_START_F_SVR4));
	ASSERT_TRUE(burn(self->fd, hot_a, 20));
	ASSERT_TRUE(profil_finish(self->fd, &self->stats));
	EXPECT_LT(3, self->stats.out_in_range);
	EXPECT_LT(3, self->stats.out_outside);
	EXPECT_EQ(self->stats.out_in_range,
		  counter_get(self->page + variant->at));
}

/* Ends at 32767, or where more than that is there from the beginning. */
static void expect_full(struct __test_metadata *_metadata,
			FIXTURE_DATA(svr4) *self, __u32 at, __u16 prefill,
			__u16 end)
{
	struct profil_region regions[] = {
		page_region(hot_a, self->page + at),
		page_region(hot_b, self->page + 64),
	};
	__u64 ticks, before;

	memset(self->page, 0x5a, PAGE);
	memcpy(self->page + at, &prefill, sizeof(prefill));
	ASSERT_EQ(0, profil_start_flags(self->fd, regions, 2, PROFIL_START_F_SVR4));
	ASSERT_EQ(0, profil_stats(self->fd, &self->stats));
	before = self->stats.out_in_range;
	ticks = self->stats.out_saturated;
	ASSERT_TRUE(burn_until_state(self->fd, hot_a, PROFIL_STATE_FULL,
				     &self->stats));
	EXPECT_EQ(end, counter_get(self->page + at));
	EXPECT_EQ(end - prefill, self->stats.out_in_range - before);
	EXPECT_LT(ticks, self->stats.out_saturated);
	EXPECT_TRUE(none_lost_before_the_end(&self->stats));
	EXPECT_EQ(UPTR(self->page + at), self->stats.out_fault_addr);
	EXPECT_TRUE(check_identity(&self->stats));
	/* For the whole process and all regions. */
	ticks = self->stats.out_ticks;
	burn_uncounted(self->fd, hot_b, 3);
	ASSERT_EQ(0, profil_stats(self->fd, &self->stats));
	EXPECT_EQ(ticks, self->stats.out_ticks);
	EXPECT_EQ(0x5a5a, counter_get(self->page + 64));
	EXPECT_EQ(PROFIL_STATE_FULL, self->stats.out_state);
}

TEST_F(svr4, ends_when_a_counter_would_exceed_32767)
{
	expect_full(_metadata, self, variant->at, 32765, 32767);
	expect_full(_metadata, self, variant->at, 32766, 32767);
	expect_full(_metadata, self, variant->at, 32767, 32767);
	expect_full(_metadata, self, variant->at, 32768, 32768);
	expect_full(_metadata, self, variant->at, 65535, 65535);
	/* Another START, and it goes on. */
	ASSERT_EQ(0, profil_start_page(self->fd, hot_a, self->page + 128));
	ASSERT_TRUE(burn(self->fd, hot_a, 5));
	ASSERT_TRUE(settle(self->fd, &self->stats));
	EXPECT_TRUE(check_identity(&self->stats));
	EXPECT_EQ(PROFIL_STATE_ON, self->stats.out_state);
	EXPECT_LT(0x5a5a, counter_get(self->page + 128));
}

TEST_F(svr4, end_with_other_threads_counting_is_exact)
{
	struct profil_region region = page_region(hot_a, self->page +
						  variant->at);
	__u16 prefill = 32767 - 40;
	struct burner burners[3];
	size_t i;

	memcpy(self->page + variant->at, &prefill, sizeof(prefill));
	for (i = 0; i < ARRAY_SIZE(burners); i++)
		ASSERT_EQ(0, burner_start(&burners[i], hot_a));
	ASSERT_EQ(0, profil_start_flags(self->fd, &region, 1, PROFIL_START_F_SVR4));
	ASSERT_TRUE(burn_until_state(self->fd, hot_a, PROFIL_STATE_FULL,
				     &self->stats));
	for (i = 0; i < ARRAY_SIZE(burners); i++)
		burner_join(&burners[i]);
	ASSERT_TRUE(settle(self->fd, &self->stats));
	EXPECT_EQ(32767, counter_get(self->page + variant->at));
	EXPECT_EQ(40, self->stats.out_in_range);
	EXPECT_LT(0, self->stats.out_saturated);
	EXPECT_TRUE(check_identity(&self->stats));
}

TEST_HARNESS_MAIN
