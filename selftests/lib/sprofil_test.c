// SPDX-License-Identifier: GPL-2.0-only
/* What sprofil() asks of the device, and what its caller gets to know. */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/profil.h>
#include <unistd.h>
#include <profil.h>
#include "mock.h"
#include "tap.h"

_Static_assert(sizeof(struct prof) == 4 * sizeof(long), "16 or 32 bytes");

#define OVERFLOW_BIN(buf) { buf, sizeof(buf), 0, 2 }

static unsigned int bins[3][16];
static unsigned int spill[1];

static struct prof two[] = {
	{ bins[0], sizeof(bins[0]), 0x1000, 65536 },
	{ bins[1], sizeof(bins[1]), 0x9000, 32768 },
};

/* What the next START has to bring. */
static struct {
	const struct prof *prof[4];
	int num;
	__u32 flags[4];
	__u32 rate;
} want;

static void want_regions(const struct prof *prof, int num, __u32 flags)
{
	memset(&want, 0, sizeof(want));
	want.num = num;
	want.rate = 100;
	for (int i = 0; i < num; i++) {
		want.prof[i] = &prof[i];
		want.flags[i] = flags;
	}
}

static bool is_wanted(void *arg)
{
	struct profil_ioc_start *start = arg;
	struct profil_region *region = (void *)(uintptr_t)start->regions_uptr;

	TAP_CHECK(start->size == sizeof(*start));
	TAP_CHECK(start->flags == 0);
	TAP_CHECK(start->region_num == (__u32)want.num);
	TAP_CHECK(start->region_len == sizeof(*region));
	TAP_CHECK(start->rate == want.rate);
	TAP_CHECK(start->source == 0);
	TAP_CHECK(!start->jitter && !start->__reserved);
	for (int i = 0; i < want.num; i++, region++) {
		const struct prof *prof = want.prof[i];

		TAP_CHECK(region->buf_uptr == (uintptr_t)prof->pr_base);
		TAP_CHECK(region->bytes == prof->pr_size);
		TAP_CHECK(region->offset == prof->pr_off);
		TAP_CHECK(region->scale == prof->pr_scale);
		TAP_CHECK(region->flags == want.flags[i]);
	}
	return true;
}

static bool started(void)
{
	want_regions(two, 2, PROFIL_REGION_F_PER_COUNTER);
	EXPECT(QUERY(250), START(is_wanted));
	TAP_CHECK(!sprofil(two, 2, NULL, PROF_USHORT));
	return mock_done();
}

static bool starts(void)
{
	errno = 77;
	TAP_CHECK(started());
	TAP_CHECK(errno == 77);
	TAP_CHECK(!*mock_stderr());
	return true;
}

static bool widths(void)
{
	EXPECT(QUERY(250), START(is_wanted));
	want_regions(two, 2, PROFIL_REGION_F_PER_COUNTER | PROFIL_REGION_F_U32);
	TAP_CHECK(!sprofil(two, 2, NULL, PROF_UINT));
	return mock_done();
}

/* The kernel looks at it; the library hands its answer on. */
static bool unaligned(void)
{
	struct prof prof = { (char *)bins[0] + 2, 8, 0x1000, 65536 };
	struct timeval tv = { -1, -1 };

	EXPECT(QUERY(250), { PROFIL_IOC_START, is_wanted, EINVAL });
	want_regions(&prof, 1, PROFIL_REGION_F_PER_COUNTER | PROFIL_REGION_F_U32);
	TAP_CHECK(sprofil(&prof, 1, &tv, PROF_UINT) == -1);
	TAP_CHECK(errno == EINVAL);
	TAP_CHECK(tv.tv_sec == -1);
	return mock_done();
}

