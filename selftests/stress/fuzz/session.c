// SPDX-License-Identifier: GPL-2.0-only
/* Sessions: their descriptors, commands and tables. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "fuzz.h"

#define TABLE_PAGES	10	/* of the smallest session */

int session[SESSIONS];
static int last_machine = -1;	/* of which there are few: it may be another file by now */

/* Seldom something else than a session. */
int any_session(struct thread *t)
{
	int i, from = below(t, SESSIONS), file;

	if (once_in(t, 24))
		return any_descriptor(t);
	for (i = 0; i < SESSIONS; i++) {
		file = session[(from + i) % SESSIONS];
		if (file >= 0)
			break;
	}
	return file;
}

/* One session is there when a program begins. */
void open_sessions(void)
{
	struct profil_ioc_session args = {
		.size = sizeof(args), .slots = 1024, .processes = 16, .objects = 16,
	};
	int i;

	last_machine = -1;
	for (i = 0; i < SESSIONS; i++)
		session[i] = -1;
	if (!ioctl(descriptor[0], PROFIL_IOC_SESSION, &args))
		session[0] = args.out_fd;
}

/* A number that came through memory of others may be any, and lower ones are not ours. */
static bool is_own(int file)
{
	return file >= first_descriptor && file < first_descriptor + 1024;
}

static void replace_session(struct thread *t, int file)
{
	int *which = &session[below(t, SESSIONS)];
	int old = __atomic_exchange_n(which, file, __ATOMIC_RELAXED);

	/* While it has members, and is mapped. */
	if (is_own(old))
		CALL(t, close(old));
}

void op_session(struct thread *t)
{
	struct profil_ioc_session *args = (void *)t->args;
	bool machine;
	long ret;
	int file;

	*args = (struct profil_ioc_session){
		.size = sizeof(*args),
		.flags = once_in(t, 2) ? below(t, 32) : 0,
		.slots = pick(t, 1024, 1024, 1024, 1024, 2048, 8192),
		.processes = pick(t, 16, 16, 16, 17, 255),
		.objects = pick(t, 16, 16, 16, 64, 1024),
		.rate = once_in(t, 3) ? pick(t, 1, 3, 100, 249, 250, 251) : 0,
		.out_fd = -1,
	};
	if (once_in(t, 6)) {
		args->source = PROFIL_SOURCE_TIMER;
		args->rate = pick(t, 1, 100, 1000, 10000);
		args->jitter = pick(t, 0, 0, 50, 100, 101);
	}
	if (once_in(t, 24))
		args->slots = pick(t, 0, 512, 1000, 1025, 1 << 20, 1 << 21, 1U << 31);
	if (once_in(t, 24))
		args->processes = pick(t, 0, 15, 4096, 65536, 65537, UINT_MAX);
	if (once_in(t, 24))
		args->objects = pick(t, 0, 8, 48, 65536, 131072, UINT_MAX);
	/* Any word of it, or none. */
	if (once_in(t, 16))
		((__u32 *)args)[1 + below(t, sizeof(*args) / 4 - 1)] = wild(t);
	if (once_in(t, 3)) {
		args->flags = PROFIL_SESSION_F_SYSTEM | pick(t, 0, 0, PROFIL_SESSION_F_KERNEL);
		args->rate = 0;
		args->source = 0;
		args->jitter = 0;
	}
	/* After another one, half of those of the whole machine. */
	machine = args->flags & PROFIL_SESSION_F_SYSTEM;
	file = !machine || once_in(t, 2) ? any_descriptor(t) :
	       once_in(t, 3) ? any_session(t) : last_machine;
	ret = command(t, file, PROFIL_IOC_SESSION, sizeof(*args));
	did(DEED_REFUSED, machine && ret && errno == EPERM);
	if (ret || !is_own(args->out_fd))
		return;
	did(args->source ? DEED_TIMER : DEED_MACHINE, machine || args->source);
	did(DEED_FOLLOWED, machine && is_session(file));
	if (machine)
		last_machine = args->out_fd;
	replace_session(t, args->out_fd);
}

void op_join(struct thread *t)
{
	struct profil_ioc_join join = { .size = sizeof(join), .flags = mostly(t, 0) };

	memcpy(t->args, &join, sizeof(join));
	did(DEED_JOINED, !command(t, any_session(t), PROFIL_IOC_JOIN, sizeof(join)));
}

void attach(struct thread *t, pid_t pid)
{
	struct profil_ioc_attach args = {
		.size = sizeof(args),
		.flags = mostly(t, 0),
		.pid = mostly(t, pid),
		.__reserved = once_in(t, 50),
	};

	memcpy(t->args, &args, sizeof(args));
	did(DEED_ATTACHED, !command(t, any_session(t), PROFIL_IOC_ATTACH, sizeof(args)));
}

