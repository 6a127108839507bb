// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device's commands: checks arguments, and calls the rest.  Task context throughout;
 * everything but SESSION is about the caller's own address space.
 */
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/uaccess.h>
#include <linux/profil.h>

#include "command.h"
#include "limits.h"
#include "profil.h"
#include "race.h"
#include "reg.h"
#include "set.h"
#include "tick.h"

/* No holes, and the same on all machines: the header is a contract. */
static_assert(sizeof(struct profil_ioc_query) == 64);
static_assert(sizeof(struct profil_region) == 32);
static_assert(sizeof(struct profil_ioc_start) == 64);
static_assert(sizeof(struct profil_ioc_stop) == 16);
static_assert(sizeof(struct profil_ioc_stats) == 200);

#define PROFIL_START_FLAGS	(PROFIL_START_F_USER_ONLY | PROFIL_START_F_NOINHERIT)

/* How often START makes an anchor that another thread unmaps at once. */
#define PROFIL_START_TRIES	8

static int profil_ioctl_query(struct file *file, struct profil_args *args)
{
	struct profil_ioc_query *query = &args->query;

	if (query->flags)
		return -EOPNOTSUPP;
	query->out_abi = PROFIL_ABI;
	query->out_features = 0;
	if (profil_pending_by_thread())
		query->out_features |= PROFIL_FEATURE_TASK_WORK;
	if (profil_tick_deferred())
		query->out_features |= PROFIL_FEATURE_DEFERRED;
	if (profil_nohz_any_left_alone())
		query->out_features |= PROFIL_FEATURE_NOHZ_FULL;
	query->out_tick_ns = NSEC_PER_SEC / HZ;
	query->out_tick_hz = HZ;
	query->out_regions_max = PROFIL_REGIONS_MAX;
	query->out_timer_rate_max = profil_timer_rate_max();
	query->out_start_flags = PROFIL_START_FLAGS;
	query->out_region_flags = PROFIL_REGION_FLAGS;
	query->out_sources = BIT(PROFIL_SOURCE_TICK);
	if (query->out_timer_rate_max)
		query->out_sources |= BIT(PROFIL_SOURCE_TIMER);
	query->out_session_flags = profil_session_flags();
	query->out_session_sources = query->out_session_flags ? query->out_sources : 0;
	profil_hook_query(query);
	return 0;
}

/* Only the timer source takes a jitter, and it needs a rate or a period. */
static bool profil_start_source_valid(const struct profil_ioc_start *start)
{
	if (start->rate && start->period_ns)
		return false;
	if (start->source == PROFIL_SOURCE_TIMER)
		return (start->rate || start->period_ns) && start->jitter <= 100;
	return !start->jitter;
}

/* Whether the source can give so many samples. */
static bool profil_start_rate_possible(const struct profil_ioc_start *start)
{
	u32 max = start->source == PROFIL_SOURCE_TIMER ? profil_timer_rate_max() : HZ;
	u64 period = start->period_ns;

	if (!period)
		return start->rate <= max;
	if (period > NSEC_PER_SEC || period * max < NSEC_PER_SEC)
		return false;
	/* Of the ticks, so many are chosen in each second. */
	return start->source != PROFIL_SOURCE_TICK || (u32)NSEC_PER_SEC % (u32)period == 0;
}

static int profil_start_check(const struct profil_ioc_start *start)
{
	if (start->__reserved || !profil_start_source_valid(start) ||
	    (start->region_num &&
	     start->region_len < sizeof(struct profil_region)))
		return -EINVAL;
	if (start->region_num > PROFIL_REGIONS_MAX ||
	    start->region_len > PAGE_SIZE)
		return -E2BIG;
	if (start->flags & ~PROFIL_START_FLAGS ||
	    start->source > PROFIL_SOURCE_TIMER ||
	    !profil_start_rate_possible(start))
		return -EOPNOTSUPP;
	return 0;
}

static int profil_start_set(struct file *file, struct profil_set *set,
			    struct profil_ioc_start *start)
{
	struct profil_reg *reg;
	int tries, err;

