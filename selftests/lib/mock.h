/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A device that expects.  A test lists the commands that the library is to give,
 * in their order; any other one fails the test, and so does one that is missing.
 * The device must be opened and closed for each; but from the first START on one
 * descriptor is kept, and used for all.
 */
#ifndef SELFTESTS_LIB_MOCK_H
#define SELFTESTS_LIB_MOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <profil.h>

struct mock_step {
	unsigned long cmd;		/* 0: open() fails, there is no command */
	bool (*check)(void *arg);	/* looks at and fills the argument */
	int err;			/* fails with this errno */
};

#define MOCK_FD 1234
#define MOCK_KEPT 2345		/* what it was moved to */

/* What START tells. */
#define MOCK_ANCHOR 0x70000000UL
#define MOCK_PAGE 4096

/* Dirt that a successful call leaves in errno, to see it cleaned away. */
#define MOCK_ERRNO 4321

void mock_expect(const struct mock_step *steps, size_t num);
/* From now on any commands in any order, of several threads. */
void mock_expect_any(void);
/*
 * True if all steps were made, and nothing else, and what was opened and mapped
 * is closed and unmapped, but for the anchor and one descriptor after a START.
 */
bool mock_done(void);
/* Whether a descriptor is open, and whether the anchor is mapped. */
bool mock_keeps(void);
bool mock_has_anchor(void);
/*
 * What madvise() and msync() say of the anchor's address from now on: an errno, 0: as it
 * is, or -1: success.
 */
void mock_anchor_errors(int madvise_error, int msync_error);
/* The next anchor that is made is at another address. */
void mock_move_anchor(void);
/* Whether there is a profile that is on. */
bool mock_counts(void);
/* What other threads do meanwhile: @hook is called once, the next time that this is reached. */
enum mock_point {
	MOCK_STARTED,		/* START is answered */
	MOCK_STOPPED,		/* STOP is answered */
	MOCK_UNMAPS,		/* it is asked whether this is the anchor, before its unmap */
	MOCK_POINTS
};

void mock_at(enum mock_point point, void (*hook)(void));
/* The program closes all descriptors. */
void mock_close_all(void);
/* What was written to stderr since the last call. */
const char *mock_stderr(void);
/* From now on mmap() fails with ENOMEM. */
void mock_no_memory(void);
/* From now on secure_getenv() finds nothing, as in a set-user-ID program. */
void mock_set_user_id(void);

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define EXPECT(...) do {						\
	static const struct mock_step steps[] = { __VA_ARGS__ };	\
	mock_expect(steps, ARRAY_SIZE(steps));				\
} while (0)

#define OPEN_FAILS(error)	{ 0, NULL, error }
#define START(look)		{ PROFIL_IOC_START, look, 0 }
#define START_FAILS(error)	{ PROFIL_IOC_START, NULL, error }
#define STOP			{ PROFIL_IOC_STOP, mock_is_stop, 0 }
/*
 * With the ticks of a kernel of 100, 250, 300 or 1000 Hz, a timer source of up to
 * 10000, and 4096 regions.
 */
#define QUERY(hz)		{ PROFIL_IOC_QUERY, mock_query_##hz, 0 }
#define QUERY_FAILS(error)	{ PROFIL_IOC_QUERY, NULL, error }

#define MOCK_REGIONS_MAX 4096

bool mock_is_stop(void *arg);
bool mock_query_100(void *arg);
bool mock_query_250(void *arg);
bool mock_query_300(void *arg);
bool mock_query_1000(void *arg);

#endif /* SELFTESTS_LIB_MOCK_H */
