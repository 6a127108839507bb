// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* sprofil(), in an archive member of its own, like profil(). */
#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include "internal.h"

#define FLAGS	(PROF_USHORT | PROF_UINT | PROF_FAST)

static int failed(int err)
{
	errno = err;
	return -1;
}

static bool is_left_out(const struct prof *prof)
{
	return prof->pr_scale < 2;
}

/* How many regions there are; -1 with errno where the arguments are wrong. */
static int count(const struct prof *profp, int profcnt, unsigned int flags)
{
	int num = 0;

	if (flags & ~FLAGS || profcnt < 0)
		return failed(EINVAL);
	if (!profp)
		return 0;
	for (int i = 0; i < profcnt; i++) {
		if ((__u32)profp[i].pr_scale != profp[i].pr_scale)
			return failed(EINVAL);
		num += !is_left_out(&profp[i]);
	}
	return num;
}

static __u32 region_flags(const struct prof *prof, unsigned int flags)
{
	__u32 width = flags & PROF_UINT ? PROFIL_REGION_F_U32 : 0;

	if (!prof->pr_off && prof->pr_scale == 2)
		return width | PROFIL_REGION_F_OVERFLOW;
	return width | PROFIL_REGION_F_PER_COUNTER;
}

/* As many as were counted, should another thread change them meanwhile. */
static int fill(struct profil_region *regions, int num,
		const struct prof *profp, int profcnt, unsigned int flags)
{
	int n = 0;

	for (int i = 0; i < profcnt && n < num; i++) {
		if (is_left_out(&profp[i]))
			continue;
		regions[n++] = (struct profil_region) {
			.buf_uptr = (uintptr_t)profp[i].pr_base,
			.bytes = profp[i].pr_size,
			.offset = profp[i].pr_off,
			.scale = profp[i].pr_scale,
			.flags = region_flags(&profp[i], flags),
		};
	}
	return n;
}

/* Not malloc(): a child of fork() or a signal handler may be the caller. */
static int start_ranges(struct profil_ioc_start *start, const struct prof *profp,
			int profcnt, int num, unsigned int flags)
{
	size_t bytes = num * sizeof(struct profil_region);
	struct profil_region *regions = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
					     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int ret, err;

	if (regions == MAP_FAILED)
		return failed(ENOMEM);
	start->region_len = sizeof(*regions);
	start->regions_uptr = (uintptr_t)regions;
	start->region_num = fill(regions, num, profp, profcnt, flags);
	ret = libprofil_or_complain(libprofil_as_profil(libprofil_start(start)));
	err = errno;
	munmap(regions, bytes);
	errno = err;
	return ret;
}

static struct timeval period(__u32 rate, const struct profil_ioc_query *query)
{
	__u64 us = rate ? (1000000 + rate / 2) / rate : (query->out_tick_ns + 500) / 1000;

	return (struct timeval) { us / 1000000, us % 1000000 };
}

/* The period of the default is known without the kernel. */
static bool needs_query(unsigned int flags)
{
	return flags & PROF_FAST || libprofil_rate_asked();
}

PROFIL_API
int sprofil(struct prof *profp, int profcnt, struct timeval *tvp,
	    unsigned int flags)
{
	struct profil_ioc_query query = { .size = sizeof(query) };
	struct profil_ioc_start start = {
		.size = sizeof(start),
		.rate = flags & PROF_FAST ? 0 : SAMPLES_PER_SECOND,
	};
	int num = count(profp, profcnt, flags);

	if (num < 0)
		return -1;
	if (!num && libprofil_stop())
		return -1;
	if (num || (tvp && needs_query(flags))) {
		if (profil_query(&query))
			return -1;
		libprofil_rate_choose(&start, &query);
	}
	if ((__u32)num > query.out_regions_max)
		return failed(E2BIG);
	if (num && start_ranges(&start, profp, profcnt, num, flags))
		return -1;

	if (tvp)
		*tvp = period(start.rate, &query);
	return 0;
}
