// SPDX-License-Identifier: GPL-2.0-only
/*
 * measure FILE COMMAND…: runs it, and writes to FILE, of it and all its children:
 * the microseconds of CPU time that it was charged, in user mode and in the kernel,
 * if it waited for them; what it ended with, as the shell tells it; how many of the
 * kernel's ticks found it, and how many of them make a second.  The ticks are those
 * of the event kprobes/ticks.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/perf_event.h>
#include <linux/profil.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define EVENT	"/sys/kernel/tracing/events/kprobes/ticks/id"

static void fail(const char *what)
{
	fprintf(stderr, "measure: ");
	perror(what);
	exit(1);
}

static long long us(struct timeval time)
{
	return time.tv_sec * 1000000LL + time.tv_usec;
}

/* From the exec of @pid on, and of all that it forks then. */
static int count_ticks(pid_t pid)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.disabled = 1,
		.inherit = 1,
		.enable_on_exec = 1,
	};
	FILE *file = fopen(EVENT, "r");
	unsigned long id;
	int counter;

	if (!file || fscanf(file, "%lu", &id) != 1)
		fail(EVENT);
	fclose(file);
	attr.config = id;
	counter = syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (counter < 0)
		fail("perf_event_open");
	return counter;
}

static unsigned int ticks_per_second(void)
{
	struct profil_ioc_query query = { .size = sizeof(query) };
	int device = open("/dev/profil", O_RDWR | O_CLOEXEC);

	if (device < 0 || ioctl(device, PROFIL_IOC_QUERY, &query))
		fail("/dev/profil");
	close(device);
	return query.out_tick_hz;
}

int main(int argc, char **argv)
{
	int status, counter, gate[2];
	unsigned long long ticks;
	struct rusage usage;
	FILE *file;
	pid_t pid;
	char c;

	if (argc < 3) {
		fputs("usage: measure FILE COMMAND...\n", stderr);
		return 2;
	}
	if (pipe2(gate, O_CLOEXEC))
		fail("pipe2");
	pid = fork();
	if (pid < 0)
		fail("fork");
	if (!pid) {
		if (read(gate[0], &c, 1) == 1)
			execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	counter = count_ticks(pid);
	if (write(gate[1], "x", 1) != 1 || wait4(pid, &status, 0, &usage) != pid)
		fail(argv[2]);
	if (read(counter, &ticks, sizeof(ticks)) != sizeof(ticks))
		fail(EVENT);
	status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	file = fopen(argv[1], "w");
	if (!file || fprintf(file, "%lld %lld %d %llu %u\n", us(usage.ru_utime),
			     us(usage.ru_stime), status, ticks, ticks_per_second()) < 0 ||
	    fclose(file))
		fail(argv[1]);
	return status;
}
