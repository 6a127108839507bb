/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sections: the only places where user memory is written, and the wait for them.  A
 * section belongs to an address, here that of a registration.  It is a few hundred
 * instructions with interrupts off, so a CPU is in one at most, and whoever waits
 * for it spins no longer than that.
 */
#ifndef _PROFIL_SECTION_H
#define _PROFIL_SECTION_H

#include <linux/lockdep.h>
#include <linux/percpu.h>

#include "race.h"

/* One for each CPU, which alone writes it. */
struct profil_section {
	const void		*of;	/* whose section the CPU is in, or NULL */
	unsigned long		over;	/* so many sections are over */
};

DECLARE_PER_CPU(struct profil_section, profil_section);

/*
 * Begins a section of @of.  Interrupts are off until profil_section_leave().  What is
 * read after this, and is changed before profil_section_drain(), stays valid until
 * the section is left.
 */
static __always_inline void profil_section_enter(struct profil_section *section,
						 const void *of)
{
	lockdep_assert_irqs_disabled();
	/* (A) Pairs with (B): the change is seen here, or the section is seen there. */
	smp_store_mb(section->of, of);
	profil_race(PROFIL_RACE_ENTER);
}

/* Ends profil_section_enter().  Interrupts stay off. */
static __always_inline void profil_section_leave(struct profil_section *section)
{
	profil_race(PROFIL_RACE_LEAVE);
	/* (C) Pairs with (D): all writes are done when the leaving is seen. */
	smp_store_release(&section->of, NULL);
	smp_store_release(&section->over, section->over + 1);	/* (C) */
}

void profil_section_drain(const void *of);

#endif /* _PROFIL_SECTION_H */
