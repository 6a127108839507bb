// SPDX-License-Identifier: GPL-2.0-only
/*
 * Members are followed by the kernel's tracepoints of fork, exec and exit.  These are called
 * in task context; most kernels disable preemption for them.
 *
 * To register them patches kernel text, as a hook does, so they stay as long as the hook.
 */
#include <linux/binfmts.h>
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <linux/user_namespace.h>

#include "member.h"
#include "profil.h"
#include "race.h"
#include "table.h"

static void profil_follow_fork(void *data, struct task_struct *parent,
			       struct task_struct *child)
{
	if (atomic_read(&profil_members) && task_tgid(parent) != task_tgid(child))
		profil_member_fork(parent, child);
}

/* Whether what current has executed has no more rights than it had. */
static bool profil_follow_ordinary(const struct profil_table *table,
				   const struct linux_binprm *bprm)
{
	return !bprm->secureexec && !(bprm->interp_flags & BINPRM_FLAGS_ENFORCE_NONDUMP) &&
	       profil_table_covers(table, current_cred());
}

/*
 * Whether who made the session may see it nevertheless, as ptrace(2) would have it.  Of a
 * program that cannot be read, nobody's own namespace has the right to tell.
 */
static bool profil_follow_capable(const struct profil_table *table, bool nondump)
{
	return file_ns_capable(table->authority, nondump ? &init_user_ns : current_user_ns(),
			       CAP_SYS_PTRACE);
}

/* Before current, a member, begins what it has executed; or it is killed before. */
static void profil_follow_answer(struct callback_head *work)
{
	struct profil_member *member = container_of(work, struct profil_member, question);
	bool approved = current->mm && profil_follow_capable(member->table, member->nondump);

	profil_race(PROFIL_RACE_EXEC);
	profil_member_exec(member, approved);
	profil_member_release(member);
	profil_race(PROFIL_RACE_GONE);
}

/*
 * Puts the question off until current returns to user mode; false if that cannot be.  Until
 * then the keys do not fit.  Under rcu_read_lock(), so that the session's hold is there.
 */
static bool profil_follow_ask(struct profil_member *member, bool nondump)
{
	atomic_inc(&member->holds);
	member->nondump = nondump;
	init_task_work(&member->question, profil_follow_answer);
	if (!profil_task_work_add(current, &member->question, TWA_RESUME))
		return true;
	atomic_dec(&member->holds);
	return false;
}

/* current, a member, has executed another program.  What that is can only be seen here. */
static void profil_follow_image(struct profil_member *member, const struct linux_binprm *bprm)
{
	bool approved = profil_follow_ordinary(member->table, bprm);
	bool nondump = bprm->interp_flags & BINPRM_FLAGS_ENFORCE_NONDUMP;

	/* To ask for rights may take a lock that sleeps. */
	if (!approved && profil_real_time() && profil_follow_ask(member, nondump))
		return;
	if (!approved && !profil_real_time())
		approved = profil_follow_capable(member->table, nondump);
	profil_race(PROFIL_RACE_EXEC);
	profil_member_exec(member, approved);
}

static void profil_follow_exec(void *data, struct task_struct *task, pid_t old_pid,
			       struct linux_binprm *bprm)
{
	struct pid *tgid = task_tgid(task);
	struct profil_member *member;

	if (!atomic_read(&profil_members))
		return;
	rcu_read_lock();
	hlist_for_each_entry_rcu(member, profil_member_bucket(tgid), node)
		if (member->tgid == tgid)
			profil_follow_image(member, bprm);
	rcu_read_unlock();
}

static void profil_follow_exit(PROFIL_EXIT_ARGS)
{
	if (atomic_read(&profil_members) && !atomic_read(&task->signal->live))
		profil_member_exit(task);
}

static struct profil_point {
	const char		*name;
	void			*probe;
	struct tracepoint	*point;		/* found once, NULL if there is none */
} profil_points[] = {
	{ .name = "sched_process_fork", .probe = profil_follow_fork },
	{ .name = "sched_process_exec", .probe = profil_follow_exec },
	{ .name = "sched_process_exit", .probe = profil_follow_exit },
};

/* Under profil_hook_mutex. */
static bool profil_follow_armed;

static void profil_follow_unregister(int nr)
{
	while (nr--)
		tracepoint_probe_unregister(profil_points[nr].point, profil_points[nr].probe,
					    NULL);
	tracepoint_synchronize_unregister();
}

/* Follows members: 0, also if it does already, or an error.  Under profil_hook_mutex; sleeps. */
int profil_follow_arm(void)
{
	int i, err = 0;

	for (i = 0; !profil_follow_armed && i < ARRAY_SIZE(profil_points); i++) {
		err = tracepoint_probe_register(profil_points[i].point, profil_points[i].probe,
						NULL);
		if (err) {
			profil_follow_unregister(i);
			return err;
		}
	}
	profil_follow_armed = true;
	return 0;
}

/* Undoes profil_follow_arm().  Under profil_hook_mutex; sleeps. */
void profil_follow_disarm(void)
{
	if (profil_follow_armed)
		profil_follow_unregister(ARRAY_SIZE(profil_points));
	profil_follow_armed = false;
}

/* Whether members can be followed in this kernel. */
bool profil_follow_possible(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(profil_points); i++)
		if (!profil_points[i].point)
			return false;
	return true;
}

static void profil_follow_look(struct tracepoint *point, void *data)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(profil_points); i++)
		if (!strcmp(point->name, profil_points[i].name))
			profil_points[i].point = point;
}

/* Finds out whether there can be sessions. */
void profil_follow_init(void)
{
	for_each_kernel_tracepoint(profil_follow_look, NULL);
}
