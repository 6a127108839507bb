// SPDX-License-Identifier: GPL-2.0-only
/* A session of the kernel's: the only file that knows the device. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "clock.h"
#include "counts.h"
#include "refusal.h"
#include "say.h"
#include "session.h"

#define PROCESSES 4096
#define OBJECTS 4096

const char *const session_device = "/dev/profil";

struct session {
	int fd;
	const struct profil_session_page *page;
	size_t bytes;		/* of the mapping */
	unsigned long long period_ns;
	uint64_t began_ns;
	struct session *next;	/* of those that are open */
};

static struct session *sessions;

static int query_device(int fd, struct profil_ioc_query *query)
{
	*query = (struct profil_ioc_query) { .size = sizeof(*query) };
	return ioctl(fd, PROFIL_IOC_QUERY, query) ? -errno : 0;
}

int session_query(struct profil_ioc_query *query)
{
	int fd = open(session_device, O_RDONLY | O_CLOEXEC);
	int error;

	if (fd < 0)
		return -errno;
	error = query_device(fd, query);
	close(fd);
	return error;
}

static void choose_source(struct profil_ioc_session *ask, const struct profil_ioc_query *query,
			  unsigned int rate)
{
	ask->rate = rate;
	if (rate)
		refuse_rate(query, rate);
	if (!rate || !(query->out_session_sources & (1 << PROFIL_SOURCE_TIMER)))
		return;
	ask->source = PROFIL_SOURCE_TIMER;
	ask->jitter = 100;
}

static struct profil_ioc_session ask_for(const struct session_wish *wish)
{
	return (struct profil_ioc_session) {
		.size = sizeof(struct profil_ioc_session),
		.flags = (wish->user_only ? PROFIL_SESSION_F_USER_ONLY : 0) |
			 (wish->kernel ? PROFIL_SESSION_F_KERNEL : 0) |
			 (wish->system ? PROFIL_SESSION_F_SYSTEM : 0) |
			 (wish->per_process ? PROFIL_SESSION_F_PER_PROCESS : 0),
		.slots = wish->slots,
		.processes = PROCESSES,
		.objects = OBJECTS,
	};
}

int session_possible(const struct session_wish *wish)
{
	struct profil_ioc_session ask = ask_for(wish);
	int device = open(session_device, O_RDONLY | O_CLOEXEC), error;

	if (device < 0)
		return errno;
	error = ioctl(device, PROFIL_IOC_SESSION, &ask) ? errno : 0;
	if (!error)
		close(ask.out_fd);
	close(device);
	return error;
}

static int map(struct session *session, void *room)
{
	session->page = mmap(room, session->bytes, PROT_READ, MAP_SHARED | (room ? MAP_FIXED : 0),
			     session->fd, 0);
	return session->page == MAP_FAILED ? errno : 0;
}

/* The session that the kernel has answered with, mapped at @room, or anywhere. */
static struct session *take_session(const struct profil_ioc_session *ask,
				    unsigned long long period_ns, void *room)
{
	struct session *session = allocated(calloc(1, sizeof(*session)));
	int error;

	session->began_ns = clock_ns(CLOCK_MONOTONIC);
	session->fd = ask->out_fd;
	session->period_ns = period_ns;
	session->bytes = ask->out_bytes;
	session->next = sessions;
	sessions = session;
	error = map(session, room);
	if (error)
		die("the tables of the session cannot be mapped: %s; raise ulimit -v",
		    strerror(error));
	return session;
}

struct session *session_open(const struct session_wish *wish)
{
	struct profil_ioc_session ask = ask_for(wish);
	struct profil_ioc_query query;
	int device = open(session_device, O_RDONLY | O_CLOEXEC);
	int error;

	if (device < 0)
		die("%s cannot be opened: %s; profil check says what is missing", session_device,
		    strerror(errno));
	error = -query_device(device, &query);
	if (error)
		refuse(error);
	choose_source(&ask, &query, wish->rate);
	if (ioctl(device, PROFIL_IOC_SESSION, &ask))
		refuse_session(device, wish, &query, &ask, errno);
	close(device);
	return take_session(&ask, wish->rate ? 1000000000ULL / wish->rate : query.out_tick_ns,
			    NULL);
}

