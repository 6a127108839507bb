// SPDX-License-Identifier: GPL-2.0-only
/* How many of the ticks are due, and which. */
#include "ticks.h"

/* @rate samples of each second, in which there are @hz ticks. */
struct share {
	__u32 hz;
	__u32 rate;
	__u32 window;		/* of so many ticks @due are due */
	__u32 due;
};

static __u32 gcd(__u32 a, __u32 b)
{
	return b ? gcd(b, a % b) : a;
}

static struct share share_of(__u32 rate, __u32 hz)
{
	__u32 common = gcd(hz, rate);

	return (struct share){
		.hz = hz,
		.rate = rate,
		.window = hz / common,
		.due = rate / common,
	};
}

/* Every window has its due, so that only the last may lack some. */
static bool share_holds(const struct share *share,
			const struct profil_ioc_stats *stats)
{
	__s64 due = stats->out_ticks - stats->out_not_due;
	__s64 error = due * share->window - (__s64)stats->out_ticks * share->due;

	if (llabs(error) < (__s64)share->due * share->window)
		return true;
	printf("# %lld due of %llu ticks at %u of %u\n", (long long)due,
	       stats->out_ticks, share->rate, share->hz);
	return false;
}

FIXTURE(rate) {
	int fd;
	__u16 *counter;
	struct share share;
	struct instance instance;
	struct profil_region region;
	struct profil_ioc_stats stats;
};

FIXTURE_VARIANT(rate) {
	__u32 rate;		/* 0: that of the ticks */
};

FIXTURE_VARIANT_ADD(rate, one) {
	.rate = 1,
};

FIXTURE_VARIANT_ADD(rate, hundred) {
	.rate = 100,
};

FIXTURE_VARIANT_ADD(rate, that_of_the_ticks) {
};

FIXTURE_SETUP(rate)
{
	struct profil_ioc_query query;

	ASSERT_OPEN_WITH_PAGE(self->fd, self->counter);
	self->region = page_region(hot_a, self->counter);
	ASSERT_EQ(0, profil_query(self->fd, &query));
	self->share = share_of(variant->rate ?: query.out_tick_hz, query.out_tick_hz);
	ASSERT_EQ(0, event_create());
	ASSERT_EQ(0, instance_create(&self->instance));
}

FIXTURE_TEARDOWN(rate)
{
	instance_destroy(&self->instance);
	event_remove();
	close(self->fd);
}

TEST_F(rate, exactly_its_share_of_the_ticks_is_due)
{
	__u64 events_first, events_last;
	struct profil_ioc_stats first;
	pid_t tid = getpid();
	int i;

	ASSERT_EQ(0, instance_watch(&self->instance, &tid, 1, ALL_TICKS));
	ASSERT_EQ(0, profil_start_rate(self->fd, &self->region, 1,
				       self->share.rate));
	ASSERT_TRUE(take_pair(&self->instance, self->fd, &events_first,
			      &first));
	for (i = 0; i < 100; i++) {
		ASSERT_TRUE(burn(self->fd, hot_a, 3));
		ASSERT_EQ(0, profil_stats(self->fd, &self->stats));
		EXPECT_TRUE(check_identity(&self->stats));
		EXPECT_TRUE(share_holds(&self->share, &self->stats));
	}
	ASSERT_TRUE(take_pair(&self->instance, self->fd, &events_last,
			      &self->stats));
	EXPECT_EQ(events_last - events_first, self->stats.out_ticks - first.out_ticks);
	ASSERT_TRUE(profil_finish(self->fd, &self->stats));
	EXPECT_EQ(self->share.rate, self->stats.out_rate);
	EXPECT_EQ(self->stats.out_in_range, *self->counter);
	/* Of a rate of one, the only one may have come elsewhere. */
	if (self->share.rate >= 100)
		EXPECT_LT(0, self->stats.out_in_range);
	EXPECT_TRUE(none_lost_before_the_end(&self->stats));
	EXPECT_EQ(0, self->stats.out_saturated);
}

TEST_F(rate, share_is_of_the_ticks_of_all_threads)
{
	struct burner burners[3];
	size_t i;

	ASSERT_EQ(0, profil_start_rate(self->fd, &self->region, 1,
				       self->share.rate));
	for (i = 0; i < ARRAY_SIZE(burners); i++)
		ASSERT_EQ(0, burner_start(&burners[i], hot_a));
	ASSERT_TRUE(burn(self->fd, hot_a, 200));
	for (i = 0; i < ARRAY_SIZE(burners); i++)
		burner_join(&burners[i]);
	/* Nothing runs beside the reader, so the two numbers agree. */
	ASSERT_TRUE(profil_finish(self->fd, &self->stats));
	EXPECT_TRUE(share_holds(&self->share, &self->stats));
	EXPECT_EQ(self->stats.out_in_range, *self->counter);
}

FIXTURE(choice) {
	int fd;
	struct share share;
	struct profil_region region;
};

FIXTURE_SETUP(choice)
{
	struct profil_ioc_query query;

	self->fd = profil_open();
	ASSERT_LE(0, self->fd);
	self->region = page_region(hot_a, page_alloc());
	ASSERT_EQ(0, profil_query(self->fd, &query));
	self->share = share_of(query.out_tick_hz * 2 / 5, query.out_tick_hz);
}

FIXTURE_TEARDOWN(choice)
{
	close(self->fd);
}

TEST_F(choice, the_rate_of_every_tick_leaves_none_out)
{
	struct profil_ioc_stats stats;

	ASSERT_EQ(0, profil_start_rate(self->fd, &self->region, 1,
				       self->share.hz));
	ASSERT_TRUE(burn(self->fd, hot_a, 50));
	ASSERT_EQ(0, profil_start_rate(self->fd, &self->region, 1, 0));
	ASSERT_TRUE(burn(self->fd, hot_a, 50));
	ASSERT_EQ(0, profil_stats(self->fd, &stats));
	EXPECT_EQ(0, stats.out_not_due);
}

/*
 * A fixed choice would show a program that does the same every few ticks only
 * one of the things it does.
 */
TEST_F(choice, in_a_window_is_random)
{
	int window = self->share.window, same = 0, pairs = 0, num;
	struct profil_ioc_stats was, now;
	signed char due[100];	/* of the last ticks; -1 where two came at once */

	ASSERT_LT(window, 100);
	ASSERT_EQ(0, profil_start_rate(self->fd, &self->region, 1,
				       self->share.rate));
	ASSERT_EQ(0, profil_stats(self->fd, &was));
	memset(due, -1, sizeof(due));
	for (num = 0; pairs < 200; was = now) {
		signed char is = -1, *other;

		hot_a(HOT_ROUNDS / 10);
		ASSERT_EQ(0, profil_stats(self->fd, &now));
		if (now.out_ticks == was.out_ticks + 1)
			is = now.out_not_due == was.out_not_due;
		for (; was.out_ticks < now.out_ticks; was.out_ticks++) {
			other = &due[num++ % window];
			if (is >= 0 && *other >= 0) {
				pairs++;
				same += is == *other;
			}
			*other = is;
		}
	}
	/* By chance 52 of 100 pairs are the same, at 2 of 5. */
	EXPECT_LT(same * 10, pairs * 8);
}

TEST_HARNESS_MAIN
