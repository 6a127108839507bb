// SPDX-License-Identifier: GPL-2.0-only
/* The commands' sizes, flags, reserved words and ranges: one errno per cause. */
#include <limits.h>
#include <stddef.h>

#include "profil_common.h"

#define KERNEL_ADDRESS	((void *)-PAGE)

FIXTURE(uapi) {
	int fd;
	__u16 *counter;
	struct profil_region region;
	struct profil_ioc_start start;
};

FIXTURE_SETUP(uapi)
{
	ASSERT_OPEN_WITH_PAGE(self->fd, self->counter);
	self->region = page_region(hot_a, self->counter);
	self->start = (struct profil_ioc_start){
		.size = sizeof(self->start),
		.region_num = 1,
		.region_len = sizeof(self->region),
		.regions_uptr = UPTR(&self->region),
	};
}

FIXTURE_TEARDOWN(uapi)
{
	close(self->fd);
}

/* START with the words of the fixture, which the tests spoil one at a time. */
static int start(FIXTURE_DATA(uapi) *self)
{
	return profil_ioctl(self->fd, PROFIL_IOC_START, &self->start);
}

#define START_FLAGS	(PROFIL_START_F_USER_ONLY | PROFIL_START_F_NOINHERIT)
#define REGION_FLAGS	(PROFIL_REGION_F_U32 | PROFIL_REGION_F_PER_COUNTER | \
			 PROFIL_REGION_F_BSD_ROUNDING | PROFIL_REGION_F_OVERFLOW)

/* Every command on one profile that is on: each succeeds with a right struct. */
FIXTURE(command) {
	int fd;
	char *pages;		/* three, then one without access */
	struct profil_region region;
};

FIXTURE_VARIANT(command) {
	unsigned long cmd;
	__u32 size;
	__u32 first;		/* size of its first version */
	__u32 flags;		/* those that are known */
};

FIXTURE_VARIANT_ADD(command, query) {
	.cmd = PROFIL_IOC_QUERY,
	.size = sizeof(struct profil_ioc_query),
	.first = 64,
};

FIXTURE_VARIANT_ADD(command, start) {
	.cmd = PROFIL_IOC_START,
	.size = sizeof(struct profil_ioc_start),
	.first = 64,
	.flags = START_FLAGS,
};

FIXTURE_VARIANT_ADD(command, stop) {
	.cmd = PROFIL_IOC_STOP,
	.size = sizeof(struct profil_ioc_stop),
	.first = 16,
};

FIXTURE_VARIANT_ADD(command, stats) {
	.cmd = PROFIL_IOC_STATS,
	.size = sizeof(struct profil_ioc_stats),
	.first = 200,
};

FIXTURE_SETUP(command)
{
	self->fd = profil_open();
	ASSERT_LE(0, self->fd);
	self->pages = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->pages);
	ASSERT_EQ(0, mprotect(self->pages + 3 * PAGE, PAGE, PROT_NONE));
	self->region = page_region(hot_a, page_alloc());
	ASSERT_EQ(0, profil_start(self->fd, &self->region, 1));
}

FIXTURE_TEARDOWN(command)
{
	close(self->fd);
}

/* A struct that the command accepts, given out as @size bytes, at @at. */
static int command(FIXTURE_DATA(command) *self,
		   const FIXTURE_VARIANT(command) *variant, char *at, __u32 size)
{
	struct profil_ioc_start start = {
		.region_num = 1,
		.region_len = sizeof(self->region),
		.regions_uptr = UPTR(&self->region),
	};
	__u32 *words = (__u32 *)at;

	memset(at, 0, size < variant->size ? size : variant->size);
	if (variant->cmd == PROFIL_IOC_START)
		memcpy(at, &start, sizeof(start));
	words[0] = size;
	return profil_ioctl(self->fd, variant->cmd, at);
}

TEST_F(command, smaller_size_is_invalid)
{
	__u32 size;

	for (size = 0; size < variant->first; size++)
		EXPECT_EQ(-EINVAL, command(self, variant, self->pages, size));
}

/* A program built with an older header gives less, and gets no more. */
TEST_F(command, size_of_an_earlier_version_is_accepted)
{
	__u32 size, i;

	for (size = variant->first; size <= variant->size; size++) {
		memset(self->pages, 0x5a, PAGE);
		EXPECT_EQ(0, command(self, variant, self->pages, size));
		for (i = size; i < PAGE; i++)
			ASSERT_EQ(0x5a, self->pages[i]);
	}
}

TEST_F(command, larger_size_with_nonzero_tail_is_too_big)
{
	self->pages[variant->size] = 1;
	EXPECT_EQ(-E2BIG, command(self, variant, self->pages,
				  variant->size + 1));
	self->pages[variant->size] = 0;
	self->pages[PAGE - 1] = 1;
	EXPECT_EQ(-E2BIG, command(self, variant, self->pages, PAGE));
	EXPECT_EQ(0, command(self, variant, self->pages, PAGE - 1));
}

