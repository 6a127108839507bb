// SPDX-License-Identifier: GPL-2.0-only
/* Which of several regions has a sample, and what is in none of them. */
#include "profil_common.h"

FIXTURE(overlap) {
	int fd;
	__u8 *page;
	__u16 *counter;		/* the same */
	struct profil_ioc_stats stats;
};

FIXTURE_SETUP(overlap)
{
	ASSERT_OPEN_WITH_PAGE(self->fd, self->page);
	self->counter = (__u16 *)self->page;
}

FIXTURE_TEARDOWN(overlap)
{
	close(self->fd);
}

static struct profil_region overflow_region(void *counter, __u32 bytes)
{
	return (struct profil_region){
		.buf_uptr = UPTR(counter),
		.bytes = bytes,
		.scale = 2,
		.flags = PROFIL_REGION_F_OVERFLOW |
			 (bytes == 4 ? PROFIL_REGION_F_U32 : 0),
	};
}

static void finish(struct __test_metadata *_metadata,
		   FIXTURE_DATA(overlap) *self)
{
	ASSERT_TRUE(profil_finish(self->fd, &self->stats));
	EXPECT_TRUE(none_lost_before_the_end(&self->stats));
}

/* Twenty ticks in each of the three loops. */
static void run_loops(struct __test_metadata *_metadata,
		      FIXTURE_DATA(overlap) *self,
		      const struct profil_region *regions, __u32 num)
{
	ASSERT_EQ(0, profil_start(self->fd, regions, num));
	ASSERT_TRUE(burn(self->fd, hot_a, 20));
	ASSERT_TRUE(burn(self->fd, hot_b, 20));
	ASSERT_TRUE(burn(self->fd, hot_c, 20));
	finish(_metadata, self);
}

/* Regions, and the counters in which the loops of hot_a, hot_b and hot_c then are. */
static const struct layout {
	const char *what;
	__u32 num;
	int has[3];		/* -1: in none */
	struct {
		__s32 offset;	/* from hot_a */
		__u32 at;	/* its first counter */
		__u32 bytes;
		__u32 flags;
	} regions[4];
} layouts[] = {
	{
		"the larger one resumes after a nested one", 2, { 0, 3, 2 },
		{ { 0, 0, 6, 0 }, { PAGE, 3, 2, 0 } },
	}, {
		/*
		 * Given inside out: hot_b, which ends first; then the one that began
		 * between them, which ends before hot_c; then the outermost.
		 */
		"the largest one resumes after two that end apart", 3, { 4, 8, 3 },
		{ { PAGE, 8, 2, 0 }, { 0, 4, 4, 0 }, { -(__s32)PAGE, 0, 8, 0 } },
	}, {
		/* Beyond the end of the first, the next. */
		"of the same offset the first given has it", 3, { 0, 5, 6 },
		{ { 0, 0, 2, 0 }, { 0, 4, 6, 0 }, { 0, 8, 4, 0 } },
	}, {
		"a region without counters hides nothing", 4, { 0, 1, 2 },
		{
			{ 0, 4, 0, 0 }, { 0, 0, 6, 0 }, { PAGE, 5, 1, 0 },
			{ PAGE + 2, 6, 3, PROFIL_REGION_F_U32 },
		},
	}, {
		"overflow may be all there is", 1, { 0, 0, 0 },
		{ { PAGE, 0, 2, PROFIL_REGION_F_OVERFLOW } },
	}, {
		"of two overflow regions the last is used", 3, { 0, 2, 2 },
		{
			{ 0, 1, 2, PROFIL_REGION_F_OVERFLOW }, { 0, 0, 2, 0 },
			{ 0, 2, 2, PROFIL_REGION_F_OVERFLOW },
		},
	}, {
		"overflow without a counter has nothing", 2, { 0, -1, -1 },
		{ { 0, 0, 2, 0 }, { 0, 2, 1, PROFIL_REGION_F_OVERFLOW } },
	},
};

