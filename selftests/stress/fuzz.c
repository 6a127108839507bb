// SPDX-License-Identifier: GPL-2.0-only
/*
 * A fuzzer of /dev/profil and of the memory under it, guided by KCOV.
 *
 *	fuzz CALLS SEED [FILE]
 *
 * It runs programs, each with some threads, many of them one after the other in
 * a process, and a few processes at a time: on the kernel that this is for, a
 * new process costs as much as a hundred calls.  A program is made of genes,
 * one for each operation of a thread, and all that an operation does follows
 * from its gene.  The name of a program is what it was made from: the number
 * its first genes were drawn with, and those of the mutations since, as
 * "1f.2e.3d".  So a name replays the same operations in each thread; with a
 * FILE of names, nothing else is run.
 *
 * Nothing but the process itself is left of a program when the next one begins:
 * no profile, memory, descriptor, timer or thread.  All but the last of a
 * process end by that; the last one by exit, exec or SIGKILL.
 *
 * A program that reached code of the module which none before it did is kept,
 * and mutated later.  What runs when is the scheduler's, so which programs are
 * kept may differ between two runs with the same seed; their names do not lie.
 *
 * Nothing here can block for ever.  Userfaults are served, or let go of, by a
 * process that is not profiled; children are few and end by themselves; and a
 * program that has not ended after a count of polls is killed, with all its
 * children.  One that survives that is a bug found.
 *
 * A call is counted if it is a system call that an operation is there for.  What
 * prepares it, has it fail or tidies up is not.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <linux/kcov.h>
#include <linux/profil.h>
#include <linux/userfaultfd.h>

#define PAGE		4096UL
#define ARENA		0x10000000UL	/* all that programs map and unmap */
#define ARENA_PAGES	64UL
#define ARENA_BYTES	(ARENA_PAGES * PAGE)

#define SLOTS		3	/* processes at a time */
#define PROGRAMS	8	/* of a process, at most */
#define THREADS		4	/* of a program, at its beginning */
#define GENES		24	/* of a thread */
#define NAME_PARTS	8	/* of a program */
#define NAME_CHARS	(17 * NAME_PARTS)
#define CORPUS		512
#define DESCRIPTORS	4	/* of the device, in a program */
#define CHILDREN	2	/* of a program */
#define BIRTHS		3	/* of threads, in a program */
#define REGIONS		4200	/* more than one START takes */

#define SEEN_BITS	20
#define COVER_WORDS	4096

#define POLL_US		20000
#define POLLS_KILL	1500	/* then a program is killed, with its process */
#define POLLS_STUCK	9000	/* then the kernel does not let it die */
#define POLLS_REPORT	500

typedef unsigned long long u64;

struct name {
	int parts;
	u64 part[NAME_PARTS];
};

struct program {
	int threads;
	int rounds;
	int genes[THREADS];
	u64 gene[THREADS][GENES];
};

struct slot {
	pid_t pid;
	unsigned int polls;
	unsigned int seen_started;	/* by who polls */
	unsigned int started;		/* programs */
	struct name name;
	unsigned int fresh;		/* code that only this program reached */
	const char *last[THREADS];	/* the operation of each thread */
	int kcov[THREADS];
	unsigned long *cover[THREADS];
	int server;			/* takes userfaultfds */
};

/* Shared by all processes. */
struct shared {
	unsigned long calls;
	unsigned long limit;		/* of calls */
	unsigned long faults;		/* that came about */
	unsigned long pcs;
	unsigned int blind;		/* threads without faults, or whose code is not seen */
	unsigned int programs;
	unsigned int in_corpus;
	struct name corpus[CORPUS];
	struct slot slot[SLOTS];
	unsigned int seen[1 << (SEEN_BITS - 5)];
};

static struct shared *shared;
static struct name *listed;		/* nothing but these is run */
static unsigned int nr_listed, processes, killed, died;
static int kmsg;

struct thread {
	u64 rng;
	int index;			/* -1: one that came later, or a child */
	int fail_nth;			/* a file */
	unsigned int nth;		/* what is to fail in this call, or 0 */
	unsigned long *cover;
	unsigned char args[2 * PAGE];
	struct profil_region region[REGIONS];
};

/* Of the process that runs a program. */
static struct slot *slot;
static int descriptor[DESCRIPTORS], memfd, maps;
static struct stat device;
static int first_descriptor;	/* a program's own are not below */
static unsigned int children, births, late_threads;
static volatile unsigned int signals;
static __thread sigjmp_buf *escape;

static u64 next(u64 *rng)
{
	*rng ^= *rng << 13;
	*rng ^= *rng >> 7;
	*rng ^= *rng << 17;
	return *rng;
}

/* One number is as good a seed as the next one; 0 is none for xorshift. */
static u64 scatter(u64 seed)
{
	seed = (seed ^ seed >> 30) * 0xbf58476d1ce4e5b9ULL;
	seed = (seed ^ seed >> 27) * 0x94d049bb133111ebULL;
	return (seed ^ seed >> 31) | 1;
}

static unsigned int below(struct thread *t, unsigned int limit)
{
	return (next(&t->rng) >> 32) % limit;
}

static bool once_in(struct thread *t, unsigned int times)
{
	return !below(t, times);
}

#define pick(t, ...)							\
({									\
	static const u64 of[] = { __VA_ARGS__ };			\
	of[below(t, sizeof(of) / sizeof(of[0]))];			\
})

static u64 wild(struct thread *t)
{
	u64 value = pick(t, 0, 1, 2, 7, 8, PAGE - 1, PAGE, PAGE + 1, INT_MAX,
			 1ULL << 31, UINT_MAX, 1ULL << 32, 1ULL << 47,
			 (1ULL << 47) - PAGE, 1ULL << 63, -1ULL, -2ULL, -PAGE,
			 ARENA, ARENA + ARENA_BYTES, ARENA + ARENA_BYTES - 1);

	switch (below(t, 4)) {
	case 0:
		return next(&t->rng);
	case 1:
		return next(&t->rng) >> below(t, 64);
	default:
		return value;
	}
}

