// SPDX-License-Identifier: GPL-2.0-only
/* Where a sample falls: regions, scales, ends and system time. */
#include "ticks.h"

FIXTURE_WITH_PAGE(region)

/* Ends the profile with everything delivered that can be. */
static void finish(struct __test_metadata *_metadata,
		   FIXTURE_DATA(region) *self)
{
	ASSERT_TRUE(profil_finish(self->fd, &self->stats));
	EXPECT_EQ(0, self->stats.out_pending);
}

TEST_F(region, each_function_has_its_bin)
{
	struct profil_region regions[] = {
		page_region(hot_a, self->counter),
		page_region(hot_b, self->counter + 1),
		page_region(hot_c, self->counter + 2),
	};

	ASSERT_EQ(0, profil_start(self->fd, regions, 3));
	ASSERT_TRUE(burn(self->fd, hot_a, 60));
	EXPECT_LT(30, self->counter[0]);
	EXPECT_EQ(0, self->counter[1]);
	ASSERT_TRUE(burn(self->fd, hot_b, 20));
	EXPECT_LT(30, self->counter[0]);
	EXPECT_LT(8, self->counter[1]);
	finish(_metadata, self);
	EXPECT_EQ(self->stats.out_in_range, sum_u16(self->counter, PAGE / 2));
	EXPECT_EQ(self->stats.out_in_range,
		  self->counter[0] + self->counter[1] + self->counter[2]);
}

TEST_F(region, code_in_no_region_is_outside)
{
	ASSERT_EQ(0, profil_start_page(self->fd, hot_a, self->counter));
	ASSERT_TRUE(burn(self->fd, hot_b, 50));
	finish(_metadata, self);
	EXPECT_EQ(0, self->counter[0]);
	EXPECT_EQ(0, self->stats.out_in_range);
	EXPECT_LE(50, self->stats.out_outside);
}

TEST_F(region, program_counter_below_the_offset_is_outside)
{
	struct profil_region region = page_region(hot_b, self->counter);

	ASSERT_EQ(0, profil_start(self->fd, &region, 1));
	ASSERT_TRUE(burn(self->fd, hot_a, 30));
	/* Had the difference wrapped, it could be anybody's counter. */
	region.scale = ~0U;
	region.bytes = PAGE;
	ASSERT_EQ(0, profil_start(self->fd, &region, 1));
	ASSERT_TRUE(burn(self->fd, hot_a, 20));
	finish(_metadata, self);
	EXPECT_LE(50, self->stats.out_outside);
	EXPECT_EQ(0, self->stats.out_in_range);
	EXPECT_EQ(0, sum_u16(self->counter, PAGE / 2));
}

TEST_F(region, beyond_the_end_of_the_histogram_is_outside)
{
	struct profil_region region = page_region(hot_a, self->counter + 1);

	/* Two counters to the page; the loop is in the first, or in neither. */
	region.scale = 2 * PAGE_SCALE;
	region.offset -= PAGE / 2;
	ASSERT_EQ(0, profil_start(self->fd, &region, 1));
	ASSERT_TRUE(burn(self->fd, hot_a, 30));
	finish(_metadata, self);
	EXPECT_EQ(0, self->stats.out_in_range);
	EXPECT_LE(30, self->stats.out_outside);
	EXPECT_EQ(0, sum_u16(self->counter, PAGE / 2));
}

TEST_F(region, remainder_below_one_counter_is_not_used)
{
	struct profil_region region = page_region(hot_a, self->counter);

	region.bytes = 1;
	ASSERT_EQ(0, profil_start(self->fd, &region, 1));
	ASSERT_TRUE(burn(self->fd, hot_a, 20));
	ASSERT_TRUE(settle(self->fd, &self->stats));
	EXPECT_EQ(0, self->stats.out_in_range);
	EXPECT_EQ(0, self->counter[0]);

	/* The second counter would be the loop's, and is one byte too short. */
	region.bytes = 3;
	region.offset -= PAGE;
	ASSERT_EQ(0, profil_start(self->fd, &region, 1));
	ASSERT_TRUE(burn(self->fd, hot_a, 20));
	ASSERT_TRUE(settle(self->fd, &self->stats));
	EXPECT_EQ(0, self->stats.out_in_range);

	region.bytes = 4;
	ASSERT_EQ(0, profil_start(self->fd, &region, 1));
	ASSERT_TRUE(burn(self->fd, hot_a, 20));
	finish(_metadata, self);
	EXPECT_EQ(0, self->counter[0]);
	EXPECT_LT(8, self->counter[1]);
}

