// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* What the start-up file of gcc -pg calls, and programs by hand. */
#define _GNU_SOURCE
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <sys/mman.h>
#include "arcs.h"
#include "gmon.h"
#include "internal.h"

/* <unistd.h> declares profil(), see internal.h. */
int getpid(void);

#define RATE_UNKNOWN	100	/* without the device; gprof divides by it */

/* What <sys/gmon.h> declares, and what the start-up file calls. */
void __monstartup(unsigned long low, unsigned long high);
void monstartup(unsigned long low, unsigned long high);
void moncontrol(int mode);
void _mcleanup(void);

struct libprofil_profile libprofil_profile = { .rate = RATE_UNKNOWN };

static void forked(void)
{
	libprofil_own_forked();
	libprofil_arcs_forked();
	/* What was stopped is not the child's. */
	libprofil_profile.written = libprofil_arcs_off;
	libprofil_interval_forked();
}

/* One of scale 0 is none. */
static void fill(struct profil_region *regions)
{
	const struct libprofil_object *object = libprofil_profile.objects;

	for (size_t i = 0; i < libprofil_profile.num; i++, object++)
		regions[i] = (struct profil_region) {
			.buf_uptr = (uintptr_t)object->counts,
			.bytes = (object->high - object->low) / 2 * sizeof(uint32_t),
			.offset = object->low,
			.scale = object->mapped ? 65536 : 0,
			.flags = PROFIL_REGION_F_U32,
		};
}

/* Under the lock of own.c. */
static struct profil_start command = {
	.size = sizeof(command),
	.region_len = sizeof(struct profil_region),
};

static uint32_t rate;	/* of the command, 0 until it is known */

/*
 * Every tick, unless the environment asks for something else.  It is asked once, for
 * all samples of a file have one rate.  0, -1 or NO_DEVICE.
 */
static int choose_rate(void)
{
	struct profil_query query = { .size = sizeof(query) };
	int ret;

	if (rate)
		return 0;
	ret = libprofil_command(PROFIL_IOC_QUERY, &query);
	if (ret)
		return ret;
	libprofil_rate_choose(&command, &query);
	rate = command.rate ? command.rate : query.out_tick_hz;
	return 0;
}

/* Where there is no device and no other way, arcs alone are counted. */
static void start(void)
{
	size_t bytes = libprofil_profile.num * sizeof(struct profil_region);
	struct profil_region *regions = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
					     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int ret;

	if (regions == MAP_FAILED) {
		libprofil_complain_start();
		return;
	}
	fill(regions);
	command.region_num = libprofil_profile.num;
	command.regions_uptr = (uintptr_t)regions;
	ret = choose_rate();
	if (!ret)
		ret = libprofil_start(&command);
	if (!ret)
		libprofil_profile.rate = rate;
	else if (ret != NO_DEVICE)
		libprofil_complain_start();
	else if (!libprofil_fallback_start(libprofil_profile.objects))
		libprofil_complain("");
	munmap(regions, bytes);
}

/* In the order in which a thread that is loading a library takes the two locks. */
static int follow(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct libprofil_hold hold;

	(void)info;
	(void)size;
	(void)arg;
	libprofil_own_take(&hold);
	if (libprofil_objects_find(&libprofil_profile) && !libprofil_arcs_off)
		start();
	libprofil_own_give(&hold);
	return 1;
}

/**
 * libprofil_gmon_follow() - Count what has been mapped meanwhile
 */
void libprofil_gmon_follow(void)
{
	int err = errno;

	if (libprofil_profile.num && libprofil_own_is())
		dl_iterate_phdr(follow, NULL);
	errno = err;
}

static void begin(unsigned long low, unsigned long high)
{
	struct libprofil_profile *profile = &libprofil_profile;

	libprofil_own_begin();
	profile->first_pid = getpid();
	libprofil_dump_begin();
	libprofil_fallback_begin();
	profile->low = low;
	profile->high = high;
	libprofil_objects_find(profile);
	libprofil_exits_begin();
	/*
	 * This one has memory allocated.  So whoever allocates follows forks
	 * already, and in a child comes before forked(), which does the same.
	 */
	libprofil_interval_begin();
	pthread_atfork(NULL, NULL, forked);
}

PROFIL_API
void __monstartup(unsigned long low, unsigned long high)
{
	int err = errno;

	if (!libprofil_profile.num)
		begin(low, high);
	moncontrol(1);
	errno = err;
}

/* By hand: calls that were counted before are none of this profile. */
PROFIL_API
void monstartup(unsigned long low, unsigned long high)
{
	bool first = !libprofil_profile.num;
	int err = errno;

	__monstartup(low, high);
	if (first)
		profil_reset();
	errno = err;
}

PROFIL_API
void moncontrol(int mode)
{
	struct libprofil_hold hold;

	libprofil_own_take(&hold);
	if (mode && libprofil_profile.num) {
		start();
		libprofil_profile.written = false;
		libprofil_arcs_off = 0;
	} else if (!mode) {
		libprofil_arcs_off = ARCS_OFF;
		libprofil_pause();
	}
	libprofil_own_give(&hold);
}

/* Programs call it, and the start-up file has it called once more at exit. */
PROFIL_API
void _mcleanup(void)
{
	int err = errno;

	if (libprofil_own_is()) {
		moncontrol(0);
		libprofil_gmon_follow();
		libprofil_dump(DUMP_LAST);
	}
	errno = err;
}
