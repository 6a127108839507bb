// SPDX-License-Identifier: GPL-2.0-only
/*
 * The accounting, as STATS shows it.
 */
#include <linux/profil.h>

#include "profil.h"
#include "reg.h"

static u64 profil_stats_count(struct profil_reg *reg, enum profil_class class)
{
	return atomic64_read(&reg->count[class]);
}

/* The number of all ticks is kept nowhere: the classes add up to it. */
static void profil_stats_sum(struct profil_ioc_stats *stats)
{
	stats->out_lost = stats->out_lost_full + stats->out_lost_stopped +
			  stats->out_lost_exit + stats->out_lost_fault +
			  stats->out_lost_denied + stats->out_lost_unready +
			  stats->out_lost_contended;
	stats->out_ticks = stats->out_not_due + stats->out_system + stats->out_in_range +
			   stats->out_outside + stats->out_saturated +
			   stats->out_pending + stats->out_lost;
}

/* Says what became of the ticks. */
void profil_stats_read(struct profil_reg *reg, struct profil_ioc_stats *stats)
{
	u64 number[2], not_due;
	struct profil_due due[2];
	unsigned long flags;
	int i;

	raw_spin_lock_irqsave(&reg->lock, flags);
	stats->out_state = reg->state;
	stats->out_rate = reg->rate;
	stats->out_source = reg->source;
	stats->out_cookie = reg->cookie;
	stats->out_period_ns = reg->period;
	stats->out_system = profil_stats_count(reg, PROFIL_SYSTEM);
	stats->out_in_range = profil_stats_count(reg, PROFIL_IN_RANGE);
	stats->out_outside = profil_stats_count(reg, PROFIL_OUTSIDE);
	stats->out_saturated = profil_stats_count(reg, PROFIL_SATURATED);
	stats->out_pending = profil_stats_count(reg, PROFIL_PENDING);
	stats->out_lost_full = profil_stats_count(reg, PROFIL_LOST_FULL);
	stats->out_lost_stopped = profil_stats_count(reg, PROFIL_LOST_STOPPED);
	stats->out_lost_exit = profil_stats_count(reg, PROFIL_LOST_EXIT);
	stats->out_lost_fault = profil_stats_count(reg, PROFIL_LOST_FAULT);
	stats->out_lost_denied = profil_stats_count(reg, PROFIL_LOST_DENIED);
	stats->out_lost_unready = profil_stats_count(reg, PROFIL_LOST_UNREADY);
	stats->out_lost_contended = profil_stats_count(reg, PROFIL_LOST_CONTENDED);
	stats->out_deferred = atomic64_read(&reg->deferred);
	stats->out_borrowed = atomic64_read(&reg->borrowed);
	stats->out_forks_missed = reg->forks_missed;
	stats->out_fault_addr = reg->fault_addr;
	not_due = reg->not_due;
	for (i = 0; i < 2; i++) {
		due[i] = reg->run[i].due;
		number[i] = atomic64_read(&reg->run[i].number);
	}
	raw_spin_unlock_irqrestore(&reg->lock, flags);

	for (i = 0; i < 2; i++)
		not_due += profil_due_not(&due[i], number[i]);
	stats->out_not_due = not_due;
	stats->out_reserved = 0;
	profil_stats_sum(stats);
}