/* In each place, and of each width. */
static bool overflow_anywhere(void)
{
	for (int at = 0; at < 3; at++) {
		struct prof prof[] = { two[0], two[1], two[1] };

		prof[at] = (struct prof)OVERFLOW_BIN(spill);
		EXPECT(QUERY(250), START(is_wanted), QUERY(250), START(is_wanted));
		want_regions(prof, 3, PROFIL_REGION_F_PER_COUNTER);
		want.flags[at] = PROFIL_REGION_F_OVERFLOW;
		TAP_CHECK(!sprofil(prof, 3, NULL, PROF_USHORT));
		want_regions(prof, 3, PROFIL_REGION_F_PER_COUNTER | PROFIL_REGION_F_U32);
		want.flags[at] = PROFIL_REGION_F_OVERFLOW | PROFIL_REGION_F_U32;
		TAP_CHECK(!sprofil(prof, 3, NULL, PROF_UINT));
		TAP_CHECK(mock_done());
	}
	return true;
}

static bool overflow_alone(void)
{
	struct prof prof[] = { OVERFLOW_BIN(spill), OVERFLOW_BIN(bins[0]) };

	EXPECT(QUERY(250), START(is_wanted), QUERY(250), START(is_wanted));
	want_regions(prof, 1, PROFIL_REGION_F_OVERFLOW);
	TAP_CHECK(!sprofil(prof, 1, NULL, PROF_USHORT));
	/* The kernel takes the last of several. */
	want_regions(prof, 2, PROFIL_REGION_F_OVERFLOW);
	TAP_CHECK(!sprofil(prof, 2, NULL, PROF_USHORT));
	return mock_done();
}

static bool near_overflow_is_plain(void)
{
	struct prof prof[] = {
		{ bins[0], sizeof(bins[0]), 1, 2 },
		{ bins[1], sizeof(bins[1]), 0, 3 },
		{ bins[2], sizeof(bins[2]), 0, UINT32_MAX },
	};

	EXPECT(QUERY(250), START(is_wanted));
	want_regions(prof, 3, PROFIL_REGION_F_PER_COUNTER);
	TAP_CHECK(!sprofil(prof, 3, NULL, PROF_USHORT));
	return mock_done();
}

static bool scales_below_2_are_left_out(void)
{
	struct prof prof[] = {
		{ bins[0], sizeof(bins[0]), 0, 0 }, two[0],
		{ bins[0], sizeof(bins[0]), 0, 1 }, two[1],
		{ NULL, SIZE_MAX, SIZE_MAX, 1 },
	};

	EXPECT(QUERY(250), START(is_wanted));
	want_regions(two, 2, PROFIL_REGION_F_PER_COUNTER);
	TAP_CHECK(!sprofil(prof, ARRAY_SIZE(prof), NULL, PROF_USHORT));
	return mock_done();
}

static bool high_addresses_stay_high(void)
{
	struct prof prof[] = {
		{ (void *)(SIZE_MAX - 15), SIZE_MAX, SIZE_MAX, UINT32_MAX },
	};

	EXPECT(QUERY(250), START(is_wanted));
	want_regions(prof, 1, PROFIL_REGION_F_PER_COUNTER);
	TAP_CHECK(!sprofil(prof, 1, NULL, PROF_USHORT));
	return mock_done();
}

static bool nothing_is_off(void)
{
	struct prof none[] = {
		{ bins[0], sizeof(bins[0]), 0, 0 }, { bins[1], sizeof(bins[1]), 0, 1 },
	};
	struct {
		struct prof *profp;
		int num;
	} ends[] = { { NULL, 0 }, { NULL, 2 }, { two, 0 }, { none, 2 } };

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		TAP_CHECK(started());
		EXPECT(STOP);
		errno = 77;
		TAP_CHECK(!sprofil(ends[i].profp, ends[i].num, NULL, PROF_USHORT));
		TAP_CHECK(errno == 77);
		TAP_CHECK(mock_done());
		TAP_CHECK(!mock_has_anchor());
	}
	return true;
}

static bool off_before_start(void)
{
	errno = 77;
	TAP_CHECK(!sprofil(NULL, 0, NULL, PROF_USHORT));
	TAP_CHECK(!sprofil(two, 0, NULL, PROF_UINT | PROF_FAST));
	TAP_CHECK(errno == 77);
	TAP_CHECK(!*mock_stderr());
	return mock_done();
}

