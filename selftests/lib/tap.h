/* SPDX-License-Identifier: GPL-2.0-only */
/* The little of the Test Anything Protocol that the host tests need. */
#ifndef SELFTESTS_LIB_TAP_H
#define SELFTESTS_LIB_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int tap_count;

/* The same tests run as programs of 64 and of 32 bits. */
static inline void tap_result(bool ok, const char *name)
{
	printf("%sok %d - %s%s\n", ok ? "" : "not ", ++tap_count, name,
	       sizeof(long) == 4 ? ", with 32 bits" : "");
	fflush(stdout);
}

/*
 * Runs a test in a process of its own, for the library keeps state in static
 * variables; it passes if it returns true.
 */
static inline void tap_fork(bool (*test)(void), const char *name)
{
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		bool ok = test();

		fflush(stdout);
		_exit(ok ? 0 : 1);
	}
	if (pid > 0)
		waitpid(pid, &status, 0);
	tap_result(!status, name);
}

static inline int tap_plan(void)
{
	printf("1..%d\n", tap_count);
	return 0;
}

#define __printf(a, b) __attribute__((format(printf, a, b)))

static inline bool __printf(1, 2) tap_fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	printf("# ");
	vprintf(format, args);
	printf("\n");
	va_end(args);
	return false;
}

/* For tests that return bool: says what did not hold, and ends the test. */
#define TAP_CHECK(cond) do {						\
	if (!(cond))							\
		return tap_fail("%s:%d: %s", __FILE__, __LINE__, #cond); \
} while (0)

#endif /* SELFTESTS_LIB_TAP_H */
