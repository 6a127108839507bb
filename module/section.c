// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sections: the only places where user memory is written, and the wait for
 * them.  A section is a few hundred instructions with interrupts off, so a CPU
 * is in one at most, and whoever waits spins no longer than that.
 */
#include "hot.h"

DEFINE_PER_CPU(struct profil_cpu, profil_cpu);

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
	struct profil_cpu *cpu;
	unsigned long seq;
	int i;

	smp_mb();	/* (B) */
	for_each_possible_cpu(i) {
		cpu = per_cpu_ptr(&profil_cpu, i);
		seq = READ_ONCE(cpu->seq);
		while (smp_load_acquire(&cpu->reg) == reg &&	/* (D) */
		       smp_load_acquire(&cpu->seq) == seq)	/* (D) */
			cpu_relax();
	}
}
