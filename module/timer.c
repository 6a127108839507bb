// SPDX-License-Identifier: GPL-2.0-only
/*
 * The timer source: a timer of our own on each CPU, which runs only while a
 * thread is there that is profiled so.  The scheduler's tracepoint begins and
 * ends it.  While armed, all of a CPU is touched there alone, with interrupts off.
 *
 * The time that a process has CPUs is cut into periods of one sample each.  When
 * it leaves a CPU, what is left of the period waits in the registration for its
 * next thread that comes to one.  Where nothing waits, the first period began
 * at a random moment.  So each thread has its share of the samples; with a
 * countdown of its own, one that lives shorter than that would have none.
 */
#include <linux/hrtimer.h>
#include <linux/moduleparam.h>
#include <linux/percpu.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <asm/irq_regs.h>

#include "period.h"
#include "profil.h"
#include "reg.h"
#include "tick.h"

#define PROFIL_TIMER_RATE_MAX	10000U

static unsigned int profil_max_timer_rate = PROFIL_TIMER_RATE_MAX;
module_param_named(max_timer_rate, profil_max_timer_rate, uint, 0644);
MODULE_PARM_DESC(max_timer_rate, "highest rate of the timer source in samples for each second of CPU time (default 10000, which is the most; 0: no timer source)");

struct profil_timer {
	struct hrtimer		timer;
	struct mm_struct	*mm;	/* runs for it, a key; or NULL */
	struct profil_period	period;
};

static DEFINE_PER_CPU(struct profil_timer, profil_timers);

/* Of sched_switch; found once, NULL if there is none. */
static struct tracepoint *profil_timer_point;

/* Under profil_hook_mutex to change.  (H) Who sees it true sees the timers set up. */
static bool profil_timer_armed;

static s64 profil_timer_take(struct profil_reg *reg)
{
	s64 left = 0;
	int i;

	for (i = 0; !left && i < ARRAY_SIZE(reg->timer_left); i++)
		if (atomic64_read(&reg->timer_left[i]))
			left = atomic64_xchg(&reg->timer_left[i], 0);
	return left;
}

/* Where there is no more room it is dropped: the next period begins at random then. */
static void profil_timer_keep(struct profil_reg *reg, s64 left)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(reg->timer_left); i++)
		if (!atomic64_cmpxchg(&reg->timer_left[i], 0, left))
			return;
}

static void profil_timer_begin(struct profil_timer *timer,
			       struct profil_reg *reg, u64 gen)
{
	struct profil_period *period = &timer->period;
	s64 left = profil_timer_take(reg);

	timer->mm = reg->mm;
	period->gen = gen;
	period->length = READ_ONCE(reg->timer_period);
	period->spread = READ_ONCE(reg->timer_spread);
	hrtimer_start(&timer->timer,
		      profil_period_resume(period, left, ktime_get()),
		      HRTIMER_MODE_ABS_PINNED_HARD);
}

static void profil_timer_end(struct profil_timer *timer)
{
	struct profil_reg *reg = profil_reg_find(timer->mm);

	/* Its function does not run: it would do so here. */
	hrtimer_try_to_cancel(&timer->timer);
	if (reg)
		profil_timer_keep(reg, profil_period_keep(&timer->period,
							  ktime_get()));
	timer->mm = NULL;
}

/* The generation whose timer is to run on this CPU, or 0. */
static u64 profil_timer_wanted(const struct profil_reg *reg)
{
	if (!reg || profil_nohz_left_alone(smp_processor_id()))
		return 0;
	return smp_load_acquire(&reg->timer_gen);	/* (G) */
}

/* Interrupts off, the runqueue locked: nothing here may wake anybody. */
static void profil_timer_switch(void *data, bool preempt,
				struct task_struct *prev,
				struct task_struct *next,
				unsigned int prev_state)
{
	struct profil_timer *timer = this_cpu_ptr(&profil_timers);
	struct mm_struct *mm = next->mm;
	struct profil_reg *reg;
	u64 gen;

	/* Others may change its flags, but not these. */
	if (data_race(next->flags) & PROFIL_PF_BORROWERS)
		mm = NULL;
	if (mm == timer->mm)
		return;
	rcu_read_lock();
	if (timer->mm)
		profil_timer_end(timer);
	reg = mm ? profil_reg_find(mm) : NULL;
	gen = profil_timer_wanted(reg);
	if (gen)
		profil_timer_begin(timer, reg, gen);
	rcu_read_unlock();
}

/* Moves on to the next period, and says how many are over. */
static u64 profil_timer_forward(struct profil_timer *timer)
{
	struct profil_period *period = &timer->period;
	ktime_t now = ktime_get();
	u64 over = hrtimer_forward(&timer->timer, now, period->length);

	period->start += over * period->length;
	hrtimer_set_expires(&timer->timer, profil_period_due(period, now));
	return over;
}

/* Hardirq.  current may have lost its memory, or replaced it, meanwhile. */
static enum hrtimer_restart profil_timer_expired(struct hrtimer *hrtimer)
{
	struct profil_timer *timer = container_of(hrtimer, struct profil_timer,
						  timer);
	u64 gen = timer->period.gen;
	struct profil_reg *reg;

	rcu_read_lock();
	reg = current->mm ? profil_reg_find(current->mm) : NULL;
	if (reg && READ_ONCE(reg->timer_gen) == gen)
		profil_tick_sample(reg, get_irq_regs(), gen,
				   min_t(u64, profil_timer_forward(timer),
					 PROFIL_TIMER_RATE_MAX));
	else
		timer->mm = NULL;
	rcu_read_unlock();
	return timer->mm ? HRTIMER_RESTART : HRTIMER_NORESTART;
}

/*
 * Has the timer run for current, which runs already and whose registration is @reg.  Any
 * context; the caller keeps @reg from being freed.
 */
void profil_timer_run(struct profil_reg *reg)
{
	struct profil_timer *timer;
	unsigned long flags;
	u64 gen;

	local_irq_save(flags);
	timer = this_cpu_ptr(&profil_timers);
	gen = smp_load_acquire(&profil_timer_armed) ?	/* (H) */
	      profil_timer_wanted(reg) : 0;
	if (gen && (timer->mm != reg->mm || timer->period.gen != gen))
		profil_timer_begin(timer, reg, gen);
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
	struct profil_timer *timer;
	int cpu, err;

	if (profil_timer_armed)
		return 0;
	for_each_possible_cpu(cpu) {
		timer = per_cpu_ptr(&profil_timers, cpu);
		memset(timer, 0, sizeof(*timer));
		hrtimer_setup(&timer->timer, profil_timer_expired,
			      CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED_HARD);
		prandom_seed_state(&timer->period.rnd, get_random_u64());
	}
	err = tracepoint_probe_register(profil_timer_point, profil_timer_switch,
					NULL);
	if (!err)
		smp_store_release(&profil_timer_armed, true);	/* (H) */
	return err;
}

/* Undoes profil_timer_arm().  Under profil_hook_mutex; sleeps. */
void profil_timer_disarm(void)
{
	int cpu;

	if (!profil_timer_armed)
		return;
	WRITE_ONCE(profil_timer_armed, false);
	tracepoint_probe_unregister(profil_timer_point, profil_timer_switch,
				    NULL);
	tracepoint_synchronize_unregister();
	synchronize_rcu();	/* ticks that saw it armed */
	for_each_possible_cpu(cpu)
		hrtimer_cancel(&per_cpu_ptr(&profil_timers, cpu)->timer);
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
