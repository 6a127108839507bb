// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "columns.h"
#include "say.h"

#define NAME_MIN_COLUMNS 12

size_t columns_of(FILE *out)
{
	struct winsize size;

	if (!isatty(fileno(out)) || ioctl(fileno(out), TIOCGWINSZ, &size))
		return 0;
	return size.ws_col;
}

size_t columns_for_names(FILE *out, size_t longest, size_t used)
{
	size_t width = columns_of(out);
	size_t most = !width ? NAME_MAX_COLUMNS : width > used ? width - used : 0;

	if (longest > most)
		longest = most;
	return longest < NAME_MIN_COLUMNS ? NAME_MIN_COLUMNS : longest;
}

/* Skips so many columns of text. */
static const char *skip(const char *text, size_t num)
{
	while (num && *text) {
		do {
			text++;
		} while ((*text & 0xc0) == 0x80);
		num--;
	}
	return text;
}

void put_column(FILE *out, const char *text, size_t width, bool cut)
{
	size_t have = columns(text);
	size_t head = (width - 1) / 2, tail = width - 1 - head;	/* one for the … */

	if (!cut || have <= width) {
		fputs(text, out);
		return;
	}
	fwrite(text, 1, skip(text, head) - text, out);
	fputs("…", out);
	fputs(skip(text, have - tail), out);
}

void put_blanks(FILE *out, const char *text, size_t width)
{
	for (size_t have = columns(text); have < width; have++)
		putc(' ', out);
	fputs("  ", out);
}