/* Of a later version, all of which is 0 that this one does not know. */
TEST_F(command, tail_is_not_written)
{
	const __u32 sizes[] = { variant->size + 1, variant->size + 8, PAGE };
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		EXPECT_EQ(0, command(self, variant, self->pages, sizes[i]))
			TH_LOG("size %u", sizes[i]);
		for (j = variant->size; j < PAGE; j++)
			ASSERT_EQ(0, self->pages[j]);
	}
}

TEST_F(command, huge_size_fails)
{
	int ret = command(self, variant, self->pages, ~0U);

	EXPECT_TRUE(ret == -EFAULT || ret == -E2BIG);
	ret = command(self, variant, self->pages, 1U << 31);
	EXPECT_TRUE(ret == -EFAULT || ret == -E2BIG);
}

TEST_F(command, struct_at_the_end_of_the_last_page_is_accepted)
{
	EXPECT_EQ(0, command(self, variant,
			     self->pages + 3 * PAGE - variant->size,
			     variant->size));
}

TEST_F(command, struct_that_cannot_be_read_is_a_fault)
{
	char *over = self->pages + 3 * PAGE - sizeof(variant->size);
	void *const places[] = { NULL, KERNEL_ADDRESS, over, over + 2 };
	size_t i;

	memcpy(over, &variant->size, sizeof(variant->size));
	for (i = 0; i < ARRAY_SIZE(places); i++) {
		EXPECT_EQ(-EFAULT, profil_ioctl(self->fd, variant->cmd, places[i]))
			TH_LOG("place %zu", i);
	}
}

TEST_F(command, each_flag_bit_is_known_or_not_supported)
{
	struct profil_ioc_start start = {
		.size = sizeof(start),
		.region_num = 1,
		.region_len = sizeof(self->region),
		.regions_uptr = UPTR(&self->region),
	};
	__u32 *words = (__u32 *)self->pages;
	int bit;

	memcpy(words, &start, sizeof(start));
	words[0] = variant->size;
	for (bit = 0; bit < 32; bit++) {
		words[1] = 1U << bit;
		EXPECT_EQ(words[1] & variant->flags ? 0 : -EOPNOTSUPP,
			  profil_ioctl(self->fd, variant->cmd, words))
			TH_LOG("flag bit %d", bit);
	}
}

TEST_F(command, answer_into_read_only_memory_is_a_fault)
{
	bool answers = variant->cmd != PROFIL_IOC_STOP;
	__u32 *words = (__u32 *)self->pages;

	EXPECT_EQ(0, command(self, variant, self->pages, variant->size));
	memset(words, 0, variant->size);
	command(self, variant, self->pages + PAGE, variant->size);
	memcpy(words, self->pages + PAGE, variant->size);
	ASSERT_EQ(0, mprotect(words, PAGE, PROT_READ));
	EXPECT_EQ(answers ? -EFAULT : 0,
		  profil_ioctl(self->fd, variant->cmd, words));
}

TEST_F(uapi, unknown_commands_are_not_ours)
{
	char arg[PAGE] = { 0 };
	int nr;

	for (nr = 5; nr < 256; nr++) {
		EXPECT_EQ(-ENOTTY, profil_ioctl(self->fd,
						_IO(PROFIL_IOC_MAGIC, nr), arg))
			TH_LOG("command %d", nr);
	}
	EXPECT_EQ(-ENOTTY, profil_ioctl(self->fd,
					_IOW(PROFIL_IOC_MAGIC, 0, __u32), arg));
	EXPECT_EQ(-ENOTTY, profil_ioctl(self->fd,
					_IO(PROFIL_IOC_MAGIC + 1, 0), arg));
}

TEST_F(uapi, query_tells_a_consistent_machine)
{
	struct profil_ioc_query query;
	__u64 second;

	ASSERT_EQ(0, profil_query(self->fd, &query));
	EXPECT_EQ(PROFIL_ABI, query.out_abi);
	EXPECT_EQ(0, query.out_features & ~(PROFIL_FEATURE_TASK_WORK |
					    PROFIL_FEATURE_DEFERRED |
					    PROFIL_FEATURE_NOHZ_FULL));
	second = query.out_tick_ns * query.out_tick_hz;
	EXPECT_LT(990000000ULL, second);
	EXPECT_LT(second, 1010000000ULL);
	EXPECT_LE(query.out_hook, PROFIL_HOOK_HRTIMER);
	EXPECT_EQ(4096, query.out_regions_max);
}

TEST_F(uapi, reserved_words_of_answers_are_zero)
{
	struct profil_ioc_stats stats = {
		.size = sizeof(stats), .out_reserved = ~0U,
	};

	ASSERT_EQ(0, start(self));
	EXPECT_EQ(0, profil_ioctl(self->fd, PROFIL_IOC_STATS, &stats));
	EXPECT_EQ(0, stats.out_reserved);
}

TEST_F(uapi, query_shows_the_hook_while_profiled)
{
	struct profil_ioc_query query;

	ASSERT_EQ(0, start(self));
	ASSERT_EQ(0, profil_query(self->fd, &query));
	EXPECT_NE(PROFIL_HOOK_NONE, query.out_hook);
}

