// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is frozen of the interface: calls and their answers, one in each row, as a user without
 * rights has them.  What the calls are good for is tested by other programs.  profil.rst has
 * the tables in words, abi-1.txt the layout of the structures.
 */
#include "abi.h"

enum arg { GOOD, READ_ONLY, NONE };

struct row {
	const char *what;
	enum on on;
	__u32 nr, bytes;
	struct word set[3];
	int answer;
	void (*before)(int fd);
	enum arg arg;
};

/* The answer to a row, in a process of its own. */
static int answer(const struct row *row)
{
	const int fds[] = { device, own, roots };
	pid_t pid = fork();
	size_t i;

	if (pid)
		return -wait_for(pid);
	if (row->before)
		row->before(fds[row->on]);
	fill(row->nr, row->bytes);
	for (i = 0; i < ARRAY_SIZE(row->set); i++)
		if (row->set[i].at)
			WORD(row->set[i].at) = row->set[i].value;
	if (row->arg == READ_ONLY)
		mprotect((void *)ARG, REGION + PAGE, PROT_READ);
	if (row->arg == NONE)
		munmap((void *)ARG, REGION);
	_exit(-call(fds[row->on], row->nr));
}

/* ---- what all commands have in common */

TEST_F(abi, sizes_words_and_descriptors)
{
	const struct command *c;

	for (c = commands; c < commands + ARRAY_SIZE(commands); c++) {
		const int no = c->answer, ro = no ? no : c->writes ? -EFAULT : 0;
		const __u32 n = c->bytes, last = n + 4, res = c->reserved;
		const struct row rows[] = {
			{ "the first version",     c->on, c->nr, n,     .answer = no },
			{ "a byte less",           c->on, c->nr, n - 1, .answer = -EINVAL },
			{ "8 bytes more, of 0",    c->on, c->nr, n + 8, .answer = no },
			{ "8 bytes more, not of 0", c->on, c->nr, n + 8, { { last, 1 } },
			  .answer = -E2BIG },
			{ "a page",                c->on, c->nr, 4096,  .answer = no },
			{ "a page and a byte",     c->on, c->nr, 4097,  .answer = -E2BIG },
			{ "reserved word not 0",   c->on, c->nr, n, { { res, 1 } },
			  .answer = res ? -EINVAL : no },
			{ "nothing to read",       c->on, c->nr, n,
			  .answer = -EFAULT, .arg = NONE },
			{ "nothing to write",      c->on, c->nr, n,
			  .answer = ro, .arg = READ_ONLY },
			{ "the other descriptor",  c->on == DEVICE ? OWN : DEVICE, c->nr, n,
			  .answer = c->other },
		};
		int i, bit;

		/* The session that is stopped with the other descriptor is made anew. */
		for (i = 0; i < (int)ARRAY_SIZE(rows); i++) {
			EXPECT_EQ(rows[i].answer, answer(&rows[i]))
				TH_LOG("%s: %s", c->name, rows[i].what);
		}
		own = c->nr == STOP ? session(0) : own;
		for (bit = 0; bit < 32; bit++) {
			if (c->flags & 1U << bit)
				continue;
			EXPECT_EQ(-EOPNOTSUPP, give(c->on == OWN ? own : device, c->nr, 4,
						    1U << bit))
				TH_LOG("%s: flag bit %d", c->name, bit);
		}
	}
}

/* ---- each cause has one error */

static void started(int fd)
{
	(void)fd;
	give(device, START, 0, 0);
}

static void joined(int fd)
{
	give(fd, JOIN, 0, 0);
}

static void joined_to_four(int fd)
{
	int i;

	for (i = 0; i < 4; i++)
		joined(session(0));
	(void)fd;
}

static void stopped(int fd)
{
	give(fd, STOP, 0, 0);
}

static void no_room(int fd)
{
	const struct rlimit none = { 0, RLIM_INFINITY };

	(void)fd;
	setrlimit(RLIMIT_AS, &none);
}

static void all_locked(int fd)
{
	const struct rlimit none = { 0, 0 };

	(void)fd;
	mlockall(MCL_FUTURE);
	setrlimit(RLIMIT_MEMLOCK, &none);
}

static void no_descriptor(int fd)
{
	const struct rlimit none = { fd, fd };

	setrlimit(RLIMIT_NOFILE, &none);
}

