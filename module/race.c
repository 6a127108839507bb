// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test builds only: wider windows between two steps that others may separate.
 */
#include <linux/sched.h>
#include <asm/processor.h>

#include "profil.h"

#define PROFIL_RACE_SPINS	2

/**
 * profil_race - Let other CPUs run
 *
 * An emulator that runs its CPUs in turns goes on to the next one at a pause,
 * for as long as a tenth of a second: more than a few make tests crawl.
 *
 * Context: Any.
 */
void profil_race(void)
{
	int i;

	for (i = 0; i < PROFIL_RACE_SPINS; i++)
		cpu_relax();
}