TEST_F(uapi, stats_before_start_finds_nothing)
{
	struct profil_ioc_stats stats;

	EXPECT_EQ(-ENOENT, profil_stats(self->fd, &stats));
	EXPECT_EQ(0, profil_stop(self->fd));
	EXPECT_EQ(-ENOENT, profil_stats(self->fd, &stats));
	self->start.region_num = 0;
	EXPECT_EQ(0, start(self));
	EXPECT_EQ(-ENOENT, profil_stats(self->fd, &stats));
	self->start.region_num = 1;
	self->region.scale = 0;
	EXPECT_EQ(0, start(self));
	EXPECT_EQ(-ENOENT, profil_stats(self->fd, &stats));
}

TEST_F(uapi, stop_is_idempotent)
{
	struct profil_ioc_stats stats;

	EXPECT_EQ(0, profil_stop(self->fd));
	EXPECT_EQ(0, start(self));
	EXPECT_EQ(0, profil_stop(self->fd));
	EXPECT_EQ(0, profil_stop(self->fd));
	ASSERT_EQ(0, profil_stats(self->fd, &stats));
	EXPECT_EQ(PROFIL_STATE_OFF, stats.out_state);
	EXPECT_TRUE(check_identity(&stats));
}

TEST_F(uapi, stats_after_start_tells_state_and_rate)
{
	struct profil_ioc_stats stats;

	ASSERT_EQ(0, start(self));
	ASSERT_EQ(0, profil_stats(self->fd, &stats));
	EXPECT_EQ(PROFIL_STATE_ON, stats.out_state);
	EXPECT_EQ(0, stats.out_rate);
	EXPECT_TRUE(check_identity(&stats));
	self->start.rate = 7;
	ASSERT_EQ(0, start(self));
	ASSERT_EQ(0, profil_stats(self->fd, &stats));
	EXPECT_EQ(7, stats.out_rate);
}

/* What QUERY says is known is just what is accepted. */
TEST_F(uapi, query_tells_each_flag_and_source_that_is_accepted)
{
	const struct profil_ioc_start right = self->start;
	const struct profil_region plain = self->region;
	struct profil_ioc_query query;
	__u32 bit, i;

	ASSERT_EQ(0, profil_query(self->fd, &query));
	EXPECT_EQ(START_FLAGS, query.out_start_flags);
	EXPECT_EQ(REGION_FLAGS, query.out_region_flags);
	EXPECT_EQ(query.out_timer_rate_max ? 3 : 1, query.out_sources);
	for (i = 0; i < 32; i++) {
		bit = 1U << i;
		self->start.flags = bit;
		EXPECT_EQ(query.out_start_flags & bit ? 0 : -EOPNOTSUPP, start(self))
			TH_LOG("flag bit %u", i);
		self->start = right;
		self->region.bytes = 8;
		self->region.flags = bit;
		EXPECT_EQ(query.out_region_flags & bit ? 0 : -EOPNOTSUPP, start(self))
			TH_LOG("region flag bit %u", i);
		self->region = plain;
		self->start.source = i;
		self->start.rate = 1;
		EXPECT_EQ(query.out_sources & bit ? 0 : -EOPNOTSUPP, start(self))
			TH_LOG("source %u", i);
		self->start = right;
	}
}

/* START with a period of @ns of @source. */
static int start_period(FIXTURE_DATA(uapi) *self, __u32 source, __u64 ns)
{
	self->start.source = source;
	self->start.rate = 0;
	self->start.period_ns = ns;
	return start(self);
}

TEST_F(uapi, period_of_ticks_is_a_rate)
{
	struct profil_ioc_query query;
	struct profil_ioc_stats stats;
	__u32 rate, taken = 0;

	ASSERT_EQ(0, profil_query(self->fd, &query));
	for (rate = 1; rate <= query.out_tick_hz; rate++) {
		bool whole = 1000000000 % rate == 0;

		ASSERT_EQ(whole ? 0 : -EOPNOTSUPP,
			  start_period(self, PROFIL_SOURCE_TICK, 1000000000 / rate))
			TH_LOG("rate %u", rate);
		if (!whole)
			continue;
		taken++;
		ASSERT_EQ(0, profil_stats(self->fd, &stats));
		EXPECT_EQ(rate, stats.out_rate);
		EXPECT_EQ(1000000000 / rate, stats.out_period_ns);
		/* The same by its rate. */
		self->start.period_ns = 0;
		self->start.rate = rate;
		ASSERT_EQ(0, start(self));
		ASSERT_EQ(0, profil_stats(self->fd, &stats));
		EXPECT_EQ(rate, stats.out_rate);
		EXPECT_EQ(1000000000 / rate, stats.out_period_ns);
	}
	EXPECT_LT(8, taken);
	/* Every tick. */
	EXPECT_EQ(0, start_period(self, PROFIL_SOURCE_TICK, 0));
	ASSERT_EQ(0, profil_stats(self->fd, &stats));
	EXPECT_EQ(0, stats.out_rate);
	EXPECT_EQ(query.out_tick_ns, stats.out_period_ns);
}

