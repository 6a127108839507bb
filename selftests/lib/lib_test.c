// SPDX-License-Identifier: GPL-2.0-only
/* What libprofil asks of the device, and what its caller gets to know. */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <profil.h>
#include "mock.h"
#include "tap.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define EXPECT(...) do {						\
	static const struct mock_step steps[] = { __VA_ARGS__ };	\
	mock_expect(steps, ARRAY_SIZE(steps));				\
} while (0)

#define OPEN		{ .call = MOCK_OPEN }
#define OPEN_FAILS(e)	{ .call = MOCK_OPEN, .err = (e) }
#define QUERY(hz)	{ MOCK_IOCTL, PROFIL_IOC_QUERY, query_##hz, 0 }
#define START(check)	{ MOCK_IOCTL, PROFIL_IOC_START, check, 0 }
#define START_FAILS(e)	{ MOCK_IOCTL, PROFIL_IOC_START, NULL, e }
#define STOP		{ MOCK_IOCTL, PROFIL_IOC_STOP, is_stop, 0 }
#define CLOSE		{ .call = MOCK_CLOSE }
#define CLOSE_FAILS	{ .call = MOCK_CLOSE, .err = EIO }

#define MISSING "profil: cannot open /dev/profil: "

typedef int profil_fn(unsigned short *buf, size_t bufsiz, size_t offset,
		      unsigned int scale);

static unsigned short bins[16];
/* <unistd.h> has it that buf is never NULL; callers know better. */
static unsigned short *volatile no_bins;

static bool query_at(void *arg, unsigned int hz)
{
	struct profil_query *query = arg;

	TAP_CHECK(query->size == sizeof(*query));
	TAP_CHECK(query->flags == 0);
	query->out_tick_hz = hz;
	return true;
}

static bool query_250(void *arg)
{
	return query_at(arg, 250);
}

static bool query_100(void *arg)
{
	return query_at(arg, 100);
}

static bool query_64(void *arg)
{
	return query_at(arg, 64);
}

static bool is_stop(void *arg)
{
	struct profil_stop *stop = arg;

	TAP_CHECK(stop->size == sizeof(*stop));
	TAP_CHECK(stop->flags == 0);
	return true;
}

/* As profil(bins, sizeof(bins), 0x1234, 65536) has to arrive. */
static bool start_at(void *arg, unsigned int rate)
{
	struct profil_start *start = arg;
	struct profil_region *region = (void *)(uintptr_t)start->regions_uptr;

	TAP_CHECK(start->size == sizeof(*start));
	TAP_CHECK(start->flags == 0);
	TAP_CHECK(start->region_num == 1);
	TAP_CHECK(start->region_len == sizeof(*region));
	TAP_CHECK(start->rate == rate);
	TAP_CHECK(start->source == 0);
	TAP_CHECK(!start->__reserved[0] && !start->__reserved[1]);
	TAP_CHECK(region->buf_uptr == (uintptr_t)bins);
	TAP_CHECK(region->bytes == sizeof(bins));
	TAP_CHECK(region->offset == 0x1234);
	TAP_CHECK(region->scale == 65536);
	TAP_CHECK(region->flags == 0);
	return true;
}

static bool start_100(void *arg)
{
	return start_at(arg, 100);
}

static bool start_64(void *arg)
{
	return start_at(arg, 64);
}

static int start(void)
{
	profil_fn *as_in_unistd_h = profil;

	return as_in_unistd_h(bins, sizeof(bins), 0x1234, 65536);
}

