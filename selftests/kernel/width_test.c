// SPDX-License-Identifier: GPL-2.0-only
/*
 * The counters, of 16 and of 32 bits.  A counter has what was there and one for
 * each sample, and its neighbours what they had.
 */
#include "profil_common.h"

/* Two pages, of which the counter under test is @bytes at @at. */
#define SPAN		(2 * PAGE)
#define FILL		0x5a

FIXTURE(width) {
	int fd;
	__u8 *pages;
	__u32 at;
	struct profil_region region;
	__u32 max;
	struct profil_ioc_stats stats;
};

/* In either half of a word, the last of a cache line, and the last of the page. */
FIXTURE_VARIANT(width) {
	__u32 bytes;
	__u32 places[4];
};

FIXTURE_VARIANT_ADD(width, u16) {
	.bytes = 2,
	.places = { 8, 10, 62, PAGE - 2 },
};

FIXTURE_VARIANT_ADD(width, u32) {
	.bytes = 4,
	.places = { 8, 12, 60, PAGE - 4 },
};

static __u32 counter_get(const void *at, __u32 bytes)
{
	return bytes == 4 ? *(const volatile __u32 *)at : *(const volatile __u16 *)at;
}

static void counter_set(void *at, __u32 bytes, __u32 value)
{
	if (bytes == 4)
		*(__u32 *)at = value;
	else
		*(__u16 *)at = value;
}

FIXTURE_SETUP(width)
{
	self->fd = profil_open();
	ASSERT_LE(0, self->fd);
	self->pages = mmap(NULL, SPAN, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->pages);
	self->max = ~0U >> (32 - 8 * variant->bytes);
}

FIXTURE_TEARDOWN(width)
{
	close(self->fd);
}

static bool neighbours_are(const __u8 *pages, __u32 at, __u32 bytes, __u8 fill)
{
	__u32 i;

	for (i = 0; i < SPAN; i++)
		if (i - at >= bytes && pages[i] != fill)
			return false;
	return true;
}

/* Goes on to the next place, of whose two pages all is @fill. */
static bool next_place(FIXTURE_DATA(width) *self,
		       const FIXTURE_VARIANT(width) *variant, size_t i,
		       __u8 fill)
{
	if (i == ARRAY_SIZE(variant->places))
		return false;
	self->at = variant->places[i];
	memset(self->pages, fill, SPAN);
	self->region = page_region(hot_a, self->pages + self->at);
	self->region.bytes = variant->bytes;
	self->region.flags = variant->bytes == 4 ? PROFIL_REGION_F_U32 : 0;
	return true;
}

/* Ends the profile with everything delivered. */
static void finish(struct __test_metadata *_metadata,
		   FIXTURE_DATA(width) *self,
		   const FIXTURE_VARIANT(width) *variant, __u8 fill)
{
	EXPECT_TRUE(profil_finish(self->fd, &self->stats));
	EXPECT_EQ(self->stats.out_lost_exit, lost_before_the_end(&self->stats));
	EXPECT_TRUE(neighbours_are(self->pages, self->at, variant->bytes, fill))
		TH_LOG("at %u", self->at);
}

/*
 * Samples into the counter, which has @prefill before: how many were counted,
 * and in @saturated, if given, how many were not.
 */
static __u64 run_width(struct __test_metadata *_metadata,
		       FIXTURE_DATA(width) *self,
		       const FIXTURE_VARIANT(width) *variant, __u64 prefill,
		       __u64 *saturated)
{
	__u64 before;

	counter_set(self->pages + self->at, variant->bytes, prefill);
	EXPECT_EQ(0, profil_start(self->fd, &self->region, 1));
	EXPECT_EQ(0, profil_stats(self->fd, &self->stats));
	before = self->stats.out_in_range;
	*saturated = self->stats.out_saturated;
	EXPECT_TRUE(burn(self->fd, hot_a, 12));
	finish(_metadata, self, variant, FILL);
	*saturated = self->stats.out_saturated - *saturated;
	return self->stats.out_in_range - before;
}

static __u64 counter_now(const FIXTURE_DATA(width) *self,
			 const FIXTURE_VARIANT(width) *variant)
{
	return counter_get(self->pages + self->at, variant->bytes);
}

