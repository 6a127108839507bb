// SPDX-License-Identifier: GPL-2.0-only
/*
 * What libprofil asks of the device, and what its caller gets to know.
 * sprofil() is in sprofil_test.c.
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <profil.h>
#include "mock.h"
#include "tap.h"

#define MISSING "profil: cannot open /dev/profil: "

typedef int profil_fn(unsigned short *buf, size_t bufsiz, size_t offset,
		      unsigned int scale);

/* Of the archive; as in libwrap/internal.h. */
int libprofil_pause(void);

static unsigned short bins[16];
/* <unistd.h> has it that buf is never NULL; callers know better. */
static unsigned short *volatile no_bins;

/* As profil(bins, sizeof(bins), 0x1234, 65536) has to arrive. */
static bool is_start(void *arg)
{
	struct profil_ioc_start *start = arg;
	struct profil_region *region = (void *)(uintptr_t)start->regions_uptr;

	TAP_CHECK(start->size == sizeof(*start));
	TAP_CHECK(start->flags == 0);
	TAP_CHECK(start->region_num == 1);
	TAP_CHECK(start->region_len == sizeof(*region));
	TAP_CHECK(start->rate == 100);
	TAP_CHECK(start->source == 0);
	TAP_CHECK(!start->jitter && !start->__reserved);
	TAP_CHECK(region->buf_uptr == (uintptr_t)bins);
	TAP_CHECK(region->bytes == sizeof(bins));
	TAP_CHECK(region->offset == 0x1234);
	TAP_CHECK(region->scale == 65536);
	TAP_CHECK(region->flags == 0);
	return true;
}

static int start(void)
{
	profil_fn *as_in_unistd_h = profil;

	return as_in_unistd_h(bins, sizeof(bins), 0x1234, 65536);
}

static bool started(void)
{
	EXPECT(START(is_start));
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

static __u64 wanted_value;

static const struct profil_region *only_region(void *arg)
{
	struct profil_ioc_start *start = arg;

	return (void *)(uintptr_t)start->regions_uptr;
}

static bool is_scale(void *arg)
{
	TAP_CHECK(only_region(arg)->scale == wanted_value);
	return true;
}

static bool every_scale_is_handed_on(void)
{
	static const unsigned int scales[] = { 1, 2, 3, 65535, 65537, 131072, UINT32_MAX };

	for (size_t i = 0; i < ARRAY_SIZE(scales); i++) {
		EXPECT(START(is_scale));
		wanted_value = scales[i];
		TAP_CHECK(!profil(bins, sizeof(bins), 0, scales[i]));
		TAP_CHECK(mock_done());
	}
	return true;
}

static bool is_bytes(void *arg)
{
	TAP_CHECK(only_region(arg)->bytes == wanted_value);
	return true;
}

static bool every_size_is_handed_on(void)
{
	static const size_t sizes[] = { 0, 1, 2, 3, SIZE_MAX };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		EXPECT(START(is_bytes));
		wanted_value = sizes[i];
		TAP_CHECK(!profil(bins, sizes[i], 0, 65536));
		TAP_CHECK(mock_done());
	}
	return true;
}

static bool is_offset(void *arg)
{
	TAP_CHECK(only_region(arg)->offset == wanted_value);
	return true;
}

static bool is_buf(void *arg)
{
	TAP_CHECK(only_region(arg)->buf_uptr == wanted_value);
	return true;
}

static bool high_addresses_stay_high(void)
{
	EXPECT(START(is_offset), START(is_buf));
	wanted_value = SIZE_MAX;
	TAP_CHECK(!profil(bins, sizeof(bins), SIZE_MAX, 65536));
	wanted_value = SIZE_MAX - 15;
	TAP_CHECK(!profil((void *)(SIZE_MAX - 15), 2, 0, 65536));
	return mock_done();
}

/* The kernel looks at it; the library hands its answer on. */
static bool odd_buffers_fail(void)
{
	EXPECT({ PROFIL_IOC_START, is_buf, EINVAL });
	wanted_value = (uintptr_t)bins + 1;
	TAP_CHECK(profil((void *)((char *)bins + 1), 8, 0, 65536) == -1);
	TAP_CHECK(errno == EINVAL);
	TAP_CHECK(!*mock_stderr());
	return mock_done();
}

