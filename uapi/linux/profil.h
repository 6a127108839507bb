/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
#ifndef _UAPI_LINUX_PROFIL_H
#define _UAPI_LINUX_PROFIL_H

#include <linux/ioctl.h>
#include <linux/types.h>

/**
 * DOC: General ioctl format
 *
 * The device is ``/dev/profil``.  Every command takes one pointer to a
 * structure that begins with its own size in bytes, so that a command can
 * grow at its end and keep its number:
 *
 * - a size below that of the first version of the structure is an error;
 * - bytes beyond what this kernel knows must be zero;
 * - fields named ``out_*`` are written, as far as the given size reaches;
 * - reserved words and unknown flag bits must be zero.
 *
 * The device may be opened in any mode.  A command neither reads nor writes it:
 * who may open the device may use all of them, on his own address space, and may
 * have sessions.  QUERY, START, STOP, STATS and SESSION are commands of the device;
 * JOIN, ATTACH, OBJECT, STOP and SESSION are commands of a session's descriptor.
 *
 * Each cause has one error:
 *
 * ========== ==============================================================
 * ENOTTY     unknown command, or one that this descriptor does not take
 * EINVAL     a size below the first version's, a reserved word that is not
 *            zero, flags, a source, a rate, a period or a jitter that contradict
 *            each other, a histogram that is not aligned to its counters, a table
 *            of a session that is smaller or larger than it may be, a pid that is
 *            not positive, a cookie for a session, or a command for members of a
 *            session that has none, or the reverse; or mmap() of the device, or of
 *            a session not from its beginning, or of more than it has
 * E2BIG      a non-zero byte beyond what this kernel knows, a size above that
 *            of a page, or more regions than
 *            &struct profil_ioc_query.out_regions_max
 * EOPNOTSUPP a flag or a source that this kernel does not have, or a rate or
 *            a period that its source cannot give; or SESSION, and the kernel has
 *            no tracepoints
 * EFAULT     a structure or an array of regions that cannot be read or written
 * ENXIO      START, and a byte of a histogram is not in a writable mapping of
 *            ordinary memory
 * ENOENT     STATS, and nothing was started in this address space; or OBJECT,
 *            and the session has no file of this number
 * ESTALE     STOP or STATS, and another START has replaced the profile that
 *            they name
 * ENOMEM     no memory, or no room for the anchor mapping
 * ENOSPC     a limit of this user or of the system was reached; or JOIN or
 *            ATTACH, and the session or the process has as many members or
 *            sessions as it can have
 * EAGAIN     other threads unmapped the anchor again and again meanwhile, or
 *            mlockall() has all mappings locked and RLIMIT_MEMLOCK is reached;
 *            or ATTACH, and the process executed another program meanwhile, or
 *            the thread that was named has ended
 * EPERM      JOIN or ATTACH, and the caller is another user or group than who
 *            made the session, is in another user namespace, or has fewer
 *            capabilities; or ATTACH, and the caller neither traces the
 *            process nor has CAP_PERFMON; or SESSION, and the caller has not
 *            that where it is needed
 * ESRCH      ATTACH, and there is no such process, or it is ending; or JOIN,
 *            ATTACH or SESSION, and the session is stopped
 * EALREADY   JOIN or ATTACH, and the session counts the process already
 * ENFILE     START or SESSION, and the system has too many open files
 * EMFILE     SESSION, and the caller has too many
 * EINTR      a fatal signal arrived while waiting
 * EACCES     START, and a security module does not let the device be opened by
 *            who opened the descriptor, which START does once more; or mmap() of
 *            a session with PROT_WRITE
 * ENODEV     no hook could be placed on the timer tick
 * ========== ==============================================================
 *
 * A profile belongs to the address space, not to the descriptor: the
 * descriptor may be closed at once.  fork() copies the profile with the
 * address space, exec() and the exit of the last thread end it.
 */

#define PROFIL_IOC_MAGIC	0xB9

/** define PROFIL_ABI - Version of this interface, see &struct profil_ioc_query.out_abi. */
#define PROFIL_ABI		1

#define PROFIL_IOC_QUERY	_IO(PROFIL_IOC_MAGIC, 0x00)
#define PROFIL_IOC_START	_IO(PROFIL_IOC_MAGIC, 0x01)
#define PROFIL_IOC_STOP		_IO(PROFIL_IOC_MAGIC, 0x02)
#define PROFIL_IOC_STATS	_IO(PROFIL_IOC_MAGIC, 0x03)
#define PROFIL_IOC_SESSION	_IO(PROFIL_IOC_MAGIC, 0x04)
#define PROFIL_IOC_JOIN		_IO(PROFIL_IOC_MAGIC, 0x05)
#define PROFIL_IOC_ATTACH	_IO(PROFIL_IOC_MAGIC, 0x06)
#define PROFIL_IOC_OBJECT	_IO(PROFIL_IOC_MAGIC, 0x07)

