// SPDX-License-Identifier: GPL-2.0-only
/* profil check: what is missing where profil run does not work, in the order of causes. */
#define _GNU_SOURCE
#include <argp.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "causes.h"
#include "command.h"
#include "output.h"
#include "say.h"

enum { KEY_JSON = 256 };

static const struct argp_option options[] = {
	{ "json", KEY_JSON, NULL, 0, "Print the list for programs", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	bool *json = state->input;

	(void)arg;
	if (key != KEY_JSON)
		return ARGP_ERR_UNKNOWN;
	*json = true;
	return 0;
}

static const struct argp argp = {
	options, parse, NULL,
	"Says what profil needs, what of it is there, and which command mends the rest.\v"
	"The exit status is 1 if something FAILs.  The first that does explains those that follow.",
	NULL, NULL, NULL
};

static const char *const states[] = {
	[CAUSE_OK] = "ok", [CAUSE_NOTE] = "note", [CAUSE_FAIL] = "FAIL",
};

/* Host names, modules and the like come from elsewhere. */
static char *safe(const char *text)
{
	char *copy = allocated(malloc(4 * strlen(text) + 1));

	printable(copy, text, strlen(text));
	return copy;
}

static void print_text(const struct cause *cause)
{
	char *text = safe(cause->text), *mend = safe(cause->mend ? cause->mend : "");

	printf("%-10s %-64s %s\n", cause->name, text, states[cause->state]);
	if (mend[0])
		printf("%-10s %s\n", "", mend);
	free(text);
	free(mend);
}

static void add_json(json_t *list, const struct cause *cause)
{
	char *text = safe(cause->text), *mend = safe(cause->mend ? cause->mend : "");
	json_t *row = json_pack("{s:s, s:s, s:s, s:s}", "name", cause->name, "state",
				states[cause->state], "text", text, "mend", mend);

	if (!row || json_array_append_new(list, row))
		allocated(NULL);
	free(text);
	free(mend);
}

int command_check(int argc, char **argv)
{
	json_t *list = allocated(json_array());
	bool json = false, failed = false;

	argp_parse(&argp, argc, argv, 0, NULL, &json);
	for (size_t i = 0; causes[i]; i++) {
		struct cause cause = { 0 };

		causes[i](&cause);
		if (!cause.name)
			continue;	/* nothing to say of it on this machine */
		failed = failed || cause.state == CAUSE_FAIL;
		if (json)
			add_json(list, &cause);
		else
			print_text(&cause);
		fflush(stdout);
		free(cause.text);
		free(cause.mend);
	}
	if (json) {
		json_dumpf(list, stdout, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
		putchar('\n');
	}
	json_decref(list);
	output_end("list");
	return failed;
}