TEST_F(overlap, a_loop_is_in_the_one_region_that_the_rule_says)
{
	const struct layout *layout = layouts;
	struct profil_region regions[4];
	__u64 in_range, outside;
	int i;

	for (; layout < layouts + ARRAY_SIZE(layouts); layout++) {
		for (i = 0; i < 4; i++) {
			regions[i] = page_region(hot_a, self->counter + layout->regions[i].at);
			regions[i].offset += layout->regions[i].offset;
			regions[i].bytes = layout->regions[i].bytes;
			regions[i].flags = layout->regions[i].flags;
			/* Where an overflow region would be, and how much of it: not used. */
			if (regions[i].flags & PROFIL_REGION_F_OVERFLOW)
				regions[i].scale = ~0U;
		}
		memset(self->page, 0, PAGE);
		in_range = self->stats.out_in_range;
		outside = self->stats.out_outside;
		run_loops(_metadata, self, regions, layout->num);
		EXPECT_EQ(self->stats.out_in_range - in_range,
			  sum_u16(self->counter, PAGE / 2))
			TH_LOG("%s", layout->what);
		outside = self->stats.out_outside - outside;
		if (layout->regions[layout->num - 1].bytes > 1 &&
		    layout->regions[layout->num - 1].flags & PROFIL_REGION_F_OVERFLOW) {
			EXPECT_EQ(0, outside)
				TH_LOG("%s", layout->what);
		}
		for (i = 0; i < 3; i++) {
			EXPECT_LT(5, layout->has[i] < 0 ? outside :
				     self->counter[layout->has[i]])
				TH_LOG("%s: loop %d", layout->what, i);
		}
		for (i = 0; i < 16; i++) {
			if (i == layout->has[0] || i == layout->has[1] || i == layout->has[2])
				continue;
			EXPECT_EQ(0, self->counter[i])
				TH_LOG("%s: counter %d", layout->what, i);
		}
	}
}

/* The counter of what is in no region, at each place of the array. */
TEST_F(overlap, overflow_has_what_is_in_no_region)
{
	static const __u32 widths[] = { 2, 4 };
	struct profil_region regions[3];
	__u64 overflow, in_range = 0;
	size_t i, place, next;

	for (i = 0; i < ARRAY_SIZE(widths); i++)
		for (place = 0; place < ARRAY_SIZE(regions); place++) {
			memset(self->page, 0, PAGE);
			next = 0;
			if (next == place)
				next++;
			regions[next++] = page_region(hot_a, self->counter);
			if (next == place)
				next++;
			regions[next++] = page_region(hot_c, self->counter + 1);
			regions[place] = overflow_region(self->page + 64,
							 widths[i]);
			run_loops(_metadata, self, regions, ARRAY_SIZE(regions));
			overflow = 0;
			memcpy(&overflow, self->page + 64, sizeof(overflow));
			EXPECT_LT(5, self->counter[0]);
			EXPECT_LT(5, self->counter[1]);
			EXPECT_LT(5, overflow);
			EXPECT_EQ(self->stats.out_in_range - in_range,
				  self->counter[0] + self->counter[1] +
				  overflow);
			EXPECT_EQ(self->stats.out_in_range - in_range,
				  sum_u16(self->counter, PAGE / 2));
			in_range = self->stats.out_in_range;
		}
	EXPECT_EQ(0, self->stats.out_outside);
}

TEST_F(overlap, overflow_leaves_offset_0_to_others)
{
	/* The program is linked to low addresses, the vdso is above them. */
	struct profil_region low = {
		.buf_uptr = UPTR(self->counter),
		.bytes = PAGE - 8,
		.scale = 1,
	};
	struct profil_region overflow = overflow_region(self->page + PAGE - 8, 2);
	struct profil_region regions[2];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(regions); i++) {
		memset(self->page, 0, PAGE);
		regions[i] = low;
		regions[!i] = overflow;
		ASSERT_EQ(0, profil_start(self->fd, regions, 2));
		ASSERT_TRUE(burn(self->fd, hot_a, 20));
		ASSERT_EQ(0, profil_stop(self->fd));
		EXPECT_LT(5, self->counter[UPTR(hot_a) / 2 / 65536]);
		EXPECT_LT(self->counter[(PAGE - 8) / 2],
			  sum_u16(self->counter, (PAGE - 8) / 2));
	}
	finish(_metadata, self);
	EXPECT_EQ(0, self->stats.out_outside);
}

TEST_F(overlap, overflow_saturates_as_any_counter)
{
	struct profil_region region = overflow_region(self->counter, 2);

	self->counter[0] = 0xfffe;
	self->counter[1] = 0x5a5a;
	run_loops(_metadata, self, &region, 1);
	EXPECT_EQ(0xffff, self->counter[0]);
	EXPECT_EQ(1, self->stats.out_in_range);
	EXPECT_EQ(0x5a5a, self->counter[1]);
	EXPECT_EQ(self->stats.out_ticks - 1, self->stats.out_saturated);
}

