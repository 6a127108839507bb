// SPDX-License-Identifier: GPL-2.0-only
/* Of a page: the hottest lines of the hottest functions, where their source can be read. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "html.h"
#include "order.h"
#include "page.h"
#include "say.h"
#include "source.h"

#define LINES 12		/* of a function, the hottest */
#define AROUND 3		/* lines shown before and behind each */
#define LINE_BYTES 240		/* shown of a line */
#define FILE_MAX (16 << 20)

/* A line that has samples. */
struct hot {
	const char *source;
	uint64_t line, samples;
};

/* Lines of a function: first all, then the hottest, in the order of the file. */
struct excerpt {
	const struct row *row;
	struct hot *lines;
	size_t num;
};

static int by_line(const void *a, const void *b)
{
	const struct hot *x = a, *y = b;

	return compare_texts(x->source, y->source) ?: compare_numbers(x->line, y->line);
}

static int by_heat(const void *a, const void *b)
{
	const struct hot *x = a, *y = b;

	return compare_numbers(y->samples, x->samples) ?: by_line(a, b);
}

static void find_lines(const struct page *page, size_t row, struct excerpt *excerpt)
{
	const struct profile *profile = page->profile;
	struct hot *lines = allocated(calloc(profile->num_samples + 1, sizeof(*lines)));
	size_t num = 0, n = 0;

	for (size_t i = 0; i < profile->num_samples; i++) {
		const struct place *place = &profile->places[profile->samples[i].place];

		if (page->row_of[profile->samples[i].place] == row && place->source[0] &&
		    place->line)
			lines[num++] = (struct hot) { place->source, place->line,
						      profile->samples[i].samples };
	}
	qsort(lines, num, sizeof(*lines), by_line);
	for (size_t i = 0; i < num; i++) {
		if (n && !by_line(&lines[n - 1], &lines[i]))
			add(&lines[n - 1].samples, lines[i].samples);
		else
			lines[n++] = lines[i];
	}
	qsort(lines, n, sizeof(*lines), by_heat);
	n = n < LINES ? n : LINES;
	qsort(lines, n, sizeof(*lines), by_line);
	*excerpt = (struct excerpt) { &page->functions.rows[row], lines, n };
}

/*
 * Somebody else's profile may name any file, and the page is made to be shown around: only
 * what is called like source gets into it, and no key or password.
 */
static bool is_source(const char *name)
{
	static const char *const ends[] = {
		"c", "h", "cc", "cpp", "cxx", "c++", "hh", "hpp", "hxx", "inc", "inl", "tcc", "m",
		"mm", "rs", "go", "s", "S", "asm", "f", "for", "f90", "f95", "f03", "f08", "F",
		"F90", "d", "adb", "ads", "pas", "zig", "nim", "cr", "swift", "y", "l", "vala",
	};
	const char *dot = strrchr(name, '.');

	for (size_t i = 0; dot && i < sizeof(ends) / sizeof(ends[0]); i++)
		if (!strcmp(dot + 1, ends[i]))
			return !strchr(dot, '/');
	return false;
}

/* Where links have led to, which may be no source. */
static bool leads_to_source(int fd)
{
	char self[32], name[PATH_MAX];
	ssize_t length;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	length = readlink(self, name, sizeof(name) - 1);
	if (length < 0)
		return false;
	name[length] = '\0';
	return is_source(name);
}

/* An ordinary file that is not too large; @st is about it. */
static FILE *open_source(const char *name, struct stat *st)
{
	int fd = is_source(name) ? open_ordinary(name, st) : -1;
	FILE *file = NULL;

	if (fd < 0)
		return NULL;
	if (st->st_size <= FILE_MAX && leads_to_source(fd))
		file = fdopen(fd, "r");
	if (!file)
		close(fd);
	return file;
}

/* A tab stays one; all else that is no character is shown as its number. */
static void put_code(FILE *out, char *line, size_t length)
{
	char safe[4 * LINE_BYTES + 1];
	bool cut = length > LINE_BYTES;

	if (cut)
		length = LINE_BYTES;
	/* not in the middle of a character */
	while (cut && length && (line[length] & 0xc0) == 0x80)
		length--;
	while (length) {
		const char *tab = memchr(line, '\t', length);
		size_t part = tab ? (size_t)(tab - line) : length;

		printable(safe, line, part);
		html_text(out, safe);
		if (tab)
			putc('\t', out);
		line += part + !!tab;
		length -= part + !!tab;
	}
	if (cut)
		fputs("…", out);
}

static void put_line(struct page *page, const struct hot *hot, uint64_t number, double most,
		     char *line, size_t length)
{
	double all = page->functions.sum.samples;
	FILE *out = page->out;
	int level = hot ? html_level(hot->samples, most, false) : 0;

	fprintf(out, "<tr><td class=\"heat l%d\"></td><td>", level);
	if (hot)
		html_share(out, hot->samples, all);
	fprintf(out, "</td><th scope=\"row\">%" PRIu64 "</th><td class=\"code\">", number);
	put_code(out, line, length);
	fputs("</td></tr>\n", out);
}