#define R	REGION
#define ROW(_what, ...)		{ .what = _what, __VA_ARGS__ }
#define START_ROW(_what, ...)	ROW(_what, DEVICE, START, 64, __VA_ARGS__)
#define SESSION_ROW(_what, ...)	ROW(_what, DEVICE, SESSION, 48, __VA_ARGS__)

static const struct row causes[] = {
	ROW("command 8",			DEVICE, 0xb908, 8, .answer = -ENOTTY),
	ROW("command 8 of a session",		OWN, 0xb908, 8, .answer = -ENOTTY),
	ROW("QUERY with a size",		DEVICE, 0x8040b900, 64, .answer = -ENOTTY),

	START_ROW("regions of 31 bytes",	{ { 12, 31 } }, -EINVAL),
	START_ROW("regions of 40, tail 0",	{ { 12, 40 } }, 0),
	START_ROW("regions of 40, tail not 0",	{ { 12, 40 }, { R + 36, 1 } }, -E2BIG),
	START_ROW("regions above a page",	{ { 12, 4097 } }, -E2BIG),
	START_ROW("no region",			{ { 8, 0 }, { 16, 0 } }, 0),
	START_ROW("4097 regions",		{ { 8, 4097 } }, -E2BIG),
	START_ROW("no array",			{ { 16, 0 } }, -EFAULT),
	START_ROW("a tick's rate too high",	{ { 24, 100000 } }, -EOPNOTSUPP),
	START_ROW("source 2",			{ { 28, 2 } }, -EOPNOTSUPP),
	START_ROW("jitter of the tick",		{ { 32, 1 } }, -EINVAL),
	START_ROW("timer without a rate",	{ { 28, 1 } }, -EINVAL),
	START_ROW("timer, jitter 100",		{ { 24, 9 }, { 28, 1 }, { 32, 100 } }, 0),
	START_ROW("timer, jitter 101",		{ { 24, 9 }, { 28, 1 }, { 32, 101 } }, -EINVAL),
	START_ROW("timer's rate too high",	{ { 24, ~0U }, { 28, 1 } }, -EOPNOTSUPP),
	START_ROW("rate and period",		{ { 24, 100 }, { 40, 10000000 } }, -EINVAL),
	START_ROW("period of 10 ms",		{ { 40, 10000000 } }, 0),
	START_ROW("no part of a second",	{ { 40, 30000000 } }, -EOPNOTSUPP),
	START_ROW("period above a second",	{ { 40, 1000000001 } }, -EOPNOTSUPP),
	START_ROW("16 bits at an odd place",	{ { R, HISTOGRAM + 1 } }, -EINVAL),
	START_ROW("32 bits at 2",		{ { R, HISTOGRAM + 2 }, { R + 28, 1 } }, -EINVAL),
	START_ROW("each flag but the second",	{ { R + 28, 13 } }, 0),
	START_ROW("two kinds of units",		{ { R + 28, 6 } }, -EINVAL),
	START_ROW("region's flag bit 4",	{ { R + 28, 16 } }, -EOPNOTSUPP),
	START_ROW("no memory there",		{ { R, NOWHERE } }, -ENXIO),
	START_ROW("no memory, scale 0",		{ { R, NOWHERE }, { R + 24, 0 } }, 0),
	START_ROW("no histogram",		{ { R, NOWHERE }, { R + 8, 0 } }, 0),
	START_ROW("no room for the anchor",	{ { 0 } }, -ENOMEM, no_room),
	START_ROW("all memory is locked",	{ { 0 } }, -EAGAIN, all_locked),

	ROW("STOP of any",		DEVICE, STOP, 16, { { 0 } }, 0, started),
	ROW("STOP of another",		DEVICE, STOP, 16, { { 12, 1 } }, -ESTALE, started),
	ROW("STATS of any",		DEVICE, STATS, 200, { { 0 } }, 0, started),
	ROW("STATS of another",		DEVICE, STATS, 200, { { 180, 1 } }, -ESTALE, started),

	SESSION_ROW("512 slots",		{ { 8, 512 } }, -EINVAL),
	SESSION_ROW("1025 slots",		{ { 8, 1025 } }, -EINVAL),
	SESSION_ROW("2 << 20 slots",		{ { 8, 2 << 20 } }, -EINVAL),
	SESSION_ROW("15 rows",			{ { 12, 15 } }, -EINVAL),
	SESSION_ROW("17 rows",			{ { 12, 17 } }, 0),
	SESSION_ROW("65537 rows",		{ { 12, 65537 } }, -EINVAL),
	SESSION_ROW("8 objects",		{ { 16, 8 } }, -EINVAL),
	SESSION_ROW("17 objects",		{ { 16, 17 } }, -EINVAL),
	SESSION_ROW("131072 objects",		{ { 16, 131072 } }, -EINVAL),
	SESSION_ROW("a tick's rate too high",	{ { 20, 100000 } }, -EOPNOTSUPP),
	SESSION_ROW("source 2",			{ { 24, 2 } }, -EOPNOTSUPP),
	SESSION_ROW("jitter of the tick",	{ { 28, 1 } }, -EINVAL),
	SESSION_ROW("timer without a rate",	{ { 24, 1 } }, -EINVAL),
	SESSION_ROW("kernel, user only",	{ { 4, 0x0c } }, -EINVAL),
	SESSION_ROW("system, noinherit",	{ { 4, 0x11 } }, -EINVAL),
	SESSION_ROW("system, a rate",		{ { 4, 0x10 }, { 20, 9 } }, -EOPNOTSUPP),
	SESSION_ROW("kernel, no right",		{ { 4, 0x08 } }, -EPERM),
	SESSION_ROW("system, no right",		{ { 4, 0x10 } }, -EPERM),
	SESSION_ROW("no descriptor left",	{ { 0 } }, -EMFILE, no_descriptor),

	ROW("JOIN twice",			OWN, JOIN, 8, { { 0 } }, -EALREADY, joined),
	ROW("JOIN of four others",		OWN, JOIN, 8, { { 0 } }, -ENOSPC, joined_to_four),
	ROW("JOIN of root's",			ROOTS, JOIN, 8, { { 0 } }, -EPERM),
	ROW("ATTACH of root's",			ROOTS, ATTACH, 16, { { 0 } }, -EPERM),
	ROW("ATTACH of pid 0",			OWN, ATTACH, 16, { { 8, 0 } }, -EINVAL),
	ROW("ATTACH of pid -1",			OWN, ATTACH, 16, { { 8, ~0U } }, -EINVAL),
	ROW("ATTACH of nobody",			OWN, ATTACH, 16, { { 8, 0x3fffffff } }, -ESRCH),
	ROW("OBJECT without a file",		OWN, OBJECT, 32, { { 8, 5 } }, -ENOENT),
	ROW("STOP of a session's cookie",	OWN, STOP, 16, { { 8, 1 } }, -EINVAL),
	ROW("JOIN of a stopped one",		OWN, JOIN, 8, { { 0 } }, -ESRCH, stopped),
	ROW("STOP of a stopped one",		OWN, STOP, 16, { { 0 } }, 0, stopped),
};

