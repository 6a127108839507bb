// SPDX-License-Identifier: GPL-2.0-only
/* The loop of profil top: intervals, keys, and what helpers say. */
#define _GNU_SOURCE
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "clock.h"
#include "machine.h"
#include "say.h"
#include "store.h"
#include "window.h"

#define NAMES 1		/* seconds that a table waits for names */
#define LEAST 0.001	/* seconds of waiting */

/* In a helper: what is counted meanwhile is in or not, and each tick is in one class. */
static void write_profile(void *data, FILE *out)
{
	struct top *top = data;
	struct profile profile;
	uint64_t *counts = profile.counts;
	long long bytes;
	int error = session_inherit(top->session);

	if (error)
		die("the tables of the session cannot be mapped: %s", strerror(error));
	top_gather(top, &profile);
	counts[COUNT_TICKS] = counts[COUNT_IN_SLOTS] + counts[COUNT_EXEC] + counts[COUNT_FULL] +
		counts[COUNT_NOT_DUE] + machine_ticks(&profile);
	bytes = store_write(&profile, top->counting.file);
	if (bytes >= 0)
		fprintf(out, "written: %s, %lld kB", profile_string(&profile, top->counting.file),
			(bytes + 1023) / 1024);
}

static void start_writing(struct window *window)
{
	struct top *top = window->top;

	window->writes = false;
	if (top->writing.pid)
		return;
	window_say(window, "the profile is being written", WINDOW_SECONDS);
	/* not in the helper: it is done once for all that are written */
	store_keep(top->counting.file);
	if (!helper_start(&top->writing, write_profile, top, true))
		window_say(window, "no process can be had to write it; raise ulimit -u",
			   WINDOW_SECONDS);
}

/* The last line that it said tells how it went; others are of names. */
static void read_writing(struct window *window)
{
	struct helper *writing = &window->top->writing;
	const char *line;

	if (!writing->pid || !helper_read(writing))
		return;
	line = helper_last_line(writing);
	window_say(window, line[0] ? line : "the profile could not be written", WINDOW_SECONDS);
	helper_end(writing);
}

static void take_events(struct window *window)
{
	enum key key;

	while ((key = screen_key()) != PRESS_NONE) {
		window_press(window, key);
		if (key == PRESS_GONE)
			break;
		window_make(window);
	}
	if (window->writes)
		start_writing(window);
	read_writing(window);
	window_take(window);
	if (naming_take(&window->top->naming, &window->top->live))
		window_make(window);
	window_draw(window);
}

/* Names that come soon are in the table. */
static void wait_for_names(struct top *top)
{
	double until = clock_now() + NAMES, left = NAMES;

	while (top->naming.helper.pid && left > 0) {
		struct pollfd polled = { .fd = top->naming.helper.fd, .events = POLLIN };

		poll(&polled, 1, left * 1000 + 1);
		naming_take(&top->naming, &top->live);
		left = until - clock_now();
	}
}

static void print_line(char *text)
{
	puts(text);
	free(text);
}

static void print_table(struct window *window)
{
	struct top *top = window->top;
	static bool again;

	wait_for_names(top);
	view_make(&window->view, &top->live, top->rows, 0);
	if (again)
		putchar('\n');
	again = true;
	print_line(view_head(&top->live, 0));
	print_line(view_heading(&window->view));
	for (size_t i = 0; i < window->view.table.num && i < top->rows; i++)
		print_line(view_row(&window->view, i));
	/* nobody reads it any more */
	if (fflush(stdout) || ferror(stdout))
		top_quit(top);
}

static void interval(struct window *window)
{
	struct top *top = window->top;
	uint64_t now_ns = (clock_now() - top->live.began) * 1e9;

	if (now_ns >= slices_due(top->slices))
		slices_take(top->slices, now_ns, false);
	if (top->ending)
		return;
	if (!window->frozen)
		live_read(&top->live);
	naming_start(&top->naming, &top->live);
	if (!top->screen) {
		print_table(window);
		return;
	}
	window_make(window);
	window_draw(window);
}

void watch(struct top *top)
{
	struct window window = { .top = top, .view.by = top->by, .closeup.helper.fd = -1 };
	double next = clock_now() + top->seconds, left;

	if (top->screen) {
		window_say(&window, "the first interval is being counted", top->seconds);
		window_draw(&window);
	}
	for (unsigned long n = 0;;) {
		top->program.also[0] = top->screen ? screen_fd() : -1;
		top->program.also[1] = top->screen ? top->naming.helper.fd : -1;
		top->program.also[2] = top->writing.fd;
		top->program.also[3] = window.closeup.helper.fd;
		left = next - clock_now();
		/* signals are looked at in any case */
		left = left > LEAST ? left : LEAST;
		if (program_wait(&top->program, top->session, top->counting.wait, left))
			break;
		if (top->screen)
			take_events(&window);
		if (clock_now() < next)
			continue;
		interval(&window);
		next = next + top->seconds > clock_now() ? next + top->seconds :
			clock_now() + top->seconds;
		if (++n == top->intervals)
			top_quit(top);
	}
	/* a file that is being written becomes whole, or not one at all */
	if (top->writing.pid)
		helper_end(&top->writing);
	closeup_end(&window.closeup);
	view_free(&window.view);
}
