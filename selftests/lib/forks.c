// SPDX-License-Identifier: GPL-2.0-only
/*
 * To preload: forks where another thread of the program might fork, amid what the library
 * does:
 *
 *	FORK=write	in the first write of a file; the child exits
 *	FORK=unmap	whenever memory was unmapped, which the child has for something else;
 *			it dumps, and the parent is aborted if that needs or unmaps the place
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#pragma weak profil_dump
int profil_dump(void);

static int is_asked(const char *what)
{
	const char *asked = getenv("FORK");

	return asked && !strcmp(asked, what);
}

ssize_t write(int fd, const void *buf, size_t num)
{
	static int forked;
	pid_t pid;

	if (fd > STDERR_FILENO && !forked && is_asked("write")) {
		forked = 1;
		pid = fork();
		if (!pid)
			exit(0);
		waitpid(pid, NULL, 0);
	}
	return syscall(SYS_write, fd, buf, num);
}

static int child;

static int dump_beside(void *place, size_t bytes)
{
	child = 1;
	if (mmap(place, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
		 -1, 0) != place)
		return 2;
	/* Before there is a profile it fails. */
	profil_dump();
	/* That it is still there. */
	return msync(place, bytes, MS_ASYNC) != 0;
}

static void unmapped(void *place, size_t bytes)
{
	int status = 0;
	pid_t pid;

	if (child || !is_asked("unmap") || !profil_dump)
		return;
	pid = fork();
	if (!pid)
		_exit(dump_beside(place, bytes));
	if (waitpid(pid, &status, 0) != pid || status)
		abort();
}

int munmap(void *place, size_t bytes)
{
	int ret = syscall(SYS_munmap, place, bytes);

	if (!ret)
		unmapped(place, bytes);
	return ret;
}

void *mremap(void *old, size_t old_bytes, size_t new_bytes, int flags, ...)
{
	void *place = (void *)syscall(SYS_mremap, old, old_bytes, new_bytes, flags, NULL);

	if (place != MAP_FAILED && place != old)
		unmapped(old, old_bytes);
	return place;
}
