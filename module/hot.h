/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What every tick does, in line: each instruction of it is paid for by all that
 * runs while somebody is profiled.
 */
#ifndef _PROFIL_HOT_H
#define _PROFIL_HOT_H

#include <linux/percpu.h>
#include <linux/ptrace.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/uaccess.h>
#include <asm/irq_regs.h>

#include "bump.h"
#include "find.h"
#include "profil.h"

/*
 * Everybody's tick walks a bucket.  The default of max_profiles makes it 2
 * entries on the average, and nobody can aim at one bucket: the key is not
 * known.
 */
#define PROFIL_REG_BITS		13

extern struct hlist_head *profil_regs;
extern unsigned long profil_reg_key;

static inline struct hlist_head *profil_hot_bucket(struct mm_struct *mm)
{
	unsigned long key = (unsigned long)mm * profil_reg_key;

	return &profil_regs[key >> (BITS_PER_LONG - PROFIL_REG_BITS)];
}

/* In a tick, where interrupts are off: RCU waits for that too. */
static inline struct profil_reg *profil_hot_reg(struct mm_struct *mm)
{
	struct profil_reg *reg;

	hlist_for_each_entry_rcu(reg, profil_hot_bucket(mm), node)
		if (reg->mm == mm)
			return reg;
	return NULL;
}

/* Of each CPU, which alone writes it. */
struct profil_cpu {
	unsigned long		hits;	/* ticks that the hook has seen, see watch.c */
	struct profil_reg	*reg;	/* whose section it is in, see section.c */
	unsigned long		seq;	/* so many sections are over */
};

DECLARE_PER_CPU(struct profil_cpu, profil_cpu);

/**
 * profil_section_enter - Begin to write to the memory of a registration
 * @cpu: This CPU
 * @reg: The registration; the caller keeps it from being freed
 *
 * Context: Interrupts off, until profil_section_leave().
 * Return: What is to be counted; stays until the section is left.  NULL if
 * nothing is.
 */
static __always_inline struct profil_set *
profil_section_enter(struct profil_cpu *cpu, struct profil_reg *reg)
{
	lockdep_assert_irqs_disabled();
	WRITE_ONCE(cpu->reg, reg);
	/*
	 * (A) Pairs with (B): either the new set is seen here, or the section
	 * is seen there.
	 */
	smp_mb();
	profil_race(PROFIL_RACE_ENTER);
	return READ_ONCE(reg->set);
}

/**
 * profil_section_leave - End what profil_section_enter() began
 * @cpu: This CPU
 *
 * Context: Interrupts off.
 */
static __always_inline void profil_section_leave(struct profil_cpu *cpu)
{
	profil_race(PROFIL_RACE_LEAVE);
	/* (C) Pairs with (D): all writes are done when the leaving is seen. */
	smp_store_release(&cpu->reg, NULL);
	smp_store_release(&cpu->seq, cpu->seq + 1);	/* (C) */
}

/*
 * Nearly every sample.  False if it is one of the others, which all others can
 * tell as well, or if the memory is not at hand: nothing was counted then.
 */
static __always_inline bool profil_tick_fast(struct profil_reg *reg,
					     const struct profil_set *set,
					     struct pt_regs *regs)
{
	const struct profil_range *range;
	unsigned long addr, pc;
	int added;

	if (!set || !set->fast || !regs || !user_mode(regs))
		return false;
	pc = instruction_pointer(regs);
	range = profil_find_range(set, pc);
	if (!range)
		return false;
	addr = (pc - range->offset) >> range->pre;
	addr = range->addr + (addr * range->scale >> range->post << range->order);
	profil_hardirq_fault_disable();
	added = profil_bump(addr, range->mask, 1);
	profil_hardirq_fault_enable();
	if (added <= 0)
		return false;
	atomic64_inc(&reg->fast);
	return true;
}

/* See hook.c. */
extern const struct profil_hook *profil_hook_armed;

/**
 * profil_hook_tick - A hook has seen a tick of this CPU
 * @hook: The hook
 *
 * While one takes over from another both do, and the tick is of one of them.
 *
 * Context: Hardirq, interrupts off, on the CPU that ticks.
 */
static __always_inline void profil_hook_tick(const struct profil_hook *hook)
{
	struct mm_struct *mm = current->mm;
	struct profil_cpu *cpu;
	struct profil_reg *reg;
	struct profil_set *set;
	struct pt_regs *regs;

	if (READ_ONCE(profil_hook_armed) != hook)
		return;
	__this_cpu_inc(profil_cpu.hits);
	if (!mm)
		return;
	reg = profil_hot_reg(mm);
	if (likely(!reg))
		return;
	cpu = this_cpu_ptr(&profil_cpu);
	set = profil_section_enter(cpu, reg);
	regs = get_irq_regs();
	profil_race(PROFIL_RACE_USE);
	if (profil_tick_fast(reg, set, regs))
		profil_section_leave(cpu);
	else
		profil_tick_rest(cpu, reg, set, regs);
}

#endif /* _PROFIL_HOT_H */