TEST_F(uapi, period_of_the_timer_is_told_as_it_is)
{
	static const __u64 periods[] = { 1000000000, 999999999, 333333333, 1234567, 500001 };
	struct profil_ioc_query query;
	struct profil_ioc_stats stats;
	__u64 least;
	size_t i;

	ASSERT_EQ(0, profil_query(self->fd, &query));
	if (!query.out_timer_rate_max)
		SKIP(return, "this kernel has no timer source");
	for (i = 0; i < ARRAY_SIZE(periods); i++) {
		ASSERT_EQ(0, start_period(self, PROFIL_SOURCE_TIMER, periods[i]));
		ASSERT_EQ(0, profil_stats(self->fd, &stats));
		EXPECT_EQ(periods[i], stats.out_period_ns);
		EXPECT_EQ(1000000000 / periods[i], stats.out_rate);
	}
	least = (1000000000 + query.out_timer_rate_max - 1) / query.out_timer_rate_max;
	EXPECT_EQ(0, start_period(self, PROFIL_SOURCE_TIMER, least));
	EXPECT_EQ(-EOPNOTSUPP, start_period(self, PROFIL_SOURCE_TIMER, least - 1));
	EXPECT_EQ(-EINVAL, start_period(self, PROFIL_SOURCE_TIMER, 0));
}

TEST_F(uapi, period_beyond_its_source_is_not_supported)
{
	static const __u64 wrong[] = {
		1, 2, 999, 1000000001, 2000000000, 1ULL << 32, (1ULL << 32) + 10000000, ~0ULL,
	};
	struct profil_ioc_stats stats;
	size_t i;

	ASSERT_EQ(0, start(self));
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		EXPECT_EQ(-EOPNOTSUPP, start_period(self, PROFIL_SOURCE_TICK, wrong[i]))
			TH_LOG("tick, %llu", wrong[i]);
		EXPECT_EQ(-EOPNOTSUPP, start_period(self, PROFIL_SOURCE_TIMER, wrong[i]))
			TH_LOG("timer, %llu", wrong[i]);
	}
	self->start.period_ns = 10000000;
	self->start.rate = 100;
	for (i = 0; i < 2; i++) {
		self->start.source = i;
		EXPECT_EQ(-EINVAL, start(self));
	}
	ASSERT_EQ(0, profil_stats(self->fd, &stats));
	EXPECT_EQ(PROFIL_STATE_ON, stats.out_state);
}

static int stats_cookie(int fd, __u64 cookie, struct profil_ioc_stats *stats)
{
	*stats = (struct profil_ioc_stats){ .size = sizeof(*stats), .cookie = cookie };
	return profil_ioctl(fd, PROFIL_IOC_STATS, stats);
}

/* Two libraries of a process, of which the second does not know the first. */
TEST_F(uapi, cookie_says_that_another_has_the_profile)
{
	struct profil_ioc_stats stats;
	__u64 first, second;

	ASSERT_EQ(0, start(self));
	first = self->start.out_cookie;
	EXPECT_NE(0, first);
	EXPECT_EQ(0, stats_cookie(self->fd, first, &stats));
	EXPECT_EQ(first, stats.out_cookie);
	ASSERT_EQ(0, start(self));
	second = self->start.out_cookie;
	EXPECT_NE(0, second);
	EXPECT_NE(first, second);

	EXPECT_EQ(-ESTALE, stop_cookie(self->fd, first));
	EXPECT_EQ(-ESTALE, stats_cookie(self->fd, first, &stats));
	EXPECT_EQ(-ESTALE, stop_cookie(self->fd, second + 1));
	EXPECT_EQ(0, stats_cookie(self->fd, second, &stats));
	EXPECT_EQ(PROFIL_STATE_ON, stats.out_state);
	EXPECT_EQ(0, stop_cookie(self->fd, second));
	/* It is still the last one. */
	EXPECT_EQ(0, stop_cookie(self->fd, second));
	EXPECT_EQ(-ESTALE, stop_cookie(self->fd, first));
	EXPECT_EQ(0, stats_cookie(self->fd, second, &stats));
	EXPECT_EQ(PROFIL_STATE_OFF, stats.out_state);
	EXPECT_EQ(second, stats.out_cookie);
	/* 0 is any. */
	ASSERT_EQ(0, start(self));
	EXPECT_EQ(0, stop_cookie(self->fd, 0));
	EXPECT_EQ(0, stats_cookie(self->fd, 0, &stats));
	EXPECT_EQ(PROFIL_STATE_OFF, stats.out_state);
}