TEST_F(region, the_largest_offset_not_above_the_pc_has_it)
{
	struct profil_region *regions = calloc(4096, sizeof(*regions));
	__u16 *counters = mmap(NULL, 4096 * sizeof(*counters),
			       PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int i, at;

	ASSERT_NE(NULL, regions);
	ASSERT_NE(MAP_FAILED, counters);
	/*
	 * All would have the loop in their one counter, which is 128 KiB of
	 * code.  4094 begin below it, one with it, one after it; 1237 is prime,
	 * so that they come in no order.
	 */
	for (i = 0; i < 4096; i++) {
		at = i * 1237 % 4096;
		regions[at] = page_region(hot_a, counters + i);
		regions[at].scale = 1;
		regions[at].offset += 2 * (i - 4094);
	}
	regions[4095 * 1237 % 4096].offset += PAGE - 2;
	ASSERT_EQ(0, profil_start(self->fd, regions, 4096));
	ASSERT_TRUE(burn(self->fd, hot_a, 50));
	finish(_metadata, self);
	EXPECT_LT(25, counters[4094]);
	EXPECT_EQ(0, sum_u16(counters, 4094));
	EXPECT_EQ(self->stats.out_in_range, sum_u16(counters, 4096));
	EXPECT_TRUE(none_lost_before_the_end(&self->stats));
}

FIXTURE(system) {
	int fd;
	int zero;
	char *sink;
	struct profil_ioc_stats stats;
};

FIXTURE_SETUP(system)
{
	self->fd = profil_open();
	ASSERT_LE(0, self->fd);
	self->zero = open("/dev/zero", O_RDONLY);
	ASSERT_LE(0, self->zero);
	self->sink = malloc(1 << 16);
	ASSERT_NE(NULL, self->sink);
	memset(self->sink, 0, 1 << 16);
}

FIXTURE_TEARDOWN(system)
{
	close(self->fd);
	close(self->zero);
}

/*
 * Until @ticks more ticks, reads zeros: mostly in the kernel, but how many of
 * the ticks come just after the return is the machine's affair.
 */
static bool burn_reading(FIXTURE_DATA(system) *self, __u64 ticks)
{
	struct profil_ioc_stats stats;
	__u64 end;

	if (profil_stats(self->fd, &stats))
		return false;
	end = stats.out_ticks + ticks;
	do {
		read_loop(self->zero, self->sink, 1 << 16, 20);
		if (profil_stats(self->fd, &stats))
			return false;
	} while (stats.out_state == PROFIL_STATE_ON && stats.out_ticks < end);
	return stats.out_state == PROFIL_STATE_ON;
}

struct scale_case {
	__u32 scale;
	__s32 back;		/* from read_loop to the offset */
};

TEST_F(system, time_falls_on_the_bin_of_the_return_address)
{
	static const struct scale_case cases[] = {
		{ 65536, 0 }, { 65536, -1 }, { 65536, 7 }, { 32768, 0 },
		{ 32768, 3 }, { 1, 0 }, { 1, 200000 }, { 2, 65536 },
		{ 3, 131071 }, { PAGE_SCALE, 4095 }, { PAGE_SCALE, 4096 },
		{ 131072, 0 }, { 0x12345678, 0 }, { ~0U, 0 }, { 1000, 12345 },
	};
	const size_t num = 1 << 22;
	__u64 distance, bin, before;
	struct profil_region region;
	__u16 *counters;
	size_t i;

	/* Reserved only: what is not counted in takes no memory. */
	counters = mmap(NULL, num * sizeof(*counters), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	ASSERT_NE(MAP_FAILED, counters);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		region = page_region(read_loop, counters);
		region.bytes = num * sizeof(*counters);
		region.offset -= cases[i].back;
		region.scale = cases[i].scale;
		distance = (UPTR(read_return) - region.offset) / 2;
		bin = (distance >> 16) * region.scale +
		      ((distance & 0xffff) * region.scale >> 16);
		ASSERT_LT(bin, num);
		before = counters[bin];
		ASSERT_EQ(0, profil_start(self->fd, &region, 1));
		ASSERT_TRUE(burn_reading(self, 20));
		ASSERT_TRUE(settle(self->fd, &self->stats));
		EXPECT_LE(2, counters[bin] - before)
			TH_LOG("scale %u offset -%d bin %llu", region.scale,
			       cases[i].back, bin);
	}
	ASSERT_EQ(0, profil_stop(self->fd));
	ASSERT_EQ(0, profil_stats(self->fd, &self->stats));
	EXPECT_TRUE(check_identity(&self->stats));
	EXPECT_EQ(self->stats.out_in_range, sum_u16(counters, num));
}

/* As take_pair(), and of the same moment those that found user mode. */
static bool take_user(int fd, const struct instance *all, const struct instance *of_user,
		      __u64 *events, __u64 *user, struct profil_ioc_stats *stats)
{
	do {
		if (!take_pair(all, fd, events, stats))
			return false;
		*user = instance_count(of_user);
	} while (instance_count(all) != *events);
	return true;
}

/* In the kernel and in user mode; how many of which is the machine's affair. */
static bool burn_both(FIXTURE_DATA(system) *self, const struct profil_ioc_stats *first)
{
	__u64 user, system;

	do {
		read_loop(self->zero, self->sink, 1 << 14, 20);
		hot_b(HOT_ROUNDS / 4);
		if (profil_stats(self->fd, &self->stats))
			return false;
		system = self->stats.out_system - first->out_system;
		user = self->stats.out_ticks - first->out_ticks - system;
	} while (system + user < 150 || system <= 10 || user <= 10);
	return settle(self->fd, &self->stats);
}

TEST_F(system, user_only_leaves_out_exactly_the_ticks_in_the_kernel)
{
	__u64 user_first, user_last, all_first, all_last;
	__u16 *counter = page_alloc();
	struct profil_region region = page_region(read_loop, counter);
	struct instance all, user;
	struct profil_ioc_stats first;
	pid_t tid = getpid();

	ASSERT_NE(NULL, counter);
	ASSERT_EQ(0, event_create());
	ASSERT_EQ(0, instance_create(&all));
	ASSERT_EQ(0, instance_create(&user));
	ASSERT_EQ(0, instance_watch(&all, &tid, 1, ALL_TICKS));
	ASSERT_EQ(0, instance_watch(&user, &tid, 1, USER_TICKS));
	ASSERT_EQ(0, profil_start_flags(self->fd, &region, 1, PROFIL_START_F_USER_ONLY));
	ASSERT_TRUE(take_user(self->fd, &all, &user, &all_first, &user_first, &first));
	ASSERT_TRUE(burn_both(self, &first));
	ASSERT_TRUE(take_user(self->fd, &all, &user, &all_last, &user_last, &self->stats));
	EXPECT_EQ(all_last - all_first, self->stats.out_ticks - first.out_ticks);
	EXPECT_EQ(user_last - user_first,
		  self->stats.out_ticks - self->stats.out_system -
			  (first.out_ticks - first.out_system));
	EXPECT_LT(10, self->stats.out_system);
	EXPECT_LT(10, user_last - user_first);
	ASSERT_TRUE(profil_finish(self->fd, &self->stats));
	EXPECT_TRUE(none_lost_before_the_end(&self->stats));
	EXPECT_EQ(self->stats.out_in_range, *counter);
	instance_destroy(&all);
	instance_destroy(&user);
	event_remove();
}

TEST_F(system, time_is_charged_and_deferred)
{
	__u16 *counter = page_alloc();

	ASSERT_NE(NULL, counter);
	ASSERT_EQ(0, profil_start_page(self->fd, read_loop, counter));
	ASSERT_TRUE(burn_reading(self, 100));
	ASSERT_TRUE(profil_finish(self->fd, &self->stats));
	EXPECT_LE(10, *counter);
	EXPECT_EQ(self->stats.out_in_range, *counter);
	EXPECT_LE(10, self->stats.out_deferred);
	EXPECT_EQ(0, self->stats.out_lost_full);
}

/* One read that takes many ticks: its samples are one record with a count. */
TEST_F(system, a_long_system_call_loses_nothing)
{
	const size_t len = 32UL << 20;
	__u16 *counter = page_alloc();
	char *sink;

	ASSERT_NE(NULL, counter);
	sink = mmap(NULL, len, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, sink);
	ASSERT_EQ(0, profil_start_page(self->fd, read_loop, counter));
	do {
		/* Memory touched for the first time makes a read slow. */
		ASSERT_EQ(0, madvise(sink, len, MADV_DONTNEED));
		read_loop(self->zero, sink, len, 1);
		ASSERT_EQ(0, profil_stats(self->fd, &self->stats));
	} while (self->stats.out_ticks < 50 || self->stats.out_in_range <= 25);
	ASSERT_TRUE(profil_finish(self->fd, &self->stats));
	EXPECT_EQ(self->stats.out_in_range, *counter);
	EXPECT_LT(25, *counter);
	EXPECT_EQ(0, self->stats.out_lost_full);
	EXPECT_EQ(0, self->stats.out_lost_contended);
}

TEST_HARNESS_MAIN
