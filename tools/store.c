// SPDX-License-Identifier: GPL-2.0-only
/* The file of a profile: bytes, compressed, under their name only when they are whole. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include "machine.h"
#include "pack.h"
#include "say.h"
#include "store.h"
#include "unpack.h"
#include "whole.h"

/* A full table of a session, with long names, is below this. */
#define BYTES_MAX ((size_t)128 << 20)
#define GZIP 16		/* added to zlib's bits of a window: gzip's header, without a time */
#define LEVEL 3		/* half of the work of level 6, and 3 % more bytes */

static unsigned char *compress_bytes(const unsigned char *bytes, size_t length, size_t *out_length)
{
	z_stream stream = { 0 };
	unsigned char *out;
	size_t room;

	if (deflateInit2(&stream, LEVEL, Z_DEFLATED, MAX_WBITS + GZIP, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		allocated(NULL);
	room = deflateBound(&stream, length);
	out = allocated(malloc(room));
	stream.next_in = (unsigned char *)bytes;
	stream.avail_in = length;
	stream.next_out = out;
	stream.avail_out = room;
	deflate(&stream, Z_FINISH);
	*out_length = stream.total_out;
	deflateEnd(&stream);
	return out;
}

void store_keep(const char *file)
{
	static bool kept;
	struct stat st;
	char *old;

	if (kept)
		return;
	kept = true;
	if (strcmp(file, STORE_FILE) || (!stat(file, &st) && !S_ISREG(st.st_mode)))
		return;
	if (asprintf(&old, "%s.old", file) < 0)
		allocated(NULL);
	/* where it cannot be renamed, it cannot be replaced, and that is said */
	rename(file, old);
	free(old);
}

/* What whole_write() needs: a file can be made beside this one, whose name is longer. */
static bool can_replace(const char *file)
{
	char *beside, *slash;
	bool can;
	int error;

	if (asprintf(&beside, "%s.XXXXXX", file) < 0)
		allocated(NULL);
	can = !access(beside, F_OK) || errno != ENAMETOOLONG;
	slash = strrchr(beside, '/');
	if (can && slash)
		slash[1] = '\0';
	can = can && !access(slash ? beside : ".", W_OK | X_OK);
	error = errno;
	free(beside);
	errno = error;
	return can;
}

void store_check(const char *file)
{
	struct stat st;
	bool there = !stat(file, &st), may;

	if (!file[0])
		die("the profile cannot be written to a file without a name; name one with -o");
	if (there && S_ISDIR(st.st_mode))
		die("%s is a folder; name a file in it with -o", file);
	if (!strcmp(file, "-"))
		may = true;
	else if (there && !S_ISREG(st.st_mode))
		may = !access(file, W_OK);
	else
		may = can_replace(file);
	if (!may)
		die("the profile cannot be written to %s: %s; choose another file with -o", file,
		    strerror(errno));
}

unsigned char *store_pack(struct profile *profile, size_t *length)
{
	size_t raw_length;
	unsigned char *raw = profile_pack(profile, &raw_length);
	unsigned char *bytes = compress_bytes(raw, raw_length, length);

	free(raw);
	return bytes;
}

/* Also where a part of the time was left out, and with it what is known of all CPUs. */
static bool is_of_machine(const struct profile *profile)
{
	for (size_t i = 0; i < profile->num_samples; i++)
		if (profile->samples[i].unit[0])
			return true;
	return machine_is(profile);
}

mode_t store_guard(const struct profile *profile)
{
	mode_t mask = umask(077);

	if (!is_of_machine(profile))
		umask(mask);
	return mask;
}

long long store_write(struct profile *profile, const char *file)
{
	size_t length;
	unsigned char *bytes = store_pack(profile, &length);
	bool written;
	mode_t mask;

	store_keep(file);
	mask = store_guard(profile);
	written = whole_write(file, bytes, length);
	umask(mask);
	if (!written)
		say("the profile cannot be written to %s: %s; choose another file with -o",
		    file, strerror(errno));
	free(bytes);
	return written ? (long long)length : -1;
}

static void corrupt(const char *file, const char *why)
{
	die("%s is no profile: %s; make one with profil run", file, why);
}

static _Noreturn void unreadable(const char *file, int error)
{
	if (error == EISDIR && strcmp(file, "-"))
		die("%s is a folder; name files in it, as in %s/*.pb.gz, or let profil report read it, or profil diff --in %s FROM..TO a span of it",
		    file, file, file);
	die("%s cannot be read: %s", file, strerror(error));
}

/* What gzread() gives, whether it was compressed or not. */
static unsigned char *read_bytes(const char *file, size_t *length)
{
	bool standard = !strcmp(file, "-");
	int fd = standard ? dup(STDIN_FILENO) : open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	unsigned char *bytes = NULL;
	size_t room = 0;
	gzFile in;
	int n;

	if (fd < 0)
		die("%s cannot be read: %s; %s", file, strerror(errno),
		    errno == EACCES ? "sudo profil reads what sudo profil made" :
				      "profil run makes one");
	in = allocated(gzdopen(fd, "rb"));
	*length = 0;
	do {
		bytes = more(bytes, &room, *length + 1, 1);
		n = gzread(in, bytes + *length, room - *length);
		if (n > 0)
			*length += n;
	} while (n > 0 && *length <= BYTES_MAX);
	if (n < 0) {
		int error;
		const char *why = gzerror(in, &error);

		if (error == Z_ERRNO)
			unreadable(file, errno);
		corrupt(file, why);
	}
	if (*length > BYTES_MAX)
		corrupt(file, "it has more than 128 MiB");
	if (gzclose(in) != Z_OK)
		corrupt(file, "its end is missing");
	if (!*length)
		corrupt(file, "it is empty");
	return bytes;
}

void store_read(struct profile *profile, const char *file)
{
	size_t length;
	unsigned char *bytes = read_bytes(file, &length);
	const char *wrong = profile_unpack(profile, bytes, length);

	if (wrong)
		corrupt(file, wrong);
	free(bytes);
}