/* Seldom something else than what would do. */
static u64 mostly(struct thread *t, u64 value)
{
	return once_in(t, 24) ? wild(t) : value;
}

static void *arena_page(struct thread *t)
{
	return (void *)(ARENA + below(t, ARENA_PAGES) * PAGE);
}

/* From @at on, as many bytes as the arena may have there. */
static size_t arena_len(struct thread *t, void *at)
{
	size_t left = ARENA + ARENA_BYTES - (unsigned long)at;
	size_t len = (once_in(t, 40) ? ARENA_PAGES : pick(t, 1, 1, 1, 2, 3, 8)) * PAGE;

	return len < left ? len : left;
}

static void segv(int sig)
{
	if (escape)
		siglongjmp(*escape, 1);
	_exit(100 + sig);
}

static void count_signal(int sig)
{
	signals += sig;
}

/* Touches memory that may not be there. */
static void touch(volatile unsigned char *at, const void *from, size_t len)
{
	sigjmp_buf *outer = escape, here;
	size_t i;

	if (!sigsetjmp(here, 0)) {
		escape = &here;
		for (i = 0; i < len; i++)
			at[i] = ((const unsigned char *)from)[i];
	}
	escape = outer;
}

static void see(struct thread *t)
{
	unsigned long i, n;

	if (!t->cover)
		return;
	n = __atomic_load_n(&t->cover[0], __ATOMIC_RELAXED);
	for (i = 1; i <= n && i < COVER_WORDS; i++) {
		unsigned int hash = t->cover[i] * 0x9e3779b97f4a7c15ULL >>
				    (64 - SEEN_BITS);
		unsigned int *word = &shared->seen[hash / 32];
		unsigned int bit = 1U << hash % 32;

		if (*word & bit || __atomic_fetch_or(word, bit, __ATOMIC_RELAXED) & bit)
			continue;
		__atomic_add_fetch(&shared->pcs, 1, __ATOMIC_RELAXED);
		__atomic_add_fetch(&slot->fresh, 1, __ATOMIC_RELAXED);
	}
}

static void write_number(int file, unsigned int number)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", number);

	/* The write itself may be what fails, and uses the fault up then. */
	if (write(file, text, len) < 0)
		return;
}

/* Before and after each call that is counted. */
static void begin(struct thread *t)
{
	__atomic_add_fetch(&shared->calls, 1, __ATOMIC_RELAXED);
	if (t->cover)
		__atomic_store_n(&t->cover[0], 0, __ATOMIC_RELAXED);
}

static long end(struct thread *t, long ret)
{
	see(t);
	return ret;
}

#define CALL(t, call)	(begin(t), end(t, call))

static void begin_faulty(struct thread *t, unsigned int nth)
{
	begin(t);
	t->nth = nth;
	if (nth)
		write_number(t->fail_nth, nth);
}

/* If the copy of the answer is what fails, nothing had failed before. */
static bool fault_came(int file)
{
	char text[16] = "";

	return pread(file, text, sizeof(text) - 1, 0) > 0 && text[0] == '0';
}

static long end_faulty(struct thread *t, long ret)
{
	if (t->nth) {
		__atomic_add_fetch(&shared->faults, fault_came(t->fail_nth),
				   __ATOMIC_RELAXED);
		write_number(t->fail_nth, 0);
		t->nth = 0;
	}
	return end(t, ret);
}

/* The same, and now and then something fails in it. */
#define FAULTY(t, call)							\
	(begin_faulty(t, once_in(t, 6) ? 1 + below(t, 24) : 0),		\
	 end_faulty(t, call))

static int any_descriptor(struct thread *t)
{
	return descriptor[below(t, DESCRIPTORS)];
}

/* The first code that burns, on a page of its own. */
static void __attribute__((aligned(4096), noinline)) spin(unsigned long rounds)
{
	while (rounds--)
		__asm__ volatile("" ::: "memory");
}

/* A tick or two of CPU time. */
static void op_burn(struct thread *t)
{
	long end_ns = (1 + below(t, 2)) * 4000000L;
	struct timespec ts;
	int i;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	end_ns += ts.tv_sec * 1000000000L + ts.tv_nsec;
	for (i = 0; i < 1000; i++) {
		spin(20000);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
		if (ts.tv_sec * 1000000000L + ts.tv_nsec >= end_ns)
			break;
	}
}

/*
 * Gives the argument of a command to the kernel: as it is, or from the arena,
 * where others may unmap it, or across the end of a mapping.
 */
static long command(struct thread *t, unsigned long cmd, size_t len)
{
	unsigned long at = ARENA + below(t, ARENA_BYTES - 2 * PAGE);
	__u32 size;

	if (once_in(t, 12)) {
		memset(t->args + len, once_in(t, 2) ? 0 : 1, 64);
		size = pick(t, 0, 4, 7, 8, 39, 40, 41, 48, 64, 168, 169, PAGE,
			    PAGE + 1, UINT_MAX);
		memcpy(t->args, &size, sizeof(size));
	}
	if (once_in(t, 12))
		return FAULTY(t, ioctl(any_descriptor(t), cmd, wild(t)));
	if (!once_in(t, 6))
		return FAULTY(t, ioctl(any_descriptor(t), cmd, t->args));
	if (once_in(t, 2))
		at = (at | (PAGE - 1)) + 1 - len / 2;
	touch((void *)at, t->args, len);
	return FAULTY(t, ioctl(any_descriptor(t), cmd, at));
}

static void make_region(struct thread *t, struct profil_region *region)
{
	u64 pc = once_in(t, 2) ? (unsigned long)spin : pick(t, 0, 0x400000, ARENA);

	*region = (struct profil_region){
		.buf_uptr = mostly(t, ARENA + (below(t, ARENA_BYTES) &
					       ~pick(t, 0, 1, 3, 3, 3, 7, PAGE - 1))),
		.bytes = mostly(t, pick(t, 0, 1, 2, 3, 4, 8, 64, 1000, PAGE,
					8 * PAGE)),
		.offset = mostly(t, pc),
		.scale = mostly(t, pick(t, 0, 1, 2, 3, 32, 32768, 65535, 65536,
					65537, 131072)),
		.flags = once_in(t, 3) ? below(t, 16) : 0,
	};
	if (once_in(t, 100))
		region->flags = wild(t);
}

