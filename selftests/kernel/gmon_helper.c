// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program of gcc -pg, for gmon_test: runs for N ticks of its CPU time in each of
 * M forked children and in itself, and says of each
 *
 *	PID SAMPLES CALLS ADDRESS
 *
 * how many samples the kernel put in histograms, how often leaf() was called,
 * and where that is.  With AWAY in the environment, it goes where there is no device
 * before, and stops and starts its profile there.
 */
#include "profil_common.h"

void moncontrol(int mode);

#define NOINLINE __attribute__((noinline, noclone))

NOINLINE void leaf(void);
NOINLINE void leaf(void)
{
	__asm__ volatile("");
}

static int spend(int fd, unsigned long ticks)
{
	struct profil_ioc_stats stats;
	unsigned long calls = 0;

	do {
		int i;

		for (i = 0; i < 1000; i++)
			leaf();
		calls += i;
		if (profil_stats(fd, &stats))
			return 1;
	} while (stats.out_ticks < ticks);
	moncontrol(0);
	if (profil_stats(fd, &stats) || !check_identity(&stats))
		return 2;
	printf("%d %llu %lu %#lx\n", getpid(), stats.out_in_range, calls,
	       (unsigned long)leaf);
	return 0;
}

static int state(int fd)
{
	struct profil_ioc_stats stats;

	return profil_stats(fd, &stats) ? -1 : (int)stats.out_state;
}

static int go_away(int fd)
{
	char folder[] = "/tmp/gmon.XXXXXX";

	/* The working directory stays: the files are written there. */
	if (!mkdtemp(folder) || chroot(folder) || profil_open() >= 0)
		return 4;
	moncontrol(0);
	if (state(fd) != PROFIL_STATE_OFF)
		return 5;
	moncontrol(1);
	return state(fd) == PROFIL_STATE_ON ? 0 : 6;
}

int main(int argc, char **argv)
{
	unsigned long ticks = argc > 1 ? strtoul(argv[1], NULL, 0) : 0;
	int children = argc > 2 ? atoi(argv[2]) : 0;
	int fd = profil_open();
	pid_t pid;

	if (getenv("AWAY") && go_away(fd))
		return 7;
	while (children--) {
		pid = fork();
		if (!pid)
			return spend(fd, ticks);
		if (pid < 0 || wait_for(pid))
			return 3;
	}
	return spend(fd, ticks);
}