TEST_F(uapi, cookie_of_the_parent_is_the_childs_until_its_own_start)
{
	struct profil_ioc_stats stats;
	__u64 cookie;
	pid_t pid;

	ASSERT_EQ(0, start(self));
	cookie = self->start.out_cookie;
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		if (stats_cookie(self->fd, cookie, &stats) || stats.out_cookie != cookie ||
		    stats.out_state != PROFIL_STATE_ON)
			_exit(1);
		if (start(self) || self->start.out_cookie == cookie)
			_exit(2);
		if (stop_cookie(self->fd, cookie) != -ESTALE)
			_exit(3);
		_exit(-stop_cookie(self->fd, self->start.out_cookie));
	}
	EXPECT_EQ(0, wait_for(pid));
	EXPECT_EQ(0, stats_cookie(self->fd, cookie, &stats));
	EXPECT_EQ(PROFIL_STATE_ON, stats.out_state);
}

#define COOKIES	200

struct cookies {
	FIXTURE_DATA(uapi) uapi;
	__u64 cookie[COOKIES];
	int failed;
};

static void *take_cookies(void *arg)
{
	struct cookies *cookies = arg;
	int i;

	for (i = 0; i < COOKIES; i++) {
		cookies->failed += start(&cookies->uapi) != 0;
		cookies->cookie[i] = cookies->uapi.start.out_cookie;
	}
	return NULL;
}

static int compare_u64(const void *a, const void *b)
{
	__u64 first = *(const __u64 *)a, second = *(const __u64 *)b;

	return first < second ? -1 : first > second;
}

TEST_F(uapi, cookie_is_never_zero_and_never_used_twice)
{
	static struct cookies threads[3];
	static __u64 all[ARRAY_SIZE(threads) * COOKIES];
	pthread_t thread[ARRAY_SIZE(threads)];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(threads); i++) {
		threads[i].uapi = *self;
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, take_cookies, &threads[i]));
	}
	for (i = 0; i < ARRAY_SIZE(threads); i++) {
		pthread_join(thread[i], NULL);
		EXPECT_EQ(0, threads[i].failed);
		memcpy(all + i * COOKIES, threads[i].cookie, sizeof(threads[i].cookie));
	}
	qsort(all, ARRAY_SIZE(all), sizeof(all[0]), compare_u64);
	EXPECT_NE(0, all[0]);
	for (i = 1; i < ARRAY_SIZE(all); i++)
		ASSERT_NE(all[i - 1], all[i]);
}

TEST_F(uapi, start_of_nothing_tells_no_anchor_and_no_cookie)
{
	self->start.out_anchor = ~0ULL;
	self->start.out_cookie = ~0ULL;
	self->start.region_num = 0;
	ASSERT_EQ(0, start(self));
	EXPECT_EQ(0, self->start.out_anchor);
	EXPECT_EQ(0, self->start.out_cookie);
	self->start.region_num = 1;
	self->region.scale = 0;
	self->start.out_anchor = ~0ULL;
	self->start.out_cookie = ~0ULL;
	ASSERT_EQ(0, start(self));
	EXPECT_EQ(0, self->start.out_anchor);
	EXPECT_EQ(0, self->start.out_cookie);
}

/* Who is not told of a profile cannot end it. */
TEST_F(uapi, start_that_cannot_be_answered_leaves_nothing_on)
{
	struct profil_ioc_start *fixed = page_alloc();
	struct profil_ioc_stats stats;
	int earlier;

	ASSERT_NE(NULL, fixed);
	*fixed = self->start;
	ASSERT_EQ(0, mprotect(fixed, PAGE, PROT_READ));
	for (earlier = 0; earlier < 2; earlier++) {
		if (earlier)
			ASSERT_EQ(0, start(self));
		EXPECT_EQ(-EFAULT, profil_ioctl(self->fd, PROFIL_IOC_START, fixed));
		ASSERT_EQ(0, profil_stats(self->fd, &stats));
		EXPECT_EQ(PROFIL_STATE_OFF, stats.out_state);
		EXPECT_TRUE(check_identity(&stats));
	}
}

TEST_F(uapi, device_is_opened_in_any_mode)
{
	static const int modes[] = { O_RDONLY, O_WRONLY, O_RDWR };
	struct profil_ioc_query query;
	struct profil_ioc_stats stats;
	size_t i;
	int fd;

	for (i = 0; i < ARRAY_SIZE(modes); i++) {
		fd = open("/dev/profil", modes[i] | O_CLOEXEC);
		ASSERT_LE(0, fd);
		EXPECT_EQ(0, profil_query(fd, &query));
		ASSERT_EQ(0, profil_ioctl(fd, PROFIL_IOC_START, &self->start));
		EXPECT_TRUE(burn(fd, hot_a, 3));
		EXPECT_EQ(0, profil_stop(fd));
		EXPECT_EQ(0, profil_stats(fd, &stats));
		/* So that the next one has to make it. */
		ASSERT_EQ(0, munmap((void *)(uintptr_t)self->start.out_anchor, PAGE));
		close(fd);
	}
}

