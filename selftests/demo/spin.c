// SPDX-License-Identifier: GPL-2.0-only
/*
 * For the test of record.so: spends CPU time in a thread, in a child that leaves
 * by _exit(), in one that executes this program anew, and in itself.  "spin endlessly"
 * does not end.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void *spin(void *tenths)
{
	struct timespec now;
	long ms = (long)tenths * 100;

	do {
		for (volatile int i = 0; i < 100000; i++)
			;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < ms);
	return NULL;
}

static void leave_early(void)
{
	spin((void *)4);
	_exit(0);
}

static void exec_again(char *name)
{
	/* A shell's way through PATH: the first one does not exist. */
	spin((void *)1);
	execve("/nonexistent", (char *[]) { name, NULL }, environ);
	spin((void *)3);
	execve("/proc/self/exe", (char *[]) { name, "again", NULL }, environ);
	_exit(1);
}

/* One after the other: ticks measure badly what takes turns at each tick. */
int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc > 1) {
		do {
			spin((void *)7);
		} while (!strcmp(argv[1], "endlessly"));
		return 0;
	}
	pthread_create(&thread, NULL, spin, (void *)4);
	pthread_join(thread, NULL);
	if (!fork())
		leave_early();
	wait(NULL);
	if (!fork())
		exec_again(argv[0]);
	wait(NULL);
	spin((void *)4);
	puts("spun");
	return 0;
}
