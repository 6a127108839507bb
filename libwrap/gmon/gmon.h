/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * The runtime of gcc -pg: a histogram for each mapped object, counted by the
 * kernel, and the arcs of arcs.h, written to a gmon.out for gprof: at exit
 * (start.c), and when the environment (when.c) or the program (write.c) asks for it.
 * libwrap/ORDER has the files in the order of their calls.
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
struct libprofil_saved {
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
	uint32_t *counts;	/* one for each bin; NULL without memory for them */
	unsigned int shift;	/* a bin has 2 bytes of code, shifted by this */
	bool mapped, seen;
	bool by_kernel;		/* its name is the file's own, and no link's to it */
	struct libprofil_saved saved;	/* from the tables when it was unmapped */
	/* The last file: another of this name may be replaced if it is all the same. */
	struct {
		unsigned long long process;
		unsigned int series, place, tag;
	} file;
};

/* What a program that locks its memory has for libraries: bins of 16 bytes. */
#define LIBPROFIL_SHIFT_SMALL 3

static inline size_t libprofil_object_bins(const struct libprofil_object *object)
{
	size_t halves = (object->high - object->low) / 2;

	return (halves + (1UL << object->shift) - 1) >> object->shift;
}

/* What is counted; all but the counts is changed with the lock of state.c alone. */
struct libprofil_profile {
	struct libprofil_object *objects;
	size_t num, room;
	bool small;		/* histograms of libraries, for all of it is locked in memory */
	uint32_t rate;		/* samples of a second */
	uintptr_t low, high;	/* of the program, if it said so */
	bool written;		/* and nothing counted since */
};

extern struct libprofil_profile libprofil_profile;

/* state.c */
struct libprofil_state {
	pthread_mutex_t lock;	/* free when it is all zero */
	atomic_int pid;		/* 0 until someone asks */
	bool first;		/* the one that began; a child may have the same pid */
	unsigned long long id;	/* no process here has the same, 0 until a file is written */
	unsigned int series;	/* of files: how often counts began anew */
	bool wrote;		/* a file of this series */
	sigset_t mask;		/* that its lock's owner had before */
};

extern struct libprofil_state *libprofil_state;

/* This is a forked child, other than by vfork() or _Fork(). */
extern bool libprofil_forked;

struct libprofil_hold {
	struct libprofil_state *state;	/* whose lock it is: there may be another by its end */
	sigset_t mask, pending;
	int cancel;
};

void *libprofil_map_zero(size_t bytes);
void libprofil_state_begin(void);
void libprofil_state_forked(void);
bool libprofil_state_is_ours(void);
void libprofil_state_lock(struct libprofil_hold *hold);
void libprofil_state_unlock(const struct libprofil_hold *hold);
void libprofil_state_may_die(bool may);

/* sampling.c */
void libprofil_sampling_start(void);
void libprofil_sampling_find(bool by_kernel);
void libprofil_sampling_follow(void);
void libprofil_sampling_follow_unlocked(void);
void libprofil_fallback_begin(void);
void libprofil_fallback_take(const struct libprofil_object *program);

/* needed.c */
struct dl_phdr_info;
typedef bool libprofil_needed_fn(void *arg, const char *name, uintptr_t *place);
void libprofil_needed_each(const struct dl_phdr_info *info, libprofil_needed_fn *each,
			   void *arg);
typedef bool libprofil_dynamic_fn(void *arg, long tag, uintptr_t value);
bool libprofil_dynamic_each(const struct dl_phdr_info *info, libprofil_dynamic_fn *each,
			    void *arg);
bool libprofil_is_one_of(const char *name, const char *const *list);

/* loaded.c */
typedef int libprofil_loaded_fn(struct dl_phdr_info *info, size_t size, void *arg);
int libprofil_loaded_each(libprofil_loaded_fn *each, void *arg);
int libprofil_loaded_each_unlocked(libprofil_loaded_fn *each, void *arg);
size_t libprofil_read_own(void *to, uintptr_t from, size_t bytes);

/* objects.c */
bool libprofil_objects_locked(void);
bool libprofil_objects_find(struct libprofil_profile *profile, bool by_kernel);

/* saved_arcs.c */
void libprofil_object_close(struct libprofil_object *object);
bool libprofil_object_arcs(const struct libprofil_object *object,
			   libprofil_arcs_fn *each, void *arg);

/* written_arcs.c */
bool libprofil_written_begin(const struct libprofil_object *object);
bool libprofil_written_add(struct libprofil_arc *arc, uintptr_t count);
void libprofil_written_end(bool done);

/* file.c */
struct libprofil_gmon {
	struct libprofil_object *object;
	const uint32_t *counts;	/* the object's, or what was taken of them */
	uint32_t rate;		/* samples of a second */
	bool anew;		/* the next file begins with what comes now */
	bool last;		/* nothing is written after this */
};

int libprofil_file_write(const struct libprofil_gmon *gmon, int fd);

/* replace.c */
int libprofil_replace(const struct libprofil_gmon *gmon, const char *path, bool replace);

/* path.c */
int libprofil_path_write(const struct libprofil_gmon *gmon);
void libprofil_path_complain(const struct libprofil_object *object, int err);
void libprofil_path_look(void);
void libprofil_path_begin(void);

/* write.c */
#define WRITE_LAST	(1 << 0)	/* nothing is written after this */
#define WRITE_AMID	(1 << 1)	/* anything: the environment may be in change */

int libprofil_write(unsigned int flags);
bool libprofil_is_set(const char *variable);
void libprofil_write_begin(void);

/* when.c */
void libprofil_when_begin(void);
void libprofil_when_exit(void);
void libprofil_when_forked(void);

/* rebind.c, in the shared library alone, as detect.c is */
void libprofil_rebind(void *handle);

#endif /* _LIBPROFIL_GMON_H */
