/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A device that expects. A test lists the calls that the library is to make, in
 * their order; any other call fails the test, and so does one that is missing.
 */
#ifndef SELFTESTS_LIB_MOCK_H
#define SELFTESTS_LIB_MOCK_H

#include <stdbool.h>
#include <stddef.h>

enum mock_call { MOCK_OPEN, MOCK_IOCTL, MOCK_CLOSE };

struct mock_step {
	enum mock_call call;
	unsigned long cmd;		/* MOCK_IOCTL */
	bool (*check)(void *arg);	/* MOCK_IOCTL: looks at and fills the argument */
	int err;			/* fails with this errno */
};

#define MOCK_FD 1234

/* Dirt that a successful call leaves in errno, to see it cleaned away. */
#define MOCK_ERRNO 4321

void mock_expect(const struct mock_step *steps, size_t num);
/* True if all steps were made, and nothing else. */
bool mock_done(void);
/* What was written to stderr since the last call. */
const char *mock_stderr(void);

#endif /* SELFTESTS_LIB_MOCK_H */