static void op_start(struct thread *t)
{
	struct profil_ioc_start *start = (void *)t->args;
	__u32 num = pick(t, 1, 1, 1, 1, 2, 2, 3, 0, 17), i;
	unsigned long at = ARENA + below(t, ARENA_BYTES - PAGE);

	if (once_in(t, 150))
		num = pick(t, 64, 1000, 4095, 4096, 4097);
	*start = (struct profil_ioc_start){
		.size = sizeof(*start),
		.flags = once_in(t, 3) ? below(t, 4) : 0,
		.region_num = num,
		.region_len = sizeof(struct profil_region),
		.regions_uptr = (unsigned long)t->region,
		.rate = once_in(t, 3) ? pick(t, 1, 3, 100, 125, 249, 250, 251, 1000) : 0,
	};
	if (!start->rate && once_in(t, 3))
		start->period_ns = pick(t, 1, 100000, 10000000, 4000000, 1000000000);
	for (i = 0; i < num && i < REGIONS; i++)
		make_region(t, &t->region[i]);
	if (once_in(t, 8)) {
		touch((void *)at, t->region, 3 * sizeof(t->region[0]));
		start->regions_uptr = at;
	}
	if (once_in(t, 16))
		start->region_len = pick(t, 0, 31, 33, 40, 64, PAGE, PAGE + 1);
	/* Any word of it, or none. */
	if (once_in(t, 16))
		((__u32 *)start)[1 + below(t, sizeof(*start) / 4 - 1)] = wild(t);
	command(t, PROFIL_IOC_START, sizeof(*start));
}

static void op_other_command(struct thread *t)
{
	struct profil_ioc_stats stats = { .size = sizeof(stats) };
	struct profil_ioc_query query = { .size = sizeof(query) };
	struct profil_ioc_stop stop = { .size = sizeof(stop) };
	__u32 flags = mostly(t, 0);

	switch (below(t, 8)) {
	case 0:
	case 1:
	case 2:
		stop.flags = flags;
		stop.cookie = once_in(t, 8) ? wild(t) : 0;
		memcpy(t->args, &stop, sizeof(stop));
		command(t, PROFIL_IOC_STOP, sizeof(stop));
		break;
	case 3:
		query.flags = flags;
		memcpy(t->args, &query, sizeof(query));
		command(t, PROFIL_IOC_QUERY, sizeof(query));
		break;
	case 4:
		command(t, once_in(t, 2) ? wild(t) :
			_IOC(below(t, 4), PROFIL_IOC_MAGIC, below(t, 6), below(t, 2) * 40),
			40);
		break;
	default:
		stats.flags = flags;
		stats.cookie = once_in(t, 8) ? wild(t) : 0;
		memcpy(t->args, &stats, sizeof(stats));
		command(t, PROFIL_IOC_STATS, sizeof(stats));
	}
}

static void op_mmap(struct thread *t)
{
	int prot = pick(t, PROT_READ | PROT_WRITE, PROT_READ | PROT_WRITE,
			PROT_READ | PROT_WRITE | PROT_EXEC, PROT_READ, PROT_NONE);
	/*
	 * None is locked: where mprotect() makes locked pages that a userfault is
	 * to make, a kernel with DEBUG_VM complains of itself, with a trace.
	 */
	int flags = MAP_FIXED | pick(t, 0, 0, 0, 0, 0, MAP_POPULATE, MAP_NORESERVE);
	void *at = arena_page(t);
	size_t len = arena_len(t, at);

	switch (below(t, 5)) {
	case 0:
		FAULTY(t, (long)mmap(at, len, prot, flags | MAP_SHARED, memfd,
				     below(t, ARENA_PAGES) * PAGE));
		break;
	case 1:
		FAULTY(t, (long)mmap(at, len, prot, flags | MAP_SHARED | MAP_ANONYMOUS,
				     -1, 0));
		break;
	case 2:
		/* The device has no mapping but the anchor. */
		FAULTY(t, (long)mmap(at, len, prot, MAP_FIXED |
				     pick(t, MAP_SHARED, MAP_PRIVATE),
				     any_descriptor(t), below(t, 2) * PAGE));
		break;
	default:
		FAULTY(t, (long)mmap(at, len, prot, flags | MAP_PRIVATE | MAP_ANONYMOUS,
				     -1, 0));
	}
}

static void op_munmap(struct thread *t)
{
	void *at = arena_page(t);

	FAULTY(t, munmap(at, arena_len(t, at)));
}

static void op_mprotect(struct thread *t)
{
	void *at = arena_page(t);
	int prot = pick(t, PROT_READ | PROT_WRITE, PROT_READ | PROT_WRITE, PROT_READ,
			PROT_NONE, PROT_READ | PROT_EXEC);
	int key = once_in(t, 8) ? pkey_alloc(0, pick(t, 0, PKEY_DISABLE_WRITE,
						     PKEY_DISABLE_ACCESS)) : -1;

	if (key < 0) {
		FAULTY(t, mprotect(at, arena_len(t, at), prot));
	} else {
		FAULTY(t, pkey_mprotect(at, arena_len(t, at), prot, key));
		if (once_in(t, 2))
			pkey_free(key);
	}
}

static void op_madvise(struct thread *t)
{
	void *at = arena_page(t);
	int advice = pick(t, MADV_DONTNEED, MADV_DONTNEED, MADV_FREE, MADV_PAGEOUT,
			  MADV_COLD, MADV_WILLNEED, MADV_HUGEPAGE, MADV_NOHUGEPAGE,
			  MADV_DONTFORK, MADV_DOFORK, MADV_WIPEONFORK,
			  MADV_KEEPONFORK, MADV_MERGEABLE, MADV_UNMERGEABLE,
			  MADV_POPULATE_READ, MADV_POPULATE_WRITE, MADV_REMOVE);

	FAULTY(t, madvise(at, arena_len(t, at), advice));
}

