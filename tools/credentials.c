// SPDX-License-Identifier: GPL-2.0-only
/* What a server wants to know of who pushes, and labels of what is pushed. */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "push.h"
#include "say.h"

#define LENGTH_MAX 4096

/* Those of this machine see no network. */
static bool is_safe(const char *url)
{
	static const char *const safe[] = {
		"https://", "http://localhost", "http://127.0.0.1", "http://[::1]",
	};

	for (size_t i = 0; i < sizeof(safe) / sizeof(safe[0]); i++) {
		size_t length = strlen(safe[i]);

		if (!strncmp(url, safe[i], length) && (!i || strchr(":/", url[length])))
			return true;
	}
	return false;
}

static char *read_line(const char *file, int fd)
{
	char *line = allocated(calloc(1, LENGTH_MAX + 1));
	ssize_t n = read(fd, line, LENGTH_MAX);

	if (n < 0)
		die("the credentials in %s cannot be read: %s", file, strerror(errno));
	line[strcspn(line, "\r\n")] = '\0';
	if (!line[0] || n == LENGTH_MAX)
		die("the credentials in %s are none: one line, USER:PASSWORD or a token", file);
	for (const char *p = line; *p; p++)
		if (!isprint((unsigned char)*p))
			die("the credentials in %s are none: one line, USER:PASSWORD or a token",
			    file);
	return line;
}

static char *read_credentials(const char *file, bool own, const char *url)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;
	char *line;

	if (fd < 0 && errno == EACCES)
		die("the credentials in %s cannot be read: %s; sudo chown %u %s", file,
		    strerror(errno), geteuid(), file);
	if (fd < 0 || fstat(fd, &st))
		die("the credentials in %s cannot be read: %s", file, strerror(errno));
	if (!S_ISREG(st.st_mode))
		die("the credentials in %s cannot be read: it is no file", file);
	/* systemd sees to those that it brings */
	if (own && st.st_uid != geteuid() && st.st_uid)
		die("the credentials in %s belong to another user; sudo chown %u %s", file,
		    geteuid(), file);
	if (own && st.st_mode & 077)
		die("the credentials in %s can be read by others; chmod 600 %s", file, file);
	if (!is_safe(url))
		die("credentials are sent by https alone, and --push says %s", url);
	line = read_line(file, fd);
	close(fd);
	return line;
}

char *push_credentials(const char *file, const char *url)
{
	const char *folder = getenv("CREDENTIALS_DIRECTORY");
	char *path, *credentials = NULL;

	if (file)
		return read_credentials(file, true, url);
	if (!folder)
		return NULL;
	if (asprintf(&path, "%s/push", folder) < 0)
		allocated(NULL);
	if (!access(path, F_OK))
		credentials = read_credentials(path, false, url);
	free(path);
	return credentials;
}

/* Names of labels, and values in which nothing ends a label. */
static bool is_label(const char *label)
{
	size_t name = strspn(label, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");

	if (!name || label[name] != '=' || !label[name + 1] || isdigit((unsigned char)label[0]))
		return false;
	for (const char *p = label + name + 1; *p; p++)
		if (!isprint((unsigned char)*p) || strchr("{},=\"", *p))
			return false;
	return true;
}

bool push_label(char **labels, const char *label)
{
	char *longer;

	if (!is_label(label))
		return false;
	if (asprintf(&longer, "%s%s%s", *labels ? *labels : "", *labels ? "," : "", label) < 0)
		allocated(NULL);
	free(*labels);
	*labels = longer;
	return true;
}