static bool off_and_on_again(void)
{
	TAP_CHECK(started());
	EXPECT(STOP);
	TAP_CHECK(!sprofil(NULL, 0, NULL, PROF_USHORT));
	TAP_CHECK(!sprofil(NULL, 0, NULL, PROF_USHORT));
	TAP_CHECK(mock_done());
	return started();
}

static bool off_in_child(void)
{
	int status;
	pid_t pid;

	TAP_CHECK(started());
	EXPECT(STOP);
	pid = fork();
	if (!pid)
		_exit(sprofil(NULL, 0, NULL, PROF_USHORT) || !mock_done());
	TAP_CHECK(waitpid(pid, &status, 0) == pid);
	TAP_CHECK(status == 0);
	return true;
}

static bool replaces_without_a_stop(void)
{
	TAP_CHECK(started());
	return started();
}

/* Each ends the other's. */
static bool one_profile_with_profil(void)
{
	static unsigned short *volatile no_bins;

	TAP_CHECK(started());
	EXPECT(STOP, START(NULL), STOP);
	TAP_CHECK(!profil(no_bins, 0, 0, 0));
	TAP_CHECK(!profil((unsigned short *)bins, sizeof(bins), 0, 65536));
	TAP_CHECK(!sprofil(NULL, 0, NULL, PROF_USHORT));
	TAP_CHECK(!profil_stop());
	return mock_done();
}

static bool time_is(struct timeval tv, long us)
{
	if (tv.tv_sec == 0 && tv.tv_usec == us)
		return true;
	return tap_fail("%ld.%06ld seconds instead of %ld microseconds",
			(long)tv.tv_sec, (long)tv.tv_usec, us);
}

/* On with 10 ms, on with the tick, and off with both. */
#define CHECK_TIMES(hz, fast_us) do {					\
	struct timeval tv[4];						\
									\
	memset(tv, -1, sizeof(tv));					\
	want_regions(two, 2, PROFIL_REGION_F_PER_COUNTER);		\
	EXPECT(QUERY(hz), START(is_wanted));				\
	TAP_CHECK(!sprofil(two, 2, &tv[0], PROF_USHORT));		\
	want.rate = 0;							\
	EXPECT(QUERY(hz), START(is_wanted), STOP, QUERY(hz));		\
	TAP_CHECK(!sprofil(two, 2, &tv[1], PROF_FAST));			\
	TAP_CHECK(!sprofil(NULL, 0, &tv[2], PROF_USHORT));		\
	TAP_CHECK(!sprofil(NULL, 0, &tv[3], PROF_FAST));		\
	TAP_CHECK(mock_done());						\
	TAP_CHECK(time_is(tv[0], 10000));				\
	TAP_CHECK(time_is(tv[1], fast_us));				\
	TAP_CHECK(time_is(tv[2], 10000));				\
	TAP_CHECK(time_is(tv[3], fast_us));				\
} while (0)

static bool times_are_true(void)
{
	CHECK_TIMES(100, 10000);
	CHECK_TIMES(250, 4000);
	CHECK_TIMES(300, 3333);
	CHECK_TIMES(1000, 1000);
	return true;
}

static bool slow_query(void *arg)
{
	struct profil_ioc_query *query = arg;

	query->out_tick_ns = 2999999500;
	query->out_regions_max = MOCK_REGIONS_MAX;
	return true;
}

static bool times_are_rounded(void)
{
	struct timeval tv;

	EXPECT({ PROFIL_IOC_QUERY, slow_query, 0 }, START(NULL));
	TAP_CHECK(!sprofil(two, 2, &tv, PROF_FAST));
	TAP_CHECK(tv.tv_sec == 3 && tv.tv_usec == 0);
	return mock_done();
}