/* Values of profil_ioc_query.out_hook. */
#define PROFIL_HOOK_NONE	0	/* not armed: nobody is profiled */
#define PROFIL_HOOK_FTRACE	1	/* function entry of the tick */
#define PROFIL_HOOK_KPROBE	2	/* kprobe on the tick */
#define PROFIL_HOOK_HRTIMER	3	/* own timer on each CPU, one tick apart */

/* Values of profil_ioc_start.source and profil_ioc_stats.out_source. */
#define PROFIL_SOURCE_TICK	0	/* the timer tick */
#define PROFIL_SOURCE_TIMER	1	/* own timer, while the process runs */

/* Bits of profil_ioc_query.out_features. */
#define PROFIL_FEATURE_TASK_WORK	(1 << 0)
#define PROFIL_FEATURE_DEFERRED		(1 << 1)
#define PROFIL_FEATURE_NOHZ_FULL	(1 << 2)

/**
 * struct profil_ioc_query - ioctl(PROFIL_IOC_QUERY)
 * @size: sizeof(struct profil_ioc_query)
 * @flags: Must be 0
 * @out_abi: PROFIL_ABI of the module
 * @out_features: PROFIL_FEATURE_TASK_WORK: what the tick cannot count itself
 *                is counted when the thread returns to user mode, otherwise by
 *                a worker; PROFIL_FEATURE_DEFERRED: every sample is counted
 *                that way (module parameter deliver=deferred);
 *                PROFIL_FEATURE_NOHZ_FULL: this kernel runs some CPUs without
 *                a tick, and what runs there alone is not sampled, because the
 *                administrator did not ask for it (module parameter nohz_full)
 * @out_tick_ns: Nanoseconds of CPU time between two ticks, rounded down
 * @out_tick_hz: Ticks for each second of CPU time
 * @out_hook: PROFIL_HOOK_*, what is placed on the tick now
 * @out_hooks_lost: How often a hook was found switched off by others while it
 *                  was in use, and replaced by PROFIL_HOOK_HRTIMER
 * @out_regions_max: Most regions that one START takes
 * @out_timer_rate_max: Highest rate of PROFIL_SOURCE_TIMER (module parameter
 *                      max_timer_rate); 0: there is no such source, because
 *                      the kernel's timers are no finer than its tick, or the
 *                      administrator does not want it
 * @out_start_flags: PROFIL_START_F_* that this module knows
 * @out_region_flags: PROFIL_REGION_F_* that this module knows
 * @out_sources: Bit n is set: PROFIL_SOURCE_* n can be used by START
 * @out_session_flags: PROFIL_SESSION_F_* that this module knows; 0: there are no
 *                     sessions, because the kernel has no tracepoints, or the
 *                     administrator does not want them (module parameter
 *                     max_sessions_user)
 * @out_session_sources: As out_sources, for SESSION
 */
struct profil_ioc_query {
	__u32 size;
	__u32 flags;
	__u32 out_abi;
	__u32 out_features;
	__aligned_u64 out_tick_ns;
	__u32 out_tick_hz;
	__u32 out_hook;
	__u32 out_hooks_lost;
	__u32 out_regions_max;
	__u32 out_timer_rate_max;
	__u32 out_start_flags;
	__u32 out_region_flags;
	__u32 out_sources;
	__u32 out_session_flags;
	__u32 out_session_sources;
};

/* Bits of profil_region.flags. */
#define PROFIL_REGION_F_U32		(1 << 0)
#define PROFIL_REGION_F_PER_COUNTER	(1 << 1)
#define PROFIL_REGION_F_BSD_ROUNDING	(1 << 2)
#define PROFIL_REGION_F_OVERFLOW	(1 << 3)