/* Is there a line with samples near to this one?  @next: the first that is not far behind. */
static bool is_near(const struct hot *lines, size_t num, uint64_t number, size_t *next)
{
	while (*next < num && lines[*next].line + AROUND < number)
		++*next;
	return *next < num && lines[*next].line <= number + AROUND;
}

/* These lines are of one file. */
static void put_lines(struct page *page, FILE *file, const struct hot *lines, size_t num)
{
	uint64_t number = 0, shown = 0;
	size_t next = 0, room = 0;
	char *line = NULL;
	double most = 0;
	ssize_t length;

	for (size_t i = 0; i < num; i++)
		if (lines[i].samples > most)
			most = lines[i].samples;
	while ((length = getline(&line, &room, file)) > 0) {
		struct hot key = { lines[0].source, ++number, 0 };

		/* a gap of one line would be no shorter than the line */
		if (!is_near(lines, num, number, &next) &&
		    (!shown || shown + 1 != number || !is_near(lines, num, number + 1, &next)))
			continue;
		if (shown && shown + 1 != number)
			fputs("<tr><td></td><td></td><td>⋮</td><td></td></tr>\n", page->out);
		put_line(page, bsearch(&key, lines, num, sizeof(key), by_line), number, most, line,
			 length - (line[length - 1] == '\n'));
		shown = number;
	}
	free(line);
}

/* What has changed since the object was made has its lines elsewhere. */
static bool is_newer(const struct stat *st, const char *object)
{
	struct stat built;

	return !stat(object, &built) && st->st_mtime > built.st_mtime;
}

/* The lines of one file; false if it cannot be shown. */
static bool put_file(struct page *page, const struct row *row, const struct hot *lines, size_t num)
{
	FILE *out = page->out;
	struct stat st;
	FILE *file = open_source(lines[0].source, &st);

	if (!file)
		return false;
	fputs("<p>", out);
	html_name(out, lines[0].source);
	if (is_newer(&st, row->object))
		fputs(": it is newer than the program, and its lines may have moved", out);
	fputs("</p>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Source\">\n"
	      "<table class=\"lines\">\n<thead><tr><td></td><th scope=\"col\">self</th>"
	      "<th scope=\"col\">line</th><th scope=\"col\" class=\"code\">source</th></tr></thead>\n"
	      "<tbody>\n", out);
	put_lines(page, file, lines, num);
	fputs("</tbody>\n</table>\n</div>\n", out);
	fclose(file);
	return true;
}

/* All files of a function, one behind the other; false if there is none that can be shown. */
static bool put_files(struct page *page, const struct excerpt *excerpt)
{
	size_t shown = 0;

	for (size_t i = 0, n; i < excerpt->num; i += n) {
		for (n = 1; i + n < excerpt->num; n++)
			if (excerpt->lines[i + n].source != excerpt->lines[i].source)
				break;
		shown += put_file(page, excerpt->row, &excerpt->lines[i], n);
	}
	return shown;
}

/* A function whose lines are there unfolds; one without is no more than a name in @rest. */
static void put_excerpt(struct page *page, const struct excerpt *excerpt, FILE *rest)
{
	struct page part = *page;
	size_t length;
	char *text;

	part.out = allocated(open_memstream(&text, &length));
	if (!put_files(&part, excerpt)) {
		fputs(ftell(rest) > 0 ? ", " : "", rest);
		html_name(rest, excerpt->row->name);
	}
	if (fclose(part.out))
		allocated(NULL);
	if (length) {
		fputs("<details>\n<summary>", page->out);
		html_name(page->out, excerpt->row->name);
		putc(' ', page->out);
		html_share(page->out, excerpt->row->samples, page->functions.sum.samples);
		fprintf(page->out, "</summary>\n%s</details>\n", text);
	}
	free(text);
}

void page_excerpts(struct page *page)
{
	FILE *out = page->out;
	size_t length;
	char *text;
	FILE *rest = allocated(open_memstream(&text, &length));

	fputs("<section id=\"lines\">\n<h2>Lines of the hottest functions</h2>\n", out);
	for (size_t i = 0; i < page->rows && i < PAGE_EXCERPTS; i++) {
		struct excerpt excerpt;

		find_lines(page, i, &excerpt);
		put_excerpt(page, &excerpt, rest);
		free(excerpt.lines);
	}
	if (fclose(rest))
		allocated(NULL);
	if (length)
		fprintf(out, "<p>No source of these was to be read, or the program has no debug "
			"information: %s</p>\n", text);
	fputs("</section>\n", out);
	free(text);
}
