// SPDX-License-Identifier: GPL-2.0-only
/* Commands of the device. */
#include <limits.h>
#include <string.h>
#include <sys/ioctl.h>

#include "fuzz.h"

/* Seldom that of a session. */
int any_descriptor(struct thread *t)
{
	return once_in(t, 40) ? session[below(t, SESSIONS)] : descriptor[below(t, DESCRIPTORS)];
}

/*
 * Gives the argument of a command to the kernel: as it is, or from the arena,
 * where others may unmap it, or across the end of a mapping.
 */
long command(struct thread *t, int file, unsigned long cmd, size_t len)
{
	unsigned long at = ARENA + below(t, ARENA_BYTES - 2 * PAGE);
	__u32 size;
	long ret;

	if (once_in(t, 12)) {
		memset(t->args + len, once_in(t, 2) ? 0 : 1, 64);
		size = pick(t, 0, 4, 7, 8, 39, 40, 41, 48, 64, 168, 169, PAGE,
			    PAGE + 1, UINT_MAX);
		memcpy(t->args, &size, sizeof(size));
	}
	if (once_in(t, 12))
		return FAULTY(t, ioctl(file, cmd, wild(t)));
	if (!once_in(t, 6))
		return FAULTY(t, ioctl(file, cmd, t->args));
	if (once_in(t, 2))
		at = (at | (PAGE - 1)) + 1 - len / 2;
	touch((void *)at, t->args, len);
	ret = FAULTY(t, ioctl(file, cmd, at));
	touch(t->args, (void *)at, len);
	return ret;
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

void op_start(struct thread *t)
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
	if (once_in(t, 8)) {
		start->source = PROFIL_SOURCE_TIMER;
		start->rate = pick(t, 0, 1, 100, 1000, 10000);
		start->jitter = pick(t, 0, 0, 50, 100, 101);
	}
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
	command(t, any_descriptor(t), PROFIL_IOC_START, sizeof(*start));
}

void op_other_command(struct thread *t)
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
		command(t, any_descriptor(t), PROFIL_IOC_STOP, sizeof(stop));
		break;
	case 3:
		query.flags = flags;
		memcpy(t->args, &query, sizeof(query));
		command(t, any_descriptor(t), PROFIL_IOC_QUERY, sizeof(query));
		break;
	case 4:
		command(t, any_descriptor(t), once_in(t, 2) ? wild(t) :
			_IOC(below(t, 4), PROFIL_IOC_MAGIC, below(t, 10), below(t, 2) * 40),
			40);
		break;
	default:
		stats.flags = flags;
		stats.cookie = once_in(t, 8) ? wild(t) : 0;
		memcpy(t->args, &stats, sizeof(stats));
		command(t, any_descriptor(t), PROFIL_IOC_STATS, sizeof(stats));
	}
}
