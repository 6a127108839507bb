// SPDX-License-Identifier: GPL-2.0-only
/*
 * The counters: 16, 32 and 64 bits wide, at any address.  A counter has what
 * was there and one for each sample, and its neighbours what they had.
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
	__u64 max;
	struct profil_stats stats;
};

/*
 * Within an aligned word, over two of them, over two cache lines, the last of
 * the page, and over two pages.
 */
FIXTURE_VARIANT(width) {
	__u32 bytes;
	__u32 places[12];	/* up to a 0 */
};

FIXTURE_VARIANT_ADD(width, u16) {
	.bytes = 2,
	.places = { 8, 9, 10, 11, 62, 63, PAGE - 2, PAGE - 1 },
};

FIXTURE_VARIANT_ADD(width, u32) {
	.bytes = 4,
	.places = { 12, 13, 14, 15, 62, PAGE - 4, PAGE - 2, PAGE - 1 },
};

FIXTURE_VARIANT_ADD(width, u64) {
	.bytes = 8,
	.places = {
		16, 17, 18, 19, 20, 21, 22, 23, 60, PAGE - 8, PAGE - 4,
		PAGE - 3,
	},
};

static __u32 width_flags(__u32 bytes)
{
	return bytes == 8 ? PROFIL_REGION_F_U64 :
	       bytes == 4 ? PROFIL_REGION_F_U32 : 0;
}

static __u64 counter_get(const void *at, __u32 bytes)
{
	__u64 u64;
	__u32 u32;
	__u16 u16;

	switch (bytes) {
	case 8:
		memcpy(&u64, at, sizeof(u64));
		return u64;
	case 4:
		memcpy(&u32, at, sizeof(u32));
		return u32;
	default:
		memcpy(&u16, at, sizeof(u16));
		return u16;
	}
}

static void counter_set(void *at, __u32 bytes, __u64 value)
{
	__u32 u32 = value;
	__u16 u16 = value;

	switch (bytes) {
	case 8:
		memcpy(at, &value, sizeof(value));
		break;
	case 4:
		memcpy(at, &u32, sizeof(u32));
		break;
	default:
		memcpy(at, &u16, sizeof(u16));
	}
}

static struct profil_region wide_region(void *code, void *counter, __u32 bytes)
{
	struct profil_region region = page_region(code, counter);

	region.bytes = bytes;
	region.flags = width_flags(bytes);
	return region;
}

