/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TOOLS_OPTIONS_H
#define TOOLS_OPTIONS_H

#include <argp.h>

/* The number of an option; what is none, or too small or large, ends the program. */
unsigned long option_number(struct argp_state *state, const char *option, const char *arg,
			    unsigned long least, unsigned long most);
double option_time(struct argp_state *state, const char *option, const char *arg);

/* The same, but 0 is none. */
double option_seconds(struct argp_state *state, const char *option, const char *arg);

#endif /* TOOLS_OPTIONS_H */
