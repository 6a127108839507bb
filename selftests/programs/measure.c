// SPDX-License-Identifier: GPL-2.0-only
/*
 * measure FILE COMMAND…: runs it, and writes to FILE the microseconds of CPU time
 * that it took with all its children that were waited for, in user mode and in
 * the kernel, and what it ended with, as the shell tells it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static long long us(struct timeval time)
{
	return time.tv_sec * 1000000LL + time.tv_usec;
}

int main(int argc, char **argv)
{
	struct rusage usage;
	int status;
	FILE *file;
	pid_t pid;

	if (argc < 3) {
		fputs("usage: measure FILE COMMAND...\n", stderr);
		return 2;
	}
	pid = fork();
	if (!pid) {
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) != pid) {
		perror("measure: no process");
		return 1;
	}
	status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	file = fopen(argv[1], "w");
	if (!file || fprintf(file, "%lld %lld %d\n", us(usage.ru_utime),
			     us(usage.ru_stime), status) < 0 || fclose(file)) {
		perror(argv[1]);
		return 1;
	}
	return status;
}
