// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* What the start-up file of gcc -pg calls, and programs by hand. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include "arcs.h"
#include "block.h"
#include "gmon.h"
#include "internal.h"

/* What <sys/gmon.h> declares, and what the start-up file calls. */
void __monstartup(unsigned long low, unsigned long high);
void monstartup(unsigned long low, unsigned long high);
void moncontrol(int mode);
void _mcleanup(void);

static void forked(void)
{
	libprofil_state_forked();
	/* What was stopped is not the child's. */
	libprofil_profile.written = libprofil_arcs_off();
	libprofil_when_forked();
}

/* What begin() is to know of its own thread's call, in no memory that has to be asked for. */
static __thread __attribute__((tls_model("initial-exec"))) struct {
	unsigned long low, high;
	bool by_hand;
} asked;

/* One thread does it, and others wait; in a child that was forked amid it, it is done anew. */
static void begin(void)
{
	struct libprofil_profile *profile = &libprofil_profile;

	libprofil_state_begin();
	libprofil_quiet_begin();
	profile->small = libprofil_objects_locked();
	libprofil_arcs_reserve();
	libprofil_write_begin();
	profile->low = asked.low;
	profile->high = asked.high;
	libprofil_sampling_find(libprofil_forked);
	/*
	 * This one has memory allocated.  So whoever allocates follows forks
	 * already, and in a child comes before forked(), which does the same.
	 */
	libprofil_when_begin();
	pthread_atfork(NULL, NULL, forked);
	if (asked.by_hand)
		profil_reset();
}

static void start(unsigned long low, unsigned long high, bool by_hand)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int err = errno;

	asked.low = low;
	asked.high = high;
	asked.by_hand = by_hand;
	/* Before, for it takes the lock of the loader, which one that waits may have. */
	if (!libprofil_profile.num)
		libprofil_fallback_begin();
	pthread_once(&once, begin);
	moncontrol(1);
	errno = err;
}

PROFIL_API
void __monstartup(unsigned long low, unsigned long high)
{
	start(low, high, false);
}

/* By hand: calls that were counted before are none of this profile. */
PROFIL_API
void monstartup(unsigned long low, unsigned long high)
{
	start(low, high, true);
}

PROFIL_API
void moncontrol(int mode)
{
	struct libprofil_hold hold;

	libprofil_state_lock(&hold);
	if (mode && libprofil_profile.num) {
		libprofil_sampling_start();
		libprofil_profile.written = false;
		libprofil_arcs_switch(true);
	} else if (!mode) {
		libprofil_arcs_switch(false);
		libprofil_pause();
	}
	libprofil_state_unlock(&hold);
}

/* Programs call it, and the start-up file has it called once more at exit. */
PROFIL_API
void _mcleanup(void)
{
	int err = errno;

	if (libprofil_state_is_ours()) {
		moncontrol(0);
		libprofil_sampling_follow();
		libprofil_write(WRITE_LAST);
	}
	errno = err;
}

/**
 * libprofil_block_start() - What the start-up file of gcc -pg does
 *
 * For programs that have none.  Under a name of its own: in libprofil_bb, those of
 * above may be bound to the C library.
 */
PROFIL_API
void libprofil_block_start(void)
{
	__monstartup(0, 0);
}

/**
 * libprofil_block_finish() - What it does at exit
 */
PROFIL_API
void libprofil_block_finish(void)
{
	_mcleanup();
}
