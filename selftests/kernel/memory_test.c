// SPDX-License-Identifier: GPL-2.0-only
/* The histogram's memory: refused at START, changed or gone while counting. */

#include "profil_common.h"

FIXTURE_WITH_PAGE(memory)

/* All @bytes at @buf as the histogram of hot_a, which hits the first counter. */
static int start_bytes(FIXTURE_DATA(memory) *self, void *buf, __u64 bytes)
{
	struct profil_region region = page_region(hot_a, buf);

	region.bytes = bytes;
	return profil_start(self->fd, &region, 1);
}

static void *pages(size_t num, int prot)
{
	void *at = mmap(NULL, num * PAGE, prot, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);

	return at == MAP_FAILED ? NULL : at;
}

/* START with a bad histogram: ENXIO, and what was profiled no longer is. */
static void expect_refused(struct __test_metadata *_metadata,
			   FIXTURE_DATA(memory) *self, void *buf, __u64 bytes)
{
	__u64 ticks;

	ASSERT_EQ(0, start_bytes(self, self->counter, 2));
	ASSERT_TRUE(burn(self->fd, hot_a, 2));
	EXPECT_EQ(-ENXIO, start_bytes(self, buf, bytes));
	ASSERT_EQ(0, profil_stats(self->fd, &self->stats));
	EXPECT_EQ(PROFIL_STATE_OFF, self->stats.out_state);
	EXPECT_TRUE(check_identity(&self->stats));
	ticks = self->stats.out_ticks;
	burn_uncounted(self->fd, hot_a, 3);
	ASSERT_EQ(0, profil_stats(self->fd, &self->stats));
	EXPECT_EQ(ticks, self->stats.out_ticks);
}

TEST_F(memory, unmapped_histogram_is_refused)
{
	char *buf = pages(3, PROT_READ | PROT_WRITE);

	ASSERT_NE(NULL, buf);
	ASSERT_EQ(0, munmap(buf, PAGE));
	ASSERT_EQ(0, munmap(buf + 2 * PAGE, PAGE));
	expect_refused(_metadata, self, buf, 2);
	expect_refused(_metadata, self, buf, PAGE);
	/* Only its beginning, only its end, only its middle. */
	expect_refused(_metadata, self, buf + PAGE - 2, 4);
	expect_refused(_metadata, self, buf + PAGE, PAGE + 2);
	expect_refused(_metadata, self, buf, 3 * PAGE);
	EXPECT_EQ(0, start_bytes(self, buf + PAGE, PAGE));
}

#ifdef __aarch64__
/* As a malloc() has them where the machine checks tags. */
TEST_F(memory, tagged_address_is_counted_at)
{
	__u16 *tagged = (void *)(UPTR(self->counter) | 1UL << 56);

	if (prctl(PR_SET_TAGGED_ADDR_CTRL, PR_TAGGED_ADDR_ENABLE, 0, 0, 0))
		SKIP(return, "no tagged addresses");
	ASSERT_EQ(0, start_bytes(self, tagged, 2));
	ASSERT_TRUE(burn(self->fd, hot_a, 5));
	ASSERT_TRUE(profil_finish(self->fd, &self->stats));
	EXPECT_LT(0, *self->counter);
	EXPECT_EQ(self->stats.out_in_range, *self->counter);
}
#endif

TEST_F(memory, histogram_with_a_hole_is_refused)
{
	char *buf = pages(5, PROT_READ | PROT_WRITE);

	ASSERT_NE(NULL, buf);
	ASSERT_EQ(0, munmap(buf + 2 * PAGE, PAGE));
	expect_refused(_metadata, self, buf, 5 * PAGE);
}