	profil_race(PROFIL_RACE_FIND);
	for (tries = 0; tries < PROFIL_START_TRIES; tries++) {
		reg = profil_reg_get(current->mm);
		if (reg) {
			/* The set may be gone as soon as it is on. */
			start->out_cookie = set->gen;
			err = profil_anchor_wait(reg);
			if (!err)
				err = profil_profile_on(reg, set);
			if (!err)
				profil_timer_run(reg);
			start->out_anchor = READ_ONCE(reg->anchor);
			profil_reg_put(reg);
			if (err != -ESRCH)
				return err;
		}
		/* It waits for the thread that unmaps the former anchor just now. */
		err = profil_anchor_create(file);
		if (err)
			return err;
	}
	return -EAGAIN;
}

/* 0, or -ESTALE if @cookie is another START's. */
static int profil_stop_mm(struct mm_struct *mm, u64 cookie)
{
	struct profil_reg *reg = profil_reg_get(mm);
	int err;

	if (!reg)
		return 0;
	err = profil_profile_off(reg, cookie);
	profil_reg_put(reg);
	return err;
}

static int profil_ioctl_start(struct file *file, struct profil_args *args)
{
	struct profil_set *set;
	int err = profil_start_check(&args->start);

	if (err)
		return err;
	args->start.out_anchor = 0;
	args->start.out_cookie = 0;
	/* It needs no memory, and is within all limits. */
	if (!args->start.region_num)
		return profil_stop_mm(current->mm, 0);
	set = profil_set_create(&args->start);
	if (IS_ERR(set))
		return PTR_ERR(set);
	if (!set->nr_ranges) {
		profil_stop_mm(current->mm, 0);
		goto err_set;
	}

	err = profil_set_check(set);
	if (err == -ENXIO)
		profil_stop_mm(current->mm, 0);
	if (err)
		goto err_set;
	err = profil_hook_get(set->timer ? PROFIL_HOOK_TIMER : 0);
	if (err)
		goto err_set;
	/* Forked children share the set, and so the hook stays for them too. */
	set->release = profil_hook_put;
	err = profil_start_set(file, set, &args->start);
	if (!err)
		return 0;
err_set:
	profil_set_put(set);
	return err;
}

static int profil_ioctl_stop(struct file *file, struct profil_args *args)
{
	if (args->stop.flags)
		return -EOPNOTSUPP;
	return profil_stop_mm(current->mm, args->stop.cookie);
}

static int profil_ioctl_stats(struct file *file, struct profil_args *args)
{
	u64 cookie = args->stats.cookie;
	struct profil_reg *reg;

	if (args->stats.flags)
		return -EOPNOTSUPP;
	reg = profil_reg_get(current->mm);
	if (!reg)
		return -ENOENT;
	profil_stats_read(reg, &args->stats);
	profil_reg_put(reg);
	return cookie && cookie != args->stats.out_cookie ? -ESTALE : 0;
}

/* Who cannot be told of a profile cannot end it either. */
static void profil_start_told(struct profil_args *args, bool told)
{
	if (!told && args->start.out_cookie)
		profil_stop_mm(current->mm, args->start.out_cookie);
}

static const struct profil_command profil_commands[] = {
	PROFIL_COMMAND(PROFIL_IOC_QUERY, profil_ioc_query, out_session_sources, true,
		       profil_ioctl_query, NULL),
	PROFIL_COMMAND(PROFIL_IOC_START, profil_ioc_start, out_cookie, true,
		       profil_ioctl_start, profil_start_told),
	PROFIL_COMMAND(PROFIL_IOC_STOP, profil_ioc_stop, cookie, false,
		       profil_ioctl_stop, NULL),
	PROFIL_COMMAND(PROFIL_IOC_STATS, profil_ioc_stats, out_period_ns, true,
		       profil_ioctl_stats, NULL),
	PROFIL_COMMAND(PROFIL_IOC_SESSION, profil_ioc_session, __reserved, true,
		       profil_session_create, profil_session_told),
};

/* The device's ioctl operation: @arg points to the structure of the command. */
long profil_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	return profil_command(profil_commands, ARRAY_SIZE(profil_commands), file, cmd, arg);
}
