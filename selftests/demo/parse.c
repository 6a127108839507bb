// SPDX-License-Identifier: GPL-2.0-only
/* Reads the files that profile.c writes, and trusts nothing in them. */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "report.h"

struct input {
	const char *name;
	FILE *file;
	unsigned long number;		/* of the line */
	char line[PATH_MAX + 64];	/* without its newline */
};

static void __noreturn __printf(2, 3) bad(const struct input *in, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "report: %s:%lu: ", in->name, in->number);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "; record the profile again\n");
	exit(1);
}

void *allocated(void *memory)
{
	if (memory)
		return memory;
	fprintf(stderr, "report: out of memory\n");
	exit(1);
}

char *printable_copy(const char *text)
{
	char *copy = allocated(strdup(text));

	for (char *c = copy; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	return copy;
}

static bool next_line(struct input *in)
{
	size_t len;

	in->number++;
	if (!fgets(in->line, sizeof(in->line), in->file))
		return false;
	len = strlen(in->line);
	if (!len || in->line[len - 1] != '\n')
		bad(in, feof(in->file) ? "the file ends in the middle of a line" :
		    "a line that is too long, or not text");
	in->line[len - 1] = 0;
	return true;
}

/* Digits alone: strtoull() would take signs and blanks as well. */
static __u64 parse(const struct input *in, const char *text, int base)
{
	const char *digits = base == 16 ? "0123456789abcdef" : "0123456789";
	unsigned long long value;

	if (!*text || text[strspn(text, digits)])
		bad(in, "a number is expected after the first word");
	errno = 0;
	value = strtoull(text, NULL, base);
	if (errno)
		bad(in, "a number beyond 64 bits");
	return value;
}

static __u64 add(const struct input *in, __u64 a, __u64 b)
{
	if (__builtin_add_overflow(a, b, &a))
		bad(in, "the sum is beyond 64 bits");
	return a;
}

static void add_sample(struct profile *profile, const struct input *in,
		       const char *object, __u64 address, __u64 count)
{
	/* Room for a power of two, doubled when it is full. */
	if (!(profile->num & (profile->num - 1))) {
		size_t room = profile->num ? profile->num * 2 : 1;

		profile->samples = allocated(reallocarray(profile->samples, room,
							  sizeof(struct sample)));
	}
	if (!count)
		bad(in, "an address without samples");
	profile->samples[profile->num++] = (struct sample) {
		.object = allocated(strdup(object)),
		.address = address,
		.count = count,
	};
}

/* A line of the upper part: false if it is not of there. */
static bool read_key(struct profile *profile, const struct input *in,
		     const char *key, const char *value)
{
	struct profile_run *run = &profile->run;
	const struct { const char *key; __u64 *to; } clocks[] = {
		{ "wall_ns", &run->wall_ns },
		{ "user_ns", &run->user_ns },
		{ "system_ns", &run->system_ns },
	};

	if (!strcmp(key, "command")) {
		if (!profile->command)
			profile->command = printable_copy(value);
		return true;
	}
	if (!strcmp(key, "pid")) {
		parse(in, value, 10);
		return true;
	}
	if (!strcmp(key, "rate") || !strcmp(key, "tick_ns")) {
		bool rate = *key == 'r';
		__u64 v = parse(in, value, 10);

		if (v > UINT_MAX || (!rate && !v))
			bad(in, "%s is out of range", key);
		if (profile->processes && v != (rate ? run->rate : run->tick_ns))
			bad(in, "%s differs from that of the other files", key);
		if (rate)
			run->rate = v;
		else
			run->tick_ns = v;
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(clocks); i++) {
		if (strcmp(key, clocks[i].key))
			continue;
		*clocks[i].to = add(in, *clocks[i].to, parse(in, value, 10));
		return true;
	}
	for (size_t i = 0; i < profile_counts_num; i++) {
		__u64 *to = (void *)((char *)&run->stats + profile_counts[i].offset);

		if (strcmp(key, profile_counts[i].key))
			continue;
		*to = add(in, *to, parse(in, value, 10));
		return true;
	}
	return false;
}

static void read_lines(struct profile *profile, struct input *in)
{
	char object[PATH_MAX + 64] = "";
	__u64 total = 0;

	if (!next_line(in) || strcmp(in->line, PROFILE_HEADER))
		bad(in, "this is not a profile: it begins otherwise than '" PROFILE_HEADER "'");
	while (next_line(in)) {
		char *value = strchr(in->line, ' ');

		if (!value)
			bad(in, "a line without a value");
		*value++ = 0;
		if (!strcmp(in->line, "object")) {
			memcpy(object, value, strlen(value) + 1);
		} else if (!strcmp(in->line, "end")) {
			if (parse(in, value, 10) != total)
				bad(in, "the samples do not add up to what is said here");
			if (next_line(in))
				bad(in, "there is more after the end");
			if (!profile->run.tick_ns)
				bad(in, "tick_ns is missing");
			return;
		} else if (!*object) {
			if (!read_key(profile, in, in->line, value))
				bad(in, "an unknown word");
		} else {
			__u64 address = parse(in, in->line, 16);
			__u64 count = parse(in, value, 10);

			total = add(in, total, count);
			add_sample(profile, in, object, address, count);
		}
	}
	bad(in, "the file is cut off: its last line is missing");
}

void profile_read(struct profile *profile, const char *file)
{
	struct input in = { .name = file };
	struct stat st;

	if (!stat(file, &st) && !S_ISREG(st.st_mode)) {
		/* Opening a FIFO would wait for ever. */
		fprintf(stderr, "report: %s is not an ordinary file\n", file);
		exit(1);
	}
	in.file = fopen(file, "re");
	if (!in.file) {
		fprintf(stderr, "report: cannot open %s: %s\n", file, strerror(errno));
		exit(1);
	}
	read_lines(profile, &in);
	fclose(in.file);
	profile->processes++;
}