void op_object(struct thread *t)
{
	struct profil_ioc_object *args = (void *)t->args;
	char byte;

	*args = (struct profil_ioc_object){
		.size = sizeof(*args),
		.flags = mostly(t, 0),
		.object = mostly(t, PROFIL_OBJECT_FILES + pick(t, 0, 0, 0, 1, 2, 3)),
		.path_uptr = (unsigned long)t->args + PAGE,
		.path_len = pick(t, 0, 1, 9, 10, 11, 64, PATH_MAX, UINT_MAX),
		.out_fd = -1,
	};
	if (once_in(t, 8))
		args->object = pick(t, 0, 1, 5, 15, 16, 63, 64, 1024);
	if (once_in(t, 4))
		args->path_uptr = mostly(t, ARENA + below(t, ARENA_BYTES));
	if (command(t, any_session(t), PROFIL_IOC_OBJECT, sizeof(*args)) ||
	    !is_own(args->out_fd))
		return;
	did(DEED_OPENED, true);
	CALL(t, read(args->out_fd, &byte, sizeof(byte)));
	CALL(t, close(args->out_fd));
}

/* It is to be read only; not even by who may write to all memory of his own. */
static void write_table(struct thread *t, void *at)
{
	int file = open("/proc/self/mem", O_RDWR | O_CLOEXEC);

	if (file < 0)
		return;
	CALL(t, pwrite(file, "x", 1, (off_t)at));
	close(file);
}

/* In the arena, where all the rest that can be done with memory is done with it. */
void op_table(struct thread *t)
{
	int prot = once_in(t, 12) ? PROT_READ | pick(t, PROT_WRITE, PROT_EXEC) : PROT_READ;
	int flags = pick(t, MAP_SHARED, MAP_SHARED, MAP_PRIVATE) |
		    pick(t, 0, 0, MAP_POPULATE);
	size_t len = pick(t, 1, 1, TABLE_PAGES, TABLE_PAGES, TABLE_PAGES - 1,
			  TABLE_PAGES + 1, 30) * PAGE;
	off_t offset = mostly(t, 0);
	void *at = arena_page(t), *map;

	switch (below(t, 8)) {
	case 0:
		map = (void *)FAULTY(t, (long)mmap(NULL, len, prot, flags, any_session(t), 0));
		if (map == MAP_FAILED)
			return;
		at = (void *)CALL(t, (long)mremap(map, len, len, MREMAP_MAYMOVE | MREMAP_FIXED,
						  ARENA));
		did(DEED_MOVED, at != MAP_FAILED);
		if (at == MAP_FAILED)
			CALL(t, munmap(map, len));
		break;
	case 1:
		write_table(t, at);
		break;
	case 2:
		/* The beginning of one, or of what is there. */
		touch(t->args, at, PAGE);
		break;
	default:
		if (len > ARENA + ARENA_BYTES - (unsigned long)at)
			at = (void *)ARENA;
		did(DEED_MAPPED, FAULTY(t, (long)mmap(at, len, prot, flags | MAP_FIXED,
						      any_session(t), offset)) != -1);
	}
}

static void poll_session(struct thread *t)
{
	struct pollfd wait = { .fd = any_session(t), .events = pick(t, 0, POLLIN, POLLOUT) };
	struct epoll_event event = { .events = pick(t, EPOLLHUP, EPOLLIN | EPOLLET) };
	int file;

	if (once_in(t, 2)) {
		if (CALL(t, poll(&wait, 1, below(t, 3))) == 1)
			did(DEED_POLLED, wait.revents & POLLHUP);
		return;
	}
	/* Its wait may be there for longer than the session's descriptor. */
	file = epoll_create1(EPOLL_CLOEXEC);
	CALL(t, epoll_ctl(file, EPOLL_CTL_ADD, wait.fd, &event));
	if (once_in(t, 3))
		replace_session(t, -1);
	CALL(t, epoll_wait(file, &event, 1, below(t, 2)));
	close(file);
}

static void stop_session(struct thread *t)
{
	struct profil_ioc_stop stop = {
		.size = sizeof(stop),
		.flags = mostly(t, 0),
		.cookie = once_in(t, 8) ? wild(t) : 0,
	};

	memcpy(t->args, &stop, sizeof(stop));
	command(t, any_session(t), PROFIL_IOC_STOP, sizeof(stop));
}

void op_other_of_session(struct thread *t)
{
	char byte = 0;

	switch (below(t, 8)) {
	case 0:
		stop_session(t);
		break;
	case 1:
	case 2:
		replace_session(t, once_in(t, 2) ? -1 : CALL(t, dup(any_session(t))));
		break;
	case 3:
		command(t, any_session(t), once_in(t, 4) ? wild(t) :
			_IO(PROFIL_IOC_MAGIC, below(t, 10)), 40);
		break;
	case 4:
		CALL(t, read(any_session(t), &byte, 1));
		CALL(t, lseek(any_session(t), 1, SEEK_SET));
		break;
	default:
		poll_session(t);
	}
}
