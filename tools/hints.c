// SPDX-License-Identifier: GPL-2.0-only
#include "hints.h"
#include "say.h"
#include "screen.h"

#define NUM(array) (sizeof(array) / sizeof((array)[0]))

/* No wider than a narrow screen; what differs where all of the machine is counted. */
static const struct help {
	const char *line, *of_machine;
} help[] = {
	{ "q      end; a PROGRAM gets SIGTERM", NULL },
	{ "q q    end, and leave it running", NULL },
	{ "f o p  by function, object, process", "f o p  by function, object, program" },
	{ NULL, "u c    by unit, container" },
	{ "s      sort by interval, or by all", NULL },
	{ "space  freeze, or go on", NULL },
	{ "z      count from zero", NULL },
	{ "w      write the profile now", NULL },
	{ "arrows choose a row, and follow it", NULL },
	{ "home   choose none", NULL },
	{ "a      lines of the chosen function", NULL },
};

/* The widest that there is room for. */
static const char *const keys[] = {
	"q end   f function  o object  p process   s sort   a annotate   space freeze   w write   h help",
	"q end  f function  o object  p process  s sort  a annotate  h help",
	"q end  f o p by  a annotate  h help",
	"q end  h help",
};

static const char *const keys_of_machine[] = {
	"q end   f function  o object  p program  u unit  c container   s sort   a annotate   h help",
	"q end  f function  o object  p program  u unit  a annotate  h help",
	"q end  f o p u c by  a annotate  h help",
	"q end  h help",
};

static const char *const keys_of_closeup[] = {
	"q back   arrows scroll   i source or instructions   a count anew   h help",
	"q back  arrows scroll  a anew  h help",
	"q back  h help",
};

static const char *widest(const char *const *lines, size_t num)
{
	size_t i = 0;

	while (i < num - 1 && columns(lines[i]) > screen_columns())
		i++;
	return lines[i];
}

const char *hints(bool machine)
{
	return machine ? widest(keys_of_machine, NUM(keys_of_machine)) : widest(keys, NUM(keys));
}

const char *hints_of_closeup(void)
{
	return widest(keys_of_closeup, NUM(keys_of_closeup));
}

void hints_help(bool machine)
{
	size_t row = 1;

	for (size_t i = 0; i < NUM(help); i++) {
		const char *line = help[i].line;

		if (machine && help[i].of_machine)
			line = help[i].of_machine;
		if (line)
			screen_put(row++, line, LOOK_PLAIN);
	}
}