/* Each word of START is wrong once, and all else right. */
TEST_F(uapi, each_wrong_word_has_its_error)
{
	const struct profil_ioc_start tick = self->start;
	struct profil_ioc_start timer = self->start;
	const struct {
		const char *what;
		const struct profil_ioc_start *start;
		__u32 *word;
		__u32 from, to;		/* each, but powers of two up to the last */
		int ret;
	} rows[] = {
		{ "reserved", &tick, &self->start.__reserved, 1, 1U << 31, -EINVAL },
		{ "source", &tick, &self->start.source, 2, 1U << 31, -EOPNOTSUPP },
		{ "jitter of ticks", &tick, &self->start.jitter, 1, 300, -EINVAL },
		{ "jitter", &timer, &self->start.jitter, 101, 300, -EINVAL },
		{ "largest jitter", &timer, &self->start.jitter, ~0U, ~0U, -EINVAL },
		{ "no rate", &timer, &self->start.rate, 0, 0, -EINVAL },
		{ "region", &tick, &self->start.region_len, 0, sizeof(self->region) - 1, -EINVAL },
	};
	__u64 value;
	size_t i;

	timer.source = PROFIL_SOURCE_TIMER;
	timer.rate = 1;
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		for (value = rows[i].from; value <= rows[i].to;
		     value += rows[i].to == 1U << 31 ? value : 1) {
			self->start = *rows[i].start;
			*rows[i].word = value;
			EXPECT_EQ(rows[i].ret, start(self))
				TH_LOG("%s: %llu", rows[i].what, value);
		}
	self->start = tick;
	EXPECT_EQ(0, start(self));
}

TEST_F(uapi, each_region_flag_is_known_or_not_supported)
{
	int bit;

	self->region.bytes = 8;
	for (bit = 0; bit < 32; bit++) {
		self->region.flags = 1U << bit;
		EXPECT_EQ(self->region.flags & REGION_FLAGS ? 0 : -EOPNOTSUPP,
			  start(self))
			TH_LOG("flag bit %d", bit);
	}
}

TEST_F(uapi, flags_that_contradict_each_other_are_invalid)
{
	self->region.flags = PROFIL_REGION_F_PER_COUNTER |
			     PROFIL_REGION_F_BSD_ROUNDING;
	EXPECT_EQ(-EINVAL, start(self));
	self->region.flags |= PROFIL_REGION_F_U32;
	self->region.bytes = 4;
	EXPECT_EQ(-EINVAL, start(self));
}

/* A START that succeeds, and after it the profile is off and counts nothing. */
static void expect_ended(struct __test_metadata *_metadata,
			 FIXTURE_DATA(uapi) *self)
{
	struct profil_ioc_stats stats;
	__u64 ticks;

	EXPECT_EQ(0, start(self));
	ASSERT_EQ(0, profil_stats(self->fd, &stats));
	EXPECT_EQ(PROFIL_STATE_OFF, stats.out_state);
	EXPECT_TRUE(check_identity(&stats));
	ticks = stats.out_ticks;
	burn_uncounted(self->fd, hot_a, 3);
	ASSERT_EQ(0, profil_stats(self->fd, &stats));
	EXPECT_EQ(ticks, stats.out_ticks);
}

TEST_F(uapi, no_region_ends_the_profile)
{
	ASSERT_EQ(0, start(self));
	ASSERT_TRUE(burn(self->fd, hot_a, 3));
	self->start.region_num = 0;
	self->start.regions_uptr = 0;
	expect_ended(_metadata, self);
	/* Again is as good as once, and then it begins anew. */
	expect_ended(_metadata, self);
	self->start.region_num = 1;
	self->start.regions_uptr = UPTR(&self->region);
	ASSERT_EQ(0, start(self));
	EXPECT_TRUE(burn(self->fd, hot_a, 3));
}

TEST_F(uapi, scale_zero_ends_the_profile)
{
	ASSERT_EQ(0, start(self));
	ASSERT_TRUE(burn(self->fd, hot_a, 3));
	self->region.scale = 0;
	expect_ended(_metadata, self);
	/* No histogram is looked at: profil(NULL, 0, 0, 0) asks for it, too. */
	self->region = (struct profil_region){ .buf_uptr = 1, .bytes = 2 };
	expect_ended(_metadata, self);
	self->region = page_region(hot_a, self->counter);
	ASSERT_EQ(0, start(self));
	EXPECT_TRUE(burn(self->fd, hot_a, 3));
}

TEST_F(uapi, region_of_scale_zero_is_left_out)
{
	struct profil_region regions[] = {
		page_region(hot_a, NULL),
		page_region(hot_b, self->counter),
		page_region(hot_a, self->counter + 1),
	};

	regions[0].scale = 0;
	regions[2].scale = 0;
	self->start.regions_uptr = UPTR(regions);
	self->start.region_num = ARRAY_SIZE(regions);
	ASSERT_EQ(0, start(self));
	ASSERT_TRUE(burn(self->fd, hot_a, 10));
	ASSERT_TRUE(burn(self->fd, hot_b, 10));
	/* Nor is one left. */
	regions[1].scale = 0;
	expect_ended(_metadata, self);
	EXPECT_LT(0, self->counter[0]);
	EXPECT_EQ(0, self->counter[1]);
}

