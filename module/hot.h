/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What every tick does, in line: each instruction of it is paid for by all that
 * runs while somebody is profiled.
 */
#ifndef _PROFIL_HOT_H
#define _PROFIL_HOT_H

#include <linux/hash.h>
#include <linux/percpu.h>
#include <linux/rculist.h>
#include <linux/uaccess.h>
#include <asm/futex.h>

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
	unsigned long key = (unsigned long)mm ^ profil_reg_key;

	return &profil_regs[hash_long(key, PROFIL_REG_BITS)];
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

/* See section.c. */
struct profil_section {
	struct profil_reg	*reg;
	unsigned long		seq;
};

DECLARE_PER_CPU(struct profil_section, profil_section);

/**
 * profil_section_enter - Begin to write to the memory of a registration
 * @reg: The registration; the caller keeps it from being freed
 *
 * Context: Interrupts off, until profil_section_leave().
 * Return: What is to be counted; stays until the section is left.  NULL if
 * nothing is.
 */
static inline struct profil_set *profil_section_enter(struct profil_reg *reg)
{
	lockdep_assert_irqs_disabled();
	WRITE_ONCE(this_cpu_ptr(&profil_section)->reg, reg);
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
 *
 * Context: Interrupts off.
 */
static inline void profil_section_leave(void)
{
	struct profil_section *section = this_cpu_ptr(&profil_section);

	profil_race(PROFIL_RACE_LEAVE);
	/* (C) Pairs with (D): all writes are done when the leaving is seen. */
	smp_store_release(&section->reg, NULL);
	smp_store_release(&section->seq, section->seq + 1);	/* (C) */
}

/**
 * profil_bump_fast - Add one to a counter within a word
 * @addr: Its address
 * @mask: Its maximum
 *
 * Context: In a section, in a tick in user mode.
 * Return: Whether that was done; it may be full, not there, or contended.
 */
static __always_inline bool profil_bump_fast(unsigned long addr, u32 mask)
{
	u32 __user *word = (u32 __user *)(addr & ~3UL);
	unsigned int shift = 8 * (addr % 4);
	bool done = false;
	u32 old, seen;

	pagefault_disable();
	if (!__get_user(old, word) && (~old >> shift & mask)) {
		profil_race(PROFIL_RACE_BUMP);
		done = !futex_atomic_cmpxchg_inatomic(&seen, word, old,
						      old + (1U << shift)) &&
		       seen == old;
	}
	pagefault_enable();
	return done;
}

/* See hook.c. */
extern const struct profil_hook *profil_hook_armed;

/* Ticks that the hook has seen, see watch.c. */
DECLARE_PER_CPU(unsigned long, profil_hits);

/**
 * profil_hook_tick - A hook has seen a tick of this CPU
 * @hook: The hook
 *
 * While one takes over from another both do, and the tick is of one of them.
 *
 * Context: Hardirq, interrupts off, on the CPU that ticks.
 */
static inline void profil_hook_tick(const struct profil_hook *hook)
{
	if (READ_ONCE(profil_hook_armed) == hook)
		profil_tick();
}

#endif /* _PROFIL_HOT_H */