/*
 * Random regions in the pages of code that are known, against the rule spelled
 * out without any cleverness.
 */
#define RANDOM_MAX	4096
#define RANDOM_BINS	40
#define RANDOM_ROOM	((RANDOM_BINS + 2) * sizeof(__u32))

struct random_set {
	unsigned int seed;
	__u32 num;
	struct profil_region *region;
	__u8 *counters;		/* RANDOM_ROOM for each */
};

static __u32 random_below(struct random_set *set, __u32 limit)
{
	__u32 high = rand_r(&set->seed) & 0x7fff;

	return ((high << 15) | (rand_r(&set->seed) & 0x7fff)) % limit;
}

static __u32 region_bytes(const struct profil_region *region)
{
	return region->flags & PROFIL_REGION_F_U32 ? 4 : 2;
}

/* The manual's formulas; the products fit, as all code is within 64 KiB. */
static __u64 naive_index(const struct profil_region *region, __u64 pc)
{
	__u64 distance = pc - region->offset;

	if (region->flags & PROFIL_REGION_F_BSD_ROUNDING)
		return distance * region->scale / 131072;
	if (region->flags & PROFIL_REGION_F_PER_COUNTER)
		return distance / region_bytes(region) * region->scale / 65536;
	return distance / 2 * region->scale / 65536;
}

/* The address of the counter, 0 if there is none. */
static __u64 naive_find(const struct random_set *set, __u64 pc)
{
	const struct profil_region *region, *best = NULL, *overflow = NULL;
	__u32 i;

	for (i = 0; i < set->num; i++) {
		region = &set->region[i];
		if (region->flags & PROFIL_REGION_F_OVERFLOW) {
			overflow = region;
			continue;
		}
		if (pc < region->offset ||
		    naive_index(region, pc) >=
			    region->bytes / region_bytes(region))
			continue;
		if (!best || region->offset > best->offset)
			best = region;
	}
	if (best)
		return best->buf_uptr +
		       naive_index(best, pc) * region_bytes(best);
	if (overflow && overflow->bytes >= region_bytes(overflow))
		return overflow->buf_uptr;
	return 0;
}

/* Of any width, form, scale and place; it ends where the known code does. */
static void random_region(struct random_set *set, __u32 i, __u64 near)
{
	static const __u32 widths[] = { 0, PROFIL_REGION_F_U32 };
	static const __u32 forms[] = {
		0, 0, PROFIL_REGION_F_PER_COUNTER, PROFIL_REGION_F_BSD_ROUNDING,
	};
	struct profil_region *region = &set->region[i];
	__u64 bins, most;

	*region = (struct profil_region){
		.buf_uptr = UPTR(set->counters) + i * RANDOM_ROOM,
		.flags = widths[random_below(set, ARRAY_SIZE(widths))] |
			 forms[random_below(set, ARRAY_SIZE(forms))],
		.scale = 1 + random_below(set, 2U << random_below(set, 29)),
	};
	region->buf_uptr += random_below(set, 2) * region_bytes(region);
	switch (random_below(set, 4)) {
	case 0:
		region->offset = CODE_BEGIN +
				 random_below(set, CODE_END - CODE_BEGIN);
		break;
	case 1:
		region->offset = near + 1 - random_below(set, 16);
		break;
	case 2:
		region->offset = near - random_below(set, 4096);
		break;
	case 3:
		region->offset = i ? set->region[random_below(set, i)].offset :
				     near;
	}
	most = naive_index(region, CODE_END);
	bins = random_below(set, RANDOM_BINS);
	if (bins > most)
		bins = most;
	region->bytes = bins * region_bytes(region) +
			random_below(set, region_bytes(region));
}

static void random_fill(struct random_set *set, unsigned int seed, __u64 near)
{
	static const __u32 nums[] = { 1, 2, 3, 7, 30, 300, RANDOM_MAX };
	__u32 i;

	set->seed = seed;
	set->num = nums[random_below(set, ARRAY_SIZE(nums))];
	for (i = 0; i < set->num; i++)
		random_region(set, i, near);
	for (i = random_below(set, 3); i; i--)
		set->region[random_below(set, set->num)].flags |=
			PROFIL_REGION_F_OVERFLOW;
}

static bool code_hits(const struct random_set *set, __u64 begin, __u64 end,
		      __u64 counter)
{
	for (; begin < end; begin++)
		if (naive_find(set, begin) == counter)
			return true;
	return false;
}

