// SPDX-License-Identifier: GPL-2.0-only
/* Threads that start and end the profile of their process at the same time. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/profil.h>
#include <unistd.h>
#include <profil.h>
#include "mock.h"
#include "tap.h"

static unsigned short bins[16];
static struct prof range = { bins, sizeof(bins), 0, 65536 };

static int start(void)
{
	return profil(bins, sizeof(bins), 0, 65536);
}

static int stop(void)
{
	return profil(bins, sizeof(bins), 0, 0);
}

/* Another thread, and whether it has returned. */
static pthread_t other;
static atomic_bool returned;
static bool other_passed;

static void other_does(void *(*what)(void *))
{
	atomic_store(&returned, false);
	pthread_create(&other, NULL, what, NULL);
}

/* It may wait for what this thread has to do first. */
static void wait_for_other(void)
{
	for (int i = 0; i < 200 && !atomic_load(&returned); i++)
		usleep(1000);
}

static void *starts(void *unused)
{
	other_passed = !start();
	atomic_store(&returned, true);
	return unused;
}

static void *stops(void *unused)
{
	other_passed = !stop() && !mock_counts();
	atomic_store(&returned, true);
	return unused;
}

static void *starts_and_stops(void *unused)
{
	other_passed = !start() && !stop();
	atomic_store(&returned, true);
	return unused;
}

static void *stops_and_starts(void *unused)
{
	other_passed = !stop();
	mock_move_anchor();
	other_passed = other_passed && !start();
	atomic_store(&returned, true);
	return unused;
}

static void start_meanwhile(void)
{
	other_does(starts);
	pthread_join(other, NULL);
}

static void stop_meanwhile(void)
{
	other_does(stops);
	wait_for_other();
}

/* Its buffer may be freed as soon as stop() has returned, whoever else is about to stop. */
static bool off_is_off(void)
{
	mock_expect_any();
	TAP_CHECK(!start());
	mock_at(MOCK_STOPPED, start_meanwhile);
	mock_at(MOCK_UNMAPS, stop_meanwhile);
	TAP_CHECK(!stop());
	pthread_join(other, NULL);
	TAP_CHECK(other_passed);
	TAP_CHECK(!mock_has_anchor());
	return mock_done();
}

static void start_and_stop_meanwhile(void)
{
	other_does(starts_and_stops);
	wait_for_other();
}

/* The second time it might be the memory of somebody else. */
static bool unmaps_once(void)
{
	mock_expect_any();
	TAP_CHECK(!start());
	mock_at(MOCK_UNMAPS, start_and_stop_meanwhile);
	TAP_CHECK(!stop());
	pthread_join(other, NULL);
	TAP_CHECK(other_passed);
	TAP_CHECK(!mock_has_anchor());
	return mock_done();
}

static void stop_and_start_meanwhile(void)
{
	other_does(stops_and_starts);
	pthread_join(other, NULL);
}

/* The anchor that this START was told of is gone before it is kept in mind. */
static bool late_answer(void)
{
	mock_expect_any();
	TAP_CHECK(!start());
	mock_at(MOCK_STARTED, stop_and_start_meanwhile);
	TAP_CHECK(!start());
	TAP_CHECK(other_passed);
	TAP_CHECK(mock_counts());
	/* No command can be given. */
	mock_close_all();
	mock_expect(NULL, 0);
	TAP_CHECK(!stop());
	TAP_CHECK(!mock_has_anchor());
	return mock_done();
}

static bool child_passed;

/* It might wait for ever for a thread that it does not have, with all signals blocked. */
static void wait_for_child(pid_t pid)
{
	int status = 0;
	pid_t ended = 0;

	for (int i = 0; i < 60000 && !ended; i++) {
		ended = waitpid(pid, &status, WNOHANG);
		usleep(1000);
	}
	if (!ended) {
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
	}
	child_passed = pid > 0 && !status;
}

static void fork_meanwhile(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(stop() || mock_has_anchor() || start() || stop() || mock_has_anchor());
	wait_for_child(pid);
}

static bool fork_between(void)
{
	mock_expect_any();
	TAP_CHECK(!start());
	mock_at(MOCK_UNMAPS, fork_meanwhile);
	TAP_CHECK(!stop());
	TAP_CHECK(child_passed);
	return mock_done();
}

/* It knows of no anchor that it could unmap. */
static void fork_at_once(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(stop() || mock_counts());
	wait_for_child(pid);
}

static bool fork_after_start(void)
{
	mock_expect_any();
	mock_at(MOCK_STARTED, fork_at_once);
	TAP_CHECK(!start());
	TAP_CHECK(child_passed);
	TAP_CHECK(!stop());
	return mock_done();
}

static void *call_all(void *unused)
{
	for (int i = 0; i < 2000; i++) {
		sprofil(&range, 1, NULL, PROF_UINT);
		start();
		sprofil(NULL, 0, NULL, PROF_USHORT);
		stop();
	}
	return unused;
}

static bool many_threads(void)
{
	pthread_t thread[4];

	mock_expect_any();
	for (size_t i = 0; i < ARRAY_SIZE(thread); i++)
		TAP_CHECK(!pthread_create(&thread[i], NULL, call_all, NULL));
	for (size_t i = 0; i < ARRAY_SIZE(thread); i++)
		pthread_join(thread[i], NULL);
	TAP_CHECK(!mock_counts());
	TAP_CHECK(!mock_has_anchor());
	return mock_done();
}

int main(void)
{
	tap_fork(off_is_off, "it is off when a stop returns, whoever else is about to stop");
	tap_fork(unmaps_once, "of two threads that stop, one unmaps the anchor");
	tap_fork(late_answer, "an answer of START that comes late is not taken for the last one");
	tap_fork(fork_between, "a child that is forked amid a stop can stop, and start");
	tap_fork(fork_after_start, "a child that is forked amid a START can end what it inherited");
	tap_fork(many_threads, "threads that start, replace and end leak nothing");
	return tap_plan();
}
