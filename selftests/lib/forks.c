// SPDX-License-Identifier: GPL-2.0-only
/*
 * To preload: forks where another thread of the program might fork, amid what the library
 * does:
 *
 *	FORK=write	in the first write of a file; the child exits
 *	FORK=open	whenever a file of /proc was opened; the parent is aborted if the child has
 *			a descriptor of its memory
 *	FORK=unmap	whenever memory was unmapped, which the child has for something else;
 *			it dumps, and the parent is aborted if that needs or unmaps the place
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
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

static int has_memory(void)
{
	for (int fd = 0; fd < 256; fd++) {
		char name[64], file[64] = "";
		ssize_t num;

		snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
		num = readlink(name, file, sizeof(file) - 1);
		if (num > 4 && !strncmp(file, "/proc/", 6) && !strcmp(file + num - 4, "/mem"))
			return 1;
	}
	return 0;
}

int open(const char *path, int flags, ...)
{
	int mode = 0, fd, status = 0;
	va_list args;
	pid_t pid;

	va_start(args, flags);
	if (flags & O_CREAT)
		mode = va_arg(args, int);
	va_end(args);
	fd = syscall(SYS_openat, AT_FDCWD, path, flags, mode);
	if (child || strncmp(path, "/proc/", 6) || !is_asked("open"))
		return fd;
	pid = fork();
	if (!pid) {
		child = 1;
		_exit(has_memory());
	}
	if (waitpid(pid, &status, 0) != pid || status)
		abort();
	return fd;
}

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
