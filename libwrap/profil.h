/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * libprofil: histograms of the program counter, filled in by the kernel at the
 * timer tick.
 *
 * sprofil() is declared by <sys/profil.h>, where the C library has that, and
 * otherwise here; libprofil defines both that and profil().  For every call:
 *
 * Return: 0, with errno as it was; or -1, with errno as <linux/profil.h> says.
 * Without the device, errno is as open() of /dev/profil says, and a line on
 * stderr says so the first time.  In the environment,
 *
 *	PROFIL_QUIET=1          leaves that line out, and the one on a rate below;
 *	PROFIL_FALLBACK=signal  has profil(), and no other call, use the C
 *	                        library's own profil() then, in programs that use
 *	                        the shared libprofil;
 *	PROFIL_RATE=N           has profil(), sprofil() and programs of gcc -pg take
 *	                        N samples in each second of CPU time, from
 *	PROFIL_SOURCE=tick      the timer tick, or from
 *	PROFIL_SOURCE=timer     a timer, at random times.  Without this variable, a
 *	                        rate above the tick's is the timer's.  What is not
 *	                        possible is said once on stderr, and then the
 *	                        defaults below hold.
 *
 * Set-user-ID programs look at PROFIL_QUIET alone.
 *
 * Context: Any thread, several at once, a forked child.  A process has one
 * profile: each call replaces or ends that of any other.
 *
 * From the first profile on, libprofil keeps a descriptor of the device, above 1000
 * where the limit allows it, until profil_stop().  exec() closes it.
 */
#ifndef _LIBPROFIL_H
#define _LIBPROFIL_H

#include <stddef.h>
#include <sys/time.h>
#include <linux/profil.h>

#ifdef __has_include
#if __has_include("sys/profil.h")
#include <sys/profil.h>
#define _LIBPROFIL_SYS_PROFIL_H
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

#ifndef _LIBPROFIL_SYS_PROFIL_H

/**
 * struct prof - One range of code and its histogram, for sprofil()
 * @pr_base: The histogram, an array of counters as the flags say.  It must be
 *           aligned to the size of a counter
 * @pr_size: Its size in bytes; a remainder below one counter is not used
 * @pr_off: Lowest program counter that is counted
 * @pr_scale: Counters for each unit of code, in units of 1/65536; the unit is
 *            as many bytes as a counter has
 */
struct prof {
	void *pr_base;
	size_t pr_size;
	size_t pr_off;
	unsigned long pr_scale;
};

enum {
	PROF_USHORT	= 0,		/* counters of 16 bits */
	PROF_UINT	= 1 << 0,	/* of 32 bits */
	PROF_FAST	= 1 << 1	/* every tick is a sample */
};

int sprofil(struct prof *profp, int profcnt, struct timeval *tvp,
	    unsigned int flags);

#endif

/*
 * In strict C, <unistd.h> does not declare it.  Where it does, in glibc, @buf is
 * nonnull there: compilers warn of NULL, and -fsanitize=undefined reports it.  What
 * ends profiling and is clean everywhere is profil_stop(), or @scale 0 with a @buf.
 */
#ifdef __THROW
int profil(unsigned short *buf, size_t bufsiz, size_t offset,
	   unsigned int scale) __THROW;
#else
int profil(unsigned short *buf, size_t bufsiz, size_t offset,
	   unsigned int scale);
#endif

/*
 * profil() - Profile this process: one range of code, counters of 16 bits
 * @buf: Array of counters, at an even address; NULL ends profiling
 * @bufsiz: Its size in bytes; a remainder below 2 is not used, and with 0 or 1
 *          nothing is counted
 * @offset: Lowest program counter that is counted
 * @scale: Counters for each two bytes of code, in units of 1/65536: 65536 is one
 *         counter to two bytes, 32768 one to four, 131072 two to two; 0 ends
 *         profiling, every other value is possible
 *
 * - The counter of pc is floor(floor((pc - offset) / 2) * scale / 65536), in
 *   numbers of any size: as glibc computes it and all manual pages say.
 * - 100 samples in each second of CPU time, as glibc promises, unless PROFIL_RATE
 *   asks for others; time in the kernel belongs to the place that called it, as
 *   everywhere; all threads together, as everywhere but in old Solaris.
 * - A full counter stays at 65535, as on AIX and HP-UX.  glibc and BSD begin
 *   again at 0, System V ends profiling at 32767.
 * - Scale 0 ends profiling, as on BSD and System V; glibc counts everything in
 *   the first counter, against its manual page.  So does a NULL buffer, as in
 *   glibc.  Scales 1 and 2 mean what they say, as in glibc and on BSD; System V
 *   has meanings of its own for them.  Scales above 65536 are accepted, as in
 *   glibc; on BSD they are EINVAL.
 * - While it is on, another call replaces the histogram, as everywhere but on
 *   OpenBSD.  When a call has returned, nothing writes to the earlier one.
 * - fork() hands the profile on to the child and exec() ends it, as on BSD and
 *   System V; in glibc the child has none and exec() lets a signal kill it.
 * - A histogram that is not wholly writable is EFAULT, as the manual pages of
 *   BSD say, and ends an earlier profile; one that later is not any more ends
 *   profiling without a signal, as on BSD.
 *
 * Errors: EINVAL for a @buf at an odd address; EFAULT, ENOMEM, ENOSPC, EAGAIN,
 * EINTR, ENODEV, and those of open().
 */

