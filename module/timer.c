// SPDX-License-Identifier: GPL-2.0-only
/*
 * The timer source: timers of our own on each CPU, which run only while a thread is there
 * that is profiled so.  The scheduler's tracepoint begins and ends them.  While armed, all
 * of a CPU is touched there alone, with interrupts off.
 *
 * The time that a process has CPUs is cut into periods of one sample each.  When it leaves
 * a CPU, what is left of the period waits, in the registration or the member, for its next
 * thread that comes to one.  Where nothing waits, the first period began at a random
 * moment.  So each thread has its share of the samples; with a countdown of its own, one
 * that lives shorter than that would have none.
 */
#include <linux/hrtimer.h>
#include <linux/moduleparam.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <asm/irq_regs.h>

#include "countdown.h"
#include "member.h"
#include "profil.h"
#include "reg.h"
#include "table.h"
#include "tick.h"

static unsigned int profil_max_timer_rate = PROFIL_TIMER_RATE_MAX;
module_param_named(max_timer_rate, profil_max_timer_rate, uint, 0644);
MODULE_PARM_DESC(max_timer_rate, "highest rate of the timer source in samples for each second of CPU time (default 10000, which is the most; 0: no timer source)");

/* Those of a CPU: one for its process' own profile, one for each session of a member. */
struct profil_timers {
	struct mm_struct	*mm;	/* the first runs for it, a key; or NULL */
	struct pid		*tgid;	/* others run for it, a key; or NULL */
	struct profil_countdown	own;
	struct profil_countdown	session[PROFIL_MEMBER_SESSIONS];
};

static DEFINE_PER_CPU(struct profil_timers, profil_timers);

/* Of sched_switch; found once, NULL if there is none. */
static struct tracepoint *profil_timer_point;

/* Under profil_hook_mutex to change.  (H) Who sees it true sees the timers set up. */
static bool profil_timer_armed;

/* The generation whose timer is to run on this CPU, or 0. */
static u64 profil_timer_wanted(const struct profil_reg *reg)
{
	if (!reg || profil_nohz_left_alone(smp_processor_id()))
		return 0;
	return smp_load_acquire(&reg->timer_gen);	/* (G) */
}

/* Has a timer run for the profile of @reg, if it wants one. */
static void profil_timer_begin_own(struct profil_timers *timers, struct profil_reg *reg)
{
	struct profil_period *period = &timers->own.period;
	u64 gen = profil_timer_wanted(reg);

	if (!gen || (timers->mm == reg->mm && period->gen == gen))
		return;
	timers->mm = reg->mm;
	period->gen = gen;
	period->length = READ_ONCE(reg->timer_period);
	period->spread = READ_ONCE(reg->timer_spread);
	profil_countdown_begin(&timers->own, reg->timer_left);
}

static void profil_timer_end_own(struct profil_timers *timers)
{
	struct profil_reg *reg = profil_reg_find(timers->mm);

	profil_countdown_end(&timers->own, reg ? reg->timer_left : NULL);
	timers->mm = NULL;
}

/* The timer of generation @gen, or with 0 one that does not run; or NULL. */
static struct profil_countdown *profil_timer_session(struct profil_timers *timers, u64 gen)
{
	struct profil_countdown *down = timers->session;

	for (; down < timers->session + PROFIL_MEMBER_SESSIONS; down++)
		if (down->period.gen == gen)
			return down;
	return NULL;
}

/* The process' member of a session whose timer is of generation @gen, or NULL. */
static struct profil_member *profil_timer_member(struct pid *tgid, u64 gen)
{
	struct profil_member *member;

	hlist_for_each_entry_rcu(member, profil_member_bucket(tgid), node)
		if (member->tgid == tgid && member->table->timer == gen)
			return member;
	return NULL;
}

/* Has timers run for all sessions of @tgid that want one. */
static void profil_timer_begin_sessions(struct profil_timers *timers, struct pid *tgid)
{
	struct profil_countdown *down;
	struct profil_member *member;
	struct profil_table *table;

	if (!tgid || profil_nohz_left_alone(smp_processor_id()))
		return;
	hlist_for_each_entry_rcu(member, profil_member_bucket(tgid), node) {
		table = member->table;
		if (member->tgid != tgid || !table->timer ||
		    profil_timer_session(timers, table->timer))
			continue;
		/* There is one, but for those of sessions that have just ended. */
		down = profil_timer_session(timers, 0);
		if (!down)
			return;
		timers->tgid = tgid;
		down->period.gen = table->timer;
		down->period.length = table->period;
		down->period.spread = table->spread;
		profil_countdown_begin(down, member->timer_left);
	}
}

static void profil_timer_end_sessions(struct profil_timers *timers)
{
	struct profil_countdown *down = timers->session;
	struct profil_member *member;

	for (; down < timers->session + PROFIL_MEMBER_SESSIONS; down++) {
		if (!down->period.gen)
			continue;
		member = profil_timer_member(timers->tgid, down->period.gen);
		profil_countdown_end(down, member ? member->timer_left : NULL);
	}
	timers->tgid = NULL;
}

/* Interrupts off, the runqueue locked: nothing here may wake anybody. */
static void profil_timer_switch(void *data, bool preempt, struct task_struct *prev,
				struct task_struct *next, unsigned int prev_state)
{
	struct profil_timers *timers = this_cpu_ptr(&profil_timers);
	/* Others may change its flags, but not these. */
	bool borrower = data_race(next->flags) & PROFIL_PF_BORROWERS;
	struct mm_struct *mm = borrower ? NULL : next->mm;
	struct pid *tgid = borrower || !atomic_read(&profil_members) ? NULL : task_tgid(next);