TEST_F(uapi, regions_up_to_the_limit_are_accepted_and_no_more)
{
	struct profil_region *regions = calloc(4097, sizeof(*regions));
	struct profil_ioc_query query;
	__u32 i;

	ASSERT_NE(NULL, regions);
	ASSERT_EQ(0, profil_query(self->fd, &query));
	ASSERT_EQ(4096, query.out_regions_max);
	for (i = 0; i < 4097; i++) {
		regions[i] = self->region;
		regions[i].offset += 2 * i;
	}
	self->start.regions_uptr = UPTR(regions);
	self->start.region_num = 4097;
	EXPECT_EQ(-E2BIG, start(self));
	self->start.region_num = ~0U;
	EXPECT_EQ(-E2BIG, start(self));
	self->start.region_num = 4096;
	EXPECT_EQ(0, start(self));
	free(regions);
}

/* A later version's longer regions, of which this one knows the beginning. */
struct long_region {
	struct profil_region region;
	__u8 tail[24];
};

TEST_F(uapi, longer_region_is_accepted_if_its_tail_is_zero)
{
	struct long_region regions[2] = {
		{ .region = self->region },
		{ .region = page_region(hot_b, self->counter + 1), .tail[23] = 1 },
	};

	self->start.regions_uptr = UPTR(regions);
	self->start.region_len = sizeof(regions[0]);
	EXPECT_EQ(0, start(self));
	self->start.region_num = 2;
	EXPECT_EQ(-E2BIG, start(self));
	regions[1].tail[23] = 0;
	ASSERT_EQ(0, start(self));
	/* The second was found at the stride. */
	ASSERT_TRUE(burn(self->fd, hot_b, 10));
	ASSERT_EQ(0, profil_stop(self->fd));
	EXPECT_EQ(0, self->counter[0]);
	EXPECT_LT(0, self->counter[1]);
}

TEST_F(uapi, region_length_that_overflows_fails)
{
	int ret;

	self->start.region_len = ~0U;
	self->start.region_num = 4096;
	ret = start(self);
	EXPECT_TRUE(ret == -EFAULT || ret == -E2BIG);
}

TEST_F(uapi, regions_that_cannot_be_read_are_a_fault)
{
	char *page = page_alloc();

	ASSERT_NE(NULL, page);
	self->start.regions_uptr = 0;
	EXPECT_EQ(-EFAULT, start(self));
	self->start.regions_uptr = 0xffff800000000000ULL;
	EXPECT_EQ(-EFAULT, start(self));
	self->start.regions_uptr = ~0ULL - 15;
	EXPECT_EQ(-EFAULT, start(self));
	ASSERT_EQ(0, mprotect(page, PAGE, PROT_NONE));
	self->start.regions_uptr = UPTR(page);
	EXPECT_EQ(-EFAULT, start(self));
}

TEST_F(uapi, each_scale_is_accepted)
{
	int bit;

	for (bit = 0; bit < 32; bit++) {
		self->region.scale = 1U << bit;
		EXPECT_EQ(0, start(self));
		self->region.scale |= self->region.scale - 1;
		EXPECT_EQ(0, start(self));
	}
}

/* At each place of a set, and the histogram of the others is right. */
TEST_F(uapi, histogram_that_is_not_aligned_to_its_counter_is_invalid)
{
	static const __u32 flags[] = {
		0, PROFIL_REGION_F_U32, PROFIL_REGION_F_OVERFLOW,
		PROFIL_REGION_F_U32 | PROFIL_REGION_F_OVERFLOW,
	};
	struct profil_region regions[3];
	__u32 i, at, place, width;

	self->start.regions_uptr = UPTR(regions);
	self->start.region_num = ARRAY_SIZE(regions);
	for (i = 0; i < ARRAY_SIZE(flags); i++)
		for (at = 0; at < 8; at++) {
			width = flags[i] & PROFIL_REGION_F_U32 ? 4 : 2;
			place = at % ARRAY_SIZE(regions);
			regions[0] = page_region(hot_a, self->counter + 16);
			regions[1] = page_region(hot_b, self->counter + 17);
			regions[2] = page_region(hot_c, self->counter + 18);
			regions[place].buf_uptr = UPTR(self->counter) + at;
			regions[place].bytes = 8;
			regions[place].flags = flags[i];
			EXPECT_EQ(at % width ? -EINVAL : 0, start(self))
				TH_LOG("flags %#x at %u", flags[i], at);
		}
}

TEST_F(uapi, histogram_that_is_not_aligned_leaves_the_profile_running)
{
	struct profil_region regions[] = {
		page_region(hot_a, self->counter + 1), page_region(hot_b, self->counter + 2),
	};
	struct profil_ioc_stats stats;

	ASSERT_EQ(0, start(self));
	ASSERT_TRUE(burn(self->fd, hot_a, 3));
	regions[1].buf_uptr++;
	self->start.regions_uptr = UPTR(regions);
	self->start.region_num = ARRAY_SIZE(regions);
	EXPECT_EQ(-EINVAL, start(self));
	ASSERT_TRUE(burn(self->fd, hot_a, 20));
	ASSERT_TRUE(profil_finish(self->fd, &stats));
	EXPECT_LT(5, self->counter[0]);
	EXPECT_EQ(stats.out_in_range, self->counter[0]);
	EXPECT_EQ(0, sum_u16(self->counter + 1, PAGE / 2 - 1));
}