static bool replaces_without_a_stop(void)
{
	EXPECT(START(is_start), START(is_start), STOP);
	TAP_CHECK(!start());
	TAP_CHECK(!start());
	TAP_CHECK(!profil(no_bins, 0, 0, 0));
	return mock_done();
}

static bool starts_again(void)
{
	EXPECT(START(is_start), STOP, START(is_start));
	TAP_CHECK(!start());
	TAP_CHECK(!profil(no_bins, 0, 0, 0));
	TAP_CHECK(!profil(no_bins, 0, 0, 0));
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
	EXPECT(STOP);
	errno = 77;
	TAP_CHECK(!profil(no_bins, 0, 0, 65536));
	TAP_CHECK(errno == 77);
	return mock_done();
}

static bool scale_0_stops(void)
{
	TAP_CHECK(started());
	EXPECT(STOP);
	TAP_CHECK(!profil(bins, sizeof(bins), 0, 0));
	TAP_CHECK(!mock_has_anchor());
	TAP_CHECK(!profil(bins, sizeof(bins), 0, 0));
	TAP_CHECK(mock_keeps());
	return mock_done();
}

/* From START on nothing is opened any more. */
static bool one_descriptor_is_kept(void)
{
	struct profil_ioc_query query = { .size = sizeof(query) };
	struct profil_ioc_stats stats = { .size = sizeof(stats) };

	TAP_CHECK(started());
	EXPECT(QUERY(250), { PROFIL_IOC_STATS, NULL, 0 }, START(is_start),
	       START_FAILS(ENOSPC), STOP, START(is_start), STOP);
	TAP_CHECK(!profil_query(&query) && !profil_stats(&stats));
	TAP_CHECK(!start());
	TAP_CHECK(start() == -1 && errno == ENOSPC);
	TAP_CHECK(mock_has_anchor());
	TAP_CHECK(!profil(no_bins, 0, 0, 0));
	TAP_CHECK(mock_keeps());
	TAP_CHECK(!start());
	TAP_CHECK(!profil_stop());
	TAP_CHECK(!mock_keeps() && !mock_has_anchor());
	return mock_done();
}

/* A program that closes all descriptors: the next START has one again. */
static bool descriptors_are_closed(void)
{
	struct profil_ioc_query query = { .size = sizeof(query) };

	TAP_CHECK(started());
	mock_close_all();
	EXPECT(QUERY(250), START(is_start), STOP);
	TAP_CHECK(!profil_query(&query));
	TAP_CHECK(!mock_keeps());
	TAP_CHECK(!start());
	TAP_CHECK(mock_keeps());
	TAP_CHECK(!profil(no_bins, 0, 0, 0));
	return mock_done();
}

/* Another thread closes it amid the call, or has its number for something else. */
static bool descriptor_is_closed_meanwhile(void)
{
	struct profil_ioc_stats stats = { .size = sizeof(stats) };

	TAP_CHECK(started());
	EXPECT({ PROFIL_IOC_STATS, NULL, EBADF }, { PROFIL_IOC_STATS, NULL, 0 },
	       { PROFIL_IOC_STATS, NULL, ENOTTY }, { PROFIL_IOC_STATS, NULL, 0 },
	       { PROFIL_IOC_STOP, NULL, EBADF });
	TAP_CHECK(!profil_stats(&stats));
	TAP_CHECK(!profil_stats(&stats));
	TAP_CHECK(!profil(no_bins, 0, 0, 0));
	TAP_CHECK(!mock_has_anchor());
	return mock_done();
}

/* There is no command, and nothing is opened. */
static bool unmaps_without_a_descriptor(void)
{
	TAP_CHECK(started());
	mock_close_all();
	errno = 77;
	TAP_CHECK(!profil(no_bins, 0, 0, 0));
	TAP_CHECK(errno == 77);
	TAP_CHECK(!mock_has_anchor());
	TAP_CHECK(!profil_stop());
	return mock_done();
}

/* What ends a program of gcc -pg: of its samples, STATS tells afterwards. */
static bool pauses_without_a_descriptor(void)
{
	TAP_CHECK(started());
	mock_close_all();
	EXPECT(STOP);
	errno = 77;
	TAP_CHECK(!libprofil_pause());
	TAP_CHECK(errno == 77);
	TAP_CHECK(mock_has_anchor());
	TAP_CHECK(mock_done());
	EXPECT(OPEN_FAILS(EACCES));
	TAP_CHECK(!libprofil_pause());
	TAP_CHECK(!mock_has_anchor());
	return mock_done();
}

