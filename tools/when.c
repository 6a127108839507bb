// SPDX-License-Identifier: GPL-2.0-only
/* Times as people write them: the forms of date(1) that are of use for a log. */
#define _GNU_SOURCE
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "when.h"

#define NS 1000000000ULL
#define SECONDS_MAX (UINT64_MAX / NS / 4)
#define DAY 86400

static const struct unit {
	const char *name;
	uint64_t seconds;
} units[] = {
	{ "s", 1 }, { "sec", 1 }, { "second", 1 },
	{ "m", 60 }, { "min", 60 }, { "minute", 60 },
	{ "h", 3600 }, { "hour", 3600 },
	{ "d", DAY }, { "day", DAY },
	{ "w", 7 * DAY }, { "week", 7 * DAY },
};

/* "3 hours", "90m", "60": returns what follows, or NULL. */
static const char *parse_length(const char *text, uint64_t *seconds)
{
	char *rest;
	uint64_t number;
	size_t length;

	if (!isdigit((unsigned char)text[0]))
		return NULL;
	number = strtoull(text, &rest, 10);
	rest += strspn(rest, " ");
	length = strspn(rest, "abcdefghijklmnopqrstuvwxyz");
	*seconds = number;
	for (size_t i = 0; length && i < sizeof(units) / sizeof(units[0]); i++) {
		size_t own = strlen(units[i].name);
		bool plural = own > 1 && length == own + 1 && rest[own] == 's';

		if ((length != own && !plural) || strncmp(rest, units[i].name, own))
			continue;
		if (__builtin_mul_overflow(number, units[i].seconds, seconds))
			return NULL;
		return *seconds <= SECONDS_MAX ? rest + length : NULL;
	}
	return length || number > SECONDS_MAX ? NULL : rest;
}

bool when_parse_length(const char *text, uint64_t *length_ns)
{
	uint64_t seconds;
	const char *rest = parse_length(text, &seconds);

	if (!rest || *rest || !seconds)
		return false;
	*length_ns = seconds * NS;
	return true;
}

static bool take_word(const char **text, const char *word)
{
	size_t length = strlen(word);

	if (strncmp(*text, word, length) || isalnum((unsigned char)(*text)[length]))
		return false;
	*text += length;
	*text += strspn(*text, " ");
	return true;
}

/* "2026-11-28", "today", "yesterday", or nothing, which is today. */
static void take_date(const char **text, struct tm *tm)
{
	struct tm date = *tm;
	const char *rest;

	if (take_word(text, "yesterday")) {
		tm->tm_mday--;
		return;
	}
	if (take_word(text, "today"))
		return;
	rest = strptime(*text, "%Y-%m-%d", &date);
	if (!rest)
		return;
	*tm = date;
	*text = rest + (*rest == 'T');
	*text += strspn(*text, " ");
}

/* "02:00" or "02:00:30", or nothing, which is midnight. */
static bool take_time(const char **text, struct tm *tm)
{
	const char *rest;

	tm->tm_hour = 0;
	tm->tm_min = 0;
	tm->tm_sec = 0;
	if (!isdigit((unsigned char)**text))
		return true;
	rest = strptime(*text, "%H:%M:%S", tm) ?: strptime(*text, "%H:%M", tm);
	if (!rest)
		return false;
	*text = rest + strspn(rest, " ");
	return true;
}

/* strptime() takes the 31st of each month. */
static bool is_date(const struct tm *tm)
{
	struct tm same = { .tm_year = tm->tm_year, .tm_mon = tm->tm_mon, .tm_mday = tm->tm_mday };

	return timegm(&same) >= 0 && same.tm_mon == tm->tm_mon;
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), own = strlen(end);

	return length >= own && !strcmp(text + length - own, end);
}

static bool parse_date(const char *text, time_t now, uint64_t *time_ns)
{
	const char *begin = text;
	struct tm tm;
	time_t time;
	/* what it is today depends on that, too */
	bool utc = ends_with(text, "Z") || ends_with(text, "UTC");

	if (utc)
		gmtime_r(&now, &tm);
	else
		localtime_r(&now, &tm);
	take_date(&text, &tm);
	if ((tm.tm_mday > 28 && !is_date(&tm)) || !take_time(&text, &tm) || text == begin)
		return false;
	if (utc && !take_word(&text, "Z") && !take_word(&text, "UTC"))
		return false;
	if (*text)
		return false;
	tm.tm_isdst = -1;
	time = utc ? timegm(&tm) : mktime(&tm);
	if (time < 0)
		return false;
	*time_ns = time * NS;
	return true;
}

static bool ago(uint64_t seconds, time_t now, uint64_t *time_ns)
{
	if (seconds > (uint64_t)now)
		return false;
	*time_ns = (now - seconds) * NS;
	return true;
}

bool when_parse(const char *text, time_t now, uint64_t *time_ns)
{
	bool minus = text[0] == '-', at = text[0] == '@';
	const char *digits = text + (minus || at);
	uint64_t seconds;
	const char *rest = parse_length(digits, &seconds);

	if (!strcmp(text, "now"))
		return ago(0, now, time_ns);
	if (at && digits[strspn(digits, "0123456789")])
		return false;
	if (at && rest)
		return seconds <= (uint64_t)now && ago(now - seconds, now, time_ns);
	if (minus)
		return rest && !*rest && ago(seconds, now, time_ns);
	if (rest && !strcmp(rest, " ago"))
		return ago(seconds, now, time_ns);
	return parse_date(text, now, time_ns);
}
