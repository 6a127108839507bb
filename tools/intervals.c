// SPDX-License-Identifier: GPL-2.0-only
/* The loop of profil watch: one session after another, no tick between them. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sysexits.h>
#include <unistd.h>
#include "clock.h"
#include "intervals.h"
#include "notify.h"
#include "profile.h"
#include "say.h"

#define NS 1000000000ULL
#define LOOK_MS 1000		/* units that are new are looked for so often */
#define JUMP_NS (2 * NS)	/* a clock that is set by more ends the interval */
#define PATIENCE_MS 30000	/* for what is being written when the end comes */
#define WAIT_MAX 60		/* seconds between looks for the device */
#define NAMING 10	/* seconds that files may be read for names when the end has come */

/* Waits for a signal that ends this program; true if there was one. */
static bool stopped(struct watch *watch, int ms)
{
	struct pollfd polled[] = {
		{ .fd = watch->signals, .events = POLLIN },
		{ .fd = watch->writer.pid ? watch->writer.fd : -1, .events = POLLIN },
		{ .fd = watch->pusher.pid ? watch->pusher.fd : -1, .events = POLLIN },
		{ .fd = watch->maker.pid ? watch->maker.fd : -1, .events = POLLIN },
	};

	return poll(polled, 4, ms) > 0 && polled[0].revents;
}

/* "NAME NUMBER" is a tally, and anything else a message, which is said once. */
static void take_line(struct watch *watch, const char *line)
{
	for (int i = 0; i < TALLIES; i++) {
		size_t length = strlen(tally_names[i]);

		if (strncmp(line, tally_names[i], length) || line[length] != ' ')
			continue;
		watch->tallies[i] += strtoull(line + length, NULL, 10);
		watch->writing = watch->writing && i != TALLY_INTERVALS && i != TALLY_LOST;
		return;
	}
	if (watch->said && !strcmp(watch->said, line))
		return;
	fprintf(stderr, "%s\n", line);
	free(watch->said);
	watch->said = allocated(strdup(line));
}

static void lose(struct watch *watch, const char *why)
{
	say("the profile of an interval is lost: %s", why);
	watch->tallies[TALLY_LOST]++;
	watch->writing = false;
}

/* Takes what it has said.  Returns whether it has ended. */
static bool take(struct watch *watch, struct helper *helper)
{
	char *line, *end;
	bool ended;

	if (!helper->pid)
		return true;
	ended = helper_read(helper);
	for (line = helper->text; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		take_line(watch, line);
	}
	helper->length = strlen(line);
	memmove(helper->text, line, helper->length + 1);
	if (!ended)
		return false;
	helper_end(helper);
	if (helper == &watch->writer && watch->writing)
		lose(watch, "its writer failed");
	return true;
}

static uint64_t jump(void)
{
	return clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC);
}

/* Clocks that were set, and times of sleep: times in a file are true for all of it. */
static bool jumped(const struct watch *watch)
{
	int64_t by = jump() - watch->jump_ns;

	return by > (int64_t)JUMP_NS || by < -(int64_t)JUMP_NS;
}

/* Milliseconds to the next look, or to the end of the interval if that comes before it. */
static int time_left(const struct watch *watch)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	uint64_t left = watch->due_ns > now ? (watch->due_ns - now) / NS_OF_MS + 1 : LOOK_MS;

	return left < LOOK_MS ? left : LOOK_MS;
}

static void begin(struct watch *watch, uint64_t now)
{
	watch->jump_ns = jump();
	watch->time_ns = now + watch->jump_ns;
	watch->due_ns = now + watch->every_ns;
}

static void write_interval(struct watch *watch, struct session *session, bool last)
{
	struct interval interval = {
		.session = session, .units = watch->units, .spool = &watch->spool,
		.metrics = watch->metrics, .kernel = watch->wish.kernel,
		.time_ns = watch->time_ns, .length_ns = session_length_ns(session),
		.naming = last ? NAMING : watch->every_ns / 2e9, .finishing = !last,
		.tallies = watch->tallies,
	};

	/* the maker of the tables is at it */
	if (watch->maker.pid) {
		interval.naming = 0;
		interval.finishing = false;
	}

	watch->writing = true;
	if (!helper_start(&watch->writer, interval_work, &interval, true))
		lose(watch, "no process can be had to write it");
}

/* It has had as long as the interval itself, or all that there is when the end has come. */
static void give_up(struct watch *watch)
{
	helper_end(&watch->writer);
	spool_tidy(&watch->spool);
	if (watch->writing)
		lose(watch, "it could not be written until the next one came");
}

