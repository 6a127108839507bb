// SPDX-License-Identifier: GPL-2.0-only
/* Messages, and what may reach a terminal. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "say.h"

int die_status = 1;
void (*die_keep)(void);
static bool progress_shown;

static const struct { uint32_t first, last; } unprintable[] = {
	{ 0x00, 0x1f }, { 0x7f, 0x9f },			/* control characters */
	{ 0xad, 0xad }, { 0x61c, 0x61c },		/* no width; directions */
	{ 0x200b, 0x200f }, { 0x2028, 0x202e }, { 0x2060, 0x206f },
	{ 0xd800, 0xdfff }, { 0xfeff, 0xfeff }, { 0xfff9, 0xfffb },
	{ 0xe0000, 0xe0fff }, { 0x110000, UINT32_MAX },
};

static bool is_printable(uint32_t point)
{
	for (size_t i = 0; i < sizeof(unprintable) / sizeof(unprintable[0]); i++)
		if (point >= unprintable[i].first && point <= unprintable[i].last)
			return false;
	return true;
}

/* The length of the printable character that begins here, or 0. */
static size_t character(const unsigned char *s, size_t length)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t bytes = s[0] < 0x80 ? 1 : s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
	uint32_t point = s[0];

	if (bytes > 1) {
		if (s[0] < 0xc2 || s[0] > 0xf4 || bytes > length)
			return 0;
		point &= 0x7f >> bytes;
		for (size_t i = 1; i < bytes; i++) {
			if ((s[i] & 0xc0) != 0x80)
				return 0;
			point = point << 6 | (s[i] & 0x3f);
		}
		if (point < least[bytes])
			return 0;
	}
	return is_printable(point) ? bytes : 0;
}

size_t printable(char *to, const char *from, size_t length)
{
	char *p = to;

	for (size_t i = 0; i < length;) {
		size_t bytes;

		/* most texts have no others, and profiles have very many */
		if (from[i] >= ' ' && from[i] <= '~') {
			*p++ = from[i++];
			continue;
		}
		bytes = character((const unsigned char *)from + i, length - i);
		if (bytes) {
			memcpy(p, from + i, bytes);
			p += bytes;
			i += bytes;
		} else {
			p += sprintf(p, "\\x%02x", (unsigned char)from[i++]);
		}
	}
	*p = '\0';
	return p - to;
}

size_t columns(const char *text)
{
	size_t num = 0;

	for (; *text; text++)
		num += (*text & 0xc0) != 0x80;
	return num;
}

static void say_line(const char *format, va_list args)
{
	char *text, *safe;
	int length;

	progress(NULL);
	length = vasprintf(&text, format, args);
	if (length < 0)
		return;
	safe = malloc(4 * (size_t)length + 1);
	if (safe) {
		printable(safe, text, length);
		fprintf(stderr, "profil: %s\n", safe);
	}
	free(safe);
	free(text);
}

void say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say_line(format, args);
	va_end(args);
}

static _Noreturn void end(void)
{
	void (*keep)(void) = die_keep;

	/* what it lacks itself ends it */
	die_keep = NULL;
	if (keep)
		keep();
	exit(die_status);
}

void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say_line(format, args);
	va_end(args);
	end();
}

void *allocated(void *memory)
{
	if (memory)
		return memory;
	/* without a format that would want memory */
	fputs("profil: there is not enough memory; raise ulimit -v, or free some\n", stderr);
	end();
}

void *more(void *array, size_t *room, size_t num, size_t size)
{
	if (num < *room)
		return array;
	*room = *room ? *room * 2 : 64;
	return allocated(reallocarray(array, *room, size));
}

/* One that can take back what it shows. */
static bool have_terminal(void)
{
	const char *name = getenv("TERM");

	return isatty(STDERR_FILENO) && name && strcmp(name, "dumb");
}

void progress(const char *format, ...)
{
	va_list args;

	if (!format) {
		if (progress_shown)
			fputs("\r\033[K", stderr);
		progress_shown = false;
		return;
	}
	if (!have_terminal())
		return;
	fputs("\r\033[Kprofil: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fflush(stderr);
	progress_shown = true;
}
