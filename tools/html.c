// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include "columns.h"
#include "html.h"
#include "say.h"

void html_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		case '\'':
			fputs("&#39;", out);
			break;
		default:
			putc(*text, out);
		}
	}
}

void html_name(FILE *out, const char *name)
{
	size_t length;
	char *text;
	FILE *cut = allocated(open_memstream(&text, &length));

	put_column(cut, name, HTML_NAME_COLUMNS, true);
	if (fclose(cut))
		allocated(NULL);
	html_text(out, text);
	free(text);
}

void html_seconds(FILE *out, double ns)
{
	if (ns > 0)
		fprintf(out, "%.2f s", ns / 1e9);
	else
		fputs("–", out);
}

void html_share(FILE *out, double part, double all)
{
	fprintf(out, "%.1f %%", all > 0 ? 100 * part / all : 0);
}

/* The same is done by level() of page.js, for a part of the time. */
int html_level(double value, double most, bool log)
{
	double part;

	if (value <= 0 || most <= 0)
		return 0;
	part = log ? log1p(value) / log1p(most) : value / most;
	return part < 1 ? ceil(HTML_LEVELS * part) : HTML_LEVELS;
}

void html_cells(FILE *out, const struct cell *cells, size_t num, double most, bool log)
{
	for (int shade = 1; shade <= HTML_LEVELS; shade++) {
		fprintf(out, "<path class=\"l%d\" d=\"", shade);
		for (size_t i = 0; i < num; i++)
			if (html_level(cells[i].value, most, log) == shade)
				fprintf(out, "M%.0f 0H%.0fV10H%.0fz", cells[i].from, cells[i].to,
					cells[i].from);
		fputs("\"/>", out);
	}
}
