// SPDX-License-Identifier: GPL-2.0-only
/* A histogram that the kernel has swapped out: it comes back, with all in it. */
#include <sched.h>

#include "profil_common.h"

#define SWAPPED		(1ULL << 62)	/* of a page's word in pagemap */

#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT	21
#endif

FIXTURE(swap) {
	int fd;
	__u16 *counter;
	struct profil_ioc_stats stats;
};

static bool have_swap(void)
{
	FILE *swaps = fopen("/proc/swaps", "re");
	char line[256];
	int lines = 0;

	while (swaps && fgets(line, sizeof(line), swaps))
		lines++;
	if (swaps)
		fclose(swaps);
	return lines > 1;	/* the first is the heading */
}

FIXTURE_SETUP(swap)
{
	if (!have_swap())
		SKIP(return, "no swap: mkswap and swapon a device first");
	ASSERT_OPEN_WITH_PAGE(self->fd, self->counter);
}

FIXTURE_TEARDOWN(swap)
{
	close(self->fd);
}

static bool swapped(const void *at)
{
	int file = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	__u64 word = 0;

	if (file < 0)
		return false;
	if (pread(file, &word, sizeof(word),
		  (uintptr_t)at / PAGE * sizeof(word)) != sizeof(word))
		word = 0;
	close(file);
	return word & SWAPPED;
}

/*
 * A page that was just made stays with the CPU that made it for a while, and
 * only there it can be asked to go.
 */
static bool page_out(void *at)
{
	int cpu, cpus = sysconf(_SC_NPROCESSORS_CONF);
	bool gone = false;
	cpu_set_t was, one;

	if (sched_getaffinity(0, sizeof(was), &was))
		return false;
	for (cpu = 0; !gone && cpu < cpus; cpu++) {
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		sched_setaffinity(0, sizeof(one), &one);
		gone = !madvise(at, PAGE, MADV_PAGEOUT) && swapped(at);
	}
	sched_setaffinity(0, sizeof(was), &was);
	return gone;
}

static bool swap_out(void *at)
{
	int i;

	for (i = 0; i < 1000; i++) {
		if (page_out(at))
			return true;
		usleep(1000);
	}
	return false;
}

TEST_F(swap, page_comes_back_and_counts_on)
{
	self->counter[7] = 1000;
	ASSERT_TRUE(swap_out(self->counter));
	ASSERT_EQ(0, profil_start_page(self->fd, hot_a, self->counter + 7));
	/* On slow kernels many a tick finds the question for the count. */
	do {
		ASSERT_TRUE(burn(self->fd, hot_a, 20));
		ASSERT_TRUE(settle(self->fd, &self->stats));
	} while (self->stats.out_in_range <= 5);
	ASSERT_TRUE(profil_finish(self->fd, &self->stats));
	EXPECT_LT(0, self->stats.out_deferred);
	EXPECT_TRUE(none_lost_before_the_end(&self->stats));
	EXPECT_EQ(1000 + self->stats.out_in_range, self->counter[7]);
}

TEST_F(swap, page_that_goes_again_and_again_loses_nothing)
{
	struct burner burners[2];
	int round, gone = 0;
	size_t i;

	ASSERT_EQ(0, profil_start_page(self->fd, hot_a, self->counter));
	for (i = 0; i < ARRAY_SIZE(burners); i++)
		ASSERT_EQ(0, burner_start(&burners[i], hot_a));
	/* A page that is in use right now may stay. */
	for (round = 0; round < 60 || !gone; round++) {
		ASSERT_TRUE(burn(self->fd, hot_b, 2));
		gone += page_out(self->counter);
	}
	for (i = 0; i < ARRAY_SIZE(burners); i++)
		burner_join(&burners[i]);
	ASSERT_TRUE(profil_finish(self->fd, &self->stats));
	EXPECT_EQ(self->stats.out_in_range, *self->counter);
	EXPECT_EQ(self->stats.out_lost_exit, lost_before_the_end(&self->stats));
}

TEST_HARNESS_MAIN
