// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tick: finds the registration of what runs, the counter of where it runs,
 * and counts or puts off.  Hardirq throughout, with interrupts off.
 */
#include <linux/percpu.h>
#include <linux/ptrace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>

#include "profil.h"

static DEFINE_PER_CPU(unsigned long, profil_hits);

/* What becomes of a tick. */
struct profil_sample {
	unsigned int		weight;	/* it counts as so many */
	unsigned int		due;	/* of these, by the rate */
	unsigned int		done;	/* of these, counted in the tick */
	enum profil_class	class;	/* of the others that are due */
	struct profil_bin_ref	bin;
};

/*
 * Selection sampling: of each window of ticks of the process exactly so many
 * are due as the rate says, each choice as likely as any other.  So no thread,
 * CPU or phase is favoured, and the total is exact to a window.
 */
static bool profil_tick_choose(struct profil_reg *reg,
			       const struct profil_set *set)
{
	bool due;

	if (!reg->window_left) {
		reg->window_left = set->window;
		reg->take_left = set->take;
	}
	due = (u64)prandom_u32_state(&reg->rnd) * reg->window_left >> 32 <
	      reg->take_left;
	reg->window_left--;
	reg->take_left -= due;
	return due;
}

static unsigned int profil_tick_due(struct profil_reg *reg,
				    const struct profil_set *set)
{
	unsigned int i, due = 0;

	if (set->take == set->window)
		return set->weight;
	raw_spin_lock(&reg->lock);
	for (i = 0; i < set->weight; i++)
		due += profil_tick_choose(reg, set);
	raw_spin_unlock(&reg->lock);
	return due;
}

/* In the kernel a tick must not touch user memory. */
static enum profil_class profil_tick_bump(struct profil_sample *sample, bool user)
{
	if (!user || profil_deferred || profil_bump_odd(&sample->bin) ||
	    profil_bump(&sample->bin, sample->due, &sample->done))
		return PROFIL_PENDING;
	/* Ending a profile is not for a tick. */
	return sample->bin.svr4 ? PROFIL_PENDING : PROFIL_SATURATED;
}

/* In a section.  A tick in the kernel is charged to where it will return to. */
static void profil_tick_count(struct profil_reg *reg,
			      const struct profil_set *set,
			      struct pt_regs *regs, struct profil_sample *sample)
{
	bool user = regs && user_mode(regs);

	sample->weight = set->weight;
	sample->due = set->weight;
	sample->class = PROFIL_SYSTEM;
	if (!user && set->flags & PROFIL_START_F_USER_ONLY)
		return;
	sample->due = profil_tick_due(reg, set);
	sample->class = PROFIL_OUTSIDE;
	if (!user)
		regs = task_pt_regs(current);
	if (sample->due && profil_find_bin(set, instruction_pointer(regs),
					   &sample->bin))
		sample->class = profil_tick_bump(sample, user);
}

static void profil_tick_account(struct profil_reg *reg,
				struct profil_sample *sample)
{
	unsigned int left = sample->due - sample->done;

	raw_spin_lock(&reg->lock);
	if (!reg->dead) {
		if (left && sample->class == PROFIL_PENDING) {
			sample->class = profil_pending_add(reg, &sample->bin,
							   left);
			if (sample->class == PROFIL_PENDING)
				reg->deferred += left;
		}
		reg->ticks += sample->weight;
		reg->count[PROFIL_NOT_DUE] += sample->weight - sample->due;
		reg->count[PROFIL_IN_RANGE] += sample->done;
		reg->count[sample->class] += left;
	}
	raw_spin_unlock(&reg->lock);
}

static void profil_tick_sample(struct profil_reg *reg, struct pt_regs *regs)
{
	struct profil_set *set = profil_section_enter(reg);
	struct profil_sample sample = { };

	profil_race(PROFIL_RACE_USE);
	if (set && (!set->thread || set->thread == task_pid(current)))
		profil_tick_count(reg, set, regs, &sample);
	profil_section_leave();
	profil_race(PROFIL_RACE_ACCOUNT);
	if (sample.weight)
		profil_tick_account(reg, &sample);
}

/* Kernel threads, io_uring and vhost workers: no user code is running. */
static void profil_tick_borrowed(struct profil_reg *reg)
{
	raw_spin_lock(&reg->lock);
	reg->borrowed += !!reg->set;
	raw_spin_unlock(&reg->lock);
}

/**
 * profil_tick - One tick of this CPU
 * @regs: What the tick interrupted, or NULL if that is not known
 *
 * Context: Hardirq, interrupts off, on the CPU that ticks.
 */
void profil_tick(struct pt_regs *regs)
{
	struct profil_reg *reg;

	this_cpu_inc(profil_hits);
	if (!current->mm)
		return;
	rcu_read_lock();
	reg = profil_reg_find(current->mm);
	if (!reg)
		goto out;
	/* What was interrupted may be changing its flags, but not these. */
	if (data_race(current->flags) &
	    (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER))
		profil_tick_borrowed(reg);
	else
		profil_tick_sample(reg, regs);
out:
	rcu_read_unlock();
}

/**
 * profil_tick_hits - Ticks that the hook has seen
 *
 * Context: Any.
 * Return: Their number on all CPUs, since the module was loaded.
 */
u64 profil_tick_hits(void)
{
	u64 hits = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		hits += READ_ONCE(per_cpu(profil_hits, cpu));
	return hits;
}