TEST_F(uapi, rate_above_that_of_the_ticks_is_not_supported)
{
	struct profil_ioc_query query;
	struct profil_ioc_stats stats;
	__u32 more;

	ASSERT_EQ(0, profil_query(self->fd, &query));
	self->start.rate = query.out_tick_hz;
	EXPECT_EQ(0, start(self));
	for (more = 1; more; more *= 2) {
		self->start.rate = query.out_tick_hz + more;
		EXPECT_EQ(-EOPNOTSUPP, start(self))
			TH_LOG("%u", self->start.rate);
	}
	self->start.rate = ~0U;
	EXPECT_EQ(-EOPNOTSUPP, start(self));
	ASSERT_EQ(0, profil_stats(self->fd, &stats));
	EXPECT_EQ(PROFIL_STATE_ON, stats.out_state);
	EXPECT_EQ(query.out_tick_hz, stats.out_rate);
}

static int device_mmap(int fd, size_t len, int prot, int flags, off_t offset)
{
	void *at = mmap(NULL, len, prot, flags, fd, offset);

	if (at == MAP_FAILED)
		return -errno;
	munmap(at, len);
	return 0;
}

TEST_F(uapi, mmap_of_the_device_is_invalid)
{
	static const int prots[] = {
		PROT_NONE, PROT_READ, PROT_READ | PROT_WRITE,
	};
	/* The last is the largest whole page there is. */
	off_t offsets[] = {
		0, PAGE, 2 * PAGE, 1L << 30, LONG_MAX & ~(PAGE - 1),
	};
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(prots); i++)
		for (j = 0; j < ARRAY_SIZE(offsets); j++) {
			EXPECT_EQ(-EINVAL, device_mmap(self->fd, PAGE, prots[i],
						       MAP_SHARED, offsets[j]));
			EXPECT_EQ(-EINVAL, device_mmap(self->fd, PAGE, prots[i],
						       MAP_PRIVATE,
						       offsets[j]));
			EXPECT_EQ(-EINVAL, device_mmap(self->fd, 4 * PAGE,
						       prots[i], MAP_SHARED,
						       offsets[j]));
		}
	/* Nor once there is an anchor to find the offset by. */
	ASSERT_EQ(0, start(self));
	EXPECT_EQ(-EINVAL, device_mmap(self->fd, PAGE, PROT_NONE, MAP_PRIVATE,
				       0));
	EXPECT_EQ(-EINVAL, device_mmap(self->fd, PAGE, PROT_NONE, MAP_SHARED,
				       0));
}

struct mapper {
	int fd;
	volatile unsigned long tries;
	unsigned long other;
	volatile bool stop;
};

static void *mapper_fn(void *arg)
{
	struct mapper *mapper = arg;
	int flags;

	while (!mapper->stop) {
		flags = mapper->tries++ & 1 ? MAP_SHARED : MAP_PRIVATE;
		if (device_mmap(mapper->fd, PAGE, PROT_NONE, flags, 0) !=
		    -EINVAL)
			mapper->other++;
	}
	return NULL;
}

TEST_F(uapi, mmap_by_another_thread_during_start_is_invalid)
{
	struct mapper mapper = { .fd = self->fd };
	unsigned long anchor;
	pthread_t thread;
	int i, num;

	ASSERT_EQ(0, pthread_create(&thread, NULL, mapper_fn, &mapper));
	/* The other one may have to wait for its turn. */
	for (i = 0; i < 300 || !mapper.tries; i++) {
		EXPECT_EQ(0, start(self));
		anchor = find_anchor(&num);
		EXPECT_EQ(1, num);
		/* So that the next START has to map one. */
		munmap((void *)anchor, PAGE);
	}
	mapper.stop = true;
	pthread_join(thread, NULL);
	EXPECT_EQ(0, mapper.other);
}

TEST_F(uapi, any_user_may_profile_itself)
{
	struct profil_ioc_stats stats;
	int fd;

	ASSERT_EQ(0, setgid(1000));
	ASSERT_EQ(0, setuid(1000));
	fd = profil_open();
	ASSERT_LE(0, fd);
	EXPECT_EQ(0, profil_ioctl(fd, PROFIL_IOC_START, &self->start));
	EXPECT_TRUE(burn(fd, hot_a, 20));
	EXPECT_EQ(0, profil_stop(fd));
	EXPECT_EQ(0, profil_stats(fd, &stats));
	EXPECT_EQ(stats.out_in_range, *self->counter);
	EXPECT_LT(0, stats.out_in_range);
	close(fd);
}

TEST_HARNESS_MAIN