TEST_F(memory, null_and_kernel_addresses_are_refused)
{
	struct profil_region region = page_region(hot_a, NULL);

	expect_refused(_metadata, self, NULL, 2);
	expect_refused(_metadata, self, (void *)-PAGE, 2);
	expect_refused(_metadata, self, (void *)-2UL, 2);
	/* An end that wraps around. */
	expect_refused(_metadata, self, self->counter, -UPTR(self->counter));
	expect_refused(_metadata, self, self->counter, ~0ULL);
	expect_refused(_metadata, self, self->counter, 1ULL << 62);
	/* Beyond what a pointer of a 32-bit program can say. */
	region.buf_uptr = 0xffff888000000000ULL;
	EXPECT_EQ(-ENXIO, profil_start(self->fd, &region, 1));
	region.buf_uptr = UPTR(self->counter) + (1ULL << 32);
	if (sizeof(void *) == 4)
		EXPECT_EQ(-ENXIO, profil_start(self->fd, &region, 1));
}

TEST_F(memory, read_only_histogram_is_refused)
{
	char *buf = pages(2, PROT_READ);

	ASSERT_NE(NULL, buf);
	expect_refused(_metadata, self, buf, 2);
	ASSERT_EQ(0, mprotect(buf, PAGE, PROT_READ | PROT_WRITE));
	expect_refused(_metadata, self, buf, 2 * PAGE);
	EXPECT_EQ(0, start_bytes(self, buf, PAGE));
}

TEST_F(memory, inaccessible_histogram_is_refused)
{
	char *buf = pages(1, PROT_NONE);

	ASSERT_NE(NULL, buf);
	expect_refused(_metadata, self, buf, 2);
}

TEST_F(memory, program_text_is_refused)
{
	expect_refused(_metadata, self, hot_b, 2);
}

TEST_F(memory, the_anchor_is_refused)
{
	ASSERT_EQ(0, start_bytes(self, self->counter, 2));
	expect_refused(_metadata, self, (void *)find_anchor(NULL), 2);
}

TEST_F(memory, a_bad_one_among_good_ones_is_refused)
{
	struct profil_region regions[] = {
		page_region(hot_a, self->counter),
		page_region(hot_b, NULL),
		page_region(hot_c, self->counter + 1),
	};

	ASSERT_EQ(0, start_bytes(self, self->counter, 2));
	EXPECT_EQ(-ENXIO, profil_start(self->fd, regions, 3));
	ASSERT_EQ(0, profil_stats(self->fd, &self->stats));
	EXPECT_EQ(PROFIL_STATE_OFF, self->stats.out_state);
}

/* Places that a PC has and that are not the system's memory. */
static void *map_device_memory(void)
{
	static const off_t places[] = { 0xf0000, 0xa0000, 0xc0000 };
	int mem = open("/dev/mem", O_RDWR | O_CLOEXEC);
	void *at = MAP_FAILED;
	size_t i;

	for (i = 0; mem >= 0 && at == MAP_FAILED && i < ARRAY_SIZE(places); i++)
		at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, mem,
			  places[i]);
	if (mem >= 0)
		close(mem);
	return at;
}

TEST_F(memory, device_memory_is_refused)
{
	void *buf = map_device_memory();

	if (buf == MAP_FAILED)
		SKIP(return, "no device memory can be mapped by /dev/mem");
	expect_refused(_metadata, self, buf, 2);
}

