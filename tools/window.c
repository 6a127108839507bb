// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include "clock.h"
#include "say.h"
#include "window.h"

#define AROUND 3	/* lines of the screen around the rows */

/* No wider than a narrow screen. */
static const char *const help[] = {
	"q      end; a PROGRAM gets SIGTERM",
	"q q    end, and leave it running",
	"f o p  by function, object, process",
	"s      sort by interval, or by all",
	"space  freeze, or go on",
	"z      count from zero",
	"w      write the profile now",
	"arrows choose a row, and follow it",
	"home   choose none",
};

static const char *const help_of_machine[] = {
	"q      end; a PROGRAM gets SIGTERM",
	"q q    end, and leave it running",
	"f o p  by function, object, program",
	"u c    by unit, container",
	"s      sort by interval, or by all",
	"space  freeze, or go on",
	"z      count from zero",
	"w      write the profile now",
	"arrows choose a row, and follow it",
	"home   choose none",
};

/* The widest that there is room for. */
static const char *const keys[] = {
	"q end   f function  o object  p process   s sort   space freeze   z from zero   w write   h help",
	"q end  f function  o object  p process  s sort  w write  h help",
	"q end  f o p by  s sort  w write  h help",
	"q end  h help",
};

static const char *const keys_of_machine[] = {
	"q end   f function  o object  p program  u unit  c container   s sort   w write   h help",
	"q end  f function  o object  p program  u unit  s sort  h help",
	"q end  f o p u c by  s sort  h help",
	"q end  h help",
};

#define NUM(array) (sizeof(array) / sizeof((array)[0]))

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
	const char *const *lines = window->top->units ? keys_of_machine : keys;
	size_t i = 0;

	if (window->help)
		return "any key ends this help";
	if (window->until > clock_now())
		return window->message;
	if (window->top->ending)
		return "SIGTERM was sent; q leaves it running";
	if (window->frozen)
		return "frozen; space goes on, h help";
	while (i < NUM(keys) - 1 && columns(lines[i]) > screen_columns())
		i++;
	return lines[i];
}

static void put_lines(const char *const *lines, size_t num)
{
	for (size_t i = 0; i < num; i++)
		screen_put(1 + i, lines[i], LOOK_PLAIN);
}

void window_draw(struct window *window)
{
	screen_clear();
	put(0, view_head(&window->top->live, screen_columns()), LOOK_STRONG);
	if (window->help && window->top->units)
		put_lines(help_of_machine, NUM(help_of_machine));
	else if (window->help)
		put_lines(help, NUM(help));
	else
		draw_rows(window);
	screen_put(screen_rows() - 1, last_line(window), LOOK_STRONG);
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

void window_press(struct window *window, enum key key)
{
	bool was_help = window->help;

	window->help = false;
	switch (key) {
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
		break;
	default:
		move(window, key);
	}
}
