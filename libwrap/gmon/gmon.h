/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * The runtime of gcc -pg: a histogram for each mapped object, counted by the
 * kernel, and the arcs of arcs.h, written to a gmon.out for gprof: at exit
 * (gmon.c), at other ends of a program (exits.c, leave.c), when a signal or the
 * program asks for it, and time and again (interval.c).
 */
#ifndef _LIBPROFIL_GMON_H
#define _LIBPROFIL_GMON_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "arcs.h"

/*
 * Calls of what was unmapped, found by a hash; the entries without a function are
 * free.  In a forked child all are, whatever their number says.
 */
struct libprofil_kept {
	struct libprofil_arc *first;
	size_t num, room;	/* of entries; the latter is a power of 2, or 0 */
};

/* A program or a shared library, and the code of it that is counted. */
struct libprofil_object {
	char name[256];		/* of the file; "" of the program */
	unsigned int number;	/* how many have the same, from before */
	uintptr_t base;		/* less this, an address is one of the file */
	uintptr_t begin, end;	/* of all that is mapped */
	uintptr_t low, high;	/* both are whole multiples of 16 */
	uint32_t *counts;	/* one for each two bytes */
	bool mapped, seen;
	struct libprofil_kept kept;	/* from the tables when it was unmapped */
};

/* What is counted; all but the counts is changed with the lock of own.c alone. */
struct libprofil_profile {
	struct libprofil_object *objects;
	size_t num;
	uint32_t rate;		/* samples of a second */
	uintptr_t low, high;	/* of the program, if it said so */
	int first_pid;
	bool written;		/* and nothing counted since */
};

extern struct libprofil_profile libprofil_profile;

/* own.c */
struct libprofil_own {
	pthread_mutex_t lock;	/* free when it is all zero */
	atomic_int pid;		/* 0 until someone asks */
	unsigned int series;	/* of files: how often counts began anew */
	bool wrote;		/* a file of this series */
};

extern struct libprofil_own *libprofil_own;

struct libprofil_hold {
	sigset_t mask;
	int cancel;
};

void libprofil_own_begin(void);
void libprofil_own_forked(void);
bool libprofil_own_is(void);
void libprofil_own_take(struct libprofil_hold *hold);
void libprofil_own_give(const struct libprofil_hold *hold);

/* gmon.c */
void libprofil_gmon_follow(void);

/* fallback.c */
void libprofil_fallback_begin(void);
bool libprofil_fallback_start(const struct libprofil_object *program);
void libprofil_fallback_take(const struct libprofil_object *program);

/* object.c */
void *libprofil_map_zero(size_t bytes);
bool libprofil_objects_find(struct libprofil_profile *profile);

/* kept.c */
void libprofil_object_close(struct libprofil_object *object);
bool libprofil_object_arcs(const struct libprofil_object *object,
			   libprofil_arcs_fn *each, void *arg);

/* told.c */
bool libprofil_told_begin(const struct libprofil_object *object);
bool libprofil_told_note(struct libprofil_arc *arc, uintptr_t count);
void libprofil_told_end(bool done);

/* gmonfile.c */
struct libprofil_gmon {
	const struct libprofil_object *object;
	const uint32_t *counts;	/* the object's, or what was taken of them */
	uint32_t rate;		/* samples of a second */
	bool anew;		/* the next file begins with what comes now */
};

bool libprofil_gmon_write(const struct libprofil_gmon *gmon, const char *path);

/* place.c */
bool libprofil_place_name(const struct libprofil_object *object);
bool libprofil_place_write(const struct libprofil_gmon *gmon);
void libprofil_place_complain(void);
void libprofil_place_look(void);
void libprofil_place_begin(void);

/* dump.c */
#define DUMP_LAST	(1 << 0)	/* nothing is written after this */
#define DUMP_ASYNC	(1 << 1)	/* amid anything: the environment may be in change */

int libprofil_dump(unsigned int flags);
void libprofil_dump_begin(void);
void libprofil_dump_series(void);

/* verbose.c */
void libprofil_verbose(void);

/* exits.c */
void libprofil_exits_begin(void);
void libprofil_exits_leave(void);

/* startup.c, in the shared library alone */
void libprofil_startup(void);

/* interval.c */
void libprofil_interval_begin(void);
void libprofil_interval_forked(void);

#endif /* _LIBPROFIL_GMON_H */
