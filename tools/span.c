// SPDX-License-Identifier: GPL-2.0-only
/* The options --from and --to of what reads files. */
#include <stdlib.h>
#include "options.h"
#include "span.h"
#include "times.h"

enum { KEY_FROM = 1024, KEY_TO };

#define SECONDS_MAX 1e9

static const struct argp_option options[] = {
	{ "from", KEY_FROM, "SECONDS", 0, "Leave out what was before, in whole slices of time", 0 },
	{ "to", KEY_TO, "SECONDS", 0, "Leave out what was after that", 0 },
	{ 0 }
};

static uint64_t parse_time(struct argp_state *state, const char *option, const char *arg)
{
	double seconds = option_time(state, option, arg);

	return seconds > SECONDS_MAX ? SECONDS_MAX * 1e9 : seconds * 1e9 + 0.5;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct span *span = state->input;

	switch (key) {
	case KEY_FROM:
		span->from_ns = parse_time(state, "--from", arg);
		break;
	case KEY_TO:
		span->to_ns = parse_time(state, "--to", arg);
		if (!span->to_ns)
			argp_error(state, "--to 0 leaves nothing; give the end of a span");
		break;
	case ARGP_KEY_END:
		if (span->to_ns && span->from_ns >= span->to_ns)
			argp_error(state, "--from has to be before --to");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

const struct argp span_argp = { options, parse, NULL, NULL, NULL, NULL, NULL };

void span_cut(const struct span *span, struct profile *profile, const char *what)
{
	if (span->from_ns || span->to_ns)
		times_cut(profile, span->from_ns, span->to_ns ? span->to_ns : UINT64_MAX, what);
}
