// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "options.h"

unsigned long option_number(struct argp_state *state, const char *option, const char *arg,
			    unsigned long least, unsigned long most)
{
	unsigned long number;
	char *end;

	errno = 0;
	number = strtoul(arg, &end, 10);
	if (!isdigit((unsigned char)arg[0]) || *end || errno || number < least || number > most)
		argp_error(state, "%s takes a number from %lu to %lu, and was given %s", option,
			   least, most, arg);
	return number;
}

double option_time(struct argp_state *state, const char *option, const char *arg)
{
	double seconds;
	char *end;

	seconds = strtod(arg, &end);
	if (end == arg || *end || !isfinite(seconds) || seconds < 0)
		argp_error(state, "%s takes seconds, and was given %s", option, arg);
	return seconds;
}

double option_seconds(struct argp_state *state, const char *option, const char *arg)
{
	double seconds;
	char *end;

	seconds = strtod(arg, &end);
	if (end == arg || *end || !isfinite(seconds) || seconds <= 0)
		argp_error(state, "%s takes seconds, more than 0, and was given %s", option, arg);
	return seconds;
}