struct session *session_follow(struct session *former, const struct session_wish *wish)
{
	struct profil_ioc_session ask = ask_for(wish);
	/* once the former is stopped, there is no way back: its like is mapped where this was */
	void *room = mmap(NULL, former->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int error;

	if (room == MAP_FAILED)
		return NULL;
	error = ioctl(former->fd, PROFIL_IOC_SESSION, &ask) ? errno : 0;
	if (!error && ask.out_bytes == former->bytes)
		return take_session(&ask, former->period_ns, room);
	munmap(room, former->bytes);
	errno = error;
	return error ? NULL : take_session(&ask, former->period_ns, NULL);
}

int session_inherit(struct session *session)
{
	return map(session, NULL);
}

/* There is no mapping here: the kernel gives children none. */
void session_leave(const struct session *kept)
{
	for (struct session *session = sessions; session; session = session->next)
		if (session != kept)
			close(session->fd);
}

int session_fd(const struct session *session)
{
	return session->fd;
}

uint64_t session_began_ns(const struct session *session)
{
	return session->began_ns;
}

/* The kernel's own times: between them and what a program sees others may run. */
uint64_t session_length_ns(const struct session *session)
{
	uint64_t ended = __atomic_load_n(&session->page->ended_ns, __ATOMIC_RELAXED);

	return ended ? ended - session->page->began_ns :
		clock_ns(CLOCK_MONOTONIC) - session->began_ns;
}

const struct profil_session_page *session_mapping(const struct session *session)
{
	return session->page;
}

unsigned long long session_period_ns(const struct session *session)
{
	return session->period_ns;
}

int session_join(struct session *session)
{
	struct profil_ioc_join join = { .size = sizeof(join) };

	return ioctl(session->fd, PROFIL_IOC_JOIN, &join) ? errno : 0;
}

int session_attach(struct session *session, pid_t pid)
{
	struct profil_ioc_attach attach = { .size = sizeof(attach), .pid = pid };

	return ioctl(session->fd, PROFIL_IOC_ATTACH, &attach) ? errno : 0;
}

void session_stop(struct session *session)
{
	struct profil_ioc_stop stop = { .size = sizeof(stop) };

	ioctl(session->fd, PROFIL_IOC_STOP, &stop);
}

/*
 * The module opens no files for who may count a process, and not trace it.  Of those that are
 * still there by that name, this one may be one that the caller can come to.
 */
static int open_named(const struct session *session, unsigned int object, const char *path)
{
	struct profil_object_entry entry;
	int named = open(path, O_PATH | O_CLOEXEC), fd = -1;
	char name[sizeof("/proc/self/fd/") + 3 * sizeof(named)];
	struct stat st;

	if (named < 0)
		return -1;
	counts_object(session, object, &entry);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", named);
	/* nothing is opened before it is known what it is */
	if (!fstat(named, &st) && S_ISREG(st.st_mode) && st.st_ino == entry.ino &&
	    ((uint64_t)major(st.st_dev) << 20 | minor(st.st_dev)) == entry.dev)
		fd = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	close(named);
	return fd;
}

char *session_object(struct session *session, unsigned int object, int *fd)
{
	char *path = allocated(calloc(1, PATH_MAX));
	struct profil_ioc_object ask = {
		.size = sizeof(ask),
		.object = object,
		.out_fd = -1,
		.path_uptr = (uintptr_t)path,
		.path_len = PATH_MAX,
	};

	if (ioctl(session->fd, PROFIL_IOC_OBJECT, &ask))
		ask.out_fd = -1;
	if (ask.out_fd == -EACCES)
		ask.out_fd = open_named(session, object, path);
	*fd = ask.out_fd < 0 ? -1 : ask.out_fd;
	return path;
}

void session_close(struct session *session)
{
	struct session **at = &sessions;

	while (*at != session)
		at = &(*at)->next;
	*at = session->next;
	munmap((void *)session->page, session->bytes);
	close(session->fd);
	free(session);
}