static bool unmaps_where_ioctl_is_forbidden(void)
{
	TAP_CHECK(started());
	EXPECT({ PROFIL_IOC_STOP, mock_is_stop, EPERM });
	mock_anchor_errors(EPERM, EPERM);
	TAP_CHECK(!profil(no_bins, 0, 0, 0));
	TAP_CHECK(!mock_has_anchor());
	return mock_done();
}

/* It is not there any more, is ordinary memory, or is locked memory. */
static bool memory_of_others_is_left_alone(void)
{
	static const int errors[][2] = {
		{ ENOMEM, 0 }, { -1, 0 }, { EINVAL, EBUSY }, { 0, ENOMEM },
	};

	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		mock_anchor_errors(0, 0);
		TAP_CHECK(started());
		mock_anchor_errors(errors[i][0], errors[i][1]);
		EXPECT(STOP);
		TAP_CHECK(!profil(no_bins, 0, 0, 0));
		TAP_CHECK(mock_has_anchor());
		TAP_CHECK(mock_done());
	}
	return true;
}

static bool child_stops(void)
{
	int status;
	pid_t pid;

	TAP_CHECK(started());
	EXPECT(STOP);
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
	mock_close_all();
	mock_anchor_errors(ENOMEM, 0);
	EXPECT(OPEN_FAILS(EACCES), OPEN_FAILS(EMFILE), STOP);
	TAP_CHECK(profil(bins, sizeof(bins), 0, 0) == -1);
	TAP_CHECK(errno == EACCES);
	TAP_CHECK(*mock_stderr());
	/* It is not thought off. */
	TAP_CHECK(profil_stop() == -1);
	TAP_CHECK(errno == EMFILE);
	TAP_CHECK(!profil_stop());
	return mock_done();
}

static bool start_fails(void)
{
	EXPECT(START_FAILS(EINVAL), START_FAILS(ENXIO));
	TAP_CHECK(start() == -1);
	TAP_CHECK(errno == EINVAL);
	/* As profil(2) says of a histogram. */
	TAP_CHECK(start() == -1);
	TAP_CHECK(errno == EFAULT);
	TAP_CHECK(!*mock_stderr());
	return mock_done();
}

static bool missing_said_once(void)
{
	EXPECT(OPEN_FAILS(ENOENT), OPEN_FAILS(ENOENT));
	TAP_CHECK(start() == -1);
	TAP_CHECK(errno == ENOENT);
	TAP_CHECK(!strcmp(mock_stderr(), MISSING
		  "No such file or directory; load the module (sudo modprobe profil)\n"));
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
		  "Permission denied; let users open it (sudo chmod 666 /dev/profil)\n"));
	return mock_done();
}