TEST_F(memory, every_other_failure_leaves_the_profile_running)
{
	struct profil_region region = page_region(hot_a, self->counter);
	const struct profil_ioc_start right = {
		.size = sizeof(right),
		.region_num = 1,
		.region_len = sizeof(region),
		.regions_uptr = UPTR(&region),
	};
	struct profil_ioc_start wrong[17];
	__u16 *other = page_alloc();
	size_t i;

	ASSERT_NE(NULL, other);
	for (i = 0; i < ARRAY_SIZE(wrong); i++)
		wrong[i] = right;
	wrong[0].size = sizeof(right) - 1;
	wrong[1].flags = 1U << 31;
	wrong[2].size = ~0U;
	wrong[3].region_num = 4097;
	wrong[4].region_len = 31;
	wrong[5].regions_uptr = 0;
	wrong[6].rate = ~0U;
	wrong[7].source = 2;
	wrong[8].jitter = 1;
	wrong[9].__reserved = 1;
	wrong[14].period_ns = 1000000001;
	wrong[15].period_ns = 1;
	wrong[16].period_ns = 10000000;
	wrong[16].rate = 100;
	/* The rest is wrong in the region, see below. */

	ASSERT_EQ(0, profil_start(self->fd, &region, 1));
	ASSERT_TRUE(burn(self->fd, hot_a, 3));
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		region = page_region(hot_a, other);
		if (i == 10)
			region.buf_uptr++;
		else if (i == 11)
			region.flags = 1U << 31;
		else if (i == 12)
			region.flags = PROFIL_REGION_F_PER_COUNTER |
				       PROFIL_REGION_F_BSD_ROUNDING;
		EXPECT_NE(0, i == 13 ?
			  profil_ioctl(self->fd, PROFIL_IOC_START, NULL) :
			  profil_ioctl(self->fd, PROFIL_IOC_START, &wrong[i]))
			TH_LOG("wrong[%zu]", i);
		ASSERT_EQ(0, profil_stats(self->fd, &self->stats));
		ASSERT_EQ(PROFIL_STATE_ON, self->stats.out_state)
			TH_LOG("wrong[%zu]", i);
	}
	ASSERT_TRUE(burn(self->fd, hot_a, 10));
	ASSERT_TRUE(profil_finish(self->fd, &self->stats));
	EXPECT_EQ(self->stats.out_in_range, *self->counter);
	EXPECT_LT(2, *self->counter);
	EXPECT_EQ(0, *other);
}

/* Counts into @counter, and everything is where the statistics say. */
static void expect_counted(struct __test_metadata *_metadata,
			   FIXTURE_DATA(memory) *self, volatile __u16 *counter)
{
	__u64 before;

	ASSERT_EQ(0, start_bytes(self, (void *)counter, 2));
	ASSERT_EQ(0, profil_stats(self->fd, &self->stats));
	before = self->stats.out_in_range;
	ASSERT_TRUE(burn(self->fd, hot_a, 20));
	ASSERT_TRUE(profil_finish(self->fd, &self->stats));
	EXPECT_TRUE(none_lost_before_the_end(&self->stats));
	EXPECT_EQ(self->stats.out_in_range - before, *counter);
	EXPECT_LT(5, *counter);
}

TEST_F(memory, page_that_was_never_touched_is_made)
{
	expect_counted(_metadata, self, self->counter);
	EXPECT_LT(0, self->stats.out_deferred);
}

TEST_F(memory, transparent_huge_page_is_counted)
{
	const size_t huge = 2UL << 20;
	char *at = pages(2 * huge / PAGE, PROT_READ | PROT_WRITE);

	ASSERT_NE(NULL, at);
	at = (char *)(((uintptr_t)at + huge - 1) & ~(huge - 1));
	if (madvise(at, huge, MADV_HUGEPAGE))
		SKIP(return, "this kernel has no transparent huge pages");
	*at = 0;
	expect_counted(_metadata, self, (__u16 *)(at + 5 * PAGE));
	/* And after it was split. */
	ASSERT_EQ(0, munmap(at + 8 * PAGE, PAGE));
	expect_counted(_metadata, self, (__u16 *)(at + 9 * PAGE));
}

TEST_F(memory, shared_memory_file_has_the_counts)
{
	int file = memfd_create("histogram", MFD_CLOEXEC);
	__u16 *counter, content;

	ASSERT_LE(0, file);
	ASSERT_EQ(0, ftruncate(file, PAGE));
	counter = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	ASSERT_NE(MAP_FAILED, counter);
	expect_counted(_metadata, self, counter + 7);
	ASSERT_EQ(sizeof(content), pread(file, &content, sizeof(content), 14));
	EXPECT_EQ(counter[7], content);
}

static int open_temporary(void)
{
	char name[] = "/tmp/profil_memory_XXXXXX";
	int file = mkstemp(name);

	if (file >= 0)
		unlink(name);
	if (file >= 0 && ftruncate(file, PAGE)) {
		close(file);
		return -1;
	}
	return file;
}

