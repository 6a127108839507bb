// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include "clock.h"
#include "hints.h"
#include "say.h"
#include "window.h"

#define AROUND 3	/* lines of the screen around the rows */
#define CODE_SECONDS 300	/* that code is being read, at most */

void window_say(struct window *window, const char *text, double seconds)
{
	snprintf(window->message, sizeof(window->message), "%s", text);
	window->until = clock_now() + seconds;
}

static void put(size_t row, char *text, enum look look)
{
	screen_put(row, text, look);
	free(text);
}

static size_t body(void)
{
	return screen_rows() > AROUND ? screen_rows() - AROUND : 0;
}

/* The row that is followed; without one, the number of rows. */
static size_t chosen(struct window *window)
{
	const struct table *table = &window->view.table;

	for (size_t i = 0; window->follows && i < table->num; i++)
		if (view_same_row(&table->rows[i], &window->row))
			return i;
	window->follows = false;
	return table->num;
}

/* The chosen row is seen, and no line is empty that need not be. */
static void scroll_there(struct window *window)
{
	size_t num = window->view.table.num, i = chosen(window), height = body();

	if (i < num && i < window->first)
		window->first = i;
	if (i < num && height && i >= window->first + height)
		window->first = i - height + 1;
	if (window->first + height > num)
		window->first = num > height ? num - height : 0;
}

static void draw_rows(struct window *window)
{
	const struct view *view = &window->view;
	size_t marked = chosen(window);

	put(1, view_heading(view), LOOK_MARKED);
	for (size_t i = window->first; i < view->table.num && i < window->first + body(); i++)
		put(2 + i - window->first, view_row(view, i),
		    i == marked ? LOOK_MARKED : LOOK_PLAIN);
}

static const char *last_line(const struct window *window)
{
	if (window->help)
		return "any key ends this help";
	if (window->until > clock_now())
		return window->message;
	if (window->top->ending)
		return "SIGTERM was sent; q leaves it running";
	if (window->closeup.text)
		return hints_of_closeup();
	if (window->frozen)
		return "frozen; space goes on, h help";
	return hints(window->top->units);
}

void window_draw(struct window *window)
{
	screen_clear();
	if (window->closeup.text && !window->help)
		closeup_draw(&window->closeup);
	else
		put(0, view_head(&window->top->live, screen_columns()), LOOK_STRONG);
	if (window->help)
		hints_help(window->top->units);
	else if (!window->closeup.text)
		draw_rows(window);
	screen_put_last(last_line(window), LOOK_STRONG);
	screen_show();
}

void window_make(struct window *window)
{
	view_make(&window->view, &window->top->live, window->top->rows, screen_columns());
	scroll_there(window);
}

static void move(struct window *window, enum key key)
{
	const struct table *table = &window->view.table;
	size_t i = chosen(window), page = body() ? body() : 1;

	window->follows = key != PRESS_FIRST && table->num;
	if (key == PRESS_FIRST)
		window->first = 0;
	if (!window->follows)
		return;
	if (i == table->num)
		i = key == PRESS_LAST ? table->num - 1 : window->first;
	else if (key == PRESS_UP)
		i -= i > 0;
	else if (key == PRESS_DOWN)
		i++;
	else if (key == PRESS_PAGE_UP)
		i = i > page ? i - page : 0;
	else
		i = key == PRESS_LAST ? table->num : i + page;
	window->row = table->rows[i < table->num ? i : table->num - 1];
	scroll_there(window);
}

static void by(struct window *window, enum by by)
{
	window->view.by = by;
	window->follows = false;
	window->first = 0;
}

static void freeze(struct window *window)
{
	window->frozen = !window->frozen;
	window->until = 0;
	if (!window->frozen)
		live_read(&window->top->live);
}

static void read_code(struct window *window)
{
	struct closeup *closeup = &window->closeup;
	char text[sizeof(window->message)];

	snprintf(text, sizeof(text), "the code of %s is being read", closeup->row.name);
	window_say(window, text, CODE_SECONDS);
	if (!closeup_start(closeup, &window->top->live, screen_columns()))
		window_say(window, "no process can be had to read it; raise ulimit -u",
			   WINDOW_SECONDS);
}

/* Of the chosen row, or, if there is none, of the first one that is seen. */
static void annotate(struct window *window)
{
	const struct table *table = &window->view.table;
	size_t i = chosen(window);

	if (window->view.by != BY_FUNCTION) {
		window_say(window, "f shows functions, a the lines of one", WINDOW_SECONDS);
		return;
	}
	if (i == table->num)
		i = window->first;
	if (i >= table->num) {
		window_say(window, "there is no function yet", WINDOW_SECONDS);
		return;
	}
	window->closeup.row = table->rows[i];
	read_code(window);
}

void window_take(struct window *window)
{
	struct closeup *closeup = &window->closeup;
	char said[sizeof(window->message)];

	if (closeup_take(closeup, said, sizeof(said)))
		window_say(window, said, said[0] ? WINDOW_SECONDS : 0);
	/* lines are as wide as the screen is */
	if (closeup->text && !closeup->helper.pid && closeup->width != screen_columns())
		read_code(window);
}

/* While the lines of a function cover the table. */
static void press_there(struct window *window, enum key key)
{
	struct closeup *closeup = &window->closeup;

	switch (key) {
	case PRESS_QUIT:
	case PRESS_BACK:
		closeup_end(closeup);
		window->until = 0;
		break;
	case PRESS_INSTRUCTIONS:
		closeup->instructions = !closeup->instructions;
		read_code(window);
		break;
	case PRESS_ANNOTATE:
		read_code(window);
		break;
	default:
		closeup_scroll(closeup, key);
	}
}

void window_press(struct window *window, enum key key)
{
	bool was_help = window->help;

	window->help = false;
	if (window->closeup.text && key != PRESS_GONE && key != PRESS_HELP && key != PRESS_WRITE) {
		if (!was_help)
			press_there(window, key);
		return;
	}
	switch (key) {
	case PRESS_ANNOTATE:
		annotate(window);
		break;
	case PRESS_QUIT:
	case PRESS_GONE:
		top_quit(window->top);
		break;
	case PRESS_FUNCTION:
		by(window, BY_FUNCTION);
		break;
	case PRESS_OBJECT:
		by(window, BY_OBJECT);
		break;
	case PRESS_PROCESS:
		by(window, window->top->units ? BY_PROGRAM : BY_PROCESS);
		break;
	case PRESS_UNIT:
		if (window->top->units)
			by(window, BY_UNIT);
		break;
	case PRESS_CONTAINER:
		if (window->top->units)
			by(window, BY_CONTAINER);
		break;
	case PRESS_SORT:
		window->view.by_all = !window->view.by_all;
		window_say(window, window->view.by_all ? "most of all first" :
			     "most of the last interval first", WINDOW_SECONDS);
		break;
	case PRESS_FREEZE:
		freeze(window);
		break;
	case PRESS_ZERO:
		live_zero(&window->top->live);
		break;
	case PRESS_WRITE:
		window->writes = true;
		break;
	case PRESS_HELP:
		window->help = !was_help;
		break;
	case PRESS_OTHER:
	case PRESS_INSTRUCTIONS:
	case PRESS_BACK:
		break;
	default:
		move(window, key);
	}
}
