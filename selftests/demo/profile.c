// SPDX-License-Identifier: GPL-2.0-only
/* Writes a profile: see profile.h for the format. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include "profile.h"

#define NS 1000000000ULL

/* A stream without malloc; after an error it swallows everything. */
struct out {
	int fd;
	int err;
	size_t len;
	char buf[PATH_MAX * 2];
};

static void out_flush(struct out *out)
{
	size_t done = 0;

	while (!out->err && done < out->len) {
		ssize_t n = write(out->fd, out->buf + done, out->len - done);

		if (n >= 0)
			done += n;
		else if (errno != EINTR)
			out->err = errno;
	}
	out->len = 0;
}

static void __printf(2, 3) out_line(struct out *out, const char *format, ...)
{
	char *line = out->buf + out->len;
	size_t room = sizeof(out->buf) / 2;
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(line, room, format, args);
	va_end(args);

	if (len < 0 || (size_t)len >= room)
		out->err = ENAMETOOLONG;
	else
		out->len += len;
	if (out->len >= sizeof(out->buf) / 2)
		out_flush(out);
}

/* Adds the clocks as they are now; subtracting goes through zero and back. */
static void add_clocks(struct profile_run *run, __u64 sign)
{
	struct timespec now;
	struct rusage used;

	clock_gettime(CLOCK_MONOTONIC, &now);
	getrusage(RUSAGE_SELF, &used);
	run->wall_ns += sign * (now.tv_sec * NS + now.tv_nsec);
	run->user_ns += sign * (used.ru_utime.tv_sec * NS + used.ru_utime.tv_usec * 1000);
	run->system_ns += sign * (used.ru_stime.tv_sec * NS + used.ru_stime.tv_usec * 1000);
}

void profile_begin(struct profile_run *run, unsigned int rate)
{
	memset(run, 0, sizeof(*run));
	run->rate = rate;
	profile_continue(run);
}

void profile_continue(struct profile_run *run)
{
	add_clocks(run, -1);
}

int profile_end(struct profile_run *run)
{
	struct profil_ioc_query query = { .size = sizeof(query) };

	add_clocks(run, 1);
	run->stats.size = sizeof(run->stats);
	if (profil_stats(&run->stats) || profil_query(&query))
		return -1;
	run->tick_ns = query.out_tick_ns;
	return 0;
}

static __u64 bin(const struct profile_object *object, size_t i)
{
	if (object->width == 2)
		return ((const __u16 *)object->bins)[i];
	return ((const __u32 *)object->bins)[i];
}

/* Returns the samples of the object. */
static __u64 write_object(struct out *out, const struct profile_object *object)
{
	__u64 address = object->start - object->bias;
	char target[PATH_MAX];
	const char *path = object->path;
	__u64 sum = 0;
	ssize_t len;

	if (!strcmp(path, "/proc/self/exe")) {
		len = readlink(path, target, sizeof(target) - 1);
		if (len > 0) {
			target[len] = 0;
			path = target;
		}
	}
	for (size_t i = 0; i < object->num; i++) {
		__u64 samples = bin(object, i);

		if (!samples)
			continue;
		if (!sum)
			out_line(out, "object %s\n", path);
		out_line(out, "%llx %llu\n", address + 2 * i, samples);
		sum += samples;
	}
	return sum;
}

/* As the kernel shows it, cut to a length that is good for a title. */
static void write_command(struct out *out)
{
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	char text[200];
	ssize_t len = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	while (len > 0 && !text[len - 1])
		len--;
	if (len < 0)
		len = 0;
	for (ssize_t i = 0; i < len; i++)
		if ((unsigned char)text[i] < ' ')
			text[i] = ' ';
	out_line(out, "command %.*s\n", (int)len, text);
}

static void write_all(struct out *out, const struct profile_run *run,
		      const struct profile_object *objects, size_t num)
{
	__u64 sum = 0;

	out_line(out, PROFILE_HEADER "\n");
	write_command(out);
	out_line(out, "pid %d\nrate %u\ntick_ns %llu\n", getpid(), run->rate, run->tick_ns);
	out_line(out, "wall_ns %llu\nuser_ns %llu\nsystem_ns %llu\n",
		 run->wall_ns, run->user_ns, run->system_ns);
	for (size_t i = 0; i < profile_counts_num; i++) {
		const struct profile_count *count = &profile_counts[i];
		__u64 value;

		memcpy(&value, (const char *)&run->stats + count->offset, sizeof(value));
		out_line(out, "%s %llu\n", count->key, value);
	}
	for (size_t i = 0; i < num; i++)
		sum += write_object(out, &objects[i]);
	out_line(out, "end %llu\n", sum);
	out_flush(out);
}

int profile_write(const struct profile_run *run,
		  const struct profile_object *objects, size_t num,
		  const char *file)
{
	char temporary[PATH_MAX];
	struct out out = { 0 };

	if (snprintf(temporary, sizeof(temporary), "%s.tmp", file) >= PATH_MAX) {
		errno = ENAMETOOLONG;
		return -1;
	}
	out.fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (out.fd < 0)
		return -1;
	write_all(&out, run, objects, num);
	if (close(out.fd) && !out.err)
		out.err = errno;
	if (!out.err && !rename(temporary, file))
		return 0;
	if (!out.err)
		out.err = errno;
	unlink(temporary);
	errno = out.err;
	return -1;
}