TEST_F(memory, mapped_file_has_the_counts)
{
	int file = open_temporary();
	__u16 *counter, content;

	ASSERT_LE(0, file);
	counter = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	ASSERT_NE(MAP_FAILED, counter);
	expect_counted(_metadata, self, counter);
	ASSERT_EQ(0, munmap(counter, PAGE));
	ASSERT_EQ(sizeof(content), pread(file, &content, sizeof(content), 0));
	EXPECT_EQ(self->stats.out_in_range, content);
}

TEST_F(memory, privately_mapped_file_keeps_its_content)
{
	int file = open_temporary();
	__u16 *counter, content;

	ASSERT_LE(0, file);
	counter = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, file,
		       0);
	ASSERT_NE(MAP_FAILED, counter);
	expect_counted(_metadata, self, counter);
	ASSERT_EQ(sizeof(content), pread(file, &content, sizeof(content), 0));
	EXPECT_EQ(0, content);
}

/* A write would be SIGBUS; here nothing happens but what is said. */
static void expect_unready(struct __test_metadata *_metadata, FIXTURE_DATA(memory) *self)
{
	while (!profil_stats(self->fd, &self->stats) &&
	       self->stats.out_state == PROFIL_STATE_ON && !self->stats.out_lost)
		hot_a(HOT_ROUNDS);
	EXPECT_EQ(PROFIL_STATE_ON, self->stats.out_state);
	EXPECT_LT(0, self->stats.out_lost);
	EXPECT_EQ(self->stats.out_lost, self->stats.out_lost_unready);
	EXPECT_TRUE(check_identity(&self->stats));
}

TEST_F(memory, page_beyond_the_end_of_its_file_is_no_histogram)
{
	int file = open_temporary();
	__u16 *counter;

	ASSERT_LE(0, file);
	counter = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	ASSERT_NE(MAP_FAILED, counter);
	ASSERT_EQ(0, start_bytes(self, counter, 2));
	ASSERT_EQ(0, ftruncate(file, 0));
	expect_unready(_metadata, self);
	EXPECT_EQ(0, self->stats.out_in_range);
	/* A file that grows again is counted in. */
	ASSERT_EQ(0, ftruncate(file, PAGE));
	ASSERT_TRUE(burn(self->fd, hot_a, 5));
	ASSERT_TRUE(profil_finish(self->fd, &self->stats));
	EXPECT_LT(0, *counter);
	EXPECT_EQ(self->stats.out_in_range, *counter);
}

/* While a write seals, what is mapped already may be written; what is new, may not. */
TEST_F(memory, sealed_memory_file_is_counted_where_it_may_be_written)
{
	int file = memfd_create("histogram", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	__u16 *counter, *sealed;

	ASSERT_LE(0, file);
	ASSERT_EQ(0, ftruncate(file, PAGE));
	counter = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	ASSERT_NE(MAP_FAILED, counter);
	ASSERT_EQ(0, fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE));
	expect_counted(_metadata, self, counter);
	sealed = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, file, 0);
	ASSERT_NE(MAP_FAILED, sealed);
	EXPECT_EQ(*counter, *sealed);
	expect_refused(_metadata, self, sealed, 2);
	/* A copy of one's own is no part of the file. */
	sealed = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
	ASSERT_NE(MAP_FAILED, sealed);
	*sealed = 0;
	*counter = 0;
	expect_counted(_metadata, self, sealed);
	EXPECT_EQ(0, *counter);
}

#define HUGE		(2UL << 20)
#define HUGE_PAGES	"/proc/sys/vm/nr_hugepages"

/* Its pages are @num at most; NULL if there is nothing of the kind. */
static __u16 *huge_pages(const char *num, int flags)
{
	__u16 *at;

	if (write_file(HUGE_PAGES, 0, num))
		return NULL;
	at = mmap(NULL, HUGE, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_HUGETLB | flags, -1, 0);
	return at == MAP_FAILED ? NULL : at;
}

