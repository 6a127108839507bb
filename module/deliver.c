// SPDX-License-Identifier: GPL-2.0-only
/*
 * Delivery of one pending record, in task context: counts it, or finds out why
 * not.  A thread delivers its own when it returns to user mode, and may sleep
 * for it; flush.c delivers for others.
 */
#include <linux/module.h>
#include <linux/sched.h>

#include "hot.h"

/* Tries of one delivery: each saw the page go away or the word change. */
#define PROFIL_DELIVER_TRIES	64

/**
 * profil_deliver_settle - Say where pending ticks ended
 * @reg: The registration
 * @class: Their class
 * @n: Their number
 *
 * Context: Task, also in a section, reg->lock not held.
 */
void profil_deliver_settle(struct profil_reg *reg, enum profil_class class,
			   unsigned int n)
{
	unsigned long flags;

	if (!n)
		return;
	raw_spin_lock_irqsave(&reg->lock, flags);
	reg->count[PROFIL_PENDING] -= n;
	reg->count[class] += n;
	raw_spin_unlock_irqrestore(&reg->lock, flags);
}

static enum profil_class profil_deliver_class(int err)
{
	switch (err) {
	case -ESTALE:
		return PROFIL_LOST_STOPPED;
	case -ESRCH:
	case -EINTR:
		return PROFIL_LOST_EXIT;
	case -EACCES:
		return PROFIL_LOST_DENIED;
	case -ENOMEM:
		return PROFIL_LOST_UNREADY;
	default:
		return PROFIL_LOST_CONTENDED;
	}
}

/* In a section.  Not atomic, so one at a time in the address space. */
static int profil_deliver_odd(struct profil_reg *reg, struct profil_bin_ref *bin,
			      unsigned int n, unsigned int *added)
{
	int err;

	raw_spin_lock(&reg->lock);
	err = profil_bump(bin, n, added);
	raw_spin_unlock(&reg->lock);
	return err;
}

/* One write, and its account, unless the generation is over: then -ESTALE. */
static int profil_deliver_once(struct profil_reg *reg,
			       struct profil_bin_ref *bin, unsigned int n,
			       unsigned int *added)
{
	struct profil_cpu *cpu;
	struct profil_set *set;
	unsigned long flags;
	int err = -ESTALE;

	*added = 0;
	local_irq_save(flags);
	cpu = this_cpu_ptr(&profil_cpu);
	set = profil_section_enter(cpu, reg);
	if (set && set->gen == bin->gen)
		err = profil_bump_odd(bin) ?
		      profil_deliver_odd(reg, bin, n, added) :
		      profil_bump(bin, n, added);
	profil_race(PROFIL_RACE_ACCOUNT);
	profil_deliver_settle(reg, PROFIL_IN_RANGE, *added);
	profil_section_leave(cpu);
	local_irq_restore(flags);
	return err;
}

/* What became of a counter after its generation does not end the profile. */
static int profil_deliver_end(struct profil_reg *reg,
			      const struct profil_bin_ref *bin, unsigned int *n,
			      u32 state)
{
	if (!profil_switch_end(reg, bin, *n, state))
		return -ESTALE;
	*n = 0;
	return 0;
}

/* 0 to go on if any are left. */
static int profil_deliver_fault(struct profil_reg *reg,
				const struct profil_bin_ref *bin,
				unsigned int *n, bool wait)
{
	int err;

	profil_race(PROFIL_RACE_FAULT);
	err = profil_fault_in(reg->mm, bin, wait);
	if (err == -EFAULT)
		err = profil_deliver_end(reg, bin, n, PROFIL_STATE_FAULT);
	return err;
}

/* All is added but for @n that exceed the maximum. */
static int profil_deliver_full(struct profil_reg *reg,
			       const struct profil_bin_ref *bin, unsigned int *n)
{
	if (*n && bin->svr4)
		return profil_deliver_end(reg, bin, n, PROFIL_STATE_FULL);
	profil_deliver_settle(reg, PROFIL_SATURATED, *n);
	*n = 0;
	return 0;
}

/**
 * profil_deliver - Count pending ticks, or settle why not
 * @reg: The registration; without its address space nothing is written
 * @bin: The counter; what it owes is changed
 * @n: The ticks; what is left pending is written back
 * @wait: Wait for the page of the counter
 *
 * Context: Task, outside sections; may sleep.
 * Return: False if ticks are still pending because the page is not ready, never
 * with @wait.
 */
bool profil_deliver(struct profil_reg *reg, struct profil_bin_ref *bin,
		    unsigned int *n, bool wait)
{
	/* Exit and exec drop the address space before they deliver. */
	int err = current->mm == reg->mm ? 0 : -ESRCH;
	unsigned int added;
	int tries;

	for (tries = 0; *n && !err && tries < PROFIL_DELIVER_TRIES; tries++) {
		cond_resched();
		err = profil_deliver_once(reg, bin, *n, &added);
		*n -= added;
		if (added)
			tries = 0;
		if (!err) {
			err = profil_deliver_full(reg, bin, n);
		} else if (err == -EAGAIN) {
			err = 0;
		} else if (err == -EFAULT) {
			err = profil_deliver_fault(reg, bin, n, wait);
			if (err == -EAGAIN)
				return false;
		}
	}
	profil_deliver_settle(reg, profil_deliver_class(err), *n);
	*n = 0;
	return true;
}

/**
 * profil_deliver_own - Deliver a record of the thread that runs this
 * @work: The task_work of the record
 *
 * Context: Task, about to return to user mode or exiting; may sleep.
 */
void profil_deliver_own(struct callback_head *work)
{
	struct profil_pending *record = container_of(work,
						     struct profil_pending,
						     work);
	struct profil_reg *reg = record->reg;
	struct profil_bin_ref bin;
	unsigned long flags;
	unsigned int n;

	profil_race(PROFIL_RACE_DELIVER);
	raw_spin_lock_irqsave(&reg->lock, flags);
	hlist_del_init(&record->node);
	if (reg->recent == record)
		WRITE_ONCE(reg->recent, NULL);
	bin = record->bin;
	n = record->count;
	raw_spin_unlock_irqrestore(&reg->lock, flags);

	if (n)	/* else somebody delivered on our behalf */
		profil_deliver(reg, &bin, &n, true);

	raw_spin_lock_irqsave(&reg->lock, flags);
	profil_pending_spare(reg, record);
	raw_spin_unlock_irqrestore(&reg->lock, flags);
	profil_reg_put(reg);
	/* Module exit waits for the instructions after this one. */
	module_put(THIS_MODULE);
	profil_race(PROFIL_RACE_GONE);
}
