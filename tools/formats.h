/* SPDX-License-Identifier: GPL-2.0-only */
/* Formats of other programs.  Profiles are in order: see profile_order(). */
#ifndef TOOLS_FORMATS_H
#define TOOLS_FORMATS_H

#include <stdbool.h>
#include <stdio.h>
#include "profile.h"

/* callgrind_annotate, KCachegrind: samples, user and system time of each address. */
void callgrind_write(struct profile *profile, FILE *out);

/* Flame graphs, which have one level here: "object;function samples". */
void collapsed_write(struct profile *profile, FILE *out);

/* google-pprof: addresses, and where the objects would be. */
void cpuprofile_write(struct profile *profile, FILE *out);

/* gprof: the histogram of one object.  False if it has no samples there. */
bool gmon_write(struct profile *profile, size_t object, FILE *out);

/* The samples of a place, whose processes, runs and times @i then is behind. */
struct sample next_place(const struct profile *profile, size_t *i);

/* The time of a sample in ns; ends the program if the files that were read do not agree. */
uint64_t one_period(const struct profile *profile, const char *format);

#endif /* TOOLS_FORMATS_H */