/*
 * Adds up all counters.  False if one has counted that no instruction which
 * ran has: @begin to @end is the loop, settle() uses hot_c, and what is
 * elsewhere can only be in the overflow region, which is that of address 0.
 */
static bool random_check(const struct random_set *set, __u64 begin, __u64 end,
			 __u64 *sum)
{
	const struct profil_region *region;
	__u64 at, value;
	__u32 i, bytes;

	*sum = 0;
	for (i = 0; i < set->num; i++) {
		region = &set->region[i];
		bytes = region_bytes(region);
		for (at = region->buf_uptr;
		     at + bytes <= region->buf_uptr + region->bytes;
		     at += bytes) {
			value = 0;
			memcpy(&value, (void *)(uintptr_t)at, bytes);
			*sum += value;
			if (!value || at == naive_find(set, 0) ||
			    code_hits(set, begin, end, at) ||
			    code_hits(set, UPTR(hot_c), UPTR(hot_c) + 16, at))
				continue;
			printf("# %llu in counter %llu of region %u of %u\n",
			       value, (at - region->buf_uptr) / bytes, i,
			       set->num);
			return false;
		}
	}
	return true;
}

static __u64 counter_at(const struct random_set *set, __u64 at)
{
	__u32 i = (at - UPTR(set->counters)) / RANDOM_ROOM;
	__u64 value = 0;

	memcpy(&value, (void *)(uintptr_t)at, region_bytes(&set->region[i]));
	return value;
}

static void random_alloc(struct __test_metadata *_metadata,
			 struct random_set *set)
{
	set->region = calloc(RANDOM_MAX, sizeof(*set->region));
	ASSERT_NE(NULL, set->region);
	set->counters = mmap(NULL, RANDOM_MAX * RANDOM_ROOM,
			     PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
			     0);
	ASSERT_NE(MAP_FAILED, set->counters);
}

/* Where the samples are: @pc, nearly always, and no further than @end. */
static void random_run(struct __test_metadata *_metadata,
		       FIXTURE_DATA(overlap) *self, struct random_set *set,
		       unsigned int seed, const char *begin, const char *end,
		       const char *pc, int zero)
{
	__u64 before, outside, ticks, sum, at;
	char sink[4096];

	ASSERT_EQ(0, madvise(set->counters, RANDOM_MAX * RANDOM_ROOM,
			     MADV_DONTNEED));
	random_fill(set, seed, UPTR(pc));
	/* As the last one ended: START itself may be in the overflow region. */
	before = self->stats.out_in_range;
	outside = self->stats.out_outside;
	ticks = self->stats.out_ticks;
	ASSERT_EQ(0, profil_start(self->fd, set->region, set->num));
	at = naive_find(set, UPTR(pc));
	do {
		ASSERT_GT(ticks + 1000, self->stats.out_ticks)
			TH_LOG("seed %u", seed);
		if (zero < 0)
			spin(HOT_ROUNDS);
		else
			read_loop(zero, sink, sizeof(sink), 200);
		ASSERT_TRUE(settle(self->fd, &self->stats));
	} while (at ? !counter_at(set, at) :
		      self->stats.out_outside - outside < 3);
	ASSERT_EQ(0, profil_stop(self->fd));
	ASSERT_EQ(0, profil_stats(self->fd, &self->stats));
	EXPECT_TRUE(check_identity(&self->stats));
	EXPECT_TRUE(none_lost_before_the_end(&self->stats));
	EXPECT_EQ(0, self->stats.out_saturated);
	EXPECT_TRUE(random_check(set, UPTR(begin), UPTR(end), &sum))
		TH_LOG("seed %u", seed);
	EXPECT_EQ(self->stats.out_in_range - before, sum)
		TH_LOG("seed %u", seed);
}

TEST_F(overlap, random_regions_follow_the_rule_in_user_code)
{
	struct random_set set;
	unsigned int seed;

	random_alloc(_metadata, &set);
	for (seed = 1; seed <= 60; seed++)
		random_run(_metadata, self, &set, seed, (char *)spin,
			   spin_end + 8, spin_begin, -1);
}

TEST_F(overlap, random_regions_follow_the_rule_in_system_calls)
{
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	struct random_set set;
	unsigned int seed;

	ASSERT_LE(0, zero);
	random_alloc(_metadata, &set);
	for (seed = 1001; seed <= 1030; seed++)
		random_run(_metadata, self, &set, seed, (char *)read_loop,
			   read_return + 16, read_return, zero);
	close(zero);
}

TEST_HARNESS_MAIN
