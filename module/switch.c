// SPDX-License-Identifier: GPL-2.0-only
/*
 * On, off, other histograms: every change of what a registration counts.
 * "Off" means off: when one of these returns, no CPU writes to the former
 * histograms any more.  What is pending is delivered before, as far as it can
 * be at once; what is left or came meanwhile is settled as lost afterwards.
 */
#include "profil.h"

/* Ticks come while the former ones are delivered, on a slow machine. */
#define PROFIL_SWITCH_TRIES	8

/* Returns the former set, whose references are the caller's to drop. */
static struct profil_set *profil_switch(struct profil_reg *reg,
					struct profil_set *set, u32 state)
{
	struct profil_set *old = reg->set;

	lockdep_assert_held(&reg->lock);
	WRITE_ONCE(reg->set, set);
	reg->state = state;
	reg->window_left = 0;
	if (set) {
		reg->rate = set->rate;
		reg->source = set->timer ? PROFIL_SOURCE_TIMER :
					   PROFIL_SOURCE_TICK;
	}
	if (set && set->timer) {
		WRITE_ONCE(reg->timer_period, set->period);
		WRITE_ONCE(reg->timer_spread, set->spread);
	}
	/* (G) Who sees the generation sees its period. */
	smp_store_release(&reg->timer_gen, set ? set->timer : 0);
	return old;
}

/* Waits also without a former set: another thread may just have taken it. */
static void profil_switch_retire(struct profil_reg *reg, struct profil_set *old)
{
	bool timer;

	profil_section_drain(reg);
	if (!old)
		return;
	timer = old->timer;
	profil_set_put(old);
	profil_race(PROFIL_RACE_RETIRE);
	profil_hook_put(timer);
}

/*
 * Takes reg->lock with nothing pending, so that nothing is lost by the switch.
 * What cannot be delivered at once does not keep us for ever.
 */
static void profil_switch_flush(struct profil_reg *reg, unsigned long *flags)
	__acquires(&reg->lock)
{
	int tries;

	for (tries = 0; ; tries++) {
		profil_flush_all(reg);
		raw_spin_lock_irqsave(&reg->lock, *flags);
		if (!reg->count[PROFIL_PENDING] || tries == PROFIL_SWITCH_TRIES)
			return;
		raw_spin_unlock_irqrestore(&reg->lock, *flags);
	}
}

static int profil_switch_by_user(struct profil_reg *reg, struct profil_set *set)
{
	struct profil_set *old = NULL;
	unsigned long flags;
	bool dead;

	profil_race(PROFIL_RACE_SWITCH);
	profil_switch_flush(reg, &flags);
	dead = reg->dead;
	if (!dead)
		old = profil_switch(reg, set,
				    set ? PROFIL_STATE_ON : PROFIL_STATE_OFF);
	raw_spin_unlock_irqrestore(&reg->lock, flags);
	profil_switch_retire(reg, old);
	profil_flush_all(reg);
	return dead ? -ESRCH : 0;
}

/**
 * profil_switch_on - Count into these histograms from now on
 * @reg: The registration of current
 * @set: What to count; its reference, and one to the hook, go with it
 *
 * Context: Task; waits for sections, and sleeps as profil_flush_all() does.
 * Return: 0, or -ESRCH if the anchor was unmapped, and the caller keeps both
 * references.
 */
int profil_switch_on(struct profil_reg *reg, struct profil_set *set)
{
	return profil_switch_by_user(reg, set);
}

/**
 * profil_switch_off - Count no more
 * @reg: The registration of current
 *
 * Context: Task; waits for sections, and sleeps as profil_flush_all() does.
 */
void profil_switch_off(struct profil_reg *reg)
{
	profil_switch_by_user(reg, NULL);
}

/**
 * profil_switch_end - Count no more, because a counter is not writable
 * @reg: The registration
 * @bin: The counter that was to be written
 * @n: The pending ticks that were to be counted; who sees the state sees what
 *     became of them
 *
 * Context: Task, outside sections.
 * Return: False, and nothing has happened, if the generation of @bin is over.
 */
bool profil_switch_end(struct profil_reg *reg, const struct profil_bin_ref *bin,
		       unsigned int n)
{
	struct profil_set *old = NULL;
	unsigned long flags;

	raw_spin_lock_irqsave(&reg->lock, flags);
	if (reg->set && reg->set->gen == bin->gen) {
		old = profil_switch(reg, NULL, PROFIL_STATE_FAULT);
		reg->fault_addr = bin->addr;
		reg->count[PROFIL_PENDING] -= n;
		reg->count[PROFIL_LOST_FAULT] += n;
	}
	raw_spin_unlock_irqrestore(&reg->lock, flags);
	if (old)
		profil_switch_retire(reg, old);
	return old;
}

static bool profil_switch_inheritable(const struct profil_set *set)
{
	return set && !(set->flags & PROFIL_START_F_NOINHERIT);
}

/**
 * profil_switch_inherits - Find out whether a child counts what its parent does
 * @parent: The registration of the parent
 *
 * Context: Task, also under mmap_lock.
 * Return: Whether it does, for now.
 */
bool profil_switch_inherits(struct profil_reg *parent)
{
	unsigned long flags;
	bool ret;

	raw_spin_lock_irqsave(&parent->lock, flags);
	ret = profil_switch_inheritable(parent->set);
	raw_spin_unlock_irqrestore(&parent->lock, flags);
	return ret;
}

/**
 * profil_switch_inherit - Let a forked child count what its parent counts
 * @child: Its registration, not published yet
 * @parent: That of the parent
 *
 * Context: Task, under mmap_lock.
 * Return: False if the parent counts nothing, or does not hand it on.
 */
bool profil_switch_inherit(struct profil_reg *child, struct profil_reg *parent)
{
	struct profil_set *set = NULL;
	unsigned long flags;
	u32 seed = 0;

	raw_spin_lock_irqsave(&parent->lock, flags);
	if (profil_switch_inheritable(parent->set)) {
		set = parent->set;
		refcount_inc(&set->refs);
		seed = prandom_u32_state(&parent->rnd);
	}
	raw_spin_unlock_irqrestore(&parent->lock, flags);
	if (!set)
		return false;

	profil_race(PROFIL_RACE_INHERIT);
	profil_hook_hold(set->timer);
	raw_spin_lock_irqsave(&child->lock, flags);
	prandom_seed_state(&child->rnd, seed);
	profil_switch(child, set, PROFIL_STATE_ON);
	raw_spin_unlock_irqrestore(&child->lock, flags);
	return true;
}

/**
 * profil_switch_dead - Count no more, for good
 * @reg: The registration, whose anchor is gone
 *
 * Context: Task, also under mmap_lock.
 */
void profil_switch_dead(struct profil_reg *reg)
{
	struct profil_set *old;
	unsigned long flags;

	raw_spin_lock_irqsave(&reg->lock, flags);
	WRITE_ONCE(reg->dead, true);
	old = profil_switch(reg, NULL, PROFIL_STATE_OFF);
	raw_spin_unlock_irqrestore(&reg->lock, flags);
	profil_switch_retire(reg, old);
}
