/* SPDX-License-Identifier: GPL-2.0-only */
/* A profile in memory: what a session has counted, or what files say. */
#ifndef TOOLS_PROFILE_H
#define TOOLS_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Files have times of slices in milliseconds. */
#define NS_OF_MS 1000000
#define SLICES_MAX 120		/* of a run */

/* A file with code, or in brackets what is none: "[vdso]". */
struct object {
	const char *file;
	const char *build_id;	/* "" if it has none */
	uint64_t start;		/* of its code: addresses in the file's own numbers */
	uint64_t limit;
	uint64_t offset;	/* of start, in the file */
};

/* An address of an object. */
struct place {
	size_t object;
	uint64_t address;
	const char *function;	/* ""; fn@… if it is only known where it begins */
	const char *symbol;	/* the name before it was demangled */
	const char *source;	/* "" if it is not known */
	uint64_t line;
};

struct sample {
	size_t place;
	int64_t pid;		/* 0: of any process */
	const char *program;	/* of pid, or of a thread of the machine's, or "" */
	const char *unit;	/* "": not known; and which container, or "" */
	const char *container;
	size_t run;		/* an index of profile.runs */
	uint64_t at_ns;		/* when its slice ended, since the run began; 0: not known */
	uint64_t samples;
	uint64_t recent;	/* of these, in the last interval, where somebody looks on */
	uint64_t cpu_ns;
	uint64_t user_ns;
	uint64_t system_ns;
};

/* One time that a program ran: a file has one of them, or more. */
struct run {
	uint64_t from_ns;	/* what is there of it: from this time since it began */
	uint64_t to_ns;
	uint64_t slice_ns;	/* length of a slice; 0: it has none */
	uint64_t user_ns;	/* what the kernel charged; 0: not known */
	uint64_t system_ns;
};

struct process {
	int64_t pid;
	int64_t parent;
	uint64_t images;	/* programs that it executed */
	uint64_t samples;
	uint64_t recent;	/* as in struct sample */
	uint64_t user_ns;
	uint64_t system_ns;
	const char *program;
	/* where the profile is of the whole machine, this is a program in a unit, and has no pid */
	const char *unit;	/* else "" */
	const char *container;	/* or "" */
};

/*
 * What a profile says of itself: ticks = in_slots + exec + full + not_due + idle + kthreads +
 * interrupts.  The samples are in_slots, and placed: those of kernel threads and interrupts
 * where the kernel was.
 */
enum count {
	COUNT_TICKS, COUNT_IN_SLOTS, COUNT_EXEC, COUNT_FULL, COUNT_NOT_DUE,
	COUNT_FULL_OBJECTS, COUNT_HINTED, COUNT_BORROWED, COUNT_EXECS_DENIED, COUNT_FORKS_MISSED,
	COUNT_CHARGED_USER_NS, COUNT_CHARGED_SYSTEM_NS,
	/* of the whole machine alone; the last one is how long its CPUs were there */
	COUNT_IDLE, COUNT_KTHREADS, COUNT_INTERRUPTS, COUNT_PLACED, COUNT_CPUS_NS,
	COUNTS
};

extern const char *const count_names[COUNTS];

struct profile {
	struct object *objects;
	struct place *places;
	struct sample *samples;
	struct run *runs;
	struct process *processes;
	const char **facts;	/* of the first file: program, machine */
	size_t num_objects, room_objects;
	size_t num_places, room_places;
	size_t num_samples, room_samples;
	size_t num_runs, room_runs;
	size_t num_processes, room_processes;
	size_t num_facts, room_facts;
	uint64_t counts[COUNTS];
	const char *command;	/* "" if it is not known */
	size_t files;
	bool cut;		/* a part of the time was left out */
	bool filtered;		/* all but some units or programs were */
	uint64_t time_ns;	/* when it began */
	uint64_t duration_ns;	/* of all runs of all files */
	uint64_t period_ns;	/* of a sample; 0: files differ */
	void *texts;
	size_t texts_size;	/* bytes of all of them */
};

void profile_init(struct profile *profile);
void profile_free(struct profile *profile);

#define PROFILE_TEXT_MAX 4096	/* bytes */

/*
 * A copy that lives as long as the profile, with nothing in it that could harm a
 * terminal, no longer than that.  Equal texts have one address.
 */
const char *profile_text(struct profile *profile, const char *text, size_t length);
const char *profile_string(struct profile *profile, const char *text);

/* Each returns the index of what it has added. */
size_t profile_add_object(struct profile *profile, struct object object);
size_t profile_add_place(struct profile *profile, struct place place);
void profile_add_sample(struct profile *profile, struct sample sample);
void profile_add_run(struct profile *profile, struct run run);
void profile_add_process(struct profile *profile, struct process process);
void profile_add_fact(struct profile *profile, const char *fact);

/* A sum that stays at its highest: files may hold any number. */
static inline void add(uint64_t *sum, uint64_t n)
{
	if (__builtin_add_overflow(*sum, n, sum))
		*sum = UINT64_MAX;
}

/* How far it is from one number to the other, whichever is larger. */
static inline uint64_t difference(uint64_t a, uint64_t b)
{
	return a < b ? b - a : a - b;
}

/* Of a path, without its folders; what is in brackets is none. */
const char *last_part(const char *file);

/* The name that rows show: of an object without its folders, of a place that has none. */
const char *object_name(const struct object *object);
const char *place_name(struct profile *profile, const struct place *place);

/* Of the name of a file, without what says that it was deleted meanwhile. */
size_t file_length(const char *file);

/* The name of all places of an object for which the table had no room. */
const char *profile_elsewhere(struct profile *profile, const char *file);
bool is_elsewhere(const char *function);

/* A name that a symbol gave, and not only where a function begins, or "[vdso]". */
bool is_named(const struct place *place);

#endif /* TOOLS_PROFILE_H */