/**
 * struct profil_region - One range of code and its histogram
 * @buf_uptr: The histogram, an array of counters.  It must be aligned to the
 *            size of a counter
 * @bytes: Size of the histogram; a remainder below one counter is not used
 * @offset: Lowest program counter of the region
 * @scale: Counters for each unit of code, in units of 1/65536.  With 65536
 *         each unit has a counter, with 32768 two units share one.  A region
 *         of scale 0 is left out
 * @flags: PROFIL_REGION_F_U32: a counter has 32 bits instead of 16;
 *         PROFIL_REGION_F_PER_COUNTER: the unit of code is as many bytes as a
 *         counter has, as for sprofil(), instead of 2;
 *         PROFIL_REGION_F_BSD_ROUNDING: the distance is not rounded down to a
 *         unit before it is scaled, see below; PROFIL_REGION_F_OVERFLOW: the
 *         first counter has the samples that fall into no region, and @offset
 *         and @scale are not used
 *
 * The counter of @pc is floor(floor((pc - offset) / unit) * scale / 65536), if
 * the histogram has that many.  With PROFIL_REGION_F_BSD_ROUNDING it is
 * floor((pc - offset) * scale / 131072), as the kernels of BSD and illumos
 * compute it.
 *
 * Where regions overlap, the one with the largest offset has the program
 * counter.  Where several have the same offset, the first of these has it.
 * Beyond the end of its histogram, the regions that it hid have it.  Of several
 * regions with PROFIL_REGION_F_OVERFLOW the last one is used.
 *
 * A counter stays at its maximum once it is full.  Increments are atomic, also
 * between processes that share the memory.
 */
struct profil_region {
	__aligned_u64 buf_uptr;
	__aligned_u64 bytes;
	__aligned_u64 offset;
	__u32 scale;
	__u32 flags;
};

/* Bits of profil_ioc_start.flags. */
#define PROFIL_START_F_USER_ONLY	(1 << 0)
#define PROFIL_START_F_NOINHERIT	(1 << 1)

/**
 * struct profil_ioc_start - ioctl(PROFIL_IOC_START)
 * @size: sizeof(struct profil_ioc_start)
 * @flags: PROFIL_START_F_*, see below
 * @region_num: Number of regions; 0 ends the profile
 * @region_len: sizeof(struct profil_region), the stride of the array
 * @regions_uptr: Array of struct profil_region, in any order
 * @rate: Samples for each second of CPU time.  With PROFIL_SOURCE_TICK it is at
 *        most &struct profil_ioc_query.out_tick_hz, and 0 means every tick.  Of the
 *        ticks of the whole process, a random choice of the right size is due
 * @source: What gives the samples, PROFIL_SOURCE_TICK or PROFIL_SOURCE_TIMER
 * @jitter: With PROFIL_SOURCE_TIMER, how much of a period is random, from 0 to
 *          100 percent
 * @__reserved: Must be 0
 * @period_ns: Instead of @rate, which is 0 then: nanoseconds of CPU time for each
 *             sample, at most a second.  With PROFIL_SOURCE_TICK a second must be
 *             a multiple of it
 * @out_anchor: Address of the anchor, one page of the address space.  munmap() of
 *              it ends the profile as PROFIL_IOC_STOP does, needs neither device
 *              nor descriptor, and leaves nothing, not even the counts of STATS.
 *              0 if nothing is profiled
 * @out_cookie: Names this profile for STOP and STATS, also in forked children.
 *              Never used twice; 0 if nothing is profiled
 *
 * Profiles all threads of the caller's address space, present and future, in
 * user mode and in the kernel.  A tick in the kernel is counted at the program
 * counter that the thread returns to.  START replaces the regions of an earlier
 * START at once.  When no region is left, because each has scale 0, it ends the
 * profile like PROFIL_IOC_STOP.  On success as on failure, no CPU writes to a
 * histogram that is no longer part of the profile once the call has returned.
 * A histogram that is not wholly writable fails with ENXIO and ends an earlier
 * profile, as profil(2) does on BSD; so does EFAULT if what START has to say could
 * not be written.  Every other failure leaves it running.
 *
 * Several libraries of a process may start a profile, and the last one has it.  The
 * cookie tells the others that theirs was replaced.  Before munmap() of an address that
 * may be another's by now: of an anchor, madvise(MADV_COLD) fails with EINVAL, and
 * msync(MS_INVALIDATE) succeeds, which for locked memory fails with EBUSY.
 *
 * With PROFIL_SOURCE_TIMER, the CPU time of the process is cut into periods of
 * 1/@rate second or @period_ns, and each period gives one sample; "tick" then means
 * such a sample.  There are at most &struct profil_ioc_query.out_timer_rate_max in a
 * second, and at least one.  With a
 * @jitter of 0 the samples are one period apart.  With 100 each may be anywhere
 * in its period, so that no program can run in step with them.  A thread that
 * runs on another CPU while START is called is sampled from its next tick on.
 * CPUs that are left without a tick (nohz_full) are left without this timer as
 * well.
 *
 * - PROFIL_START_F_USER_ONLY: leaves out ticks in the kernel;
 * - PROFIL_START_F_NOINHERIT: forked children are not profiled.
 */
