// SPDX-License-Identifier: GPL-2.0-only
/*
 * Between tools/session.c and the system: a device that refuses, for tests of what is said
 * then without the module.  The environment has an errno of each command:
 *
 *   REFUSE_OPEN, REFUSE_SESSION, REFUSE_JOIN, REFUSE_FORK
 *   REFUSE_SLOTS		the first one is for sessions of more slots than this
 *   REFUSE_FLAGS		PROFIL_SESSION_F_* that the module does not know
 *   REFUSE_TICKS		not 0: there are CPUs without a tick
 *   REFUSE_MAPS		while there is a file of this name, nothing can be mapped
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include "session.h"

pid_t __real_fork(void);
pid_t __wrap_fork(void);
int __real_open(const char *path, int flags, ...);
void *__real_mmap(void *at, size_t bytes, int prot, int flags, int fd, off_t offset);
int __real_ioctl(int fd, unsigned long command, void *data);
int __wrap_open(const char *path, int flags, ...);
void *__wrap_mmap(void *at, size_t bytes, int prot, int flags, int fd, off_t offset);
int __wrap_ioctl(int fd, unsigned long command, void *data);

static unsigned int number(const char *name)
{
	const char *text = getenv(name);

	return text ? strtoul(text, NULL, 10) : 0;
}

int __wrap_open(const char *path, int flags, ...)
{
	va_list args;
	int mode;

	va_start(args, flags);
	mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(args, int) : 0;
	va_end(args);
	errno = number("REFUSE_OPEN");
	if (errno && !strcmp(path, session_device))
		return -1;
	return __real_open(strcmp(path, session_device) ? path : "/dev/null", flags, mode);
}

void *__wrap_mmap(void *at, size_t bytes, int prot, int flags, int fd, off_t offset)
{
	const char *refused = getenv("REFUSE_MAPS");

	/* where another mapping makes way for it, there is no more than before */
	if (!refused || access(refused, F_OK) || flags & MAP_FIXED)
		return __real_mmap(at, bytes, prot, flags, fd, offset);
	errno = ENOMEM;
	return MAP_FAILED;
}

pid_t __wrap_fork(void)
{
	errno = number("REFUSE_FORK");
	return errno ? -1 : __real_fork();
}

static int query(struct profil_ioc_query *query)
{
	query->out_abi = PROFIL_ABI;
	query->out_tick_ns = 4000000;
	query->out_tick_hz = 250;
	query->out_session_flags = 0x1f & ~number("REFUSE_FLAGS");
	query->out_features = number("REFUSE_TICKS") ? PROFIL_FEATURE_NOHZ_FULL : 0;
	query->out_session_sources = 1 << PROFIL_SOURCE_TICK;
	return 0;
}

static int make(struct profil_ioc_session *ask)
{
	errno = number("REFUSE_SESSION");
	if (ask->flags & number("REFUSE_FLAGS"))
		errno = EOPNOTSUPP;
	if (errno && ask->slots > number("REFUSE_SLOTS"))
		return -1;
	ask->out_bytes = sysconf(_SC_PAGESIZE);
	ask->out_fd = memfd_create("session", MFD_CLOEXEC);
	return ftruncate(ask->out_fd, ask->out_bytes);
}

int __wrap_ioctl(int fd, unsigned long command, void *data)
{
	switch (command) {
	case PROFIL_IOC_QUERY:
		return query(data);
	case PROFIL_IOC_SESSION:
		return make(data);
	case PROFIL_IOC_JOIN:
		errno = number("REFUSE_JOIN");
		return errno ? -1 : 0;
	case PROFIL_IOC_STOP:
		return 0;
	default:
		return __real_ioctl(fd, command, data);
	}
}