static bool started(void)
{
	EXPECT(OPEN, QUERY(250), START(start_100), CLOSE);
	TAP_CHECK(!start());
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

static bool rate_is_100(void)
{
	EXPECT(OPEN, QUERY(100), START(start_100), CLOSE);
	TAP_CHECK(!start());
	return mock_done();
}

static bool rate_is_tick(void)
{
	EXPECT(OPEN, QUERY(64), START(start_64), CLOSE);
	TAP_CHECK(!start());
	return mock_done();
}

static bool stop_without_start(void)
{
	errno = 77;
	TAP_CHECK(!profil(no_bins, sizeof(bins), 0, 65536));
	TAP_CHECK(!profil(bins, sizeof(bins), 0, 0));
	TAP_CHECK(!profil_stop());
	TAP_CHECK(errno == 77);
	return mock_done();
}

static bool null_stops(void)
{
	TAP_CHECK(started());
	EXPECT(OPEN, STOP, CLOSE);
	errno = 77;
	TAP_CHECK(!profil(no_bins, 0, 0, 65536));
	TAP_CHECK(errno == 77);
	return mock_done();
}

static bool scale_0_stops(void)
{
	TAP_CHECK(started());
	EXPECT(OPEN, STOP, CLOSE, OPEN, STOP, CLOSE);
	TAP_CHECK(!profil(bins, sizeof(bins), 0, 0));
	TAP_CHECK(!profil(bins, sizeof(bins), 0, 0));
	return mock_done();
}

static bool child_stops(void)
{
	int status;
	pid_t pid;

	TAP_CHECK(started());
	EXPECT(OPEN, STOP, CLOSE);
	pid = fork();
	if (!pid)
		_exit(profil(bins, sizeof(bins), 0, 0) || !mock_done());
	TAP_CHECK(waitpid(pid, &status, 0) == pid);
	TAP_CHECK(status == 0);
	return true;
}

static bool stop_fails(void)
{
	TAP_CHECK(started());
	EXPECT(OPEN_FAILS(EACCES));
	TAP_CHECK(profil(bins, sizeof(bins), 0, 0) == -1);
	TAP_CHECK(errno == EACCES);
	TAP_CHECK(*mock_stderr());
	return mock_done();
}

static bool start_fails(void)
{
	EXPECT(OPEN, QUERY(250), START_FAILS(EFAULT), CLOSE_FAILS);
	TAP_CHECK(start() == -1);
	TAP_CHECK(errno == EFAULT);
	TAP_CHECK(!*mock_stderr());
	return mock_done();
}

static bool query_fails(void)
{
	EXPECT(OPEN, { MOCK_IOCTL, PROFIL_IOC_QUERY, NULL, ENOTTY }, CLOSE_FAILS);
	TAP_CHECK(start() == -1);
	TAP_CHECK(errno == ENOTTY);
	return mock_done();
}

static bool missing_said_once(void)
{
	EXPECT(OPEN_FAILS(ENOENT), OPEN_FAILS(ENOENT));
	TAP_CHECK(start() == -1);
	TAP_CHECK(errno == ENOENT);
	TAP_CHECK(!strcmp(mock_stderr(), MISSING
		  "No such file or directory; load the module (insmod profil.ko)\n"));
	TAP_CHECK(start() == -1);
	TAP_CHECK(errno == ENOENT);
	TAP_CHECK(!*mock_stderr());
	/* Nothing was started, so there is nothing to stop. */
	TAP_CHECK(!profil(bins, sizeof(bins), 0, 0));
	return mock_done();
}

static bool missing_said_why(void)
{
	EXPECT(OPEN_FAILS(EACCES));
	TAP_CHECK(start() == -1);
	TAP_CHECK(errno == EACCES);
	TAP_CHECK(!strcmp(mock_stderr(), MISSING
		  "Permission denied; let users open it (chmod 666 /dev/profil)\n"));
	return mock_done();
}

static bool no_advice_for_others(void)
{
	EXPECT(OPEN_FAILS(EMFILE));
	TAP_CHECK(start() == -1);
	TAP_CHECK(errno == EMFILE);
	TAP_CHECK(!strcmp(mock_stderr(), MISSING "Too many open files\n"));
	return mock_done();
}

static bool quiet(void)
{
	setenv("PROFIL_QUIET", "1", 1);
	EXPECT(OPEN_FAILS(ENODEV));
	TAP_CHECK(start() == -1);
	TAP_CHECK(errno == ENODEV);
	TAP_CHECK(!*mock_stderr());
	return mock_done();
}

static bool no_fallback_in_archive(void)
{
	setenv("PROFIL_FALLBACK", "signal", 1);
	EXPECT(OPEN_FAILS(ENOENT));
	TAP_CHECK(start() == -1);
	TAP_CHECK(errno == ENOENT);
	TAP_CHECK(strstr(mock_stderr(), "; PROFIL_FALLBACK needs the shared libprofil\n"));
	TAP_CHECK(!profil(bins, sizeof(bins), 0, 0));
	return mock_done();
}

static void *start_thread(void *unused)
{
	start();
	return unused;
}

static bool threads_say_it_once(void)
{
	static struct mock_step steps[8];
	pthread_t thread[ARRAY_SIZE(steps)];
	const char *said;

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
		steps[i] = (struct mock_step)OPEN_FAILS(ENOENT);
	mock_expect(steps, ARRAY_SIZE(steps));
	for (size_t i = 0; i < ARRAY_SIZE(thread); i++)
		TAP_CHECK(!pthread_create(&thread[i], NULL, start_thread, NULL));
	for (size_t i = 0; i < ARRAY_SIZE(thread); i++)
		pthread_join(thread[i], NULL);

	said = mock_stderr();
	TAP_CHECK(*said && strchr(said, '\n') == said + strlen(said) - 1);
	return mock_done();
}

static const struct profil_region two_regions[2];

static bool is_two_regions(void *arg)
{
	struct profil_start *start = arg;

	TAP_CHECK(start->size == sizeof(*start));
	TAP_CHECK(start->regions_uptr == (uintptr_t)two_regions);
	TAP_CHECK(start->region_num == 2);
	TAP_CHECK(start->region_len == 40);
	TAP_CHECK(start->rate == 0);
	return true;
}

static bool all_of_start(void)
{
	EXPECT(OPEN, START(is_two_regions), CLOSE, OPEN, STOP, CLOSE,
	       OPEN_FAILS(ENOENT));
	TAP_CHECK(!profil_start(two_regions, 2, 40, 0));
	TAP_CHECK(!profil_stop());
	TAP_CHECK(profil_start(two_regions, 2, 40, 0) == -1);
	TAP_CHECK(errno == ENOENT);
	TAP_CHECK(*mock_stderr());
	return mock_done();
}

static bool is_too_many(void *arg)
{
	struct profil_start *start = arg;

	TAP_CHECK(start->region_num == UINT32_MAX);
	TAP_CHECK(start->region_len == UINT32_MAX);
	return true;
}

/* 2^32 + 1 regions must not become one. */
static bool too_many_stay_too_many(void)
{
	EXPECT(OPEN, START(is_too_many), CLOSE);
	profil_start(two_regions, (1ULL << 32) + 1, (1ULL << 32) + 32, 0);
	return mock_done();
}

static struct profil_stats stats = { .size = sizeof(stats) };

static bool is_stats(void *arg)
{
	TAP_CHECK(arg == &stats);
	return true;
}

static bool stats_are_read(void)
{
	EXPECT(OPEN, { MOCK_IOCTL, PROFIL_IOC_STATS, is_stats, 0 }, CLOSE,
	       OPEN, { MOCK_IOCTL, PROFIL_IOC_STATS, is_stats, ENOENT }, CLOSE_FAILS);
	TAP_CHECK(!profil_stats(&stats));
	TAP_CHECK(profil_stats(&stats) == -1);
	TAP_CHECK(errno == ENOENT);
	return mock_done();
}

static bool query_is_read(void)
{
	struct profil_query query = { .size = sizeof(query) };

	EXPECT(OPEN, QUERY(64), CLOSE, OPEN_FAILS(ENODEV));
	TAP_CHECK(!profil_query(&query));
	TAP_CHECK(query.out_tick_hz == 64);
	TAP_CHECK(profil_query(&query) == -1);
	TAP_CHECK(errno == ENODEV);
	TAP_CHECK(*mock_stderr());
	return mock_done();
}

int main(void)
{
	tap_fork(starts, "profil() becomes QUERY and START, and leaves errno alone");
	tap_fork(rate_is_100, "a tick of 100 Hz gives a rate of 100");
	tap_fork(rate_is_tick, "a slower tick gives the tick's rate");
	tap_fork(stop_without_start, "stopping before any start touches no device");
	tap_fork(null_stops, "a NULL buffer stops");
	tap_fork(scale_0_stops, "scale 0 stops, again and again");
	tap_fork(child_stops, "a forked child can stop its inherited profile");
	tap_fork(stop_fails, "a stop that cannot open the device fails");
	tap_fork(start_fails, "an error of START is handed on over close()");
	tap_fork(query_fails, "an error of QUERY is handed on, nothing starts");
	tap_fork(missing_said_once, "a missing device is said once");
	tap_fork(missing_said_why, "a forbidden device is said with its remedy");
	tap_fork(no_advice_for_others, "other causes are said without advice");
	tap_fork(quiet, "PROFIL_QUIET=1 says nothing");
	tap_fork(no_fallback_in_archive, "the archive says that it cannot fall back");
	tap_fork(threads_say_it_once, "eight threads say it once");
	tap_fork(all_of_start, "profil_start() hands everything on");
	tap_fork(too_many_stay_too_many, "counts above 32 bits are not cut off");
	tap_fork(stats_are_read, "profil_stats() fills the caller's structure");
	tap_fork(query_is_read, "profil_query() fills the caller's structure");
	return tap_plan();
}