static void *span_alloc(void)
{
	void *span = mmap(NULL, SPAN, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return span == MAP_FAILED ? NULL : span;
}

FIXTURE_SETUP(width)
{
	self->fd = profil_open();
	ASSERT_LE(0, self->fd);
	self->pages = span_alloc();
	ASSERT_NE(NULL, self->pages);
	self->max = ~0ULL >> (64 - 8 * variant->bytes);
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
	if (i == ARRAY_SIZE(variant->places) || !variant->places[i])
		return false;
	self->at = variant->places[i];
	memset(self->pages, fill, SPAN);
	self->region = wide_region(hot_a, self->pages + self->at,
				   variant->bytes);
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

/* Over the end of each byte, half word and word that it has. */
TEST_F(width, counts_on_from_what_is_there)
{
	static const __u64 prefills[] = {
		0, 0xfd, 0xfffd, 0xfffffd, 0xfffffffd, 0xffffffff,
		0x1fffffffdULL, 0xfffffffffffdULL,
	};
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

TEST_F(width, wraps_on_request)
{
	__u64 counted, saturated;
	size_t i;

	for (i = 0; next_place(self, variant, i, FILL); i++) {
		self->region.flags |= PROFIL_REGION_F_WRAP;
		counted = run_width(_metadata, self, variant, self->max - 1,
				    &saturated);
		EXPECT_LT(3, counted);
		EXPECT_EQ(0, saturated);
		EXPECT_EQ(counted - 2, counter_now(self, variant))
			TH_LOG("at %u", self->at);
	}
}

/* Both pages have to be made before the first sample can be counted. */
TEST_F(width, pages_that_were_never_touched_are_made)
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

/* A counter on two pages, one of which goes while it is counted in. */
FIXTURE(torn) {
	int fd;
	__u8 *pages;
	struct profil_region region;
	struct profil_stats stats;
};

FIXTURE_VARIANT(torn) {
	__u32 bytes;
	__u32 at;
	__u64 prefill;		/* so that the very next sample needs both */
};

FIXTURE_VARIANT_ADD(torn, u16) {
	.bytes = 2,
	.at = PAGE - 1,
	.prefill = 0xff,
};

FIXTURE_VARIANT_ADD(torn, u32) {
	.bytes = 4,
	.at = PAGE - 2,
	.prefill = 0xffff,
};

FIXTURE_VARIANT_ADD(torn, u64) {
	.bytes = 8,
	.at = PAGE - 3,
	.prefill = 0xffffff,
};

FIXTURE_SETUP(torn)
{
	self->fd = profil_open();
	ASSERT_LE(0, self->fd);
	self->pages = span_alloc();
	ASSERT_NE(NULL, self->pages);
	counter_set(self->pages + variant->at, variant->bytes,
		    variant->prefill);
	self->region = wide_region(hot_a, self->pages + variant->at,
				   variant->bytes);
	ASSERT_EQ(0, profil_start(self->fd, &self->region, 1));
}

FIXTURE_TEARDOWN(torn)
{
	close(self->fd);
}

static void expect_torn(struct __test_metadata *_metadata,
			FIXTURE_DATA(torn) *self)
{
	ASSERT_TRUE(burn_until_state(self->fd, hot_a, PROFIL_STATE_FAULT,
				     &self->stats));
	EXPECT_EQ(self->region.buf_uptr, self->stats.out_fault_addr);
	EXPECT_LT(0, self->stats.out_lost_fault);
	EXPECT_TRUE(check_identity(&self->stats));
}

TEST_F(torn, second_page_read_only_ends_the_profile)
{
	__u64 was;

	ASSERT_EQ(0, mprotect(self->pages + PAGE, PAGE, PROT_READ));
	was = counter_get(self->pages + variant->at, variant->bytes);
	expect_torn(_metadata, self);
	/* All of it or nothing was written. */
	EXPECT_EQ(was, counter_get(self->pages + variant->at, variant->bytes));
}

TEST_F(torn, first_page_read_only_ends_the_profile)
{
	__u64 was;

	ASSERT_EQ(0, mprotect(self->pages, PAGE, PROT_READ));
	was = counter_get(self->pages + variant->at, variant->bytes);
	expect_torn(_metadata, self);
	EXPECT_EQ(was, counter_get(self->pages + variant->at, variant->bytes));
}

TEST_F(torn, second_page_unmapped_ends_the_profile)
{
	ASSERT_EQ(0, munmap(self->pages + PAGE, PAGE));
	expect_torn(_metadata, self);
}

TEST_F(torn, first_page_unmapped_ends_the_profile)
{
	ASSERT_EQ(0, munmap(self->pages, PAGE));
	expect_torn(_metadata, self);
}

TEST_F(torn, page_that_is_not_writable_is_refused_at_start)
{
	ASSERT_EQ(0, profil_stop(self->fd));
	ASSERT_EQ(0, mprotect(self->pages + PAGE, PAGE, PROT_READ));
	EXPECT_EQ(-EFAULT, profil_start(self->fd, &self->region, 1));
	ASSERT_EQ(0, mprotect(self->pages, PAGE, PROT_READ));
	ASSERT_EQ(0, mprotect(self->pages + PAGE, PAGE,
			      PROT_READ | PROT_WRITE));
	EXPECT_EQ(-EFAULT, profil_start(self->fd, &self->region, 1));
}

/*
 * Several counters in the same words, each with threads of its own: what is
 * written for one must not undo what was written for the other.
 */
FIXTURE(dense) {
	int fd;
	__u8 *pages;
	struct profil_stats stats;
};

FIXTURE_VARIANT(dense) {
	__u32 bytes;
	__u32 at;
	__u32 flags;
};

FIXTURE_VARIANT_ADD(dense, u16_at_odd_addresses) {
	.bytes = 2,
	.at = 9,
};

FIXTURE_VARIANT_ADD(dense, u16_over_two_pages) {
	.bytes = 2,
	.at = PAGE - 3,
};

FIXTURE_VARIANT_ADD(dense, u16_aligned) {
	.bytes = 2,
	.at = 10,
};

FIXTURE_VARIANT_ADD(dense, u32_at_odd_addresses) {
	.bytes = 4,
	.at = 17,
};

FIXTURE_VARIANT_ADD(dense, u64_at_odd_addresses) {
	.bytes = 8,
	.at = 17,
};

FIXTURE_VARIANT_ADD(dense, u64_at_odd_words) {
	.bytes = 8,
	.at = 20,
};

FIXTURE_SETUP(dense)
{
	self->fd = profil_open();
	ASSERT_LE(0, self->fd);
	self->pages = span_alloc();
	ASSERT_NE(NULL, self->pages);
}

FIXTURE_TEARDOWN(dense)
{
	close(self->fd);
}

TEST_F(dense, counters_side_by_side_lose_nothing)
{
	static void (*const code[])(unsigned long) = { hot_a, hot_b, hot_c };
	struct profil_region regions[ARRAY_SIZE(code)];
	struct burner burners[ARRAY_SIZE(code)];
	__u64 sum = 0, counter;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(code); i++)
		regions[i] = wide_region(code[i], self->pages + variant->at +
						  i * variant->bytes,
					 variant->bytes);
	ASSERT_EQ(0, profil_start(self->fd, regions, ARRAY_SIZE(code)));
	for (i = 0; i < ARRAY_SIZE(code); i++)
		ASSERT_EQ(0, burner_start(&burners[i], code[i]));
	ASSERT_TRUE(burn(self->fd, hot_a, 250));
	for (i = 0; i < ARRAY_SIZE(code); i++)
		burner_join(&burners[i]);
	ASSERT_TRUE(profil_finish(self->fd, &self->stats));
	for (i = 0; i < ARRAY_SIZE(code); i++) {
		counter = counter_get(self->pages + variant->at +
				      i * variant->bytes, variant->bytes);
		EXPECT_LT(10, counter);
		sum += counter;
	}
	EXPECT_EQ(self->stats.out_in_range, sum);
	EXPECT_EQ(self->stats.out_lost_exit, lost_before_the_end(&self->stats));
}

#define CHILDREN	3

struct shared {
	__u64 counter __attribute__((aligned(8)));
	__u64 in_range[CHILDREN];
	bool stop;
};

/* In a child: counts until told to stop. */
static int count_shared(struct shared *shared, int fd, int index)
{
	struct profil_stats stats;

	while (!__atomic_load_n(&shared->stop, __ATOMIC_RELAXED))
		hot_a(HOT_ROUNDS);
	if (!profil_finish(fd, &stats))
		return 1;
	shared->in_range[index] = stats.out_in_range;
	return !!lost_before_the_end(&stats);
}

/*
 * The carry of 64 bits is a second write.  The program adds to the counter as
 * well, each time just so much that the next samples carry.
 */
TEST(processes_on_one_shared_u64_are_exact_once_quiescent)
{
	struct profil_region region;
	struct profil_stats stats;
	struct shared *shared;
	__u64 added = 0, sum = 0, seen;
	pid_t pids[CHILDREN];
	int fd = profil_open(), i;

	ASSERT_LE(0, fd);
	shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, shared);
	region = wide_region(hot_a, &shared->counter, 8);
	ASSERT_EQ(0, profil_start(fd, &region, 1));
	for (i = 0; i < CHILDREN; i++) {
		pids[i] = fork();
		ASSERT_LE(0, pids[i]);
		if (!pids[i])
			_exit(count_shared(shared, fd, i));
	}
	for (i = 0; i < 20; i++) {
		seen = __atomic_load_n(&shared->counter, __ATOMIC_SEQ_CST);
		seen = (0xfffffffd - seen) & 0xffffffff;
		added += seen;
		__atomic_add_fetch(&shared->counter, seen, __ATOMIC_SEQ_CST);
		EXPECT_TRUE(burn(fd, hot_a, 5));
	}
	__atomic_store_n(&shared->stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < CHILDREN; i++) {
		EXPECT_EQ(0, wait_for(pids[i]));
		sum += shared->in_range[i];
	}
	ASSERT_TRUE(profil_finish(fd, &stats));
	EXPECT_LT(19ULL << 32, added);
	EXPECT_EQ(added + sum + stats.out_in_range, shared->counter);
	close(fd);
}

TEST_HARNESS_MAIN