struct profil_ioc_start {
	__u32 size;
	__u32 flags;
	__u32 region_num;
	__u32 region_len;
	__aligned_u64 regions_uptr;
	__u32 rate;
	__u32 source;
	__u32 jitter;
	__u32 __reserved;
	__aligned_u64 period_ns;
	__aligned_u64 out_anchor;
	__aligned_u64 out_cookie;
};

/**
 * struct profil_ioc_stop - ioctl(PROFIL_IOC_STOP)
 * @size: sizeof(struct profil_ioc_stop)
 * @flags: Must be 0
 * @cookie: Of the START whose profile is to end, or 0: any.  Must be 0 for a session
 *
 * With a session's descriptor, the session has no members any more, and can have none;
 * when it returns, nothing in its mapping changes any more.  Otherwise:
 * When it returns, no CPU writes to the histograms any more, and each sample that
 * is in one is in out_in_range of PROFIL_IOC_STATS.  Stopping what is not started
 * succeeds.
 */
struct profil_ioc_stop {
	__u32 size;
	__u32 flags;
	__aligned_u64 cookie;
};

/* Values of profil_ioc_stats.out_state. */
#define PROFIL_STATE_OFF	0	/* stopped, or an earlier START failed with ENXIO */
#define PROFIL_STATE_ON		1	/* counting */
#define PROFIL_STATE_FAULT	2	/* ended: a histogram is no longer writable */

/**
 * struct profil_ioc_stats - ioctl(PROFIL_IOC_STATS)
 * @size: sizeof(struct profil_ioc_stats)
 * @flags: Must be 0
 * @out_state: PROFIL_STATE_*
 * @out_rate: Samples for each second of CPU time, 0 for every tick
 * @out_ticks: Ticks that found a profiled thread of this process.  Each is in
 *             exactly one of the classes that follow
 * @out_not_due: left out by the rate
 * @out_in_range: counted in a histogram
 * @out_outside: in no region, or beyond the end of its histogram
 * @out_saturated: not counted because the counter was at its maximum
 * @out_pending: on their way: they will be counted when their thread returns
 *               to user mode, or when a worker runs
 * @out_lost: not counted, the sum of the reasons that follow
 * @out_lost_full: no free pending record
 * @out_lost_stopped: still pending when the profile was stopped or replaced
 * @out_lost_exit: the thread ended or executed another program first
 * @out_lost_fault: the histogram was no longer writable
 * @out_lost_denied: the memory may not be written by this thread (protection
 *                   key, shadow stack, device or poisoned memory)
 * @out_lost_unready: there is no page (SIGBUS), or it did not become present
 *                    without waiting, and the place must not wait (userfaultfd,
 *                    I/O)
 * @out_lost_contended: others changed the same word all the time
 * @out_deferred: beside the above: how many were or are to be counted outside
 *                the tick
 * @out_borrowed: beside the above: ticks of kernel threads that worked for this
 *                address space; they are nobody's user code
 * @out_forks_missed: Children that are not profiled for want of memory or by a
 *                    limit
 * @out_fault_addr: Address of the counter that ended the profile
 * @out_system: of @out_ticks, left out because of PROFIL_START_F_USER_ONLY
 * @out_source: PROFIL_SOURCE_*, of the profile that was started last
 * @out_reserved: 0
 * @cookie: Of the START that the caller asks about, or 0: any
 * @out_cookie: Of the START that was the last one
 * @out_period_ns: Nanoseconds of CPU time for each sample on the average, rounded
 *                 down, of the profile that was started last
 *
 * At any time
 * ticks = not_due + system + in_range + outside + saturated + pending + lost.
 * The counts go on over STOP and START; a forked child begins at 0.  A reason that
 * a later version adds is part of out_lost, so that this holds for callers that do
 * not know it.
 */
struct profil_ioc_stats {
	__u32 size;
	__u32 flags;
	__u32 out_state;
	__u32 out_rate;
	__aligned_u64 out_ticks;
	__aligned_u64 out_not_due;
	__aligned_u64 out_in_range;
	__aligned_u64 out_outside;
	__aligned_u64 out_saturated;
	__aligned_u64 out_pending;
	__aligned_u64 out_lost;
	__aligned_u64 out_lost_full;
	__aligned_u64 out_lost_stopped;
	__aligned_u64 out_lost_exit;
	__aligned_u64 out_lost_fault;
	__aligned_u64 out_lost_denied;
	__aligned_u64 out_lost_unready;
	__aligned_u64 out_lost_contended;
	__aligned_u64 out_deferred;
	__aligned_u64 out_borrowed;
	__aligned_u64 out_forks_missed;
	__aligned_u64 out_fault_addr;
	__aligned_u64 out_system;
	__u32 out_source;
	__u32 out_reserved;
	__aligned_u64 cookie;
	__aligned_u64 out_cookie;
	__aligned_u64 out_period_ns;
};

