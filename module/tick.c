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

/*
 * Selection sampling: of each window of ticks of the process exactly so many
 * are due as the rate says, each choice as likely as any other.  So no thread,
 * CPU or phase is favoured, and the total is exact to a window.
 */
static bool profil_tick_due(struct profil_reg *reg, const struct profil_set *set)
{
	bool due = true;

	if (set->take == set->window)
		return true;
	raw_spin_lock(&reg->lock);
	if (!reg->window_left) {
		reg->window_left = set->window;
		reg->take_left = set->take;
	}
	due = (u64)prandom_u32_state(&reg->rnd) * reg->window_left >> 32 <
	      reg->take_left;
	reg->window_left--;
	reg->take_left -= due;
	raw_spin_unlock(&reg->lock);
	return due;
}

/*
 * In a section.  PROFIL_PENDING means that @bin is to be put off.  A tick in
 * the kernel is charged to where the thread will return to, and must not touch
 * user memory.
 */
static enum profil_class profil_tick_count(struct profil_reg *reg,
					   const struct profil_set *set,
					   struct pt_regs *regs,
					   struct profil_bin_ref *bin)
{
	bool user = regs && user_mode(regs);
	int ret;

	if (!profil_tick_due(reg, set))
		return PROFIL_NOT_DUE;
	if (!user)
		regs = task_pt_regs(current);
	if (!profil_set_find(set, instruction_pointer(regs), bin))
		return PROFIL_OUTSIDE;
	if (!user || profil_deferred)
		return PROFIL_PENDING;
	ret = profil_bump(bin, 1);
	if (ret < 0)
		return PROFIL_PENDING;
	return ret ? PROFIL_IN_RANGE : PROFIL_SATURATED;
}

static void profil_tick_account(struct profil_reg *reg, enum profil_class class,
				const struct profil_bin_ref *bin)
{
	raw_spin_lock(&reg->lock);
	if (!reg->dead) {
		if (class == PROFIL_PENDING) {
			class = profil_pending_add(reg, bin);
			reg->deferred += class == PROFIL_PENDING;
		}
		reg->ticks++;
		reg->count[class]++;
	}
	raw_spin_unlock(&reg->lock);
}

static void profil_tick_sample(struct profil_reg *reg, struct pt_regs *regs)
{
	struct profil_bin_ref bin;
	struct profil_set *set = profil_section_enter(reg);
	enum profil_class class = PROFIL_NOT_DUE;

	if (set)
		class = profil_tick_count(reg, set, regs, &bin);
	profil_section_leave();
	if (set)
		profil_tick_account(reg, class, &bin);
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
	if (current->flags & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER))
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