static void op_mremap(struct thread *t)
{
	void *from = arena_page(t), *to = arena_page(t);
	size_t len = arena_len(t, from);

	if (once_in(t, 3))
		FAULTY(t, (long)mremap(from, len, arena_len(t, from), 0));
	else
		FAULTY(t, (long)mremap(from, len, arena_len(t, to), MREMAP_MAYMOVE |
				       MREMAP_FIXED | pick(t, 0, 0, MREMAP_DONTUNMAP),
				       to));
}

/* Bytes in the histograms: counters that are full, words that others change. */
static void op_touch(struct thread *t)
{
	unsigned char bytes[64];
	int i, n = once_in(t, 8) ? 20 : 1;

	memset(bytes, pick(t, 0, 0x7f, 0xff, 0xff), sizeof(bytes));
	for (i = 0; i < n; i++)
		touch((void *)(ARENA + (below(t, ARENA_BYTES - 64) & ~7UL)), bytes,
		      sizeof(bytes));
}

static void op_truncate(struct thread *t)
{
	CALL(t, ftruncate(memfd, below(t, ARENA_PAGES + 1) * PAGE));
}

/* Of linux/fs.h since 6.11; a read of all mappings takes twenty times as long. */
struct procmap_query {
	u64 size;
	u64 query_flags;
	u64 query_addr;
	u64 vma_start;
	u64 vma_end;
	u64 vma_flags;
	u64 vma_page_size;
	u64 vma_offset;
	u64 inode;
	__u32 dev_major;
	__u32 dev_minor;
	__u32 vma_name_size;
	__u32 build_id_size;
	u64 vma_name_addr;
	u64 build_id_addr;
};

#define PROCMAP_QUERY	_IOWR('f', 17, struct procmap_query)
#define NEXT_OF_FILE	0x30	/* COVERING_OR_NEXT_VMA, FILE_BACKED_VMA */

/* Above the arena new mappings are the lowest, so this seldom asks twice. */
static unsigned long find_anchor(void)
{
	struct procmap_query query;
	unsigned long at = ARENA + ARENA_BYTES;

	for (;; at = query.vma_end) {
		query = (struct procmap_query){
			.size = sizeof(query),
			.query_flags = NEXT_OF_FILE,
			.query_addr = at,
		};
		if (ioctl(maps, PROCMAP_QUERY, &query))
			return 0;
		if (query.inode == device.st_ino &&
		    makedev(query.dev_major, query.dev_minor) == device.st_dev)
			return query.vma_start;
	}
}

static void op_anchor(struct thread *t)
{
	void *anchor = (void *)find_anchor();
	void *to = arena_page(t);

	if (!anchor)
		return;
	switch (below(t, 10)) {
	case 0:
	case 1:
		FAULTY(t, munmap(anchor, PAGE));
		break;
	case 2:
		FAULTY(t, (long)mmap(anchor, PAGE, PROT_READ | PROT_WRITE, MAP_FIXED |
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
		break;
	case 3:
		FAULTY(t, (long)mremap(anchor, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED |
				       pick(t, 0, MREMAP_DONTUNMAP), to));
		break;
	case 4:
		FAULTY(t, (long)mremap(anchor, pick(t, 0, PAGE), 2 * PAGE,
				       pick(t, 0, MREMAP_MAYMOVE)));
		break;
	case 5:
		FAULTY(t, mprotect(anchor, PAGE, pick(t, PROT_READ, PROT_WRITE,
						      PROT_EXEC, PROT_NONE)));
		break;
	case 6:
		FAULTY(t, madvise(anchor, PAGE, pick(t, MADV_DONTNEED, MADV_DONTFORK,
						     MADV_DOFORK, MADV_WIPEONFORK,
						     MADV_REMOVE, MADV_PAGEOUT)));
		break;
	case 7:
		FAULTY(t, mlock(anchor, PAGE));
		break;
	case 8:
		to = mmap((char *)anchor - PAGE, PAGE, PROT_NONE, MAP_FIXED_NOREPLACE |
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (to != MAP_FAILED)
			FAULTY(t, munmap(to, 2 * PAGE));
		break;
	default:
		touch(anchor, "x", 1);
	}
}

static void op_descriptor(struct thread *t)
{
	int *which = &descriptor[below(t, DESCRIPTORS)];
	int mode = pick(t, O_RDWR, O_RDWR, O_RDONLY, O_WRONLY, O_PATH);
	int file;

	if (once_in(t, 3)) {
		file = CALL(t, dup(any_descriptor(t)));
		if (file >= 0)
			CALL(t, close(file));
		return;
	}
	CALL(t, close(*which));
	*which = CALL(t, open("/dev/profil", mode | O_CLOEXEC));
}

static bool send_file(int to, int file)
{
	char space[CMSG_SPACE(sizeof(file))] = { }, byte = 0;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr message = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = space,
		.msg_controllen = sizeof(space),
	};
	struct cmsghdr *control = CMSG_FIRSTHDR(&message);

	control->cmsg_level = SOL_SOCKET;
	control->cmsg_type = SCM_RIGHTS;
	control->cmsg_len = CMSG_LEN(sizeof(file));
	memcpy(CMSG_DATA(control), &file, sizeof(file));
	return sendmsg(to, &message, MSG_DONTWAIT) == 1;
}

static int receive_file(int from, int flags)
{
	char space[CMSG_SPACE(sizeof(int))] = { }, byte;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr message = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = space,
		.msg_controllen = sizeof(space),
	};
	int file = -1;

	if (recvmsg(from, &message, flags) == 1 && CMSG_FIRSTHDR(&message))
		memcpy(&file, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(file));
	return file;
}

static void op_pass(struct thread *t)
{
	struct profil_ioc_stats stats = { .size = sizeof(stats) };
	int ends[2], file;

	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends))
		return;
	if (CALL(t, send_file(ends[0], any_descriptor(t)))) {
		file = receive_file(ends[1], MSG_DONTWAIT);
		CALL(t, ioctl(file, PROFIL_IOC_STATS, &stats));
		if (file >= 0)
			CALL(t, close(file));
	}
	close(ends[0]);
	close(ends[1]);
}