/* No device is needed to know the first, but for the second. */
static bool times_without_a_device(void)
{
	struct timeval tv = { -1, -1 };

	EXPECT(OPEN_FAILS(ENOENT));
	TAP_CHECK(!sprofil(NULL, 0, &tv, PROF_USHORT));
	TAP_CHECK(time_is(tv, 10000));
	TAP_CHECK(!sprofil(NULL, 0, NULL, PROF_FAST));
	tv.tv_sec = -1;
	TAP_CHECK(sprofil(NULL, 0, &tv, PROF_FAST) == -1);
	TAP_CHECK(errno == ENOENT);
	TAP_CHECK(tv.tv_sec == -1);
	return mock_done();
}

static bool invalid(struct prof *profp, int profcnt, unsigned int flags)
{
	struct timeval tv = { -1, -1 };

	errno = 0;
	if (sprofil(profp, profcnt, &tv, flags) == -1 && errno == EINVAL &&
	    tv.tv_sec == -1 && tv.tv_usec == -1)
		return true;
	return tap_fail("%d ranges and flags %#x: not EINVAL", profcnt, flags);
}

static bool unknown_flags(void)
{
	for (int bit = 2; bit < 32; bit++) {
		TAP_CHECK(invalid(two, 2, 1U << bit));
		TAP_CHECK(invalid(NULL, 0, 1U << bit | PROF_UINT));
	}
	return mock_done();
}

static bool known_flags(void)
{
	want_regions(two, 2, PROFIL_REGION_F_PER_COUNTER | PROFIL_REGION_F_U32);
	want.rate = 0;
	EXPECT(QUERY(250), START(is_wanted));
	TAP_CHECK(!sprofil(two, 2, NULL, PROF_UINT | PROF_FAST));
	return mock_done();
}

static bool fewer_than_none(void)
{
	TAP_CHECK(invalid(two, -1, PROF_USHORT));
	TAP_CHECK(invalid(two, INT_MIN, PROF_USHORT));
	TAP_CHECK(invalid(NULL, -1, PROF_USHORT));
	return mock_done();
}

static bool scale_beyond_32_bits(void)
{
	struct prof prof = two[0];

	prof.pr_scale = ULONG_MAX;
	if (ULONG_MAX > UINT32_MAX) {
		TAP_CHECK(invalid(&prof, 1, PROF_USHORT));
		/* Cut off, these would be 0, 65536 and the overflow bin. */
		prof.pr_scale = ULONG_MAX / 2 + 1;
		TAP_CHECK(invalid(&prof, 1, PROF_USHORT));
		prof.pr_scale |= 65536;
		TAP_CHECK(invalid(&prof, 1, PROF_USHORT));
		prof.pr_scale = ULONG_MAX / 2 + 3;
		prof.pr_off = 0;
		TAP_CHECK(invalid(&prof, 1, PROF_USHORT));
		return mock_done();
	}
	EXPECT(QUERY(250), START(is_wanted));
	want_regions(&prof, 1, PROFIL_REGION_F_PER_COUNTER);
	TAP_CHECK(!sprofil(&prof, 1, NULL, PROF_USHORT));
	return mock_done();
}

static struct prof many[MOCK_REGIONS_MAX + 2];

static bool is_many(void *arg)
{
	struct profil_ioc_start *start = arg;
	struct profil_region *region = (void *)(uintptr_t)start->regions_uptr;

	TAP_CHECK(start->region_num == MOCK_REGIONS_MAX);
	for (__u32 i = 0; i < start->region_num; i++) {
		TAP_CHECK(region[i].offset == 1 + i);
		TAP_CHECK(region[i].scale == 65536 + i);
	}
	return true;
}

static void make_many(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(many); i++)
		many[i] = (struct prof) { bins[0], 2, 1 + i, 65536 + i };
}

static bool as_many_as_may_be(void)
{
	make_many();
	EXPECT(QUERY(250), START(is_many), QUERY(250), START(is_many));
	TAP_CHECK(!sprofil(many, MOCK_REGIONS_MAX, NULL, PROF_USHORT));
	/* What is left out is not counted. */
	many[MOCK_REGIONS_MAX].pr_scale = 1;
	many[MOCK_REGIONS_MAX + 1].pr_scale = 0;
	TAP_CHECK(!sprofil(many, MOCK_REGIONS_MAX + 2, NULL, PROF_USHORT));
	return mock_done();
}

