// SPDX-License-Identifier: GPL-2.0-only
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>
#include "fetch.h"

#define ID_MAX 64

/* What a message with one descriptor has beside its byte. */
union control {
	struct cmsghdr head;
	char bytes[CMSG_SPACE(sizeof(int))];
};

static bool send_file(int socket, int fd)
{
	union control control = { 0 };
	char byte = 0;
	struct iovec bytes = { &byte, 1 };
	struct msghdr message = { .msg_iov = &bytes, .msg_iovlen = 1 };
	struct cmsghdr *head;

	if (fd >= 0) {
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
		head = CMSG_FIRSTHDR(&message);
		head->cmsg_level = SOL_SOCKET;
		head->cmsg_type = SCM_RIGHTS;
		head->cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(head), &fd, sizeof(fd));
	}
	return sendmsg(socket, &message, MSG_NOSIGNAL) == 1;
}

static int receive_file(int socket)
{
	union control control = { 0 };
	char byte;
	struct iovec bytes = { &byte, 1 };
	struct msghdr message = {
		.msg_iov = &bytes, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *head;
	int fd = -1;
	ssize_t n;

	do {
		n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	head = n == 1 ? CMSG_FIRSTHDR(&message) : NULL;
	if (head && head->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(head), sizeof(fd));
	return fd;
}

/* Credentials that go to a server without TLS: in its address, or as headers of the user. */
static bool are_in_clear(const char *servers)
{
	static const char *const schemes[] = { "https:", "file:" };
	bool headers = getenv("DEBUGINFOD_HEADERS_FILE");

	for (size_t n; servers += strspn(servers, " "), n = strcspn(servers, " "); servers += n) {
		bool clear = true;

		for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++)
			clear = clear && strncasecmp(servers, schemes[i], strlen(schemes[i]));
		if (clear && (headers || memchr(servers, '@', n)))
			return true;
	}
	return false;
}

/* A proxy could read them.  By https, it sees nothing but the name of the server. */
static void leave_out_proxies(void)
{
	unsetenv("http_proxy");
	unsetenv("all_proxy");
	unsetenv("ALL_PROXY");
}

void fetch_serve(int socket)
{
	/* it need not be there, nor its headers */
	void *library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
	void *(*begin)(void) = library ? dlsym(library, "debuginfod_begin") : NULL;
	int (*find)(void *client, const unsigned char *id, int length, char **path) =
		library ? dlsym(library, "debuginfod_find_debuginfo") : NULL;
	void *client = begin ? begin() : NULL;
	unsigned char id[ID_MAX];
	ssize_t n;

	if (are_in_clear(getenv("DEBUGINFOD_URLS")))
		leave_out_proxies();
	while ((n = read(socket, id, sizeof(id))) > 0) {
		char *path = NULL;
		int got = client && find ? find(client, id, n, &path) : -1, fd = -1;

		/* that of a file that has just come can be written to */
		if (got >= 0) {
			close(got);
			fd = open(path, O_RDONLY | O_CLOEXEC);
			free(path);
		}
		if (!send_file(socket, fd))
			break;
		if (fd >= 0)
			close(fd);
	}
}

int fetch_file(int socket, const void *id, size_t length)
{
	if (socket < 0 || !length || length > ID_MAX || write(socket, id, length) < 0)
		return -1;
	return receive_file(socket);
}
