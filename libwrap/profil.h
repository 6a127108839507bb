/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * libprofil: histograms of the program counter, filled in by the kernel at the
 * timer tick.
 *
 * profil() itself is declared by <unistd.h>, and libprofil defines it:
 *
 *	int profil(unsigned short *buf, size_t bufsiz,
 *		   size_t offset, unsigned int scale);
 *
 * @buf:    array of 16-bit counters, aligned to 2; NULL ends profiling
 * @bufsiz: its size in bytes
 * @offset: lowest program counter that is counted
 * @scale:  counters for each two bytes of code, in units of 1/65536; 65536 is
 *          one counter to two bytes, 32768 one to four; 0 ends profiling
 *
 * The counter of pc is floor(floor((pc - offset) / 2) * scale / 65536), as on
 * BSD and in glibc.  It counts 100 times in a second of CPU time (or at the
 * tick's own rate, if that is lower), user and system time, in all threads.
 * As on BSD and System V, fork() hands the profile on to the child and exec()
 * ends it; as on AIX and HP-UX, a full counter stays at 65535.  Scale 0 ends
 * profiling as BSD says; that glibc would count everything in the first counter
 * is against its own manual page.
 *
 * Returns 0 and leaves errno alone, or -1 with errno as <linux/profil.h> says;
 * without the device, as open() of /dev/profil says, and with a line on stderr
 * the first time.  In the environment,
 *
 *	PROFIL_QUIET=1          leaves that line out;
 *	PROFIL_FALLBACK=signal  uses the C library's own profil() instead, in
 *	                        programs that use the shared libprofil.
 *
 * The calls below give all that the kernel has.  Each returns 0, or -1 with
 * errno like profil(); none of them falls back to the C library.  All may be
 * called by several threads at once and in a forked child.
 */
#ifndef _PROFIL_H
#define _PROFIL_H

#include <stddef.h>
#include <linux/profil.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * profil_start() - Profile this process, instead of what was profiled before
 * @regions: Ranges of code with their histograms
 * @num: Number of regions, 1 to &struct profil_query.out_regions_max
 * @len: sizeof(struct profil_region)
 * @rate: Samples for each second of CPU time, at most
 *        &struct profil_query.out_tick_hz, or 0 for every tick
 *
 * Errors: EINVAL, E2BIG, EOPNOTSUPP, EFAULT, ENOMEM, ENOSPC, EAGAIN, EINTR,
 * ENODEV.  After EFAULT nothing is profiled any more, as BSD has it; after all
 * others an earlier profile goes on.
 */
int profil_start(const struct profil_region *regions, size_t num, size_t len,
		 unsigned int rate);

/**
 * profil_stop() - End profiling; the histograms may be freed afterwards
 *
 * The same as profil() with scale 0.  Succeeds when nothing is profiled.
 */
int profil_stop(void);

/**
 * profil_stats() - Read how the ticks of this process were accounted for
 * @stats: Its size and flags are set by the caller, the rest is filled in
 *
 * Errors: ENOENT when nothing was started in this address space, EINVAL, E2BIG.
 */
int profil_stats(struct profil_stats *stats);

/**
 * profil_query() - Ask the kernel for the tick's rate, the hook and the limits
 * @query: Its size and flags are set by the caller, the rest is filled in
 *
 * Errors: EINVAL, E2BIG.
 */
int profil_query(struct profil_query *query);

#ifdef __cplusplus
}
#endif

#endif /* _PROFIL_H */