/* Until there is nothing more to write, or patience is at an end. */
static void wait_for_writer(struct watch *watch)
{
	uint64_t until = clock_ns(CLOCK_MONOTONIC) + PATIENCE_MS * (uint64_t)NS_OF_MS;

	/* who has written and makes tables is not waited for */
	while (!take(watch, &watch->writer) && watch->writing &&
	       clock_ns(CLOCK_MONOTONIC) < until)
		poll(&(struct pollfd) { .fd = watch->writer.fd, .events = POLLIN }, 1, LOOK_MS);
	if (watch->writer.pid)
		give_up(watch);
}

/* Whether another profile may be written; one that takes longer than the interval is given up. */
static bool may_write(struct watch *watch, uint64_t now)
{
	if (take(watch, &watch->writer))
		return true;
	if (!watch->writing && take(watch, &watch->maker)) {
		watch->maker = watch->writer;
		watch->writer = (struct helper) { .fd = -1 };
		return true;
	}
	if (now < watch->due_ns + watch->every_ns)
		return false;
	give_up(watch);
	return true;
}

/* The session that follows counts from the very tick on at which this one ends. */
static void next_interval(struct watch *watch, uint64_t now)
{
	struct session *former = watch->session, *next;

	if (!may_write(watch, now))
		return;
	next = session_follow(former, &watch->wish);
	now = clock_ns(CLOCK_MONOTONIC);
	if (!next) {
		if (!watch->refused)
			say("no session could be made to follow: %m; this interval goes on until there is one");
		watch->refused = true;
		watch->due_ns = now + watch->every_ns;
		return;
	}
	watch->refused = false;
	units_read(watch->units, former);
	write_interval(watch, former, false);
	session_close(former);
	units_begin(watch->units);
	watch->session = next;
	begin(watch, now);
}

/* Files that wait go when a new one is there; those that failed wait for the next one. */
static void push(struct watch *watch, bool written)
{
	if (!watch->push.url || !take(watch, &watch->pusher) || !written)
		return;
	if (!helper_start(&watch->pusher, push_work, &watch->push, true))
		say("no process can be had to push profiles: %m; they wait");
}

/* Where the module is not there yet, or not any more; false: it is not to be waited for. */
static bool wait_for_device(struct watch *watch)
{
	struct profil_ioc_query query;
	bool said = false;
	int error;

	for (int seconds = 1; (error = session_query(&query)); seconds *= 2) {
		if (error != -ENOENT && error != -ENODEV && error != -ENXIO)
			break;
		if (!said)
			say("%s cannot be opened: %s; it is waited for: sudo modprobe profil",
			    session_device, strerror(-error));
		said = true;
		/* systemd waits for a service to be ready, and ends it where that takes long */
		notify("READY=1\nSTATUS=waiting for the module profil");
		if (seconds > WAIT_MAX)
			seconds = WAIT_MAX;
		for (int i = 0; i < seconds; i++) {
			notify("WATCHDOG=1");
			if (stopped(watch, 1000))
				return false;
		}
	}
	/* DeviceAllow= is of devices that there are when systemd starts a service */
	if (said && (error == -EPERM || error == -EACCES)) {
		die_status = EX_TEMPFAIL;
		die("%s is there now and cannot be opened: %s; start profil watch again, as its service does",
		    session_device, strerror(-error));
	}
	return true;
}

static void finish(struct watch *watch)
{
	notify("STOPPING=1");
	session_stop(watch->session);
	units_read(watch->units, watch->session);
	wait_for_writer(watch);
	if (watch->maker.pid)
		helper_end(&watch->maker);
	write_interval(watch, watch->session, true);
	wait_for_writer(watch);
	/* what was not pushed is there when the next one starts */
	take(watch, &watch->pusher);
	if (watch->pusher.pid)
		helper_end(&watch->pusher);
	session_close(watch->session);
	units_free(watch->units);
	free(watch->said);
}

static void catch_signals(struct watch *watch)
{
	sigset_t set;

	/* one that is written to when nobody reads it, and a full file system, are errors */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	watch->signals = signalfd(-1, &set, SFD_CLOEXEC);
	if (watch->signals < 0)
		die("no signals can be waited for: %m; raise ulimit -n");
}

void watch_machine(struct watch *watch)
{
	catch_signals(watch);
	if (!wait_for_device(watch))
		return;
	watch->session = session_open(&watch->wish);
	watch->units = units_make();
	begin(watch, clock_ns(CLOCK_MONOTONIC));
	notify("READY=1\nSTATUS=counting");
	while (!stopped(watch, time_left(watch))) {
		uint64_t now = clock_ns(CLOCK_MONOTONIC), done = watch->tallies[TALLY_INTERVALS];

		notify("WATCHDOG=1");
		units_read(watch->units, watch->session);
		take(watch, &watch->writer);
		take(watch, &watch->maker);
		push(watch, watch->tallies[TALLY_INTERVALS] > done);
		if (now >= watch->due_ns || jumped(watch))
			next_interval(watch, now);
	}
	finish(watch);
}
