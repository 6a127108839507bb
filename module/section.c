// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sections: the only places where user memory is written, and the wait for
 * them.  A section is a few hundred instructions with interrupts off, so a CPU
 * is in one at most, and whoever waits spins no longer than that.
 */
#include <linux/percpu.h>

#include "profil.h"

struct profil_section {
	struct profil_reg	*reg;
	unsigned long		seq;
};

static DEFINE_PER_CPU(struct profil_section, profil_section);

/**
 * profil_section_enter - Begin to write to the memory of a registration
 * @reg: The registration; the caller keeps it from being freed
 *
 * Context: Interrupts off, until profil_section_leave().
 * Return: What is to be counted; stays until the section is left.  NULL if
 * nothing is.
 */
struct profil_set *profil_section_enter(struct profil_reg *reg)
{
	lockdep_assert_irqs_disabled();
	WRITE_ONCE(this_cpu_ptr(&profil_section)->reg, reg);
	/*
	 * (A) Pairs with (B): either the new set is seen here, or the section
	 * is seen there.
	 */
	smp_mb();
	profil_race(PROFIL_RACE_ENTER);
	return READ_ONCE(reg->set);
}

/**
 * profil_section_leave - End what profil_section_enter() began
 *
 * Context: Interrupts off.
 */
void profil_section_leave(void)
{
	struct profil_section *section = this_cpu_ptr(&profil_section);

	profil_race(PROFIL_RACE_LEAVE);
	/* (C) Pairs with (D): all writes are done when the leaving is seen. */
	smp_store_release(&section->reg, NULL);
	smp_store_release(&section->seq, section->seq + 1);	/* (C) */
}

/**
 * profil_section_drain - Wait for the sections that may use a former set
 * @reg: The registration whose set was changed
 *
 * One change of the sequence number is enough: what enters afterwards sees the
 * new set.
 *
 * Context: Any that may be interrupted; spins.
 */
void profil_section_drain(struct profil_reg *reg)
{
	struct profil_section *section;
	unsigned long seq;
	int cpu;

	smp_mb();	/* (B) */
	for_each_possible_cpu(cpu) {
		section = per_cpu_ptr(&profil_section, cpu);
		seq = READ_ONCE(section->seq);
		while (smp_load_acquire(&section->reg) == reg &&	/* (D) */
		       smp_load_acquire(&section->seq) == seq)		/* (D) */
			cpu_relax();
	}
}
