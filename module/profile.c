// SPDX-License-Identifier: GPL-2.0-only
/*
 * A profile begins, ends, gets other histograms, is inherited: every change of what a
 * registration counts, but for that of a fault (profil_reg_end()).
 *
 * "Off" means off: when one of these returns, no CPU writes to the former histograms any
 * more.  What is pending is delivered before, as far as that is possible at once; what is
 * left or came meanwhile is settled as lost afterwards.
 */
#include <linux/err.h>
#include <linux/profil.h>

#include "profil.h"
#include "race.h"
#include "reg.h"
#include "set.h"
#include "tick.h"

/* On a slow machine new ticks arrive while we deliver the old ones: so many rounds. */
#define PROFIL_FLUSH_ROUNDS	8

/*
 * Makes a registration that nobody finds yet and that counts nothing; or an ERR_PTR().
 * May sleep, also under mmap_lock.
 */
struct profil_reg *profil_profile_create(struct mm_struct *mm)
{
	struct profil_reg *reg = profil_reg_create(mm);

	if (IS_ERR(reg))
		return reg;
	INIT_DELAYED_WORK(&reg->work, profil_flush_worker);
	reg->deliver = profil_deliver_own;
	if (!profil_pending_init(reg))
		return reg;
	profil_reg_put(reg);
	return ERR_PTR(-ENOMEM);
}

/* Fills a run that no tick can see. */
static void profil_profile_fill(struct profil_reg *reg, struct profil_run *run,
				struct profil_set *set)
{
	profil_reg_fill(reg, run, set);
	run->direct = !set->timer && !profil_tick_deferred();
	run->late = set->timer ? profil_timer_run : NULL;
}

/*
 * Takes reg->lock with nothing pending, so that nothing is lost by the change.  What
 * cannot be delivered at once does not keep us for ever.
 */
static void profil_profile_flush(struct profil_reg *reg, unsigned long *flags)
	__acquires(&reg->lock)
{
	int rounds;

	for (rounds = 0; ; rounds++) {
		profil_flush_all(reg);
		raw_spin_lock_irqsave(&reg->lock, *flags);
		if (!atomic64_read(&reg->count[PROFIL_PENDING]) ||
		    rounds == PROFIL_FLUSH_ROUNDS)
			return;
		raw_spin_unlock_irqrestore(&reg->lock, *flags);
	}
}

/* Why what is on cannot be changed by who has @cookie, or 0.  Under reg->lock. */
static int profil_profile_refused(const struct profil_reg *reg, u64 cookie)
{
	lockdep_assert_held(&reg->lock);
	if (reg->dead)
		return -ESRCH;
	return cookie && cookie != reg->cookie ? -ESTALE : 0;
}

/*
 * Changes what is on, if @cookie is 0 or that of the last set: 0; or -ESRCH if the
 * registration is dead, or -ESTALE.  With what is no more the last set when it is called it
 * changes nothing.
 */
static int profil_profile_change(struct profil_reg *reg, struct profil_run *run, u64 cookie)
{
	struct profil_set *old = NULL;
	unsigned long flags;
	int err;

	raw_spin_lock_irqsave(&reg->lock, flags);
	err = profil_profile_refused(reg, cookie);
	raw_spin_unlock_irqrestore(&reg->lock, flags);
	/* Delivering settles as lost what has to wait, and this is another's. */
	if (err == -ESTALE)
		return err;
	profil_race(PROFIL_RACE_SWITCH);
	profil_profile_flush(reg, &flags);
	err = profil_profile_refused(reg, cookie);
	if (!err)
		old = profil_reg_switch(reg, run, run->set ? PROFIL_STATE_ON : PROFIL_STATE_OFF);
	raw_spin_unlock_irqrestore(&reg->lock, flags);
	profil_reg_retire(reg, old);
	profil_flush_all(reg);
	return err;
}

/*
 * Counts into the histograms of @set from now on.  Its reference goes with it.  Returns
 * 0; or -ESRCH if the anchor was unmapped, or -EINTR on a fatal signal, and the caller
 * keeps the reference.  Waits for sections, and sleeps as profil_flush_all() does.
 *
 * Of the two runs, that of the last START may be in use, also after a STOP.  The other one
 * is not: that START has waited for the sections that used it.  Hence the mutex.
 */
int profil_profile_on(struct profil_reg *reg, struct profil_set *set)
{
	struct profil_run *run;
	int err;

	if (mutex_lock_killable(&reg->start))
		return -EINTR;
	run = &reg->run[reg->last == &reg->run[0]];
	profil_profile_fill(reg, run, set);
	err = profil_profile_change(reg, run, 0);
	if (!err)
		reg->last = run;
	mutex_unlock(&reg->start);
	return err;
}

/*
 * Counts no more: 0, or -ESTALE if @cookie is that of another set.  Waits for sections,
 * and sleeps as profil_flush_all() does.
 */
int profil_profile_off(struct profil_reg *reg, u64 cookie)
{
	int err = profil_profile_change(reg, &profil_run_off, cookie);

	return err == -ESRCH ? 0 : err;
}

/* Counts no more, for good: the anchor is gone.  Also under mmap_lock. */
void profil_profile_end(struct profil_reg *reg)
{
	struct profil_set *old;
	unsigned long flags;

	raw_spin_lock_irqsave(&reg->lock, flags);
	WRITE_ONCE(reg->dead, true);
	old = profil_reg_switch(reg, &profil_run_off, PROFIL_STATE_OFF);
	raw_spin_unlock_irqrestore(&reg->lock, flags);
	profil_reg_retire(reg, old);
}

/*
 * The set that a child counts, with a reference, or NULL.  As the set holds the hook, the
 * child needs no other hold of it.
 */
static struct profil_set *profil_profile_heritage(struct profil_reg *parent)
{
	struct profil_set *set;
	unsigned long flags;

	raw_spin_lock_irqsave(&parent->lock, flags);
	set = parent->now->set;
	if (set && set->flags & PROFIL_START_F_NOINHERIT)
		set = NULL;
	if (set)
		refcount_inc(&set->refs);
	raw_spin_unlock_irqrestore(&parent->lock, flags);
	return set;
}

static void profil_profile_missed(struct profil_reg *parent)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&parent->lock, flags);
	parent->forks_missed++;
	raw_spin_unlock_irqrestore(&parent->lock, flags);
}

/*
 * Lets a forked child with the address space @mm count what its parent counts.  Returns
 * its registration, or NULL if there is none.  Under mmap_lock of @mm.
 */
struct profil_reg *profil_profile_inherit(struct profil_reg *parent, struct mm_struct *mm)
{
	struct profil_set *set = profil_profile_heritage(parent);
	struct profil_reg *child;
	unsigned long flags;

	if (!set)
		return NULL;
	child = profil_profile_create(mm);
	if (IS_ERR(child)) {
		profil_profile_missed(parent);
		profil_set_put(set);
		return NULL;
	}
	child->last = &child->run[0];
	profil_profile_fill(child, child->last, set);
	raw_spin_lock_irqsave(&child->lock, flags);
	profil_reg_switch(child, child->last, PROFIL_STATE_ON);
	raw_spin_unlock_irqrestore(&child->lock, flags);
	/* There is another if mremap() had no memory to unmap the former anchor. */
	if (profil_reg_publish(child)) {
		profil_profile_end(child);
		profil_reg_put(child);
		return NULL;
	}
	profil_reg_put(child);
	return child;
}
