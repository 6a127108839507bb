// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tick, as far as tick.h does not do it in line: ticks in kernel mode, those that the
 * counter's page or another writer is in the way of, and samples of the timer source.
 * Hardirq throughout, with interrupts off.
 */
#include <linux/sched/task_stack.h>
#include <linux/profil.h>

#include "choice.h"
#include "profil.h"
#include "set.h"
#include "tick.h"

static PROFIL_CHOICE(profil_deliver_when, "tick", "deferred");
module_param_cb(deliver, &profil_choice_ops, &profil_deliver_when, 0444);
MODULE_PARM_DESC(deliver, "tick (default): count in the tick what can be; deferred: nothing");

const struct profil_hook *profil_tick_hook;
DEFINE_PER_CPU(unsigned long, profil_tick_hits);

/* Whether nothing is counted in the tick. */
bool profil_tick_deferred(void)
{
	return profil_deliver_when.chosen;
}

/* In user mode: adds @n to a counter, with more tries.  False if they all failed. */
static noinline bool profil_tick_add(struct profil_reg *reg,
				     const struct profil_bin_ref *bin, unsigned int n)
{
	long added;

	profil_hardirq_fault_disable();
	added = profil_bump(bin->addr, bin->mask, n);
	profil_hardirq_fault_enable();
	if (added < 0)
		return false;
	profil_race(PROFIL_RACE_ACCOUNT);
	atomic64_add(added, &reg->count[PROFIL_IN_RANGE]);
	atomic64_add(n - added, &reg->count[PROFIL_SATURATED]);
	return true;
}

/*
 * @n samples at once, in a section.  Those of the kernel count where current will return
 * to, and later: only then is its memory certainly the one that is loaded.
 */
static void profil_tick_samples(struct profil_reg *reg, const struct profil_run *run,
				struct pt_regs *regs, bool user, unsigned int n)
{
	unsigned long pc = instruction_pointer(user ? regs : task_pt_regs(current));
	const struct profil_range *range = profil_find_range(&run->segments, pc);
	struct profil_bin_ref bin;

	if (!range) {
		atomic64_add(n, &reg->count[PROFIL_OUTSIDE]);
		return;
	}
	bin = (struct profil_bin_ref){
		.gen	= run->set->gen,
		.addr	= profil_find_counter(range, pc),
		.mask	= range->mask,
	};
	if (!user || profil_tick_deferred() || !profil_tick_add(reg, &bin, n))
		profil_pending_add(reg, &bin, n);
}

/* Whether the samples of kernel mode are left out. */
static bool profil_tick_user_only(const struct profil_run *run)
{
	return run->set->flags & PROFIL_START_F_USER_ONLY;
}

/*
 * A tick that profil_tick() could not count, or whose number it has not taken: @due says
 * which.  Leaves the section.
 */
void profil_tick_rest(struct profil_section *section, struct profil_reg *reg,
		      struct profil_run *run, struct pt_regs *regs, bool due)
{
	void (*late)(struct profil_reg *reg) = NULL;
	bool user = user_mode(regs);

	/*
	 * Kernel threads, io_uring and vhost workers: no user code is running.  What was
	 * interrupted may be changing its flags, but not these.
	 */
	if (data_race(current->flags) & PROFIL_PF_BORROWERS)
		atomic64_add(!!run->set, &reg->borrowed);
	else if (run->late)
		late = run->late;
	else if (!run->set)
		;
	else if (!user && profil_tick_user_only(run))
		atomic64_inc(&reg->count[PROFIL_SYSTEM]);
	else if (due || !run->rated || profil_run_due(run))
		profil_tick_samples(reg, run, regs, user, 1);
	profil_section_leave(section);
	if (late)
		late(reg);
}

/*
 * @n samples of current at once, from the timer of generation @timer.  Under
 * rcu_read_lock().
 */
void profil_tick_sample(struct profil_reg *reg, struct pt_regs *regs, u64 timer,
			unsigned int n)
{
	struct profil_section *section = this_cpu_ptr(&profil_section);
	bool user = regs && user_mode(regs);
	struct profil_run *run;

	profil_section_enter(section, reg);
	run = smp_load_acquire(&reg->now);	/* (E) */
	profil_race(PROFIL_RACE_USE);
	if (!run->set || run->set->timer != timer)
		;
	else if (!user && profil_tick_user_only(run))
		atomic64_add(n, &reg->count[PROFIL_SYSTEM]);
	else
		profil_tick_samples(reg, run, regs, user, n);
	profil_section_leave(section);
}
