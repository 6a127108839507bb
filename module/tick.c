// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tick, as far as the short way in hot.h does not do it: finds the counter of
 * where current runs, and counts or puts off.  Hardirq throughout, with interrupts
 * off.
 */
#include <linux/percpu.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>

#include "bump.h"
#include "hot.h"

/* What becomes of a tick. */
struct profil_sample {
	unsigned int		times;	/* it counts as so many */
	unsigned int		due;	/* of these, by the rate: all or none */
	unsigned int		done;	/* of these, counted in the tick */
	enum profil_class	class;	/* of the others that are due */
	struct profil_bin_ref	bin;
	unsigned long		pc;
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

static bool profil_tick_due(struct profil_reg *reg, const struct profil_set *set)
{
	bool due;

	if (set->take == set->window)
		return true;
	raw_spin_lock(&reg->lock);
	/* The window is of the newest set. */
	due = reg->set == set && profil_tick_choose(reg, set);
	raw_spin_unlock(&reg->lock);
	return due;
}

/* In the kernel a tick must not touch user memory. */
static enum profil_class profil_tick_bump(struct profil_sample *sample, bool user)
{
	int added;

	if (!user || profil_deferred)
		return PROFIL_PENDING;
	profil_hardirq_fault_disable();
	added = profil_bump(sample->bin.addr, sample->bin.mask, sample->due);
	profil_hardirq_fault_enable();
	if (added < 0)
		return PROFIL_PENDING;
	sample->done = added;
	return PROFIL_SATURATED;
}

/* In a section.  A tick in the kernel is charged to where it will return to. */
static void profil_tick_count(struct profil_reg *reg,
			      const struct profil_set *set,
			      struct pt_regs *regs, struct profil_sample *sample)
{
	bool user = regs && user_mode(regs);

	sample->due = sample->times;
	sample->class = PROFIL_SYSTEM;
	if (!user && set->flags & PROFIL_START_F_USER_ONLY)
		return;
	if (!profil_tick_due(reg, set))
		sample->due = 0;
	sample->class = PROFIL_OUTSIDE;
	if (!user)
		regs = task_pt_regs(current);
	sample->pc = instruction_pointer(regs);
	if (sample->due && profil_find_bin(set, sample->pc, &sample->bin))
		sample->class = profil_tick_bump(sample, user);
}

/*
 * In that section too: when it has been waited for, the sample is accounted for,
 * and only then is the anchor's reference dropped.
 */
static void profil_tick_account(struct profil_reg *reg,
				struct profil_sample *sample)
{
	unsigned int left = sample->due - sample->done;

	raw_spin_lock(&reg->lock);
	if (left && sample->class == PROFIL_PENDING) {
		sample->class = profil_pending_add(reg, &sample->bin,
						   sample->pc, left);
		if (sample->class == PROFIL_PENDING)
			reg->deferred += left;
	}
	reg->ticks += sample->times;
	reg->count[PROFIL_NOT_DUE] += sample->times - sample->due;
	reg->count[PROFIL_IN_RANGE] += sample->done;
	reg->count[sample->class] += left;
	raw_spin_unlock(&reg->lock);
}

/* In a section. */
static noinline void profil_tick_slow(struct profil_reg *reg,
				      const struct profil_set *set,
				      struct pt_regs *regs, u64 timer,
				      unsigned int times)
{
	struct profil_sample sample = { .times = times };

	if (!set || set->timer != timer)
		return;
	profil_tick_count(reg, set, regs, &sample);
	profil_race(PROFIL_RACE_ACCOUNT);
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
 * profil_tick_rest - A tick that is none of profil_tick_fast()
 * @cpu: This CPU
 * @reg: The registration of current
 * @set: What it counts, or NULL
 * @regs: What was interrupted
 *
 * Nearly every sample of a long system call is where the last one was.
 *
 * Context: Hardirq, interrupts off, in a section, which it leaves.
 */
void profil_tick_rest(struct profil_cpu *cpu, struct profil_reg *reg,
		      const struct profil_set *set, struct pt_regs *regs)
{
	/* What was interrupted may be changing its flags, but not these. */
	if (data_race(current->flags) & PROFIL_PF_BORROWERS) {
		profil_section_leave(cpu);
		profil_tick_borrowed(reg);
		return;
	}
	if (READ_ONCE(reg->recent) && set && set->fast &&
	    !(set->flags & PROFIL_START_F_USER_ONLY) &&
	    !(regs && user_mode(regs)) &&
	    profil_pending_again(reg, instruction_pointer(task_pt_regs(current)))) {
		profil_section_leave(cpu);
		return;
	}
	profil_tick_slow(reg, set, regs, 0, 1);
	profil_section_leave(cpu);
	profil_timer_run(reg);
}

/**
 * profil_tick_sample - One sample of current, from its timer
 * @reg: Its registration
 * @regs: What was interrupted
 * @timer: The generation whose timer it is
 * @times: As how many it counts, because the timer was late
 *
 * Context: Hardirq, interrupts off, under rcu_read_lock().
 */
void profil_tick_sample(struct profil_reg *reg, struct pt_regs *regs, u64 timer,
			unsigned int times)
{
	struct profil_cpu *cpu = this_cpu_ptr(&profil_cpu);
	struct profil_set *set = profil_section_enter(cpu, reg);

	profil_race(PROFIL_RACE_USE);
	profil_tick_slow(reg, set, regs, timer, times);
	profil_section_leave(cpu);
}
