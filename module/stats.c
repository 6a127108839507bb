// SPDX-License-Identifier: GPL-2.0-only
/*
 * The accounting, as the user interface shows it.
 */
#include "profil.h"

/**
 * profil_stats_read - Say what became of the ticks
 * @reg: The registration
 * @stats: Receives it; the sum holds
 *
 * Context: Task.
 */
void profil_stats_read(struct profil_reg *reg, struct profil_stats *stats)
{
	const u64 *count = reg->count;
	u64 fast = atomic64_read(&reg->fast);
	unsigned long flags;
	int class;

	raw_spin_lock_irqsave(&reg->lock, flags);
	stats->out_state = reg->state;
	stats->out_rate = reg->rate;
	stats->out_source = reg->source;
	stats->out_ticks = reg->ticks + fast;
	stats->out_not_due = count[PROFIL_NOT_DUE];
	stats->out_in_range = count[PROFIL_IN_RANGE] + fast;
	stats->out_outside = count[PROFIL_OUTSIDE];
	stats->out_saturated = count[PROFIL_SATURATED];
	stats->out_pending = count[PROFIL_PENDING];
	stats->out_lost = 0;
	stats->out_lost_full = count[PROFIL_LOST_FULL];
	stats->out_lost_stopped = count[PROFIL_LOST_STOPPED];
	stats->out_lost_exit = count[PROFIL_LOST_EXIT];
	stats->out_lost_fault = count[PROFIL_LOST_FAULT];
	stats->out_lost_denied = count[PROFIL_LOST_DENIED];
	stats->out_lost_unready = count[PROFIL_LOST_UNREADY];
	stats->out_lost_contended = count[PROFIL_LOST_CONTENDED];
	for (class = PROFIL_LOST_FULL; class < PROFIL_CLASSES; class++)
		stats->out_lost += count[class];
	stats->out_deferred = reg->deferred;
	stats->out_borrowed = reg->borrowed;
	stats->out_forks_missed = reg->forks_missed;
	stats->out_fault_addr = reg->fault_addr;
	stats->out_system = count[PROFIL_SYSTEM];
	stats->out_reserved = 0;
	raw_spin_unlock_irqrestore(&reg->lock, flags);
}
