/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the programs of the benchmark share: instructions as time, work of which
 * each instruction is known, and profiles by us and by others.
 *
 * In a VM with --icount 0 an instruction of the guest takes 1 ns, and the
 * counter of cycles counts them; on arm64 one in 16.
 */
#ifndef BENCH_H
#define BENCH_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/ioctl.h>
#include <linux/profil.h>

#if defined(__x86_64__)
static inline uint64_t instructions(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}
#elif defined(__aarch64__)
static inline uint64_t instructions(void)
{
	uint64_t ticks, hz;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks));
	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hz));
	return ticks * (1000000000 / hz);
}
#else
#error "how are instructions counted here?"
#endif

/*
 * BURST instructions in a page of code of their own, twice.  The emulator has
 * nothing to do for them but to count, so the time of many ticks passes at once.
 */
#define BURST		900
#define BURST_PAGE	4096

void burst(void);
void burst_too(void);
void burst_few(void);	/* few instructions, many times */

#define BURST_CODE(name)					\
	".globl " #name "\n"					\
	".type " #name ", %function\n"				\
	#name ":\n"						\
	".rept 899\n"						\
	"	nop\n"						\
	".endr\n"						\
	"	ret\n"						\
	".balign 4096\n"

#if defined(__x86_64__)
#define BURST_FEW "	mov $450, %ecx\n1:	dec %ecx\n	jne 1b\n	ret\n"
#else
#define BURST_FEW "	mov w0, #450\n1:	subs w0, w0, #1\n	b.ne 1b\n	ret\n"
#endif

__asm__(".pushsection .text.burst, \"ax\"\n"
	".balign 4096\n"
	BURST_CODE(burst)
	BURST_CODE(burst_too)
	".globl burst_few\n"
	".type burst_few, %function\n"
	"burst_few:\n"
	BURST_FEW
	".popsection\n");

static inline void fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

static inline uint64_t tick_ns(void)
{
	struct timespec res;

	/* Which is the tick's, whatever the kernel was configured to. */
	if (clock_getres(CLOCK_MONOTONIC_COARSE, &res))
		fail("clock_getres");
	return res.tv_sec * 1000000000ULL + res.tv_nsec;
}

static inline int compare(const void *a, const void *b)
{
	const uint64_t *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

static inline uint64_t median(uint64_t *values, size_t num)
{
	if (!num)
		return 0;
	qsort(values, num, sizeof(*values), compare);
	return values[num / 2];
}

static inline int device(void)
{
	int fd = open("/dev/profil", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		fail("/dev/profil");
	return fd;
}

/* The region of one counter that is the page of burst(). */
static inline struct profil_region burst_region(volatile uint16_t *counter)
{
	return (struct profil_region){
		.buf_uptr = (uintptr_t)counter,
		.bytes = sizeof(*counter),
		.offset = (uintptr_t)burst,
		.scale = 2 * 65536 / BURST_PAGE,
	};
}

/* The region of one counter that is all code, wherever it is. */
static inline struct profil_region any_region(volatile uint16_t *counter)
{
	struct profil_region region = burst_region(counter);

	region.flags = PROFIL_REGION_F_OVERFLOW;
	return region;
}

static inline void start(int fd, const struct profil_region *regions,
			 uint32_t num, uint32_t flags)
{
	struct profil_ioc_start start = {
		.size = sizeof(start),
		.flags = flags,
		.region_num = num,
		.region_len = sizeof(*regions),
		.regions_uptr = (uintptr_t)regions,
	};

	if (ioctl(fd, PROFIL_IOC_START, &start))
		fail("START");
}

static inline void stop(int fd)
{
	struct profil_ioc_stop stop = { .size = sizeof(stop) };

	if (ioctl(fd, PROFIL_IOC_STOP, &stop))
		fail("STOP");
}

static inline struct profil_ioc_stats stats(int fd)
{
	struct profil_ioc_stats stats = { .size = sizeof(stats) };

	if (ioctl(fd, PROFIL_IOC_STATS, &stats))
		fail("STATS");
	return stats;
}

/* What a piece of work takes if nothing comes between. */
static inline uint64_t base_of(void (*piece)(void))
{
	uint64_t before, length, least = ~0ULL;
	int i;

	for (i = 0; i < 1000; i++) {
		before = instructions();
		piece();
		length = instructions() - before;
		if (length < least)
			least = length;
	}
	return least;
}

#endif /* BENCH_H */