TEST_F(memory, huge_page_of_hugetlbfs_is_counted)
{
	__u16 *counter = huge_pages("1", MAP_PRIVATE);

	ASSERT_NE(NULL, counter);
	expect_counted(_metadata, self, counter + HUGE / 2 - 1);
	EXPECT_EQ(0, munmap(counter, HUGE));
	EXPECT_EQ(0, write_file(HUGE_PAGES, 0, "0"));
}

/* One that no mapping has reserved may be missing when it is touched. */
TEST_F(memory, huge_page_that_there_is_not_is_counted_when_there_is)
{
	__u16 *counter = huge_pages("0", MAP_SHARED | MAP_NORESERVE);

	ASSERT_NE(NULL, counter);
	ASSERT_EQ(0, start_bytes(self, counter, 2));
	expect_unready(_metadata, self);
	EXPECT_EQ(0, self->stats.out_in_range);
	ASSERT_EQ(0, write_file(HUGE_PAGES, 0, "1"));
	ASSERT_TRUE(burn(self->fd, hot_a, 5));
	ASSERT_TRUE(profil_finish(self->fd, &self->stats));
	EXPECT_LT(0, *counter);
	EXPECT_EQ(self->stats.out_in_range, *counter);
	EXPECT_EQ(0, munmap(counter, HUGE));
	EXPECT_EQ(0, write_file(HUGE_PAGES, 0, "0"));
}

TEST_F(memory, copy_on_write_after_fork_keeps_both_copies_right)
{
	int to_child[2], i;
	__u16 at_fork;
	__u64 before;
	pid_t pid;
	char c;

	ASSERT_EQ(0, pipe(to_child));
	ASSERT_EQ(0, start_bytes(self, self->counter, 2));
	for (i = 0; i < 5; i++) {
		ASSERT_TRUE(burn(self->fd, hot_a, 5));
		ASSERT_TRUE(settle(self->fd, &self->stats));
		before = self->stats.out_in_range;
		at_fork = *self->counter;
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid) {
			/* Sleeps until the parent has broken the sharing. */
			if (read(to_child[0], &c, 1) != 1)
				_exit(2);
			_exit(*self->counter < at_fork ||
			      *self->counter > at_fork + 5);
		}
		ASSERT_TRUE(burn(self->fd, hot_a, 20));
		ASSERT_EQ(1, write(to_child[1], "x", 1));
		EXPECT_EQ(0, wait_for(pid));
		ASSERT_TRUE(settle(self->fd, &self->stats));
		EXPECT_LE(before + 8, self->stats.out_in_range);
	}
	ASSERT_EQ(0, profil_stop(self->fd));
	ASSERT_EQ(0, profil_stats(self->fd, &self->stats));
	EXPECT_EQ(self->stats.out_in_range, *self->counter);
	EXPECT_TRUE(none_lost_before_the_end(&self->stats));
	EXPECT_TRUE(check_identity(&self->stats));
}

TEST_F(memory, page_thrown_away_while_counting_begins_again_at_zero)
{
	__u64 seen = 0;
	int i;

	ASSERT_EQ(0, start_bytes(self, self->counter, 2));
	for (i = 0; i < 10; i++) {
		ASSERT_TRUE(burn(self->fd, hot_a, 5));
		/* From here on no sample is in hot_a, nor on its way. */
		ASSERT_TRUE(settle(self->fd, &self->stats));
		seen += *self->counter;
		ASSERT_EQ(0, madvise(self->counter, PAGE, MADV_DONTNEED));
		EXPECT_EQ(0, *self->counter);
	}
	ASSERT_TRUE(burn(self->fd, hot_a, 5));
	ASSERT_TRUE(profil_finish(self->fd, &self->stats));
	EXPECT_TRUE(none_lost_before_the_end(&self->stats));
	seen += *self->counter;
	EXPECT_EQ(seen, self->stats.out_in_range);
}

