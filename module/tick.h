/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What every tick does, in line: each instruction of it is paid for by all that runs
 * while somebody is profiled.
 */
#ifndef _PROFIL_TICK_H
#define _PROFIL_TICK_H

#include <linux/percpu.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <asm/irq_regs.h>

#include "bump.h"
#include "find.h"
#include "member.h"
#include "reg.h"
#include "section.h"

struct profil_hook;

/* The hook whose ticks are counted, or NULL; hook.c changes it. */
extern const struct profil_hook *profil_tick_hook;

/* So many ticks the hook has seen on a CPU, which alone writes it.  For watch.c. */
DECLARE_PER_CPU(unsigned long, profil_tick_hits);

bool profil_tick_deferred(void);
void profil_tick_rest(struct profil_section *section, struct profil_reg *reg,
		      struct profil_run *run, struct pt_regs *regs, bool due);
void profil_tick_sample(struct profil_reg *reg, struct pt_regs *regs, u64 timer,
			unsigned int n);

/*
 * Counts one sample of @pc at once, in a section, while user mode was interrupted:
 * nowhere else may a tick touch user memory.  Returns false, and has counted nothing, if
 * the memory is not there or is contended.
 */
static __always_inline bool profil_tick_count(struct profil_reg *reg,
					      const struct profil_run *run,
					      unsigned long pc)
{
	const struct profil_range *range = profil_find_range(&run->segments, pc);
	enum profil_class class = PROFIL_OUTSIDE;
	long added;

	if (likely(range)) {
		profil_hardirq_fault_disable();
		added = profil_bump_once(profil_find_counter(range, pc), range->mask, 1);
		profil_hardirq_fault_enable();
		if (unlikely(added < 0))
			return false;
		class = likely(added) ? PROFIL_IN_RANGE : PROFIL_SATURATED;
		profil_race(PROFIL_RACE_ACCOUNT);
	}
	atomic64_inc(&reg->count[class]);
	return true;
}

/*
 * A tick of current, whose registration is @reg.  In user mode it needs no look at
 * current's flags: borrowers run no user code.
 */
static __always_inline void profil_tick(struct profil_reg *reg, struct pt_regs *regs)
{
	struct profil_section *section = this_cpu_ptr(&profil_section);
	struct profil_run *run;
	bool due = false;

	profil_section_enter(section, reg);
	run = smp_load_acquire(&reg->now);	/* (E) */
	profil_race(PROFIL_RACE_USE);
	if (likely(run->direct && user_mode(regs))) {
		due = !run->rated || profil_run_due(run);
		if (!due || profil_tick_count(reg, run, instruction_pointer(regs))) {
			profil_section_leave(section);
			return;
		}
	}
	profil_tick_rest(section, reg, run, regs, due);
}

/* A tick of current, for all sessions that count it, of which there are @sessions. */
static __always_inline void profil_tick_member(int sessions)
{
	struct pid *tgid;
	struct profil_member *member;

	if (unlikely(sessions >= PROFIL_MACHINE)) {
		profil_system_tick();
		if (!(sessions % PROFIL_MACHINE))
			return;
	}
	tgid = task_tgid(current);
	hlist_for_each_entry_rcu(member, profil_member_bucket(tgid), node)
		if (member->tgid == tgid)
			profil_place_tick(member, get_irq_regs());
}

/*
 * A hook has seen a tick of this CPU.  While one hook takes over from another both see
 * it, and it counts for one of them.  Hardirq, interrupts off; an interrupt that has
 * registers, as the kernel's own tick has them.
 */
static __always_inline void profil_hook_tick(const struct profil_hook *hook)
{
	struct mm_struct *mm = current->mm;
	struct profil_reg *reg;
	int sessions;

	if (READ_ONCE(profil_tick_hook) != hook)
		return;
	__this_cpu_inc(profil_tick_hits);
	sessions = atomic_read(&profil_members);
	if (unlikely(sessions))
		profil_tick_member(sessions);
	if (!mm)
		return;
	reg = profil_reg_find(mm);
	if (unlikely(reg))
		profil_tick(reg, get_irq_regs());
}

#endif /* _PROFIL_TICK_H */
