// SPDX-License-Identifier: GPL-2.0-only
/* Descriptors: of the device, of sessions that are passed on, and of userfaults. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <linux/userfaultfd.h>

#include "fuzz.h"

void op_descriptor(struct thread *t)
{
	int *which = &descriptor[below(t, DESCRIPTORS)];
	int mode = pick(t, O_RDWR, O_RDWR, O_RDONLY, O_WRONLY, O_PATH);
	int file;

	if (once_in(t, 3)) {
		file = CALL(t, dup(any_descriptor(t)));
		if (file >= 0)
			CALL(t, close(file));
		return;
	}
	CALL(t, close(*which));
	*which = CALL(t, open("/dev/profil", mode | O_CLOEXEC));
}

bool send_file(int to, int file)
{
	char space[CMSG_SPACE(sizeof(file))] = { }, byte = 0;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr message = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = space,
		.msg_controllen = sizeof(space),
	};
	struct cmsghdr *control = CMSG_FIRSTHDR(&message);

	control->cmsg_level = SOL_SOCKET;
	control->cmsg_type = SCM_RIGHTS;
	control->cmsg_len = CMSG_LEN(sizeof(file));
	memcpy(CMSG_DATA(control), &file, sizeof(file));
	return sendmsg(to, &message, MSG_DONTWAIT) == 1;
}

int receive_file(int from, int flags)
{
	char space[CMSG_SPACE(sizeof(int))] = { }, byte;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr message = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = space,
		.msg_controllen = sizeof(space),
	};
	int file = -1;

	if (recvmsg(from, &message, flags) == 1 && CMSG_FIRSTHDR(&message))
		memcpy(&file, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(file));
	return file;
}

void op_pass(struct thread *t)
{
	struct profil_ioc_stats stats = { .size = sizeof(stats) };
	int ends[2], file = once_in(t, 2) ? any_session(t) : any_descriptor(t);

	/* To another process, which may be the last to have it, or to this one. */
	if (once_in(t, 3)) {
		CALL(t, send_file(slot->server, file));
		return;
	}
	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends))
		return;
	if (CALL(t, send_file(ends[0], file))) {
		file = receive_file(ends[1], MSG_DONTWAIT);
		CALL(t, ioctl(file, PROFIL_IOC_STATS, &stats));
		if (file >= 0)
			CALL(t, close(file));
	}
	close(ends[0]);
	close(ends[1]);
}

/* The server lets go of it at the latest, whatever it does with the faults. */
void op_userfault(struct thread *t)
{
	int file = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK |
			   (once_in(t, 4) ? UFFD_USER_MODE_ONLY : 0));
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = {
		.range.start = (unsigned long)arena_page(t),
		.mode = once_in(t, 4) ? UFFDIO_REGISTER_MODE_WP :
			UFFDIO_REGISTER_MODE_MISSING,
	};

	if (file < 0)
		return;
	reg.range.len = arena_len(t, (void *)(unsigned long)reg.range.start);
	if (!ioctl(file, UFFDIO_API, &api)) {
		CALL(t, madvise((void *)(unsigned long)reg.range.start, reg.range.len,
				MADV_DONTNEED));
		if (send_file(slot->server, file))
			CALL(t, ioctl(file, UFFDIO_REGISTER, &reg));
	}
	close(file);
}

/* Whose mapping begins with its page; the device has none. */
bool is_session(int file)
{
	void *map = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, file, 0);
	bool is = map != MAP_FAILED;

	if (is)
		munmap(map, PAGE);
	return is;
}

/* What another process does with a session that it was passed, which may be of nobody else. */
static void use_session(int file, unsigned int how)
{
	struct profil_ioc_session session = {
		.size = sizeof(session), .flags = PROFIL_SESSION_F_SYSTEM, .slots = 1024,
		.processes = 16, .objects = 16,
	};
	struct profil_ioc_object object = { .size = sizeof(object), .object = PROFIL_OBJECT_FILES };
	struct profil_ioc_stop stop = { .size = sizeof(stop) };
	void *map;

	if (!is_session(file))
		return;
	switch (how % 4) {
	case 0:
		did(DEED_STOPPED, !ioctl(file, PROFIL_IOC_STOP, &stop));
		break;
	case 1:
		if (!ioctl(file, PROFIL_IOC_SESSION, &session))
			close(session.out_fd);
		break;
	case 2:
		if (!ioctl(file, PROFIL_IOC_OBJECT, &object) && object.out_fd >= 0)
			close(object.out_fd);
		break;
	default:
		/* It is closed before it is unmapped. */
		map = mmap(NULL, PAGE, PROT_READ, MAP_SHARED | MAP_POPULATE, file, 0);
		close(file);
		if (map != MAP_FAILED)
			munmap(map, PAGE);
	}
}

/*
 * Serves the userfaults of one slot, for a while each: gives a page, or does
 * nothing, and closes.  Sessions that come are used.  What else comes only waits here.
 */
void serve(int from)
{
	struct uffdio_zeropage zero;
	struct uffd_msg message;
	struct pollfd wait;
	unsigned int n = 0;
	int polls;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		wait.fd = receive_file(from, 0);
		wait.events = POLLIN;
		if (wait.fd < 0)
			_exit(0);
		use_session(wait.fd, n);
		for (polls = 0; polls < 5 && n++ % 7; polls++) {
			if (poll(&wait, 1, 10) <= 0 ||
			    read(wait.fd, &message, sizeof(message)) != sizeof(message))
				continue;
			zero = (struct uffdio_zeropage){
				.range.start = message.arg.pagefault.address & -PAGE,
				.range.len = PAGE,
			};
			ioctl(wait.fd, UFFDIO_ZEROPAGE, &zero);
		}
		close(wait.fd);
	}
}
