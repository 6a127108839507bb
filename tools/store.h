/* SPDX-License-Identifier: GPL-2.0-only */
/* The file of a profile: what pprof reads, with zlib around it. */
#ifndef TOOLS_STORE_H
#define TOOLS_STORE_H

#include <sys/types.h>
#include "profile.h"

#define STORE_FILE "profil.pb.gz"

/* Ends the program if a profile could not be written to this file: before it is made. */
void store_check(const char *file);

/*
 * The last profile of the usual name is worth a second look: it gets another name.  That is
 * done once, as what this process, or one that it began since, writes itself may be replaced.
 */
void store_keep(const char *file);

/*
 * Writes a file beside FILE, and renames it, after store_keep().  "-" is standard output.
 * Returns how many bytes it has, or -1 after saying why there is none.
 */
long long store_write(struct profile *profile, const char *file);

/*
 * Until umask() is given the result, files are made for their user alone if the profile is of the
 * whole machine, or of a part of it: what others run is nobody else's business.
 */
mode_t store_guard(const struct profile *profile);

/* The bytes of such a file, to be freed. */
unsigned char *store_pack(struct profile *profile, size_t *length);

/* Adds a file; "-" is standard input.  Ends the program if it is no profile. */
void store_read(struct profile *profile, const char *file);

#endif /* TOOLS_STORE_H */