static bool too_many(void)
{
	struct timeval tv = { -1, -1 };

	make_many();
	EXPECT(QUERY(250));
	TAP_CHECK(sprofil(many, MOCK_REGIONS_MAX + 1, &tv, PROF_USHORT) == -1);
	TAP_CHECK(errno == E2BIG);
	TAP_CHECK(tv.tv_sec == -1);
	return mock_done();
}

static bool no_memory(void)
{
	struct timeval tv = { -1, -1 };

	EXPECT(QUERY(250));
	mock_no_memory();
	TAP_CHECK(sprofil(two, 2, &tv, PROF_USHORT) == -1);
	TAP_CHECK(errno == ENOMEM);
	TAP_CHECK(tv.tv_sec == -1);
	return mock_done();
}

static bool start_fails(void)
{
	struct timeval tv = { -1, -1 };

	EXPECT(QUERY(250), START_FAILS(ENXIO), QUERY(250), START_FAILS(ENOSPC));
	TAP_CHECK(sprofil(two, 2, &tv, PROF_USHORT) == -1);
	TAP_CHECK(errno == EFAULT);
	TAP_CHECK(sprofil(two, 2, &tv, PROF_FAST) == -1);
	TAP_CHECK(errno == ENOSPC);
	TAP_CHECK(tv.tv_sec == -1 && tv.tv_usec == -1);
	TAP_CHECK(!*mock_stderr());
	return mock_done();
}

/* ENXIO of the device is not that of a histogram. */
static bool open_fails(void)
{
	EXPECT(QUERY(250), OPEN_FAILS(ENXIO));
	TAP_CHECK(sprofil(two, 2, NULL, PROF_USHORT) == -1);
	TAP_CHECK(errno == ENXIO);
	TAP_CHECK(strstr(mock_stderr(), "load the module"));
	return mock_done();
}

static bool query_fails(void)
{
	EXPECT(QUERY_FAILS(ENOTTY));
	TAP_CHECK(sprofil(two, 2, NULL, PROF_USHORT) == -1);
	TAP_CHECK(errno == ENOTTY);
	return mock_done();
}

static bool stop_fails(void)
{
	struct timeval tv = { -1, -1 };

	TAP_CHECK(started());
	mock_close_all();
	mock_anchor_errors(ENOMEM, 0);
	EXPECT(OPEN_FAILS(EMFILE));
	TAP_CHECK(sprofil(NULL, 0, &tv, PROF_USHORT) == -1);
	TAP_CHECK(errno == EMFILE);
	TAP_CHECK(tv.tv_sec == -1);
	return mock_done();
}

/* Not even with the variable that lets profil() do it. */
static bool does_not_fall_back(void)
{
	setenv("PROFIL_FALLBACK", "signal", 1);
	EXPECT(OPEN_FAILS(ENOENT), OPEN_FAILS(ENOENT));
	TAP_CHECK(sprofil(two, 2, NULL, PROF_USHORT) == -1);
	TAP_CHECK(errno == ENOENT);
	TAP_CHECK(strstr(mock_stderr(), "load the module (sudo modprobe profil)\n"));
	TAP_CHECK(sprofil(two, 2, NULL, PROF_USHORT) == -1);
	TAP_CHECK(!*mock_stderr());
	return mock_done();
}

static void *start_cancelled(void *unused)
{
	(void)unused;
	pthread_cancel(pthread_self());
	sprofil(two, 2, NULL, PROF_USHORT);
	pthread_testcancel();
	return NULL;
}

static bool no_cancellation_point(void)
{
	pthread_t thread;
	void *result;

	want_regions(two, 2, PROFIL_REGION_F_PER_COUNTER);
	EXPECT(QUERY(250), START(is_wanted));
	TAP_CHECK(!pthread_create(&thread, NULL, start_cancelled, NULL));
	pthread_join(thread, &result);
	TAP_CHECK(result == PTHREAD_CANCELED);
	return mock_done();
}

