/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A profile in a file, as lines of text:
 *
 *	profil-record 1
 *	command ./prog argument
 *	pid 42
 *	rate 100                 samples per second of CPU time, 0 for every tick
 *	tick_ns 4000000
 *	wall_ns, user_ns, system_ns, then each count of struct profil_ioc_stats:
 *	ticks 7710
 *	object /path/of/prog     the counts that follow are of this file
 *	40a1c2 17                address as in the file (hexadecimal), samples
 *	end 3084                 sum of all samples: the file is complete
 */
#ifndef SELFTESTS_DEMO_PROFILE_H
#define SELFTESTS_DEMO_PROFILE_H

#include <stddef.h>
#include <profil.h>

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define __noreturn __attribute__((noreturn))
#define __printf(a, b) __attribute__((format(printf, a, b)))

#define PROFILE_HEADER "profil-record 1"
#define PROFILE_SUFFIX ".profil"
#define PROFILE_RATE_PROFIL 100		/* as profil() has it */
#define PROFILE_RATE_TICK 0

struct profile_run {
	unsigned int rate;
	__u64 tick_ns;
	__u64 wall_ns;
	__u64 user_ns;
	__u64 system_ns;
	struct profil_ioc_stats stats;
};

/* Names and places of the counts, for the writer and the reader. */
struct profile_count {
	const char *key;
	const char *text;
	size_t offset;		/* of a __u64 in struct profil_ioc_stats */
};

extern const struct profile_count profile_counts[];
extern const size_t profile_counts_num;

/* One counter to two bytes of code: scale 65536. */
struct profile_object {
	const char *path;	/* "/proc/self/exe" is replaced by its target */
	__u64 bias;		/* address in memory minus address in the file */
	__u64 start;		/* address in memory of the first counter */
	const void *bins;
	size_t num;
	unsigned int width;	/* bytes of a counter: 2 or 4 */
};

/* Begin the clocks, right after profiling was started. */
void profile_begin(struct profile_run *run, unsigned int rate);

/* Go on with the clocks after profile_end(): what lies between is not counted. */
void profile_continue(struct profile_run *run);

/* Stop the clocks, read the counts; 0, or -1 with errno. */
int profile_end(struct profile_run *run);

/*
 * Writes under a temporary name, then renames: no reader sees half a file.
 * Allocates nothing, for it also runs in forked children.  0, or -1 with errno.
 */
int profile_write(const struct profile_run *run,
		  const struct profile_object *objects, size_t num,
		  const char *file);

#endif /* SELFTESTS_DEMO_PROFILE_H */
