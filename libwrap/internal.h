/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
#ifndef _LIBPROFIL_INTERNAL_H
#define _LIBPROFIL_INTERNAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/select.h>	/* sigset_t; <signal.h> would include <unistd.h> */
#include "profil.h"

#define PROFIL_API __attribute__((visibility("default")))

/* What profil() promises, and sprofil() without PROF_FAST. */
#define SAMPLES_PER_SECOND 100

/*
 * As in <unistd.h>, but without its __nonnull((1)): where gcc sees that, it
 * drops the test of buf that turns profiling off.  No file that defines
 * profil() or calls the C library's includes <unistd.h>.
 */
typedef int libprofil_fn(unsigned short *buf, size_t bufsiz, size_t offset,
			 unsigned int scale);
libprofil_fn profil;

/* anchor.c */
void libprofil_anchor_begin(void);
void libprofil_anchor_end(const struct profil_ioc_start *start);
/* Whether there may be a profile of the device. */
bool libprofil_on(void);
/* Whether the anchor was there, and is not any more.  If the profile @is_off it is forgotten. */
bool libprofil_anchor_unmap(bool is_off);

/* device.c */
#define NO_DEVICE (-2)	/* it cannot be opened: not even the command failed */
int libprofil_command(unsigned long cmd, void *arg);
/* Whether there was a command, or the wish for one. */
bool libprofil_commanded(void);
int libprofil_command_kept(unsigned long cmd, void *arg);
void libprofil_device_close(void);
void libprofil_complain(const char *note);
void libprofil_complain_start(void);

/* Takes back a blocked signal that this thread was sent, unless it was pending @before. */
void libprofil_signal_drop(int number, const sigset_t *before);

/* What an error number means. */
const char *libprofil_reason(int err);

/* A line on stderr, made of parts; the one after the last is NULL. */
#define LIBPROFIL_PARTS 8
void libprofil_say(const char *const parts[LIBPROFIL_PARTS]);
/* The same, but only the first time for this flag, and not with PROFIL_QUIET=1. */
void libprofil_say_once(atomic_flag *said, const char *const parts[LIBPROFIL_PARTS]);
/* PROFIL_QUIET is looked at now, and then no more. */
void libprofil_quiet_begin(void);

/* rate.c: what the environment asks for.  Not for profil_start(). */
bool libprofil_rate_asked(void);
void libprofil_rate_choose(struct profil_ioc_start *start, const struct profil_ioc_query *query);

/* calls.c: 0, -1, or NO_DEVICE */
int libprofil_start(struct profil_ioc_start *start);
/* What START returned, with the error of profil(2) for a histogram. */
int libprofil_as_profil(int ret);
/* What a command returned, and a line on stderr where there is no device: 0 or -1. */
int libprofil_or_complain(int ret);
/* Ends the profile, for a while: what was counted can still be read.  0 or -1. */
int libprofil_pause(void);
/* Ends the profile, and leaves nothing of it but the descriptor.  0 or -1. */
int libprofil_stop(void);

/*
 * c_library.c: the C library's profil(), which this library stands in front of and the
 * archive has none of.  Stopping does nothing where it never was started.
 */
bool libprofil_c_library_exists(void);
libprofil_fn libprofil_c_library_profil;
int libprofil_c_library_stop(void);

#endif /* _LIBPROFIL_INTERNAL_H */