/* Bits of profil_ioc_session.flags. */
#define PROFIL_SESSION_F_NOINHERIT	(1 << 0)
#define PROFIL_SESSION_F_PER_PROCESS	(1 << 1)
#define PROFIL_SESSION_F_USER_ONLY	(1 << 2)
#define PROFIL_SESSION_F_KERNEL		(1 << 3)
#define PROFIL_SESSION_F_SYSTEM		(1 << 4)

/* Sizes of the tables of a session. */
#define PROFIL_SLOTS_MIN	1024
#define PROFIL_SLOTS_MAX	(1 << 20)
#define PROFIL_PROCESSES_MIN	16
#define PROFIL_PROCESSES_MAX	65536
#define PROFIL_OBJECTS_MIN	16
#define PROFIL_OBJECTS_MAX	65536

/**
 * struct profil_ioc_session - ioctl(PROFIL_IOC_SESSION), of the device or of a session
 * @size: sizeof(struct profil_ioc_session)
 * @flags: PROFIL_SESSION_F_*, see below
 * @slots: Size of the table of places, a power of 2, from PROFIL_SLOTS_MIN to
 *         PROFIL_SLOTS_MAX.  A place looks for a free one among 32: give twice as many as
 *         there may be places
 * @processes: Size of the table of processes, from PROFIL_PROCESSES_MIN to
 *             PROFIL_PROCESSES_MAX.  Row 0 is for all processes that find no row.
 *             As many processes, but at most 4096, are members at a time.  With
 *             PROFIL_SESSION_F_SYSTEM a row is not that of a process, see there
 * @objects: Size of the table of objects, a power of 2, from PROFIL_OBJECTS_MIN to
 *           PROFIL_OBJECTS_MAX.  As with @slots, give twice as many as there may be files
 * @rate: With PROFIL_SOURCE_TICK, ticks that are due for each second of CPU time, of all
 *        members together, at most &struct profil_ioc_query.out_tick_hz; 0 means every
 *        tick.  With PROFIL_SOURCE_TIMER, samples for each second of CPU time of each
 *        member, from 1 to &struct profil_ioc_query.out_timer_rate_max
 * @source: PROFIL_SOURCE_TICK or PROFIL_SOURCE_TIMER, as in &struct profil_ioc_start.
 *          What is said of ticks is true of the samples of a timer
 * @jitter: As in &struct profil_ioc_start
 * @out_bytes: Size of the mapping
 * @out_fd: The descriptor of the session, to be mapped from offset 0 with PROT_READ.
 *          It is closed on exec, and children do not have the mapping
 * @__reserved: Must be 0
 *
 * Makes a session, which counts processes in tables of the kernel's.  Processes become
 * members by PROFIL_IOC_JOIN and PROFIL_IOC_ATTACH, and so do the children of members,
 * before they run.  All threads of a member count, in user mode and in the kernel; a tick
 * in the kernel counts as system time at the program counter that the thread returns to.
 * A member remains one when it executes a program that ptrace(2) would let who made the
 * session trace; otherwise it ceases to be one before that program runs.
 *
 * A process sees nothing of it: it has no mapping, descriptor, or signal of the session.
 * The session lives as long as its descriptor or its mapping.  Who has the descriptor may
 * read what was counted.  poll() of it says POLLHUP once the session is stopped, or has
 * had a member and has none any more.
 *
 * - PROFIL_SESSION_F_NOINHERIT: children of members are not members;
 * - PROFIL_SESSION_F_PER_PROCESS: places in files are told apart by process;
 * - PROFIL_SESSION_F_USER_ONLY: ticks in the kernel are not due;
 * - PROFIL_SESSION_F_KERNEL: ticks in the kernel are also counted where the kernel was, in
 *   slots of PROFIL_OBJECT_KERNEL.  EPERM without CAP_PERFMON; EINVAL together with
 *   PROFIL_SESSION_F_USER_ONLY;
 * - PROFIL_SESSION_F_SYSTEM: each tick of each CPU counts, whoever runs there, from now on
 *   until the session is stopped.  There are no members: JOIN and ATTACH say EINVAL.  EPERM
 *   without CAP_PERFMON; EINVAL together with other flags than PROFIL_SESSION_F_KERNEL;
 *   EOPNOTSUPP with a rate, or with PROFIL_SOURCE_TIMER; ENOSPC if there are four such
 *   sessions.  A row is that of a control group and the name of a program.
 *
 * SESSION of the descriptor of a session with PROFIL_SESSION_F_SYSTEM makes one that follows
 * it, and so has that flag as well (EINVAL otherwise; ESRCH if the former was stopped): a
 * tick is counted in the former one or in the new one, never in both, never in none.  The
 * former one is stopped when SESSION returns, and can be read as long as it is open.  Where
 * the caller could not be told of the new one (EFAULT), the former one is stopped as well, and
 * the new one ends.
 */