/* Over the end of each byte and half word that it has. */
TEST_F(width, counts_on_from_what_is_there)
{
	static const __u32 prefills[] = { 0, 0xfd, 0xfffd, 0xfffffd };
	__u64 counted, saturated;
	size_t i, j;

	for (i = 0; next_place(self, variant, i, FILL); i++)
		for (j = 0; j < ARRAY_SIZE(prefills); j++) {
			if (prefills[j] > self->max - 1000)
				break;
			counted = run_width(_metadata, self, variant,
					    prefills[j], &saturated);
			EXPECT_LT(3, counted);
			EXPECT_EQ(0, saturated);
			EXPECT_EQ(prefills[j] + counted,
				  counter_now(self, variant))
				TH_LOG("at %u", self->at);
		}
}

/* And what is missing to that is counted, but no more. */
TEST_F(width, a_full_counter_stays_and_is_saturated)
{
	__u64 saturated, missing;
	size_t i;

	for (missing = 0; missing < 2; missing++)
		for (i = 0; next_place(self, variant, i, FILL); i++) {
			EXPECT_EQ(missing, run_width(_metadata, self, variant,
						     self->max - missing, &saturated));
			EXPECT_EQ(self->max, counter_now(self, variant))
				TH_LOG("%llu missing at %u", missing, self->at);
			EXPECT_LT(3, saturated);
		}
}

/* Its page has to be made before the first sample can be counted. */
TEST_F(width, page_that_was_never_touched_is_made)
{
	__u64 before, deferred;
	size_t i;

	for (i = 0; next_place(self, variant, i, 0); i++) {
		ASSERT_EQ(0, madvise(self->pages, SPAN, MADV_DONTNEED));
		ASSERT_EQ(0, profil_start(self->fd, &self->region, 1));
		ASSERT_EQ(0, profil_stats(self->fd, &self->stats));
		before = self->stats.out_in_range;
		deferred = self->stats.out_deferred;
		ASSERT_TRUE(burn(self->fd, hot_a, 12));
		finish(_metadata, self, variant, 0);
		EXPECT_LT(deferred, self->stats.out_deferred);
		EXPECT_LT(before + 3, self->stats.out_in_range);
		EXPECT_EQ(self->stats.out_in_range - before,
			  counter_now(self, variant))
			TH_LOG("at %u", self->at);
	}
}

TEST_F(width, threads_lose_nothing)
{
	struct burner burners[3];
	__u64 before = 0;
	size_t i, j;

	for (i = 0; next_place(self, variant, i, FILL); i++) {
		counter_set(self->pages + self->at, variant->bytes, 0xf0);
		ASSERT_EQ(0, profil_start(self->fd, &self->region, 1));
		for (j = 0; j < ARRAY_SIZE(burners); j++)
			ASSERT_EQ(0, burner_start(&burners[j], hot_a));
		ASSERT_TRUE(burn(self->fd, hot_a, 60));
		for (j = 0; j < ARRAY_SIZE(burners); j++)
			burner_join(&burners[j]);
		finish(_metadata, self, variant, FILL);
		EXPECT_LT(before + 30, self->stats.out_in_range);
		EXPECT_EQ(0xf0 + self->stats.out_in_range - before,
			  counter_now(self, variant))
			TH_LOG("at %u", self->at);
		before = self->stats.out_in_range;
	}
}

FIXTURE_WITH_PAGE(dense)

/*
 * Two counters in one word and one beside it, each with a thread of its own: what is
 * written for one must not undo what was written for the other.
 */
TEST_F(dense, counters_side_by_side_lose_nothing)
{
	static void (*const code[])(unsigned long) = { hot_a, hot_b, hot_c };
	struct profil_region regions[ARRAY_SIZE(code)];
	struct burner burners[ARRAY_SIZE(code)];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(code); i++)
		regions[i] = page_region(code[i], self->counter + 5 + i);
	ASSERT_EQ(0, profil_start(self->fd, regions, ARRAY_SIZE(code)));
	for (i = 0; i < ARRAY_SIZE(code); i++)
		ASSERT_EQ(0, burner_start(&burners[i], code[i]));
	ASSERT_TRUE(burn(self->fd, hot_a, 250));
	for (i = 0; i < ARRAY_SIZE(code); i++)
		burner_join(&burners[i]);
	ASSERT_TRUE(profil_finish(self->fd, &self->stats));
	for (i = 0; i < ARRAY_SIZE(code); i++)
		EXPECT_LT(10, self->counter[5 + i]);
	EXPECT_EQ(self->stats.out_in_range, sum_u16(self->counter, PAGE / 2));
	EXPECT_EQ(self->stats.out_lost_exit, lost_before_the_end(&self->stats));
}

TEST_HARNESS_MAIN