/* As another thread might do it, between the first look and the second. */
static struct prof changing[3];

static bool change_between(void *arg)
{
	changing[0].pr_scale = 65536;
	changing[2].pr_scale = 0;
	return mock_query_250(arg);
}

static bool ranges_change_meanwhile(void)
{
	changing[0] = (struct prof) { bins[0], sizeof(bins[0]), 0x1000, 0 };
	changing[1] = two[1];
	changing[2] = (struct prof) { bins[2], sizeof(bins[2]), 0x3000, 0 };
	/* One was counted: one may be handed on, and is there memory for. */
	want_regions(changing, 1, PROFIL_REGION_F_PER_COUNTER);
	EXPECT({ PROFIL_IOC_QUERY, change_between, 0 }, START(is_wanted));
	TAP_CHECK(!sprofil(changing, 3, NULL, PROF_USHORT));
	TAP_CHECK(mock_done());

	changing[0].pr_scale = 0;
	changing[2].pr_scale = 65536;
	changing[1].pr_scale = 0;
	EXPECT({ PROFIL_IOC_QUERY, change_between, 0 }, START(is_wanted));
	TAP_CHECK(!sprofil(changing, 3, NULL, PROF_USHORT));
	return mock_done();
}

int main(void)
{
	tap_fork(starts, "sprofil() becomes one START at a rate of 100, and leaves errno alone");
	tap_fork(widths, "PROF_UINT is the width of all counters");
	tap_fork(unaligned, "a histogram that is not aligned is EINVAL, and tvp left alone");
	tap_fork(overflow_anywhere, "{ 0, 2 } is the overflow bin anywhere in the array");
	tap_fork(overflow_alone, "the overflow bin may be alone, or one of several");
	tap_fork(near_overflow_is_plain, "offset 1 or scale 3 is no overflow bin");
	tap_fork(scales_below_2_are_left_out, "ranges with scale 0 and 1 are left out");
	tap_fork(high_addresses_stay_high, "sprofil() extends addresses with zeros");
	tap_fork(nothing_is_off, "no array, no range, or none left ends profiling");
	tap_fork(off_before_start, "ending before any start touches no device");
	tap_fork(off_and_on_again, "sprofil() starts again after two ends");
	tap_fork(off_in_child, "a forked child can end its inherited profile");
	tap_fork(replaces_without_a_stop, "sprofil() while on is one START more");
	tap_fork(one_profile_with_profil, "sprofil() and profil() have one profile together");
	tap_fork(times_are_true, "tvp has 10 ms, or the tick at 100, 250, 300 and 1000 Hz");
	tap_fork(times_are_rounded, "a period is rounded, and carried into the seconds");
	tap_fork(times_without_a_device, "ending without a device fails only to tell the tick");
	tap_fork(unknown_flags, "unknown flags are EINVAL");
	tap_fork(known_flags, "PROF_FAST is every tick, with PROF_UINT too");
	tap_fork(fewer_than_none, "fewer than no ranges are EINVAL");
	tap_fork(scale_beyond_32_bits, "a scale is not cut off to 32 bits");
	tap_fork(as_many_as_may_be, "4096 ranges are handed on, not counting those left out");
	tap_fork(too_many, "more than the kernel's limit is E2BIG");
	tap_fork(no_memory, "no memory is ENOMEM, and starts nothing");
	tap_fork(start_fails, "an error of START is handed on, and tvp left alone");
	tap_fork(open_fails, "an error of open() is handed on as it is");
	tap_fork(query_fails, "an error of QUERY is handed on, nothing starts");
	tap_fork(stop_fails, "an end that has no way left fails");
	tap_fork(does_not_fall_back, "sprofil() does not fall back");
	tap_fork(no_cancellation_point, "a cancelled thread finishes its sprofil()");
	tap_fork(ranges_change_meanwhile, "ranges that change meanwhile overflow nothing");
	return tap_plan();
}
