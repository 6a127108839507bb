// SPDX-License-Identifier: GPL-2.0-only
/* profil watch: the whole machine, all the time, one profile an interval. */
#define _GNU_SOURCE
#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include "command.h"
#include "http.h"
#include "intervals.h"
#include "options.h"
#include "say.h"
#include "when.h"

enum {
	KEY_EVERY = 256, KEY_KEEP, KEY_SIZE, KEY_PUSH, KEY_CREDENTIALS, KEY_LABEL, KEY_METRICS,
	KEY_SLOTS
};

#define NS 1000000000ULL
#define SLOTS 32768

struct wanted {
	struct watch watch;
	const char *credentials;
	char *labels;
};

static const struct argp_option options[] = {
	{ "output", 'o', "DIR", 0, "Write the profiles to DIR (" SPOOL_FOLDER ")", 0 },
	{ "every", KEY_EVERY, "TIME", 0, "Length of an interval: 10s, 60s, 5m (60s)", 0 },
	{ "keep", KEY_KEEP, "TIME", 0, "Remove profiles that are older: 24h, 7d (24h)", 0 },
	{ "max-size", KEY_SIZE, "SIZE", 0,
	  "Remove the oldest where all together are larger: 500M, 1G (1G)", 0 },
	{ "push", KEY_PUSH, "URL", 0,
	  "Push the profiles to a server that takes them as Pyroscope does", 0 },
	{ "credentials", KEY_CREDENTIALS, "FILE", 0,
	  "What that server wants to know: one line, USER:PASSWORD or a token", 0 },
	{ "label", KEY_LABEL, "KEY=VALUE", 0, "Push the profiles with this label, too", 0 },
	{ "metrics", KEY_METRICS, "FILE", 0,
	  "Write counters of the hottest functions to FILE, for Prometheus", 0 },
	{ "slots", KEY_SLOTS, "N", 0, "Room for so many places, a power of 2 (32768)", 0 },
	{ 0 }
};

static uint64_t parse_length(struct argp_state *state, const char *option, const char *arg)
{
	uint64_t length_ns = 0;

	if (!when_parse_length(arg, &length_ns))
		argp_error(state, "%s takes a time like 60s, 5m, 24h or 7d, and was given %s",
			   option, arg);
	return length_ns;
}

static uint64_t parse_size(struct argp_state *state, const char *arg)
{
	static const char units[] = "KMGT";
	char *end;
	unsigned long long size = strtoull(arg, &end, 10);
	const char *unit = *end ? strchr(units, *end) : NULL;

	if (unit && end++)
		for (const char *p = units; p <= unit; p++)
			size = size > UINT64_MAX >> 10 ? 0 : size << 10;
	if (!isdigit((unsigned char)arg[0]) || *end || size < 1 << 20)
		argp_error(state, "--max-size takes a size like 500M or 1G, 1M or more, and was given %s",
			   arg);
	return size;
}

/* What is in an address, any user of this machine can see. */
static const char *parse_url(struct argp_state *state, const char *arg)
{
	const char *host = strstr(arg, "://");

	if ((strncmp(arg, "http://", 7) && strncmp(arg, "https://", 8)) ||
	    strpbrk(host + 3, "@?# \t\r\n") || !host[3])
		argp_error(state, "--push takes an address like https://pyroscope.example:4040, and was given %s; what the server wants to know goes into a file, see --credentials",
			   arg);
	return arg;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct wanted *wanted = state->input;
	struct watch *watch = &wanted->watch;

	switch (key) {
	case 'o':
		if (!*arg)
			argp_error(state, "-o takes a folder, and was given an empty name");
		watch->spool.path = arg;
		break;
	case KEY_EVERY:
		watch->every_ns = parse_length(state, "--every", arg);
		break;
	case KEY_KEEP:
		watch->spool.keep_ns = parse_length(state, "--keep", arg);
		break;
	case KEY_SIZE:
		watch->spool.size_max = parse_size(state, arg);
		break;
	case KEY_PUSH:
		watch->push.url = parse_url(state, arg);
		break;
	case KEY_CREDENTIALS:
		wanted->credentials = arg;
		break;
	case KEY_LABEL:
		if (!push_label(&wanted->labels, arg))
			argp_error(state, "--label takes a name and a value like version=1.2, and was given %s",
				   arg);
		break;
	case KEY_METRICS:
		watch->metrics = arg;
		break;
	case KEY_SLOTS:
		watch->wish.slots = option_number(state, "--slots", arg, PROFIL_SLOTS_MIN,
						  PROFIL_SLOTS_MAX);
		break;
	case ARGP_KEY_ARG:
		argp_error(state, "it counts all that runs, and takes no program; profil run does");
		break;
	case ARGP_KEY_END:
		if (watch->every_ns > watch->spool.keep_ns)
			argp_error(state, "--keep is shorter than an interval; give more");
		if (!watch->push.url && (wanted->credentials || wanted->labels))
			argp_error(state, "--credentials and --label are for --push, and there is none");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = {
	options, parse, NULL,
	"Counts all that runs on the machine, all the time, and writes a profile for each interval, until SIGTERM or Ctrl-C.\v"
	"It needs CAP_PERFMON.  profil report --since '1 hour ago' shows what it has counted.",
	NULL, NULL, NULL
};

/* What says which machine it was, and nothing that would end the label. */
static void add_host(char **labels)
{
	struct utsname machine;
	char *label;

	if (uname(&machine))
		return;
	if (asprintf(&label, "host=%s", machine.nodename) < 0)
		allocated(NULL);
	push_label(labels, label);
	free(label);
}

static void prepare_push(struct wanted *wanted)
{
	struct watch *watch = &wanted->watch;
	const char *missing = watch->push.url ? http_missing() : NULL;

	if (missing)
		die("profiles cannot be pushed: %s", missing);
	if (!watch->push.url)
		return;
	watch->push.credentials = push_credentials(wanted->credentials, watch->push.url);
	add_host(&wanted->labels);
	watch->push.labels = wanted->labels ? wanted->labels : "";
	watch->push.spool = &watch->spool;
	watch->spool.push = true;
}

/* Before a folder is made, and for whoever cannot make it: that is not what is missing. */
static void check_allowed(const struct session_wish *wish)
{
	struct session_wish small = *wish;

	small.slots = PROFIL_SLOTS_MIN;
	if (session_possible(&small) == EPERM)
		session_close(session_open(wish));
}

int command_watch(int argc, char **argv)
{
	struct wanted wanted = {
		.watch = {
			.wish = {
				.slots = SLOTS, .system = true, .kernel = true,
				.command = "profil watch",
			},
			.spool = {
				.path = SPOOL_FOLDER, .keep_ns = 24 * 3600 * NS,
				.size_max = 1ULL << 30,
			},
			.every_ns = 60 * NS,
		},
	};

	argp_parse(&argp, argc, argv, 0, NULL, &wanted);
	prepare_push(&wanted);
	check_allowed(&wanted.watch.wish);
	spool_open(&wanted.watch.spool);
	if (wanted.watch.spool.push)
		push_begin(wanted.watch.spool.fd);
	watch_machine(&wanted.watch);
	free((char *)wanted.watch.push.credentials);
	free(wanted.labels);
	return 0;
}