/*
 * sprofil() - Profile this process: several ranges of code
 * @profp: Ranges with their histograms, in any order; NULL ends profiling
 * @profcnt: How many; 0 ends profiling
 * @tvp: If not NULL, filled in with the time between two samples
 * @flags: PROF_USHORT or PROF_UINT: counters of 16 or 32 bits in all histograms;
 *         PROF_FAST: every tick is a sample
 *
 * - The counter of pc is floor(floor((pc - pr_off) / width) * pr_scale / 65536),
 *   where the width of a counter is 2 or 4 bytes: as glibc, HP-UX and IRIX have
 *   it.
 * - Where ranges overlap, the one with the largest pr_off that is not above pc
 *   has it, as in glibc and on HP-UX; of several with the same pr_off, the first
 *   one.  Beyond the end of its histogram those that it hid go on, as in glibc.
 * - A range with pr_scale below 2 is left out, as in glibc.
 * - A range with pr_off 0 and pr_scale 2 is the overflow bin: its first counter
 *   has what is in no range.  It may stand anywhere, as in glibc; on HP-UX and
 *   IRIX it is the last.  Of several, the last one is used.
 * - A full counter stays at its maximum, as on HP-UX and in glibc; the overflow
 *   bin too, which in glibc begins again at 0.
 * - 100 samples in each second of CPU time, as glibc says of itself (it takes
 *   one at each tick); one at each tick with PROF_FAST, which IRIX has and glibc
 *   ignores.  PROFIL_RATE comes before both.  @tvp is the true period: 10 ms,
 *   that of the tick, or what PROFIL_RATE makes it.  It is filled in on every
 *   success, as in glibc, and not on failure.
 * - While it is on, another call replaces all ranges at once, as on HP-UX; glibc
 *   ends profiling instead.
 * - @profp NULL, @profcnt 0, or no range that is not left out: ends profiling
 *   and returns 0, also when nothing is profiled.
 * - All else is as for profil(), of which this is the same with several ranges.
 *
 * Errors: as for profil(); EINVAL for unknown flags, for a histogram that is not
 * aligned to its counters, for @profcnt below 0 and for a pr_scale above 2^32 - 1;
 * E2BIG for more ranges than &struct profil_ioc_query.out_regions_max, not counting
 * those left out.
 */

/**
 * profil_start() - START, with all that the kernel has
 * @start: The whole command, see <linux/profil.h>; what is named out_* is filled in
 *
 * Errors: EINVAL, E2BIG, EOPNOTSUPP, EFAULT, ENXIO, ENOMEM, ENOSPC, EAGAIN, EINTR,
 * ENODEV.  After ENXIO, for a histogram, nothing is profiled any more, nor after EFAULT
 * where @start could be read but not written; after all others an earlier profile goes on.
 */
int profil_start(struct profil_ioc_start *start);

/**
 * profil_stop() - End profiling; the histograms may be freed afterwards
 *
 * The same as profil() with scale 0 and sprofil() without ranges, which also need
 * neither the device nor a descriptor, and leave no mapping of it; but they keep
 * the descriptor, so that a next call works where the device cannot be opened.
 * This one leaves nothing.  Succeeds when nothing is profiled.
 */
int profil_stop(void);

/**
 * profil_stats() - Read how the ticks of this process were accounted for
 * @stats: Its size and flags are set by the caller, the rest is filled in
 *
 * Errors: ENOENT when nothing was started in this address space, or what was has been
 * turned off; EINVAL, E2BIG, ESTALE.
 */
int profil_stats(struct profil_ioc_stats *stats);

/**
 * profil_query() - Ask the kernel for the tick's rate, the hook and the limits
 * @query: Its size and flags are set by the caller, the rest is filled in
 *
 * Errors: EINVAL, E2BIG.
 */
int profil_query(struct profil_ioc_query *query);

/**
 * profil_dump() - Write the files of a program of gcc -pg now, see libprofil(7)
 *
 * Counting goes on meanwhile.  With PROFIL_RESET=1 in the environment it begins
 * anew, and the next files have other names.
 *
 * Errors: ENOENT when the program is not one of gcc -pg; and those of open(),
 * write() and rename(), of which a line on stderr tells for which file.
 */
int profil_dump(void);

/**
 * profil_reset() - Have a program of gcc -pg count from zero
 *
 * Files that were written before are not replaced by later ones.
 *
 * Errors: ENOENT when the program is not one of gcc -pg.
 */
int profil_reset(void);

#ifdef __cplusplus
}
#endif

#endif /* _LIBPROFIL_H */