struct profil_ioc_session {
	__u32 size;
	__u32 flags;
	__u32 slots;
	__u32 processes;
	__u32 objects;
	__u32 rate;
	__u32 source;
	__u32 jitter;
	__aligned_u64 out_bytes;
	__s32 out_fd;
	__u32 __reserved;
};

/**
 * struct profil_ioc_join - ioctl(PROFIL_IOC_JOIN), of a session's descriptor
 * @size: sizeof(struct profil_ioc_join)
 * @flags: Must be 0
 *
 * Makes the caller's process a member, with all its threads.
 */
struct profil_ioc_join {
	__u32 size;
	__u32 flags;
};

/**
 * struct profil_ioc_attach - ioctl(PROFIL_IOC_ATTACH), of a session's descriptor
 * @size: sizeof(struct profil_ioc_attach)
 * @flags: Must be 0
 * @pid: A thread of the process, as the caller's pid namespace numbers it
 * @__reserved: Must be 0
 *
 * Makes a process a member, with all its threads.  A thread of the caller's process has
 * to trace the given thread when ATTACH is called, with the user and all capabilities with
 * which it began to; it need not any more afterwards: PTRACE_SEIZE, ATTACH and exit never
 * stop the thread.  With CAP_PERFMON it need not be traced.
 */
struct profil_ioc_attach {
	__u32 size;
	__u32 flags;
	__s32 pid;
	__u32 __reserved;
};

/**
 * struct profil_ioc_object - ioctl(PROFIL_IOC_OBJECT), of a session's descriptor
 * @size: sizeof(struct profil_ioc_object)
 * @flags: Must be 0
 * @object: Index in the table of objects, whose entry is PROFIL_ENTRY_FILE
 * @out_fd: A descriptor of the file itself, open for reading and closed on exec, whatever
 *          its name is by now; or a negative errno if there is none: -EACCES if the
 *          caller may not read the file, or if it is no regular file.  Without
 *          CAP_DAC_READ_SEARCH also of a session with PROFIL_SESSION_F_SYSTEM, of one that
 *          another user or group, or one with more capabilities, made, and of one that was
 *          asked for a process that its maker may not trace: by ATTACH, with CAP_PERFMON
 *          alone, or by who has more rights than its maker
 * @path_uptr: Where to put the path, as the caller sees it, with a NUL byte at its end
 * @path_len: Size of that place; 0: the path is not wanted
 * @out_path_len: Length of the path with its NUL byte.  Nothing is at @path_uptr if this
 *                exceeds @path_len; 0: the path is longer than PATH_MAX
 */
struct profil_ioc_object {
	__u32 size;
	__u32 flags;
	__u32 object;
	__s32 out_fd;
	__aligned_u64 path_uptr;
	__u32 path_len;
	__u32 out_path_len;
};