/* The server lets go of it at the latest, whatever it does with the faults. */
static void op_userfault(struct thread *t)
{
	int file = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK |
			   (once_in(t, 4) ? UFFD_USER_MODE_ONLY : 0));
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = {
		.range.start = (unsigned long)arena_page(t),
		.mode = once_in(t, 4) ? UFFDIO_REGISTER_MODE_WP :
			UFFDIO_REGISTER_MODE_MISSING,
	};

	if (file < 0)
		return;
	reg.range.len = arena_len(t, (void *)(unsigned long)reg.range.start);
	if (!ioctl(file, UFFDIO_API, &api)) {
		CALL(t, madvise((void *)(unsigned long)reg.range.start, reg.range.len,
				MADV_DONTNEED));
		if (send_file(slot->server, file))
			CALL(t, ioctl(file, UFFDIO_REGISTER, &reg));
	}
	close(file);
}

static void op_itimer(struct thread *t)
{
	struct itimerval value = {
		.it_value.tv_usec = pick(t, 0, 1, 1000, 5000),
		.it_interval.tv_usec = pick(t, 0, 10000, 20000),
	};

	CALL(t, setitimer(pick(t, ITIMER_PROF, ITIMER_VIRTUAL, ITIMER_REAL), &value, NULL));
}

static void op_timer(struct thread *t)
{
	struct itimerspec spec = { .it_value.tv_nsec = pick(t, 1, 1000000, 5000000) };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	timer_t timer;

	if (once_in(t, 2)) {
		op_itimer(t);
		return;
	}
	if (CALL(t, timer_create(pick(t, CLOCK_THREAD_CPUTIME_ID, CLOCK_PROCESS_CPUTIME_ID,
				      CLOCK_MONOTONIC), &event, &timer)))
		return;
	CALL(t, timer_settime(timer, 0, &spec, NULL));
	if (once_in(t, 2))
		spin(20000);
	CALL(t, timer_delete(timer));
}

static void op_signal(struct thread *t)
{
	if (once_in(t, 2))
		CALL(t, raise(SIGUSR1));
	else
		CALL(t, kill(getpid(), SIGUSR2));
}

