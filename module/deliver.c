// SPDX-License-Identifier: GPL-2.0-only
/*
 * Delivery of one pending record, in task context: counts it, or finds out why
 * not.  A thread delivers its own when it returns to user mode, and may sleep
 * for it; flush.c delivers for others.
 */
#include <linux/module.h>
#include <linux/sched.h>

#include "bump.h"
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

/* One exchange, and the account of all @n; or an error, with nothing counted. */
static int profil_deliver_once(struct profil_reg *reg,
			       const struct profil_bin_ref *bin, unsigned int n)
{
	struct profil_cpu *cpu;
	struct profil_set *set;
	unsigned long flags;
	int ret = -ESTALE;

	local_irq_save(flags);
	cpu = this_cpu_ptr(&profil_cpu);
	set = profil_section_enter(cpu, reg);
	if (set && set->gen == bin->gen) {
		pagefault_disable();
		ret = profil_bump(bin->addr, bin->mask, n);
		pagefault_enable();
	}
	profil_race(PROFIL_RACE_ACCOUNT);
	if (ret >= 0) {
		profil_deliver_settle(reg, PROFIL_IN_RANGE, ret);
		profil_deliver_settle(reg, PROFIL_SATURATED, n - ret);
	}
	profil_section_leave(cpu);
	local_irq_restore(flags);
	return ret;
}

/* 0 to go on if any are left.  After its generation a counter ends no profile. */
static int profil_deliver_fault(struct profil_reg *reg,
				const struct profil_bin_ref *bin,
				unsigned int *n, bool wait)
{
	int err;

	profil_race(PROFIL_RACE_FAULT);
	err = profil_fault_in(reg->mm, bin->addr, wait);
	if (err != -EFAULT)
		return err;
	if (!profil_switch_end(reg, bin, *n))
		return -ESTALE;
	*n = 0;
	return 0;
}

/**
 * profil_deliver - Count pending ticks, or settle why not
 * @reg: The registration; without its address space nothing is written
 * @bin: The counter
 * @n: The ticks; what is left pending is written back
 * @wait: Wait for the page of the counter
 *
 * Context: Task, outside sections; may sleep.
 * Return: False if ticks are still pending because the page is not ready, never
 * with @wait.
 */
bool profil_deliver(struct profil_reg *reg, const struct profil_bin_ref *bin,
		    unsigned int *n, bool wait)
{
	/* Exit and exec drop the address space before they deliver. */
	int err = current->mm == reg->mm ? 0 : -ESRCH;
	int tries;

	for (tries = 0; *n && !err && tries < PROFIL_DELIVER_TRIES; tries++) {
		cond_resched();
		err = profil_deliver_once(reg, bin, *n);
		if (err >= 0) {
			*n = 0;
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
