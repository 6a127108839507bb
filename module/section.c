// SPDX-License-Identifier: GPL-2.0-only
/*
 * The wait for sections.
 */
#include "section.h"

DEFINE_PER_CPU(struct profil_section, profil_section);

/*
 * Waits for the sections of @of that may use what was changed before.  One section
 * that is over is enough for each CPU: the next one sees the change.  Spins; in any
 * context that may be interrupted.
 */
void profil_section_drain(const void *of)
{
	struct profil_section *section;
	unsigned long over;
	int cpu;

	smp_mb();	/* (B) */
	for_each_possible_cpu(cpu) {
		section = per_cpu_ptr(&profil_section, cpu);
		over = READ_ONCE(section->over);
		while (smp_load_acquire(&section->of) == of &&		/* (D) */
		       smp_load_acquire(&section->over) == over)	/* (D) */
			cpu_relax();
	}
}
