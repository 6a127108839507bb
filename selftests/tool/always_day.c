// SPDX-License-Identifier: GPL-2.0-only
/*
 * For profil watch, whose time passes while it waits, and not otherwise: a day is over as soon
 * as its profiles are written.  PROFIL_JUMPS has times in seconds, at which the real clock
 * goes forth or back: "3600:+7200 7200:-86400".
 */
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int __real_poll(struct pollfd *polled, nfds_t num, int ms);
int __wrap_poll(struct pollfd *polled, nfds_t num, int ms);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time);

static long long passed_ms;

/* A process that writes is waited for: it needs none of this time. */
int __wrap_poll(struct pollfd *polled, nfds_t num, int ms)
{
	bool writes = num > 1 && polled[1].fd >= 0;
	int ready = __real_poll(polled, num, num == 1 || writes ? 20 : 0);

	if (!ready && !writes && num > 1 && ms > 0)
		passed_ms += ms;
	return ready;
}

static long long jumps(long long now_ms)
{
	const char *text = getenv("PROFIL_JUMPS");
	long long sum = 0;
	char *end;

	while (text && *text) {
		long long at = strtoll(text, &end, 10), by = strtoll(end + 1, &end, 10);

		if (at * 1000 <= now_ms)
			sum += by * 1000;
		text = end + strspn(end, " ");
	}
	return sum;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
	long long ms = passed_ms;

	if (clock == CLOCK_REALTIME)
		ms += 1795831200000 + jumps(passed_ms);
	*time = (struct timespec) { 1000 + ms / 1000, ms % 1000 * 1000000 };
	return 0;
}
