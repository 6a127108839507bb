// SPDX-License-Identifier: GPL-2.0-only
/*
 * To preload: tells stderr what of the environment the library reads where it may be in
 * change: in another thread than the first, and in what a signal interrupts, which here is
 * all after the first kill().
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile int interrupted;

int kill(pid_t pid, int number)
{
	interrupted = 1;
	return syscall(SYS_kill, pid, number);
}

char *getenv(const char *name)
{
	size_t len = strlen(name);

	if ((interrupted || gettid() != getpid()) &&
	    (!strncmp(name, "PROFIL_", 7) || !strncmp(name, "GMON_", 5)))
		dprintf(STDERR_FILENO, "reads %s\n", name);
	for (char **at = environ; *at; at++)
		if (!strncmp(*at, name, len) && (*at)[len] == '=')
			return *at + len + 1;
	return NULL;
}

char *secure_getenv(const char *name)
{
	return getenv(name);
}
