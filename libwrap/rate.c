// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * How often this process is sampled, and by what, where PROFIL_RATE and PROFIL_SOURCE
 * in the environment ask for it.  What cannot be had is said, and changes nothing.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "internal.h"

#define JITTER	100	/* percent: no program can run in step with the samples */

struct wish {
	const char *rate, *source;	/* as in the environment, or NULL */
	__u32 number;			/* samples of a second, 0 if not understood */
	bool timer;			/* the source */
};

static struct wish look(void)
{
	return (struct wish) {
		.rate = secure_getenv("PROFIL_RATE"),
		.source = secure_getenv("PROFIL_SOURCE"),
	};
}

static void complain(const char *const parts[LIBPROFIL_PARTS])
{
	static atomic_flag said = ATOMIC_FLAG_INIT;

	libprofil_say_once(&said, parts);
}

static bool not_understood(const char *variable, const char *word, const char *advice)
{
	const char *const parts[LIBPROFIL_PARTS] = {
		"profil: cannot understand ", variable, "=", word, "; ", advice, "\n",
	};

	complain(parts);
	return false;
}

static bool no_timer(__u32 tick)
{
	char most[16];
	const char *const parts[LIBPROFIL_PARTS] = {
		"profil: PROFIL_SOURCE=timer is not possible here, for there is no such timer; "
		"PROFIL_SOURCE=tick gives up to ", most, " a second\n",
	};

	snprintf(most, sizeof(most), "%u", tick);
	complain(parts);
	return false;
}

static bool too_high(const struct wish *wish, __u32 most, __u32 finest)
{
	char line[160];
	const char *const parts[LIBPROFIL_PARTS] = { line };
	bool coarse = !wish->timer && finest > most;
	const char *end = finest ? " is the most" : " is the most without a timer";

	snprintf(line, sizeof(line), "profil: %s%u is above the %s's %u a second; %s%u%s\n",
		 wish->rate ? "PROFIL_RATE=" : "the default of ", wish->number,
		 wish->timer ? "timer" : "tick", most,
		 coarse ? "PROFIL_SOURCE=timer gives up to " : "PROFIL_RATE=",
		 coarse ? finest : most, coarse ? "" : end);
	complain(parts);
	return false;
}

/* 0 if it is no number from 1 to 2^32 - 1. */
static __u32 number(const char *word)
{
	__u64 value = 0;

	for (; *word >= '0' && *word <= '9' && value <= UINT32_MAX; word++)
		value = 10 * value + *word - '0';
	return *word || value > UINT32_MAX ? 0 : value;
}

static bool understand(struct wish *wish, __u32 rate, const struct profil_ioc_query *query)
{
	__u32 tick = query->out_tick_hz;

	wish->number = wish->rate ? number(wish->rate) : rate ? rate : tick;
	if (wish->rate && !wish->number)
		return not_understood("PROFIL_RATE", wish->rate,
				      "type the samples of a second, as in PROFIL_RATE=1000");
	if (!wish->source)
		wish->timer = wish->number > tick && query->out_timer_rate_max > tick;
	else if (!strcmp(wish->source, "timer"))
		wish->timer = true;
	else if (strcmp(wish->source, "tick"))
		return not_understood("PROFIL_SOURCE", wish->source,
				      "type PROFIL_SOURCE=tick or PROFIL_SOURCE=timer");
	return true;
}

static bool possible(const struct wish *wish, const struct profil_ioc_query *query)
{
	__u32 finest = query->out_timer_rate_max;
	__u32 most = wish->timer ? finest : query->out_tick_hz;

	if (wish->timer && !finest)
		return no_timer(query->out_tick_hz);
	return wish->number <= most || too_high(wish, most, finest);
}

/**
 * libprofil_rate_asked() - Whether the environment asks for a rate or a source
 *
 * If not, libprofil_rate_choose() does nothing, and needs no QUERY.
 */
bool libprofil_rate_asked(void)
{
	struct wish wish = look();

	return wish.rate || wish.source;
}

/**
 * libprofil_rate_choose() - Have a START be as the environment asks
 * @start: Its rate is the one without the environment, of the tick; changed if
 *         something else is asked for and possible
 * @query: What the kernel has
 */
void libprofil_rate_choose(struct profil_ioc_start *start, const struct profil_ioc_query *query)
{
	struct wish wish = look();

	if (!wish.rate && !wish.source)
		return;
	if (!understand(&wish, start->rate, query) || !possible(&wish, query))
		return;
	if (wish.rate || wish.timer)
		start->rate = wish.number;
	if (wish.timer) {
		start->source = PROFIL_SOURCE_TIMER;
		start->jitter = JITTER;
	}
}