TEST_F(abi, each_cause_has_one_error)
{
	const struct row *row;

	for (row = causes; row < causes + ARRAY_SIZE(causes); row++) {
		EXPECT_EQ(row->answer, answer(row))
			TH_LOG("command %u: %s", row->nr - QUERY, row->what);
	}
}

/* ---- what there is */

TEST_F(abi, query_says)
{
	static const struct {
		const char *what;
		__u32 at, mask, value;
	} rows[] = {
		{ "version 1",		8, ~0U, 1 },
		{ "features",		12, ~7U, 0 },
		{ "hook",		28, ~3U, 0 },
		{ "most regions",	36, ~0U, 4096 },
		{ "flags of START",	44, ~0U, 0x03 },
		{ "flags of a region",	48, ~0U, 0x0f },
		{ "sources of START",	52, ~2U, 1 },
		{ "flags of SESSION",	56, ~0U, 0x1f },
		{ "sources of SESSION",	60, ~2U, 1 },
	};
	size_t i;

	ASSERT_EQ(0, give(device, QUERY, 0, 0));
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		EXPECT_EQ(rows[i].value, WORD(rows[i].at) & rows[i].mask)
			TH_LOG("%s", rows[i].what);
	}
	/* The timer is there if it has a rate; both sources are those of START and of SESSION. */
	EXPECT_EQ(WORD(40) ? 3 : 1, WORD(52));
	EXPECT_EQ(WORD(52), WORD(60));
	EXPECT_LT(990000000ULL, QUAD(16) * WORD(24));
	EXPECT_GT(1010000000ULL, QUAD(16) * WORD(24));
}

TEST_HARNESS_MAIN