/* What a sample that hits memory which may not be written leads to. */
static void expect_fault(struct __test_metadata *_metadata,
			 FIXTURE_DATA(memory) *self, __u16 *counter)
{
	__u64 ticks;

	ASSERT_TRUE(burn_until_state(self->fd, hot_a, PROFIL_STATE_FAULT,
				     &self->stats));
	EXPECT_EQ(UPTR(counter), self->stats.out_fault_addr);
	EXPECT_LT(0, self->stats.out_lost_fault);
	EXPECT_TRUE(check_identity(&self->stats));
	/* It has ended: nothing is counted any more. */
	ticks = self->stats.out_ticks;
	burn_uncounted(self->fd, hot_a, 3);
	ASSERT_EQ(0, profil_stats(self->fd, &self->stats));
	EXPECT_EQ(ticks, self->stats.out_ticks);
	EXPECT_EQ(PROFIL_STATE_FAULT, self->stats.out_state);
	/* And begins again on request. */
	ASSERT_EQ(0, start_bytes(self, self->counter, 2));
	ASSERT_TRUE(burn(self->fd, hot_a, 5));
	ASSERT_EQ(0, profil_stats(self->fd, &self->stats));
	EXPECT_EQ(PROFIL_STATE_ON, self->stats.out_state);
	while (!*(volatile __u16 *)self->counter)
		hot_a(HOT_ROUNDS);
}

TEST_F(memory, unmapping_the_histogram_ends_the_profile)
{
	__u16 *counter = page_alloc();

	ASSERT_NE(NULL, counter);
	ASSERT_EQ(0, start_bytes(self, counter + 3, 2));
	ASSERT_TRUE(burn(self->fd, hot_a, 5));
	ASSERT_EQ(0, munmap(counter, PAGE));
	expect_fault(_metadata, self, counter + 3);
}

TEST_F(memory, write_protecting_the_histogram_ends_the_profile)
{
	__u16 *counter = page_alloc();
	__u16 was;

	ASSERT_NE(NULL, counter);
	ASSERT_EQ(0, start_bytes(self, counter + 4, 2));
	ASSERT_TRUE(burn(self->fd, hot_a, 5));
	ASSERT_EQ(0, mprotect(counter, PAGE, PROT_READ));
	was = counter[4];
	expect_fault(_metadata, self, counter + 4);
	EXPECT_EQ(was, counter[4]);
}

TEST_F(memory, a_page_that_no_sample_hits_may_go)
{
	char *buf = pages(2, PROT_READ | PROT_WRITE);

	ASSERT_NE(NULL, buf);
	ASSERT_EQ(0, start_bytes(self, buf, 2 * PAGE));
	ASSERT_TRUE(burn(self->fd, hot_a, 5));
	ASSERT_EQ(0, munmap(buf + PAGE, PAGE));
	ASSERT_TRUE(burn(self->fd, hot_a, 20));
	ASSERT_EQ(0, profil_stats(self->fd, &self->stats));
	EXPECT_EQ(PROFIL_STATE_ON, self->stats.out_state);
	EXPECT_TRUE(none_lost(&self->stats));
}

TEST_F(memory, unmapping_under_the_samples_of_other_threads_is_no_accident)
{
	struct burner burners[2];
	__u16 *counter;
	int round;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(burners); i++)
		ASSERT_EQ(0, burner_start(&burners[i], hot_a));
	for (round = 0; round < 40; round++) {
		counter = page_alloc();
		ASSERT_NE(NULL, counter);
		ASSERT_EQ(0, start_bytes(self, counter, 2));
		ASSERT_TRUE(burn(self->fd, hot_a, 2));
		ASSERT_EQ(0, round & 1 ? mprotect(counter, PAGE, PROT_READ) :
					 munmap(counter, PAGE));
		ASSERT_TRUE(burn_until_state(self->fd, hot_a,
					     PROFIL_STATE_FAULT, &self->stats));
		EXPECT_EQ(UPTR(counter), self->stats.out_fault_addr);
		EXPECT_TRUE(check_identity(&self->stats));
	}
	for (i = 0; i < ARRAY_SIZE(burners); i++)
		burner_join(&burners[i]);
}

TEST_HARNESS_MAIN
