// SPDX-License-Identifier: GPL-2.0-only
/* profil check: what is missing where profil run does not work, in the order of causes. */
#define _GNU_SOURCE
#include <argp.h>
#include <jansson.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "causes.h"
#include "command.h"
#include "helper.h"
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

/* In a helper.  The NUL byte comes after messages. */
static void tell(void *data, FILE *out)
{
	const struct probe *probe = data;
	struct cause cause = { 0 };

	probe->look(&cause);
	putc('\0', out);
	if (cause.text)
		fprintf(out, "%d%s%c%s%c", cause.state, cause.text, 0,
			cause.mend ? cause.mend : "", 0);
	free(cause.text);
	free(cause.mend);
}

/* What a helper has said, or why it has not: one that fails does not end the list. */
static void take(struct helper *helper, struct cause *cause)
{
	const char *said = helper->text + strlen(helper->text) + 1;
	const char *end = helper->text + helper->length;

	if (said > end) {
		const char *line = helper_last_line(helper);

		line += strncmp(line, "profil: ", strlen("profil: ")) ? 0 : strlen("profil: ");
		cause->state = CAUSE_FAIL;
		cause->text = cause_text("%s", line[0] ? line : "this could not be looked at");
	} else if (said < end) {
		cause->state = said[0] - '0';
		cause->text = cause_text("%s", said + 1);
		cause->mend = cause_text("%s", said + strlen(said) + 1);
	}
}

static void look(const struct probe *probe, struct cause *cause)
{
	struct helper helper;

	if (!helper_start(&helper, tell, (void *)probe, true)) {
		probe->look(cause);
		return;
	}
	while (!helper_read(&helper))
		poll(&(struct pollfd) { .fd = helper.fd, .events = POLLIN }, 1, -1);
	take(&helper, cause);
	helper_end(&helper);
}

static void print_text(const char *name, const struct cause *cause)
{
	char *text = safe(cause->text), *mend = safe(cause->mend ? cause->mend : "");

	printf("%-10s %-64s %s\n", name, text, states[cause->state]);
	if (mend[0])
		printf("%-10s %s\n", "", mend);
	free(text);
	free(mend);
}

static void add_json(json_t *list, const char *name, const struct cause *cause)
{
	char *text = safe(cause->text), *mend = safe(cause->mend ? cause->mend : "");
	json_t *row = json_pack("{s:s, s:s, s:s, s:s}", "name", name, "state",
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
	for (size_t i = 0; probes[i].name; i++) {
		struct cause cause = { 0 };

		look(&probes[i], &cause);
		if (!cause.text)
			continue;	/* nothing to say of it on this machine */
		failed = failed || cause.state == CAUSE_FAIL;
		if (json)
			add_json(list, probes[i].name, &cause);
		else
			print_text(probes[i].name, &cause);
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
