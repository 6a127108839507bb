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

static void begin(unsigned long low, unsigned long high)
{
	struct libprofil_profile *profile = &libprofil_profile;

	libprofil_state_begin();
	libprofil_quiet_begin();
	profile->small = libprofil_objects_locked();
	libprofil_arcs_reserve();
	libprofil_write_begin();
	libprofil_fallback_begin();
	profile->low = low;
	profile->high = high;
	libprofil_objects_find(profile, libprofil_forked);
	/*
	 * This one has memory allocated.  So whoever allocates follows forks
	 * already, and in a child comes before forked(), which does the same.
	 */
	libprofil_when_begin();
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