	rcu_read_lock();
	if (mm != timers->mm) {
		if (timers->mm)
			profil_timer_end_own(timers);
		profil_timer_begin_own(timers, mm ? profil_reg_find(mm) : NULL);
	}
	if (tgid != timers->tgid) {
		if (timers->tgid)
			profil_timer_end_sessions(timers);
		profil_timer_begin_sessions(timers, tgid);
	}
	rcu_read_unlock();
}

/* False if the timer is that of nobody who runs. */
static bool profil_timer_sample_own(struct profil_countdown *down)
{
	struct profil_reg *reg = current->mm ? profil_reg_find(current->mm) : NULL;
	u64 gen = down->period.gen;

	if (!reg || READ_ONCE(reg->timer_gen) != gen)
		return false;
	profil_tick_sample(reg, get_irq_regs(), gen, profil_countdown_forward(down));
	return true;
}

static bool profil_timer_sample_session(struct profil_countdown *down)
{
	struct profil_member *member;

	member = profil_timer_member(task_tgid(current), down->period.gen);
	if (!member)
		return false;
	profil_place_sample(member, get_irq_regs(), profil_countdown_forward(down));
	return true;
}

/* Hardirq.  current may have lost its memory, or replaced it, meanwhile. */
static enum hrtimer_restart profil_timer_expired(struct hrtimer *hrtimer)
{
	struct profil_countdown *down = container_of(hrtimer, struct profil_countdown, timer);
	struct profil_timers *timers = this_cpu_ptr(&profil_timers);
	bool runs;

	rcu_read_lock();
	if (down == &timers->own) {
		runs = profil_timer_sample_own(down);
		if (!runs)
			timers->mm = NULL;
	} else {
		runs = profil_timer_sample_session(down);
	}
	if (!runs)
		down->period.gen = 0;
	rcu_read_unlock();
	return runs ? HRTIMER_RESTART : HRTIMER_NORESTART;
}

/*
 * Has the timer run for current, which runs already and whose registration is @reg.  Any
 * context; the caller keeps @reg from being freed.
 */
void profil_timer_run(struct profil_reg *reg)
{
	unsigned long flags;

	local_irq_save(flags);
	if (smp_load_acquire(&profil_timer_armed))	/* (H) */
		profil_timer_begin_own(this_cpu_ptr(&profil_timers), reg);
	local_irq_restore(flags);
}

/* The same for the sessions of current's process.  Any context. */
void profil_timer_run_sessions(void)
{
	unsigned long flags;

	local_irq_save(flags);
	rcu_read_lock();
	if (smp_load_acquire(&profil_timer_armed))	/* (H) */
		profil_timer_begin_sessions(this_cpu_ptr(&profil_timers), task_tgid(current));
	rcu_read_unlock();
	local_irq_restore(flags);
}

/* The most samples for each second of CPU time, or 0: there is no timer source. */
u32 profil_timer_rate_max(void)
{
	/* With timers no finer than the tick, there is nothing to gain. */
	if (!profil_timer_point || hrtimer_resolution > 1)
		return 0;
	return min(READ_ONCE(profil_max_timer_rate), PROFIL_TIMER_RATE_MAX);
}

/*
 * Has timers begin with the threads that want them: 0, also if they do already, or an
 * error.  Under profil_hook_mutex; sleeps.
 */
int profil_timer_arm(void)
{
	struct profil_timers *timers;
	int cpu, err, i;

	if (profil_timer_armed)
		return 0;
	for_each_possible_cpu(cpu) {
		timers = per_cpu_ptr(&profil_timers, cpu);
		memset(timers, 0, sizeof(*timers));
		profil_countdown_init(&timers->own, profil_timer_expired);
		for (i = 0; i < PROFIL_MEMBER_SESSIONS; i++)
			profil_countdown_init(&timers->session[i], profil_timer_expired);
	}
	err = tracepoint_probe_register(profil_timer_point, profil_timer_switch, NULL);
	if (!err)
		smp_store_release(&profil_timer_armed, true);	/* (H) */
	return err;
}

/* Undoes profil_timer_arm().  Under profil_hook_mutex; sleeps. */
void profil_timer_disarm(void)
{
	struct profil_timers *timers;
	int cpu, i;

	if (!profil_timer_armed)
		return;
	WRITE_ONCE(profil_timer_armed, false);
	tracepoint_probe_unregister(profil_timer_point, profil_timer_switch, NULL);
	tracepoint_synchronize_unregister();
	synchronize_rcu();	/* ticks that saw it armed */
	for_each_possible_cpu(cpu) {
		timers = per_cpu_ptr(&profil_timers, cpu);
		hrtimer_cancel(&timers->own.timer);
		for (i = 0; i < PROFIL_MEMBER_SESSIONS; i++)
			hrtimer_cancel(&timers->session[i].timer);
	}
}

static void profil_timer_look(struct tracepoint *point, void *found)
{
	if (!strcmp(point->name, "sched_switch"))
		*(struct tracepoint **)found = point;
}

/* Finds out whether there can be a timer source. */
void profil_timer_init(void)
{
	for_each_kernel_tracepoint(profil_timer_look, &profil_timer_point);
}