/* To these CPUs, bit by bit. */
static void move_to(unsigned int cpus)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (; cpus; cpus &= cpus - 1)
		CPU_SET(__builtin_ctz(cpus), &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void op_move(struct thread *t)
{
	begin(t);
	move_to(pick(t, 1, 2, 2, 3));
	end(t, 0);
	sched_yield();
}

/* An operation; one that loses its own stack or data does not end the process. */
static void guarded(struct thread *t, void (*run)(struct thread *t))
{
	sigjmp_buf here;

	if (!sigsetjmp(here, 0)) {
		escape = &here;
		run(t);
	} else if (t->nth) {
		write_number(t->fail_nth, 0);
		t->nth = 0;
	}
	escape = NULL;
}

static bool may(unsigned int *used, unsigned int limit)
{
	return __atomic_fetch_add(used, 1, __ATOMIC_RELAXED) < limit;
}

/* What a child or a late thread does: a few commands, and a tick or two. */
static void few(struct thread *t)
{
	int i;

	for (i = 1 + below(t, 4); i; i--) {
		switch (below(t, 6)) {
		case 0:
		case 1:
			guarded(t, op_start);
			break;
		case 2:
			guarded(t, op_burn);
			break;
		case 3:
			guarded(t, op_munmap);
			break;
		default:
			guarded(t, op_other_command);
		}
	}
}

static void exec_self(void)
{
	char name[] = "fuzz", *args[] = { name, NULL }, *env[] = { NULL };

	execve("/proc/self/exe", args, env);
	_exit(1);
}

/* Of a child, which shares all memory if @vfork. */
static void run_child(struct thread *t, bool vfork, bool exec)
{
	struct profil_ioc_stats stats = { .size = sizeof(stats) };

	if (vfork) {
		ioctl(descriptor[0], PROFIL_IOC_STATS, &stats);
	} else {
		t->index = -1;
		t->cover = NULL;
		t->fail_nth = -1;
		few(t);
	}
	if (exec)
		exec_self();
	_exit(0);
}

static void op_fork(struct thread *t)
{
	bool shares = once_in(t, 4), exec = once_in(t, 4);
	pid_t pid;

	if (!may(&children, CHILDREN))
		return;
	/* What the child does wrong must not have it go on as its parent. */
	escape = NULL;
	/*
	 * It allocates for each mapping, the anchor among the last.  Where it
	 * can have no stack, at first, the kernel complains with a trace.
	 */
	begin_faulty(t, once_in(t, 2) ? 40 + below(t, 400) : 0);
	pid = shares ? vfork() : fork();
	if (!pid)
		run_child(t, shares, exec);
	end_faulty(t, pid);
	if (pid < 0)
		return;
	if (once_in(t, 6))
		kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void *late_thread(void *arg)
{
	struct thread *t = arg;

	few(t);
	munmap(t, sizeof(*t));
	__atomic_sub_fetch(&late_threads, 1, __ATOMIC_RELEASE);
	return NULL;
}

static struct thread *make_thread(u64 seed)
{
	struct thread *t = mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (t == MAP_FAILED)
		_exit(2);
	t->rng = seed | 1;
	t->index = -1;
	t->fail_nth = -1;
	return t;
}

static void op_birth(struct thread *t)
{
	u64 seed = next(&t->rng);
	struct thread *late;
	pthread_t thread;

	if (!may(&births, BIRTHS))
		return;
	/* The C library would keep its locks. */
	escape = NULL;
	late = make_thread(seed);
	__atomic_add_fetch(&late_threads, 1, __ATOMIC_RELAXED);
	if (!CALL(t, pthread_create(&thread, NULL, late_thread, late))) {
		pthread_detach(thread);
		return;
	}
	munmap(late, sizeof(*late));
	__atomic_sub_fetch(&late_threads, 1, __ATOMIC_RELAXED);
}

static const struct op {
	const char *name;
	unsigned int weight;
	void (*run)(struct thread *t);
} ops[] = {
	/* What is cheap is done more often. */
	{ "start", 82, op_start },
	{ "other command", 82, op_other_command },
	{ "mmap", 12, op_mmap },
	{ "munmap", 8, op_munmap },
	{ "mprotect", 12, op_mprotect },
	{ "madvise", 12, op_madvise },
	{ "mremap", 8, op_mremap },
	{ "touch", 6, op_touch },
	{ "truncate", 4, op_truncate },
	{ "anchor", 8, op_anchor },
	{ "descriptor", 4, op_descriptor },
	{ "pass", 1, op_pass },
	{ "userfault", 2, op_userfault },
	{ "timer", 2, op_timer },
	{ "signal", 3, op_signal },
	{ "move", 2, op_move },
	{ "burn", 2, op_burn },
	{ "fork", 4, op_fork },
	{ "birth", 2, op_birth },
};

#define WEIGHTS	256	/* at most the sum; a gene's lowest byte chooses */

static const struct op *op_of(u64 gene)
{
	unsigned int i, at = gene % WEIGHTS;

	for (i = 0; at >= ops[i].weight; i++)
		at -= ops[i].weight;
	return &ops[i];
}

/* How a program comes from its name. */
static void mutate(struct program *p, u64 number)
{
	u64 rng = scatter(number);
	int i, n = 1 + next(&rng) % 4;

	for (i = 0; i < n; i++) {
		int thread = next(&rng) % p->threads;
		int *genes = &p->genes[thread];
		u64 *gene = &p->gene[thread][next(&rng) % *genes];
		u64 *last = &p->gene[thread][*genes - 1];

		switch (next(&rng) >> 32 & 7) {
		case 0:	/* another operation */
			*gene = (*gene & ~0xffULL) | (next(&rng) & 0xff);
			break;
		case 1:	/* the same, done otherwise */
		case 2:
			*gene = (*gene & 0xff) | (next(&rng) & ~0xffULL);
			break;
		case 3:	/* one more */
			if (*genes < GENES)
				p->gene[thread][(*genes)++] = next(&rng);
			break;
		case 4:	/* one less */
			if (*genes > 1) {
				*gene = *last;
				--*genes;
			}
			break;
		case 5:	/* what another thread does */
			*gene = p->gene[next(&rng) % p->threads][0];
			break;
		default:
			*gene = next(&rng);
		}
	}
}

static void make_program(struct program *p, const struct name *name)
{
	u64 rng = scatter(name->part[0]);
	int i, j;

	memset(p, 0, sizeof(*p));
	p->threads = 1 + next(&rng) % THREADS;
	p->rounds = 1 + next(&rng) % 12;
	for (i = 0; i < p->threads; i++) {
		p->genes[i] = 4 + next(&rng) % (GENES - 3);
		for (j = 0; j < p->genes[i]; j++)
			p->gene[i][j] = next(&rng);
	}
	for (i = 1; i < name->parts; i++)
		mutate(p, name->part[i]);
}

static void print_name(char *text, const struct name *name)
{
	int i, len = 0;

	for (i = 0; i < name->parts; i++)
		len += sprintf(text + len, "%s%llx", i ? "." : "", name->part[i]);
}

static bool parse_name(struct name *name, const char *text)
{
	char *stop;

	for (name->parts = 0; name->parts < NAME_PARTS; text = stop + 1) {
		name->part[name->parts++] = strtoull(text, &stop, 16);
		if (stop == text)
			return false;
		if (!*stop)
			return true;
		if (*stop != '.')
			return false;
	}
	return false;
}

static struct program program;
static pthread_barrier_t barrier;

static void prepare_thread(struct thread *t)
{
	t->fail_nth = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (!ioctl(slot->kcov[t->index], KCOV_ENABLE, KCOV_TRACE_PC))
		t->cover = slot->cover[t->index];
	if (t->fail_nth < 0 || !t->cover)
		__atomic_add_fetch(&shared->blind, 1, __ATOMIC_RELAXED);
}

static bool enough(void)
{
	return shared->calls >= shared->limit && shared->programs >= nr_listed;
}

/* One thread's part of a program. */
static void run_part(struct thread *t)
{
	int i, round;

	move_to(3);
	for (round = 0; round < program.rounds && !enough(); round++) {
		for (i = 0; i < program.genes[t->index]; i++) {
			const struct op *op = op_of(program.gene[t->index][i]);

			slot->last[t->index] = op->name;
			/* Each round is the same calls with other values. */
			t->rng = scatter(program.gene[t->index][i] + round);
			guarded(t, op->run);
		}
	}
}

static void *run_thread(void *arg)
{
	struct thread *t = arg;

	prepare_thread(t);
	pthread_barrier_wait(&barrier);
	for (;;) {
		pthread_barrier_wait(&barrier);
		if (t->index < program.threads)
			run_part(t);
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

static void set_handlers(void)
{
	struct sigaction action = { .sa_handler = segv, .sa_flags = SA_NODEFER };
	static const int faults[] = { SIGSEGV, SIGBUS };
	static const int others[] = { SIGUSR1, SIGUSR2, SIGPROF, SIGVTALRM, SIGALRM };
	unsigned int i;

	for (i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		sigaction(faults[i], &action, NULL);
	action = (struct sigaction){ .sa_handler = count_signal, .sa_flags = SA_RESTART };
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		sigaction(others[i], &action, NULL);
}

static void open_descriptors(void)
{
	int i;

	for (i = 0; i < DESCRIPTORS; i++)
		descriptor[i] = open("/dev/profil", O_RDWR | O_CLOEXEC);
}

static void map_arena(void)
{
	if (ftruncate(memfd, 0) || ftruncate(memfd, ARENA_BYTES) ||
	    mmap((void *)ARENA, ARENA_BYTES, PROT_READ | PROT_WRITE,
		 MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
		_exit(4);
}

/* Nothing of a program is left to the next one. */
static void tidy_up(void)
{
	static const struct itimerval off;
	unsigned long anchor;
	int i;

	for (i = ITIMER_REAL; i <= ITIMER_PROF; i++)
		setitimer(i, &off, NULL);
	while (__atomic_load_n(&late_threads, __ATOMIC_ACQUIRE))
		usleep(1000);
	for (i = 0; i < 8 && (anchor = find_anchor()); i++)
		munmap((void *)anchor, PAGE);
	map_arena();
	syscall(SYS_close_range, first_descriptor, ~0U, 0);
	open_descriptors();
	children = 0;
	births = 0;
}

static void prepare_process(void)
{
	static const struct rlimit no_core;

	setpgid(0, 0);
	setrlimit(RLIMIT_CORE, &no_core);
	if (slot == &shared->slot[SLOTS - 1]) {
		if (setgid(1000) || setuid(1000))
			_exit(3);
		/* or /proc/thread-self is root's */
		prctl(PR_SET_DUMPABLE, 1);
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	memfd = memfd_create("fuzz", MFD_CLOEXEC);
	maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	if (maps < 0 || stat("/dev/profil", &device))
		_exit(7);
	map_arena();
	set_handlers();
}

/* Returns the first one, which is the caller. */
static struct thread *prepare_threads(void)
{
	struct thread *t, *first = NULL;
	pthread_t thread;
	int i;

	pthread_barrier_init(&barrier, NULL, THREADS);
	for (i = 0; i < THREADS; i++) {
		t = make_thread(1);
		t->index = i;
		if (!i)
			first = t;
		else if (pthread_create(&thread, NULL, run_thread, t))
			_exit(5);
	}
	prepare_thread(first);
	pthread_barrier_wait(&barrier);
	return first;
}

static void choose_name(struct name *name, u64 *rng)
{
	unsigned int kept = __atomic_load_n(&shared->in_corpus, __ATOMIC_RELAXED);

	if (listed) {
		/* Each slot begins elsewhere: its own suspects come first. */
		*name = listed[((slot - shared->slot) * nr_listed / SLOTS +
				slot->started) % nr_listed];
		return;
	}
	*name = (struct name){ };
	if (kept && next(rng) >> 32 & 3)
		*name = shared->corpus[(next(rng) >> 32) % (kept < CORPUS ? kept : CORPUS)];
	/* One that is full has its last mutation changed. */
	if (name->parts == NAME_PARTS)
		name->parts--;
	name->part[name->parts++] = next(rng) >> 24;
}

/* To the log, which a panic prints, and to who keeps a list. */
static void log_start(void)
{
	char text[96 + NAME_CHARS] = "<7>", *out = text + strlen(text);

	out += sprintf(out, "fuzz: slot %d starts ", (int)(slot - shared->slot));
	print_name(out, &slot->name);
	sprintf(out + strlen(out), " after %lu calls\n", shared->calls);
	if (write(kmsg, text, strlen(text)) < 0 ||
	    write(STDOUT_FILENO, text + 3, strlen(text + 3)) < 0)
		_exit(6);
}

static void start_program(u64 *rng)
{
	struct name name;

	choose_name(&name, rng);
	slot->name = name;
	slot->fresh = 0;
	memset(slot->last, 0, sizeof(slot->last));
	__atomic_add_fetch(&slot->started, 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&shared->programs, 1, __ATOMIC_RELAXED);
	log_start();
	make_program(&program, &name);
}

static void end_program(void)
{
	unsigned int at;

	if (!slot->fresh || listed)
		return;
	at = __atomic_fetch_add(&shared->in_corpus, 1, __ATOMIC_RELAXED);
	shared->corpus[at % CORPUS] = slot->name;
}

/* The other threads may still run the last program; this ends them. */
static void end_process(u64 how)
{
	switch (how % 8) {
	case 0:
		exec_self();
		break;
	case 1:
		kill(getpid(), SIGKILL);
		break;
	case 2:
	case 3:
		_exit(0);
	}
	pthread_barrier_wait(&barrier);
	end_program();
	_exit(0);
}

static void run_process(u64 rng)
{
	/* What is replayed may need an end of the process. */
	unsigned int n = 1 + next(&rng) % (listed ? 4 : PROGRAMS);
	struct thread *first;

	prepare_process();
	first = prepare_threads();
	open_descriptors();
	/* No lower number is free, for nothing was closed since the start. */
	first_descriptor = descriptor[0];
	for (;;) {
		start_program(&rng);
		pthread_barrier_wait(&barrier);
		run_part(first);
		if (!--n || enough())
			end_process(next(&rng) >> 32);
		pthread_barrier_wait(&barrier);
		end_program();
		tidy_up();
	}
}

/*
 * Serves the userfaults of one slot, for a while each: gives a page, or does
 * nothing, and closes.
 */
static void serve(int from)
{
	struct uffdio_zeropage zero;
	struct uffd_msg message;
	struct pollfd wait;
	unsigned int n = 0;
	int polls;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		wait.fd = receive_file(from, 0);
		wait.events = POLLIN;
		if (wait.fd < 0)
			_exit(0);
		for (polls = 0; polls < 5 && n++ % 7; polls++) {
			if (poll(&wait, 1, 10) <= 0 ||
			    read(wait.fd, &message, sizeof(message)) != sizeof(message))
				continue;
			zero = (struct uffdio_zeropage){
				.range.start = message.arg.pagefault.address & -PAGE,
				.range.len = PAGE,
			};
			ioctl(wait.fd, UFFDIO_ZEROPAGE, &zero);
		}
		close(wait.fd);
	}
}

static void fail(const char *what)
{
	printf("fuzz: %s: %s\n", what, strerror(errno));
	exit(2);
}

static void set(const char *path, const char *value)
{
	int file = open(path, O_WRONLY | O_CLOEXEC);

	if (file < 0 || write(file, value, strlen(value)) < 0)
		fail(path);
	close(file);
}

static void prepare_slot(struct slot *one)
{
	int i, ends[2];

	for (i = 0; i < THREADS; i++) {
		one->kcov[i] = open("/sys/kernel/debug/kcov", O_RDWR | O_CLOEXEC);
		if (one->kcov[i] < 0 || ioctl(one->kcov[i], KCOV_INIT_TRACE, COVER_WORDS))
			fail("/sys/kernel/debug/kcov");
		one->cover[i] = mmap(NULL, COVER_WORDS * sizeof(long), PROT_READ | PROT_WRITE,
				     MAP_SHARED, one->kcov[i], 0);
		if (one->cover[i] == MAP_FAILED)
			fail("mmap of KCOV");
	}
	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends))
		fail("socketpair");
	one->server = ends[0];
	if (!fork())
		serve(ends[1]);
	/* Stays open: see first_descriptor. */
}

static void prepare(void)
{
	int i;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		fail("mmap");
	/* What fails by our will is no news, and what is news must not scroll by. */
	set("/sys/kernel/debug/failslab/verbose", "0");
	set("/sys/kernel/debug/failslab/ignore-gfp-wait", "N");
	set("/sys/kernel/debug/fail_page_alloc/verbose", "0");
	set("/sys/kernel/debug/fail_page_alloc/ignore-gfp-wait", "N");
	set("/sys/kernel/debug/fail_page_alloc/ignore-gfp-highmem", "N");
	set("/sys/kernel/debug/fail_page_alloc/min-order", "0");
	set("/sys/kernel/debug/fail_usercopy/verbose", "0");
	set("/sys/kernel/debug/fail_futex/verbose", "0");
	set("/proc/sys/kernel/panic_on_warn", "1");
	/* A panic prints what was logged before, with the names of the programs. */
	set("/proc/sys/kernel/panic_print", "32");
	set("/proc/sys/kernel/printk_devkmsg", "on\n");
	kmsg = open("/dev/kmsg", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (kmsg < 0 || lseek(kmsg, 0, SEEK_END) < 0)
		fail("/dev/kmsg");
	for (i = 0; i < SLOTS; i++)
		prepare_slot(&shared->slot[i]);
}

static void report(const char *how)
{
	printf("fuzz: %lu calls%s, %u programs (%u of them kept) ", shared->calls, how,
	       shared->programs, shared->in_corpus);
	printf("in %u processes (%u killed, %u died), ", processes, killed, died);
	printf("%lu calls with a fault, %u threads blind, %lu places reached\n",
	       shared->faults, shared->blind, shared->pcs);
	fflush(stdout);
}

static void read_list(const char *path)
{
	FILE *file = fopen(path, "re");
	char *text;

	if (!file)
		fail(path);
	while (fscanf(file, "%ms", &text) == 1) {
		listed = realloc(listed, (nr_listed + 1) * sizeof(*listed));
		if (!listed || !parse_name(&listed[nr_listed++], text))
			fail("a program is numbers with dots between them");
		free(text);
	}
	fclose(file);
}

static void print_running(void)
{
	char name[NAME_CHARS];
	int i, j;

	for (i = 0; i < SLOTS; i++) {
		if (!shared->slot[i].pid)
			continue;
		print_name(name, &shared->slot[i].name);
		printf("fuzz: running %s:", name);
		for (j = 0; j < THREADS; j++)
			if (shared->slot[i].last[j])
				printf(" %s;", shared->slot[i].last[j]);
		printf("\n");
	}
	report("");
}

/* What does not make the kernel panic, lockdep's findings above all. */
static void watch_log(void)
{
	static const char *const bad[] = {
		"BUG:", "WARNING:", "INFO:", "KASAN", "UBSAN:", "ODEBUG:", "Call Trace:",
		"corruption", "refcount_t:",
	};
	char record[8192];
	ssize_t len;
	size_t i;

	while ((len = read(kmsg, record, sizeof(record) - 1)) > 0 || errno == EPIPE) {
		if (len < 0)
			continue;
		record[len] = 0;
		for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
			if (!strstr(record, bad[i]))
				continue;
			printf("fuzz: the kernel says: %s\n", strchr(record, ';') + 1);
			print_running();
			exit(1);
		}
	}
}

static void start_process(struct slot *one, u64 seed)
{
	pid_t pid;

	fflush(stdout);
	one->polls = 0;
	pid = fork();
	if (!pid) {
		slot = one;
		run_process(scatter(seed + processes));
	}
	if (pid < 0)
		return;
	/* Not set by the child as well: it shares the slot. */
	one->pid = pid;
	processes++;
}

static void end_of_process(struct slot *one, int status)
{
	kill(-one->pid, SIGKILL);
	one->pid = 0;
	if (WIFSIGNALED(status) ? WTERMSIG(status) != SIGKILL : WEXITSTATUS(status))
		died++;
}

static void poll_process(struct slot *one)
{
	int status;

	one->polls++;
	if (one->seen_started != one->started) {
		one->seen_started = one->started;
		one->polls = 0;
	}
	if (waitpid(one->pid, &status, WNOHANG) == one->pid) {
		end_of_process(one, status);
		return;
	}
	if (one->polls == POLLS_KILL) {
		kill(-one->pid, SIGKILL);
		kill(one->pid, SIGKILL);
		killed++;
	}
	if (one->polls == POLLS_STUCK) {
		printf("fuzz: a program cannot be killed\n");
		print_running();
		exit(1);
	}
}

int main(int argc, char **argv)
{
	unsigned int polls = 0;
	bool running = true;
	u64 seed;
	int i;

	/* As what a program executes: it is gone when the profile is. */
	if (argc < 3)
		return 0;
	prepare();
	shared->limit = strtoul(argv[1], NULL, 0);
	seed = scatter(strtoull(argv[2], NULL, 0));
	if (argc > 3)
		read_list(argv[3]);
	while (running) {
		/* All may have ended at once, long before. */
		running = !enough();
		for (i = 0; i < SLOTS; i++) {
			if (shared->slot[i].pid)
				poll_process(&shared->slot[i]);
			else if (!enough())
				start_process(&shared->slot[i], seed);
			running |= shared->slot[i].pid;
		}
		watch_log();
		if (++polls % POLLS_REPORT == 0)
			report(" so far");
		usleep(POLL_US);
	}
	report(" in the end");
	/* Of what is listed it is known what it does. */
	if (!listed && (!shared->faults || !shared->pcs || shared->blind > processes / 10)) {
		printf("fuzz: the kernel injects no faults, or does not say what it ran\n");
		return 1;
	}
	return 0;
}
