// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <unistd.h>
#include "apart.h"
#include "order.h"

#define SECONDS_OF_CPU 60
#define MEMORY ((rlim_t)8 << 30)

/* The hard limit of CPU time would not say why it kills. */
void apart_limit(int resource, rlim_t most)
{
	struct rlimit now;

	if (getrlimit(resource, &now))
		return;
	if (now.rlim_cur > most)
		now.rlim_cur = most;
	most = now.rlim_cur + (resource == RLIMIT_CPU);
	if (now.rlim_max > most)
		now.rlim_max = most;
	setrlimit(resource, &now);
}

static int by_number(const void *a, const void *b)
{
	return compare_numbers(*(const int *)a, *(const int *)b);
}

static void keep_only(int *kept, size_t num)
{
	unsigned int next = 0;
	int null;

	qsort(kept, num, sizeof(*kept), by_number);
	for (size_t i = 0; i < num; i++) {
		if (kept[i] < 0 || (unsigned int)kept[i] < next)
			continue;
		if ((unsigned int)kept[i] > next)
			close_range(next, kept[i] - 1, 0);
		next = kept[i] + 1;
	}
	close_range(next, ~0U, 0);
	/* in the place of standard input, output and error */
	do {
		null = open("/dev/null", O_RDWR | O_CLOEXEC);
	} while (null >= 0 && null <= STDERR_FILENO);
	if (null >= 0)
		close(null);
}

void apart_begin(int *kept, size_t num, double seconds)
{
	time_t whole = seconds;
	struct itimerval timer = { .it_value = { whole, (seconds - whole) * 999998 + 1 } };
	sigset_t none;

	keep_only(kept, num);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGINT, SIG_DFL);	/* Ctrl-C goes on without this file */
	apart_limit(RLIMIT_CORE, 0);
	apart_limit(RLIMIT_CPU, SECONDS_OF_CPU);
#ifndef __SANITIZE_ADDRESS__
	apart_limit(RLIMIT_DATA, MEMORY);
#endif
	setitimer(ITIMER_REAL, &timer, NULL);
}