/**
 * DOC: The mapping of a session
 *
 * The mapping begins with &struct profil_session_page, which says where its three tables
 * are.  An entry of each table has an index from 0 on; entry i is at offset +
 * i * len, which may exceed the size of the structure that this header knows.
 *
 * - Slots, &struct profil_slot: how often a place was found.  The order says nothing, and
 *   free slots lie between others: read all of them.  The index of a slot has no meaning.
 * - Processes, &struct profil_process: row by row in the order in which they became
 *   members, or were seen first.  &struct profil_slot.process and &struct
 *   profil_process.parent are indexes of this table.  Row 0 is that of all processes which
 *   found no other row.
 * - Objects, &struct profil_object_entry: where files lie.  &struct profil_slot.object is
 *   an index of this table from PROFIL_OBJECT_FILES on; lower numbers are PROFIL_OBJECT_*
 *   and have no entry.  Free entries may lie between others.  What has a kind that the
 *   reader does not know is no file.
 *
 * What a slot, a row or an entry is about never changes once it is there, but for
 * &struct profil_process.state, .images and .comm; and counts only grow.  One that is there
 * is read as follows:
 *
 * - a slot: load object with acquire semantics; if it is not 0, the rest is there;
 * - a row: load &struct profil_session_page.processes_used with acquire semantics; all rows
 *   below it are there;
 * - an entry of an object: load kind with acquire semantics; if it is not 0, the rest is
 *   there.  The entry of an object that a slot names is there.
 *
 * Ticks are in exactly one class each: ticks = not_due + in_slots + exec + full + idle +
 * kthreads + interrupts, where in_slots is the sum of user and system over all slots but
 * those of PROFIL_OBJECT_KERNEL.  A later version has another class only in sessions with a
 * flag that asks for it.
 *
 * With PROFIL_SESSION_F_KERNEL each tick in the kernel that is due, and not idle, counts once
 * more: in a slot of PROFIL_OBJECT_KERNEL, or in full_kernel.
 *
 * All ticks but those of idle are also counted by process, user and system: once the session
 * is stopped, the sum over all rows is equal to that of the other classes.  Before, it differs
 * by the ticks that are being counted at that moment: one of each CPU and, in kernels for real
 * time, those whose place a worker has yet to look up.
 *
 * With PROFIL_SESSION_F_SYSTEM the rows are equal to the kernel's own times of all CPUs where
 * these are counted by ticks, but for processors of virtual machines (KVM): what they run is
 * user time there, and here system time of who runs them.
 *
 * Its memory is bounded as follows.  A program makes a row of
 * its own only while a quarter of the rows are free; what comes later counts in the row of
 * its control group whose &struct profil_process.comm is empty.  A place that finds no slot
 * counts in the slot of its object and row whose place is PROFIL_PLACE_OTHERS.  To have room
 * for these, other places are given a slot only while a quarter of the slots are free.
 */

/* Values of profil_session_page.state. */
#define PROFIL_SESSION_ON	1	/* counting, or may have members yet */
#define PROFIL_SESSION_STOPPED	2	/* nothing changes any more */

/**
 * struct profil_session_page - The beginning of a session's mapping
 * @size: Bytes of this structure that are there
 * @abi: PROFIL_ABI of the module
 * @slots_offset: Offset of the table of slots
 * @processes_offset: Offset of the table of processes
 * @objects_offset: Offset of the table of objects
 * @slot_len: Bytes from one slot to the next
 * @slots: Number of slots, free ones included
 * @process_len: Bytes from one row to the next
 * @processes: Number of rows, free ones included
 * @object_len: Bytes from one entry to the next
 * @objects: Number of entries, free ones included
 * @state: PROFIL_SESSION_*
 * @members: Processes that are members now
 * @processes_used: Rows that are used, row 0 included
 * @objects_used: Entries that are used
 * @not_due: Ticks left out by the rate, or by PROFIL_SESSION_F_USER_ONLY
 * @exec: Ticks of members, or of all, that had no program: that were executing another, or
 *        had given up their memory to exit
 * @full: Ticks that found no slot, or whose file found no entry
 * @full_objects: Of @full, those whose file found no entry
 * @hinted: Beside the classes, ticks in slots whose mapping could not be looked up, because
 *          it was being changed: the place is in what was mapped there before; or, in kernels
 *          for real time, a moment later
 * @borrowed: Beside the classes, ticks of kernel threads of members' processes (io_uring)
 * @execs_denied: Members that ceased to be ones, because they executed what who made the
 *                session may not trace
 * @forks_missed: Children that did not become members, because there were too many members
 * @full_kernel: Beside the classes, ticks in the kernel that found no slot of
 *               PROFIL_OBJECT_KERNEL
 * @idle: Ticks of CPUs that had nothing to do.  A CPU that has no tick then has none here
 *        either.  This and what follows is 0 without PROFIL_SESSION_F_SYSTEM
 * @kthreads: Ticks of the kernel's own threads, also of those that work for a process
 *            (io_uring)
 * @interrupts: Ticks amid softirqs and other interrupts, whoever they came upon
 * @began_ns: When ticks began to count, by the kernel's CLOCK_MONOTONIC, in nanoseconds
 * @ended_ns: When they ceased to count, or 0.  It is @began_ns of the session that follows
 */