static bool denied_to_containers_said_why(void)
{
	EXPECT(OPEN_FAILS(EPERM));
	TAP_CHECK(start() == -1);
	TAP_CHECK(errno == EPERM);
	TAP_CHECK(!strcmp(mock_stderr(), MISSING "Operation not permitted; "
		  "in a container: start it with --device /dev/profil\n"));
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

static struct profil_ioc_start whole_command = { .region_num = 1 };

static bool is_whole_command(void *arg)
{
	TAP_CHECK(arg == &whole_command);
	return true;
}

static bool all_of_start(void)
{
	EXPECT(START(is_whole_command), STOP, START_FAILS(ENOSPC), OPEN_FAILS(ENOENT));
	errno = 77;
	TAP_CHECK(!profil_start(&whole_command));
	TAP_CHECK(!profil_stop());
	TAP_CHECK(errno == 77);
	TAP_CHECK(profil_start(&whole_command) == -1);
	TAP_CHECK(errno == ENOSPC);
	TAP_CHECK(profil_start(&whole_command) == -1);
	TAP_CHECK(errno == ENOENT);
	TAP_CHECK(*mock_stderr());
	return mock_done();
}

/* The earlier profile goes on. */
static bool stops_after_failure(void)
{
	EXPECT(START(NULL), START_FAILS(ENOSPC), STOP);
	TAP_CHECK(!start());
	TAP_CHECK(start() == -1);
	TAP_CHECK(!profil_stop());
	return mock_done();
}

static struct profil_ioc_stats stats = { .size = sizeof(stats) };

static bool is_stats(void *arg)
{
	TAP_CHECK(arg == &stats);
	return true;
}

static bool stats_are_read(void)
{
	EXPECT({ PROFIL_IOC_STATS, is_stats, 0 }, { PROFIL_IOC_STATS, is_stats, ENOENT });
	errno = 77;
	TAP_CHECK(!profil_stats(&stats));
	TAP_CHECK(errno == 77);
	TAP_CHECK(profil_stats(&stats) == -1);
	TAP_CHECK(errno == ENOENT);
	return mock_done();
}

static bool query_is_read(void)
{
	struct profil_ioc_query query = { .size = sizeof(query) };

	EXPECT(QUERY(250), OPEN_FAILS(ENODEV));
	errno = 77;
	TAP_CHECK(!profil_query(&query));
	TAP_CHECK(errno == 77);
	TAP_CHECK(query.out_tick_hz == 250);
	/* Nothing was started by that. */
	TAP_CHECK(!profil_stop());
	TAP_CHECK(profil_query(&query) == -1);
	TAP_CHECK(errno == ENODEV);
	TAP_CHECK(*mock_stderr());
	return mock_done();
}

/* Cancellation must neither leave a descriptor nor throw through profil(). */
static void *start_cancelled(void *unused)
{
	(void)unused;
	pthread_cancel(pthread_self());
	start();
	profil_stop();
	start();
	pthread_testcancel();
	return NULL;
}

static bool no_cancellation_point(void)
{
	pthread_t thread;
	void *result;

	EXPECT(START(is_start), STOP, OPEN_FAILS(ENOENT));
	TAP_CHECK(!pthread_create(&thread, NULL, start_cancelled, NULL));
	pthread_join(thread, &result);
	TAP_CHECK(result == PTHREAD_CANCELED);
	TAP_CHECK(*mock_stderr());
	return mock_done();
}

int main(void)
{
	tap_fork(starts, "profil() becomes one START at a rate of 100, and leaves errno alone");
	tap_fork(every_scale_is_handed_on, "profil() hands on scales 1, 2 and above 65536");
	tap_fork(every_size_is_handed_on, "profil() hands on sizes 0, 1 and odd ones");
	tap_fork(high_addresses_stay_high, "profil() extends addresses with zeros");
	tap_fork(odd_buffers_fail, "profil() hands on that a buffer at an odd address is EINVAL");
	tap_fork(replaces_without_a_stop, "profil() while on is one START more");
	tap_fork(starts_again, "profil() starts again after two stops");
	tap_fork(stop_without_start, "stopping before any start touches no device");
	tap_fork(null_stops, "a NULL buffer stops");
	tap_fork(scale_0_stops, "scale 0 stops, again and again");
	tap_fork(child_stops, "a forked child can stop its inherited profile");
	tap_fork(one_descriptor_is_kept, "one descriptor is kept until profil_stop()");
	tap_fork(descriptors_are_closed, "where it was closed, the next START has one again");
	tap_fork(descriptor_is_closed_meanwhile, "where it is closed meanwhile, another is opened");
	tap_fork(unmaps_without_a_descriptor, "without it a stop opens nothing, and unmaps");
	tap_fork(pauses_without_a_descriptor, "a pause opens it, for it keeps the counts of STATS");
	tap_fork(unmaps_where_ioctl_is_forbidden, "a stop unmaps where all else is forbidden");
	tap_fork(memory_of_others_is_left_alone, "a stop unmaps nothing but the anchor");
	tap_fork(stop_fails, "a stop that has no way left fails, and is tried again");
	tap_fork(stops_after_failure, "a stop after a failed start is not left out");
	tap_fork(start_fails, "an error of START is handed on over close()");
	tap_fork(missing_said_once, "a missing device is said once");
	tap_fork(missing_said_why, "a forbidden device is said with its remedy");
	tap_fork(denied_to_containers_said_why, "so is one that a container may not open");
	tap_fork(no_advice_for_others, "other causes are said without advice");
	tap_fork(quiet, "PROFIL_QUIET=1 says nothing");
	tap_fork(no_fallback_in_archive, "the archive says that it cannot fall back");
	tap_fork(threads_say_it_once, "eight threads say it once");
	tap_fork(no_cancellation_point, "a cancelled thread finishes its call");
	tap_fork(all_of_start, "profil_start() hands everything on");
	tap_fork(stats_are_read, "profil_stats() fills the caller's structure");
	tap_fork(query_is_read, "profil_query() fills the caller's structure");
	return tap_plan();
}
