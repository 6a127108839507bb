// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "closeup.h"
#include "lines.h"
#include "names.h"
#include "objects.h"
#include "say.h"
#include "sheet.h"

#define AROUND 3	/* lines of the screen around those that can be scrolled */
#define HEAD 2		/* of them above */
#define BEGIN '\f'	/* of the lines: no text has it, and messages may come before */

/* What the helper knows. */
struct asked {
	struct live *live;
	struct closeup *closeup;
};

/* The places of the function in the object in which it has the first one. */
static size_t find_places(struct profile *profile, const struct row *row, size_t *found)
{
	size_t num = 0;

	for (size_t i = 0; i < profile->num_places; i++) {
		struct place *place = &profile->places[i];

		if (!row_has(profile, row, place))
			continue;
		if (!num || place->object == profile->places[found[0]].object)
			found[num++] = i;
		else	/* a file that had this name before */
			place->function = profile_string(profile, "");
	}
	return num;
}

/* Slots have offsets in the file, and its code has addresses. */
static void find_addresses(struct profile *profile, const size_t *found, size_t num, int fd,
			   const char *path)
{
	struct place *places = allocated(calloc(num + 1, sizeof(*places)));
	struct object object = { .file = path };

	for (size_t i = 0; i < num; i++)
		places[i] = profile->places[found[i]];
	names_find_functions(profile, fd, path, false, &object, places, num);
	for (size_t i = 0; i < num; i++)
		profile->places[found[i]].address = places[i].address;
	free(places);
}

/* The code of the row's function, whose places get their addresses. */
static int open_code(struct live *live, const struct row *row, struct about *about)
{
	struct profile *profile = &live->profile;
	size_t *found = allocated(calloc(profile->num_places + 1, sizeof(*found)));
	size_t num = find_places(profile, row, found);
	char *path;
	int fd = -1;

	if (is_elsewhere(row->name))
		die("the table had no room for the addresses of %s; begin again with more --slots",
		    row->name);
	if (num) {
		size_t object = profile->places[found[0]].object;

		path = object_open(live->session, live->origins[object].object, &fd);
		about->path = profile_string(profile, path);
		free(path);
	}
	if (fd < 0 && row->object[0] == '[')
		die("the code of %s is in %s, which is no file, so it cannot be shown", row->name,
		    row->object);
	if (fd < 0)
		die("%s cannot be read for the code of %s: it has gone, or you may not read it",
		    row->object, row->name);
	find_addresses(profile, found, num, fcntl(fd, F_DUPFD_CLOEXEC, 0), about->path);
	free(found);
	return fd;
}

static size_t hottest(const struct listing *listing)
{
	size_t most = 0;

	for (size_t i = 1; i < listing->num; i++)
		if (listing->lines[i].cost.samples > listing->lines[most].cost.samples)
			most = i;
	return most;
}

/* The helper's: it ends soon, and frees nothing. */
static void work(void *data, FILE *out)
{
	struct asked *asked = data;
	struct closeup *closeup = asked->closeup;
	struct profile *profile = &asked->live->profile;
	struct form form = { .instructions = closeup->instructions };
	struct sources sources = { 0 };
	struct listing listing = { 0 };
	struct body body;
	struct table table;
	struct about about = {
		.profile = profile, .table = &table, .row = &closeup->row, .body = &body,
	};
	int fd = open_code(asked->live, &closeup->row, &about);

	session_leave(NULL);
	if (!body_read(profile, &closeup->row, fd, about.path, &body))
		exit(1);
	lines_check(&closeup->row, &body);
	lines_list(profile, &about, form, &sources, &listing);
	table_make(profile, BY_FUNCTION, &table);
	fprintf(out, "%c%zu\n", BEGIN, hottest(&listing));
	about_title(out, &about);
	sheet_put(out, &body, &listing, closeup->width);
	/* about_tail() is wider than a narrow screen */
	fputs("\na sample is of the instruction that was\nnext: the slow one may be the one before\n",
	      out);
}

bool closeup_start(struct closeup *closeup, struct live *live, size_t width)
{
	struct asked asked = { live, closeup };

	if (closeup->helper.pid)
		helper_end(&closeup->helper);
	closeup->width = width;
	return helper_start(&closeup->helper, work, &asked, true);
}

static size_t height(void)
{
	return screen_rows() > AROUND ? screen_rows() - AROUND : 1;
}

/* No line is empty that need not be. */
static void keep_in(struct closeup *closeup)
{
	size_t num = closeup->num > HEAD ? closeup->num - HEAD : 0;

	if (closeup->first + height() > num)
		closeup->first = num > height() ? num - height() : 0;
}

static void take_lines(struct closeup *closeup, const char *begin)
{
	bool again = closeup->text;
	char *rest, *line;
	size_t hot = strtoul(begin, &rest, 10);

	free(closeup->text);
	closeup->text = allocated(strdup(*rest ? rest + 1 : rest));
	closeup->num = 0;
	rest = closeup->text;
	while ((line = strsep(&rest, "\n"))) {
		closeup->lines = more(closeup->lines, &closeup->room, closeup->num,
				      sizeof(*closeup->lines));
		closeup->lines[closeup->num++] = line;
	}
	if (!again)
		closeup->first = hot < height() ? 0 : hot - height() / 2;
	keep_in(closeup);
}

bool closeup_take(struct closeup *closeup, char *said, size_t size)
{
	struct helper *helper = &closeup->helper;
	const char *begin, *line;

	if (!helper->pid || !helper_read(helper))
		return false;
	said[0] = '\0';
	begin = memchr(helper->text, BEGIN, helper->length);
	if (begin) {
		take_lines(closeup, begin + 1);
	} else {
		line = helper_last_line(helper);
		snprintf(said, size, "%s", line[0] ? line : "the code could not be read");
	}
	helper_end(helper);
	return true;
}

void closeup_draw(struct closeup *closeup)
{
	keep_in(closeup);
	for (size_t i = 0; i < HEAD && i < closeup->num; i++)
		screen_put(i, closeup->lines[i], i ? LOOK_MARKED : LOOK_STRONG);
	for (size_t i = 0; i < height() && HEAD + closeup->first + i < closeup->num; i++)
		screen_put(HEAD + i, closeup->lines[HEAD + closeup->first + i], LOOK_PLAIN);
}

void closeup_scroll(struct closeup *closeup, enum key key)
{
	size_t page = height(), first = closeup->first;

	if (key == PRESS_FIRST)
		closeup->first = 0;
	else if (key == PRESS_LAST)
		closeup->first = closeup->num;
	else if (key == PRESS_UP)
		closeup->first = first - (first > 0);
	else if (key == PRESS_DOWN)
		closeup->first = first + 1;
	else if (key == PRESS_PAGE_UP)
		closeup->first = first > page ? first - page : 0;
	else if (key == PRESS_PAGE_DOWN)
		closeup->first = first + page;
	keep_in(closeup);
}

void closeup_end(struct closeup *closeup)
{
	if (closeup->helper.pid)
		helper_end(&closeup->helper);
	free(closeup->text);
	free(closeup->lines);
	*closeup = (struct closeup) { .helper.fd = -1 };
}