struct profil_session_page {
	__u32 size;
	__u32 abi;
	__aligned_u64 slots_offset;
	__aligned_u64 processes_offset;
	__aligned_u64 objects_offset;
	__u32 slot_len;
	__u32 slots;
	__u32 process_len;
	__u32 processes;
	__u32 object_len;
	__u32 objects;
	__u32 state;
	__u32 members;
	__u32 processes_used;
	__u32 objects_used;
	__aligned_u64 not_due;
	__aligned_u64 exec;
	__aligned_u64 full;
	__aligned_u64 full_objects;
	__aligned_u64 hinted;
	__aligned_u64 borrowed;
	__aligned_u64 execs_denied;
	__aligned_u64 forks_missed;
	__aligned_u64 full_kernel;
	__aligned_u64 idle;
	__aligned_u64 kthreads;
	__aligned_u64 interrupts;
	__aligned_u64 began_ns;
	__aligned_u64 ended_ns;
};

/* Values of profil_slot.object. */
#define PROFIL_OBJECT_FREE	0	/* the slot is free */
#define PROFIL_OBJECT_ADDRESS	1	/* not looked up: the place is an address */
#define PROFIL_OBJECT_ANONYMOUS	2	/* memory, also memfd and shared: the place is an address */
#define PROFIL_OBJECT_NONE	3	/* no mapping there: the place is an address */
#define PROFIL_OBJECT_VDSO	4	/* the place is an offset in [vdso] */
#define PROFIL_OBJECT_KERNEL	5	/* the place is an address of the kernel */
#define PROFIL_OBJECT_FILES	6	/* from here on: the place is an offset in the file */

/* Value of profil_slot.place: all places of that object and row that have no other slot. */
#define PROFIL_PLACE_OTHERS	(~0ULL)

/**
 * struct profil_slot - A place, and how often it was found
 * @place: Where in @object
 * @user: Ticks in user mode
 * @system: Ticks in the kernel, to return to that place
 * @object: PROFIL_OBJECT_* or, from PROFIL_OBJECT_FILES on, the index of an object
 * @process: Index of the process, where slots are told apart by process: all of objects
 *           PROFIL_OBJECT_ADDRESS to PROFIL_OBJECT_VDSO, and with
 *           PROFIL_SESSION_F_PER_PROCESS or PROFIL_SESSION_F_SYSTEM those of files and of
 *           the kernel; otherwise 0
 */
struct profil_slot {
	__aligned_u64 place;
	__aligned_u64 user;
	__aligned_u64 system;
	__u32 object;
	__u32 process;
};

/* Values of profil_process.state; with PROFIL_SESSION_F_SYSTEM all but row 0 are members. */
#define PROFIL_PROCESS_OTHERS	0	/* row 0 */
#define PROFIL_PROCESS_MEMBER	1	/* counted */
#define PROFIL_PROCESS_EXITED	2	/* ended as a member */
#define PROFIL_PROCESS_DENIED	3	/* executed what is not to be counted */
#define PROFIL_PROCESS_STOPPED	4	/* the session was stopped */

/**
 * struct profil_process - A process that is or was a member; or a program in a group
 * @pid: Its number in the pid namespace of who made the session; 0: it has none there.
 *       With PROFIL_SESSION_F_SYSTEM the process that was seen first
 * @parent: Index of the process that forked it; 0: it joined, or was attached, or its
 *          parent is in row 0
 * @images: Programs that it has executed as a member
 * @state: PROFIL_PROCESS_*
 * @comm: Name of its program, with a NUL byte at its end.  While @images changes, it may be
 *        partly that of the former one.  With PROFIL_SESSION_F_SYSTEM the name of a thread;
 *        that of a kernel thread ends before the first "/", or "-" and a digit
 * @user: Ticks in user mode, of all classes
 * @system: Ticks in the kernel, of all classes
 * @cgroup: With PROFIL_SESSION_F_SYSTEM the number of the control group, in the unified
 *          hierarchy: that of its directory's inode; otherwise 0
 */
struct profil_process {
	__u32 pid;
	__u32 parent;
	__u32 images;
	__u32 state;
	char comm[16];
	__aligned_u64 user;
	__aligned_u64 system;
	__aligned_u64 cgroup;
};

/* Values of profil_object_entry.kind. */
#define PROFIL_ENTRY_FILE	1

/**
 * struct profil_object_entry - A file in which places were found
 * @dev: Number of its file system, as the kernel has it: major << 20 | minor
 * @ino: Number of its inode
 * @generation: Of the inode, where the file system has one
 * @kind: 0: the entry is free; PROFIL_ENTRY_FILE: PROFIL_IOC_OBJECT opens the file
 */
struct profil_object_entry {
	__aligned_u64 dev;
	__aligned_u64 ino;
	__u32 generation;
	__u32 kind;
};

#endif /* _UAPI_LINUX_PROFIL_H */
